"""Learning a telling model: counts and loss against their twins, and what comes of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision as el
import naive_telling as naive
from elision.files.script import dumps
from elision.kernels import tellings
from elision.learn import _telling_counts, missing, telling
from elision.learn._beginnings import grow
from elision.learn._telling_counts import count, find_histories, history_rows
from elision.learn.missing import hide, learn_missing
from elision.learn.telling import agreement, learn_telling, shared_words
from elision.values.telling import TellingModel
from models import ATOL, RTOL

numerical = pytest.mark.numerical
NAMES = ["open(door)", "close(door)", "ring", "ring the_bell"]
NOTHING = np.empty(0, np.int64)


@pytest.fixture(autouse=True, scope="module")
def settings():
    """The twin has the settings of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(naive, "LONGEST_HISTORY", tellings.LONGEST_HISTORY)
        patch.setattr(naive, "LEAST_TOLD", _telling_counts.LEAST_TOLD)
        for name in ("COMMON", "PAIR", "AGO", "PLACE", "SET", "NEARNESS", "WIDTH", "PLACES"):
            patch.setattr(naive, name, getattr(_telling_counts, name))
        for name in ("FADE", "PRIOR_WEIGHTS", "WEIGHT_SPREAD", "TABLE_SPREAD"):
            patch.setattr(naive, name, getattr(telling, name))
        yield


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=RTOL, atol=ATOL)


def random_narratives(seed, number=14, size=4):
    """Narratives with loops, with nothing told, alike, and in one of several orders."""
    rng = np.random.default_rng(seed)
    narratives = []
    for _ in range(number):
        length = int(rng.integers(0, 6))
        if rng.random() < 0.5:
            narratives.append(tuple(range(min(length, size))))
        else:
            narratives.append(tuple(rng.integers(size, size=length).tolist()))
    folds = rng.integers(3, size=number).tolist()
    folds[:3] = [0, 1, 2]
    return narratives, folds


def without_fold(narratives, folds, fold):
    return [one for one, number in zip(narratives, folds, strict=True) if number != fold]


def weights_without(tree, fold):
    return np.where(tree.fold[tree.after] == fold, 0.0, tree.weight)


def path_of(tree, node):
    """The events that a node of the tree stands for."""
    events = []
    while tree.parent[node] != node:
        events.append(int(tree.event[node]))
        node = tree.parent[node]
    return tuple(reversed(events))


def history_of(histories, node, symbols):
    """The symbols of a node of the suffix tree, latest first."""
    found = []
    while node:
        found.append(int(histories.keys[node - 1]) % symbols)
        node = int(histories.keys[node - 1]) // symbols
    return tuple(reversed(found))


def learned(narratives, names=NAMES, **options):
    return learn_telling(narratives, names, **options)


def captured(monkeypatch, narratives, folds, *, answer=None, without=(), names=NAMES):
    """The problem that a chain is learned by, and the chain that an answer to it makes."""
    problems = []

    def solve(problem):
        problems.append(problem)
        return problem._taken_apart(np.zeros(len(problem._precision))) if answer is None else answer

    monkeypatch.setattr(telling._Problem, "solve", solve)
    chain = telling._learn_chain(narratives, folds, shared_words(names), without)
    (problem,) = problems
    return problem, chain


def random_point(rng, size, without=()):
    names = [name for name in naive.FEATURES if name not in without]
    weights = rng.normal(size=len(names))
    return names, weights, rng.normal(size=(size + 1, size + 1)), rng.normal(size=(size, size + 1))


# Beginnings


