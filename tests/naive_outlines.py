"""Slow, obvious twins of outlines and of how they are learned; the package is not imported.

An order is a set of pairs (a, b): a comes before b. A telling is a sequence of numbers of steps.

Part 1: partial orders, and tellings under them.
Part 2: what is told together, and how often a unit happens.
Part 3: what happened, by listing everything that may.
Part 4: tellings at random.

Numbers in capitals are settings: tests of the package give them the values that it has.
"""

import math
from collections import Counter
from itertools import chain, combinations, permutations, product

ALWAYS = 0.93
SILENCE_WEIGHT = 15.0

# ------------------------------------------------------------------------------------------------
# Part 1: partial orders, and tellings under them
# ------------------------------------------------------------------------------------------------


def pairs_of(table):
    """The order that a table of truth values says."""
    n = len(table)
    return {(a, b) for a in range(n) for b in range(n) if table[a][b]}


def is_order(order):
    """Whether nothing comes before itself, and what comes before what comes before, does too."""
    return all(a != b for a, b in order) and all(
        (a, d) in order for a, b in order for c, d in order if b == c
    )


def closure(order):
    """The order with everything that follows from it."""
    order = set(order)
    while True:
        more = {(a, d) for a, b in order for c, d in order if b == c} - order
        if not more:
            return order
        order |= more


def reduction(order):
    """The pairs that do not follow from the others: leave one out and it is lost."""
    return {pair for pair in order if pair not in closure(order - {pair})}


