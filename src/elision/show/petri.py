"""Outlines as Petri nets in PNML: units side by side unless one comes before the other."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.values.outline import Outline

TYPE = "http://www.pnml.org/version-2009/grammar/ptnet"
NAMESPACE = "http://www.pnml.org/version-2009/grammar/pnml"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

LEAST = 0.02
"""What is passed over or told again more rarely than this counts as always told, or told once."""

START = -1
ENTRY = 0


class Move(NamedTuple):
    """A way from one position inside a unit to another.

    Positions are numbered onward, from `ENTRY` to the highest, the exit: only a way back, for a
    step to be told again, leads to a lower one. The step is None where nothing is told; the weight
    is the probability among all moves from the source.
    """

    source: int
    target: int
    step: int | None
    weight: float


def unit_links(outline: Outline) -> list[tuple[int, int]]:
    """Who stands directly before whom, by number of unit; before all stands -1, after all the end.

    Examples
    --------
    >>> from elision.learn.outline import learn_outline
    >>> outline = learn_outline([[0, 1, 2], [1, 0, 2]] * 5, ["a", "b", "c"])
    >>> unit_links(outline)
    [(-1, 0), (-1, 1), (0, 2), (1, 2), (2, 3)]
    """
    end = len(outline.units)
    first = np.flatnonzero(~outline.order.any(axis=0)).tolist()
    last = np.flatnonzero(~outline.order.any(axis=1)).tolist()
    between = [(int(a), int(b)) for a, b in np.argwhere(outline.covers).tolist()]
    found = [*((START, unit) for unit in first), *between, *((unit, end) for unit in last)]
    return found or [(START, end)]


def unit_moves(outline: Outline, unit: int, min_share: float = LEAST) -> list[Move]:
    """Ways through a unit from its entry to its exit.

    A branch leads from step to step. Beside a step that may be untold, and beside the whole unit if
    it may not happen, goes a silent move. A step that is told again has two positions of its own,
    with a silent move back, so that telling it again does not depend on how often it is told at
    all. Silence and repeats that are not more probable than ``min_share`` are left out.

    Examples
    --------
    >>> from elision.learn.outline import learn_outline
    >>> outline = learn_outline([[0, 1], [0]] * 5, ["boil water", "warm the pot"])
    >>> [(move.source, move.target, move.step) for move in unit_moves(outline, 1)]
    [(0, 1, 1), (0, 1, None)]
    """
    chosen = outline.units[unit]
    # Each step may need two positions for its repeats, and one behind it.
    position = {step: 3 * place for place, step in enumerate(chosen.steps)}
    last = 3 * len(position)
    found: list[Move] = []
    passed = 1 - chosen.happens
    for branch, share in zip(chosen.branches, chosen.shares, strict=True):
        here, arriving = ENTRY, chosen.happens * share
        for number in branch:
            step, there = outline.steps[number], position[number] + 3
            there = last if number == branch[-1] else there
            told, untold = arriving * step.telling, arriving * (1 - step.telling)
            if step.again > min_share:
                ready, done = position[number] + 1, position[number] + 2
                found.append(Move(here, ready, None, told))
                found.append(Move(ready, done, number, 1.0))
                found.append(Move(done, ready, None, step.again))
                found.append(Move(done, there, None, 1 - step.again))
            else:
                found.append(Move(here, there, number, told))
            if len(branch) == 1:
                passed += untold
            elif 1 - step.telling > min_share:
                found.append(Move(here, there, None, untold))
            here, arriving = there, 1.0
    if passed > min_share:
        found.append(Move(ENTRY, last, None, passed))
    return _tidied(found)


def _tidied(moves: Sequence[Move]) -> list[Move]:
    """Drop silent moves that are no choice, number positions closely, let weights sum to 1."""
    ways = Counter(move.source for move in moves)
    idle = {move for move in moves if move.step is None and ways[move.source] == 1}
    same = {move.target: move.source for move in idle}
    kept = [move for move in moves if move not in idle]
    ends = [[same.get(end, end) for end in move[:2]] for move in kept]
    rank = {
        end: number for number, end in enumerate(sorted({end for pair in ends for end in pair}))
    }
    total: dict[int, float] = defaultdict(float)
    for move, (source, _) in zip(kept, ends, strict=True):
        total[source] += move.weight
    return [
        Move(rank[source], rank[target], move.step, move.weight / total[source])
        for move, (source, target) in zip(kept, ends, strict=True)
    ]


def outline_pnml(outline: Outline, *, min_share: float = LEAST) -> str:
    """Write an outline as a place/transition net whose firing sequences are its tellings.

    Between two units of which one stands directly before the other there is a place. A first
    transition fills the places before the units that nothing stands before, a last one empties
    those behind the units that nothing stands behind. Transitions have the events that tell the
    steps as labels; all others are invisible. Their weights are probabilities among the transitions
    behind the same places, as in stochastic Petri nets in ProM. The net is sound, and
    no place ever holds two tokens.

    Parameters
    ----------
    outline
        The outline.
    min_share
        Leave out silence and repeats that are not more probable; 0 leaves out none.

    Examples
    --------
    >>> from elision.learn.outline import learn_outline
    >>> outline = learn_outline([[0, 1, 2], [1, 0, 2], [0, 2], [1, 2]] * 10, ["a", "b", "c"])
    >>> net = outline_pnml(outline)
    >>> net.count("<transition "), net.count("$invisible$")
    (7, 4)
    """
    end = len(outline.units)
    names = [unit_name(outline, unit) for unit in range(end)] + ["end", "start"]
    net = _Net()
    net.place("start", "start", marked=True)
    leaving: dict[int, list[str]] = defaultdict(list)
    entering: dict[int, list[str]] = defaultdict(list)
    for before, after in unit_links(outline):
        place = f"from{before + 1}to{after + 1}"
        net.place(place, f"{names[before]} → {names[after]}")
        leaving[before].append(place)
        entering[after].append(place)
    net.place("end", "end")
    net.transition("begin", None, 1.0, ["start"], leaving[START])
    for unit in range(end):
        _add_unit(net, outline, unit, unit_moves(outline, unit, min_share), entering, leaving)
    net.transition("finish", None, 1.0, entering[end], ["end"])
    return net.text("end")


def unit_name(outline: Outline, unit: int) -> str:
    """The steps of a unit in words."""
    branches = outline.units[unit].branches
    return " or ".join(", ".join(outline.steps[s].name for s in branch) for branch in branches)


def _add_unit(
    net: _Net,
    outline: Outline,
    unit: int,
    moves: Sequence[Move],
    entering: dict[int, list[str]],
    leaving: dict[int, list[str]],
) -> None:
    last = max(move.target for move in moves)
    places = {ENTRY: entering[unit], last: leaving[unit]}
    for position in range(ENTRY + 1, last):
        places[position] = [f"in{unit + 1}-{position}"]
        net.place(places[position][0], f"in {unit_name(outline, unit)} ({position})")
    for number, move in enumerate(moves):
        sources, targets = places[move.source], places[move.target]
        if move.step is None:
            net.transition(f"silent{unit + 1}-{number}", None, move.weight, sources, targets)
        else:
            label = outline.steps[move.step].event
            net.transition(f"tell{move.step}", label, move.weight, sources, targets)


class _Net:
    """Gathers the elements of a net."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._arcs: list[str] = []

    def place(self, name: str, label: str, *, marked: bool = False) -> None:
        marking = "<initialMarking><text>1</text></initialMarking>" if marked else ""
        self._parts.append(f'<place id="{name}">{_name(label)}{marking}</place>')

    def transition(
        self,
        name: str,
        label: str | None,
        weight: float,
        sources: Sequence[str],
        targets: Sequence[str],
    ) -> None:
        """Add a transition and its arcs; one without label is silent."""
        hidden = label is None
        invisible = (
            '<toolspecific tool="ProM" version="6.4" activity="$invisible$"/>' if hidden else ""
        )
        stochastic = (
            '<toolspecific tool="StochasticPetriNet" version="0.2">'
            '<property key="distributionType">IMMEDIATE</property>'
            '<property key="priority">1</property>'
            f'<property key="invisible">{str(hidden).lower()}</property>'
            f'<property key="weight">{weight:.12g}</property></toolspecific>'
        )
        shown = _name(name if label is None else label)
        self._parts.append(f'<transition id="{name}">{shown}{invisible}{stochastic}</transition>')
        arcs = [(sources[0], name), (name, targets[0])]
        arcs += [(source, name) for source in sources[1:]]
        arcs += [(name, target) for target in targets[1:]]
        for start, end in arcs:
            number = len(self._arcs)
            self._arcs.append(f'<arc id="arc{number}" source="{start}" target="{end}"/>')

    def text(self, final: str) -> str:
        marking = f'<marking><place idref="{final}"><text>1</text></place></marking>'
        return "\n".join(
            [
                '<?xml version="1.0" encoding="UTF-8"?>',
                f'<pnml xmlns="{NAMESPACE}">',
                f'<net id="script" type="{TYPE}">',
                _name("script"),
                '<page id="page">',
                *self._parts,
                *self._arcs,
                "</page>",
                f"<finalmarkings>{marking}</finalmarkings>",
                "</net>",
                "</pnml>",
                "",
            ]
        )


def _name(text: str) -> str:
    return f"<name><text>{xml_text(text)}</text></name>"


def xml_text(text: str) -> str:
    r"""Return a text for the inside of an element, without what XML cannot hold.

    Examples
    --------
    >>> xml_text("salt & \x00pepper")
    'salt &amp; �pepper'
    """
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text), {"\r": "&#13;"})


def xml_attribute(text: str) -> str:
    """Return a text as the quoted value of an attribute."""
    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))
