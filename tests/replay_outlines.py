"""A token player: reads nets and processes by the rules of their formats, and plays them.

It knows nothing of how outlines are written. A process becomes a net with a place for each flow.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from xml.etree import ElementTree as ET

PNML = "{http://www.pnml.org/version-2009/grammar/pnml}"
BPMN = "{http://www.omg.org/spec/BPMN/20100524/MODEL}"
MOST_MARKINGS = 20_000


@dataclass(frozen=True)
class Transition:
    name: str
    label: str | None
    before: frozenset[str]
    behind: frozenset[str]
    weight: float = 1.0


@dataclass(frozen=True)
class Net:
    """Markings are sets of places: `fire` refuses a second token."""

    transitions: tuple[Transition, ...]
    initial: frozenset[str]
    final: frozenset[str]
    known: dict = field(default_factory=dict, compare=False, repr=False)

    def enabled(self, marking):
        if marking not in self.known:
            self.known[marking] = [one for one in self.transitions if one.before <= marking]
        return self.known[marking]


def fire(marking, transition):
    left = marking - transition.before
    assert not left & transition.behind, f"{transition.name} puts a second token on a place"
    return left | transition.behind


# ------------------------------------------------------------------------------------------------
# Reading
# ------------------------------------------------------------------------------------------------


def _parsed(text):
    root = ET.fromstring(text.encode())  # noqa: S314 - we wrote it
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids)), "an id is used twice"
    return root


def read_pnml(text):
    root = _parsed(text)
    page = root.find(f"{PNML}net/{PNML}page")
    places = {place.get("id") for place in page.iter(f"{PNML}place")}
    before, behind = defaultdict(list), defaultdict(list)
    for arc in page.iter(f"{PNML}arc"):
        source, target = arc.get("source"), arc.get("target")
        assert (source in places) != (target in places)
        if source in places:
            before[target].append(source)
        else:
            behind[source].append(target)
    found = []
    for one in page.iter(f"{PNML}transition"):
        name = one.get("id")
        tools = {tool.get("tool"): tool for tool in one.iter(f"{PNML}toolspecific")}
        silent = "ProM" in tools and tools["ProM"].get("activity") == "$invisible$"
        noted = {note.get("key"): note.text for note in tools["StochasticPetriNet"]}
        assert noted["invisible"] == str(silent).lower()
        label = None if silent else one.find(f"{PNML}name/{PNML}text").text
        ends = [before.pop(name), behind.pop(name)]
        assert all(len(set(side)) == len(side) > 0 for side in ends)
        found.append(Transition(name, label, *map(frozenset, ends), float(noted["weight"])))
    assert not before
    assert not behind
    marked = frozenset(
        place.get("id")
        for place in page.iter(f"{PNML}place")
        if place.find(f"{PNML}initialMarking/{PNML}text") is not None
    )
    (final,) = root.findall(f"{PNML}net/{PNML}finalmarkings/{PNML}marking")
    ending = frozenset(
        place.get("idref") for place in final if place.find(f"{PNML}text").text == "1"
    )
    assert ending <= places
    return Net(tuple(found), marked, ending)


def read_bpmn(text):
    """Tokens lie on flows; what a node does with them depends on its kind."""
    process = _parsed(text).find(f"{BPMN}process")
    incoming, outgoing, share = defaultdict(list), defaultdict(list), {}
    for flow in process.iter(f"{BPMN}sequenceFlow"):
        outgoing[flow.get("sourceRef")].append(flow.get("id"))
        incoming[flow.get("targetRef")].append(flow.get("id"))
        noted = flow.find(f"{BPMN}documentation").text
        share[flow.get("id")] = float(noted.removeprefix("probability "))
    found = []
    for node in process:
        name, kind = node.get("id"), node.tag.removeprefix(BPMN)
        if kind == "sequenceFlow":
            continue
        for side, flows in (("incoming", incoming[name]), ("outgoing", outgoing[name])):
            assert sorted(one.text for one in node.iter(f"{BPMN}{side}")) == sorted(flows)
        ways = (len(incoming[name]), len(outgoing[name]))
        label = node.get("name") if kind == "task" else None
        if kind in ("startEvent", "endEvent", "task"):
            assert ways == {"startEvent": (0, 1), "endEvent": (1, 0), "task": (1, 1)}[kind]
            pairs = [(incoming[name] or ["begun"], outgoing[name] or ["ended"])]
        else:
            assert min(ways) == 1 < max(ways), f"{name} neither splits nor joins"
            assert kind in ("parallelGateway", "exclusiveGateway")
            pairs = [(incoming[name], outgoing[name])]
            if kind == "exclusiveGateway":
                pairs = [([a], [b]) for a, b in product(incoming[name], outgoing[name])]
        for number, (before, behind) in enumerate(pairs):
            weight = share[behind[0]] if kind == "exclusiveGateway" else 1.0
            sides = frozenset(before), frozenset(behind)
            found.append(Transition(f"{name}/{number}", label, *sides, weight))
    return Net(tuple(found), frozenset({"begun"}), frozenset({"ended"}))


# ------------------------------------------------------------------------------------------------
# Playing
# ------------------------------------------------------------------------------------------------


def state_space(net):
    """For each marking that can be reached, the markings that each transition leads to from it."""
    found, waiting = {}, [net.initial]
    while waiting:
        marking = waiting.pop()
        if marking not in found:
            found[marking] = {one: fire(marking, one) for one in net.enabled(marking)}
            waiting += found[marking].values()
            assert len(found) <= MOST_MARKINGS, "too many markings for a test"
    return found


def check_sound(net):
    """Every marking can reach the final one, which stands alone, and every transition can fire."""
    space = state_space(net)
    into = defaultdict(set)
    for marking, onward in space.items():
        for after in onward.values():
            into[after].add(marking)
    finishing, waiting = set(), [net.final]
    while waiting:
        marking = waiting.pop()
        if marking not in finishing:
            finishing.add(marking)
            waiting += into[marking]
    assert set(space) <= finishing, "a marking that the end cannot be reached from"
    for marking in space:
        assert not (net.final < marking), "tokens are left when the end is reached"
    assert not space[net.final]
    fired = {one for onward in space.values() for one in onward}
    assert fired == set(net.transitions), "a transition that never fires"


def silently(net, markings):
    """These markings and all that invisible transitions lead to."""
    found, waiting = set(), list(markings)
    while waiting:
        marking = waiting.pop()
        if marking not in found:
            found.add(marking)
            waiting += [fire(marking, one) for one in net.enabled(marking) if one.label is None]
    return found


def accepts(net, telling):
    """Whether a telling can be played to the end."""
    markings = silently(net, [net.initial])
    for event in telling:
        markings = silently(
            net,
            {
                fire(marking, one)
                for marking in markings
                for one in net.enabled(marking)
                if one.label == event
            },
        )
    return net.final in markings


def language(net, longest):
    """All tellings of up to so many events."""
    found = set()
    waiting = {(): frozenset(silently(net, [net.initial]))}
    for _ in range(longest + 1):
        found |= {told for told, markings in waiting.items() if net.final in markings}
        further = defaultdict(set)
        for told, markings in waiting.items():
            for marking in markings:
                for one in net.enabled(marking):
                    if one.label is not None:
                        further[*told, one.label].add(fire(marking, one))
        waiting = {told: frozenset(silently(net, these)) for told, these in further.items()}
    return found


def probabilities(net, longest):
    """P(events told, in any order) for up to so many events, by firing at random by weight."""

    @cache
    def rest(marking, room):
        """The same for what is told from a marking on."""
        if marking == net.final:
            return {(): 1.0}
        found = Counter()
        enabled = [one for one in net.enabled(marking) if one.weight]
        total = sum(one.weight for one in enabled)
        for one in enabled:
            told = () if one.label is None else (one.label,)
            if len(told) <= room:
                onward = rest(fire(marking, one), room - len(told))
                for more, chance in onward.items():
                    found[tuple(sorted(told + more))] += chance * one.weight / total
        return dict(found)

    return rest(net.initial, longest)