@numerical
@pytest.mark.parametrize("seed", range(10))
def test_the_trees_hold_every_beginning(seed):
    narratives, folds = random_narratives(seed)
    tree = grow(narratives, folds, 4)
    expected = {}
    for narrative, fold in zip(narratives, folds, strict=True):
        for told, following in naive.beginnings(narrative, 4):
            key = fold, told, following
            expected[key] = expected.get(key, 0) + 1
    found = {
        (int(tree.fold[node]), path_of(tree, node), int(following)): weight
        for node, following, weight in zip(tree.after, tree.following, tree.weight, strict=True)
    }
    assert found == expected
    for node in range(tree.nodes):
        told = path_of(tree, node)
        assert tree.length[node] == len(told)
        assert tree.event[node] == (told[-1] if told else 4)
        assert np.flatnonzero(tree.told[node]).tolist() == sorted(set(told))
        here = slice(tree.follows_first[node], tree.follows_first[node + 1])
        assert (tree.after[here] == node).all()
        assert tree.parent[node] <= node
    assert tree.follows_first[-1] == len(tree.following)


# Counts


@numerical
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("left_out", [None, 0, 1, 2])
def test_counts_agree_with_the_twin(seed, left_out):
    narratives, folds = random_narratives(seed)
    tree = grow(narratives, folds, 4)
    found = count(tree, weights_without(tree, left_out))
    expected = naive.counts(without_fold(narratives, folds, left_out), 4)
    for name in naive.Counts._fields:
        close(getattr(found, name), getattr(expected, name))


@numerical
def test_counts_of_far_places_agree_with_the_twin():
    narratives = [tuple([0, 1] * 30), (1, 0), tuple([1] * 55)]
    tree = grow(narratives, [0, 0, 1], 2)
    for left_out in (None, 0, 1):
        found = count(tree, weights_without(tree, left_out))
        expected = naive.counts(without_fold(narratives, [0, 0, 1], left_out), 2)
        for name in naive.Counts._fields:
            close(getattr(found, name), getattr(expected, name))


@numerical
@pytest.mark.parametrize("seed", range(6))
def test_counted_log_probabilities_sum_to_one(seed):
    narratives, folds = random_narratives(seed)
    tree = grow(narratives, folds, 4)
    found = count(tree, weights_without(tree, seed % 3))
    for table in (found.common[None], found.pair, found.place, found.ago + found.common):
        close(np.exp(table).sum(axis=1), 1.0)


