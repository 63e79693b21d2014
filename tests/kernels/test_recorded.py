"""What a log says of its own gaps, against the naive twin and by hand."""

from __future__ import annotations

import os
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_repairing as twin
from elision import kernels
from elision.kernels.recorded import shrunk
from elision.repairing import gaps, recorded
from elision.repairing.gaps import LEAST_CHANCE, framed, learn_gaps
from elision.repairing.recorded import learn_record
from models import RTOL

pytestmark = [
    pytest.mark.numerical,
    # Hashes are meant to wrap around; only the interpreter minds.
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply:RuntimeWarning"),
]

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
EXAMPLES = settings(max_examples=15 if INTERPRETED else 100)
KINDS = 3
BASE = KINDS + 2
EVENT = st.integers(0, KINDS - 1)
TRACES = st.lists(st.lists(EVENT, min_size=1, max_size=6), min_size=1, max_size=8)
RATES = st.lists(st.sampled_from([0.0, 0.05, 0.3, 0.9]), min_size=KINDS, max_size=KINDS)


def arrays(traces):
    return [np.array(trace, np.int64) for trace in traces]


def entries(traces):
    """Every event in every gap of every trace."""
    rows = [
        (number, gap, event)
        for number, trace in enumerate(traces)
        for gap in range(len(trace) + 1)
        for event in range(KINDS)
    ]
    return rows, np.array(rows, np.int64).reshape(-1, 3).T.copy()


@given(TRACES, st.lists(st.lists(EVENT, max_size=5), max_size=3), RATES)
@EXAMPLES
def test_chances(traces, more, rates):
    asked = traces + more
    record = learn_record(*framed(arrays(traces), BASE), BASE, np.array(rates))
    rows, columns = entries(asked)
    found = record.chances(*framed(arrays(asked), BASE), *columns)
    plain = twin.Record(traces, [rate / (1 - rate) for rate in rates])
    wanted = [plain.chance(asked[n], gap, event, recorded.STRENGTH) for n, gap, event in rows]
    np.testing.assert_allclose(found, wanted, rtol=RTOL)
    assert np.all((found >= 0) & (found <= 1))


@given(TRACES, st.lists(st.lists(EVENT, max_size=5), max_size=3), RATES)
@EXAMPLES
def test_chances_of_told_events(traces, more, rates):
    """As of the gap that each would leave."""
    asked = traces + more
    record = learn_record(*framed(arrays(traces), BASE), BASE, np.array(rates))
    starts, joined = framed(arrays(asked), BASE)
    found = record.told_chances(starts, joined)
    assert not found[joined >= KINDS].any()
    plain = twin.Record(traces, [rate / (1 - rate) for rate in rates])
    wanted = [
        plain.chance(rest, gap, event, recorded.STRENGTH) if rest else 0.0
        for trace in asked
        for rest, gap, event in twin.without_each(trace)
    ]
    np.testing.assert_allclose(found[joined < KINDS], wanted, rtol=RTOL)


