"""Which steps come before which: the kernels against their twins, and what is learned."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_outlines as naive
from elision.kernels.precedence import (
    sampled_orders,
    stays_transitive,
    telling_log_prob,
    telling_log_probs,
)
from elision.learn import precedence
from elision.learn.outline import same_beginnings
from elision.learn.precedence import (
    MOST_EVIDENCE,
    MOST_TELLINGS,
    SWEEPS,
    covers,
    learn_precedence,
)
from models import ATOL, RTOL

numerical = pytest.mark.numerical

SHAPES = {
    "chain": (8, {(a, b) for a in range(8) for b in range(a + 1, 8)}),
    "blocks": (9, {(a, b) for a in range(9) for b in range(9) if a // 3 < b // 3}),
    "free": (5, set()),
}
NOISE = {
    "left out": {"omitted": 0.3},
    "much left out": {"omitted": 0.5},
    "inversions": {"omitted": 0.3, "inversions": 0.05},
    "misplaced": {"omitted": 0.3, "inversions": 0.03, "misplaced": 0.02},
}


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=RTOL, atol=ATOL)


def table_of(order, n):
    """The table of truth values of a set of pairs."""
    table = np.zeros((n, n), dtype=bool)
    for a, b in order:
        table[a, b] = True
    return table


def random_order(rng, n):
    """What follows from some pairs that agree with an order of all steps."""
    rank = rng.permutation(n)
    density = rng.random()
    return naive.closure(
        {(a, b) for a in range(n) for b in range(n) if rank[a] < rank[b] and rng.random() < density}
    )


def random_tellings(seed, count, shape="blocks", **noise):
    n, order = SHAPES[shape]
    rng = np.random.default_rng(seed)
    return [
        naive.told_at_random(rng, naive.done_at_random(rng, n, order), **noise)
        for _ in range(count)
    ]


def same(one, other):
    """Whether two results agree to the last bit."""
    names = ("order", "probability", "near_inversion", "far_inversion", "misplaced", "careless")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


# The kernels


@numerical
@pytest.mark.parametrize("seed", range(40))
def test_a_telling_agrees_with_the_twin(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    order = random_order(rng, n)
    for inversion in (0.01, float(rng.random()), 1.0):
        told = rng.permutation(n)[: int(rng.integers(n + 1))]
        found = telling_log_prob(told, table_of(order, n), inversion)
        close(found, naive.telling_log_prob(told.tolist(), order, inversion))


@numerical
@pytest.mark.parametrize("seed", range(5))
def test_tellings_one_by_one_agree_with_the_twin(seed):
    rng = np.random.default_rng(seed)
    order = random_order(rng, 6)
    told = [rng.permutation(6)[: int(rng.integers(7))] for _ in range(int(rng.integers(5)))]
    ends = np.cumsum([0, *map(len, told)])
    events = np.concatenate([np.zeros(0, np.int64), *told])
    found = telling_log_probs(events, ends, table_of(order, 6), 0.1)
    close(found, [naive.telling_log_prob(one.tolist(), order, 0.1) for one in told])


@numerical
@pytest.mark.parametrize("order", [set(), {(0, 1)}, {(0, 1), (2, 3)}, {(0, 1), (0, 2), (0, 3)}])
def test_all_orders_of_telling_together_are_certain(order):
    table = table_of(order, 4)
    total = sum(
        np.exp(telling_log_prob(np.array(told), table, 0.2)) for told in permutations(range(4))
    )
    close(total, 1.0)


@numerical
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_pair_is_changed_only_where_an_order_stays_one(n):
    for order in naive.partial_orders(n):
        table = table_of(order, n)
        for a, b in permutations(range(n), 2):
            assert stays_transitive(table, a, b) == naive.is_order(order ^ {(a, b)})


@numerical
@pytest.mark.parametrize("seed", range(10))
def test_larger_orders_too_are_changed_only_where_they_stay_one(seed):
    rng = np.random.default_rng(seed)
    order = random_order(rng, 7)
    table = table_of(order, 7)
    for a, b in permutations(range(7), 2):
        assert stays_transitive(table, a, b) == naive.is_order(order ^ {(a, b)})


def sampling_case(seed, n=3, tellings=4):
    """What the sampler takes, of a posterior that has no sharp peak."""
    rng = np.random.default_rng(seed)
    told = [rng.permutation(n)[: int(rng.integers(2, n + 1))].tolist() for _ in range(tellings)]
    worth = rng.normal(size=(n, n))
    np.fill_diagonal(worth, 0.0)
    return SimpleNamespace(
        n=n,
        told=told,
        worth=worth,
        unlikely=rng.normal(size=(n, n)),
        branching=float(rng.uniform(0, 2)),
        weight=2 * rng.random(tellings),
        inversion=float(rng.uniform(0.05, 0.5)),
        flat=np.array([step for one in told for step in one], dtype=np.int64),
        ends=np.concatenate([[0], np.cumsum([len(one) for one in told])]).astype(np.int64),
    )


def sampled(case, sweeps, seed, start=None):
    order = np.zeros((case.n, case.n), dtype=bool) if start is None else start
    random = np.random.default_rng(seed)
    return sampled_orders(
        order,
        case.worth,
        case.unlikely,
        case.branching,
        case.flat,
        case.ends,
        case.weight,
        case.inversion,
        sweeps,
        random,
    )


def posterior(case):
    return np.array(
        naive.posterior_shares(
            case.worth.tolist(),
            case.unlikely.tolist(),
            case.branching,
            case.told,
            case.weight.tolist(),
            case.inversion,
        )
    )


@pytest.mark.parametrize("seed", range(12))
def test_sampled_shares_agree_with_all_partial_orders(seed):
    # 60,000 steps of a chain that forgets within some dozens: an error of 0.005, and four times it.
    assert len(naive.partial_orders(3)) == 19
    case = sampling_case(seed)
    found = sampled(case, 20_000, seed)
    np.testing.assert_allclose(found, posterior(case), rtol=0, atol=0.02)


def test_sampled_shares_of_four_steps_agree_with_all_partial_orders():
    assert len(naive.partial_orders(4)) == 219
    case = sampling_case(5, n=4)
    np.testing.assert_allclose(sampled(case, 20_000, 5), posterior(case), rtol=0, atol=0.02)


def test_where_sampling_starts_is_forgotten():
    case = sampling_case(1)
    start = table_of({(2, 1), (1, 0), (2, 0)}, 3)
    one, other = sampled(case, 20_000, 1), sampled(case, 20_000, 2, start)
    np.testing.assert_allclose(one, other, rtol=0, atol=0.03)


@numerical
def test_the_sampler_depends_on_its_random_numbers_only():
    case = sampling_case(3)
    one, again, other = (sampled(case, 50, seed) for seed in (1, 1, 2))
    assert one.tobytes() == again.tobytes()
    assert not np.array_equal(one, other)
    assert (one + one.T <= 1 + ATOL).all()
    assert not np.diag(one).any()


@numerical
def test_without_tellings_or_worth_all_orders_are_alike():
    case = sampling_case(0, tellings=0)
    case.worth[:] = case.unlikely[:] = case.branching = 0.0
    expected = naive.posterior_shares(case.worth.tolist(), case.worth.tolist(), 0.0, [], [], 0.1)
    found = sampled(case, 2_000, 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.04)


# Making one order of probabilities

tables = st.integers(1, 5).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.55, 0.6, 0.8, 1.0]), min_size=n, max_size=n),
        min_size=n,
        max_size=n,
    )
)


@given(tables)
def test_likely_relations_make_one_order(raw):
    probability = np.array(raw)
    np.fill_diagonal(probability, 0.0)
    found = naive.pairs_of(precedence._consistent(probability - 0.5))
    likely = {(a, b) for a, b in np.argwhere(probability > 0.5).tolist()}
    assert naive.is_order(found)
    assert found <= naive.closure(likely)
    if naive.is_order(likely):
        assert found == likely
    if likely:
        assert max(likely, key=lambda pair: (probability[pair], -pair[0], -pair[1])) in found


def test_the_likeliest_relation_of_a_cycle_wins():
    probability = np.array([[0, 0.9, 0], [0, 0, 0.8], [0.7, 0, 0]])
    assert naive.pairs_of(precedence._consistent(probability - 0.5)) == {(0, 1)}


def test_a_relation_is_left_out_if_what_follows_from_it_loses():
    gain = np.array([[0, 0.4, -0.1], [-0.5, 0, 0.3], [0.2, -0.5, 0]])
    assert naive.pairs_of(precedence._consistent(gain)) == {(0, 1), (1, 2), (0, 2)}
    gain[0, 2] = -0.35
    assert naive.pairs_of(precedence._consistent(gain)) == {(0, 1)}


def test_no_order_is_learned_against_its_own_evidence():
    """Three steps in a row, of which the first and the last come mostly the other way round."""
    tellings = [[0, 1], [1, 2], [0, 1], [1, 2]] * 5 + [[2, 0]] * 17 + [[0, 2]] * 5
    order = precedence.learn_precedence(tellings, 3).order
    assert not order[0, 2]


@pytest.mark.parametrize("seed", range(20))
def test_what_stands_directly_before_agrees_with_the_twin(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    order = random_order(rng, n)
    assert naive.pairs_of(covers(table_of(order, n))) == naive.reduction(order)


# What is learned


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("noise", NOISE)
def test_orders_are_found_in_tellings_that_leave_out_and_mix_up(shape, noise):
    n, order = SHAPES[shape]
    found = [
        naive.pairs_of(learn_precedence(random_tellings(seed, 80, shape, **NOISE[noise]), n).order)
        for seed in range(5)
    ]
    assert all(naive.is_order(one) for one in found)
    wrong = [len(one ^ order) for one in found]
    assert sum(number == 0 for number in wrong) >= 4
    assert max(wrong) <= 1


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("length", [2, 4])
def test_parallel_threads_are_found(length, noise):
    # The start of a thread mostly comes before the end of another one, and then may be said to.
    n = 2 * length
    threads = {(a, b) for a in range(n) for b in range(a + 1, n) if a // length == b // length}
    rng = np.random.default_rng(0)
    runs = [naive.done_at_random(rng, n, threads) for _ in range(1_000)]
    exact = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        done = [naive.done_at_random(rng, n, threads) for _ in range(100)]
        told = [naive.told_at_random(rng, one, **NOISE[noise]) for one in done]
        found = naive.pairs_of(learn_precedence(told, n).order)
        assert threads <= found
        added = found - threads
        exact += not added
        assert len(added) <= n * n / 8
        for a, b in added:
            assert np.mean([one.index(a) < one.index(b) for one in runs]) > 0.65
    assert length > 2 or exact >= 3


def test_stages_of_free_steps_are_found_in_twenty_tellings():
    truth = [[a // 3 < b // 3 for b in range(9)] for a in range(9)]

    def wrong(count, seed):
        random = np.random.default_rng(seed)
        whole = [
            [3 * stage + k for stage in range(3) for k in random.permutation(3)]
            for _ in range(count)
        ]
        told = [[step for step in one if random.random() >= 0.3] for one in whole]
        order = learn_precedence(told, 9).order
        return sum(
            (order[a, b], order[b, a]) != (truth[a][b], truth[b][a])
            for a in range(9)
            for b in range(a + 1, 9)
        )

    few, many = (np.mean([wrong(count, seed) for seed in range(20)]) for count in (8, 20))
    assert 3 < few < 6
    assert many < 1.5


def test_rates_of_inversions_are_found():
    clean = learn_precedence(random_tellings(0, 100, "chain", omitted=0.3), 8)
    careless = learn_precedence(random_tellings(0, 100, "chain", omitted=0.3, inversions=0.1), 8)
    messy = learn_precedence(random_tellings(0, 100, "chain", omitted=0.3, misplaced=0.08), 8)
    assert clean.near_inversion < 0.02
    assert 0.05 < careless.near_inversion < 0.15
    assert careless.far_inversion < careless.near_inversion
    assert clean.misplaced < 0.01
    assert messy.misplaced > 3 * clean.misplaced
    assert messy.misplaced > careless.misplaced


def test_steps_that_are_alike_follow_each_other_only_on_good_evidence():
    told, alike = [[0, 1, 2]] * 2, same_beginnings(["add salt", "add pepper", "stir"])
    every = {(0, 1), (0, 2), (1, 2)}
    assert naive.pairs_of(learn_precedence(told, 3).order) == every
    assert naive.pairs_of(learn_precedence(told, 3, alike=alike).order) == every - {(0, 1)}
    assert naive.pairs_of(learn_precedence(told * 10, 3, alike=alike).order) == every
    none = np.zeros((3, 3), bool)
    assert same(learn_precedence(told, 3), learn_precedence(told, 3, alike=none))


def test_names_may_begin_with_the_same_word():
    names = ["add salt", "ADD_pepper", "1) add oil", "adding", "", "7", "Öl", "öl dazu"]
    found = naive.pairs_of(same_beginnings(names))
    assert found == {*permutations((0, 1, 2), 2), (6, 7), (7, 6)}
    assert same_beginnings([]).shape == (0, 0)


def test_the_same_seed_gives_the_same_to_the_last_bit():
    told = random_tellings(3, 20, omitted=0.4, inversions=0.1)
    one, again = learn_precedence(told, 9), learn_precedence(told, 9)
    assert same(one, again)
    assert same(one, learn_precedence(told, 9, random_state=0))
    assert not same(one, learn_precedence(told, 9, random_state=1))


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_tellings_does_not_matter(seed):
    told = random_tellings(seed, 15, omitted=0.4, inversions=0.1)
    shuffled = [told[i] for i in np.random.default_rng(seed).permutation(len(told))]
    assert same(learn_precedence(told, 9), learn_precedence(shuffled, 9))


@pytest.mark.parametrize("shape", SHAPES)
def test_numbers_of_steps_do_not_matter(shape):
    # The rates are the same but for rounding, shares as near as samples are, and so is the order,
    # where the shares are not about even.
    n = SHAPES[shape][0]
    for seed in range(5):
        told = random_tellings(seed, 60, shape, omitted=0.3, inversions=0.03)
        new = np.random.default_rng(seed).permutation(n)
        one = learn_precedence(told, n)
        other = learn_precedence([[int(new[step]) for step in steps] for steps in told], n)
        back = np.ix_(new, new)
        for name in ("near_inversion", "far_inversion", "misplaced"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-6)
        np.testing.assert_allclose(one.probability, other.probability[back], rtol=0, atol=0.35)
        sure = np.abs(one.probability - 0.5) > 0.35
        assert np.array_equal(one.order[sure], other.order[back][sure])


def test_only_first_mentions_count():
    told = random_tellings(0, 12, omitted=0.2)
    again = [[*steps, *steps[:2], steps[0]] for steps in told if len(steps) > 2]
    assert same(learn_precedence(again, 9), learn_precedence([t for t in told if len(t) > 2], 9))


def test_tellings_of_one_step_say_nothing():
    told = random_tellings(0, 12, omitted=0.2)
    assert same(learn_precedence(told, 9), learn_precedence([*told, [], [4], [3, 3]], 9))


# What is looked at


def test_equal_tellings_are_looked_at_once_with_their_weight():
    told, weight, _ = precedence._different([[0, 1], [2, 1, 0], [0, 1], [0, 1, 0], [2]], 10)
    assert told == [(0, 1), (2, 1, 0)]
    assert weight.tolist() == [3.0, 1.0]


def test_steps_alike_are_ordered_by_as_many_tellings_however_many_there_are():
    alike = same_beginnings(["add salt", "add pepper", "stir"])
    for others in (5, 25, 100):  # which say nothing of the two
        told = [[0, 2], [1, 2]] * others
        assert learn_precedence([[0, 1]] * 12 + told, 3, alike=alike).order[0, 1]
        assert not learn_precedence([[0, 1], *told], 3, alike=alike).order[0, 1]


def test_evidence_counts_as_that_of_some_tellings_at_most():
    told = random_tellings(0, 20, omitted=0.3, inversions=0.05)
    few = precedence._different(told, 300)[1]
    assert few.sum() == len(told) < MOST_EVIDENCE
    for times in (2, 3, 50):
        different, weight, _ = precedence._different(told * times, 300)
        close(weight.sum(), min(MOST_EVIDENCE, times * len(told)))
        close(weight, few * weight.sum() / few.sum())
        assert different == precedence._different(told, 300)[0]
    one, other = learn_precedence(told * 2, 9), learn_precedence(told * 64, 9)
    assert np.array_equal(one.order, other.order)
    np.testing.assert_allclose(one.probability, other.probability, rtol=0, atol=1e-9)


def test_a_rare_exception_does_not_undo_an_order_however_many_tellings_there_are():
    told = [[0, 1]] * 980 + [[1, 0]] * 20
    assert naive.pairs_of(learn_precedence(told, 2).order) == {(0, 1)}
    assert not learn_precedence([[0, 1]] * 700 + [[1, 0]] * 300, 2).order.any()


def test_only_the_most_frequent_tellings_are_looked_at():
    rng = np.random.default_rng(0)
    rare = [rng.permutation(9).tolist() for _ in range(MOST_TELLINGS + 200)]
    often = [[0, 1, 2]] * 5
    told, weight, _ = precedence._different(rare + often, MOST_TELLINGS)
    assert len(told) == MOST_TELLINGS
    assert told[0] == (0, 1, 2)
    assert weight[0] > weight[1] >= weight[-1]
    close(weight.sum(), MOST_EVIDENCE)


def test_where_there_are_many_steps_fewer_tellings_are_looked_at(monkeypatch):
    asked = []
    different = precedence._different

    def seen(tellings, most, often=None):
        asked.append(most)
        return different(tellings, most, often)

    monkeypatch.setattr(precedence, "_different", seen)
    monkeypatch.setattr(precedence, "MOST_CELLS", 1_000)
    learn_precedence([[0, 1]], 2)
    learn_precedence([[0, 1]], 20)
    learn_precedence([[0, 1]], 100)
    assert asked == [251, 3, 1]


def test_the_sampler_works_within_its_means():
    assert precedence._sweeps([(0, 1, 2)]) == SWEEPS[1]
    assert precedence._sweeps([tuple(range(60))] * 300) == 0
    for length in range(2, 80):
        told = [tuple(range(length))] * 300
        sweeps = precedence._sweeps(told)
        assert sweeps == 0 or SWEEPS[0] <= sweeps <= SWEEPS[1]
        assert sweeps * sum(len(one) ** 4 for one in told) <= precedence.MOST_WORK


@pytest.mark.parametrize("work", [precedence.MOST_WORK, 0.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_probabilities_are_valid_with_the_sampler_and_without(shape, work, monkeypatch):
    monkeypatch.setattr(precedence, "MOST_WORK", work)
    n, order = SHAPES[shape]
    for seed, count in ((0, 1), (1, 3), (2, 60)):
        told = random_tellings(seed, count, shape, omitted=0.3)
        found = learn_precedence(told, n)
        assert naive.is_order(naive.pairs_of(found.order))
        assert (found.probability >= 0).all()
        assert not np.diag(found.probability).any()
        assert (found.probability + found.probability.T <= 1 + ATOL).all()
    assert len(naive.pairs_of(found.order) ^ order) <= 2


def test_many_long_tellings():
    rng = np.random.default_rng(0)
    told = []
    for _ in range(500):
        steps = np.sort(rng.choice(40, 30, replace=False))
        told.append(steps[np.argsort(steps + rng.normal(0, 1.0, len(steps)))].tolist())
    found = learn_precedence(told, 40).order
    assert naive.is_order(naive.pairs_of(found))
    far = np.subtract.outer(np.arange(40), np.arange(40)) <= -5
    assert found[far].all()
    assert not found.T[far].any()


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
@pytest.mark.parametrize("told", [[], [[]], [[], [0], [0, 0]]])
def test_where_nothing_says_anything_nothing_is_ordered(steps, told):
    found = learn_precedence(told, steps)
    assert found.order.shape == found.probability.shape == (steps, steps)
    assert found.order.dtype == bool
    assert not found.order.any()
    assert not found.probability.any()
    assert found.covers.shape == (steps, steps)


@pytest.mark.parametrize("seed", range(3))
def test_steps_that_are_never_told_together_are_ordered_only_by_others(seed):
    def order(told, steps):
        return naive.pairs_of(learn_precedence(told, steps, random_state=seed).order)

    assert order([[0, 1]] * 20, 4) == {(0, 1)}
    assert order([[0, 1]] * 20 + [[2, 3]] * 20, 4) == {(0, 1), (2, 3)}
    assert order([[0, 1]] * 20 + [[1, 2]] * 20, 3) == {(0, 1), (1, 2), (0, 2)}


tellings = st.lists(st.lists(st.integers(0, 4), max_size=7), max_size=8)


@given(tellings)
@settings(max_examples=40)
def test_whatever_is_told_the_result_is_an_order(told):
    found = learn_precedence(told, 5)
    assert naive.is_order(naive.pairs_of(found.order))
    assert naive.pairs_of(found.covers) == naive.reduction(naive.pairs_of(found.order))
    assert ((found.probability >= 0) & (found.probability <= 1)).all()
    for rate in (found.near_inversion, found.far_inversion, found.misplaced):
        assert 0 <= rate < 1
    assert same(found, learn_precedence(told[::-1], 5))
