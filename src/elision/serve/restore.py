"""A telling restored: what it tells, what it left out, what comes next, and what is odd about it.

This is the one answer that the page is drawn from: the text and the outline show the same numbers
because there are no others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from elision.ask.coming import Coming
from elision.ask.engine.unfinished import passed_by_now
from elision.ask.heard import name_of
from elision.ask.restoring import gained, left_out
from elision.errors import InputError
from elision.serve import messages
from elision.serve.lines import Nearest, denied_events, fitting_nowhere, understood, worded
from elision.values.observations import HeardSentence
from elision.values.outline import steps_told

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Sequence

    from elision.ask.restoring import LeftOut
    from elision.ask.score import Conformance, Flag
    from elision.serve.lines import Said
    from elision.serve.messages import LineKind
    from elision.serve.shelf import Held
    from elision.values.observations import Observation
    from elision.values.script import Script

CLEAR = 0.9
"""Share of its likeliest event above which a sentence is not called vague."""

LISTED = 0.02
"""Steps of a gap that are less probable are not listed."""

PROBABLE = 0.5
"""An open place is taken for an event that is more probable than this."""

MOST_NEAREST = 500
"""Events among which the nearest are sought."""

RARE = 0.01
SKIPPED = "usually told, and missing here"
UNDONE = "usually told, and said here not to have happened"


def restore(held: Held, asking: messages.Asking) -> messages.Restored:
    """Restore a telling line by line.

    Examples
    --------
    >>> import elision as el
    >>> from elision.serve.shelf import Held
    >>> script = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
    >>> found = restore(Held("door", "door", script), messages.Asking(["open door"]))
    >>> names = [step.name for step in script.outline().steps]
    >>> [(names[step], round(found.steps[step].unsaid, 2)) for step in found.gaps[0].steps][:2]
    [('hear doorbell', 0.84), ('walk to door', 0.85)]
    >>> found.judged is None
    True
    """
    said = understood(held, asking.telling, writing=asking.writing)
    told = [one for one in said if one.is_told]
    denied = denied_events(said)
    names = [_name(one.heard) for one in told]
    finished = asking.finished and any(names)
    options = _options(held, told, names, asking.top, fitting_nowhere(held, said))
    assumed = _assumed(names, options)
    outline = held.script.outline()
    steps = steps_told(outline, assumed)
    lines = _lines(held, asking.telling, said, told, steps)
    for place, offered in options.items():
        lines[told[place].line].options = offered
    left = left_out(
        outline,
        steps,
        finished=finished,
        passed=None if finished else passed_by_now(held.script, outline, assumed),
        places=_places(told, len(asking.telling)),
        gains=gained(held.script, outline, assumed),
        denied=[step for event in sorted(denied) for step in outline.steps_of.get(event, ())],
    )
    gaps = _gaps(left, len(lines))
    now = _steps(left, told, steps)
    for one in said:
        for step in outline.steps_of.get(one.denied or "", ()):
            if one.line not in now[step].denied:
                now[step].denied.append(one.line)
    following, ended = ([], 1.0) if finished else _next(held, told, denied, asking.top)
    return messages.Restored(
        lines=lines,
        gaps=gaps,
        steps=now,
        next=following,
        ended=ended,
        judged=judged(held.script, said, names, steps, lines, gaps, now) if finished else None,
    )


def _clear(held: Held, said: Said) -> Observation:
    """Its likeliest event, with the words of the sentence that told it, if one did."""
    heard = worded(held, said)
    if isinstance(heard, HeardSentence) and held.goes_by_words:
        return HeardSentence({name_of(heard): 1.0}, heard.words)
    return _name(heard)


def _name(heard: Observation) -> str | None:
    return None if heard is None else name_of(heard)


# --- lines ------------------------------------------------------------------------------------


def _lines(
    held: Held,
    telling: Sequence[str | None],
    said: Sequence[Said],
    told: Sequence[Said],
    steps: Sequence[int | None],
) -> list[messages.ToldLine]:
    """What each line was taken for."""
    step_of = {id(one): step for one, step in zip(told, steps, strict=True)}
    found = []
    for number, text in enumerate(telling):
        here = [one for one in said if one.line == number]
        heard = [
            messages.Heard(name_of(one.heard), step_of[id(one)])
            for one in here
            if one.heard is not None
        ]
        denied = [*dict.fromkeys(one.denied for one in here if one.denied is not None)]
        kind = _kind(here)
        parts = [*dict.fromkeys(one.text for one in here)]
        near = _near(held, text or "") if kind in ("unknown", "writing") else []
        whole = "?" if text is None else text
        found.append(messages.ToldLine(whole, kind, heard, denied, parts, near, [], []))
    return found


def _kind(here: Sequence[Said]) -> LineKind:
    """The kind of a line: of its parts, the one that needs most attention."""
    kinds = {one.kind for one in here}
    order: tuple[LineKind, ...] = ("writing", "unknown", "gap", "sentence", "event", "denied")
    return next((kind for kind in order if kind in kinds), "blank")


def _near(held: Held, text: str) -> list[str]:
    events = held.script.events[:MOST_NEAREST]
    return held.remember(("nearest",), lambda: Nearest(events)).to(text)


def _options(
    held: Held,
    told: Sequence[Said],
    names: Sequence[str | None],
    top: int,
    exclude: Collection[str],
) -> dict[int, list[messages.Answer]]:
    """Answers for open places, and what sentences that are not clear may stand for."""
    found: dict[int, list[messages.Answer]] = {}
    if None in names:
        items = [_clear(held, one) for one in told]
        for filling in held.script.fill(items, top=top, exclude=exclude):
            answers = [messages.Answer(one.event, one.probability) for one in filling.answers]
            found[filling.position] = answers
    vague = [place for place, one in enumerate(told) if _is_vague(one)]
    if not vague:
        return found
    items = [*names]
    for place in vague:
        items[place] = told[place].heard
    try:
        resolved = held.script.resolve(items, top=top)
    except InputError:  # the script cannot tell this: nothing is better than the words alone
        return found
    for one in resolved:
        if one.position in vague:
            found[one.position] = [
                messages.Answer(each.event, each.probability) for each in one.candidates
            ]
    return found


def _assumed(
    names: Sequence[str | None], options: Mapping[int, list[messages.Answer]]
) -> list[str | None]:
    """What was told, with open places taken for what they probably stand for."""
    found = [*names]
    for place, name in enumerate(names):
        best = options.get(place, [])[:1] if name is None else []
        if best and best[0].probability >= PROBABLE:
            found[place] = best[0].event
    return found


def _is_vague(said: Said) -> bool:
    if not isinstance(said.heard, Mapping):
        return False
    return max(said.heard.values()) < CLEAR * math.fsum(said.heard.values())


# --- what was left out ------------------------------------------------------------------------


def _places(told: Sequence[Said], count: int) -> list[int]:
    """The gap before each told event: what is left out within a line belongs after it."""
    lines = [one.line for one in told]
    first = [at == 0 or lines[at - 1] != line for at, line in enumerate(lines)]
    return [line if begins else line + 1 for line, begins in zip(lines, first, strict=True)] + [
        count
    ]


def _gaps(left: LeftOut, count: int) -> list[messages.Gap]:
    gaps = [messages.Gap(0.0, [], []) for _ in range(count + 1)]
    for place, something in enumerate(left.something.tolist()):
        gaps[place].something = max(something, 0.0)
    for step in np.flatnonzero(left.unsaid >= LISTED).tolist():
        gaps[int(left.place[step])].steps.append(step)
    return gaps


def _steps(
    left: LeftOut, told: Sequence[Said], steps: Sequence[int | None]
) -> list[messages.StepNow]:
    chances = left.unsaid.tolist()
    found = [messages.StepNow(step, [], [], p, False) for step, p in enumerate(chances)]
    for one, step in zip(told, steps, strict=True):
        if step is not None and one.line not in found[step].lines:
            found[step].lines.append(one.line)
    return found


# --- what comes next -----------------------------------------------------------------------------


def _next(
    held: Held, told: Sequence[Said], denied: Collection[str], top: int
) -> tuple[list[messages.Answer], float]:
    """What is told next, and the probability that nothing is, as the question `next` has it."""
    coming = Coming(held.script)
    for one in told:
        coming.tell(worded(held, one))
    chances = coming.chances(denied)
    order = np.argsort(-chances[:-1], kind="stable").tolist()
    events = [(held.script.events[o], float(chances[o])) for o in order]
    found = [messages.Answer(event, chance) for event, chance in events if event not in denied]
    return found[:top], float(chances[-1])


# --- what is odd ----------------------------------------------------------------------------------


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
