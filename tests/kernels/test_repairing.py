"""Kernels of repairing against their naive twins: tables, chances, samples, and gaps."""

from __future__ import annotations

import os
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_repairing as twin
from elision.kernels import repairing as kernels
from elision.repairing.completing import Completion
from elision.repairing.gaps import GapTables, _by_pair, framed, learn_gaps
from models import ATOL, RTOL

pytestmark = [
    pytest.mark.numerical,
    # Hashes are meant to wrap around; only the interpreter minds.
    pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply:RuntimeWarning"),
]

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
EXAMPLES = settings(max_examples=15 if INTERPRETED else 100)
KINDS = 3
START, END = KINDS, KINDS + 1
SIZE, BASE = KINDS + 2, KINDS + 3
TRACES = st.lists(st.lists(st.integers(0, KINDS - 1), max_size=5), min_size=1, max_size=6)
STRENGTH, LEAST = 15.0, 0.01


def within(traces):
    """Traces with a start and an end."""
    return [[START, *trace, END] for trace in traces]


def laid_out(traces, room=14):
    """Rows of traces with room to grow: where each starts, events, which are told, lengths."""
    rooms = [len(trace) + room for trace in traces]
    starts = np.concatenate([[0], np.cumsum(rooms)]).astype(np.int64)
    events, told = np.zeros(starts[-1], np.int64), np.zeros(starts[-1], bool)
    for start, trace in zip(starts.tolist(), traces, strict=False):
        events[start : start + len(trace)] = trace
        told[start : start + len(trace)] = True
    return starts, events, told, np.array([len(trace) for trace in traces], np.int64)


def counted(traces, size=1 << 12):
    starts, events, _, lengths = laid_out(traces)
    return kernels.count_all(size, starts, events, lengths, BASE)


def contents(table):
    """What a table says: counts and followers by key, of keys that were counted."""
    keys, counts, followers = (column.tolist() for column in table)
    return {
        key: (many, different)
        for key, many, different in zip(keys, counts, followers, strict=True)
        if key and many
    }


def chain(seed=0, left_out=0.3):
    """A chain of first order over all events: transitions and chances to be left out."""
    rng = np.random.default_rng(seed)
    transition = rng.dirichlet(np.ones(SIZE), size=SIZE)
    transition[:, START] = 0
    transition[END] = 0
    transition[:START] /= transition[:START].sum(axis=1, keepdims=True)
    silent = np.append(rng.uniform(0, 2 * left_out, KINDS), [0.0, 0.0])
    return transition, silent, kernels.passages(transition, silent)


class TestTable:
    @given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 3)), max_size=60))
    @EXAMPLES
    def test_counts_like_a_dict_while_it_grows_and_when_counts_are_taken_back(self, steps):
        keys, counts = np.zeros(2, np.uint64), np.zeros(2, np.int64)
        plain, seen = Counter(), set()
        for name, by in steps:
            key = np.uint64(name * 0x1F3D5B79)
            if 2 * (len(seen) + 1) > len(keys):
                keys, counts = kernels.enlarged(keys, counts)
            seen.add(name)
            by = -plain[name] if by == 3 else by
            plain[name] += by
            assert kernels.raised(keys, counts, key, by) == plain[name]
        for name in range(1, 41):
            key = np.uint64(name * 0x1F3D5B79)
            assert kernels.count_of(keys, counts, key) == plain[name]
        assert np.count_nonzero(keys) == len(seen)

    def test_keys_that_meet_in_one_slot_stay_apart(self):
        keys, counts = np.zeros(8, np.uint64), np.zeros(8, np.int64)
        for key in range(1, 8):
            kernels.raised(keys, counts, np.uint64(key), key)
        found = [kernels.count_of(keys, counts, np.uint64(key)) for key in range(1, 8)]
        assert found == list(range(1, 8))

    def test_no_two_gap_entries_share_a_key(self):
        found, base = set(), 3
        for neighbours in np.ndindex(3, 3, 3, 3):
            trace = np.array(neighbours)
            contexts = {int(kernels.context_key(trace, 0, 3, base))}
            for level in range(3):
                contexts.add(int(kernels.context_key(trace, 0, level, base)))
            assert len(contexts) == kernels.LEVELS
            found |= contexts
        assert len(found) == 9 + 27 + 27 + 81
        entries = {
            int(kernels.entry_key(np.uint64(context), kind, event, state, base))
            for context in found
            for kind in range(kernels.KINDS)
            for event in range(base)
            for state in range(4)
        }
        assert len(entries) == len(found) * kernels.KINDS * base * 4
        assert 0 not in entries


