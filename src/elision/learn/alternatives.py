"""Which steps come instead of each other, which only together, and how often each happens unsaid.

That a step is untold can mean that it did not happen or that it was passed over. What tells the two
apart is what was told instead, and what goes together: steps that exclude each other are branches
of a choice; rare steps that are told together or not at all happen together; what is always told
with something else is not passed over. Where nothing tells them apart, silence is preferred, the
less so the more silence that takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

LEAST_EVIDENCE = 4.0
"""Log-likelihood that dependence must gain over independence: by chance, one pair in 200 does."""

INSTEAD = 0.2
"""Steps that exclude each other are told together at most so often, of what chance would do."""

LEAST_CHANCE = 3.0
"""Times that steps must be told together by chance, for their never being so to say anything."""

JOINING = 0.6
"""Share of a branch's evidence with which a further step must exclude the other branches."""

JOINED = 0.4
"""Share of the tellings of a branch's step in which what joins the branch must be told, too.

All steps of a branch are taken for done. What is told more seldom beside them was mostly not done,
rather than passed over.
"""

TOGETHER = 0.75
"""Share of the tellings of either step that tell the other too, if they only happen together."""

NEAR = 0.2
"""How far apart, in a telling from 0 to 1, steps may stand that come instead of each other."""

GOES_WITH = 0.5
"""A step goes with another if they are told together at least so often, of what chance would do."""

FOLLOWS = 0.8
"""Share of the tellings of two steps in which one comes first, for it to come before the other."""

ALWAYS = 0.93
"""Prior probability that a unit always happens."""

SILENCE = 0.42
"""Probability that a step is passed over though it happened, before any telling is seen."""

SILENCE_UNITS = 10.0
"""How many units this is worth beside those that at least half of the tellings tell."""

SILENCE_WEIGHT = 15.0
"""How alike steps are in being passed over: parameters of the Beta prior sum to this."""

RELIABLE = 0.95
"""Share of the tellings of another step from which on a step is known to be told when it is done.

People who tell one thing in detail tell what belongs to it, too, and pass over both. So nearly all
of them must tell it, and they must be many (171 if none of them leaves it out).
"""

DEVIATIONS = 3.0
"""How many standard deviations below what is counted this share is taken to be."""

UNTOLD = 0.5
"""Tellings that leave a step out, beside those counted: none is told so surely that it must be."""

GRID = 200


@dataclass(frozen=True, slots=True)
class Choice:
    """Branches of steps, the probability of each when one of them happens, and that one does.

    ``telling`` is the probability that each step is told when it happens, by branch and step.
    """

    branches: tuple[tuple[int, ...], ...]
    shares: tuple[float, ...]
    happens: float
    telling: tuple[tuple[float, ...], ...]


def find_choices(
    told: Bools,
    place: Floats,
    weight: Floats,
    *,
    ahead: Floats | None = None,
    complete: bool = False,
) -> list[Choice]:
    """Group steps into units: choices between branches, steps that go together, single steps.

    Parameters
    ----------
    told
        (tellings, steps): which steps each telling tells.
    place
        (steps,): where each step usually stands; steps of a branch come in this order.
    weight
        (tellings,): how often each telling came.
    ahead
        (steps, steps): how many tellings tell the one before the other. With it, steps are near
        each other also where nothing that goes with both comes between them: branches may be long.
    complete
        Whether nothing was left out: what is not told did not happen.
    """
    units = [tuple(branches) for branches in _branches(told, place, weight, ahead)]
    if complete:
        return [_counted(branches, told, weight) for branches in units]
    silence = _usual_silence(units, told, weight)
    rates = _reliable_rates(told, weight)
    return [_bounded(fitted(unit, told, weight, silence), rates) for unit in units]


def in_parts(
    choices: Sequence[Choice], told: Bools, place: Floats, weight: Floats, ahead: Floats
) -> list[list[Choice]]:
    """The parts of each choice, several if others come between its steps whatever is chosen.

    A unit has one place in the order, and would come before or after all that is between. The
    tables are those of `find_choices`.
    """
    both, expected = _told_together(told, weight)
    goes_with, first = _usual_order(both, expected, ahead)
    return [_parted(choice, goes_with, first, place) for choice in choices]


