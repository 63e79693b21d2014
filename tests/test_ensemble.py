"""Ensembles: backing off, the last step, the mixture, files, resuming."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import elision as el
from elision.ask.last_step import FEATURES, FLOOR, LastStep, features, shared_words
from elision.contexts import Context, contexts_of, every_context, steps_on, surroundings
from elision.ensemble import mixture
from elision.ensemblefile import dumps, loads
from elision.learn.backoff import FOR_FILLING, Backoff, back_off, expected_visits
from elision.learn.baselines import bigrams
from elision.learn.conditional import USUAL_WEIGHTS, count, learn_last_step
from elision.learn.em import Prior, Pseudocounts, pseudocounts, run_em
from elision.learn.held_out import manner_weights
from elision.learn.observe import MemberDone
from elision.observations import Packer
from models import events, models

TELLINGS = el.examples.doorbell_tellings()
GAP = ["hear doorbell", None, "open door"]


@pytest.fixture(scope="module")
def learner():
    return el.ScriptEnsemble(members=3, folds=3, random_state=1).fit(TELLINGS)


# Backing off


def learned():
    return el.SEMHMM(score="marginal", backoff=None, random_state=0).fit(TELLINGS)


def test_expected_visits_are_those_of_sampled_paths():
    script = el.examples.doorbell()
    visits = expected_visits(script.transition)
    rng = np.random.default_rng(0)
    seen = np.zeros(script.size)
    for _ in range(4000):
        state = 0
        while state < script.size - 1:
            seen[state] += 1
            state = rng.choice(script.size, p=script.transition[state])
    np.testing.assert_allclose(visits[:-1], seen[:-1] / 4000, atol=0.05)


def test_backing_off_lets_every_narrative_be_told():
    learner = learned()
    backwards = [tuple(reversed(TELLINGS[0])), TELLINGS[0] * 5, ("close door", "hear doorbell")]
    assert (learner.script_.log_probs(backwards) == -np.inf).any()
    packed = Packer(learner.events_).pack(TELLINGS)
    for backoff in (Backoff(), FOR_FILLING):
        found = back_off(learner.script_.parameters, packed, Prior(elision=(1.0, 1.0)), backoff)
        script = el.Script.from_parameters(learner.events_, found)
        assert np.isfinite(script.log_probs(backwards)).all()


def test_more_pseudocounts_leave_less_to_the_learned_edges():
    learner = learned()
    packed = Packer(learner.events_).pack(TELLINGS)
    edges = learner.script_.transition > 0
    kept = []
    for strength in (0.1, 1.0, 10.0):
        found = back_off(
            learner.script_.parameters, packed, Prior(), Backoff(strength, 0.3, fewest=0.0)
        )
        transition = found.dense_transition()
        kept.append(float(transition[edges].sum()))
    assert kept[0] > kept[1] > kept[2]


def test_em_with_a_pseudocount_for_each_edge_never_falls():
    learner = learned()
    packed = Packer(learner.events_).pack(TELLINGS)
    parameters = learner.script_.parameters
    usual = pseudocounts(Prior(), len(learner.events_), packed)
    rng = np.random.default_rng(0)
    prior = Pseudocounts(rng.gamma(1.0, size=len(parameters.source)), *usual[1:])
    history = run_em(parameters, packed, prior).history
    assert len(history) > 2
    assert (np.diff(history) > -1e-9).all()


def test_very_many_states_keep_their_edges(monkeypatch):
    monkeypatch.setattr("elision.learn.backoff.MOST_STATES", 5)
    learner = learned()
    packed = Packer(learner.events_).pack(TELLINGS)
    found = back_off(learner.script_.parameters, packed, Prior(), FOR_FILLING).dense_transition()
    own = (learner.script_.transition > 0) | np.eye(len(found), dtype=bool)
    assert not found[~own].any()
    assert (np.diag(found)[1:-1] > 0).all()


def test_backoff_of_nothing_is_refused():
    with pytest.raises(el.InputError, match="backoff transition is 0"):
        Backoff(0.0)


# Contexts


def test_contexts_count_the_gaps_between():
    number = {"a": 0, "b": 1}
    first, second = contexts_of(["a", None, "x", None, "b"], number)
    assert first == Context((0,), (1,), 0, 1)
    assert second == Context((0,), (1,), 1, 0)
    assert contexts_of([None, None], number)[0] == Context((), (), 0, 1)


def test_steps_on_sums_over_what_is_hidden():
    table = bigrams([(0, 1, 2), (0, 2, 1)], 3, 0.3)
    by_hand = sum(table[0, x] * table[x, 2] for x in range(3))
    np.testing.assert_allclose(steps_on(table, 1)[0, 2], by_hand, rtol=1e-12)
    by_hand = sum(table[-1, x] * table[x, y] * table[y, 1] for x in range(3) for y in range(3))
    np.testing.assert_allclose(steps_on(table, 2)[-1, 1], by_hand, rtol=1e-12)


def test_surroundings_are_the_neighbours_and_the_sets():
    row = surroundings([Context((0, 1, 1), ())], 3).toarray()[0]
    before, after, set_before, set_after = np.split(row, [4, 8, 11])
    assert before.tolist() == [0, 1, 0, 0]
    assert after.tolist() == [0, 0, 0, 1]
    assert set_before.tolist() == [1, 1, 0]
    assert set_after.tolist() == [0, 0, 0]
    hidden = surroundings([Context((0,), (1,), 1, 2)], 3).toarray()[0]
    assert not hidden[:8].any()


# The last step


def test_features_by_hand():
    events = ("open door", "close door", "wait")
    counted = count([(0, 1), (0, 2, 1)], 3)
    said = np.array([[0.5, 0.25, 0.25]])
    found = features([Context((0,), (1,))], said, counted, shared_words(events))
    assert found.shape == (1, 3, FEATURES)
    np.testing.assert_allclose(found[0, :, 0], np.log(said[0] + FLOOR))
    pair = counted.bigram[0, :-1].astype(float) * counted.bigram[:-1, 1]
    np.testing.assert_allclose(found[0, :, 1], np.log(pair / pair.sum() + FLOOR), rtol=1e-6)
    assert found[0, :, 3].tolist() == [1, 0, 0]  # told before
    assert found[0, :, 4].tolist() == [0, 1, 0]  # told after
    np.testing.assert_allclose(found[0, :, 7], [0, 1 / 3, 0])  # shares a word with the one before


def random_gaps(seed, events=4, gaps=60):
    rng = np.random.default_rng(seed)
    narratives = [tuple(rng.integers(events, size=4).tolist()) for _ in range(gaps // 4)]
    contexts, answers = zip(*every_context(narratives), strict=True)
    values = rng.normal(size=(len(answers), events, FEATURES))
    return narratives, list(contexts), np.array(answers), values


def test_the_last_step_learns_which_feature_tells_the_answer():
    names = tuple("abcd")
    narratives, contexts, answers, values = random_gaps(0)
    values[:, :, 5] = 0.0
    values[np.arange(len(answers)), answers, 5] = 3.0
    step = learn_last_step(names, count(narratives, 4), contexts, values, answers)
    assert step.weights[5] > USUAL_WEIGHTS[5] + 0.5
    assert abs(step.weights[6] - USUAL_WEIGHTS[6]) < 0.5


@pytest.mark.parametrize("seed", range(3))
def test_the_last_step_is_at_the_top_of_its_objective(seed):
    """Central differences of the penalised log-likelihood, written out anew, vanish there."""
    names = tuple("abcd")
    narratives, contexts, answers, values = random_gaps(seed)
    step = learn_last_step(names, count(narratives, 4), contexts, values, answers)
    rows = surroundings(contexts, 4).toarray()

    def objective(weights, context):
        total = 0.0
        for row, value, answer in zip(rows, values, answers, strict=True):
            score = value @ weights + row @ context
            total += score[answer] - np.log(np.exp(score).sum())
        total -= ((weights - USUAL_WEIGHTS) ** 2).sum() / (2 * 0.7**2)
        return total - (context**2).sum() / (2 * 0.3**2)

    best = objective(step.weights, step.context.astype(float))
    rng = np.random.default_rng(seed)
    for _ in range(20):
        other = step.weights + rng.normal(scale=0.03, size=FEATURES)
        context = step.context + rng.normal(scale=0.03, size=step.context.shape)
        assert objective(other, step.context.astype(float)) < best
        assert objective(step.weights, context) < best


def test_probabilities_of_the_last_step_sum_to_one(learner):
    found = learner.predict_gap([GAP, [None], ["open door", None]])
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert (found > 0).all()


def test_without_weight_on_the_rest_the_scripts_decide(learner):
    bare = el.Ensemble(learner.scripts_, learner.weights_)
    weights = np.zeros(FEATURES)
    weights[0] = 1.0
    step = LastStep(learner.ensemble_.last_step.counted, np.zeros((10, 10)), weights, None)
    only = el.Ensemble(learner.scripts_, learner.weights_, last_step=step)
    for one, other in zip(bare.fill(GAP)[0].answers, only.fill(GAP)[0].answers, strict=True):
        assert one.event == other.event
        np.testing.assert_allclose(one.probability, other.probability, atol=2e-3)


# Weights


def test_weights_go_to_the_manner_that_knew_the_answers():
    rng = np.random.default_rng(0)
    good, poor = rng.uniform(0.5, 1, 200), rng.uniform(0, 0.5, 200)
    weights = manner_weights(np.stack([poor, good], axis=1))
    assert weights[1] > 0.8
    np.testing.assert_allclose(weights.sum(), 1)


@given(st.integers(0, 1000))
def test_weights_raise_the_likelihood_over_equal_ones(seed):
    given = np.random.default_rng(seed).uniform(size=(30, 3))
    weights = manner_weights(given)
    prior = 2 * np.log(weights).sum() - 2 * 3 * np.log(1 / 3)
    assert np.log(given @ weights).sum() + prior >= np.log(given.mean(axis=1)).sum() - 1e-9


# The mixture


@given(models())
def test_the_mixture_weighs_probabilities(model):
    first = el.Script(events(model[1].shape[1]), *model)
    weights = np.array([0.3, 0.7])
    other = el.Script(first.events, np.eye(2, k=1), np.zeros((2, len(first.events))), np.zeros(2))
    both = mixture([first, other], weights)
    tellings = [[], *([event] for event in first.events), [first.events[0]] * 2]
    expected = 0.3 * np.exp(first.log_probs(tellings))
    expected[0] += 0.7
    np.testing.assert_allclose(np.exp(both.log_probs(tellings)), expected, rtol=1e-9, atol=1e-300)


# Questions


def test_every_question_of_a_script_is_answered(learner):
    told = ["hear doorbell", "open door", "close door"]
    assert learner.fill(GAP, top=1)[0].answers[0].event == "walk to door"
    assert learner.fill([*GAP, None], joint=True, top=2).answers
    assert learner.fill(["hear doorbell", ..., "open door"])
    assert learner.fill(told, anywhere=True, top=1).answers
    assert learner.next(["hear doorbell"]).answers
    assert len(learner.between(told).unsaid) == 4
    assert learner.align(told).steps
    assert learner.posterior(told)
    assert learner.sample(3, random_state=0)
    assert learner.score(told, samples=10).log_prob < 0
    assert learner.order(told)
    assert learner.resolve([{"open door": 0.5, "close door": 0.5}])
    assert learner.draw().svg.startswith("<svg")
    assert len(learner.each("next", ["hear doorbell"])) == 3


def test_averages_of_the_scripts(learner):
    told = ["hear doorbell", "open door", "close door"]
    stories = learner.each("between", told, least=0.0)
    chance = [
        {one.event: one.probability for one in story.unsaid[1]}.get("walk to door", 0.0)
        for story in stories
    ]
    (found,) = [one for one in learner.between(told).unsaid[1] if one.event == "walk to door"]
    np.testing.assert_allclose(found.probability, np.average(chance, weights=learner.weights_))
    mean = found.probability
    variance = np.average((np.array(chance) - mean) ** 2, weights=learner.weights_)
    np.testing.assert_allclose(found.spread, np.sqrt(variance), atol=1e-12)
    ended = [one.ended for one in learner.each("next", told)]
    np.testing.assert_allclose(
        learner.next(told).ended, np.average(ended, weights=learner.weights_), rtol=1e-9
    )
    total = sum(one.probability for one in learner.next(told).answers) + learner.next(told).ended
    np.testing.assert_allclose(total, 1)


def test_spread_is_the_disagreement_of_the_scripts(learner):
    answer = learner.fill(GAP, top=1)[0].answers[0]
    own = [
        {one.event: one.probability for one in fillings[0].answers}[answer.event]
        for fillings in learner.each("fill", GAP)
    ]
    mean = np.average(own, weights=learner.weights_)
    variance = np.average((np.array(own) - mean) ** 2, weights=learner.weights_)
    np.testing.assert_allclose(answer.spread, np.sqrt(variance), rtol=1e-9)
    alike = el.Ensemble([learner.script_] * 2).fill(GAP, top=1)[0].answers[0]
    assert alike.spread == pytest.approx(0, abs=1e-12)


def test_excluded_events_are_no_answers(learner):
    names = [one.event for one in learner.fill(GAP, exclude=["walk to door"])[0].answers]
    assert "walk to door" not in names
    found = learner.fill(["open door", "close door"], anywhere=True, exclude=["walk to door"])
    assert "walk to door" not in [one.event for one in found.answers]


def test_anywhere_without_a_last_step_is_the_average_of_the_scripts(learner):
    bare = el.Ensemble(learner.scripts_, learner.weights_)
    told = ["hear doorbell", "open door", "close door"]
    found = {one.event: one.probability for one in bare.fill(told, anywhere=True).answers}
    own = [
        {one.event: one.probability for one in answer.answers}
        for answer in bare.each("fill", told, anywhere=True)
    ]
    for event, chance in found.items():
        values = [one.get(event, 0.0) for one in own]
        np.testing.assert_allclose(chance, np.average(values, weights=bare.weights), rtol=1e-9)


def test_predictions_of_several_gaps_and_of_unknown_places(learner):
    (rows,) = learner.predict_gaps([["hear doorbell", None, None, "close door"]])
    assert rows.shape == (2, 10)
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    anywhere = learner.predict_anywhere([["open door", "close door"]])
    np.testing.assert_allclose(anywhere.sum(axis=1), 1)
    named = learner.fill(["open door", "close door"], anywhere=True).answers
    chances = dict(zip(learner.events_, anywhere[0], strict=True))
    for one in named:
        np.testing.assert_allclose(one.probability, chances[one.event])
    with pytest.raises(el.InputError, match="2 gaps"):
        learner.predict_gap([[None, None]])


# Learning


def test_the_same_with_any_number_of_threads(learner):
    el.set_threads(1)
    try:
        again = clone(learner).fit(TELLINGS)
    finally:
        el.set_threads(None)
    assert again.ensemble_ == learner.ensemble_


def test_few_narratives_are_not_folded():
    learner = el.ScriptEnsemble(members=2).fit(TELLINGS[:3])
    assert learner.ensemble_.last_step is None
    assert learner.weights_.tolist() == [0.5, 0.5]
    assert learner.fill([None, "open door"])


def test_many_narratives_are_held_out_once():
    many = TELLINGS * 26
    seen = []
    learner = el.ScriptEnsemble(members=1, observer=lambda event, _: seen.append(event))
    learner.fit(many)
    assert [event.all for event in seen] == [2, 2]
    assert learner.ensemble_.last_step is not None


def test_resumed_with_the_scripts_that_were_kept():
    kept = {}

    def observe(event, _):
        assert isinstance(event, MemberDone)
        kept[event.number] = event.script

    whole = el.ScriptEnsemble(members=2, folds=2, observer=observe).fit(TELLINGS)
    some = {number: script for number, script in kept.items() if number % 2}
    seen = []
    again = el.ScriptEnsemble(members=2, folds=2, observer=lambda e, _: seen.append(e.number))
    assert again.resume(TELLINGS, some).ensemble_ == whole.ensemble_
    assert sorted(seen) == sorted(kept)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"members": 0}, "members is 0"),
        ({"folds": 1}, "expected 0 or at least 2"),
        ({"random_state": -1}, "random_state"),
        ({"events": ["open door"]}, "unknown event"),
    ],
)
def test_settings_that_make_no_sense(settings, problem):
    with pytest.raises(el.InputError, match=problem):
        el.ScriptEnsemble(**settings).fit(TELLINGS)


def test_the_script_to_read_is_one_of_the_scripts(learner):
    assert learner.script_ in learner.scripts_
    assert learner.filler_.size == learner.script_.size


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda script: el.Ensemble([]), "no scripts"),
        (lambda script: el.Ensemble([script], [-1.0]), "weights"),
        (lambda script: el.Ensemble([script, _other()]), "other events"),
    ],
)
def test_what_is_no_ensemble(make, problem):
    with pytest.raises(el.ScriptError, match=problem):
        make(el.examples.doorbell())


def _other():
    return el.Script.build({"ring": "ring"}, {"start": {"ring": 1}, "ring": {"end": 1}})


# Files


def test_a_saved_ensemble_answers_as_before(learner, tmp_path):
    path = tmp_path / "doorbell.json"
    learner.ensemble_.save(path)
    again = el.load(path)
    assert again == learner.ensemble_
    assert again.fill(GAP) == learner.fill(GAP)
    assert again.about == learner.ensemble_.about
    assert dumps(again) == path.read_bytes()


def damaged(learner, change):
    raw = json.loads(dumps(learner.ensemble_))
    change(raw)
    return json.dumps(raw).encode()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda raw: raw.update(version=2), "version 2"),
        (lambda raw: raw["members"][0].update(states=10**9), "cells"),
        (lambda raw: raw["members"][0].update(states=999), "states for"),
        (lambda raw: raw["members"][0].update(elision="AAAA"), "states for|bytes"),
        (lambda raw: raw["members"].clear(), "no valid ensemble"),
        (lambda raw: raw["last_step"].update(weights=[1.0]), "1 weights"),
        (lambda raw: raw["last_step"].update(bigram=""), "0 bytes"),
        (lambda raw: raw.update(weights=[1.0]), "weights"),
        (lambda raw: raw["script"].update(edges=[]), "no valid script"),
        (lambda raw: raw.pop("script"), "script"),
    ],
)
def test_a_damaged_file_gets_one_line(learner, change, problem):
    with pytest.raises(el.FileFormatError, match=problem) as caught:
        loads(damaged(learner, change), checksum=False)
    assert "\n" not in str(caught.value)


def test_a_changed_file_is_noticed(learner):
    content = dumps(learner.ensemble_).replace(b"hear doorbell", b"hear Doorbell")
    with pytest.raises(el.FileFormatError, match="checksum"):
        loads(content)