class TestChain:
    @given(TRACES, st.lists(st.integers(0, KINDS - 1), max_size=5))
    @EXAMPLES
    def test_chance_of_an_event(self, traces, asked):
        table = counted(within(traces))
        plain = twin.Chain(within(traces), SIZE, kernels.ORDER)
        for trace in (*within([asked]), *within(traces[:2])):
            for at in range(1, len(trace)):
                chance = kernels.event_chance(*table, np.array(trace), at, BASE)
                np.testing.assert_allclose(chance, plain.chance(trace, at), rtol=RTOL)

    @given(TRACES, st.data())
    @EXAMPLES
    def test_chances_of_all_events_at_a_place_sum_to_one(self, traces, data):
        table = counted(within(traces))
        trace = np.array(data.draw(st.sampled_from(within(traces))))
        at = data.draw(st.integers(1, len(trace) - 1))
        total = 0.0
        for event in range(SIZE):
            trace[at] = event
            total += kernels.event_chance(*table, trace, at, BASE)
        np.testing.assert_allclose(total, 1.0, rtol=RTOL)

    @given(TRACES, TRACES)
    @EXAMPLES
    def test_taken_back_counts_are_as_if_they_had_never_been(self, traces, more):
        table = counted(within(traces + more))
        for trace in within(more):
            for at in range(1, len(trace)):
                kernels.count_event(*table, np.array(trace), at, BASE, -1)
        assert contents(table) == contents(counted(within(traces)))

    @given(st.integers(0, 10**6), st.integers(1, 7), st.floats(0.0, 0.95))
    @EXAMPLES
    def test_passages_are_the_inverse(self, seed, size, most):
        rng = np.random.default_rng(seed)
        transition = rng.dirichlet(np.full(size, 0.5), size=size)
        silent = rng.uniform(0, most, size)
        found = kernels.passages(transition, silent)
        np.testing.assert_allclose(found, twin.passages(transition, silent), rtol=1e-7, atol=ATOL)
        np.testing.assert_allclose(found @ (1 - silent), np.ones(size), rtol=1e-7)

    def test_pairs(self):
        traces = within([[0, 1, 1], [2], []])
        starts, events, _, lengths = laid_out(traces)
        found = kernels.pairs(starts, events, lengths, SIZE)
        plain = Counter(pair for one in traces for pair in pairwise(one))
        assert {
            pair: found[pair] for pair in zip(*map(list, found.nonzero()), strict=True)
        } == plain


class TestFilling:
    def test_is_as_frequent_as_it_is_probable(self):
        transition, silent, passage = chain(left_out=0.25)
        rng = np.random.default_rng(1)
        times = 2_000 if INTERPRETED else 60_000
        filling, found = np.zeros(kernels.LONGEST_FILLING, np.int64), Counter()
        for _ in range(times):
            many = kernels.fill_gap(rng, START, 1, transition, silent, passage, filling)
            found[tuple(filling[:many].tolist())] += 1
        for one in twin.fillings(range(KINDS), 3):
            chance = twin.filling_chance(one, START, 1, transition, silent) / passage[START, 1]
            error = (chance * (1 - chance) / times) ** 0.5
            np.testing.assert_allclose(found[one] / times, chance, rtol=0, atol=5 * error + 1e-4)

    def test_never_holds_what_is_always_told_nor_more_than_fits(self):
        transition = np.full((SIZE, SIZE), 1 / SIZE)
        silent = np.array([0.95, 0.95, 0.0, 0.0, 0.0])
        passage = kernels.passages(transition, silent)
        filling = np.zeros(kernels.LONGEST_FILLING, np.int64)
        rng = np.random.default_rng(0)
        lengths = []
        for _ in range(300):
            many = kernels.fill_gap(rng, 2, END, transition, silent, passage, filling)
            assert set(filling[:many].tolist()) <= {0, 1}
            lengths.append(many)
        assert 0 <= min(lengths) < max(lengths) <= kernels.LONGEST_FILLING


