"""Scripts of outlines, and what an outline is put together from, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from elision.learn import outline as learning
from elision.learn.outline import sharp_script
from elision.values.outline import Outline, Step, Unit


def outline():
    steps = (
        Step("start", "a", 0.5, 0.8, again=0.25),
        Step("b", "b", 0.5, 1.0, again=0.95),
        Step("c", "c", 0.5, 0.5),
        Step("d", "d", 0.5, 0.4),
        Step("e", "a", 0.5, 1.0),
    )
    units = (
        Unit(((0,),), (1.0,), 0.75),
        Unit(((1,), (2, 3)), (0.6, 0.4), 0.5),
        Unit(((4,),), (1.0,), 1 - 1e-7),
    )
    none = np.zeros((3, 3))
    return Outline(steps, units, none.astype(bool), none.astype(int))


def test_the_script_of_an_outline_by_hand():
    script = sharp_script(outline(), ["a", "b", "c", "d"])
    assert script.states == ("start", "start ", "b", "c", "d", "e", "end")
    onward = np.zeros((7, 7))
    onward[0, [1, 2, 3, 5]] = [0.75, 0.25 * 0.5 * 0.6, 0.25 * 0.5 * 0.4, 0.25 * 0.5]
    onward[1, [2, 3, 5]] = [0.3, 0.2, 0.5]
    onward[2, 5] = onward[3, 4] = onward[4, 5] = onward[5, 6] = 1.0
    loops = np.array([0, 0.25, 0.9, 0, 0, 0, 0])
    expected = onward * (1 - loops)[:, None] + np.diag(loops)
    np.testing.assert_allclose(script.transition, expected, rtol=1e-12, atol=1e-15)
    # Never told, however often it is passed: (1 - loop) e / (1 - loop e) is the silence.
    silence = np.array([0.2, 0, 0.5, 0.6, 0])
    stay, silent = loops[1:-1], script.elision[1:-1]
    np.testing.assert_allclose((1 - stay) * silent / (1 - stay * silent), silence, rtol=1e-12)
    for state, event in enumerate([0, 1, 2, 3, 0], start=1):
        told = np.zeros(4)
        told[event] = 1 - script.elision[state]
        np.testing.assert_allclose(script.emission[state], told, rtol=1e-12)


def test_events_that_come_back_are_one_step_or_two():
    weight = np.array([6.0, 2.0, 2.0])
    tellings = [(0, 1, 0, 3, 4), (0, 0, 1), (1, 0)]
    kinds = learning._kinds(tellings, weight, 5)
    assert kinds[1] == (0.5,)
    assert kinds[0] == pytest.approx((0.5 / 5, 2.5 / 5))
    assert 2 not in kinds
    # One in four may be two steps, not one in three; and three times is not twice.
    assert learning._kinds([(0, 1, 0, 3)], np.array([9.0]), 5)[0] == (0.5,)
    assert learning._kinds([(0, 1, 0, 3, 0, 4)], np.array([9.0]), 5)[0] == (0.5,)
    assert learning._visits((0, 0, 1, 0)) == {0: [0, 3], 1: [2]}
    assert learning._mentions((0, 1, 0), kinds) == [(0, 0), (1, 0), (0, 1)]
    assert learning._mentions((1, 0), kinds) == [(1, 0), (0, 1)]
    assert learning._mentions((0, 1), kinds) == [(0, 0), (1, 0)]
    assert learning._mentions((0, 0, 1, 2), kinds) == [(0, 0), (0, 0), (1, 0)]
    assert learning._mentions((0, 1, 0, 1, 0), kinds) == [(0, 0), (1, 0), (0, 1), (1, 0), (0, 1)]


def test_places_repetitions_and_pairs_by_hand():
    told = [[0, 1, 0], [1, 0]]
    weight = np.array([2.0, 3.0])
    first = 2 * (0.5 + 2.5) / 3 + 3 * 1.5 / 2
    second = 2 * 1.5 / 3 + 3 * 0.5 / 2
    np.testing.assert_allclose(learning._places(told, weight, 3), [first / 7, second / 5, 0])
    np.testing.assert_allclose(learning._again(told, weight, 3), [1 - 5 / 7, 0, 1])
    assert learning._pairs(told, weight, 2).tolist() == [[0, 2], [3, 0]]


def test_names_of_second_steps_are_their_own():
    assert learning._own_name("a", 0, ["a"]) == "a"
    assert learning._own_name("a", 1, ["a", "b"]) == "a (again)"
    assert learning._own_name("a", 1, ["a", "a (again)"]) == "a (again) (again)"


def test_steps_are_told_often_enough():
    def kinds(*often):
        tellings = [(event,) for event in range(len(often))]
        return set(learning._kinds(tellings, np.array(often, float), len(often)))

    assert kinds(1, 1, 3) == {0, 1, 2}  # of few tellings, one is enough
    assert kinds(1, 2, 3) == {1, 2}  # of six, two
    share = learning.LEAST_SHARE
    many = 200
    enough = int(np.ceil(share * many))
    assert kinds(enough - 1, enough, many - 2 * enough + 1) == {1, 2}
