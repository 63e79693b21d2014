"""Kernels that count what else a case shows, against their naive twin."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_repairing as twin
from elision.kernels import company as kernels

pytestmark = pytest.mark.numerical

EXAMPLES = settings(max_examples=15 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 100)
KINDS = 4
TRACES = st.lists(st.lists(st.integers(0, KINDS - 1), max_size=7), min_size=1, max_size=8)
PAIRED = st.sets(st.integers(0, KINDS - 1))


def numbered(sign, paired):
    """The number of a sign of the twin."""
    numbers = {event: number for number, event in enumerate(sorted(paired))}
    numbers[None] = len(paired)
    if sign == "rest":
        return 2 * KINDS + (len(paired) + 1) ** 2
    if sign[0] == "then":
        return 2 * KINDS + numbers[sign[1]] * (len(paired) + 1) + numbers[sign[2]]
    return sign[1] + KINDS * (sign[0] == "again")


def laid_out(traces, paired):
    starts = np.concatenate([[0], np.cumsum([len(trace) for trace in traces])]).astype(np.int64)
    joined = np.array([event for trace in traces for event in trace], np.int64)
    number = np.full(KINDS, -1)
    number[sorted(paired)] = np.arange(len(paired))
    return starts, joined, number, len(paired)


def test_signs_are_numbered_one_by_one():
    paired = {0, 2}
    every = ["rest", *((kind, one) for kind in ("told", "again") for one in range(KINDS))]
    every += [("then", one, other) for one in (0, 2, None) for other in (0, 2, None)]
    numbers = sorted(numbered(sign, paired) for sign in every)
    assert numbers == list(range(kernels.signs_in_all(KINDS, len(paired))))


@EXAMPLES
@given(TRACES, PAIRED, st.integers(0, KINDS - 1), st.integers(1, 3), st.integers(1, 3), st.data())
def test_company(traces, paired, event, least, most, data):
    inside = data.draw(
        st.lists(st.booleans(), min_size=len(traces), max_size=len(traces)).map(np.array)
    )
    starts, joined, number, pairs = laid_out(traces, paired)
    found, times = kernels.company(starts, joined, event, number, pairs, inside, least, most)
    expected = {}
    for trace, seen in zip(traces, inside.tolist(), strict=True):
        if seen:
            for sign in twin.signs(trace, event, paired):
                row = expected.setdefault(numbered(sign, paired), [0] * (most + 1))
                row[min(trace.count(event), most)] += 1
    expected = {sign: row for sign, row in sorted(expected.items()) if sum(row) >= least}
    assert found.tolist() == list(expected)
    assert times.tolist() == list(expected.values())


@EXAMPLES
@given(TRACES, PAIRED, st.integers(0, KINDS - 1))
def test_cases_that_hold_a_sign(traces, paired, event):
    starts, joined, number, pairs = laid_out(traces, paired)
    shown = [
        {numbered(sign, paired) for sign in twin.signs(trace, event, paired)} for trace in traces
    ]
    for sign in range(kernels.signs_in_all(KINDS, pairs)):
        holds = kernels.holding(starts, joined, event, number, pairs, sign)
        assert holds.tolist() == [sign in one for one in shown]
