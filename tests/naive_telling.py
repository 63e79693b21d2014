"""Slow, obvious twins of the telling model and of how it is learned; the package is not imported.

Of V events, start and end both number V. A telling is a sequence of event numbers, possibly empty.

Part 1: one chain, and both directions together.
Part 2: what is counted in narratives.
Part 3: the loss that weights are learned by, and the logits that they make.

Numbers in capitals are settings: tests of the package give them the values that it has.
"""

import math
import re
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

LONGEST_HISTORY = 6

# ------------------------------------------------------------------------------------------------
# Part 1: one chain, and both directions together
# ------------------------------------------------------------------------------------------------


class Chain(NamedTuple):
    """`after` (V+1, V+1), `memory` and `told` (V, V+1), `place` (P, V+1), `history` (H, V+1)."""

    after: Any
    memory: Any
    told: Any
    place: Any
    fade: float
    again: float
    total: float
    average: float
    keys: Any
    singles: int
    history: Any


def events_of(chain):
    return len(chain.memory)


def recent_symbols(told, start):
    """The latest symbols, latest first, then the start, at most `LONGEST_HISTORY` in all."""
    return [*reversed(told), start][:LONGEST_HISTORY]


def history_row(chain, told):
    """The row of `history` that speaks after these events, or None."""
    size = events_of(chain)
    node = 0
    for symbol in recent_symbols(told, size):
        found = np.flatnonzero(chain.keys == node * (size + 1) + symbol)
        if len(found) == 0:
            break
        node = int(found[0]) + 1
    return node - chain.singles - 1 if node > chain.singles else None


def next_logits(chain, told):
    size = events_of(chain)
    told = [int(event) for event in told]
    step = len(told)
    different = sorted(set(told))
    share = chain.total + chain.average / max(len(different), 1)
    row = history_row(chain, told)
    logits = []
    for e in range(size + 1):
        value = chain.after[told[-1] if told else size][e]
        value += chain.place[min(step, len(chain.place) - 1)][e]
        for i, event in enumerate(told, start=1):
            value += chain.fade ** (step - i) * chain.memory[event][e]
        for event in different:
            value += share * chain.told[event][e]
        if e in different:
            value += chain.again
        if row is not None:
            value += chain.history[row][e]
        logits.append(float(value))
    return logits


def log_softmax(logits):
    largest = max(logits)
    total = largest + math.log(math.fsum(math.exp(value - largest) for value in logits))
    return [value - total for value in logits]


def next_log_probs(chain, told):
    """log P(symbol | told) of all V events and the end."""
    return np.array(log_softmax(next_logits(chain, told)))


def step_log_probs(chain, told):
    """log P(event | those before it) of each event, and of the end."""
    symbols = [*(int(event) for event in told), events_of(chain)]
    return np.array([next_log_probs(chain, told[:t])[symbol] for t, symbol in enumerate(symbols)])


def log_prob(chain, told):
    return math.fsum(step_log_probs(chain, told))


def worth(forward, backward, told):
    """The mean of both directions' log-probabilities."""
    if backward is None:
        return log_prob(forward, told)
    return (log_prob(forward, told) + log_prob(backward, told[::-1])) / 2


def insertions(forward, backward, told, low, high):
    """[i - low, x] = worth(told with x before place i) - worth(told)."""
    size = events_of(forward)
    told = list(told)
    before = worth(forward, backward, told)
    table = np.zeros((high - low + 1, size))
    for i in range(low, high + 1):
        for x in range(size):
            table[i - low, x] = worth(forward, backward, [*told[:i], x, *told[i:]]) - before
    return table


def all_tellings(size, length):
    """Every telling of so many events."""
    return list(product(range(size), repeat=length))


# ------------------------------------------------------------------------------------------------
# Part 2: what is counted in narratives
# ------------------------------------------------------------------------------------------------

COMMON = 0.5
PAIR = 2.0
AGO = 2.0
PLACE = 2.0
SET = 0.3
NEARNESS = 0.5
WIDTH = 1.0
PLACES = 50
LEAST_TOLD = 3.0


class Counts(NamedTuple):
    """Over the next symbol, the end last."""

    common: Any
    pair: Any
    place: Any
    absent: Any
    present: Any
    ago: Any


def beginnings(narrative, size):
    """Each beginning of a narrative with what follows it."""
    symbols = [*narrative, size]
    return [(tuple(narrative[:t]), symbol) for t, symbol in enumerate(symbols)]


