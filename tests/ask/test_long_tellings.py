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