@given(st.lists(st.lists(EVENT, max_size=4), min_size=1, max_size=3), RATES)
@EXAMPLES
def test_what_is_missing_from_a_gap_stands_in_the_log(complete, rates):
    """All ways to thin complete traces, with their chances: what the record rests on is exact."""
    missing, left = Counter(), Counter()
    for trace in complete:
        for told in product((True, False), repeat=len(trace)):
            both = list(zip(trace, told, strict=True))
            chance = np.prod([1 - rates[event] if said else rates[event] for event, said in both])
            heard = [event for event, said in both if said]
            for at, (event, said) in enumerate(both):
                gap = sum(told[:at])
                if said:
                    rest = heard[:gap] + heard[gap + 1 :]
                    left[tuple(rest), gap, event] += chance * rates[event] / (1 - rates[event])
                else:
                    missing[tuple(heard), gap, event] += chance
    keys = sorted(set(missing) | set(left))
    np.testing.assert_allclose(
        [left[key] for key in keys], [missing[key] for key in keys], rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize("strength", [1.0, 6.0])
@pytest.mark.parametrize("chance", [0.0, 0.2, 0.9, 1.0])
def test_where_nothing_was_counted_the_narrower_contexts_stay(chance, strength):
    np.testing.assert_allclose(shrunk(0, 0, 0.25, chance, strength), chance, rtol=1e-12)


def test_more_cannot_be_missing_than_there_are_gaps():
    assert shrunk(40, 9, 0.25, 0.0, 0.0) == 1
    np.testing.assert_allclose(shrunk(36, 18, 0.25, 0.0, 0.0), 0.5, rtol=1e-12)


def test_a_step_that_is_sometimes_not_done_is_told_from_one_that_was_left_out():
    """Of `b` a fifth is left out; behind `c` half of the cases do without."""
    log = [[0, 1, 3]] * 3200 + [[0, 3]] * 800 + [[2, 1, 3]] * 1600 + [[2, 3]] * 2400
    rates = np.array([0.0, 0.2, 0.0, 0.0])
    record = learn_record(*framed(arrays(log), 6), 6, rates)
    asked = framed(arrays([[0, 3], [2, 3]]), 6)
    found = record.chances(*asked, *np.array([[0, 1], [1, 1], [1, 1]]))
    np.testing.assert_allclose(found, [1.0, 0.2 / 1.2], rtol=0, atol=0.04)


def test_numbers_of_beginnings_and_ends():
    """Equal beginnings have one number; of others only those that were added have one."""
    table = np.zeros(4, np.uint64), np.zeros(4, np.int64)
    starts, joined = framed(arrays([[0, 1], [0, 2], []]), BASE)
    nodes, numbers, used, before, behind = kernels.recorded.around(
        *table, 1, starts, joined, BASE, True
    )
    first, second, nothing = (starts[k] + 1 for k in range(3))
    assert before[[first, second, nothing]].tolist() == [0, 0, 0]
    assert before[first + 1] == before[second + 1]
    assert before[first + 2] != before[second + 2]
    assert behind[[first + 2, second + 2, nothing]].tolist() == [0, 0, 0]
    assert used == 1 + 3 + 4 == 1 + np.count_nonzero(nodes)
    starts, joined = framed(arrays([[0, 0, 1]]), BASE)
    after = kernels.recorded.around(nodes, numbers, used, starts, joined, BASE, False)
    assert after[2] == used
    assert after[3][1:5].tolist() == [0, before[first + 1], -1, -1]
    assert after[4][1:5].tolist() == [-1, behind[first], behind[first + 1], 0]


@pytest.mark.parametrize("weight", [0.2, 0.5])
def test_a_mean_of_both_is_said(weight, monkeypatch):
    monkeypatch.setattr(gaps, "AT_ONCE", 2)
    log = arrays([[0, 1, 2], [0, 2], [0, 1, 2], [1, 2]] * 10)
    rates = np.array([0.1, 0.2, 0.0])
    alone = learn_gaps([log], KINDS, rates, np.random.default_rng(0))
    both = learn_gaps([log], KINDS, rates, np.random.default_rng(0), log, weight)
    assert alone.record is None
    assert both.weight == weight
    asked = arrays([[0, 2], [1, 2], [2]])
    found = both.find(asked)
    record = both.record.chances(*framed(asked, BASE), *found[:3])
    said = {tuple(row[:3]): row[3] for row in zip(*alone.find(asked), strict=True)}
    for number, gap, event, chance, other in zip(*found, record, strict=True):
        wanted = (1 - weight) * said.get((number, gap, event), 0) + weight * other
        assert abs(chance - wanted) <= LEAST_CHANCE
        assert chance >= LEAST_CHANCE
    assert {(0, 1, 1), (1, 0, 0)} <= set(zip(*found[:3], strict=True))
    assert len(both.find([]).chance) == 0


def test_an_event_alone_leaves_no_case():
    record = learn_record(*framed(arrays([[0]] * 50), BASE), BASE, np.full(KINDS, 0.3))
    _, columns = entries([[], [0]])
    assert not record.chances(*framed(arrays([[], [0]]), BASE), *columns).any()
