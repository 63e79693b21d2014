"""Very many events, long narratives, large files: bounded, and as ever below the bounds."""

from __future__ import annotations

import numpy as np
import pytest

import elision as el
from elision.ask.engine.filters import first_filter
from elision.ask.telling import deviations
from elision.files.script import dumps, loads
from elision.learn import backoff, limits, structure
from elision.learn.telling import learn_telling
from elision.values import telling_kinds
from elision.values.observations import Packer
from elision.values.telling_kinds import Kinds, find_kinds

EVENTS = 14
RNG = np.random.default_rng(1)
TOLD = [tuple(RNG.permutation(EVENTS)[: RNG.integers(2, 7)].tolist()) for _ in range(25)]
NAMES = [f"event {o}" for o in range(EVENTS)]


@pytest.fixture
def few_kinds(monkeypatch):
    """So few kinds that most of these events share one."""
    monkeypatch.setattr(telling_kinds, "MOST_KINDS", 8)
    monkeypatch.setattr(telling_kinds, "SHARED_KINDS", 3)


@pytest.fixture
def model(few_kinds):
    return learn_telling(TOLD, NAMES)


def test_kinds_of_events(few_kinds):
    kinds = find_kinds(TOLD, EVENTS + 2)
    told = np.bincount([e for one in TOLD for e in one], minlength=EVENTS + 2)
    sizes = np.bincount(kinds.of)
    assert kinds.number == 8
    assert (sizes[:5] == 1).all()
    assert (sizes[5:] > 1).all()
    own = np.flatnonzero(sizes[kinds.of] == 1)
    assert told[own].min() >= np.delete(told, own).max()
    np.testing.assert_allclose(np.bincount(kinds.of, np.exp(kinds.share)), 1, rtol=1e-5)
    assert find_kinds(TOLD, 8) is None


@pytest.mark.parametrize(
    ("of", "share"),
    [
        ([0, 2], [0, 0]),
        ([0, 1], [0, -1]),
        ([0, 1], [0]),
        ([0, 0], [0, 0]),
        ([1, 1], [-1, -1]),
        ([], []),
    ],
)
def test_kinds_that_are_none(of, share):
    with pytest.raises(el.ScriptError, match="telling model: "):
        Kinds(np.array(of, np.int64), np.array(share, float))


def test_a_model_of_kinds_is_a_distribution_over_events(model):
    assert len(model.forward.memory) == 8
    for one in TOLD[:5]:
        told = np.array(one)
        np.testing.assert_allclose(np.exp(model.next_log_probs(told)).sum(), 1, rtol=1e-6)
        steps = model.step_log_probs([told])[0]
        for place, event in enumerate([*one, EVENTS]):
            ahead = model.next_log_probs(told[:place])
            np.testing.assert_allclose(steps[place], ahead[event], rtol=1e-9)


def test_insertions_by_a_model_of_kinds(model):
    """Each event put at each place, and the whole told again."""
    told = np.array(TOLD[0])
    found = model.insertions(told)
    base = model.worths([told])[0]
    for place in range(len(told) + 1):
        tried = [np.insert(told, place, event) for event in range(EVENTS)]
        np.testing.assert_allclose(found[place], model.worths(tried) - base, rtol=1e-7, atol=1e-9)
        row = np.empty((1, EVENTS))
        model.insert_each([told], np.array([place]), row)
        np.testing.assert_allclose(row[0], found[place], rtol=1e-9)


def test_questions_to_a_model_of_kinds(few_kinds):
    learner = el.ScriptLearner(random_state=0).fit([[NAMES[o] for o in one] for one in TOLD])
    script = learner.script_
    assert script.telling.kinds is not None
    given = [NAMES[o] for o in TOLD[0]]
    assert (
        sum(one.probability for one in script.fill([*given[:-1], None], top=EVENTS)[0].answers)
        > 0.9
    )
    assert {event for one in script.sample(30, random_state=0) for event in one} <= set(NAMES)
    assert all(len(one) == 3 for one in script.sample(4, length=3, random_state=0))
    so_far = first_filter(script)
    for place, event in enumerate(TOLD[0]):
        ahead = script.telling.next_log_probs(np.array(TOLD[0][:place], np.int64))
        np.testing.assert_allclose(so_far.next_log_probs(), ahead, rtol=1e-9)
        so_far = so_far.tell(event)
    content = dumps(script)
    again = loads(content)
    assert again == script
    assert dumps(again) == content
    assert again.log_probs([given]) == script.log_probs([given])
    assert again.fill([*given[:-1], None]) == script.fill([*given[:-1], None])


def test_files_do_not_grow_with_the_square_of_the_events(few_kinds):
    rng = np.random.default_rng(0)
    sizes = []
    for events in (100, 400):
        told = [tuple(rng.integers(events, size=5).tolist()) for _ in range(60)]
        names = [f"e{o}" for o in range(events)]
        script = el.Script.build({"e0": "e0"}, {"start": {"e0": 1}, "e0": {"end": 1}}, events=names)
        sizes.append(len(dumps(script.with_telling(learn_telling(told, names, backward=False)))))
    assert sizes[1] < 4 * sizes[0] < 1e5


