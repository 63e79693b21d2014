"""Scripts as weighted transducers in OpenFst's text format."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elision.values.script import Script

EPSILON = "<eps>"


class OpenFst(NamedTuple):
    """The arcs of a transducer and the table of its symbols, as the text of two files."""

    arcs: str
    symbols: str


def to_openfst(script: Script) -> OpenFst:
    """Write a script as a transducer from events to states.

    An arc reads the event that is told on entering a state, or nothing, and writes the state. Its
    weight is the negative logarithm of its probability, so that in the log semiring the paths that
    read a telling sum up to the telling's probability. Both sides have one table of symbols::

        fstcompile --arc_type=log --isymbols=x.syms --osymbols=x.syms x.fst.txt x.fst

    White space, ``%`` and a leading ``<`` in names are written as in addresses: ``%20``.

    Examples
    --------
    >>> import elision as el
    >>> to_openfst(el.examples.doorbell()).arcs.splitlines()[0].split()
    ['0', '1', 'hear%20doorbell', 'hear%20doorbell', '0.35667494393873245']
    """
    names = dict.fromkeys([*map(symbol, script.events), *map(symbol, script.states)])
    symbols = [f"{EPSILON}\t0", *(f"{name}\t{n}" for n, name in enumerate(names, start=1))]
    arcs = list(_arcs(script))
    return OpenFst("\n".join([*arcs, f"{script.size - 1}\t0", ""]), "\n".join([*symbols, ""]))


def _arcs(script: Script) -> Iterator[str]:
    edges = script.parameters
    events = [symbol(event) for event in script.events]
    last = script.size - 1
    for j, k, probability in zip(
        edges.source.tolist(), edges.target.tolist(), edges.transition.tolist(), strict=True
    ):
        state = symbol(script.states[k])
        told = [(events[o], float(script.emission[k, o])) for o in script.emission[k].nonzero()[0]]
        silence = 1.0 if k == last else float(script.elision[k])
        for event, share in [*told, (EPSILON, silence)]:
            if share > 0:
                weight = -math.log(probability) - math.log(share)
                yield f"{j}\t{k}\t{event}\t{state}\t{weight + 0.0!r}"


def symbol(name: str) -> str:
    r"""Return a name as a symbol: no white space, and none that could be taken for epsilon.

    Examples
    --------
    >>> symbol("open\tdoor"), symbol("<eps>")
    ('open%09door', '%3Ceps>')
    """
    # Names of digits only would be read as labels, not as symbols, by some tools.
    text = re.sub(r"[\s%\x00-\x1f\x7f-\x9f\u2028\u2029]|^<|^\d(?=\d*$)", _quoted, name)
    return text.encode("utf-8", "replace").decode()


def _quoted(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))
