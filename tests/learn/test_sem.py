from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import estimator_checks

import elision as el
from elision.files.script import dumps
from elision.learn.observe import BatchDone, Moved, Stepped

TELLINGS = el.examples.doorbell_tellings()
LEARNERS = {
    "exact": el.SEMHMM(random_state=1),
    "exhaustive": el.SEMHMM(random_state=1, exhaustive=True),
    "approx": el.SEMHMM(score="approx", random_state=1),
    "marginal": el.SEMHMM(score="marginal", random_state=1),
    "growing": el.SEMHMM(score="marginal", plan="growing", random_state=1),
    "constrained": el.SEMHMM(score="approx", constraint_cost=1.0, error_rate=0.4),
    "bmm": el.BMM(random_state=1),
    "bmm-em": el.BMMEM(random_state=1),
}
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def known_script(seed=0):
    """Ten states, two branches, elision 0.1 to 0.4."""
    rng = np.random.default_rng(seed)
    steps = [f"step {number}" for number in range(10)]
    rates = rng.uniform(0.1, 0.4, 10)
    left, right = steps[3:6], steps[6:8]
    ways = [steps[:3], steps[8:]]
    edges = {"start": {steps[0]: 1.0}, steps[9]: {"end": 1.0}}
    for chain in (*ways, left, right):
        for one, two in pairwise(chain):
            edges[one] = {two: 1.0}
    edges[steps[2]] = {left[0]: 0.6, right[0]: 0.4}
    edges[left[-1]] = {steps[8]: 1.0}
    edges[right[-1]] = {steps[8]: 1.0}
    states = {step: {step: 1 - rate, None: rate} for step, rate in zip(steps, rates, strict=True)}
    return el.Script.build(states, edges)


def sample(script, count, rng):
    narratives = []
    for _ in range(count):
        state, told = 0, []
        while True:
            state = rng.choice(script.size, p=script.transition[state])
            if state == script.size - 1:
                break
            if rng.random() >= script.elision[state]:
                row = script.emission[state] / script.emission[state].sum()
                told.append(script.events[rng.choice(len(script.events), p=row)])
        narratives.append(told)
    return narratives


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_known_script_is_recovered(seed):
    truth = known_script(seed)
    rng = np.random.default_rng(seed)
    train, held_out = sample(truth, 500, rng), sample(truth, 2000, rng)
    learned = el.SEMHMM(score="marginal", random_state=0).fit(train).script_
    best = truth.log_probs(held_out).mean()
    found = learned.log_probs(held_out).mean()
    assert abs(found - best) <= 0.02 * abs(best)
    left = learned.log_prob([f"step {n}" for n in (0, 1, 2, 3, 4, 5, 8, 9)])
    right = learned.log_prob([f"step {n}" for n in (0, 1, 2, 6, 7, 8, 9)])
    mixed = learned.log_prob([f"step {n}" for n in (0, 1, 2, 3, 4, 6, 7, 8, 9)])
    assert min(left, right) - mixed > 3.0  # both branches are there, and they exclude each other


@every_learner
def test_the_search_score_never_falls(learner):
    moves, em = [], []

    def watch(event, model):
        if isinstance(event, Moved):
            moves.append(event.move.gain)
        elif isinstance(event, Stepped):
            em.append((event.batch, event.objective))
        else:
            assert isinstance(event, BatchDone)
            assert model.states == event.states + 2
            assert event.score_after - event.score_before == pytest.approx(
                sum(moves[-event.moves :]) if event.moves else 0.0, abs=1e-6
            )

    fitted = clone(learner).set_params(observer=watch).fit(TELLINGS)
    assert len(moves) == sum(batch.moves for batch in fitted.history_) > 20
    assert min(moves) > 0
    for (batch, before), (same, after) in pairwise(em):
        assert batch != same or after >= before - 1e-7 * abs(before)


@every_learner
def test_same_seed_same_bytes_whatever_the_threads(learner):
    files = []
    for threads in (1, 2, 2):
        el.set_threads(threads)
        files.append(dumps(clone(learner).fit(TELLINGS).script_))
    el.set_threads(None)
    assert files[0] == files[1] == files[2]


def test_another_seed_is_another_order():
    one = el.SEMHMM(score="approx", random_state=0).fit(TELLINGS).script_
    two = el.SEMHMM(score="approx", random_state=5).fit(TELLINGS).script_
    assert one != two


def test_partial_fit_absorbs_one_more_batch_and_new_events():
    learner = el.SEMHMM(score="approx", batch_size=5)
    for start in range(0, 20, 5):
        learner.partial_fit(TELLINGS[start : start + 5])
    assert learner.n_narratives_seen_ == 20
    assert len(learner.history_) == 4
    assert set(learner.events_) == {event for telling in TELLINGS for event in telling}
    learner.partial_fit([["hear doorbell", "pretend to be out"]])
    assert learner.events_[-1] == "pretend to be out"
    assert np.isfinite(learner.script_.log_probs(TELLINGS)).all()


@every_learner
def test_a_gap_always_has_an_answer(learner):
    events = [*el.SEMHMM(score="approx").fit(TELLINGS).events_, "never told"]
    fitted = clone(learner).set_params(events=events).fit(TELLINGS)
    gaps = [
        ["hear doorbell", None, "open door"],
        [None],
        ["close door", None, "hear doorbell"],
        ["open door"] * 30 + [None],
    ]
    found = fitted.predict_gap(gaps)
    assert found.shape == (4, len(events))
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-9)
    assert (found >= 0).all()