@pytest.mark.parametrize("score", ["approx", "marginal", "exact"])
@pytest.mark.parametrize("em", [True, False])
def test_the_search_is_bounded_by_states(score, em, monkeypatch):
    monkeypatch.setattr(structure, "MOST_TREE_STATES", 20)
    monkeypatch.setattr(structure, "MOST_EXACT_STATES", 8)
    rng = np.random.default_rng(2)
    told = [[f"e{o}" for o in rng.integers(6, size=rng.integers(3, 12))] for _ in range(12)]
    largest = []
    enlarge = structure.CountsModel.with_prefix_tree

    def enlarged(model, narratives, weights):
        found = enlarge(model, narratives, weights)
        largest.append(found.states)
        return found

    monkeypatch.setattr(structure.CountsModel, "with_prefix_tree", enlarged)
    learner = el.SEMHMM(score=score, em=em, batch_size=4, random_state=0).fit(told)
    assert max(largest) <= 20
    assert sum(one.left_out for one in learner.history_) > 0
    assert learner.n_narratives_seen_ == 12
    assert np.isfinite(learner.script_.emission).all()


def test_a_first_narrative_is_never_too_long(monkeypatch):
    monkeypatch.setattr(structure, "MOST_TREE_STATES", 5)
    learner = el.SEMHMM(score="approx").fit([[f"e{o}" for o in range(9)]] * 2)
    assert learner.history_[0].left_out == 0
    assert np.isfinite(learner.script_.log_probs([[f"e{o}" for o in range(9)]])).all()


def test_moves_are_tried_on_some_narratives_that_stand_for_all(monkeypatch):
    rng = np.random.default_rng(3)
    told = [[f"e{o}" for o in rng.integers(6, size=rng.integers(1, 9))] for _ in range(300)]
    seen = Packer([f"e{o}" for o in range(6)]).pack(told)
    assert structure._tried_on(seen) is seen
    for module in (structure, limits):
        monkeypatch.setattr(module, "MOST_TRIED", 200)
    some = structure._tried_on(seen)
    assert 10 < some.offset[-1] + len(some) <= 220
    np.testing.assert_allclose(some.weight.sum(), 300, rtol=1e-12)
    lengths = np.diff(some.offset)
    assert lengths[0] == 8
    assert lengths[-1] <= 2
    learner = el.SEMHMM(score="exact").fit(told[:60])
    assert np.isfinite(learner.script_.log_probs(told)).all()
    assert limits.of_search(learner, told)[-1].endswith(" of them")


def test_backing_off_is_bounded_by_what_is_read(monkeypatch):
    told = [["a", "b", "c", "d"], ["a", "c", "d"], ["b", "d"], ["a", "b", "d"]] * 5
    learner = el.SEMHMM(score="marginal").fit(told)
    assert limits.of_search(learner, told) == []
    usual = learner.script_
    monkeypatch.setattr(backoff, "MOST_UPDATES", 10)
    bounded = el.SEMHMM(score="marginal").fit(told).script_
    assert bounded.states == usual.states
    assert (bounded.transition > 0).sum() < (usual.transition > 0).sum()
    assert np.isfinite(bounded.log_probs(told)).all()
    assert "only ways that were told" in limits.of_search(learner, told)[-1]


def test_of_long_tellings_fewer_deviations_are_looked_for(monkeypatch):
    script = el.examples.learned_doorbell()
    rng = np.random.default_rng(4)
    told = rng.integers(len(script.events), size=24)
    whole = deviations.weigh(script.telling, told)
    monkeypatch.setattr(deviations, "MOST_READ", 2 * (deviations.FARTHEST + 1) * 24 * 5)
    some = deviations.weigh(script.telling, told)
    places = np.flatnonzero(np.isfinite(some.put_in))
    assert len(places) == 5
    np.testing.assert_allclose(some.put_in[places], whole.put_in[places], rtol=1e-9)
    np.testing.assert_allclose(some.replaced[places], whole.replaced[places], rtol=1e-9)
    np.testing.assert_allclose(some.left_out[places], whole.left_out[places], rtol=1e-9, atol=1e-9)
    assert set(some.moves[:, 0]) == set(places)
    assert some.oddness < whole.oddness
    assert deviations.most_deviations(24) == 1
    found = script.score([script.events[o] for o in told])
    assert np.isfinite(found.oddness)


def test_hundreds_of_events_that_a_script_cannot_tell():
    script = el.examples.doorbell()
    found = script.score(["close door", "open door"] * 200)
    assert len(found.flags) > 300
    assert np.isfinite(found.oddness)
    assert found.p_value < 0.01
