"""Slow, obvious twins of following a telling; the package is not imported.

A step stands in a unit. `pairs[a][b]` counts the tellings that tell unit a before unit b. Places
among n units told are numbered from 0, before the first, to n, after the last.
"""

import math

UNSEEN = 0.5


def before(pairs, a, b):
    """Probability that unit a comes before unit b, by counted tellings."""
    ahead, behind = pairs[a][b] + UNSEEN, pairs[b][a] + UNSEEN
    return ahead / (ahead + behind)


def units_told(unit_of, told):
    """The units of some steps, each where it was told first."""
    found = []
    for step in told:
        if unit_of[step] not in found:
            found.append(unit_of[step])
    return found


def place_weights(pairs, unit_of, told, step):
    """How well each place suits a step: units before it come before it, the others after it."""
    units, own = units_told(unit_of, told), unit_of[step]
    return [
        math.prod(before(pairs, unit, own) for unit in units[:place])
        * math.prod(before(pairs, own, unit) for unit in units[place:])
        for place in range(len(units) + 1)
    ]


def passed(pairs, unit_of, told, step):
    """Probability that the place of a step is not the last one."""
    if step in told:
        return 1.0
    weights = place_weights(pairs, unit_of, told, step)
    return sum(weights[:-1]) / sum(weights)


def passed_untold(pairs, unit_of, told, step, tellers, tellings):
    """Probability of that, given that the step was not told: at its place it would have been."""
    if step in told:
        return 1.0
    weights = place_weights(pairs, unit_of, told, step)
    untold = (tellings - tellers + UNSEEN) / (tellings + 2 * UNSEEN)
    return untold * sum(weights[:-1]) / (untold * sum(weights[:-1]) + weights[-1])


def odds_before(pairs, a, b, against):
    """Log-odds that unit a comes before unit b, by the tellings for it and those against it."""
    return math.log((pairs[a][b] + UNSEEN) / ((against or pairs)[b][a] + UNSEEN))


def out_of_order(pairs, unit_of, told, step, against=None):
    """The most that speaks for a step's coming too late, and for which unit.

    Its unit comes where it is told first: nothing more of it is late. ``against`` are the tellings
    that speak against it, where they are others.
    """
    own, units = unit_of[step], units_told(unit_of, told)
    if own in units or not units:
        return -math.inf, None
    return max((odds_before(pairs, own, unit, against), unit) for unit in units)


def skip(pairs, unit_of, told, step, tellers, tellings, against=None):
    """What speaks for a step's having been skipped.

    The log-odds that a telling tells it, and the two largest that it comes before a unit told.
    """
    own = unit_of[step]
    units = [unit for unit in units_told(unit_of, told) if unit != own]
    odds = [odds_before(pairs, own, unit, against) for unit in units]
    usual = math.log((tellers + UNSEEN) / (tellings - tellers + UNSEEN))
    return usual + sum(sorted([0.0, 0.0, *odds])[-2:])


def without(pairs, units):
    """The counted orders without those of one telling, given as its units in order."""
    found = [list(row) for row in pairs]
    for place, a in enumerate(units):
        for b in units[place + 1 :]:
            found[a][b] -= 1
    return found


def threshold(seen, rate):
    """What must speak for an alarm, by what spoke falsely in each of some tellings.

    With one telling more, at most the share ``rate`` of all of them may be above it. If not even
    one may, it is the most of them; if not even half of one, as far above it as makes it rare
    enough, a nat a factor of e.
    """
    if not seen:
        return math.inf
    ranked = sorted(seen, reverse=True)
    allowed = rate * (len(ranked) + 1)
    if allowed < 0.5:
        return ranked[0] + math.log(0.5 / allowed)
    return ranked[min(max(math.floor(allowed), 1), len(ranked)) - 1]
