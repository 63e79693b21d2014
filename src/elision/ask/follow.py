"""Following a telling while it is told: what was skipped, what comes next, how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from elision import ask
from elision.ask.coming import Coming
from elision.ask.engine.passing import Passing, Untold, can_be_expected, untold
from elision.ask.fill import Answer
from elision.ask.heard import hear, name_of, single
from elision.errors import InputError
from elision.values.observations import real, short, surely

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from elision.ask.between import Story
    from elision.ask.heard import Item
    from elision.values.observations import Observation, Unknown
    from elision.values.outline import Outline
    from elision.values.script import Script

RATE = 0.05
"""One ordinary telling in twenty may raise a false alarm."""

LEAST = 0.05
"""Steps less probably passed are not listed."""

USUALLY = float(np.log(2))
"""Log-odds of an order that is worth mentioning."""

PROBABLE = 0.5
"""Steps that were less probably done unsaid are not shown in words, unless there is an alarm."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A step that was not told, though its place has probably been passed.

    Attributes
    ----------
    event
        The event that would have told it.
    step
        The step; "one of" several where a choice was passed of which nearly all tellings tell a
        branch, and the event is then that of the branch told most often.
    passed
        Probability that it is no longer to come, by what was told and by its not being told.
    done
        Probability that it was done all the same, by now, and only not told.
    alarm
        Whether so much speaks for its having been skipped as in few ordinary tellings.
    told
        Share of the tellings that tell it, or if it is expected ``within`` a branch, of those that
        tell something of that.
    before
        Of an alarm, the step told that it most surely comes before, in two of three tellings or
        more; None if there is none.
    within
        Of an alarm at the end, the step told whose branch it is of, if the tellings of that branch
        nearly all tell it, and not nearly all tellings.
    """

    event: str
    step: str
    passed: float
    done: float
    alarm: bool
    told: float
    before: str | None
    within: str | None = None


@dataclass(frozen=True, slots=True)
class OutOfOrder:
    """A step that was told too late: against the outline's order, or so rarely that it alarms.

    Attributes
    ----------
    event
        What was told.
    position
        Where, from 0.
    before
        The step told already that it usually comes before.
    probability
        How often it does.
    alarm
        Whether so much speaks for a deviation as in few ordinary tellings.
    """

    event: str
    position: int
    before: str
    probability: float
    alarm: bool


@dataclass(frozen=True, slots=True)
class Now:
    """What is known as of now.

    Attributes
    ----------
    count
        How many events were told so far.
    skipped
        Steps whose place has probably been passed untold: alarms first, then the most certain, and
        the equally certain in the outline's order.
    out_of_order
        Steps told too late, in the order of telling.
    next
        What probably comes next, most probable first.
    ended
        Probability that nothing more comes.
    progress
        How much of what is told of it has been told, from 0 to 1; nothing that is told takes away
        from it.
    unknown
        What was told that the script does not know.
    finished
        Whether the telling is at its end.
    """

    count: int
    skipped: tuple[Skipped, ...]
    out_of_order: tuple[OutOfOrder, ...]
    next: tuple[Answer, ...]
    ended: float
    progress: float
    unknown: tuple[str, ...] = ()
    finished: bool = False

    @property
    def alarms(self) -> tuple[Skipped | OutOfOrder, ...]:
        """What is worth speaking up about."""
        every: list[Skipped | OutOfOrder] = [*self.skipped, *self.out_of_order]
        return tuple(one for one in every if one.alarm)

    def __str__(self) -> str:
        lines = [f"{self.progress:.0%} done" + (" (finished)" if self.finished else "")]
        lines += [line for line, _ in remarks(self.skipped, self.out_of_order)]
        if not self.finished:
            lines += [f"  next: {one.event}  {one.probability:.0%}" for one in self.next[:3]]
        return "\n".join(lines)


class _Passed(Protocol):
    """A `Skipped`, of here or of a message."""

    @property
    def step(self) -> str: ...
    @property
    def passed(self) -> float: ...
    @property
    def done(self) -> float: ...
    @property
    def alarm(self) -> bool: ...
    @property
    def told(self) -> float: ...
    @property
    def before(self) -> str | None: ...
    @property
    def within(self) -> str | None: ...


class _Late(Protocol):
    """An `OutOfOrder`, of here or of a message."""

    @property
    def event(self) -> str: ...
    @property
    def before(self) -> str: ...
    @property
    def probability(self) -> float: ...
    @property
    def alarm(self) -> bool: ...


def remarks(skipped: Iterable[_Passed], late: Iterable[_Late]) -> Iterator[tuple[str, bool]]:
    """Say what was passed untold or told too late, a line each, and whether it is an alarm.

    Steps that were probably not done at all are not named but counted.
    """
    others = 0
    for one in skipped:
        if one.alarm:
            where = "" if one.within is None else f" with {one.within}"
            usual = "" if one.before is None else f", usually before {one.before}"
            yield f"! skipped: {one.step} ({one.told:.0%} tell it{where}{usual})", True
        elif one.done >= PROBABLE:
            chances = f"({one.passed:.0%}, done {one.done:.0%})"
            yield f"  passed untold: {one.step} {chances}", False
        else:
            others += one.passed >= PROBABLE
    if others:
        yield f"  passed untold: {others} more, probably not done", False
    for two in late:
        usual = f"(usually before {two.before}, {two.probability:.0%})"
        yield f"{'!' if two.alarm else ' '} out of order: {two.event} {usual}", two.alarm


def checked_rate(false_alarms: object) -> float:
    """Refuse what is no share of tellings."""
    rate = real(false_alarms)
    if not 0 < rate < 1:
        problem = f"false_alarms is {short(false_alarms)}, expected a share of tellings"
        raise InputError(f"{problem} between 0 and 1")
    return rate


class _State(NamedTuple):
    """All that changes with an event; what was before it stays, for undoing."""

    events: int
    passing: Passing
    deviations: tuple[OutOfOrder, ...]
    unknown: tuple[str, ...]
    perhaps: frozenset[str]
    denied: frozenset[str]
    chances: NDArray[np.float64]
    passed: NDArray[np.float64]
    progress: float = 0.0


class Follower:
    """Follows one telling of a script: tell it events or sentences as they come.

    Parameters
    ----------
    script
        The script of the activity.
    false_alarms
        Share of ordinary tellings in which a step may be called skipped that is told later, and
        share in which one may be called out of order; see `knows_alarms`. It does not bound alarms
        of steps that are never told: what 92 % of the tellings tell is missing in 8 % of them, and
        most of those raise an alarm, at their end if not before, whatever the share.
        No alarm rests on a sentence that is as probably another event.
    unknown
        "ignore" notes what the script does not know in ``now().unknown``; "error" refuses it.

    Examples
    --------
    >>> import elision as el
    >>> follow = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_.follow()
    >>> print(follow.tell("walk to door"))
    22% done
      passed untold: hear doorbell (84%, done 84%)
      next: open door  58%
      next: look through peephole  34%
      next: greet visitor  5%
    >>> follow.undo().count
    0
    """

    def __init__(
        self, script: Script, *, false_alarms: float = RATE, unknown: Unknown = "ignore"
    ) -> None:
        rate = checked_rate(false_alarms)
        self._script, self._unknown = script, unknown
        self._outline: Outline = script.outline()
        alarms = self._outline.alarms
        self.knows_alarms = alarms is not None and alarms.known(rate)
        """Whether there were enough tellings to know how rare an alarm is."""
        self._skip_limit = float("inf") if alarms is None else alarms.threshold("skipped", rate)
        self._deviation_limit = (
            float("inf") if alarms is None else alarms.threshold("out_of_order", rate)
        )
        self._events = frozenset(script.events)
        self._coming, passing = Coming(script), Passing.of(self._outline)
        chances = self._coming.chances()
        passed = self._passed(passing, chances)
        self._states = [_State(0, passing, (), (), frozenset(), frozenset(), chances, passed)]
        self._told: list[Observation] = []
        self._finished = False

    @property
    def told(self) -> tuple[str, ...]:
        """What was told so far; a sentence as its likeliest event."""
        return tuple(map(name_of, self._told))

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Steps whose place has probably been passed untold, most certain first."""
        return self.now().skipped

    @property
    def out_of_order(self) -> tuple[OutOfOrder, ...]:
        """Steps told too late."""
        return self._states[-1].deviations

    @property
    def next(self) -> tuple[Answer, ...]:
        """What probably comes next."""
        return self.now().next

    @property
    def progress(self) -> float:
        """How much of what is told of it has been told, from 0 to 1."""
        return self.now().progress

    def tell(self, item: Item) -> Now:
        """Tell an event or a sentence, and return what is known then."""
        if self._finished:
            raise InputError("the telling is finished", hint="undo() takes that back")
        heard = hear(self._script, [item], unknown=self._unknown)
        state = self._states[-1]
        if heard.denied:
            denied = state.denied | heard.denied
            state = self._expecting(state._replace(denied=denied))
        if heard.ignored:
            state = state._replace(unknown=(*state.unknown, name_of(item)))
        told = single(heard, "follow")
        for one in told:
            state = self._after(state, one)
        self._told += told
        self._states.append(state)
        return self.now()

    def tell_all(self, items: Sequence[Item]) -> Now:
        """Tell several, one after the other."""
        for item in items:
            self.tell(item)
        return self.now()

    def undo(self) -> Now:
        """Take back what was told last, or that the telling is finished."""
        if self._finished:
            self._finished = False
        elif len(self._states) > 1:
            self._states.pop()
            del self._told[self._states[-1].events :]
            self._coming.take_back(len(self._told))
        else:
            raise InputError("nothing was told that could be taken back")
        return self.now()

    def finish(self) -> Now:
        """Say that this was all: what is untold now has been passed.

        What nine of ten tellings tell, and this one did not, raises an alarm.
        """
        self._finished = True
        return self.now()

    def story(self) -> Story:
        """What happened unsaid, in all that was told so far."""
        return self._script.between(self._told)

    def now(self) -> Now:
        """What is known as of now."""
        state = self._states[-1]
        chances = state.chances
        passed = np.ones_like(state.passed) if self._finished else state.passed
        order = np.argsort(-chances[:-1], kind="stable")[:10].tolist()
        happened = self._outline.happened(np.flatnonzero(state.passing.told).tolist())
        return Now(
            count=state.events,
            skipped=self._skipped(state, happened, passed),
            out_of_order=state.deviations,
            next=()
            if self._finished
            else tuple(Answer(self._script.events[o], float(chances[o])) for o in order),
            ended=1.0 if self._finished else float(chances[-1]),
            progress=1.0 if self._finished else state.progress,
            unknown=state.unknown,
            finished=self._finished,
        )

    def _after(self, state: _State, item: Observation) -> _State:
        if isinstance(item, Mapping) and not item:
            raise InputError("no event has a positive weight", where=f"event {state.events}")
        event, sure = name_of(item), surely(item)
        if event not in self._events:
            raise InputError(f"{short(event)} is no event of the script")
        # What is as probably another event says nothing of the order, and raises no alarm.
        step = state.passing.step_of(event) if isinstance(sure, str) else None
        perhaps = state.perhaps | ask.sentences.perhaps(item)
        deviations, passing = state.deviations, state.passing
        if step is not None:
            worth, unit = passing.out_of_order(step)
            if unit is not None and worth > 0:
                late = self._out_of_order(event, state.events, step, unit, worth, passing)
                deviations = (*deviations, *late)
            passing = passing.tell(step)
        self._coming.tell(item)
        after = self._expecting(
            state._replace(
                events=state.events + 1,
                passing=passing,
                deviations=deviations,
                perhaps=perhaps,
            )
        )
        return after._replace(progress=self._progress(after))

    def _expecting(self, state: _State) -> _State:
        """The state with what comes next, and what has thus been passed."""
        chances = self._coming.chances(state.denied)
        return state._replace(chances=chances, passed=self._passed(state.passing, chances))

    def _out_of_order(
        self, event: str, position: int, step: int, unit: int, worth: float, passing: Passing
    ) -> list[OutOfOrder]:
        """The deviation, if it is worth an alarm or breaks an order that the outline has."""
        own, ahead = self._outline.unit_of[step], self._outline.ahead
        alarm = worth > self._deviation_limit
        if not alarm:
            broken = np.flatnonzero(passing.heard & self._outline.order[own])
            if not len(broken):
                return []
            unit = int(broken[ahead[own, broken].argmax()])
        before = self._told_of(unit, passing)
        return [OutOfOrder(event, position, before, float(ahead[own, unit]), alarm)]

    def _after_it(self, step: int, passing: Passing) -> str | None:
        """The step told that another most surely comes before."""
        odds, unit = passing.out_of_order(step)
        return self._told_of(unit, passing) if unit is not None and odds > USUALLY else None

    def _told_of(self, unit: int, passing: Passing) -> str:
        """The step of a unit that was told."""
        steps = self._outline.units[unit].steps
        told = next((step for step in steps if passing.told[step]), steps[0])
        return self._outline.steps[told].name

    def _passed(self, passing: Passing, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability that each step is no longer to come."""
        return passing.no_longer_to_come(self._script.events, chances[:-1])

    def _skipped(
        self, state: _State, happened: NDArray[np.float64], passed: NDArray[np.float64]
    ) -> tuple[Skipped, ...]:
        passing, outline = state.passing, self._outline
        worth = np.where(passing.still_to_come(), -np.inf, passing.skips())
        # At the end nothing can come later: what nearly everybody tells is missing.
        due = untold(outline, passing.told, state.perhaps) if self._finished else []
        missing = {one.steps[0]: one for one in due if len(one.steps) == 1}
        choices = [one for one in due if len(one.steps) > 1]
        found = [self._passed_choice(one, passing, happened) for one in choices]
        for step in np.flatnonzero(~passing.told).tolist():
            expected = float(outline.told_shares[step]) * self._open(state, step)
            # What everybody tells may rather come late than not at all, and is due all the same.
            alarm = bool(step in missing or worth[step] > self._skip_limit) and expected > 0
            alarm = alarm and outline.steps[step].event not in state.perhaps
            if not alarm and passed[step] * expected < LEAST:
                continue
            done = 0.0 if outline.steps[step].event in state.denied else happened[step]
            found.append(
                Skipped(
                    outline.steps[step].event,
                    outline.steps[step].name,
                    float(passed[step]),
                    float(passed[step] * done),
                    alarm,
                    missing[step].share if step in missing else float(outline.told_shares[step]),
                    self._after_it(step, passing) if alarm else None,
                    self._within(missing.get(step)),
                )
            )
        # Sorting is stable: what is equally certain stays in the outline's order.
        return tuple(sorted(found, key=lambda one: (not one.alarm, -one.passed)))

    def _passed_choice(
        self, one: Untold, passing: Passing, happened: NDArray[np.float64]
    ) -> Skipped:
        """The alarm of a choice of which nothing was told."""
        outline, steps = self._outline, list(one.steps)
        usual = max(steps, key=lambda step: outline.told_shares[step])
        done = min(1.0, float(happened[steps].sum()))
        event, before = outline.steps[usual].event, self._after_it(usual, passing)
        return Skipped(event, one.name(outline), 1.0, done, True, one.share, before)

    def _within(self, one: Untold | None) -> str | None:
        """The name of the step whose branch one is expected in."""
        return None if one is None or one.within is None else self._outline.steps[one.within].name

    def _open(self, state: _State, step: int) -> float:
        """Whether a step can still be expected: nothing was told instead of it."""
        return float(can_be_expected(self._outline, state.passing.told, step))

    def _progress(self, state: _State) -> float:
        """Steps told over those told and still to be told; more told of the script is not less."""
        told = int(state.passing.told.sum())
        if not told:
            return 0.0
        left = np.flatnonzero(~state.passing.told).tolist()
        chances = (1 - state.passed) * self._outline.told_shares
        still = sum(float(chances[step]) * self._open(state, step) for step in left)
        return max(state.progress, told / (told + still))


def follow(script: Script, **options: Any) -> Follower:
    """Follow a telling of a script while it is told; see `Follower`."""
    return Follower(script, **options)
