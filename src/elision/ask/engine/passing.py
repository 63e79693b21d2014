"""How surely the place of each step has been passed, kept up to date event by event.

The place of a step that was not told lies before, between or after the units told; which, their
order with the step says. If it lies after the last event, it is still to come: the rest of its
probability is that of having been passed. But a step that nearly everybody tells would have been
told at its place: the more usual it is, the more probably it is still to come.

What speaks for an alarm is counted by tellings alone, not by the order that was learned from them:
so a telling can be judged by all others, its own counts taken off, as a new one would be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.values.outline import UNSEEN, log_counted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from elision.values.outline import Outline

LARGEST_ODDS = 30.0
"""Log-odds are cut here: beyond, only the number of events told would speak."""

WITNESSES = 2
"""Told units that speak for an alarm: those whose order with the step is surest.

What follows a step follows it together, so that all of them would say the same thing many times.
"""

LEAST_TELLINGS = 5
"""Fewer say nothing about alarms."""

EXPECTED = 0.9
"""Share of tellings that must tell a step for its not being told to be alarming."""


TIE = 1e-9
"""Log-odds of what is as probably behind as ahead, however sums are rounded."""

LEAST_NEXT = 0.01
"""What comes next less probably says nothing of what has been passed."""


def can_be_expected(outline: Outline, told: NDArray[np.bool_], step: int) -> bool:
    """Whether nothing was told instead of a step."""
    branches = outline.decisions[outline.decided_by[step]].branches
    begun = [branch for branch in branches if any(told[other] for other in branch)]
    return not begun or any(step in branch for branch in begun)


class Untold(NamedTuple):
    """What a telling should have told: a step, or one of the branches of a choice.

    Attributes
    ----------
    steps
        The step; of a choice, the one of each branch that is told most often.
    share
        Share of the tellings that tell it; of a choice, that tell any of its branches.
    within
        Where only the tellings of its branch nearly all tell it, a step of that which was told; the
        share is that of these.
    """

    steps: tuple[int, ...]
    share: float
    within: int | None = None

    def name(self, outline: Outline) -> str:
        """The step in words."""
        names = ", ".join(outline.steps[step].name for step in self.steps)
        return names if len(self.steps) == 1 else f"one of {names}"


def untold(
    outline: Outline, told: NDArray[np.bool_], perhaps: Collection[str] = ()
) -> list[Untold]:
    """What nearly every telling tells (`EXPECTED`), and this one, at its end, does not.

    Of a branch that is told, each step that nearly every telling of the branch tells; of a choice
    of which nothing is told, one for the whole. What an event tells that was ``perhaps`` told is
    none of it, nor is a choice that has such a step. None where the tellings were too few for
    alarms: of one telling, each step is told by all.
    """
    if outline.alarms is None:
        return []
    found = []
    for unit in outline.decisions:
        begun = [branch for branch in unit.branches if told[list(branch)].any()]
        if begun:
            found += [one for branch in begun for one in _untold_of_branch(outline, told, branch)]
            continue
        due = [step for step in unit.steps if outline.told_shares[step] >= EXPECTED]
        found += [Untold((step,), float(outline.told_shares[step])) for step in due]
        if not due and len(unit.branches) > 1:
            most = tuple(
                max(branch, key=lambda step: outline.told_shares[step]) for branch in unit.branches
            )
            # Those that tell several branches count more than once, so that one may be too much.
            share = min(1.0, float(outline.told_shares[list(most)].sum()))
            found += [Untold(most, share)] if share >= EXPECTED else []
    left = [one for one in found if not _may_be_told(outline, one, perhaps)]
    return sorted(left, key=lambda one: one.steps)


def _may_be_told(outline: Outline, one: Untold, perhaps: Collection[str]) -> bool:
    """Whether what seems untold, or any branch of a choice that does, was perhaps told."""
    choice = len(one.steps) > 1
    whole = outline.decisions[outline.decided_by[one.steps[0]]]
    steps = whole.steps if choice else one.steps
    return any(outline.steps[step].event in perhaps for step in steps)


def _untold_of_branch(
    outline: Outline, told: NDArray[np.bool_], branch: Sequence[int]
) -> list[Untold]:
    """Steps of a branch of which something was told: all of it happened, and each is told or not.

    Branches that few tell say nothing about alarms, as few tellings do.
    """
    shares = outline.told_shares
    heard = next(step for step in branch if told[step])
    known = outline.tellings * shares[list(branch)].max() >= LEAST_TELLINGS
    found = []
    for step in branch:
        telling = outline.steps[step].telling
        if told[step]:
            continue
        if shares[step] >= EXPECTED:
            found.append(Untold((step,), float(shares[step])))
        elif known and telling >= EXPECTED:
            found.append(Untold((step,), telling, heard))
    return found


class Passing(NamedTuple):
    """What is known of an unfinished telling.

    Attributes
    ----------
    logs
        (units, units): log-probability that the first comes before the second.
    odds_before
        (units, units): log-odds of that, as alarms count them.
    told
        (steps,): whether each was told.
    behind, ahead
        (steps,): log-weight of all places between events told, and of the place after the last.
    heard
        (units,): whether something of each was told.
    prior
        (steps,): log-odds that a telling tells each.
    late
        (`WITNESSES`, units): log-odds that each comes before units told, the largest, from 0.
    last
        The step told last.
    """

    outline: Outline
    logs: NDArray[np.float64]
    odds_before: NDArray[np.float64]
    told: NDArray[np.bool_]
    behind: NDArray[np.float64]
    ahead: NDArray[np.float64]
    heard: NDArray[np.bool_]
    prior: NDArray[np.float64]
    late: NDArray[np.float64]
    last: int | None = None

    @classmethod
    def of(cls, outline: Outline, without: Sequence[int] = ()) -> Passing:
        """Before anything is told.

        As for a telling of these steps (``without``) that the outline was not learned from. It is
        taken off what speaks against alarms, and left in what speaks for them: so no telling that
        is judged later has more against it than its like.
        """
        steps, units = len(outline.steps), len(outline.units)
        counted = outline.told_shares * outline.tellings
        if without:
            pairs = _orders_without(outline, without)
            logs = log_counted(pairs)
            odds = np.log(outline.pairs + UNSEEN) - np.log(pairs.T + UNSEEN)
        else:
            logs, odds = outline.log_counted, outline.odds_counted
        prior = np.log(counted + UNSEEN)
        prior -= np.log(np.maximum(outline.tellings - counted, 0) + UNSEEN)
        return cls(
            outline,
            logs,
            odds,
            np.zeros(steps, bool),
            np.full(steps, -np.inf),
            np.zeros(steps),
            np.zeros(units, bool),
            prior,
            np.zeros((WITNESSES, units)),
        )

    def tell(self, step: int) -> Passing:
        """Return what is known after one more step was told."""
        outline = self.outline
        unit = outline.unit_of[step]
        told, heard = self.told.copy(), self.heard.copy()
        told[step] = heard[unit] = True
        if self.heard[unit]:
            return self._replace(told=told, last=step)
        logs, units = self.logs, outline.unit_numbers
        late = np.vstack([self.late, self.odds_before[:, unit]])
        return self._replace(
            told=told,
            heard=heard,
            behind=np.logaddexp(self.behind, self.ahead) + logs[units, unit],
            ahead=self.ahead + logs[unit, units],
            late=np.sort(late, axis=0)[1:],
            last=step,
        )

    def step_of(self, event: str) -> int | None:
        """Return the step that an event tells now, None if it tells none.

        Of an event with two steps, the first whose place has not been passed, but none before one
        that was told already; told twice in a row, the same again.
        """
        steps = self.outline.steps_of.get(event, ())
        told = [place for place, step in enumerate(steps) if self.told[step]]
        if told and (self.last == steps[told[-1]] or told[-1] == len(steps) - 1):
            return steps[told[-1]]
        left = steps[told[-1] + 1 :] if told else steps
        if len(left) > 1:
            passed = self.passed()
            left = tuple(step for step in left if passed[step] < 0.5) or left[-1:]
        return left[0] if left else None

    def odds(self) -> NDArray[np.float64]:
        """Log-odds that the place of each step has been passed, by the order of units alone."""
        return np.asarray(np.clip(self.behind - self.ahead, -LARGEST_ODDS, LARGEST_ODDS))

    def passed(self) -> NDArray[np.float64]:
        """Probability of that; one where the step was told."""
        return np.asarray(np.where(self.told, 1.0, 1 / (1 + np.exp(-self.odds()))))

    def passed_untold(self) -> NDArray[np.float64]:
        """Probability that each place has been passed, given also that the step was not told.

        One where it was told.
        """
        untold = -np.logaddexp(0.0, self.prior)  # log-probability that a telling does not tell it
        return np.asarray(np.where(self.told, 1.0, 1 / (1 + np.exp(-self.odds() - untold))))

    def no_longer_to_come(
        self, events: Sequence[str], chances: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Probability that each place has been passed: at most that its step does not come next.

        ``chances`` are those of each event's coming next. One where the step was told.
        """
        passed = self.passed_untold()
        for number in np.flatnonzero(chances >= LEAST_NEXT).tolist():
            step = self.step_of(events[number])
            if step is not None and not self.told[step]:
                passed[step] = min(passed[step], 1 - chances[number])
        return passed

    def skips(self) -> NDArray[np.float64]:
        """How much speaks for each step's having been skipped: the log-odds of alarms.

        That it comes before what was told, by the `WITNESSES` who are surest, and that it would
        have been told. Steps that are often left untold (`EXPECTED`) raise no alarm, however surely
        they have been passed.
        """
        worth = self.late.sum(axis=0)[self.outline.unit_numbers] + self.prior
        silent = self.told | (self.outline.told_shares < EXPECTED)
        return np.asarray(np.where(silent, -np.inf, worth))

    def still_to_come(self) -> NDArray[np.bool_]:
        """Whether all units told together say that the place of each step is still ahead."""
        return np.asarray(self.odds() < -TIE)

    def out_of_order(self, step: int) -> tuple[float, int | None]:
        """How much speaks for a step's coming too late, and which unit told it should precede.

        Log-odds that it comes before that unit; minus infinity if nothing was told, or something of
        its own unit, whose place is that of what is told first.
        """
        unit = self.outline.unit_of[step]
        others = np.flatnonzero(self.heard)
        if self.heard[unit] or not len(others):
            return -np.inf, None
        odds = self.odds_before[unit, others]
        worst = int(odds.argmax())
        return float(odds[worst]), int(others[worst])


def _orders_without(outline: Outline, steps: Sequence[int]) -> NDArray[np.int64]:
    """Counted orders of units, those of one telling taken off."""
    pairs = outline.pairs.copy()
    units = list(dict.fromkeys(outline.unit_of[step] for step in steps))
    for place, unit in enumerate(units):
        pairs[unit, units[place + 1 :]] -= 1
    return np.maximum(pairs, 0)
