"""Slow, obvious twins of repairing, written from its formulas; the package is not imported."""

from collections import Counter, defaultdict
from itertools import pairwise, product

import numpy as np


class Chain:
    """Counts of events behind their last predecessors, with back-off after Witten and Bell."""

    def __init__(self, traces, kinds, order):
        self.kinds, self.order = kinds, order
        self.counts = defaultdict(Counter)
        for trace in traces:
            for at in range(1, len(trace)):
                for context in self.contexts(trace, at):
                    self.counts[context][trace[at]] += 1

    def contexts(self, trace, at):
        """The 0, 1, ... predecessors of a place."""
        return [tuple(trace[at - many : at]) for many in range(min(self.order, at) + 1)]

    def chance(self, trace, at):
        """P(v|c) = (n(cv) + d(c) P(v|shorter c)) / (n(c) + d(c)); 1 / kinds if nothing is known."""
        chance = 1 / self.kinds
        for context in self.contexts(trace, at):
            seen = self.counts.get(context, Counter())
            if not seen:
                break
            chance = (seen[trace[at]] + len(seen) * chance) / (seen.total() + len(seen))
        return chance

    def chance_of(self, trace):
        return np.prod([self.chance(trace, at) for at in range(1, len(trace))])


def passages(transition, silent):
    """P = T + T S P, solved for P."""
    return np.linalg.inv(np.eye(len(silent)) - transition * silent) @ transition


def fillings(events, longest):
    """All sequences of events up to a length."""
    return [one for length in range(longest + 1) for one in product(events, repeat=length)]


def filling_chance(filling, left, right, transition, silent):
    """The chance that all of it is done from left to right and left out, and right comes next."""
    chance, here = 1.0, left
    for event in filling:
        chance *= transition[here][event] * silent[event]
        here = event
    return chance * transition[here][right]


def completions(trace, events, most):
    """All ways to put up to `most` events between those of a trace: events, and which are told."""
    found = []
    gaps = len(trace) - 1
    for total in product(fillings(events, most), repeat=gaps):
        if sum(map(len, total)) <= most:
            whole, told = [trace[0]], [True]
            for filling, event in zip(total, trace[1:], strict=True):
                whole += [*filling, event]
                told += [False] * len(filling) + [True]
            found.append((tuple(whole), tuple(told)))
    return found


def told_where(event, trace, gap):
    """Whether it is told before a gap, and whether behind it."""
    return event in trace[:gap], event in trace[gap:]


def contexts_of(trace, gap):
    """Neighbours of a gap: one on each side; a second behind; a second before; both."""
    whole = ["start", "start", *trace, "end", "end"]
    before, left, right, behind = whole[gap : gap + 4]
    return [
        (left, right),
        (left, right, "behind", behind),
        (left, right, "before", before),
        (left, right, "both", before, behind),
    ]


def without_each(trace):
    """Of each told event the trace without it, the gap that it leaves, and the event."""
    return [(trace[:at] + trace[at + 1 :], at, event) for at, event in enumerate(trace)]


def gain_and_cost(one, other, traces, odds, events):
    """Of each trace what a weight of the other estimate gains, and what it costs.

    Estimates are functions of trace, gap and event. Instead of missing events, told ones.
    """
    rows = []
    for trace in traces:
        gain = cost = 0.0
        for gap in range(len(trace) + 1):
            for event in events:
                apart = other(trace, gap, event) - one(trace, gap, event)
                gain -= apart * one(trace, gap, event)
                cost += apart**2
        for rest, gap, event in without_each(trace):
            if rest:
                gain += odds[event] * (other(rest, gap, event) - one(rest, gap, event))
        rows.append((gain, cost))
    return rows


class Gaps:
    """How often each event was hidden in gaps of a context, and how often it could have been.

    Of each trace what is told, and pairs of gap and event for what was hidden.
    """

    def __init__(self, traces, hidden, events):
        self.seen, self.hidden = Counter(), Counter()
        self.between = defaultdict(set)
        for trace, gone in zip(traces, hidden, strict=True):
            for gap in range(len(trace) + 1):
                here = {event for place, event in gone if place == gap}
                self.between[contexts_of(trace, gap)[0]] |= here
                for context in contexts_of(trace, gap):
                    for event in events:
                        entry = (context, event, told_where(event, trace, gap))
                        self.seen[entry] += 1
                        self.hidden[entry] += event in here

    def chance(self, trace, gap, event, strength):
        """Each context counts as so many gaps within the wider one; two wider ones are averaged."""
        told = told_where(event, trace, gap)

        def backed_off(context, chance):
            entry = (context, event, told)
            return (self.hidden[entry] + strength * chance) / (self.seen[entry] + strength)

        narrow, behind, before, both = contexts_of(trace, gap)
        chance = backed_off(narrow, 0.0)
        return backed_off(both, (backed_off(behind, chance) + backed_off(before, chance)) / 2)

    def find(self, traces, strength, least):
        """All that was ever hidden between the same neighbours and has at least a chance."""
        return [
            (number, gap, event, chance)
            for number, trace in enumerate(traces)
            for gap in range(len(trace) + 1)
            for event in sorted(self.between[contexts_of(trace, gap)[0]])
            if (chance := self.chance(trace, gap, event, strength)) >= least
        ]


def signs(trace, event, paired=None):
    """What the rest of a trace shows: events, told at all and again, who follows whom, any rest.

    With `paired`, only these events have neighbours.
    """
    rest = [one for one in trace if one != event]
    if not rest:
        return set()
    found = {"rest"} | {("told", one) for one in rest}
    found |= {("again", one) for one in rest if rest.count(one) > 1}
    ends = [None, *rest, None]
    return found | {
        ("then", one, other)
        for one, other in pairwise(ends)
        if paired is None or {one, other} <= {None, *paired}
    }
