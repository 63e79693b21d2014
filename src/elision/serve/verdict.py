"""What is odd about a finished telling, put where it belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision.serve import messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.ask.score import Conformance, Flag
    from elision.script import Script
    from elision.serve.lines import Said

SKIPPED = "usually told, and missing here"


def judged(
    script: Script,
    said: Sequence[Said],
    names: Sequence[str | None],
    steps: Sequence[int | None],
    lines: list[messages.ToldLine],
    gaps: list[messages.Gap],
    now: list[messages.StepNow],
) -> messages.Verdict:
    """Judge a telling, and flag its lines, gaps and steps."""
    rest = iter(zip(names, steps, strict=True))
    heard = [(None, None) if one.kind == "unknown" else next(rest) for one in said]
    items = [
        one.text if one.kind == "unknown" else name
        for one, (name, _) in zip(said, heard, strict=True)
    ]
    (found,) = script.conform([items], unknown="ignore")
    places = [one.line for one in said]
    for flag in found.flags if found.odd else ():
        if flag.kind == "skipped":
            gap = places[flag.position] if flag.position < len(places) else len(lines)
            gaps[gap].flags.append(messages.Oddity(flag.kind, flag.event, SKIPPED))
            continue
        lines[places[flag.position]].flags.append(messages.Oddity(flag.kind, flag.event, flag.note))
        step = heard[flag.position][1]
        if flag.kind == "out of order" and step is not None:
            now[step].astray = True
    return messages.Verdict(found.odd, found.p_value, _summary(found))


def _note(flag: Flag) -> str:
    """The note without its probability: the page has numbers of one kind only."""
    return flag.note if flag.probability is None else flag.note.rpartition(", ")[0]


def _summary(found: Conformance) -> str:
    if not found.odd:
        return "A usual telling."
    kinds = {flag.kind for flag in found.flags}
    reasons = [
        text
        for kind, text in (
            ("unknown", "something in it is not known"),
            ("impossible", "something in it cannot be told there"),
            ("out of order", "something in it is out of order"),
            ("repeated", "something in it is told once too often"),
            ("superfluous", "something in it does not belong there"),
            ("replaced", "something in it stands in place of something else"),
            ("skipped", "something that is usually told is missing"),
        )
        if kind in kinds
    ]
    return f"An odd telling: {_listed(reasons)}." if reasons else "An odd telling as a whole."


def _listed(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
