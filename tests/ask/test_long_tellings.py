"""Long tellings are looked at where they are least probable."""

from __future__ import annotations

import numpy as np
import pytest

import elision as el
from elision.ask.telling import deviations


@pytest.fixture(scope="module")
def model():
    return el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_.telling


@pytest.mark.parametrize("most", [1, 2, 3, 4, 9])
def test_deviations_are_weighed_where_a_telling_is_least_probable(model, most, monkeypatch):
    told = np.array([2, 0, 5, 1])
    monkeypatch.setattr(deviations, "MOST_READ", most * deviations._read(1, len(told)))
    places = deviations._odd_places(model, told)
    steps = [model.next_log_probs(told[:t])[told[t]] for t in range(4)]
    expected = sorted(np.argsort(steps, kind="stable")[:most].tolist())
    assert places.tolist() == expected
    found = deviations._insertions(model, told, places)
    whole = model.insertions(told)
    if most >= 4:
        np.testing.assert_array_equal(found, whole)
        return
    np.testing.assert_allclose(found[places], whole[places], rtol=1e-5, atol=1e-6)
    others = [place for place in range(5) if place not in expected]
    assert (found[others] == -np.inf).all()


def test_events_read_by_hand():
    far = deviations.FARTHEST
    assert deviations._read(3, 10) == 2 * (far + 1) * 30
    assert deviations._read(0, 10) == 1


def test_what_is_expected_in_a_stretch_adds_up():
    script = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
    (found,) = script.fill(["hear doorbell", ..., "close door"], top=50)
    assert sum(found.counts) + found.more == pytest.approx(1.0)
    length = sum(number * chance for number, chance in enumerate(found.counts))
    assert length > 0.5
    assert sum(one.expected for one in found.answers) == pytest.approx(length)
    told = {one.event: 0.0 for one in found.answers}
    for course in found.courses:
        for event in course.events:
            told[event] += course.probability
    rest = 1 - sum(course.probability for course in found.courses)
    for one in found.answers:
        assert one.expected == pytest.approx(told[one.event], abs=1e-9 + 10 * rest)
    values = [one.expected for one in found.answers]
    assert values == sorted(values, reverse=True)