@numerical
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("size", [1, 2, 4])
def test_kept_histories_agree_with_the_twin(seed, size):
    narratives, folds = random_narratives(seed, number=25, size=size)
    tree = grow(narratives, folds, size)
    histories = find_histories(tree)
    kept = naive.kept_histories(narratives, size)
    nodes = range(1, len(histories.keys) + 1)
    found = [history_of(histories, node, size + 1) for node in nodes]
    assert len(set(found)) == len(found)
    assert set(found) == kept
    assert (np.diff(histories.keys) > 0).all()
    assert [len(one) == 1 for one in found] == [k < histories.singles for k in range(len(found))]
    assert histories.parent.tolist() == [key // (size + 1) for key in histories.keys.tolist()]
    for node in range(tree.nodes):
        longest = naive.longest_kept(kept, path_of(tree, node), size)
        assert history_of(histories, int(histories.of_beginning[node]), size + 1) == longest


@numerical
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("left_out", [None, 0, 2])
def test_rows_of_histories_agree_with_the_twin(seed, left_out):
    narratives, folds = random_narratives(seed, number=30, size=3)
    tree = grow(narratives, folds, 3)
    histories = find_histories(tree)
    weight = weights_without(tree, left_out)
    pair = count(tree, weight).pair
    rows = history_rows(tree, histories, weight, pair)
    counted = without_fold(narratives, folds, left_out)
    kept = naive.kept_histories(narratives, 3)
    expected = naive.history_rows(counted, 3, naive.counts(counted, 3).pair, kept)
    assert len(rows) == len(expected) > 0
    assert max(map(len, expected)) > 2
    for row, values in enumerate(rows):
        close(values, expected[history_of(histories, histories.singles + row + 1, 4)])


@numerical
@pytest.mark.parametrize("cells", [0, 12, 40])
def test_histories_are_cut_where_there_are_too_many(cells, monkeypatch):
    narratives, folds = random_narratives(1, number=40, size=3)
    monkeypatch.setattr(_telling_counts, "MOST_CELLS", cells)
    tree = grow(narratives, folds, 3)
    histories = find_histories(tree)
    assert (len(histories.keys) - histories.singles) * 4 <= cells
    weight = tree.weight
    rows = history_rows(tree, histories, weight, count(tree, weight).pair)
    assert rows.shape == (len(histories.keys) - histories.singles, 4)
    assert np.isfinite(rows).all()


# Loss


@numerical
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("without", [(), ("pair", "sum", "history"), ("common", "again", "ago")])
def test_the_loss_agrees_with_the_twin(seed, without, monkeypatch):
    narratives, folds = random_narratives(seed)
    problem, _ = captured(monkeypatch, narratives, folds, without=without)
    names, weights, after, memory = random_point(np.random.default_rng(seed), 4, without)
    loss, _ = problem._loss(np.concatenate([weights, after.ravel(), memory.ravel()]))
    by_name = dict(zip(names, weights.tolist(), strict=True))
    close(loss, naive.loss(narratives, folds, NAMES, by_name, after, memory))


@numerical
def test_the_loss_of_one_fold_agrees_with_the_twin(monkeypatch):
    narratives, _ = random_narratives(3)
    folds = [0] * len(narratives)
    problem, _ = captured(monkeypatch, narratives, folds)
    names, weights, after, memory = random_point(np.random.default_rng(3), 4)
    loss, _ = problem._loss(np.concatenate([weights, after.ravel(), memory.ravel()]))
    by_name = dict(zip(names, weights.tolist(), strict=True))
    close(loss, naive.loss(narratives, folds, NAMES, by_name, after, memory))


@numerical
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("without", [(), ("place", "average", "twice")])
def test_the_slope_of_the_loss_agrees_with_differences(seed, without, monkeypatch):
    narratives, folds = random_narratives(seed)
    problem, _ = captured(monkeypatch, narratives, folds, without=without)
    point = 0.5 * np.random.default_rng(seed).normal(size=len(problem._precision))
    _, slope = problem._loss(point)
    step = 1e-5
    differences = np.empty_like(point)
    for k in range(len(point)):
        there, back = point.copy(), point.copy()
        there[k] += step
        back[k] -= step
        differences[k] = (problem._loss(there)[0] - problem._loss(back)[0]) / (2 * step)
    np.testing.assert_allclose(slope, differences, rtol=1e-6, atol=1e-6)


@numerical
def test_the_loss_is_the_same_whatever_was_asked_before(monkeypatch):
    narratives, folds = random_narratives(5)
    problem, _ = captured(monkeypatch, narratives, folds)
    rng = np.random.default_rng(5)
    point = rng.normal(size=len(problem._precision))
    loss, slope = problem._loss(point)
    problem._loss(rng.normal(size=len(point)))
    again, same_slope = problem._loss(point)
    assert loss == again
    assert slope.tobytes() == same_slope.tobytes()


def test_the_solution_is_a_minimum():
    narratives, folds = random_narratives(2, number=30)
    kept = []

    class Watched(telling._Problem):
        def solve(self):
            kept.append((self, super().solve()))
            return kept[0][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(telling, "_Problem", Watched)
        telling._learn_chain(narratives, folds, shared_words(NAMES), ())
    ((problem, answer),) = kept
    point = np.concatenate([part.ravel() for part in answer])
    loss, slope = problem._loss(point)
    start = np.zeros(len(point))
    start[: len(problem._prior)] = problem._prior
    assert loss < problem._loss(start)[0]
    assert np.abs(slope).max() < 0.05
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert problem._loss(point + 0.1 * rng.normal(size=len(point)))[0] > loss


@numerical
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("without", [(), ("history", "average"), ("words", "place")])
def test_a_chain_holds_what_the_weights_say(seed, without, monkeypatch):
    narratives, folds = random_narratives(seed, number=25)
    names, weights, after, memory = random_point(np.random.default_rng(seed), 4, without)
    _, chain = captured(
        monkeypatch, narratives, folds, answer=(weights, after, memory), without=without
    )
    model = TellingModel(NAMES, chain)
    parts = naive.counted(narratives, narratives, 4)
    by_name = dict(zip(names, weights.tolist(), strict=True))
    for told in [(), (0,), (1, 1, 1), (0, 1, 2, 3), (0, 1, 2, 3, 0, 2, 2), *narratives[:4]]:
        logits = naive.learned_logits(told, parts, shared_words(NAMES), by_name, after, memory)
        found = model.next_log_probs(np.array(told, np.int64))
        expected = naive.log_softmax(logits)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)  # 32-bit tables


@numerical
def test_a_set_that_is_only_averaged_is_kept_too(monkeypatch):
    narratives, folds = random_narratives(4, number=25)
    rng = np.random.default_rng(4)
    names, weights, after, memory = random_point(rng, 4, ("sum",))
    answer = weights, after, memory
    _, chain = captured(monkeypatch, narratives, folds, answer=answer, without=("sum",))
    parts = naive.counted(narratives, narratives, 4)
    by_name = dict(zip(names, weights.tolist(), strict=True))
    told = (0, 1, 3)
    logits = naive.learned_logits(told, parts, shared_words(NAMES), by_name, after, memory)
    found = TellingModel(NAMES, chain).next_log_probs(np.array(told))
    np.testing.assert_allclose(found, naive.log_softmax(logits), rtol=1e-4, atol=1e-4)


# Names


@numerical
@pytest.mark.parametrize(
    "names",
    [
        NAMES,
        ["a"],
        [],
        ["a b c", "b", "C_a", "", "—", "ä ö", "b b b"],
    ],
)
def test_shared_words_agree_with_the_twin(names):
    found = shared_words(names)
    assert found.shape == (len(names), len(names))
    close(found, naive.shared_words(names))


# What is learned


def sampled(number, seed):
    script = el.examples.doorbell()
    numbers = {event: o for o, event in enumerate(script.events)}
    tellings = script.sample(number, random_state=seed)
    return [tuple(numbers[event] for event in one) for one in tellings], script.events


def mean_log_prob(model, narratives):
    return float(model.log_probs([np.array(one, np.int64) for one in narratives]).mean())


def counted_log_prob(narratives, held_out, size, last):
    """Mean log-probability by single symbols, or by pairs, with pseudocounts."""
    often = {}
    for told, following in naive.all_beginnings(narratives, size):
        key = last(told), following
        often[key] = often.get(key, 0) + 1
    result = 0.0
    for told, following in naive.all_beginnings(held_out, size):
        total = sum(often.get((last(told), e), 0) + 0.5 for e in range(size + 1))
        result += math.log((often.get((last(told), following), 0) + 0.5) / total)
    return result / len(held_out)


def test_a_learned_model_predicts_better_than_single_events_and_pairs():
    narratives, names = sampled(150, 1)
    held_out, _ = sampled(150, 2)
    model = learn_telling(narratives, names)
    found = mean_log_prob(model, held_out)
    size = len(names)
    assert found > counted_log_prob(narratives, held_out, size, lambda told: None) + 1.0
    assert found > counted_log_prob(narratives, held_out, size, lambda told: told[-1:])
    best = el.examples.doorbell().log_probs([[names[e] for e in one] for one in held_out]).mean()
    assert found < best
    assert found > best - 1.0


def test_more_tellings_teach_more():
    held_out, names = sampled(150, 2)
    few, many = (learn_telling(sampled(n, 1)[0], names, backward=False) for n in (10, 150))
    assert mean_log_prob(many, held_out) > mean_log_prob(few, held_out)


def test_the_direction_is_learned_from_reversed_tellings():
    narratives, names = sampled(30, 3)
    both = learn_telling(narratives, names)
    turned = learn_telling([one[::-1] for one in narratives], names)
    assert both.backward == turned.forward
    assert both.forward == turned.backward
    assert learn_telling(narratives, names, backward=False) == TellingModel(names, both.forward)


def bytes_of(model):
    """Every number of a model."""
    return [
        np.asarray(getattr(chain, name)).tobytes()
        for chain in (model.forward, model.backward)
        for name in naive.Chain._fields
    ]


def test_same_seed_same_bytes_whatever_the_threads():
    narratives, names = sampled(40, 5)
    results = []
    try:
        for threads in (1, 2, 2):
            el.set_threads(threads)
            results.append(bytes_of(learn_telling(narratives, names, random_state=3)))
    finally:
        el.set_threads(None)
    assert results[0] == results[1] == results[2]
    assert bytes_of(learn_telling(narratives, names, random_state=4)) != results[0]


def test_the_learner_makes_the_same_file_whatever_the_threads():
    tellings = el.examples.doorbell_tellings()
    files = []
    try:
        for threads in (1, 2):
            el.set_threads(threads)
            files.append(dumps(el.ScriptLearner(random_state=1).fit(tellings).script_))
    finally:
        el.set_threads(None)
    assert files[0] == files[1]


def test_the_learner_keeps_a_telling_model_of_its_events(tmp_path):
    tellings = el.examples.doorbell_tellings()
    script = (
        el.ScriptLearner(events=[*el.examples.doorbell().events, "sneeze"]).fit(tellings).script_
    )
    model = script.telling
    assert model.events == script.events
    assert "sneeze" in model.events
    assert model.backward is not None
    assert np.isfinite(model.missing).all()
    script.save(tmp_path / "script.json")
    found = el.load(tmp_path / "script.json")
    assert found == script
    told = np.array([0, 3, 1])
    assert found.telling.insertions(told).tobytes() == model.insertions(told).tobytes()


def test_what_was_heard_counts_as_far_as_it_agrees():
    told = [(0, 1, 2), (0, 2), (1, 2), (0, 1, 2), (0, 1)] * 3
    names = NAMES
    bytes_told = bytes_of(learn_telling(told, names))
    assert bytes_of(learn_telling(told, names, heard=told)) == bytes_told
    strange = [(3,) * len(one) for one in told]
    assert bytes_of(learn_telling(told, names, heard=strange)) == bytes_told
    half = [(one[0], *(3 for _ in one[1:])) for one in told]
    assert agreement(told, half) == pytest.approx(15 / 36)
    mixed = learn_telling(told, names, heard=half)
    rare, common = (
        np.exp(model.step_log_probs([np.array([0, 3])])[0][1])
        for model in (learn_telling(told, names), mixed)
    )
    assert rare < 0.1 < common


def test_the_script_is_of_what_was_told():
    told = [list(one) for one in el.examples.doorbell_tellings()]
    heard = [[event for event in one if event != "hear doorbell"] for one in told]
    both = el.ScriptLearner().fit(told, heard=heard).script_
    plain = el.ScriptLearner().fit(told).script_
    assert both.outline().steps == plain.outline().steps
    assert both.fill([None, "open door"])[0].answers != plain.fill([None, "open door"])[0].answers


def test_what_was_heard_goes_with_what_was_told():
    told = [["ring", "open"]] * 5
    with pytest.raises(el.InputError, match="1 narratives heard, expected 5"):
        el.ScriptLearner().fit(told, heard=[["ring"]])
    odd = el.ScriptLearner().fit(told, heard=[["ring", "sing"], *told[1:]]).script_
    assert "sing" in odd.events


def test_narratives_may_be_heard_as_what_each_event_may_be():
    told = [list(one) for one in el.examples.doorbell_tellings()]
    vague = [[{event: 0.6, "hear doorbell": 0.2} for event in one] for one in told]
    plain = el.ScriptLearner().fit(told, heard=told).script_
    soft = el.ScriptLearner().fit(told, heard=vague).script_
    assert soft.outline() == plain.outline()
    assert soft.telling.forward == plain.telling.forward
    odd = [one.telling.calibration.oddness.tolist() for one in (soft, plain)]
    assert odd[0] != odd[1]
    sure = [[{event: 1.0} for event in one] for one in told]
    same = el.ScriptLearner().fit(told, heard=sure).script_
    assert same == plain
    for wrong, problem in (
        ([[{"ring": -1.0}]], "ring"),
        ([[{}]], "narrative 0, event 0"),
        ([[{"ring": 0.5}, 3]], "narrative 0, event 1"),
    ):
        with pytest.raises(el.InputError, match=problem) as caught:
            el.ScriptLearner().fit([["ring"]], heard=wrong)
        assert "\n" not in str(caught.value)


def test_without_events_the_learner_does_without():
    assert el.ScriptLearner().fit([[], []]).script_.telling is None


EDGES = {
    "no narratives": ([], 2),
    "one narrative": ([(0, 1, 2)], 3),
    "one event": ([(0,)], 1),
    "one event among others": ([(1,)], 3),
    "one empty narrative": ([()], 2),
    "only empty narratives": ([(), (), (), (), ()], 2),
    "empty narratives among others": ([(), (0, 1), (), (1, 0), (), ()], 2),
    "a single event type": ([(0, 0), (0,), (0, 0, 0), ()], 1),
    "loops": ([(0, 0, 0, 1, 0)] * 7 + [(1, 1, 0, 0)] * 2, 2),
    "all alike": ([(0, 1, 2)] * 12, 3),
    "more events than told": ([(0, 1), (1, 0), (0,)], 6),
    "two narratives": ([(0, 1), (2,)], 3),
    "longer than the places": ([tuple([0, 1, 2] * 25), (0, 1), (2,)], 3),
}


@pytest.mark.parametrize("backward", [True, False])
@pytest.mark.parametrize("case", EDGES)
def test_everything_is_finite_at_the_edges(case, backward):
    narratives, size = EDGES[case]
    names = NAMES[:size] + ["another", "one more"][: max(0, size - len(NAMES))]
    model = learn_telling(narratives, names, backward=backward)
    for told in [NOTHING, np.zeros(1, np.int64), np.arange(size), np.array([0, 0, size - 1, 0])]:
        assert np.isfinite(model.insertions(told)).all()
        assert np.isfinite(model.worths([told])).all()
        close(np.exp(model.next_log_probs(told)).sum(), 1.0)


@given(st.lists(st.lists(st.integers(0, 2), max_size=5), max_size=7), st.integers(0, 99))
def test_any_narratives_can_be_learned_from(narratives, seed):
    model = learn_telling(narratives, NAMES[:3], random_state=seed)
    for one in narratives[:3]:
        told = np.array(one, np.int64)
        assert np.isfinite(model.insertions(told)).all()
        close(np.exp(model.next_log_probs(told)).sum(), 1.0)


@pytest.mark.parametrize("without", [*([name] for name in naive.FEATURES), naive.FEATURES])
def test_each_feature_can_be_left_out(without):
    narratives, names = sampled(30, 6)
    model = learn_telling(narratives, names, without=without, backward=False)
    close(np.exp(model.next_log_probs(np.array([0, 3]))).sum(), 1.0)
    if "history" in without:
        assert len(model.forward.history) == 0
    if "place" in without:
        assert not model.forward.place.any()
    if "again" in without:
        assert model.forward.again == 0.0


def test_what_often_follows_is_expected():
    model = learned([(0, 2, 1)] * 20 + [(0, 1)] * 5)
    assert model.next_log_probs(np.array([0])).argmax() == 2
    assert model.next_log_probs(np.array([0, 2])).argmax() == 1
    assert model.next_log_probs(np.array([0, 2, 1])).argmax() == 4
    place, event = np.unravel_index(model.insertions(np.array([0, 1])).argmax(), (3, 4))
    assert (place, event) == (1, 2)


# What is missing


@numerical
@given(st.lists(st.integers(0, 3), max_size=10), st.integers(0, 2**32 - 1))
def test_hidden_events_and_told_ones_are_the_narrative(events, seed):
    narrative = np.array(events, np.int64)
    told, hidden = hide(narrative, 4, np.random.default_rng(seed), share=0.4)
    gone = np.random.default_rng(seed).random(len(narrative)) < 0.4
    expected = np.zeros((len(told) + 1, 4), bool)
    place = 0
    for event, away in zip(events, gone, strict=True):
        if away:
            expected[place, event] = True
        else:
            assert told[place] == event
            place += 1
    assert place == len(told)
    assert np.array_equal(hidden, expected)


@numerical
def test_the_regression_is_at_its_best():
    rng = np.random.default_rng(0)
    values = np.column_stack([np.ones(60), rng.normal(size=(60, 2))])
    truth = rng.random(60) < 0.3
    lowered = -rng.exponential(size=60)
    found = missing._regression(values, truth, np.zeros(3), lowered)

    def loss(weights):
        signs = np.where(truth, 1.0, -1.0)
        likelihood = np.log1p(np.exp(-signs * (values @ weights + lowered))).sum()
        return likelihood + 0.5 * ((weights - np.array(missing.PRIOR)) ** 2).sum()

    for change in 1e-3 * rng.normal(size=(30, 3)):
        assert loss(found + change) > loss(found)


def test_what_is_missing_is_as_probable_as_is_said():
    """An obligatory step may be missing at any of several places: each alone is nearly certain.

    They share one probability in what is said, so that is what must be learned from hidden events.
    """
    rng = np.random.default_rng(1)

    def telling():
        return [0, 1, *rng.permutation([2, 3, 4, 5]).tolist(), 6, 7]

    names = list("abcdefgh")
    learner = el.ScriptLearner().fit([[names[k] for k in telling()] for _ in range(200)])
    said, true = [], []
    for _ in range(150):
        told, gone = hide(np.array(telling()), len(names), rng)
        if len(told):
            said.append(learner.predict_hidden([[names[k] for k in told]])[0].ravel())
            true.append(gone.ravel())
    stated, found = np.concatenate(said), np.concatenate(true)
    assert stated.sum() == pytest.approx(found.sum(), rel=0.1)
    bins = np.minimum(stated * 10, 9).astype(int)
    worth = stated >= 0.05
    apart = [abs((stated - found)[worth & (bins == k)].sum()) for k in range(10)]
    assert sum(apart) / worth.sum() < 0.08


def test_without_rivals_the_regression_is_kept(monkeypatch):
    """Where nothing is lowered there is nothing to learn again; nor where it gains too little."""
    narratives, names = sampled(60, 7)
    found = learn_missing(narratives, names, random_state=2)
    monkeypatch.setattr(missing, "MOST_ROUNDS", 0)
    alone = learn_missing(narratives, names, random_state=2)
    monkeypatch.setattr(missing, "MOST_ROUNDS", 5)
    monkeypatch.setattr(missing, "NO_LUCK", np.inf)
    assert learn_missing(narratives, names, random_state=2) == alone
    monkeypatch.setattr(missing, "agreed_odds", lambda odds, _: odds)
    monkeypatch.setattr(missing, "NO_LUCK", 0.0)
    assert learn_missing(narratives, names, random_state=2) == alone
    assert np.isfinite(found).all()


def test_what_is_missing_is_learned():
    narratives, names = sampled(60, 7)
    found = learn_missing(narratives, names, random_state=2)
    assert np.isfinite(found).all()
    assert found.odds > 0
    assert found == learn_missing(narratives, names, random_state=2)
    assert learn_missing(narratives[: missing.FEWEST - 1], names) == missing.PRIOR
    assert learn_missing([()] * 20, names) == missing.PRIOR
    assert learn_missing([(0,)] * 20, names[:1]).constant < missing.PRIOR.constant
