"""What a telling gains by each event at each other place, all of them recomputed."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from asked import script_of
from elision.ask.engine.conformance import moves
from elision.ask.engine.told_chain import Tables, ToldChain

pytestmark = pytest.mark.numerical


@pytest.mark.parametrize("seed", range(6))
def test_moves_of_longer_tellings(seed):
    rng = np.random.default_rng(seed)
    size, count = 5, 3
    transition = np.triu(rng.random((size, size)), 1)
    transition[range(1, size - 1), range(1, size - 1)] = rng.random(size - 2)
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    told = rng.dirichlet(np.ones(count + 1), size)
    told[[0, -1]] = 0
    model = transition, told[:, :-1].copy(), told[:, -1].copy()
    narrative = rng.integers(0, count, 5).tolist()
    log_prob = naive.log_prob(*model, narrative, method="paths")
    chain = ToldChain(script_of(model))
    likelihood = naive.event_likelihood(model[1], narrative)
    tables = Tables(*(part[0] for part in chain.tables(likelihood[None])))
    found = moves(chain, tables, likelihood, log_prob)
    for i in range(5):
        rest = [*narrative[:i], *narrative[i + 1 :]]
        for p in range(5):
            moved = [*rest[:p], narrative[i], *rest[p:]]
            gain = naive.log_prob(*model, moved, method="paths") - log_prob
            np.testing.assert_allclose(found[i, p], gain, rtol=1e-9, atol=1e-9)
