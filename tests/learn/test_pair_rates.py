"""What pairs of steps say of their order: the rates, pair by pair and telling by telling."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.special import betaln

from elision.learn import precedence
from elision.learn.precedence import _consistent, _different, _Pairs, _sweeps, learn_precedence


class Twin:
    """Written from the docstrings: rates of inversions, of ordered pairs, of misplaced events."""

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

    def count(self, a, b, *, beside):
        """How many tell a before b, each as far as neither is misplaced."""
        return sum(
            self.weight[i] * (1 - self.misplaced[i, a]) * (1 - self.misplaced[i, b])
            for i in range(len(self.told))
            if self.seen(i, a, b) == (True, beside)
        )

    def classify(self):
        pairs = list(permutations(range(self.steps), 2))
        near = {pair: self.count(*pair, beside=True) for pair in pairs}
        far = {pair: self.count(*pair, beside=False) for pair in pairs}
        told = [(a, b) for a, b in pairs if near[a, b] + near[b, a] + far[a, b] + far[b, a] > 1e-9]
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
                        + math.log(share / 2)
                    )

                neither = betaln(near[a, b] + far[a, b] + free, near[b, a] + far[b, a] + free)
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
                    first, beside = self.seen(i, a, b)
                    inversion = self.near if beside else self.far
                    holds = before.get((a, b) if first else (b, a), 0.0)
                    breaks = before.get((b, a) if first else (a, b), 0.0)
                    said = holds * math.log(0.5 / (1 - inversion))
                    said += breaks * math.log(0.5 / inversion)
                    odds += said * (1 - self.misplaced[i, b])
                found[i, a] = 1 / (1 + math.exp(-min(max(odds, -50), 50)))
            self.misplaced = found
        total = sum(self.weight[i] * value for (i, _), value in found.items())
        cases = sum(self.weight[i] for i, _ in found)
        self.misplacing = self.rate(precedence.MISPLACED, total, cases)

    def estimate(self):
        for again in range(precedence.ROUNDS):
            before, worth = self.classify()
            if 0 < again < precedence.ROUNDS - 1:
                self.place(before)
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


@pytest.mark.parametrize("seed", range(6))
def test_rates_of_pairs_agree_with_the_twin(seed):
    told, weight = _different(*tellings(seed)[:1], 100)
    steps = tellings(seed)[1]
    ours, twin = _Pairs(told, weight, steps), Twin(told, weight.tolist(), steps)
    found = ours.estimate()
    before, worth = twin.estimate()
    for a in range(steps):
        for b in range(steps):
            assert found[a, b] == pytest.approx(before.get((a, b), 0.0), rel=1e-9, abs=1e-12)
            assert ours.worth[a, b] == pytest.approx(worth.get((a, b), 0.0), rel=1e-9, abs=1e-12)
    assert ours.near == pytest.approx(twin.near)
    assert ours.far == pytest.approx(twin.far)
    assert ours.misplacing == pytest.approx(twin.misplacing)
    for i in range(len(told)):
        for step in range(steps):
            assert ours.misplaced[i, step] == pytest.approx(
                twin.misplaced.get((i, step), 0.0), rel=1e-9, abs=1e-12
            )


def test_different_tellings_by_hand():
    told = [[0, 1, 0], [0, 1], [1], [2, 0], [1, 0], [1, 0], [1, 0]]
    found, weight = _different(told, 10)
    assert found == [(1, 0), (0, 1), (2, 0)]
    assert weight.tolist() == [3.0, 2.0, 1.0]
    found, weight = _different(told, 2, often=[1, 1, 50, 5, 20, 30, 30])
    assert found == [(1, 0), (2, 0)]
    # 85 tellings count as forty.
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