def _counted(branches: tuple[tuple[int, ...], ...], told: Bools, weight: Floats) -> Choice:
    """Probabilities of a unit where all that happened is told."""
    often = np.array([weight @ told[:, list(branch)].any(axis=1) for branch in branches])
    some = weight @ told[:, [step for branch in branches for step in branch]].any(axis=1)
    return Choice(
        branches,
        tuple((often / often.sum()).tolist()),
        float(some / weight.sum()),
        tuple(tuple(1.0 for _ in branch) for branch in branches),
    )


def _usual_silence(units: list[tuple[tuple[int, ...], ...]], told: Bools, weight: Floats) -> float:
    """How often steps are passed over, by the units that at least half of the tellings tell."""
    total = float(weight.sum())
    heard = [
        float(weight @ told[:, [s for branch in unit for s in branch]].any(axis=1)) / total
        for unit in units
    ]
    usual = [1 - share for share in heard if share >= 0.5]
    return (SILENCE * SILENCE_UNITS + sum(usual)) / (SILENCE_UNITS + len(usual))


def _branches(
    told: Bools, place: Floats, weight: Floats, ahead: Floats | None
) -> list[list[tuple[int, ...]]]:
    total = weight.sum()
    both, expected = _told_together(told, weight)
    alone = np.diag(both)
    evidence = _dependence(both, alone, total)
    np.fill_diagonal(evidence, 0.0)
    near = np.abs(place[:, None] - place[None, :]) < NEAR
    if ahead is not None:
        near |= ~_separated(both, expected, ahead)
    seldom = (both < INSTEAD * expected) & (expected >= LEAST_CHANCE)
    excludes = np.where(seldom, evidence, 0.0)
    share = both / np.minimum.outer(alone, alone).clip(1e-12)
    rare = alone < total / 2
    together = (
        (both > TOGETHER * np.maximum.outer(alone, alone))
        & (share > TOGETHER)
        & (evidence > LEAST_EVIDENCE)
        & np.logical_and.outer(rare, rare)
    )
    bundles = _bundles(together, place)
    agrees = (both >= expected) & (both >= JOINED * np.maximum.outer(alone, alone))
    return _choices(bundles, excludes, near, agrees, place)


def _separated(both: Floats, expected: Floats, ahead: Floats) -> Bools:
    """Whether something that goes with both of two steps comes between them."""
    first = _usual_order(both, expected, ahead)[1].astype(np.float64)
    between: Bools = first @ first > 0
    return between | between.T


def _told_together(told: Bools, weight: Floats) -> tuple[Floats, Floats]:
    """How many tellings tell both of two steps, each its own, and how many would by chance."""
    both = (told * weight[:, None]).T @ told
    alone = np.diag(both)
    return both, np.outer(alone, alone) / weight.sum()


def _usual_order(both: Floats, expected: Floats, ahead: Floats) -> tuple[Bools, Bools]:
    """Which steps go with each other, and whether the one then nearly always comes first."""
    goes_with = (both >= GOES_WITH * expected) & (expected >= LEAST_CHANCE)
    np.fill_diagonal(goes_with, val=False)
    return goes_with, goes_with & (ahead >= FOLLOWS * both)


def _parted(choice: Choice, goes_with: Bools, first: Bools, place: Floats) -> list[Choice]:
    """The parts of one choice."""
    inside = [step for branch in choice.branches for step in branch]
    with_all = np.all([goes_with[:, list(b)].any(axis=1) for b in choice.branches], axis=0)
    with_all[inside] = False
    between = with_all & np.any(
        [first[list(b)].any(axis=0) & first[:, list(b)].any(axis=1) for b in choice.branches],
        axis=0,
    )
    if not between.any():
        return [choice]
    middle = min(np.flatnonzero(between).tolist(), key=lambda step: (place[step], step))
    early = {
        s for s in inside if first[s, middle] or (place[s] < place[middle] and not first[middle, s])
    }
    return [
        part
        for steps in (early, set(inside) - early)
        for part in _parted(_part(choice, steps), goes_with, first, place)
    ]


def _part(choice: Choice, steps: set[int]) -> Choice:
    """Only these steps of a choice; it happens if a branch happens that has any of them."""
    kept = [
        (tuple((s, rate) for s, rate in zip(branch, rates, strict=True) if s in steps), share)
        for branch, rates, share in zip(choice.branches, choice.telling, choice.shares, strict=True)
    ]
    kept = [(branch, share) for branch, share in kept if branch]
    total = sum(share for _, share in kept)
    return Choice(
        tuple(tuple(step for step, _ in branch) for branch, _ in kept),
        tuple(share / total for _, share in kept),
        min(choice.happens * total, 1.0),
        tuple(tuple(rate for _, rate in branch) for branch, _ in kept),
    )


