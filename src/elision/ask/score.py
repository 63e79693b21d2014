"""How well a telling fits a script, and which of its events do not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

from elision import _html, ask
from elision._backends import library_of
from elision.ask import summaries
from elision.ask.engine.frames import frame_of
from elision.ask.heard import understood_all
from elision.ask.summaries import shown_share
from elision.errors import InputError, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from elision.ask.summaries import Summary
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script

COLUMNS = (
    "id",
    "telling",
    "events",
    "fitness",
    "log_prob",
    "p_value",
    "oddness",
    "odd",
    "missing",
    "superfluous",
    "out_of_order",
    "most_surprising",
    "flags",
    "untold",
    "late",
)
"""Of the table of many tellings."""

FALSE_ALARMS = 0.05
"""Share of usual tellings that are nevertheless called odd."""

LEAST_SHOWN = 0.0005
"""Smaller probabilities would show as 0.0%."""

Kind: TypeAlias = Literal[
    "unknown",
    "impossible",
    "repeated",
    "superfluous",
    "replaced",
    "out of order",
    "skipped",
    "surprising",
]


@dataclass(frozen=True, slots=True)
class Flag:
    """Something odd about a telling.

    Attributes
    ----------
    kind
        "unknown": the script has no such event. "impossible": the script cannot tell the event
        here. "repeated": told before, and improbable now. "superfluous": the telling would be more
        probable without. "replaced": another event is due where this one stands. "out of order":
        the telling would be more probable with the event elsewhere. "skipped": left out, though
        usually told. "surprising": of an odd telling of which nothing else is flagged, the event
        least to be expected, or the last one if the end is less so.
    position
        Of the event in the telling; for "skipped" that of the event before which it was due.
    event
        The event.
    weight
        How odd. By a telling model: the probability. By a script: the surprise of a repeated event,
        the gain in log-probability of moving one that is out of order, the probability that an
        event was skipped. Infinite for unknown and impossible ones.
    note
        The same in words.
    probability
        That it is so, if a deviation is as probable beforehand as one in twenty tellings; None
        where the script does not say.
    """

    kind: Kind
    position: int
    event: str
    weight: float
    note: str
    probability: float | None = None

    def __str__(self) -> str:
        return f"{self.event}: {self.note}"


class Deviations(NamedTuple):
    """How many deviations are to be expected in a telling, by their probabilities.

    An event told in place of another is superfluous, and the other missing.
    """

    missing: float = 0.0
    superfluous: float = 0.0
    out_of_order: float = 0.0


NO_DEVIATIONS = Deviations()


@dataclass(frozen=True, slots=True)
class Conformance:
    """How well a telling fits a script.

    Attributes
    ----------
    told
        What was told, by name.
    log_prob
        Log-probability of the telling, without the events that are flagged as unknown or
        impossible; -inf if nothing of it can be told.
    surprises
        For each event -log P(event | the events before it); None for those left out.
    ending
        -log P(nothing more | all events). With the surprises it sums to ``-log_prob``.
    p_value
        By a telling model: share of usual tellings, which were not learned from, that are as odd
        as this one, by their oddness and by what speaks for a step's coming too late together.
        By a script: share of tellings of as many events, drawn from it, that are no
        more probable than this one, and the smallest there is where an event is unknown; None if
        none were drawn.
    oddness
        Logarithm of how much more probable the telling is if its teller made one deviation
        (exchanged or moved events, left out one, told a strange one or one in place of another)
        than if not. Above 0 a deviation is the better explanation. Tellings are best ranked by it.
    flags
        What is odd, event by event. A telling model flags deviations only where the telling is odd.
    deviations
        How many deviations are to be expected.
    false_alarms
        Share of usual tellings that may be called odd.
    untold
        Steps that nine of ten tellings tell and this one does not, within a branch of those that
        tell something of it; "one of" several for a choice of which nothing is told. Known if the
        script was made from an outline. A usual telling may lack some, if many lack one or another.
    late
        Events for which following the telling raises an alarm, as they come too late.
    steps
        How many steps it tells, and how many a telling has on average; None if the script was not
        made from an outline, or the telling is not finished.
    """

    told: tuple[str, ...]
    log_prob: float
    surprises: tuple[float | None, ...]
    ending: float
    p_value: float | None
    oddness: float
    flags: tuple[Flag, ...]
    deviations: Deviations = NO_DEVIATIONS
    false_alarms: float = FALSE_ALARMS
    untold: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    steps: tuple[int, float] | None = None

    @property
    def fitness(self) -> float:
        """Share of what was told or is missing that is right, from 0 to 1.

        1 - (missing + superfluous + out of order) / (told + missing), with expected numbers.
        """
        whole = len(self.told) + self.deviations.missing
        return max(0.0, 1.0 - sum(self.deviations) / whole) if whole else 1.0

    @property
    def odd(self) -> bool:
        """Whether fewer usual tellings than ``false_alarms`` are as odd as this one."""
        if self.p_value is None:  # a deviation is more probable than none, at one telling in twenty
            return self.oddness > math.log(19)
        return self.p_value <= self.false_alarms

    @property
    def possible(self) -> bool:
        """Whether the script can tell all of it."""
        return all(flag.kind not in ("unknown", "impossible") for flag in self.flags)

    def __str__(self) -> str:
        width = max(map(len, self.told), default=0)
        lines = []
        for place, (event, surprise) in enumerate(zip(self.told, self.surprises, strict=True)):
            lines += [f"  ({flag})" for flag in self.flags if _is_due(flag, place)]
            found = "-" if surprise is None else f"{surprise:.1f}"
            notes = "; ".join(flag.note for flag in self.flags if _is_about(flag, place))
            lines.append(f"{event:<{width}}  {found:>5}  {notes}".rstrip())
        lines += [f"  ({flag})" for flag in self.flags if _is_due(flag, len(self.told))]
        return "\n".join([*lines, "", self._summary()])

    def _summary(self) -> str:
        return (
            f"{self.verdict}fitness {self.fitness:.2f}, log-probability {self.log_prob:.2f}"
            f"{self.rarity}, oddness {self.oddness:.1f}{self.lacking}"
        )

    @property
    def verdict(self) -> str:
        """Whether the telling is odd, in words that come first; empty if that is not known."""
        if self.p_value is None:
            return ""
        if self.odd:
            return "odd: "
        if self.late:
            return "usual but for its order: "
        return "usual for what it tells: " if self.untold or self.brief else "usual: "

    @property
    def brief(self) -> bool:
        """Whether it tells less than half as many steps as tellings do on average."""
        return self.steps is not None and 2 * self.steps[0] < self.steps[1]

    @property
    def rarity(self) -> str:
        """The p-value, in words that follow others; empty if there is none."""
        if self.p_value is None:
            return ""
        shown = shown_share(self.p_value)
        return f", p {shown}" if shown.startswith("<") else f", p = {shown}"

    @property
    def lacking(self) -> str:
        """What is late, unless flags say so, and untold, in words that follow a verdict."""
        said = any(flag.kind == "out of order" for flag in self.flags)
        parts = []
        if self.late and not said:
            parts.append(f"told late: {', '.join(self.late)}")
        if self.steps is not None and self.brief:
            told, usual = self.steps[0], max(1, round(self.steps[1]))
            steps = "step that is" if usual == 1 else "steps that are"
            parts.append(f"it tells {told} of the {usual} {steps} usual")
        if self.untold:
            parts.append(f"not told, though nearly all tell it: {', '.join(self.untold)}")
        return "".join(f"; {part}" for part in parts)

    def _repr_html_(self) -> str:
        rows: list[list[str]] = []
        for place in range(len(self.told) + 1):
            due = [flag for flag in self.flags if _is_due(flag, place)]
            rows += [[f"({flag.event})", "", flag.note] for flag in due]
            if place < len(self.told):
                surprise = self.surprises[place]
                found = "" if surprise is None else f"{surprise:.2f}"
                notes = "; ".join(flag.note for flag in self.flags if _is_about(flag, place))
                rows.append([self.told[place], found, notes])
        return _html.table(["event", "surprise", "note"], rows, caption=self._summary())


def named(found: Conformance) -> Conformance:
    """Where a telling is odd and nothing is flagged, flag what is most surprising.

    Examples
    --------
    >>> found = Conformance(("wave", "nod"), -9.0, (1.0, 7.6), 0.4, 0.01, 0.0, ())
    >>> [str(flag) for flag in named(found).flags]
    ['nod: surprising here, 0.1%']
    """
    known = [(value, place) for place, value in enumerate(found.surprises) if value is not None]
    if not found.odd or found.flags or not known:
        return found
    surprise, place = max(known, key=lambda one: one[0])
    note = "surprising here"
    if found.ending > surprise:
        surprise, place = found.ending, len(found.told) - 1
        note = "surprising that nothing more is told"
    chance = math.exp(-surprise)
    rarely = f"{chance:.1%}" if chance >= LEAST_SHOWN else "less than 0.1%"
    flag = Flag("surprising", place, found.told[place], surprise, f"{note}, {rarely}")
    return replace(found, flags=(flag,))


def _is_due(flag: Flag, place: int) -> bool:
    return flag.kind == "skipped" and flag.position == place


def _is_about(flag: Flag, place: int) -> bool:
    return flag.kind != "skipped" and flag.position == place


class Conformances(Sequence[Conformance]):
    """How well each of many tellings fits, in the order in which they were given.

    Parameters
    ----------
    found
        One conformance a telling.
    ids
        The id of each telling, None where it has none; by default none has.
    backend
        The library of the frame in which the tellings came, if they did.

    Attributes
    ----------
    ids
        The id of each telling: that of the `Narrative`, if it was one.
    """

    __slots__ = ("_backend", "_found", "ids")

    def __init__(
        self,
        found: Iterable[Conformance],
        ids: Iterable[str | None] | None = None,
        backend: str | None = None,
    ) -> None:
        self._found = tuple(found)
        self._backend = backend
        self.ids = (None,) * len(self._found) if ids is None else tuple(ids)
        if len(self.ids) != len(self._found):
            raise InputError(f"{len(self.ids)} ids came for {len(self._found)} tellings")

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Conformance: ...
    @overload
    def __getitem__(self, index: slice) -> Conformances: ...
    def __getitem__(self, index: int | slice) -> Conformance | Conformances:
        if isinstance(index, slice):
            return Conformances(self._found[index], self.ids[index], self._backend)
        return self._found[index]

    def __iter__(self) -> Iterator[Conformance]:
        return iter(self._found)

    def __repr__(self) -> str:
        odd = sum(one.odd for one in self._found)
        return f"<Conformances: {counted(len(self), 'telling')}, {odd} odd>"

    def __str__(self) -> str:
        names = self._names()
        width = max(map(len, ["telling", *names]))
        lines = [f"{'telling':>{width}}  events  fitness  p-value  oddness  flags"]
        for name, one in zip(names, self._found, strict=True):
            chance = "-" if one.p_value is None else shown_share(one.p_value)
            flags = "; ".join(map(str, one.flags))
            row = f"{name:>{width}}  {len(one.told):>6}  {one.fitness:>7.2f}  {chance:>7}"
            lines.append(f"{row}  {one.oddness:>7.1f}  {flags}".rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        header = ["telling", "events", "fitness", "p-value", "oddness", "flags"]
        rows = [
            [
                name,
                str(len(one.told)),
                f"{one.fitness:.2f}",
                "" if one.p_value is None else shown_share(one.p_value),
                f"{one.oddness:.1f}",
                "; ".join(map(str, one.flags)),
            ]
            for name, one in zip(self._names(), self._found, strict=True)
        ]
        return _html.table(header, rows)

    def _names(self) -> list[str]:
        """The ids of the tellings, or their numbers."""
        return [str(number) if one is None else one for number, one in enumerate(self.ids)]

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one dictionary a telling, of plain values; ``id`` is None where there is none.

        Examples
        --------
        >>> import elision as el
        >>> script = el.examples.doorbell()
        >>> found = conform(script, [["hear doorbell", "open door"]], samples=0)
        >>> row = found.to_rows()[0]
        >>> row["events"], row["fitness"], row["flags"]
        (2, 1.0, '')
        """
        rows = []
        for number, (name, one) in enumerate(zip(self.ids, self._found, strict=True)):
            known = [value for value in one.surprises if value is not None]
            worst = one.told[one.surprises.index(max(known))] if known else None
            values = (
                name,
                number,
                len(one.told),
                one.fitness,
                one.log_prob,
                one.p_value,
                one.oddness,
                one.odd,
                *one.deviations,
                worst,
                "; ".join(map(str, one.flags)),
                "; ".join(one.untold),
                "; ".join(one.late),
            )
            rows.append(dict(zip(COLUMNS, values, strict=True)))
        return rows

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the rows as a data frame of pandas, polars or pyarrow.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow"; by default as the tellings came, pandas if they came in
            no frame.

        Raises
        ------
        InputError
            If that library is not installed.
        """
        return frame_of(COLUMNS, self.to_rows(), backend or self._backend or "pandas")

    def by_step(self) -> Summary:
        """Sum up step by step: how often told, how surprising, and how often flagged as what."""
        return summaries.by_step(self._found)

    def by_variant(self) -> Summary:
        """Sum up tellings that are alike: how many, how well they fit, and what is flagged.

        Examples
        --------
        >>> import elision as el
        >>> script = el.examples.doorbell()
        >>> found = conform(script, 3 * [["open door"]], samples=9).by_variant()
        >>> [(row["variant"], row["tellings"]) for row in found]
        [('open door', 3)]
        """
        return summaries.by_variant(self._found)


def score(
    script: Script,
    narrative: Iterable[Observation],
    *,
    unknown: Unknown = "ignore",
    false_alarms: float = FALSE_ALARMS,
    samples: int = 1000,
    random_state: int = 0,
) -> Conformance:
    """Say how well a telling fits a script, and which of its events do not.

    Parameters
    ----------
    script
        The script of the activity.
    narrative
        What was told. None stands for some event, a mapping for one of several.
    unknown
        "ignore" flags events that the script does not know and leaves them out, "error" refuses.
    false_alarms
        Share of usual tellings that may be called odd.
    samples
        How many tellings to draw for the p-value; 0 for none, nor is there one for a telling of
        more than 10,000 events. A telling model that was learned from
        19 tellings or more needs none: it knows how odd some of them are that it had not seen.
    random_state
        Seed of the drawing.

    Notes
    -----
    The surprises are exact: the state that told last is filtered forward, every silent path
    counted. Tellings for the p-value are drawn given the number of events, and it is (k + 1) /
    (n + 1) for k of n that are no more probable; where this telling leaves events open (None), so
    do they, and an ambiguous event counts as the one it most probably is. An impossible telling is
    reported without the fewest events that make it possible.

    Examples
    --------
    >>> import elision as el
    >>> told = ["hear doorbell", "sneeze", "close door", "say goodbye"]
    >>> print(score(el.examples.doorbell(), told, samples=99))
    hear doorbell    0.4
    sneeze             -  not in the script
    close door       5.4
    say goodbye        -  cannot be told here
    <BLANKLINE>
    odd: fitness 0.50, log-probability -5.77, p = 0.010, oddness 15.2
    """
    return conform(
        script,
        [narrative],
        unknown=unknown,
        false_alarms=false_alarms,
        samples=samples,
        random_state=random_state,
    )[0]


def log_probs(
    script: Script, narratives: Iterable[Iterable[Observation]], *, unknown: Unknown = "error"
) -> NDArray[np.float64]:
    """Log-probability of each of many narratives, every silent path counted."""
    packed = script.pack(narratives, unknown=unknown)
    return script.lattice.log_prob(packed)[packed.place]


def conform(
    script: Script,
    narratives: Iterable[Iterable[Observation]],
    *,
    unknown: Unknown = "ignore",
    false_alarms: float = FALSE_ALARMS,
    samples: int = 1000,
    random_state: int = 0,
) -> Conformances:
    """Say how well each of many tellings fits a script; parameters as for `score`.

    The ids of narratives, as of a `Corpus`, come back as ``ids`` and in the table.

    Like tellings are looked at once, and all tellings of one length share their samples.

    Examples
    --------
    >>> import elision as el
    >>> found = conform(el.examples.doorbell(), el.examples.doorbell_tellings())
    >>> found
    <Conformances: 20 tellings, 0 odd>
    >>> round(min(one.p_value for one in found), 2)
    0.22
    """
    told, ids = understood_all(script, narratives)
    examiner = ask.engine.conformance.Examiner(
        script,
        unknown=unknown,
        false_alarms=false_alarms,
        samples=samples,
        random_state=random_state,
    )
    return Conformances(examiner.examine(told), ids, library_of(narratives))
