"""Slow, obvious twins of the questions, by enumeration; nothing here imports the package.

Models and narratives are those of `naive`. Everything is summed over all paths, or over all ways to
fill what is missing.
"""

import itertools
import math

import numpy as np

import naive


def probability(model, narrative):
    return math.exp(naive.log_prob(*model, narrative, method="paths"))


def joint(model, narrative):
    """{events in the gaps: P(they stand there | narrative)}, over every assignment."""
    gaps = [place for place, item in enumerate(narrative) if item is None]
    found = {}
    for events in itertools.product(range(model[1].shape[1]), repeat=len(gaps)):
        filled = list(narrative)
        for place, event in zip(gaps, events, strict=True):
            filled[place] = event
        found[events] = probability(model, filled)
    total = math.fsum(found.values())
    return {events: weight / total for events, weight in found.items()}


def beginnings(model, narrative):
    """P(a telling begins with the narrative): sum over paths up to the telling of its last event.

    After each entry any number of silent turns may follow, but not after the last one.
    """
    transition, emission, elision = model
    likelihood = naive.event_likelihood(emission, narrative)
    end = len(elision) - 1

    def extend(state, told, so_far):
        if told == len(narrative):
            return so_far
        turns = 1.0 if state == 0 else naive.geometric(transition[state, state] * elision[state])
        total = 0.0
        for k in range(state, end):
            step = so_far * turns * transition[state, k]
            if step == 0.0:
                continue
            if k != state and elision[k] > 0:
                total += extend(k, told, step * elision[k])
            if likelihood[told, k] > 0:
                total += extend(k, told + 1, step * likelihood[told, k])
        return total

    return extend(0, 0, 1.0)


def following(model, narrative, steps):
    """For each step, P(event) (V,) and P(ended before): by the probabilities of beginnings."""
    events = model[1].shape[1]
    whole = beginnings(model, narrative)
    found = []
    for step in range(steps):
        chances = np.array(
            [beginnings(model, [*narrative, *[None] * step, x]) / whole for x in range(events)]
        )
        ended = sum(probability(model, [*narrative, *[None] * m]) for m in range(step + 1)) / whole
        found.append((chances, ended))
    return found


def shares(emission):
    """What a state tells when it tells."""
    told = emission.sum(axis=1, keepdims=True)
    return np.divide(emission, told, out=np.zeros_like(emission), where=told > 0)


def passed_over(model, narrative):
    """[i, x]: P(some silent pass after i events stands for x | narrative), last column: for any.

    Along one path, a silent entry of k does not stand for x with 1 - share, and its silent turns
    (any number n with the weight x(k)^n) neither with (1 - x(k)) / (1 - x(k) (1 - share)).
    """
    transition, emission, elision = model
    share = shares(emission)
    share = np.hstack([share, share.any(axis=1, keepdims=True)])
    found = np.zeros((len(narrative) + 1, share.shape[1]))
    ways = list(naive.paths(*model, narrative))
    z = math.fsum(chance * factor for _, chance, factor in ways)
    for path, chance, factor in ways:
        without = np.ones_like(found)
        told = 0
        for k, position in path:
            if position is None:
                without[told] *= 1 - share[k]
            else:
                told += 1
            turn = transition[k, k] * elision[k]
            without[told] *= (1 - turn) / (1 - turn * (1 - share[k]))
        found += chance * factor / z * (1 - without)
    return found


def silent_ways(model, narrative):
    """For each place, {states passed in silence there: probability}; repeats count once.

    A telling state that turns silently afterwards was passed as well: the two cases are weighed
    apart, without turns (1 - x) and with some (x).
    """
    transition, _, elision = model
    found = [{} for _ in range(len(narrative) + 1)]
    ways = list(naive.paths(*model, narrative))
    z = math.fsum(chance * factor for _, chance, factor in ways)
    for path, chance, factor in ways:
        for place in range(len(narrative) + 1):
            told = 0
            passed = [((), 1.0)]
            for k, position in path:
                told += position is not None
                if told != place:
                    continue
                if position is None:
                    passed = [((*states, k), weight) for states, weight in passed]
                else:
                    turn = transition[k, k] * elision[k]
                    passed = [((), 1.0 - turn), ((k,), turn)]
            for states, weight in passed:
                share = chance * factor / z * weight
                found[place][states] = found[place].get(states, 0.0) + share
    return found


def fewest_aside(model, narrative):
    """(how many events must be set aside, log-probability of the best path of the rest)."""
    for aside in range(len(narrative) + 1):
        best = max(
            naive.best_alignment(*model, [narrative[i] for i in kept])[0]
            for kept in itertools.combinations(range(len(narrative)), len(narrative) - aside)
        )
        if best > -math.inf:
            return aside, best
    return None, -math.inf


def without_loops(model):
    """The same structure without self-loops: tellings are no longer than it has states."""
    transition, emission, elision = (part.copy() for part in model)
    np.fill_diagonal(transition, 0.0)
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    return transition, emission, elision
