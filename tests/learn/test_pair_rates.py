"""What pairs of steps say of their order: the rates, pair by pair and telling by telling."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.special import betaln

import naive_outlines as naive
from elision.learn import precedence
from elision.learn.precedence import Pairs, _consistent, _different, _sweeps, learn_precedence


class Twin:
    """Written from the docstrings: rates of inversions, of ordered pairs, of misplaced events.

    And of careless tellings, once `suspect` has been asked whether there are any.
    """

    def __init__(self, told, weight, steps):
        self.told, self.weight, self.steps = told, weight, steps
        self.misplaced = {(i, s): 0.0 for i, one in enumerate(told) for s in one}
        self.near, self.far, self.misplacing = (
            a / (a + b)
            for a, b in (
                precedence.NEAR_INVERSION,
                precedence.FAR_INVERSION,
                precedence.MISPLACED,
            )
        )
        self.shares = list(precedence.ORDERED)
        self.careless = [0.0] * len(told)
        self.suspicious = False
        self.kinds = {pair: self.kind(*pair) for pair in permutations(range(steps), 2)}

    def seen(self, i, a, b):
        """Whether a telling tells a before b, and whether side by side; None if not both."""
        one = self.told[i]
        if a not in one or b not in one:
            return None
        apart = one.index(b) - one.index(a)
        return apart > 0, abs(apart) == 1

    def kind(self, a, b):
        """0 if never told side by side, 2 if always, 1 if both occurs."""
        beside = [self.seen(i, a, b)[1] for i in range(len(self.told)) if self.seen(i, a, b)]
        return 0 if not any(beside) else 2 if all(beside) else 1

    def count(self, a, b, *, beside=None, careless=False):
        """How many careful ones tell a before b, or careless ones, if neither is misplaced."""
        return sum(
            self.weight[i]
            * (1 - self.misplaced[i, a])
            * (1 - self.misplaced[i, b])
            * (self.careless[i] if careless else 1 - self.careless[i])
            for i in range(len(self.told))
            if self.seen(i, a, b) and self.seen(i, a, b)[0] and self.seen(i, a, b)[1] in beside
        )

    def classify(self):
        pairs = list(permutations(range(self.steps), 2))
        near = {pair: self.count(*pair, beside={True}) for pair in pairs}
        far = {pair: self.count(*pair, beside={False}) for pair in pairs}
        loose = {pair: self.count(*pair, beside={True, False}, careless=True) for pair in pairs}
        every = {pair: near[pair] + far[pair] + loose[pair] for pair in pairs}
        told = [(a, b) for a, b in pairs if every[a, b] + every[b, a] > 1e-9]
        free = precedence.FREE
        before, worth = {}, {}
        for _ in range(3):
            for a, b in told:
                share = self.shares[self.kinds[a, b]]

                def ordered(x, y, share=share):
                    return (
                        near[y, x] * math.log(self.near)
                        + near[x, y] * math.log(1 - self.near)
                        + far[y, x] * math.log(self.far)
                        + far[x, y] * math.log(1 - self.far)
                        + loose[y, x] * math.log(precedence.CARELESS_PAIRS)
                        + loose[x, y] * math.log(1 - precedence.CARELESS_PAIRS)
                        + math.log(share / 2)
                    )

                neither = betaln(every[a, b] + free, every[b, a] + free)
                neither += math.log(1 - share) - betaln(free, free)
                values = [ordered(a, b), ordered(b, a), neither]
                total = np.logaddexp.reduce(values)
                before[a, b] = math.exp(values[0] - total)
                worth[a, b] = values[0] - neither
            self.near, self.far = (
                self.rate(
                    prior,
                    sum(before[a, b] * count[b, a] for a, b in told),
                    sum(before[a, b] * (count[a, b] + count[b, a]) for a, b in told),
                )
                for prior, count in (
                    (precedence.NEAR_INVERSION, near),
                    (precedence.FAR_INVERSION, far),
                )
            )
            for kind, usual in enumerate(precedence.ORDERED):
                some = [pair for pair in told if self.kinds[pair] == kind]
                weight = precedence.ORDERED_WEIGHT
                self.shares[kind] = (weight * usual + sum(before[pair] for pair in some)) / (
                    weight + len(some) / 2
                )
        return before, worth

    @staticmethod
    def rate(prior, hits, cases):
        return (prior[0] + hits) / (sum(prior) + cases)

    def place(self, before):
        """An event is misplaced by the odds that its pairs break the order, others trusted."""
        for _ in range(2):
            found = {}
            for i, a in self.misplaced:
                odds = math.log(self.misplacing / (1 - self.misplacing))
                for b in self.told[i]:
                    if b == a:
                        continue
                    careful = self.against(i, a, b, before, 0.5)
                    loose = self.against(i, a, b, before, 0.5, precedence.CARELESS_PAIRS)
                    said = (1 - self.careless[i]) * careful + self.careless[i] * loose
                    odds += said * (1 - self.misplaced[i, b])
                found[i, a] = 1 / (1 + math.exp(-min(max(odds, -50), 50)))
            self.misplaced = found
        total = sum(self.weight[i] * value for (i, _), value in found.items())
        cases = sum(self.weight[i] for i, _ in found)
        self.misplacing = self.rate(precedence.MISPLACED, total, cases)

    def against(self, i, a, b, before, rate, usual=None):
        """What a pair of a telling says for one rate of inversions and against the usual one."""
        first, beside = self.seen(i, a, b)
        usual = usual or (self.near if beside else self.far)
        holds = before.get((a, b) if first else (b, a), 0.0)
        breaks = before.get((b, a) if first else (a, b), 0.0)
        return holds * math.log((1 - rate) / (1 - usual)) + breaks * math.log(rate / usual)

    def weigh(self, before):
        """A telling is careless by the odds that its pairs break the order one time in four."""
        for i, one in enumerate(self.told):
            odds = math.log(precedence.CARELESS / (1 - precedence.CARELESS))
            for a, b in combinations(one, 2):
                trust = (1 - self.misplaced[i, a]) * (1 - self.misplaced[i, b])
                odds += trust * self.against(i, a, b, before, precedence.CARELESS_PAIRS)
            self.careless[i] = 1 / (1 + math.exp(-min(max(odds, -50), 50)))

    def suspect(self):
        """Whether a telling is careless if each pair has the order that more tellings tell."""
        usual = {}
        for a, b in permutations(range(self.steps), 2):
            ahead, behind = (
                sum(
                    self.weight[i]
                    for i in range(len(self.told))
                    if self.seen(i, *pair) and self.seen(i, *pair)[0]
                )
                for pair in ((a, b), (b, a))
            )
            usual[a, b] = 1.0 if ahead > behind else 0.5 if ahead == behind else 0.0
        self.weigh(usual)
        self.suspicious = max(self.careless) > 0.5
        return self.suspicious

    def estimate(self):
        for again in range(precedence.ROUNDS):
            before, worth = self.classify()
            if (self.suspicious or again > 0) and again < precedence.ROUNDS - 1:
                self.place(before)
                if self.suspicious:
                    self.weigh(before)
                    if max(self.careless) < 0.5:
                        break
        return before, worth


def tellings(seed):
    rng = np.random.default_rng(seed)
    steps = int(rng.integers(2, 6))
    told = []
    for _ in range(12):
        one = [s for s in range(steps) if rng.random() < 0.8]
        if rng.random() < 0.4 and len(one) > 1:
            a, b = rng.choice(len(one), 2, replace=False)
            one[a], one[b] = one[b], one[a]
        told.append(tuple(one))
    return told, steps


def two_orders(seed):
    """Some tellings in one order, some in none."""
    rng = np.random.default_rng(seed)
    careful = [tuple(s for s in range(7) if rng.random() < 0.9) for _ in range(9)]
    careless = [tuple(rng.permutation(7)[: int(rng.integers(4, 8))].tolist()) for _ in range(5)]
    return careful + careless, 7


@pytest.mark.parametrize("suspicious", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_rates_of_pairs_agree_with_the_twin(seed, suspicious):
    told, steps = (two_orders if suspicious else tellings)(seed)
    told, weight, _ = _different(told, 100)
    ours, twin = Pairs(told, weight, steps), Twin(told, weight.tolist(), steps)
    if suspicious:
        assert ours.suspect()
        assert twin.suspect()
        np.testing.assert_allclose(ours.careless, twin.careless, rtol=1e-9, atol=1e-12)
    ours.estimate()
    before, worth = twin.estimate()
    np.testing.assert_allclose(ours.careless, twin.careless, rtol=1e-9, atol=1e-12)
    for a in range(steps):
        for b in range(steps):
            assert ours.before[a, b] == pytest.approx(before.get((a, b), 0.0), rel=1e-9, abs=1e-12)
            assert ours.worth[a, b] == pytest.approx(worth.get((a, b), 0.0), rel=1e-9, abs=1e-12)
    assert ours.near == pytest.approx(twin.near)
    assert ours.far == pytest.approx(twin.far)
    assert ours.misplacing == pytest.approx(twin.misplacing)
    for i in range(len(told)):
        for step in range(steps):
            assert ours.misplaced[i, step] == pytest.approx(
                twin.misplaced.get((i, step), 0.0), rel=1e-9, abs=1e-12
            )


def test_whole_tellings_decide_whether_some_are_careless():
    """Negative control: of free steps, some tellings only look as if they broke an order."""
    rng = np.random.default_rng(0)
    free = [rng.permutation(12).tolist() for _ in range(6)]
    told, weight, _ = _different(free, 100)
    suspicious = Pairs(told, weight, 12)
    assert suspicious.suspect()
    suspicious.estimate()
    found = learn_precedence(free, 12)
    assert found.careless == 0.0
    assert _consistent(suspicious.worth).sum() >= found.order.sum() + 10


@pytest.mark.parametrize("seed", range(4))
def test_careless_tellings_do_not_hide_the_order_of_the_others(seed):
    rng = np.random.default_rng(seed)
    careful = [naive.told_at_random(rng, list(range(14)), omitted=0.1) for _ in range(8)]
    careless = []
    for _ in range(6):  # every other step wherever it may be
        one = list(range(0, 14, 2))
        for step in range(1, 14, 2):
            one.insert(int(rng.integers(len(one) + 1)), step)
        careless.append(one)
    found = learn_precedence(careful + careless, 14)
    assert found.careless == pytest.approx(6 / 14, abs=0.08)
    assert found.order.sum() >= 85
    assert not np.tril(found.order).any()


def explained(told, weight, steps, pairs):
    """Each telling is careful or careless."""
    order = naive.pairs_of(_consistent(pairs.worth))
    inversion = min(1.0, max(precedence.LEAST_INVERSION, precedence.INVERSION_FACTOR * pairs.near))
    return [
        math.log(
            (1 - precedence.CARELESS) * math.exp(naive.telling_log_prob(one, order, inversion))
            + precedence.CARELESS
            * math.exp(naive.telling_log_prob(one, order, precedence.CARELESS_TELLING))
        )
        for one in told
    ]


@pytest.mark.parametrize("make", [two_orders, tellings])
@pytest.mark.parametrize("seed", range(6))
def test_what_explains_tellings_better_agrees_with_the_twin(seed, make):
    told, steps = make(seed)
    told, weight, _ = _different(told, 100)
    plain, suspicious = (Pairs(told, weight, steps) for _ in range(2))
    plain.estimate()
    expected = 0.0
    if suspicious.suspect():
        suspicious.estimate()
        one = explained(told, weight, steps, plain)
        other = explained(told, weight, steps, suspicious)
        gain = [b - a for a, b in zip(one, other, strict=True)]
        total = math.fsum(w * g for w, g in zip(weight, gain, strict=True))
        careful = suspicious.inversion <= plain.inversion
        if max(suspicious.careless) >= 0.5 and careful and total > max(0.0, *gain):
            expected = float(weight @ suspicious.careless / weight.sum())
    assert learn_precedence(told, steps, often=weight.tolist()).careless == pytest.approx(expected)


def test_of_a_whole_telling_no_more_than_everything_comes_whenever():
    pairs = Pairs([(0, 1)], np.ones(1), 2)
    for near, inversion in ((0.0, 0.01), (0.1, 0.5), (0.3, 1.0)):
        pairs.near = near
        assert pairs.inversion == pytest.approx(inversion)


def test_different_tellings_by_hand():
    told = [[0, 1, 0], [0, 1], [1], [2, 0], [1, 0], [1, 0], [1, 0]]
    found, weight, each = _different(told, 10)
    assert each == 1.0
    assert found == [(1, 0), (0, 1), (2, 0)]
    assert weight.tolist() == [3.0, 2.0, 1.0]
    found, weight, each = _different(told, 2, often=[1, 1, 50, 5, 20, 30, 30])
    assert found == [(1, 0), (2, 0)]
    # 85 tellings count as forty.
    assert each == pytest.approx(40 / 85, rel=1e-12)
    np.testing.assert_allclose(weight, np.array([80.0, 5.0]) * 40 / 85, rtol=1e-12)


def test_the_sampler_tries_as_often_as_is_affordable(monkeypatch):
    told = [(0, 1, 2), (0, 1)]  # 81 + 16
    for work, sweeps in ((97 * 60, 60), (97 * 70, 60), (97 * 59, 59), (97 * 6, 6), (97 * 6 - 1, 0)):
        monkeypatch.setattr(precedence, "MOST_WORK", work)
        assert _sweeps(told) == sweeps


def test_an_order_is_made_of_what_gains_most():
    gain = np.array([[0, 3, -1.0, 0], [0, 0, 2, 0], [5, 0, 0, 0], [0, 0, 0, 0]])
    # 2 before 0 first, then 0 before 1, and with it 2 before 1; 1 before 2 comes too late.
    expected = np.zeros((4, 4), bool)
    expected[2, 0] = expected[0, 1] = expected[2, 1] = True
    np.testing.assert_array_equal(_consistent(gain), expected)
    # What would follow costs as much as it gains: it is left out.
    gain[2, 1] = -3.0
    expected[0, 1] = expected[2, 1] = False
    expected[1, 2] = expected[1, 0] = True
    np.testing.assert_array_equal(_consistent(gain), expected)


def test_nothing_to_order():
    for told, steps in (([], 3), ([[0], [0]], 1), ([[0], [1]], 2)):
        found = learn_precedence(told, steps)
        assert found.order.shape == (steps, steps)
        assert not found.order.any()
        assert not found.probability.any()
        assert (found.near_inversion, found.far_inversion, found.misplaced) == (0.0, 0.0, 0.0)
