"""Divergences against all tellings of scripts without loops; what differs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

import elision as el
import naive_questions as twin
from elision.ask.compare import compare
from models import models

pytestmark = pytest.mark.numerical

ERRORS = 6
"""Standard errors that an estimate may be off."""


def without_loops(model):
    """The same model without self-loops: it has finitely many tellings."""
    transition, emission, elision = (array.copy() for array in model)
    np.fill_diagonal(transition, 0.0)
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    return transition, emission, elision


def script_of(model):
    names = [f"e{number}" for number in range(model[1].shape[1])]
    return el.Script(names, *model)


def all_tellings(model):
    found = {}
    for length in range(len(model[2]) - 1):
        found |= twin.tellings_of_length(model, length)
    assert math.fsum(found.values()) == pytest.approx(1.0)
    return found


def within(estimate, expected):
    assert abs(estimate.value - expected) <= ERRORS * estimate.error + 1e-9


@settings(max_examples=25)
@given(models(most_states=3, most_events=2), models(most_states=3, most_events=3))
def test_divergences_are_those_of_all_tellings(one, another):
    first, second = without_loops(one), without_loops(another)
    p, q = all_tellings(first), all_tellings(second)
    found = compare(script_of(first), script_of(second), samples=3000)
    mean = {t: (p.get(t, 0.0) + q.get(t, 0.0)) / 2 for t in p | q}
    expected = sum(
        share * math.log(share / mean[t]) / 2 for side in (p, q) for t, share in side.items()
    )
    within(found.jensen_shannon, expected)
    for here, there, estimate, lost in (
        (p, q, found.from_first, found.impossible[0]),
        (q, p, found.from_second, found.impossible[1]),
    ):
        missing = math.fsum(share for t, share in here.items() if t not in there)
        assert abs(lost - missing) <= ERRORS * math.sqrt(0.25 / 3000)
        if missing == 0:
            within(estimate, sum(v * math.log(v / there[t]) for t, v in here.items()))
        elif lost:
            assert estimate.value == math.inf


@given(models())
def test_a_script_does_not_differ_from_itself(model):
    script = script_of(model)
    found = compare(script, script, [["e0"]], samples=50)
    assert found.jensen_shannon.value == pytest.approx(0.0, abs=1e-12)
    assert found.only_first == ()
    assert found.on_data.difference.value == 0.0
    assert "0 alike" in str(found)


def test_on_data_counts_what_each_can_tell():
    first = el.examples.doorbell()
    second = el.SEMHMM(score="marginal").fit(el.examples.doorbell_tellings()).script_
    told = [*el.examples.doorbell_tellings(), ["close door", "open door"], ["fly"]]
    found = compare(first, second, told, samples=20).on_data
    assert (found.both, found.only_first, found.only_second, found.neither) == (20, 0, 1, 1)
    expected = first.log_probs(told[:20]) - second.log_probs(told[:20])
    assert found.difference.value == pytest.approx(expected.mean())
    assert found.difference.error == pytest.approx(expected.std(ddof=1) / math.sqrt(20))
    assert found.first == pytest.approx(first.log_probs(told[:20]).mean())


def test_other_events():
    other = el.Script.build(
        {"ring": {"hear doorbell": 0.7, None: 0.3}, "fly": "fly away"},
        {"start": {"ring": 1}, "ring": {"fly": 1}, "fly": {"end": 1}},
    )
    found = compare(el.examples.doorbell(), other, samples=100)
    assert found.jensen_shannon.value == pytest.approx(math.log(2), abs=0.1)
    assert [event for event, _ in found.only_second] == ["fly away"]
    assert ("open door", pytest.approx(0.7)) in found.only_first
    assert "fly away: no step -> told by 100%" in str(found)
    assert found._repr_html_().startswith("<table>")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"samples": 1}, "samples is 1"),
        ({"narratives": []}, "no narratives"),
        ({"random_state": "x"}, "random_state is 'x'"),
    ],
)
def test_what_cannot_be_compared(options, problem):
    script = el.examples.doorbell()
    with pytest.raises(el.InputError, match=problem):
        compare(script, script, **options)


def test_scripts_without_a_shared_name_are_told_which_are_nearest():
    def learned(*steps):
        return el.ScriptLearner().fit([list(steps)] * 6).script_

    first = learned("fill kettle", "Boil_Water", "add tea", "drink")
    second = learned("fill the kettle", "boil water", "taste", "zzz")
    found = compare(first, second, samples=20)
    assert not found.shares_names
    assert found.nearest == (("Boil_Water", "boil water"), ("fill kettle", "fill the kettle"))
    assert "'Boil_Water' and 'boil water'; 'fill kettle' and 'fill the kettle'" in found.hint
    assert found.hint in str(found).splitlines()
    assert compare(first, learned("zz", "qq"), samples=20).hint.endswith("as they stand")
    one_shared = compare(first, learned("fill the kettle", "drink"), samples=20)
    assert (one_shared.hint, one_shared.nearest, one_shared.shares_names) == ("", (), True)
