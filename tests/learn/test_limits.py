"""What is said before learning begins, and what is learned only where there is enough."""

from __future__ import annotations

import numpy as np
import pytest

import elision as el
from elision.ask.telling.deviations import weigh, with_unknown
from elision.ask.telling.slots import likeliest
from elision.learn import limits
from elision.learn.calibration import FEWEST, learn_calibration
from elision.learn.held_out import HeldOut
from elision.learn.telling import learn_telling
from elision.values.telling_kinds import MOST_KINDS


def told(narratives, length):
    return [[f"e{number} {k}" for k in range(length)] for number in range(narratives)]


def test_a_search_says_what_it_compares():
    learner = el.SEMHMM(score="approx", batch_size=4)
    most = limits.MOST_TREE_STATES
    assert limits.of_search(learner, told(1, most - 2)) == []
    (said,) = limits.of_search(learner, told(1, most - 1))
    assert said.startswith(f"narratives of up to {most - 1} events: the search compares at most")
    fits = (most - 2) // 4
    assert limits.of_search(learner, told(9, fits)) == []
    assert len(limits.of_search(learner, told(9, fits + 1))) == 1
    assert limits.of_search(learner, told(1, fits + 1)) == []


def test_a_search_by_the_forward_likelihood_says_more():
    learner = el.SEMHMM(score="exact", batch_size=4)
    most = limits.MOST_EXACT_STATES
    assert limits.of_search(learner, told(1, most - 2)) == []
    (said,) = limits.of_search(learner, told(1, most - 1))
    assert said == f"with more than {most} states, moves are scored by expected counts alone"


def test_the_default_says_what_shares_a_group():
    assert limits.of_default(told(1, MOST_KINDS)) == []
    (said,) = limits.of_default(told(1, MOST_KINDS + 1))
    assert said.startswith(f"{MOST_KINDS + 1} event types: the 280 most told are learned each")
    kinds, steps = limits.of_default(told(1, limits.MOST_EVENTS + 1))[:2]
    assert "groups" in kinds
    assert steps.endswith(f"at most the {limits.MOST_EVENTS} most told become steps")


def test_the_default_says_which_part_is_read():
    events = 9
    fits = limits.MOST_CELLS // (events + 1) // (events + 1)
    assert limits.of_default(told(1, events) * fits) == []
    (said,) = limits.of_default(told(1, events) * 2 * fits)
    assert said.endswith("how they are told is learned from about 50.0% of them")


@pytest.fixture(scope="module")
def model():
    return learn_telling([(0, 1), (0, 1), (1,)], ["ring", "open"])


def test_few_narratives_calibrate_nothing(model):
    def calibrated(number):
        parts = [HeldOut(model, [(0, 1)], [(0, 1)] * 9), HeldOut(model, [(0, 1)], [(1,)] * number)]
        return learn_calibration(parts)

    assert calibrated(FEWEST - 10) is None
    assert calibrated(FEWEST - 9) is not None


def test_tellings_held_out_are_as_odd_as_when_they_are_judged(model):
    """An event that the model has not seen counts as unknown, and only that."""
    known, unknown = (0, 1), (0, 1, 0)
    parts = [HeldOut(model, [(0, 1)], [known] * FEWEST)]
    odd = weigh(model, np.array(known)).oddness
    np.testing.assert_allclose(learn_calibration(parts).oddness, odd, rtol=1e-6)
    parts = [HeldOut(model, [(1,)], [unknown] * FEWEST)]
    found = learn_calibration(parts)
    odd = with_unknown(weigh(model, np.array((1,))).oddness, 2, 3, found.strange)
    np.testing.assert_allclose(found.oddness, odd, rtol=1e-6)


def test_tellings_held_out_are_as_odd_as_the_likeliest_that_they_may_tell(model):
    """As when they are judged; what the model has not seen is no choice."""
    heard = [[{"open": 0.6, "ring": 0.4}, {"open": 0.9}], ["ring", "open"], ["ring", None]]
    numbers = (0,) * FEWEST
    parts = [HeldOut(model, [(0, 1)], [(1, 1)] * FEWEST, numbers)]
    found = learn_calibration(parts, heard=heard)
    assert likeliest(model, heard[0]).tolist() == [0, 1]
    odd = weigh(model, np.array((0, 1))).oddness
    np.testing.assert_allclose(found.oddness, odd, rtol=1e-6)
    assert odd < weigh(model, np.array((1, 1))).oddness
    parts = [HeldOut(model, [(1,)], [(1, 1)] * FEWEST, numbers)]
    heard[0][1] = {"ring": 0.9}
    unknown = learn_calibration(parts, heard=heard)
    odd = with_unknown(weigh(model, np.array((1,))).oddness, 1, 2, unknown.strange)
    np.testing.assert_allclose(unknown.oddness, odd, rtol=1e-6)
    known = learn_calibration(parts, heard=heard, closed=True)
    odd = with_unknown(weigh(model, np.array((1, 0))).oddness, 0, 2, known.strange)
    np.testing.assert_allclose(known.oddness, odd, rtol=1e-6)
    parts = [HeldOut(model, [(0, 1)], [(0,)] * FEWEST, (2,) * FEWEST)]
    half = learn_calibration(parts, heard=heard)
    assert half.strange == pytest.approx(0.5, abs=0.02)
    odd = with_unknown(weigh(model, np.array((0,))).oddness, 1, 2, half.strange)
    np.testing.assert_allclose(half.oddness, odd, rtol=1e-6)
