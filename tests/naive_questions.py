"""Slow, obvious twins of scoring, ordering and identifying; beyond `naive` nothing is imported.

Models and narratives are as in `naive`. Everything is a sum over paths, orders or subsets, or the
solution of one big system of linear equations.
"""

import math
from itertools import pairwise, permutations, product

import numpy as np

import naive


def probability(model, narrative):
    return math.exp(naive.log_prob(*model, narrative, method="paths"))


def prefix_probability(model, narrative):
    """P(a telling begins like this): every path up to the telling of the last event."""
    transition, emission, elision = model
    n, m = len(elision), len(narrative)
    likelihood = naive.event_likelihood(emission, narrative)

    def begin(state, told, chance):
        if told == m:
            return chance
        total = 0.0
        for k in range(state, n - 1):
            step = chance * transition[state, k]
            if step > 0.0:
                if k != state:
                    turns = naive.geometric(transition[k, k] * elision[k])
                    total += begin(k, told, step * elision[k] * turns)
                after = step * likelihood[told, k]
                turns = naive.geometric(transition[k, k] * elision[k]) if told + 1 < m else 1.0
                if after > 0.0:
                    total += begin(k, told + 1, after * turns)
        return total

    return begin(0, 0, 1.0)


def surprises(model, narrative):
    """-log P(event | those before), and of ending; sums to -log P."""
    chances = [prefix_probability(model, narrative[:i]) for i in range(len(narrative) + 1)]
    chances.append(probability(model, narrative))
    return [
        -math.log(after / before) if after > 0 else math.inf for before, after in pairwise(chances)
    ]


def never(model, event):
    """P(a telling does not tell the event): from the start to the end without it."""
    transition, emission, _ = model
    kept = transition * (1.0 - emission[:, event])
    n = len(transition)
    return np.linalg.inv(np.eye(n) - kept)[0] @ transition[:, -1]


def tellings_of_length(model, length):
    """{telling: probability} of all tellings of so many events, impossible ones left out."""
    count = model[1].shape[1]
    found = {
        telling: probability(model, list(telling))
        for telling in product(range(count), repeat=length)
    }
    return {telling: chance for telling, chance in found.items() if chance > 0}


def tail(model, narrative):
    """P(no more probable than this | as many events)."""
    all_of_them = tellings_of_length(model, len(narrative))
    own = probability(model, narrative)
    below = math.fsum(p for p in all_of_them.values() if p <= own * (1 + 1e-9))
    return below / math.fsum(all_of_them.values())


def orders(model, events):
    """{order: probability} of all distinct orders of a multiset."""
    return {order: probability(model, list(order)) for order in sorted(set(permutations(events)))}


def before(model, events):
    """P(one before another | just these are told), copies of an event side by side."""
    items = sorted(events)
    found = orders(model, events)
    result = np.zeros((len(items), len(items)))
    for order, chance in found.items():
        # Where each of the sorted items stands: copies in the order in which they are told.
        where = [position for _, position in sorted(zip(order, range(len(order)), strict=True))]
        for a, b in product(range(len(items)), repeat=2):
            if where[a] < where[b]:
                result[a, b] += chance
    return result / math.fsum(found.values())


def precedence(model, x, y, c=1, d=1):
    """P(c-th x before d-th y | both told): one big chain of (state, x's told, y's told)."""
    transition, emission, _ = model
    n = len(transition)
    nodes = [(k, i, j) for k in range(n) for i in range(c + 1) for j in range(d + 1)]
    number = {node: place for place, node in enumerate(nodes)}
    step = np.zeros((len(nodes), len(nodes)))
    for (k, i, j), target in product(nodes, range(n)):
        chance = transition[k, target]
        if chance > 0:
            for o in [*range(emission.shape[1]), None]:
                told = emission[target, o] if o is not None else 1 - emission[target].sum()
                here = (target, min(c, i + (o == x)), min(d, j + (o == y)))
                step[number[k, i, j], number[here]] += chance * told
    ever = np.linalg.inv(np.eye(len(nodes)) - step)
    start = number[0, 0, 0]
    first = 0.0
    for k, j in product(range(n - 1), range(d)):
        # In (k, c - 1, j) the c-th x is told next, and later the d-th y.
        for target in range(n - 1):
            chance = transition[k, target] * emission[target, x]
            if chance > 0:
                after = number[target, c, j]
                first += (
                    ever[start, number[k, c - 1, j]] * chance * ever[after, number[n - 1, c, d]]
                )
    return first


def agreement(matrix, order):
    return sum(matrix[a, b] for i, a in enumerate(order) for b in order[i + 1 :])


def best_agreement(matrix):
    return max(agreement(matrix, order) for order in permutations(range(len(matrix))))


def evidence(model, narrative, weights, stray, broken_off):
    """P(telling | script with strays) / P(its events | background), `weights` the background.

    An item is an event, None or "foreign". Every subset of the events may be strays.
    """
    going_on = 1 - stray - broken_off
    total = 0.0
    for strays in product([False, True], repeat=len(narrative)):
        kept = [item for item, out in zip(narrative, strays, strict=True) if not out]
        if "foreign" in kept:
            continue
        usual = math.prod(1.0 if item is None else weights[item] for item in kept)
        factor = stray ** sum(strays) * going_on ** len(kept)
        whole, begun = probability(model, kept), prefix_probability(model, kept)
        total += factor * (going_on * whole + broken_off * begun) / usual
    return total


def likeness(told, words, all_words):
    """Cosine of the words of a telling and of a script, by what it is of words drawn from it.

    `told` has a set of words for each sentence, `words` and `all_words` how many sentences of the
    script and of all scripts have each word.
    """
    own, everything, kinds = sum(words.values()), sum(all_words.values()), len(all_words) + 1

    def rarity(word):
        others = all_words.get(word, 0) - words.get(word, 0)
        return -math.log((others + 1) / (everything - own + kinds))

    said = [word for sentence in told for word in sentence]
    both = sorted(set(said) | set(words))
    telling = [said.count(word) * rarity(word) for word in both]
    script = [words.get(word, 0) / own * rarity(word) for word in both]
    cosine = sum(a * b for a, b in zip(telling, script, strict=True)) / (
        math.hypot(*telling) * math.hypot(*script)
    )
    # E (drawn . script) / sqrt(E |drawn|^2 |script|^2) of as many words drawn one by one.
    square, spread = math.hypot(*script) ** 2, 0.0
    for word, count in words.items():
        spread += count / own * (1 - count / own) * rarity(word) ** 2
    drawn = len(said) * square / math.sqrt((len(said) ** 2 * square + len(said) * spread) * square)
    return cosine / drawn
