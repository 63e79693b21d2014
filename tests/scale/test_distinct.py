"""Identical narratives once, with how often they came: as if each were there by itself."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elision.learn._beginnings import grow
from elision.learn.precedence import learn_precedence

counted = st.lists(
    st.tuples(st.lists(st.integers(0, 3), max_size=4), st.integers(1, 4)), min_size=1, max_size=8
)


@given(counted)
def test_trees_of_beginnings(told):
    folds = [number % 2 for number in range(len(told))]
    each = [
        (one, fold) for (one, often), fold in zip(told, folds, strict=True) for _ in range(often)
    ]
    whole = grow([one for one, _ in each], [fold for _, fold in each], 4)
    once = grow([one for one, _ in told], folds, 4, [often for _, often in told])
    for ours, theirs in zip(astuple(once), astuple(whole), strict=True):
        assert np.array_equal(ours, theirs)


@given(counted)
def test_orders(told):
    whole = learn_precedence([one for one, often in told for _ in range(often)], 4)
    once = learn_precedence([one for one, _ in told], 4, often=[often for _, often in told])
    assert np.array_equal(once.probability, whole.probability)
    assert np.array_equal(once.order, whole.order)
