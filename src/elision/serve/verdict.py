"""What is odd about a finished telling, put where it belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision.serve import messages

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from elision.ask.score import Conformance, Flag
    from elision.serve.lines import Said
    from elision.values.script import Script

RARE = 0.01
SKIPPED = "usually told, and missing here"
UNDONE = "usually told, and said here not to have happened"


def judged(
    script: Script,
    said: Sequence[Said],
    names: Sequence[str | None],
    steps: Sequence[int | None],
    lines: list[messages.ToldLine],
    gaps: list[messages.Gap],
    now: list[messages.StepNow],
) -> messages.Verdict:
    """Judge a telling, and flag its lines, gaps and steps.

    What is said not to have happened is no part of what is judged. What is missing for that reason
    is flagged where it is said.
    """
    heard = [one for one in said if one.is_told or one.kind == "unknown"]
    rest = iter(zip(names, steps, strict=True))
    told_as = [next(rest) if one.is_told else (None, None) for one in heard]
    items = [
        name if one.is_told else {one.text: 1.0}  # not to be heard as a sentence once more
        for one, (name, _) in zip(heard, told_as, strict=True)
    ]
    (found,) = script.conform([items], unknown="ignore")
    places = [one.line for one in heard]
    denied = {one.denied: one.line for one in said if one.denied is not None}
    for flag in found.flags if found.odd else ():
        if flag.kind == "skipped" and flag.event in denied:
            flags = lines[denied[flag.event]].flags
            flags.append(messages.Oddity(flag.kind, flag.event, UNDONE))
            continue
        if flag.kind == "skipped":
            gap = places[flag.position] if flag.position < len(places) else len(lines)
            gaps[gap].flags.append(messages.Oddity(flag.kind, flag.event, SKIPPED))
            continue
        lines[places[flag.position]].flags.append(
            messages.Oddity(flag.kind, flag.event, _note(flag))
        )
        step = told_as[flag.position][1]
        if flag.kind == "out of order" and step is not None:
            now[step].astray = True
    told = sum(bool(one.lines) for one in now)
    count = f"{told} of {len(now)} steps told."
    parts = [summary(found, denied), count, _rarity(script, found)]
    return messages.Verdict(found.odd, found.p_value, " ".join(filter(None, parts)))


def _note(flag: Flag) -> str:
    """The note without its numbers: the page has numbers of one kind only."""
    note = flag.note.rpartition(", ")[0] if flag.note.endswith("%") else flag.note
    if flag.kind == "out of order":
        _, found, where = note.partition(" as probable ")
        return f"out of order: usually told {where}" if found else note
    return note


def _rarity(script: Script, found: Conformance) -> str:
    """Say how many usual tellings are as odd as an odd one."""
    if not found.odd or found.p_value is None:
        return ""
    calibration = None if script.telling is None else script.telling.calibration
    count = 0 if calibration is None else len(calibration.oddness)
    if count and round(found.p_value * (count + 1)) <= 1:
        return f"Fewer than 1 in {count} tellings are as unusual."
    if found.p_value < RARE:
        return "Fewer than 1 in 100 tellings are as unusual."
    return f"About {100 * found.p_value:.0f} in 100 tellings are as unusual."


def summary(found: Conformance, denied: Container[str] = ()) -> str:
    """Say in a sentence whether a telling is odd, and why; it may say that some did not happen."""
    if not found.odd:
        late = f" but for its order: {_listed(found.late)} came late" if found.late else ""
        return f"A usual telling{late}."
    kinds = {
        "undone" if flag.kind == "skipped" and flag.event in denied else flag.kind
        for flag in found.flags
    }
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
            ("undone", "something that is usually told is said not to have happened"),
            ("surprising", "something in it is surprising"),
        )
        if kind in kinds
    ]
    return f"An odd telling: {_listed(reasons)}." if reasons else "An odd telling as a whole."


def _listed(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