def _dependence(both: Floats, alone: Floats, total: float) -> Floats:
    """Log-likelihood ratio of dependence of each two steps, in nats."""
    one, other = alone[:, None], alone[None, :]
    cells = (
        (both, one * other),
        (one - both, one * (total - other)),
        (other - both, (total - one) * other),
        (total - one - other + both, (total - one) * (total - other)),
    )
    gain: Floats = np.zeros_like(both)
    for seen, chance in cells:
        seen = np.clip(seen, 0, None)
        gain += xlogy(seen, seen * total) - xlogy(seen, chance)
    return gain


def _bundles(together: Bools, place: Floats) -> list[tuple[int, ...]]:
    """Steps that all go together, each step in one bundle, the largest first."""
    left = set(range(len(place)))
    found = []
    for first in sorted(left, key=lambda step: (-int(together[step].sum()), step)):
        if first in left:
            bundle = [first]
            for other in np.flatnonzero(together[first]).tolist():
                if other in left and all(together[other, one] for one in bundle):
                    bundle.append(other)
            left -= set(bundle)
            found.append(tuple(sorted(bundle, key=lambda step: (place[step], step))))
    return sorted(found)


def _choices(
    bundles: list[tuple[int, ...]],
    excludes: Floats,
    near: Bools,
    agrees: Bools,
    place: Floats,
) -> list[list[tuple[int, ...]]]:
    """Bundles that exclude each other, strongest evidence first, as branches of one choice.

    All their steps must exclude each other. That some of them are near each other is enough: the
    steps of a branch may stand far apart.
    """
    n = len(bundles)
    first = [bundle[0] for bundle in bundles]
    apart = np.where(near, excludes, 0.0)[np.ix_(first, first)]
    joins = agrees[np.ix_(first, first)]
    several = [number for number, bundle in enumerate(bundles) if len(bundle) > 1]
    for a in several:
        for b in range(n):
            for one, other in ((a, b), (b, a)):
                cells = np.ix_(bundles[one], bundles[other])
                apart[one, other] = excludes[cells].min() if near[cells].any() else 0.0
                joins[one, other] = agrees[cells].all()
    np.fill_diagonal(apart, 0.0)
    np.fill_diagonal(joins, val=False)
    taken: set[int] = set()
    found: list[list[tuple[int, ...]]] = []
    pairs = [(apart[a, b], -a, -b) for a in range(n) for b in range(a) if apart[a, b] > 0]
    for gain, a, b in sorted(pairs, reverse=True):
        if gain < LEAST_EVIDENCE or {-a, -b} & taken:
            continue
        branches = [[-a], [-b]]
        _grow(branches, apart, joins, taken | {-a, -b})
        taken |= {one for branch in branches for one in branch}
        found.append(
            [
                tuple(
                    sorted(
                        (step for one in branch for step in bundles[one]),
                        key=lambda step: (place[step], step),
                    )
                )
                for branch in branches
            ]
        )
    return found + [[bundle] for one, bundle in enumerate(bundles) if one not in taken]


def _grow(branches: list[list[int]], apart: Floats, joins: Bools, taken: set[int]) -> None:
    """Add what excludes every branch, as a branch, or every branch but one, to that one.

    It joins that one only if it agrees with all of it: if it is told with it at least as often as
    by chance, and neither mostly without the other.
    """
    least = JOINING * LEAST_EVIDENCE
    while True:
        best: tuple[float, int, int] | None = None
        for one in range(len(apart)):
            if one in taken:
                continue
            by_branch = [min(apart[one, other] for other in branch) for branch in branches]
            weak = [k for k, value in enumerate(by_branch) if value < least]
            strong = max(by_branch) >= LEAST_EVIDENCE
            alike = all(joins[one, other] for k in weak for other in branches[k])
            if strong and len(weak) <= 1 and alike:
                gain = sum(value for value in by_branch if value >= least)
                home = weak[0] if weak else len(branches)
                if best is None or gain > best[0]:
                    best = (gain, one, home)
        if best is None:
            return
        _, one, home = best
        taken.add(one)
        if home == len(branches):
            branches.append([one])
        else:
            branches[home].append(one)


