"""Scripts in the languages of other drawing programs: Graphviz's DOT and Mermaid."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from elision.show._steps import steps
from elision.show.words import cleaned, percent

if TYPE_CHECKING:
    from elision.show._steps import Step
    from elision.values.script import Script

LONGEST = 200
"""Letters of a name."""


def to_dot(script: Script, *, min_share: float | None = None) -> str:
    r"""Write a script in Graphviz's language.

    Parameters
    ----------
    script
        The script.
    min_share
        Leave out states and edges that a course passes with less probability; each state keeps
        its best way in and out. By default what can be read is written; 0 writes all.

    Examples
    --------
    >>> import elision as el
    >>> print(to_dot(el.examples.doorbell()).splitlines()[4])
      s1 [label="hear doorbell\nhear doorbell 70%\nsilent 30%", style="rounded,dashed"];
    """
    inner, passages = steps(script, min_share)
    last = script.size - 1
    lines = [
        "digraph script {",
        "  rankdir=LR;",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
        '  s0 [label="start", shape=oval];',
    ]
    for step in inner:
        label = "\\n".join(_dot(line) for line in _lines(script, step))
        look = ', style="rounded,dashed"' if step.silence else ""
        lines.append(f'  s{step.state} [label="{label}"{look}];')
    lines.append(f'  s{last} [label="end", shape=oval];')
    for one in passages:
        width = f"{0.5 + 3.5 * min(1.0, one.flow):.2f}"
        dotted = "" if one.direct else ", style=dotted"
        look = f'label="{percent(one.probability)}", penwidth={width}{dotted}'
        lines.append(f"  s{one.source} -> s{one.target} [{look}];")
    return "\n".join([*lines, "}", ""])


def to_mermaid(script: Script, *, min_share: float | None = None) -> str:
    """Write a script as a flowchart in Mermaid's language, which many Markdown viewers show.

    Parameters
    ----------
    script
        The script.
    min_share
        As in `to_dot`.

    Examples
    --------
    >>> import elision as el
    >>> print(to_mermaid(el.examples.doorbell()).splitlines()[2])
      s1["hear doorbell<br/>hear doorbell 70#37;<br/>silent 30#37;"]
    """
    inner, passages = steps(script, min_share)
    lines = ["flowchart LR", "  s0([start])"]
    for step in inner:
        label = "<br/>".join(_mermaid(line) for line in _lines(script, step))
        lines.append(f'  s{step.state}["{label}"]')
    lines.append(f"  s{script.size - 1}([End])")  # Mermaid takes a small "end" for its own
    for one in passages:
        arrow = "-->" if one.direct else "-.->"
        label = _mermaid(percent(one.probability))
        lines.append(f'  s{one.source} {arrow}|"{label}"| s{one.target}')
    silent = [f"s{step.state}" for step in inner if step.silence]
    if silent:
        lines += ["  classDef silent stroke-dasharray: 5 3", f"  class {','.join(silent)} silent"]
    return "\n".join([*lines, ""])


def _lines(script: Script, step: Step) -> list[str]:
    """What stands in the box of a state, line by line."""
    lines = [_cut(step.name)]
    lines += [f"{_cut(script.events[o])} {percent(share)}" for o, share in step.events]
    if step.more:
        lines.append(f"+ {step.more} more")
    if step.silence:
        lines.append(f"silent {percent(step.silence)}")
    return lines


def _cut(name: str) -> str:
    text = cleaned(name)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _dot(text: str) -> str:
    """Escape for a quoted label: Graphviz reads backslashes there, and entities as in HTML."""
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


def _mermaid(text: str) -> str:
    """Escape all but letters, digits, spaces, and dashes and underscores within words."""
    return re.sub(
        r"(?!(?<=\w)[-_](?=[^\W_]))[^\w ]|(?<!\w)_|_(?!\w)",
        lambda found: f"#{ord(found[0])};",
        text,
    )
