"""How much the record has to say: told events in place of missing ones, and halves that differ."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_repairing as twin
from elision.repairing import gaps, recorded, weighing
from elision.repairing.gaps import learn_gaps
from elision.repairing.weighing import MOST, compared, learn_weight
from models import RTOL

pytestmark = [
    pytest.mark.numerical,
    # Hashes are meant to wrap around; only the interpreter minds.
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply:RuntimeWarning"),
]

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
EXAMPLES = settings(max_examples=10 if INTERPRETED else 60)
KINDS = 3
EVENT = st.integers(0, KINDS - 1)
TRACES = st.lists(st.lists(EVENT, min_size=1, max_size=6), min_size=1, max_size=8)
RATES = st.lists(st.sampled_from([0.0, 0.05, 0.3, 0.9]), min_size=KINDS, max_size=KINDS)

WEIGHED = """
import numpy as np
from elision.repairing.weighing import learn_weight
rng = np.random.default_rng(0)
walks = [np.cumsum(rng.integers(1, 4, 8)) % 9 for _ in range(500)]
thinned = [walk[rng.random(8) >= 0.2] for walk in walks]
print(learn_weight([one for one in thinned if len(one)], 9, np.full(9, 0.2), copies=5).hex())
"""


def arrays(traces):
    return [np.array(trace, np.int64) for trace in traces]


def thinnings(complete, rates):
    """All ways to thin a trace: chance, what is told, and how often what is missing where."""
    for told in product((True, False), repeat=len(complete)):
        both = list(zip(complete, told, strict=True))
        chance = np.prod([1 - rates[event] if said else rates[event] for event, said in both])
        missing = Counter(
            (sum(told[:at]), event) for at, (event, said) in enumerate(both) if not said
        )
        yield chance, [event for event, said in both if said], missing


@given(st.lists(EVENT, min_size=1, max_size=5), RATES, st.integers(0, 2**32 - 1))
@EXAMPLES
def test_told_events_say_how_far_any_estimate_is_from_the_truth(complete, rates, seed):
    """Of two arbitrary estimates, the squared errors differ by what is counted without the truth.

    The expectations are equal, over all ways to thin a trace; of no told event there is no case.
    """
    rng = np.random.default_rng(seed)
    values: dict = {}

    def estimate(which):
        def chance(trace, gap, event):
            return values.setdefault((which, *trace, None, gap, event), rng.random())

        return chance

    one, other = estimate(0), estimate(1)
    odds = [rate / (1 - rate) for rate in rates]
    weight = rng.random()
    by_truth = by_told = 0.0
    for chance, told, missing in thinnings(complete, rates):
        if not told:
            continue
        ((gain, cost),) = twin.gain_and_cost(one, other, [told], odds, range(KINDS))
        by_told += chance * (weight**2 * cost - 2 * weight * gain)
        for gap in range(len(told) + 1):
            for event in range(KINDS):
                first, second = one(told, gap, event), other(told, gap, event)
                mean = first + weight * (second - first)
                truth = missing[gap, event]
                by_truth += chance * ((mean - truth) ** 2 - (first - truth) ** 2)
    np.testing.assert_allclose(by_told, by_truth, rtol=1e-9, atol=1e-12)


@given(TRACES, TRACES, RATES, st.integers(1, 3))
@EXAMPLES
def test_gain_and_cost_of_another_half(half, judged, rates, at_once):
    """Sums over all gaps and told events, also where traces are looked at few at a time."""
    tables = learn_gaps(
        [arrays(half)], KINDS, np.array(rates), np.random.default_rng(0), arrays(half), 1.0
    )
    odds = [rate / (1 - rate) for rate in rates]
    record = twin.Record(half, odds)
    completed = learned_chances(tables)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighing, "AT_ONCE", at_once)
        found = compared(tables, tables.record, arrays(judged))
    rows = twin.gain_and_cost(
        completed,
        lambda trace, gap, event: record.chance(trace, gap, event, recorded.STRENGTH),
        judged,
        odds,
        range(KINDS),
    )
    wanted = [sum(g for g, _ in rows), sum(c for _, c in rows), sum(g * g for g, _ in rows)]
    np.testing.assert_allclose(found, wanted, rtol=RTOL, atol=1e-12)


def learned_chances(tables):
    """What completed copies say, asked trace by trace."""

    def chance(trace, gap, event):
        found = tables.completed(*gaps.framed(arrays([trace]), KINDS + 2), 0.0)
        which = (found.gap == gap) & (found.event == event)
        return float(found.chance[which].sum())

    return chance


@pytest.mark.parametrize("traces", [[], [[0, 1]], [[0, 1], [1]], [[0], [1]]])
@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_small_logs_have_a_weight(traces, rate):
    weight = learn_weight(arrays(traces), 2, np.full(2, rate), copies=2)
    assert 0 <= weight <= MOST
    assert rate > 0 or weight == 0


@pytest.mark.skipif(INTERPRETED, reason="takes long")
def test_what_the_copies_cannot_know_is_left_to_the_record():
    """Long loops end as they began: a chain forgets that, the trace around a gap does not."""
    rng = np.random.default_rng(0)
    exact = [[0, 1, 2, 3, 4]] * 600
    far = [[kind, 6, 7, 6, 7, 6, 7, 2 + kind, 4 + kind] for kind in (0, 1) for _ in range(600)]
    weights = []
    for log in (exact, far):
        rates = np.full(8, 0.2)
        thinned = [trace[rng.random(len(trace)) >= 0.2] for trace in arrays(log)]
        told = [one for one in thinned if len(one)]
        weights.append(learn_weight(told, 8, rates, copies=10))
    assert weights[0] < 0.1
    assert weights[1] > 0.3


@pytest.mark.skipif(INTERPRETED, reason="takes long")
def test_threads_change_no_bit():
    """Nor does the number of processors that libraries find."""
    said = set()
    for many in ("1", "2"):
        names = ("ELISION_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, many)
        command = [sys.executable, "-c", WEIGHED]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        said.add(done.stdout)
    assert len(said) == 1
    assert 0 < float.fromhex(said.pop().strip()) < MOST


def test_the_same_log_has_the_same_weight():
    rng = np.random.default_rng(0)
    log = arrays([[0, 1, 2], [0, 2], [1, 1, 2]] * (5 if INTERPRETED else 30))
    thinned = [one for one in (trace[rng.random(len(trace)) >= 0.2] for trace in log) if len(one)]
    first, second = (learn_weight(thinned, 3, np.full(3, 0.2), copies=3) for _ in range(2))
    assert first == second
