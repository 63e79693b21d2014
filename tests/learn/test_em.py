from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import elision as el
import naive
from elision.learn import em
from elision.learn.em import Converged, Prior
from models import EXAMPLES, cases, events, pack, parameters

pytestmark = pytest.mark.numerical

STEPS = Converged(tolerance=-np.inf, most_steps=8)
ROUNDING = 1e-9
"""How much the objective may seem to fall, a unit of it."""

priors = st.builds(
    Prior,
    transition=st.sampled_from([0.0, 0.1, 1.0]),
    emission=st.sampled_from([0.0, 0.1, 1.0]),
    elision=st.sampled_from([None, (1.0, 2.0), (0.0, 0.0)]),
    base=st.sampled_from(["uniform", "unigram"]),
)


def run_em(model, packed, prior, **options):
    added = em.pseudocounts(prior, model.emission.shape[1], packed)
    return em.run_em(model, packed, added, **options)


def rises(history):
    """Whether the objective never falls by more than rounding."""
    return all(
        after >= before - ROUNDING * max(1.0, abs(after)) for before, after in pairwise(history)
    )


@settings(max_examples=EXAMPLES)
@given(cases(), priors, st.booleans())
def test_the_objective_rises_at_every_step(case, prior, elisions):
    model, narratives = case
    if not elisions:
        model = without_elisions(model)
    packed = pack(narratives, model[1].shape[1])
    found = run_em(parameters(model), packed, prior, elisions=elisions, stop=STEPS)
    assert len(found.history) == STEPS.most_steps + 1
    assert not np.isnan(found.history).any()
    assert rises(found.history)


@settings(max_examples=50)
@given(cases())
def test_a_wrong_m_step_is_caught(case):
    """The negative control: silence counted as if it were told makes the objective fall."""
    model, narratives = case
    packed = pack(narratives, model[1].shape[1])
    prior = Prior()
    added = em.pseudocounts(prior, model[1].shape[1], packed)
    right = run_em(parameters(model), packed, prior, stop=Converged(1e-12, 300))
    assume(np.isfinite(right.counts.log_prob).any() and len(model[2]) > 2)
    swapped = right.counts._replace(elision=right.counts.emission.sum(axis=1) + 7.0)
    wrong = em.m_step(right.parameters, swapped, added)
    objective = run_em(wrong, packed, prior, stop=Converged(most_steps=0)).history[0]
    assert not rises([right.history[-1], objective])


@settings(max_examples=EXAMPLES)
@given(cases(), st.booleans())
def test_steps_agree_with_the_twin(case, elisions):
    model, narratives = case
    if not elisions:
        model = without_elisions(model)
    prior = Prior(transition=0.5, emission=0.25, elision=(0.5, 2.0))
    count = model[1].shape[1]
    packed = pack(narratives, count)
    twin_prior = naive.Pseudocounts(0.5, 0.5, 2.0, np.full(count, 0.25))
    weights = [1.0] * len(narratives)
    twin, objectives = naive.em(model, narratives, weights, twin_prior, 2, elisions=elisions)
    found = run_em(parameters(model), packed, prior, elisions=elisions, stop=Converged(-np.inf, 2))
    if np.isfinite(found.counts.log_prob).all():
        np.testing.assert_allclose(found.history[-1], objectives[-1], rtol=1e-9)
    np.testing.assert_allclose(found.parameters.dense_transition(), twin[0], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.parameters.emission, twin[1], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.parameters.elision, twin[2], rtol=1e-9, atol=1e-15)


def without_elisions(model):
    transition, emission, elision = model
    emission = emission.copy()
    silent = emission.sum(axis=1) == 0
    emission[silent, 0] = 1.0
    emission /= emission.sum(axis=1, keepdims=True)
    emission[[0, -1]] = 0
    return transition, emission, np.zeros_like(elision)


def test_the_papers_pseudocounts_count_silence_as_one_more_symbol():
    packed = pack([[0]], 3)
    added = em.pseudocounts(Prior(emission=0.5), 3, packed)
    assert added.silent == 0.5
    assert added.telling == 1.5
    assert added.event.tolist() == [0.5, 0.5, 0.5]


def test_a_unigram_base_follows_the_narratives():
    packed = pack([[0, 0, 1], [0, 0, 1]], 3)
    added = em.pseudocounts(Prior(emission=1.0, base="unigram"), 3, packed)
    np.testing.assert_allclose(added.event, 3 * np.array([4.5, 2.5, 0.5]) / 7.5, rtol=1e-12)


def test_learning_without_elisions_gives_a_script_without_them():
    tellings = [["e0", "e1"], ["e0", "e1", "e1"]]
    script = el.Script.build(
        {"a": {"e0": 0.5, None: 0.5}, "b": {"e1": 0.5, None: 0.5}},
        {"start": {"a": 1}, "a": {"b": 1}, "b": {"b": 0.5, "end": 0.5}},
    )
    fitted = el.fit_parameters(script, tellings, elisions=False, prior=Prior(0, 0))
    assert not fitted.script.elision.any()
    assert fitted.script.transition[2, 2] == pytest.approx(1 / 3)


def test_known_elision_rates_are_recovered():
    rng = np.random.default_rng(3)
    names = events(4)
    rates = [0.1, 0.4, 0.25, 0.0]
    narratives = [
        [name for name, rate in zip(names, rates, strict=True) if rng.random() >= rate]
        for _ in range(4000)
    ]
    chain = ["start", *names, "end"]
    script = el.Script.build(
        {name: {name: 0.5, None: 0.5} for name in names},
        {one: {two: 1.0} for one, two in pairwise(chain)},
    )
    learned = el.fit_parameters(script, narratives, prior=Prior(0, 0)).script
    np.testing.assert_allclose(learned.elision[1:-1], rates, atol=0.03)


def test_narratives_the_structure_cannot_tell():
    script = el.Script.build(
        {"a": "a", "b": "b"}, {"start": {"a": 1}, "a": {"b": 1}, "b": {"end": 1}}
    )
    prior = Prior(0, 0)
    with pytest.raises(el.InputError, match="narrative 1 cannot be told"):
        el.fit_parameters(script, [["a", "b"], ["b", "a"]], prior=prior)
    fitted = el.fit_parameters(script, [["a", "b"], ["b", "a"]], prior=prior, impossible="ignore")
    assert fitted.history[-1] == pytest.approx(0.0)
    with pytest.raises(el.InputError, match="cannot be told"):
        el.fit_parameters(script, [["b", "a"]], prior=prior, impossible="ignore")
    with pytest.raises(el.InputError, match="no narratives"):
        el.fit_parameters(script, [])


def test_a_stopping_rule_of_ones_own():
    calls = []

    def after_three(history, narratives):
        calls.append(narratives)
        return len(history) == 3

    tellings = el.examples.doorbell_tellings()
    fitted = el.fit_parameters(el.examples.doorbell(), tellings, stop=after_three)
    assert len(fitted.history) == 3
    assert calls == [20.0] * 3


@pytest.mark.parametrize("bad", [{"transition": -1.0}, {"emission": np.nan}, {"elision": (-1, 1)}])
def test_bad_pseudocounts(bad):
    with pytest.raises(el.InputError, match="pseudocount"):
        Prior(**bad)


@pytest.mark.parametrize("base", ["bigram", [0.5, 0.5], [2.0, -1.0, 0.0]])
def test_bad_base_distributions(base):
    with pytest.raises(el.InputError, match="base"):
        em.pseudocounts(Prior(base=base), 3, pack([[0]], 3))