def fitted(
    branches: tuple[tuple[int, ...], ...], told: Bools, weight: Floats, silence: float
) -> Choice:
    """Probabilities of a unit of these branches.

    Given the probability h that the unit happens, the shares of the branches and the rates of
    telling follow from what is told. h has a prior, mostly at one, and a likelihood, which knows
    something of it where a branch has several steps: all of them silent at once is then less
    probable than each of them. h is chosen so that the probability that the unit happened where
    nothing of it is told is its posterior mean.
    """
    total = float(weight.sum())
    steps = [list(branch) for branch in branches]
    any_of = np.array([weight @ told[:, branch].any(axis=1) for branch in steps])
    counts = [weight @ told[:, branch] for branch in steps]
    heard = float(weight @ told[:, [one for branch in steps for one in branch]].any(axis=1))
    shares = any_of / any_of.sum()
    rates = [float((c / (total * s)).max()) for c, s in zip(counts, shares, strict=True)]
    least = min(max(*rates, 1e-9), 1.0)
    grid = least + (1 - least) * (np.arange(GRID) + 0.5) / GRID if least < 1 else np.ones(1)
    h = np.append(grid, 1.0)
    value, silent = _likelihood(h, shares, counts, any_of, heard, total, silence)
    prior = np.append(np.full(len(grid), (1 - ALWAYS) / len(grid)), ALWAYS)
    posterior = np.exp(value - value.max()) * prior
    posterior /= posterior.sum()
    unsaid = h * silent / (1 - h + h * silent).clip(1e-300)
    wanted = float(posterior @ unsaid)
    happens = float(np.interp(wanted, unsaid, h)) if unsaid[0] < wanted else float(h[0])
    most = 1 - UNTOLD / (total + 1)
    telling = tuple(
        tuple(np.clip(c / (total * happens * s), 0, most).tolist())
        for c, s in zip(counts, shares, strict=True)
    )
    return Choice(branches, tuple(shares.tolist()), happens, telling)


def _reliable_rates(told: Bools, weight: Floats) -> Floats:
    """How often each step is told when it is done, at least; 0 where that is not known.

    Whoever tells another step and always this one, too, did it, and hardly ever passes it over. The
    share is Wilson's lower bound, the largest over all other steps.
    """
    alone = weight @ told
    count = np.maximum(alone, 1e-9)[None, :]
    share = (told * weight[:, None]).T @ told / count
    square = DEVIATIONS**2 / count
    spread = np.sqrt(square * (share * (1 - share)).clip(0) + square**2 / 4)
    lower = (share + square / 2 - spread) / (1 + square)
    np.fill_diagonal(lower, 0.0)
    best = lower.max(axis=1)
    return np.where(best >= RELIABLE, best, 0.0)


def _bounded(choice: Choice, rates: Floats) -> Choice:
    """A single step that is reliably told happens no oftener than that allows.

    Of several steps, tellings themselves say how often all are left unsaid.
    """
    if sum(len(branch) for branch in choice.branches) > 1:
        return choice
    ((step,),), ((telling,),) = choice.branches, choice.telling
    if telling >= rates[step]:
        return choice
    return replace(
        choice,
        happens=choice.happens * telling / float(rates[step]),
        telling=((float(rates[step]),),),
    )


def _likelihood(
    h: Floats,
    shares: Floats,
    counts: list[Floats],
    any_of: Floats,
    heard: float,
    total: float,
    silence: float,
) -> tuple[Floats, Floats]:
    """Log-posterior of h but for its prior, and how probably all is silent if the unit happens."""
    a, b = SILENCE_WEIGHT * silence, SILENCE_WEIGHT * (1 - silence)
    steps = sum(len(count) for count in counts)
    value = np.zeros(len(h))
    silent = np.zeros(len(h))
    for share, count, some in zip(shares, counts, any_of, strict=True):
        often = h * share
        rate = np.clip(count / (total * often[:, None]), 1e-9, 1 - 1e-9)
        quiet = np.prod(1 - rate, axis=1)
        silent += share * quiet
        value += some * np.log(often)
        value += (count * np.log(rate) + (some - count) * np.log1p(-rate)).sum(axis=1)
        # One prior for the unit, however many steps it has: their mean.
        value += ((a - 1) * np.log1p(-rate) + (b - 1) * np.log(rate) - np.log(h)[:, None]).sum(
            axis=1
        ) / steps
    untold = total - heard
    value += untold * np.log(np.clip(1 - h + h * silent, 1e-300, None))
    return value, silent