def partial_orders(n):
    """All partial orders of n steps."""
    pairs = list(permutations(range(n), 2))
    subsets = chain.from_iterable(combinations(pairs, size) for size in range(len(pairs) // 2 + 1))
    return [set(one) for one in subsets if is_order(set(one))]


def allowed_toggles(order, n):
    """Orders that differ in one pair."""
    found = [order ^ {pair} for pair in permutations(range(n), 2)]
    return [one for one in found if is_order(one)]


def worth_of(order, worth):
    return math.fsum(worth[a][b] for a, b in order)


def best_worth(worth):
    """The largest worth of any partial order."""
    return max(worth_of(order, worth) for order in partial_orders(len(worth)))


def telling_log_prob(told, order, inversion):
    """Each time one of those whose predecessors are told, alike; by an inversion, any that is
    left."""
    total = 0.0
    for now in range(len(told)):
        left = set(told[now:])
        free = [step for step in left if not any((other, step) in order for other in left)]
        chance = inversion / len(left)
        if told[now] in free:
            chance += (1 - inversion) / len(free)
        total += math.log(chance)
    return total


def shape_worth(order, unlikely, branching):
    """What direct relations cost, and steps that several others follow directly."""
    direct = reduction(order)
    after = Counter(a for a, _ in direct)
    return -math.fsum(unlikely[a][b] for a, b in direct) - branching * math.fsum(
        math.log2(number) for number in after.values()
    )


def posterior_shares(worth, unlikely, branching, tellings, weight, inversion):
    """[a][b] = probability that a comes before b, summed over all partial orders."""
    n = len(worth)
    orders = partial_orders(n)
    value = [
        worth_of(order, worth)
        + shape_worth(order, unlikely, branching)
        + math.fsum(
            often * telling_log_prob(told, order, inversion)
            for told, often in zip(tellings, weight, strict=True)
        )
        for order in orders
    ]
    largest = max(value)
    mass = [math.exp(one - largest) for one in value]
    total = math.fsum(mass)
    return [
        [
            math.fsum(m for m, order in zip(mass, orders, strict=True) if (a, b) in order) / total
            for b in range(n)
        ]
        for a in range(n)
    ]


# ------------------------------------------------------------------------------------------------
# Part 2: what is told together, and how often a unit happens
# ------------------------------------------------------------------------------------------------


def dependence(told, weight, a, b):
    """Half the G statistic of steps a and b: log-likelihood of dependence over independence."""
    cells = dict.fromkeys(product((False, True), repeat=2), 0.0)
    for one, often in zip(told, weight, strict=True):
        cells[bool(one[a]), bool(one[b])] += often
    total = math.fsum(weight)
    gain = 0.0
    for (x, y), seen in cells.items():
        if seen > 0:
            share_a = (cells[x, False] + cells[x, True]) / total
            share_b = (cells[False, y] + cells[True, y]) / total
            gain += seen * math.log(seen / total / (share_a * share_b))
    return gain


def _rates(branches, told, weight, shares, h):
    """Rates of telling that explain how often each step is told, if the unit happens with h."""
    total = math.fsum(weight)
    return [
        [
            math.fsum(often for one, often in zip(told, weight, strict=True) if one[step])
            / (total * h * share)
            for step in branch
        ]
        for branch, share in zip(branches, shares, strict=True)
    ]


def branch_shares(branches, told, weight):
    """How often something of each branch is told, of all branches."""
    heard = [
        math.fsum(
            often for one, often in zip(told, weight, strict=True) if any(one[s] for s in branch)
        )
        for branch in branches
    ]
    return [one / math.fsum(heard) for one in heard]


def log_posterior(h, branches, told, weight, silence):
    """Of the probability h that the unit happens, but for the prior of h itself.

    Telling by telling: a branch that is heard was taken, and each of its steps told or not; where
    none is heard, the unit did not happen or all is silent. Beta prior on the rates of silence,
    seen as a density of how often the steps are told, the mean over the steps of the unit.
    """
    shares = branch_shares(branches, told, weight)
    rates = _rates(branches, told, weight, shares, h)
    silent = math.fsum(
        share * math.prod(1 - rate for rate in rate_of)
        for share, rate_of in zip(shares, rates, strict=True)
    )
    value = 0.0
    for one, often in zip(told, weight, strict=True):
        heard = [k for k, branch in enumerate(branches) if any(one[s] for s in branch)]
        if not heard:
            value += often * math.log(1 - h + h * silent)
        for k in heard:
            chance = h * shares[k]
            for step, rate in zip(branches[k], rates[k], strict=True):
                chance *= rate if one[step] else 1 - rate
            value += often * math.log(chance)
    a, b = SILENCE_WEIGHT * silence, SILENCE_WEIGHT * (1 - silence)
    every = [rate for rate_of in rates for rate in rate_of]
    prior = [(a - 1) * math.log(1 - rate) + (b - 1) * math.log(rate) for rate in every]
    return value + math.fsum(prior) / len(every) - math.log(h)


def unsaid_given(h, branches, told, weight):
    """Probability that the unit happened where nothing of it is told."""
    shares = branch_shares(branches, told, weight)
    rates = _rates(branches, told, weight, shares, h)
    silent = math.fsum(
        share * math.prod(1 - rate for rate in rate_of)
        for share, rate_of in zip(shares, rates, strict=True)
    )
    return h * silent / (1 - h + h * silent)


def unsaid(branches, told, weight, silence, grid=200):
    """The posterior mean of `unsaid_given`.

    h is 1, or else anywhere between the least that explains how often the steps are told, and 1.
    """
    shares = branch_shares(branches, told, weight)
    least = max(rate for rates in _rates(branches, told, weight, shares, 1.0) for rate in rates)
    cases = [(least + (1 - least) * (i + 0.5) / grid, (1 - ALWAYS) / grid) for i in range(grid)]
    cases.append((1.0, ALWAYS))
    value = [log_posterior(h, branches, told, weight, silence) for h, _ in cases]
    largest = max(value)
    mass = [p * math.exp(one - largest) for one, (_, p) in zip(value, cases, strict=True)]
    found = [unsaid_given(h, branches, told, weight) for h, _ in cases]
    return math.fsum(m * u for m, u in zip(mass, found, strict=True)) / math.fsum(mass)


def unsaid_by_prior(told, silence, grid=200):
    """The same for a single step told by a share of the tellings, without any likelihood.

    The share told, h times the rate of telling, has a known density under each h, and that is all
    there is: where the step is untold, it happened with (h - told) / (1 - told).
    """
    a, b = SILENCE_WEIGHT * silence, SILENCE_WEIGHT * (1 - silence)
    total = mean = 0.0
    for i in range(grid + 1):
        h = 1.0 if i == grid else told + (1 - told) * (i + 0.5) / grid
        prior = ALWAYS if i == grid else (1 - ALWAYS) / grid
        density = (told / h) ** (b - 1) * (1 - told / h) ** (a - 1) / h
        total += prior * density
        mean += prior * density * (h - told) / (1 - told)
    return mean / total


# ------------------------------------------------------------------------------------------------
# Part 3: what happened, by listing everything that may
# ------------------------------------------------------------------------------------------------


def happened(units, telling, told):
    """Probability that each step happened, given exactly which steps are told.

    `units` are (branches, shares, happens) each. Every combination of units that happen, branches
    taken and steps told is listed, and those that tell something else are dropped.
    """
    worlds = [
        [(1 - happens, ())] + [(happens * s, b) for b, s in zip(branches, shares, strict=True)]
        for branches, shares, happens in units
    ]
    total = 0.0
    mass = [0.0] * len(telling)
    for world in product(*worlds):
        done = [step for _, branch in world for step in branch]
        for pattern in product((False, True), repeat=len(done)):
            if {step for step, one in zip(done, pattern, strict=True) if one} != set(told):
                continue
            chance = math.prod(p for p, _ in world)
            for step, one in zip(done, pattern, strict=True):
                chance *= telling[step] if one else 1 - telling[step]
            total += chance
            for step in done:
                mass[step] += chance
    return [one / total for one in mass]


# ------------------------------------------------------------------------------------------------
# Part 4: tellings at random
# ------------------------------------------------------------------------------------------------


def done_at_random(rng, n, order):
    """All steps, each time one of those whose predecessors are done."""
    left, done = list(range(n)), []
    while left:
        free = [step for step in left if not any((other, step) in order for other in left)]
        done.append(free[int(rng.integers(len(free)))])
        left.remove(done[-1])
    return done


def told_at_random(rng, done, *, omitted=0.0, inversions=0.0, misplaced=0.0):
    """Some of what was done, neighbours now and then exchanged, a step now and then anywhere."""
    told = [step for step in done if rng.random() >= omitted]
    for i in range(len(told) - 1):
        if rng.random() < inversions:
            told[i], told[i + 1] = told[i + 1], told[i]
    for step in list(told):
        if rng.random() < misplaced:
            told.remove(step)
            told.insert(int(rng.integers(len(told) + 1)), step)
    return told