class TestSweep:
    def sweep(self, rng, rows, table, model):
        starts, events, told, lengths = rows
        kernels.sweep(rng, starts, events, told, lengths, *table, *model, BASE)

    @given(TRACES, st.integers(0, 100), st.sampled_from([2, 4, 16]))
    @EXAMPLES
    def test_told_events_stay_and_counts_are_those_of_the_traces(self, traces, seed, room):
        rows = laid_out(within(traces), room)
        starts, events, told, lengths = rows
        table = kernels.count_all(1 << 13, starts, events, lengths, BASE)
        model = chain(seed, 0.45)
        rng = np.random.default_rng(seed)
        for _ in range(4):
            self.sweep(rng, rows, table, model)
            for number, trace in enumerate(within(traces)):
                row = slice(starts[number], starts[number] + lengths[number])
                assert starts[number] + lengths[number] <= starts[number + 1]
                assert events[row][told[row]].tolist() == trace
                assert not set(events[row][~told[row]].tolist()) & {START, END}
        again = kernels.count_all(1 << 13, starts, events, lengths, BASE)
        assert contents(table) == contents(again)

    def test_what_is_never_left_out_is_never_put_in(self):
        traces = within([[0, 1, 2], [0, 2], [1]])
        rows = laid_out(traces)
        table = kernels.count_all(1 << 10, rows[0], rows[1], rows[3], BASE)
        transition = chain()[0]
        silent = np.zeros(SIZE)
        before = rows[1].copy()
        passage = kernels.passages(transition, silent)
        self.sweep(np.random.default_rng(0), rows, table, (transition, silent, passage))
        assert rows[1].tolist() == before.tolist()
        assert rows[3].tolist() == [5, 4, 3]

    def test_completions_are_as_frequent_as_they_are_probable(self):
        """One trace with room for two more events; the counts of the others stay as they are."""
        others = within([[0, 1], [0, 0, 1], [1], [0, 1, 1], [2, 1, 0]] * 2)
        trace = [START, 1, END]
        starts, events, told, lengths = laid_out([trace], 2)
        table = counted([*others, trace])
        transition, silent, passage = chain(3, 0.4)
        plain = twin.Chain(others, SIZE, kernels.ORDER)
        weights = {
            (whole, flags): plain.chance_of(whole)
            * np.prod([silent[e] for e, said in zip(whole, flags, strict=True) if not said])
            for whole, flags in twin.completions(trace, range(KINDS), 2)
        }
        total = sum(weights.values())
        rng, found = np.random.default_rng(0), Counter()
        times = 800 if INTERPRETED else 60_000
        for _ in range(times):
            kernels.sweep(
                *(rng, starts, events, told, lengths, *table),
                *(transition, silent, passage, BASE),
            )
            length = lengths[0]
            found[tuple(events[:length].tolist()), tuple(told[:length].tolist())] += 1
        assert set(found) <= set(weights)
        apart = sum(abs(found[one] / times - weights[one] / total) for one in weights) / 2
        assert apart < (0.3 if INTERPRETED else 0.015)  # neighbouring samples are alike
        assert len(found) > 5


class TestCompletion:
    def test_copies_hold_the_told_events_in_order(self):
        rng = np.random.default_rng(0)
        told = [
            [e for e in range(4) if rng.random() < 0.75] for _ in range(12 if INTERPRETED else 200)
        ]
        told = [one for one in told if one]
        completion = Completion(told, 4, np.full(4, 0.25))
        longer = 0
        for copy in completion.copies(2):
            for trace, whole in zip(told, copy, strict=True):
                left = iter(whole.tolist())
                assert all(event in left for event in trace)
                longer += len(whole) - len(trace)
        assert longer > 0

    def test_the_table_always_has_room(self):
        """Short traces that may grow to many times their length, of events that never meet."""
        kinds = 10 if INTERPRETED else 150
        completion = Completion([[k] for k in range(kinds)], kinds, np.full(kinds, 0.3))
        completion._scale = 4.0
        for _ in range(2 if INTERPRETED else 10):
            completion._sweep(balance=False)
            completion._scale = 4.0
            keys = completion._table[0]
            room = len(keys) - np.count_nonzero(keys)
            assert room > 0
            most = 2 * (kernels.ORDER + 1) * (completion._starts[-1] - kinds)
            assert len(keys) > most  # all that one sweep could ever count