def all_beginnings(narratives, size):
    return [pair for narrative in narratives for pair in beginnings(narrative, size)]


def counts(narratives, size):
    """Count what follows the beginnings of these narratives."""
    pairs = all_beginnings(narratives, size)
    symbols = range(size + 1)
    total = dict.fromkeys(symbols, 0.0)
    pair = {}
    place = {}
    before = {}
    ago = {}
    for told, following in pairs:
        total[following] += 1.0
        last = told[-1] if told else size
        pair[last, following] = pair.get((last, following), 0.0) + 1.0
        here = min(len(told), PLACES - 1)
        for other in range(PLACES):
            near = math.exp(-abs(here - other) / WIDTH)
            place[other, following] = place.get((other, following), 0.0) + near
        for event in set(told):
            before[event, following] = before.get((event, following), 0.0) + 1.0
        for i, event in enumerate(told, start=1):
            near = NEARNESS ** (len(told) - i)
            ago[event, following] = ago.get((event, following), 0.0) + near
    everything = sum(total.values()) + COMMON * (size + 1)
    common = {e: (total[e] + COMMON) / everything for e in symbols}

    def shared(table, row, e, pseudocount):
        given = sum(table.get((row, other), 0.0) for other in symbols)
        return math.log(
            (table.get((row, e), 0.0) + pseudocount * common[e]) / (given + pseudocount)
        )

    def share(event, e):
        return (before.get((event, e), 0.0) + SET) / (total[e] + 2 * SET)

    absent = [
        math.log(total[e] + SET) + sum(math.log(1 - share(event, e)) for event in range(size))
        for e in symbols
    ]
    return Counts(
        common=np.array([math.log(common[e]) for e in symbols]),
        pair=np.array([[shared(pair, d, e, PAIR) for e in symbols] for d in symbols]),
        place=np.array([[shared(place, t, e, PLACE) for e in symbols] for t in range(PLACES)]),
        absent=np.array(absent) - max(absent),
        present=np.array(
            [
                [math.log(share(d, e)) - math.log(1 - share(d, e)) for e in symbols]
                for d in range(size)
            ]
        ).reshape(size, size + 1),
        ago=np.array(
            [[shared(ago, d, e, AGO) - math.log(common[e]) for e in symbols] for d in range(size)]
        ).reshape(size, size + 1),
    )


def kept_histories(narratives, size):
    """Histories, latest symbol first, that are kept: of one symbol all, longer ones if frequent."""
    often = {}
    for told, _ in all_beginnings(narratives, size):
        symbols = tuple(recent_symbols(told, size))
        for length in range(1, len(symbols) + 1):
            often[symbols[:length]] = often.get(symbols[:length], 0) + 1
    return {one for one, number in often.items() if len(one) == 1 or number >= LEAST_TOLD}


def longest_kept(kept, told, size):
    """The longest kept history that a beginning ends in; () if there is none."""
    symbols = tuple(recent_symbols(told, size))
    longest = ()
    for length in range(1, len(symbols) + 1):
        if symbols[:length] not in kept:
            break
        longest = symbols[:length]
    return longest


def history_chances(narratives, size, pair, history):
    """P(. | history) by Witten and Bell, from `pair` (log-probabilities) on."""
    if len(history) == 1:
        return [math.exp(value) for value in pair[history[0]]]
    follows = {}
    for told, following in all_beginnings(narratives, size):
        if tuple(recent_symbols(told, size))[: len(history)] == history:
            follows[following] = follows.get(following, 0) + 1
    distinct = max(1, len(follows))
    total = sum(follows.values())
    shorter = history_chances(narratives, size, pair, history[:-1])
    return [
        (follows.get(e, 0) + distinct * shorter[e]) / (total + distinct) for e in range(size + 1)
    ]


def history_rows(narratives, size, pair, kept):
    """log P(e | history) - log P(e | the last symbol), for each kept history of two or more."""
    return {
        history: np.log(history_chances(narratives, size, pair, history)) - pair[history[0]]
        for history in kept
        if len(history) > 1
    }


# ------------------------------------------------------------------------------------------------
# Part 3: the loss that weights are learned by, and the logits that they make
# ------------------------------------------------------------------------------------------------