@every_learner
def test_scikit_learns_conventions(learner):
    """Its own checks, as far as they do not feed tables of numbers."""
    name = type(learner).__name__
    fresh = clone(learner)
    estimator_checks.check_no_attributes_set_in_init(name, fresh)
    estimator_checks.check_parameters_default_constructible(name, fresh)
    estimator_checks.check_get_params_invariance(name, fresh)
    estimator_checks.check_set_params(name, fresh)
    estimator_checks.check_estimator_cloneable(name, fresh)
    estimator_checks.check_estimator_repr(name, fresh)
    before = fresh.get_params()
    assert fresh.fit(TELLINGS) is fresh
    assert fresh.get_params() == before
    with pytest.raises(NotFittedError):
        clone(learner).predict_gap([[None]])
    with pytest.raises(NotFittedError):
        clone(learner).score_samples(TELLINGS)


def test_model_selection_works():
    grid = GridSearchCV(
        el.SEMHMM(score="marginal"),
        {"state_cost": [0.0, 50.0]},
        scoring=el.mean_log_prob,
        cv=4,
    ).fit(TELLINGS)
    assert grid.best_params_ == {"state_cost": 0.0}


def test_a_script_learner_is_cross_validated_by_its_log_probability():
    learner = el.ScriptLearner(events=el.Corpus.of(TELLINGS).vocabulary)
    found = cross_val_score(learner, TELLINGS, scoring=el.mean_log_prob, cv=4)
    assert (found < 0).all()
    assert (
        found.tolist()
        == cross_val_score(learner, el.Corpus.of(TELLINGS), scoring=el.mean_log_prob, cv=4).tolist()
    )
    with pytest.raises(el.InputError, match=r"came, expected one narrative .*el\.mean_log_prob"):
        learner.fit(TELLINGS).score(TELLINGS)


@pytest.mark.parametrize("learner", [el.ScriptLearner, el.SEMHMM, el.NGram])
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_to_be_read_first(learner, backend):
    corpus = el.Corpus.of(TELLINGS)
    with pytest.raises(el.InputError, match=r"^a data frame came, .*el\.read\(frame\)"):
        learner().fit(corpus.to_frame(backend))
    assert learner().fit(el.read(corpus.to_frame(backend)))


def test_the_named_learners_are_settings_of_one_class():
    assert el.BMM().get_params()["em"] is False
    assert el.BMM().get_params()["score"] == "approx"
    assert el.BMMEM().get_params()["elisions"] is False
    assert el.BMMEM(batch_size=2).batch_size == 2
    assert repr(el.BMM(batch_size=2)) == "BMM(batch_size=2)"
    assert isinstance(el.BMM(), el.SEMHMM)


def test_growing_batches_see_every_narrative():
    many = TELLINGS * 40
    fitted = el.SEMHMM(score="marginal", plan="growing", random_state=0).fit(many)
    paper = el.SEMHMM(score="marginal", plan="paper", random_state=0).fit(many)
    assert fitted.n_narratives_seen_ == len(many)
    assert len(fitted.history_) < len(paper.history_) / 3
    flow = fitted._progress.model.transition[0].sum()
    assert flow == pytest.approx(len(many))
    worse = paper.score_samples(TELLINGS).mean() - fitted.score_samples(TELLINGS).mean()
    assert worse < 0.3


def test_a_corpus_and_its_empty_and_single_narratives():
    corpus = el.Corpus.of([["a", "b"], [], ["a"]])
    script = el.SEMHMM().fit(corpus).script_
    assert np.exp(script.log_probs([["a", "b"], [], ["a"]])).sum() < 1
    only = el.SEMHMM().fit([["a"]]).script_
    assert only.log_prob(["a"]) < 0
    assert el.SEMHMM().fit([[]]).script_.size == 2


@pytest.mark.parametrize(
    ("settings", "narratives", "problem"),
    [
        ({"score": "best"}, TELLINGS, "score 'best'"),
        ({"batch_size": 0}, TELLINGS, "batch_size"),
        ({"plan": "none"}, TELLINGS, "plan 'none'"),
        ({"emission_pseudocount": -1.0}, TELLINGS, "pseudocount"),
        ({"constraint_cost": 1.0, "error_rate": 2.0}, TELLINGS, "error_rate"),
        ({"events": ["a"]}, [["b"]], "unknown event"),
        ({}, [], "no narratives"),
        ({}, "abc", "expected a list"),
        ({}, 7, "expected a list"),
        ({}, [["a", 1]], "expected"),
        ({}, el.Corpus([*el.Corpus.of([["a"]], "x"), *el.Corpus.of([["b"]], "y")]), "2 domains"),
    ],
)
def test_bad_input(settings, narratives, problem):
    with pytest.raises(el.InputError, match=problem):
        el.SEMHMM(**settings).fit(narratives)


def test_a_batch_that_is_refused_leaves_no_trace():
    learner = el.SEMHMM(score="approx", events=["a", "b"]).partial_fit([["a", "b"]])
    before = dumps(learner.script_)
    with pytest.raises(el.InputError, match="unknown event"):
        learner.partial_fit([["c"]])
    assert dumps(learner.script_) == before
    assert learner.partial_fit([["b"]]).n_narratives_seen_ == 2


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"score": "marginal", "emission_pseudocount": 0.0}, "needs positive"),
        ({"elision_prior": (1.0, np.nan)}, "pseudocount"),
        ({"elision_prior": 3}, "two pseudocounts"),
        ({"em_steps": -3}, "em_steps"),
        ({"state_cost": np.nan}, "state_cost"),
        ({"backoff": (0.0, 1.0)}, "backoff transition"),
        ({"backoff": 3}, "two pseudocounts"),
    ],
)
def test_settings_that_make_no_sense(settings, problem):
    with pytest.raises(el.InputError, match=problem):
        el.SEMHMM(**settings).fit(TELLINGS)
    with pytest.raises(el.InputError, match="no narratives"):
        el.SEMHMM().fit(el.Corpus([]))