THINNED = st.lists(
    st.tuples(
        st.lists(st.integers(0, KINDS - 1), max_size=5),
        st.lists(st.tuples(st.integers(0, 5), st.integers(0, KINDS - 1)), max_size=4),
    ),
    min_size=1,
    max_size=6,
)


def gap_tables(traces, hidden):
    """Tables counted from what is told and what is hidden: gap and event, by gap."""
    starts, joined = framed([np.array(trace, np.int64) for trace in traces], SIZE)
    hidden_starts = np.concatenate([[0], np.cumsum([len(one) for one in hidden])])
    place = np.array([gap for one in hidden for gap, _ in one], np.int64)
    event = np.array([event for one in hidden for _, event in one], np.int64)
    keys, counts, used = kernels.count_gaps(
        *(np.zeros(4, np.uint64), np.zeros(4, np.int64), 0, starts, joined),
        *(hidden_starts.astype(np.int64), place, event, SIZE),
    )
    assert used == np.count_nonzero(keys) <= len(keys) / 2
    at = np.repeat(starts[:-1], np.diff(hidden_starts)) + 1 + place
    between = (joined[at] * SIZE + joined[at + 1]) * SIZE + event
    before = np.zeros((KINDS, KINDS), np.int64)
    return GapTables(SIZE, keys, counts, *_by_pair(between, SIZE), before)


class TestGaps:
    @given(THINNED, st.lists(st.lists(st.integers(0, KINDS - 1), max_size=4), max_size=3))
    @EXAMPLES
    def test_chances(self, thinned, more):
        traces = [trace for trace, _ in thinned]
        hidden = [sorted((g, e) for g, e in gone if g <= len(trace)) for trace, gone in thinned]
        tables, plain = gap_tables(traces, hidden), twin.Gaps(traces, hidden, range(KINDS))
        asked = traces + more
        found = tables.find([np.array(trace, np.int64) for trace in asked])
        wanted = plain.find(asked, STRENGTH, LEAST)
        assert list(zip(*(c.tolist() for c in found[:3]), strict=True)) == [w[:3] for w in wanted]
        np.testing.assert_allclose(found.chance, [w[3] for w in wanted], rtol=RTOL)
        assert np.all((found.chance >= LEAST) & (found.chance <= 1))

    def test_thinned_copies_are_counted_like_gaps(self):
        """With all of one event hidden, what was hidden where is known without chance."""
        log = [np.array(one) for one in ([0, 1, 2], [0, 2], [1, 1, 0], [2, 1])]
        tables = learn_gaps([log, log], KINDS, np.array([0.0, 1.0, 0.0]), np.random.default_rng(0))
        told = [[0, 2], [0, 2], [0], [2]]
        hidden = [[(1, 1)], [], [(0, 1), (0, 1)], [(1, 1)]]
        plain = twin.Gaps(told * 2, hidden * 2, range(KINDS))
        found = tables.find([np.array(one) for one in told])
        wanted = plain.find(told, STRENGTH, LEAST)
        assert list(zip(*(c.tolist() for c in found[:3]), strict=True)) == [w[:3] for w in wanted]
        np.testing.assert_allclose(found.chance, [w[3] for w in wanted], rtol=RTOL)

    def test_events_of_one_gap_come_in_the_order_they_had(self):
        log = [np.array([2, 1, 0])] * 60
        tables = learn_gaps([log], KINDS, np.array([0.5, 0.5, 0.5]), np.random.default_rng(0))
        assert tables.in_order([0, 1, 2]) == [2, 1, 0]
        assert tables.in_order([1, 2]) == [1, 0]
        assert tables.in_order([]) == []

    def test_what_was_hidden_from_one_trace_does_not_come_before_that_of_the_next(self):
        log = [np.array([0, 1]), np.array([0, 2])]
        tables = learn_gaps([log], KINDS, np.array([0.0, 1.0, 1.0]), np.random.default_rng(0))
        assert not tables.before.any()

    @pytest.mark.parametrize("log", [[], [np.array([0])], [np.array([0]), np.array([0, 0])]])
    def test_copies_of_which_nothing_is_left_say_nothing(self, log):
        tables = learn_gaps([log, log], 1, np.array([1.0]), np.random.default_rng(0))
        assert len(tables.find([np.array([0]), np.zeros(0, np.int64)]).chance) == 0
        assert len(tables.find([]).chance) == 0