FADE = 0.8
PRIOR_WEIGHTS = {"pair": 0.7, "sum": 0.3, "again": -1.0}
WEIGHT_SPREAD = 0.7
TABLE_SPREAD = 0.4
FEATURES = (
    "sum",
    "average",
    "again",
    "ago",
    "words ago",
    "history",
    "pair",
    "twice",
    "words",
    "place",
    "common",
)


class Counted(NamedTuple):
    """What features are made of."""

    counts: Counts
    kept: set
    rows: dict


def counted(narratives, kept_from, size):
    """Count narratives, with the histories that are kept of possibly more of them."""
    found = counts(narratives, size)
    kept = kept_histories(kept_from, size)
    return Counted(found, kept, history_rows(narratives, size, found.pair, kept))


def shared_words(names):
    """Words that two different names have in common, out of all their words."""
    words = [set(re.findall(r"[^\W_]+", name.lower())) for name in names]
    table = np.zeros((len(names), len(names)))
    for i, some in enumerate(words):
        for j, others in enumerate(words):
            if i != j and some | others:
                table[i, j] = len(some & others) / len(some | others)
    return table


def feature_values(told, parts, words):
    """Each feature of each next symbol after a beginning, by name."""
    size = len(words)
    symbols = range(size + 1)
    step = len(told)
    different = set(told)
    found = parts.counts
    history = longest_kept(parts.kept, told, size)
    last = told[-1] if told else size

    def said(e):
        return sum(found.present[event][e] for event in different)

    def common_words(event, e):
        return words[event][e] if event < size and e < size else 0.0

    def fading(value):
        return sum(FADE ** (step - i) * value(event) for i, event in enumerate(told, start=1))

    return {
        "sum": [found.absent[e] + said(e) for e in symbols],
        "average": [found.absent[e] + said(e) / max(len(different), 1) for e in symbols],
        "again": [float(e in different) for e in symbols],
        "ago": [fading(lambda event, e=e: found.ago[event][e]) for e in symbols],
        "words ago": [fading(lambda event, e=e: common_words(event, e)) for e in symbols],
        "history": list(parts.rows.get(history, np.zeros(size + 1))),
        "pair": list(found.pair[last]),
        "twice": [float(bool(told) and e == last) for e in symbols],
        "words": [common_words(last, e) for e in symbols],
        "place": list(found.place[min(step, PLACES - 1)]),
        "common": list(found.common),
    }


def learned_logits(told, parts, words, weights, after, memory):
    """weights . features + after[last] + sum_i fade^(t-i) memory[s_i]."""
    size = len(words)
    features = feature_values(told, parts, words)
    logits = []
    for e in range(size + 1):
        value = sum(weights[name] * features[name][e] for name in weights)
        value += after[told[-1] if told else size][e]
        for i, event in enumerate(told, start=1):
            value += FADE ** (len(told) - i) * memory[event][e]
        logits.append(float(value))
    return logits


def loss(narratives, folds, names, weights, after, memory):
    """Minus the log-likelihood of all that follows, each fold counted without it, and priors."""
    size = len(names)
    words = shared_words(names)
    result = 0.0
    for fold in sorted(set(folds)):
        inside = [one for one, number in zip(narratives, folds, strict=True) if number == fold]
        outside = [one for one, number in zip(narratives, folds, strict=True) if number != fold]
        parts = counted(outside if len(set(folds)) > 1 else inside, narratives, size)
        for told, following in all_beginnings(inside, size):
            logits = learned_logits(told, parts, words, weights, after, memory)
            result -= log_softmax(logits)[following]
    for name, weight in weights.items():
        result += 0.5 * ((weight - PRIOR_WEIGHTS.get(name, 0.0)) / WEIGHT_SPREAD) ** 2
    for table in (after, memory):
        result += 0.5 * sum((value / TABLE_SPREAD) ** 2 for row in table for value in row)
    return result


# ------------------------------------------------------------------------------------------------
# Part 4: what tellings with open places may stand for, by going through all of them
# ------------------------------------------------------------------------------------------------
# An item is an event number, None for any event, or a dictionary of weights by event number.


