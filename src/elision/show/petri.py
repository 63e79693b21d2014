"""Scripts as Petri nets in PNML, with silent transitions and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision.show._steps import steps, xml_text

if TYPE_CHECKING:
    from elision.values.script import Script

TYPE = "http://www.pnml.org/version-2009/grammar/ptnet"
NAMESPACE = "http://www.pnml.org/version-2009/grammar/pnml"


def to_pnml(script: Script, *, min_share: float = 0.0) -> str:
    """Write a script as a place/transition net whose firing sequences are its tellings.

    A state has a place for being entered and one for having been. Between the two stands a
    transition for each event that it may tell, and an invisible one for silence; edges are
    invisible transitions. The probabilities are the transitions' weights, as in
    stochastic Petri nets in ProM: only one place is marked at a time, so a choice is always
    between the transitions behind one place.

    Parameters
    ----------
    script
        The script.
    min_share
        Leave out what is rarer, which changes the tellings; see `to_dot`.

    Examples
    --------
    >>> import elision as el
    >>> to_pnml(el.examples.doorbell()).count("<transition ")
    36
    """
    inner, passages = steps(script, min_share)
    last = script.size - 1
    net = _Net()
    net.place("done0", "start", marked=True)
    for step in inner:
        net.place(f"enter{step.state}", f"entering {step.name}")
        net.place(f"done{step.state}", step.name)
    net.place(f"done{last}", "end")
    for step in inner:
        here, there = f"enter{step.state}", f"done{step.state}"
        for o, share in step.events:
            net.transition(f"tell{step.state}-{o}", script.events[o], share, here, there)
        if step.silence:
            net.transition(f"pass{step.state}", None, step.silence, here, there)
    for one in passages:
        name = f"go{one.source}-{one.target}"
        there = f"done{last}" if one.target == last else f"enter{one.target}"
        net.transition(name, None, one.probability, f"done{one.source}", there)
    return net.text(f"done{last}")


class _Net:
    """Gathers the elements of a net."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._arcs: list[str] = []

    def place(self, name: str, label: str, *, marked: bool = False) -> None:
        marking = "<initialMarking><text>1</text></initialMarking>" if marked else ""
        self._parts.append(f'<place id="{name}">{_name(label)}{marking}</place>')

    def transition(
        self, name: str, label: str | None, weight: float, source: str, target: str
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
        for start, end in ((source, name), (name, target)):
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
