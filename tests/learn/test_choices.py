"""How steps are grouped into branches and choices, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from elision.learn import alternatives
from elision.learn.alternatives import JOINING, LEAST_EVIDENCE, find_choices
from elision.learn.outline import learn_outline

STRONG = LEAST_EVIDENCE
WEAK = JOINING * LEAST_EVIDENCE


def table(n, **pairs):
    """A symmetric table of values by pairs of digits: ``_01=3.0``."""
    found = np.zeros((n, n))
    for pair, value in pairs.items():
        a, b = map(int, pair[1:])
        found[a, b] = found[b, a] = value
    return found


def test_steps_that_all_go_together_are_one_bundle():
    together = table(5, _01=1, _02=1, _12=1, _23=1) > 0
    place = np.array([0.3, 0.2, 0.1, 0.0, 0.0])
    # 2 goes with three, so it begins; 3 does not go with 0 or 1.
    assert alternatives._bundles(together, place) == [(2, 1, 0), (3,), (4,)]
    assert alternatives._bundles(together & False, place) == [(0,), (1,), (2,), (3,), (4,)]
    # Of equal places, by number.
    assert alternatives._bundles(together, np.zeros(5))[0] == (0, 1, 2)


def grouped(n, bundles=None, agrees=None, near=None, **pairs):
    bundles = bundles or [(step,) for step in range(n)]
    agrees = np.zeros((n, n), bool) if agrees is None else agrees > 0
    near = np.ones((n, n), bool) if near is None else near > 0
    place = np.arange(n) / n
    return alternatives._choices(bundles, table(n, **pairs), near, agrees, place)


def test_what_excludes_each_other_is_a_choice_the_surest_first():
    assert grouped(3, _01=STRONG) == [[(1,), (0,)], [(2,)]]
    assert grouped(3, _01=STRONG - 0.01) == [[(0,)], [(1,)], [(2,)]]
    found = grouped(4, _01=STRONG, _12=STRONG + 1, _23=STRONG)
    assert found == [[(2,), (1,)], [(0,)], [(3,)]]
    found = grouped(4, _01=STRONG, _23=STRONG + 1)
    assert found == [[(3,), (2,)], [(1,), (0,)]]


def test_a_third_branch_excludes_all_others():
    assert grouped(3, _01=STRONG + 1, _02=STRONG, _12=WEAK) == [[(1,), (0,), (2,)]]
    # It must exclude one of them surely, and none of them hardly.
    assert grouped(3, _01=STRONG + 1, _02=STRONG - 0.01, _12=STRONG - 0.01)[0] == [(1,), (0,)]
    assert grouped(3, _01=STRONG + 1, _02=STRONG, _12=WEAK - 0.01) == [[(1,), (0,)], [(2,)]]


def test_what_is_told_with_a_branch_and_excludes_the_others_joins_it():
    excluded = {"_01": STRONG + 1, "_02": STRONG}
    assert grouped(3, agrees=table(3, _12=1), **excluded) == [[(1, 2), (0,)]]
    assert grouped(3, agrees=table(3, _02=1), **excluded) == [[(1,), (0,)], [(2,)]]
    # Of two that could join, the one that excludes more; the other must then agree with it, too.
    more = {**excluded, "_03": STRONG + 0.5}
    assert grouped(4, agrees=table(4, _12=1, _13=1), **more) == [[(1, 3), (0,)], [(2,)]]
    both = table(4, _12=1, _13=1, _23=1)
    assert grouped(4, agrees=both, **more) == [[(1, 2, 3), (0,)]]
    # What excludes neither joins neither.
    assert grouped(3, agrees=both[:3, :3], _01=STRONG) == [[(1,), (0,)], [(2,)]]


def test_bundles_exclude_each_other_by_their_weakest_pair():
    bundles = [(0, 1), (2,)]
    assert grouped(3, bundles, _02=STRONG, _12=STRONG + 1) == [[(2,), (0, 1)]]
    assert grouped(3, bundles, _02=STRONG + 1) == [[(0, 1)], [(2,)]]
    agrees = table(4, _02=1, _13=1)
    bundles = [(0, 1), (2,), (3,)]
    pairs = {"_02": 0.0, "_23": STRONG, "_03": STRONG, "_13": STRONG}
    assert grouped(4, bundles, agrees, **pairs) == [[(3,), (0, 1)], [(2,)]]
    assert grouped(4, bundles, table(4, _02=1, _12=1), **pairs) == [[(3,), (0, 1, 2)]]


def test_bundles_are_near_each_other_if_any_of_their_steps_are():
    bundles = [(0, 1), (2,)]
    apart = {"_02": STRONG, "_12": STRONG}
    assert grouped(3, bundles, near=table(3, _02=1), **apart) == [[(2,), (0, 1)]]
    assert grouped(3, bundles, near=table(3, _12=1), **apart) == [[(2,), (0, 1)]]
    assert grouped(3, bundles, near=table(3, _01=1), **apart) == [[(0, 1)], [(2,)]]
    # However near, all of them must exclude each other.
    assert grouped(3, bundles, _02=STRONG) == [[(0, 1)], [(2,)]]
    assert grouped(2, near=table(2), _01=STRONG) == [[(0,)], [(1,)]]


def test_where_nothing_was_left_out_shares_are_counted():
    told = np.array([[1, 0, 1], [0, 1, 1], [0, 0, 1], [1, 1, 0]], bool)
    weight = np.array([3.0, 1.0, 4.0, 2.0])
    found = alternatives._counted(((0,), (1,)), told, weight)
    assert found.shares == pytest.approx((5 / 8, 3 / 8))
    assert found.happens == pytest.approx(0.6)
    assert found.telling == ((1.0,), (1.0,))


def test_usual_silence_is_that_of_units_which_most_tell():
    told = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 0, 0]], bool)
    weight = np.ones(4)
    units = [((0,),), ((1,),), ((2,), (3,))]
    silence, count = alternatives.SILENCE, alternatives.SILENCE_UNITS
    found = alternatives._usual_silence(units, told, weight)
    assert found == pytest.approx((silence * count + 0.25 + 0.5) / (count + 2))


def exclusive(apart, agreeing=0):
    """Two steps told by half of the tellings each, never both but in some; so far apart."""
    told = np.zeros((60, 2), bool)
    told[:30, 0] = told[30:, 1] = True
    told[:agreeing] = True
    return find_choices(told, np.array([0.0, apart]), np.ones(60))


def test_steps_are_instead_of_each_other_if_near_and_hardly_ever_both():
    assert len(exclusive(0.0)) == 1
    assert len(exclusive(alternatives.NEAR - 1e-6)) == 1
    assert len(exclusive(alternatives.NEAR)) == 2
    expected = [
        1 if both < alternatives.INSTEAD * 30 * (30 + both) / 60 else 2 for both in range(0, 30, 3)
    ]
    assert [len(exclusive(0.0, both)) for both in range(0, 30, 3)] == expected
    assert {1, 2} == set(expected)


@pytest.mark.parametrize("joint", range(2, 41, 2))
def test_a_branch_has_no_step_that_is_mostly_told_without_the_others(joint):
    """Of 40 tellings of a step, some tell another, too; the other branch has 40 as well."""
    told = np.zeros((80, 3), bool)
    told[:40, 0] = told[40:, 1] = True
    told[:joint, 2] = True
    units = [set(unit.branches) for unit in find_choices(told, np.full(3, 0.5), np.ones(80))]
    joined = joint >= alternatives.JOINED * 40
    assert ({(0, 2), (1,)} in units) == joined
    assert ({(0,), (1,)} in units) == (not joined)


def test_what_a_branch_is_rarely_told_with_is_not_done_with_it():
    """One in ten of the declined had an offer; the others are hardly said to have had one."""
    cases = [["ask", "decline"]] * 90 + [["ask", "decline", "offer declined"]] * 10
    cases += [["ask", "approve", "pay"]] * 60
    names = ["ask", "decline", "offer declined", "approve", "pay"]
    outline = learn_outline([[names.index(step) for step in one] for one in cases], names)
    steps = {step.name: number for number, step in enumerate(outline.steps)}
    happened = outline.happened([steps["ask"], steps["decline"]])
    assert happened[steps["offer declined"]] < 0.2
    assert happened[steps["pay"]] == 0