class Teller:
    """Both directions of a model, remembering what was worked out."""

    def __init__(self, forward, backward=None):
        self.forward, self.backward = forward, backward
        self.size = events_of(forward)
        self.known = {}

    def ahead(self, told, direction="forward"):
        key = direction, tuple(told)
        if key not in self.known:
            self.known[key] = next_log_probs(getattr(self, direction), list(told)).tolist()
        return self.known[key]

    def steps(self, told, direction="forward"):
        symbols = [*told, self.size]
        return [self.ahead(told[:t], direction)[symbol] for t, symbol in enumerate(symbols)]

    def log_prob(self, told):
        return math.fsum(self.steps(tuple(told)))

    def begins(self, told):
        """Log-probability that a telling begins like this."""
        return math.fsum(self.steps(tuple(told))[:-1])

    def worth(self, told):
        if self.backward is None:
            return self.log_prob(told)
        back = math.fsum(self.steps(tuple(told)[::-1], "backward"))
        return (self.log_prob(told) + back) / 2


def ways(items, size, allowed=None):
    """Each telling that the items may stand for, with its log-weight."""
    gap = dict.fromkeys(range(size) if allowed is None else allowed, 1.0)
    options = [
        gap if item is None else item if isinstance(item, dict) else {item: 1.0} for item in items
    ]
    return [
        (told, math.fsum(math.log(some[event]) for some, event in zip(options, told, strict=True)))
        for told in product(*options)
    ]


def shares(values):
    """Probabilities in proportion to the exponentials of a dictionary's values."""
    largest = max(values.values())
    chances = {key: math.exp(value - largest) for key, value in values.items()}
    total = math.fsum(chances.values())
    return {key: chance / total for key, chance in chances.items()}


def log_sum(values):
    largest = max(values)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in values))


def completed(teller, items, allowed=None):
    """Probability of each telling that the items may stand for, by their worth."""
    return shares(
        {told: teller.worth(told) + weight for told, weight in ways(items, teller.size, allowed)}
    )


def marginal(chances, place, size):
    """Probability of each event at a place of tellings that have these probabilities."""
    found = np.zeros(size)
    for told, chance in chances.items():
        found[told[place]] += chance
    return found


def inserted(teller, items, allowed=None):
    """Odds of each event at each place: what it multiplies exp(worth) by, over all fillings."""
    table = np.zeros((len(items) + 1, teller.size))
    for told, share in completed(teller, items).items():
        before = teller.worth(told)
        for place in range(len(items) + 1):
            for event in range(teller.size) if allowed is None else allowed:
                worth_with = teller.worth((*told[:place], event, *told[place:]))
                table[place, event] += share * math.exp(worth_with - before)
    return table


def missing(teller, items, constant, weight, rivals):
    """Probability that each event is missing at each place: weighed alone, then made to agree."""

    def alone(told):
        gains = np.log(inserted(teller, told))
        return constant + weight * gains + rivals * math.log(np.exp(gains).sum())

    def chance(log_odds):
        return 1 / (1 + math.exp(-log_odds))

    def changed(one, by):
        (place, event), (at, other) = one, by
        with_it = alone([*items[:at], other, *items[at:]])
        if place == at:
            return max(with_it[place, event], with_it[place + 1, event]) - odds[one]
        return with_it[place + (place > at), event] - odds[one]

    odds = alone(items)
    places, events = odds.shape
    rows = [[(place, event) for event in range(events)] for place in range(places)]
    now = {one: float(odds[one]) for row in rows for one in row}
    rivals_of = {one for one in now if chance(odds[one]) >= 0.1}
    for lines in (list(zip(*rows, strict=True)), rows):
        before = dict(now)
        for line in lines:
            if sum(chance(before[one]) for one in line) <= 1:
                continue
            group = [one for one in line if one in rivals_of]
            for one in group:
                rules = {
                    by: 1 - min(1.0, math.exp(max(changed(one, by), changed(by, one))))
                    for by in group
                    if by != one
                }
                rules[one] = 1.0

                def excess(less, rules=rules, before=before):
                    return sum(rules[by] * chance(before[by] - less) for by in rules) - 1

                if excess(0.0) > 0:
                    now[one] = before[one] - brentq(excess, 0.0, 60.0, xtol=1e-13)
    return np.array([[chance(now[one]) for one in row] for row in rows])


def followed(teller, items, steps):
    """Probabilities of the events so many steps after a beginning, and of having ended by then."""
    found = ways(items, teller.size)
    begun = shares({told: teller.begins(told) + weight for told, weight in found})
    chances = np.zeros(teller.size)
    for told, share in begun.items():
        for more in product(range(teller.size), repeat=steps):
            grown = (*told, *more)
            chances[more[-1]] += share * math.exp(teller.begins(grown) - teller.begins(told))
    return chances, 1 - chances.sum()
