"""How well tellings fit a telling model, and what is missing from them, against its twin."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import elision as el
import naive_telling as naive
from elision.ask import score
from elision.ask.fill import allowed_events
from elision.ask.heard import hear_all
from elision.ask.telling import conformance, deviations
from elision.ask.telling import missing as missing_module
from elision.ask.telling.missing import chances_missing
from elision.ask.who import who
from elision.values.telling import Calibration, Missing
from telling_cases import (
    SEEDS,
    close,
    named,
    one_line,
    row_of,
    small_case,
    told_events,
)

pytestmark = pytest.mark.usefixtures("settings_of_the_package")


# How well a telling fits


def expected_surprises(case, items):
    """What is open counts as the likeliest of all ways to fill it, for what comes after it."""
    chances = naive.completed(case.teller, items)
    best = max(chances, key=chances.get)
    found = []
    for place, item in enumerate(items):
        weights = dict.fromkeys(range(case.size), 1.0) if item is None else item
        weights = weights if isinstance(weights, dict) else {weights: 1.0}
        following = case.teller.ahead(best[:place])
        found.append(
            -math.log(sum(weight * math.exp(following[event]) for event, weight in weights.items()))
        )
    return found, -case.teller.ahead(best)[-1]


@pytest.mark.parametrize("seed", SEEDS)
def test_surprises_are_the_steps_of_the_twin(seed):
    case = small_case(seed, missing=Missing(-1.0, 1.0, -1.0))
    for items in (
        [],
        told_events(case, 6),
        [0, None, 1],
        [{0: 0.5, 2: 0.25}, 1, None],
        [1, {2: 0.5}],
    ):
        found = case.script.score(named(case, items), samples=0)
        surprises, ending = expected_surprises(case, items)
        close(found.surprises, surprises)
        close(found.ending, ending)
        close(found.log_prob, -math.fsum([*surprises, ending]))
        assert found.p_value is None
        assert math.isfinite(found.oddness)
        assert found.possible
        if all(isinstance(item, int) for item in items):
            close(found.log_prob, case.teller.log_prob(tuple(items)))


@pytest.mark.parametrize("seed", SEEDS)
def test_unknown_events_are_flagged_and_left_out(seed):
    case = small_case(seed)
    found = case.script.score(["e0", "sneeze", "e1", {"cough": 1.0}], samples=0)
    without = case.script.score(["e0", "e1"], samples=0)
    assert found.told == ("e0", "sneeze", "e1", "cough")
    assert found.surprises[1] is found.surprises[3] is None
    assert (found.surprises[0], found.surprises[2]) == without.surprises
    assert found.log_prob == without.log_prob
    assert not found.possible
    unknown = [flag for flag in found.flags if flag.kind == "unknown"]
    assert [(flag.position, flag.event) for flag in unknown] == [(1, "sneeze"), (3, "cough")]
    assert found.oddness > without.oddness
    with pytest.raises(el.InputError, match="narrative 1, event 1: unknown event 'sneeze'"):
        case.script.conform([["e0"], ["e0", "sneeze"]], unknown="error", samples=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_p_values_are_shares_of_drawn_tellings(seed):
    case = small_case(seed, ending=5.0)
    told = case.script.sample(8, random_state=seed)
    drawn = case.script.sample(29, random_state=np.random.default_rng(7))
    odd = np.array([one.oddness for one in case.script.conform(drawn, samples=0)])
    for found in case.script.conform(told, samples=29, random_state=7):
        assert found.p_value == pytest.approx(share_as_odd(odd, found.oddness), rel=1e-9)


def share_as_odd(usual, oddness):
    """Share of usual tellings; beyond all of them each nat is e times rarer."""
    least = oddness - conformance.ALIKE
    share = (1 + sum(usual >= least)) / (len(usual) + 1)
    return share * min(1.0, math.exp(max(usual) - least))


def test_p_values_are_shares_of_the_tellings_held_out():
    case = small_case(0)
    model = case.script.telling.with_calibration(Calibration.of([3.0, -2.0, -100.0], 0.01))
    script = case.script.with_telling(model)
    found = script.score(["e0", "e1"], samples=0)
    known = np.array([3.0, -2.0, -100.0])
    assert found.p_value == (1 + sum(known >= found.oddness - conformance.ALIKE)) / 4
    strange = script.score(["e0", "sneeze", "e1"], samples=0)
    assert strange.oddness > 3.5
    close(strange.p_value, share_as_odd(known, strange.oddness))
    assert strange.p_value < 0.25
    assert found.odd == (found.p_value <= 0.05)
    assert script.score(["e0", "e1"], false_alarms=0.99).odd == (found.p_value <= 0.99)
    for wrong in (0, 1, "5 %", True, math.nan):
        with pytest.raises(el.InputError, match="expected a number between 0 and 1"):
            script.score(["e0"], false_alarms=wrong)


def test_oddness_weighs_every_deviation():
    case = small_case(0, size=3, ending=1.0)
    told = (0, 2, 0)
    swaps = {(2, 0, 0), (0, 0, 2)}
    parts = [case.teller.worth(one) - math.log(4 * 2 * 2) for one in swaps]
    # Over a distance: the first and the last event go past both others, which changes one place.
    parts += [case.teller.worth(one) - math.log(4 * 2 * 2) for one in ((2, 0, 0), (0, 0, 2))]
    for i in range(3):
        rest = (*told[:i], *told[i + 1 :])
        parts.append(case.teller.worth(rest) - math.log(4 * 3 * 3))
        parts += [
            case.teller.worth((*told[:i], event, *told[i + 1 :])) - math.log(4 * 3 * 3)
            for event in range(3)
            if event != told[i]
        ]
    parts += [
        case.teller.worth((*told[:i], event, *told[i:])) - math.log(4 * 4)
        for i in range(4)
        for event in range(3)
    ]
    found = case.script.score(named(case, told), samples=0)
    close(found.oddness, naive.log_sum(parts) - case.teller.worth(told))


@pytest.mark.parametrize("seed", SEEDS)
def test_undoing_a_deviation_gains_what_it_says(seed):
    case = small_case(seed, size=4)
    model = case.script.telling
    for told in ((0, 1, 2, 3), (3, 3, 0), (1,), ()):
        weighed = deviations.weigh(model, np.array(told, np.int64))
        deviation = weighed.likeliest()
        undone = tuple(deviations.undone(weighed.told, deviation).tolist())
        close(deviation.gain, case.teller.worth(undone) - case.teller.worth(told))
        assert 0 <= deviation.chance <= deviations.chance_of(weighed.oddness) + 1e-12


def test_fitness_is_one_for_the_usual_course_and_falls_with_every_fault(learner):
    usual = ["hear doorbell", "walk to door", "open door", "greet visitor", "close door"]
    worse = [usual, [*usual, "sneeze"], ["cough", *usual, "sneeze"], ["cough", "sneeze"]]
    found = [learner.score(one).fitness for one in worse]
    assert found[0] == 1.0
    assert sorted(found, reverse=True) == found
    assert len(set(found)) == len(found)
    assert found[-1] == 0.0
    swapped = learner.score(["close door", "open door", "hear doorbell"])
    assert 0 < swapped.fitness < 0.9
    assert swapped.odd
    assert swapped.deviations.out_of_order > 0.5
    assert all(0 <= flag.probability <= 1 for flag in swapped.flags)


def test_what_is_learned_from_is_not_called_odd(learner):
    found = learner.conform(el.examples.doorbell_tellings())
    assert not any(one.odd or one.flags for one in found)


def test_logs_are_summed_up(learner):
    usual = ["hear doorbell", "walk to door", "open door", "greet visitor", "close door"]
    odd = ["close door", "open door", "hear doorbell", "sneeze"]
    found = learner.conform([usual, odd, usual])
    variants = found.by_variant()
    assert [row["tellings"] for row in variants] == [2, 1]
    assert [row["odd"] for row in variants.flagged()] == [True]
    steps = {row["step"]: row for row in found.by_step()}
    assert steps["hear doorbell"]["told"] == 3
    assert steps["sneeze"]["superfluous"] == 1
    assert sum(row["out_of_order"] for row in steps.values()) >= 1
    assert list(found.by_step().to_frame()["step"]) == list(steps)
    assert str(variants).count("\n") == 2
    assert str(learner.conform([]).by_step()).startswith("step")


def test_a_model_that_hardly_tells_anything_finds_nothing_infinitely_odd():
    script = small_case(0, ending=60.0).script
    for told in ([], ["e0"], [None], ["sneeze"]):
        assert math.isfinite(script.score(told, samples=9).oddness)


def test_a_swapped_telling_is_flagged(learner):
    usual = ["hear doorbell", "walk to door", "open door", "greet visitor", "close door"]
    swapped = ["open door", "walk to door", "hear doorbell", "greet visitor", "close door"]
    fine, odd = learner.conform([usual, swapped], samples=200)
    assert not [flag for flag in fine.flags if flag.kind == "out of order"]
    assert [flag for flag in odd.flags if flag.kind == "out of order"]
    assert odd.oddness > fine.oddness
    assert odd.p_value < fine.p_value
    assert odd.log_prob < fine.log_prob
    assert "out of order" in str(odd)


def test_what_is_odd_has_something_named():
    ways = [["receive", "approve", "sign", "archive"], ["receive", "reject", "notify", "archive"]]
    ordinary = [ways[0]] * 30 + [ways[1]] * 20
    script = el.ScriptLearner().fit(ordinary).script_
    both = ["receive", "approve", "sign", "reject", "notify", "archive"]
    found = script.score(both)
    assert found.odd
    (flag,) = found.flags
    assert (flag.kind, flag.event, flag.position) == ("surprising", "reject", 3)
    assert flag.weight == max(found.surprises)
    assert flag.note == "surprising here, less than 0.1%"
    assert flag.note in str(found)
    # It is no deviation, and nobody says of a beginning how it compares with others.
    assert found.fitness == pytest.approx(1, abs=0.01)
    assert not script.score([*both, ...]).flags
    assert not any(row["out_of_order"] for row in script.conform([both]).by_step())
    for seed in range(20):
        told = np.random.default_rng(seed).choice(both, 1 + seed % 5).tolist()
        found = script.score(told)
        assert found.flags or not found.odd, told


def test_the_end_may_be_what_is_surprising():
    found = score.Conformance(("a", "b"), -9.0, (0.5, 1.0), 5.0, 0.01, -1.0, ())
    (flag,) = score.named(found).flags
    assert (flag.position, flag.event, flag.weight) == (1, "b", 5.0)
    assert flag.note == "surprising that nothing more is told, 0.7%"
    assert score.named(replace(found, p_value=0.5)).flags == ()
    assert score.named(replace(found, told=(), surprises=())).flags == ()
    assert score.named(score.named(found)) == score.named(found)


def test_a_repeated_event_is_flagged(learner):
    told = ["hear doorbell", "walk to door", "open door", "walk to door", "greet visitor"]
    told += ["let visitor in", "close door"]
    found = learner.score(told, samples=0, false_alarms=0.5)
    assert ("repeated", 3) in [(flag.kind, flag.position) for flag in found.flags]


def test_what_is_no_list_of_tellings_is_not_scored(learner):
    for wrong in ("open door", 5, {"open door": 1.0}, ["open door", 7], ["open door", ..., None]):
        with pytest.raises(el.InputError) as caught:
            learner.score(wrong, samples=0)
        one_line(caught)


def test_names_of_narratives_are_kept(learner):
    narratives = [el.Narrative(("open door",), id="monday"), ["open door"]]
    answer = who(learner.script_, "conform")
    assert answer(learner.script_, narratives, samples=0).ids == ("monday", None)


# What is missing from the record


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("missing", [Missing(-0.5, 0.8, -0.6), Missing(1.5, 0.9, -0.3)])
def test_what_is_missing_follows_from_the_odds(seed, missing):
    case = small_case(seed, missing=missing)
    for items in ([], [0], told_events(case, 4), [0, None, 1], [{0: 0.5, 2: 0.25}, 1]):
        expected = naive.missing(case.teller, items, *missing)
        found = case.script.missing(named(case, items), min_probability=0.0)
        assert len(found.places) == len(items) + 1
        for row, omitted in zip(expected, found.places, strict=True):
            close(row_of(case, omitted), row)
        some = case.script.missing(named(case, items), min_probability=0.1)
        assert some.places == tuple(
            tuple(one for one in omitted if one.probability >= 0.1) for omitted in found.places
        )


def care(rng):
    """A case: blood is taken and looked at while X-rays are made; then one of three is done."""
    blood, rays = ["take blood", "lab result"], ["x-ray"]
    told = ["register"]
    while blood or rays:
        told.append((blood if not rays or (blood and rng.random() < 0.67) else rays).pop(0))
    chosen = ("surgery", "medication", "refer")[rng.integers(3)]
    return [*told, "consult", chosen, "discharge", "bill"]


@pytest.fixture(scope="module")
def of_care():
    rng = np.random.default_rng(0)
    return el.ScriptLearner().fit([care(rng) for _ in range(400)]).script_


def test_what_is_done_once_is_missing_once(of_care):
    told = ["register", "take blood", "lab result", "consult", "surgery", "discharge", "bill"]
    places = of_care.missing(told, min_probability=0.0).places
    rays = [one.probability for row in places for one in row if one.event == "x-ray"]
    assert 0.8 < sum(rays) < 1.1
    told = [event for event in told if event != "surgery"]
    told.insert(3, "x-ray")
    found = of_care.missing(told, min_probability=0.0).places[5]
    chosen = {one.event: one.probability for one in found}
    assert 0.8 < sum(chosen[one] for one in ("surgery", "medication", "refer")) < 1.1


def test_what_goes_together_is_missing_together(of_care):
    """More than one event is missing at the place, and none of them rules out another."""
    found = of_care.missing(["register", "refer", "discharge", "bill"], min_probability=0.0)
    chances = {one.event: one.probability for one in found.places[1]}
    assert chances["consult"] > 0.5
    assert sum(chances.values()) > 1.5


def test_what_is_missing_is_calibrated(of_care):
    """Of what is said with much or little, about as much was hidden."""
    rng = np.random.default_rng(1)
    said, right = [], []
    for _ in range(300):
        whole = care(rng)
        gone = int(rng.integers(len(whole)))
        told = whole[:gone] + whole[gone + 1 :]
        for place, row in enumerate(of_care.missing(told, min_probability=0.05).places):
            said += [one.probability for one in row]
            right += [(place, one.event) == (gone, whole[gone]) for one in row]
    said, right = np.array(said), np.array(right)
    for low, high in ((0.05, 0.45), (0.45, 0.7), (0.7, 1.0)):
        inside = (said >= low) & (said < high)
        assert abs(said[inside].mean() - right[inside].mean()) < 0.15


def test_only_so_many_rivals_are_put_in(monkeypatch):
    case = small_case(4, missing=Missing(1.5, 0.9, -0.3))
    told = named(case, [0, 1])
    tried = []

    def asked(**bounds):
        for name, value in bounds.items():
            monkeypatch.setattr(missing_module, name, value)
        tried.clear()
        rows = chances_missing(case.script, [told])[0]
        return rows, len(tried)

    openings = missing_module.over_openings

    def counted(model, items):
        if len(items) > len(told):
            tried.append(items)
        return openings(model, items)

    monkeypatch.setattr(missing_module, "over_openings", counted)
    agreed, some = asked()
    assert some > 2
    alone, none = asked(MOST_WEIGHED=agreed.size - 1)
    assert none == 0
    assert (agreed <= alone + 1e-12).all()
    assert agreed.sum() < alone.sum()
    assert (asked(MOST_WEIGHED=agreed.size, MOST_PLACES=2)[0] == alone).all()
    assert 0 < asked(MOST_PLACES=3, MOST_TRIED=3)[1] <= 3 < some


def test_certainly_missing_events_are_put_in_one_after_the_other():
    case = small_case(0, missing=Missing(3.0, 1.0, -1.0))
    told = [case.names[event] for event in (0, 1, 0)]
    found = case.script.missing(told)
    assert [one.event for one in found.repaired if one.told] == told
    put = [one for one in found.repaired if not one.told]
    assert put
    assert all(one.probability > 0.5 for one in put)
    assert all(one.probability == 1.0 for one in found.repaired if one.told)
    first = max((one.probability, one.event) for place in found.places for one in place)
    assert first in [(one.probability, one.event) for one in put]
    assert len(found.repaired) <= 2 * len(told) + case.size


@pytest.mark.parametrize("seed", SEEDS)
def test_without_a_notion_of_missing_nothing_is(seed):
    case = small_case(seed)
    found = case.script.missing(["e0", "e1"], min_probability=0.0)
    assert found.places == ((), (), ())
    assert [one.event for one in found.repaired] == ["e0", "e1"]


def test_a_script_alone_takes_its_silences_for_missing():
    script = el.examples.doorbell()
    told = ["hear doorbell", "open door"]
    found = script.missing(told, min_probability=0.01)
    story = script.between(told, min_probability=0.01)
    assert found.told == tuple(told)
    for omitted, unsaid in zip(found.places, story.unsaid, strict=True):
        expected = {one.event: one.probability for one in unsaid}
        assert {one.event: one.probability for one in omitted} == pytest.approx(expected)
    assert [one.event for one in found.repaired if one.told] == told
    assert "walk to door" in [one.event for one in found.repaired]


def test_a_learned_script_finds_what_was_hidden(learner):
    told = ["hear doorbell", "walk to door", "greet visitor", "let visitor in", "close door"]
    found = learner.missing(told)
    best = max((one.probability, one.event) for place in found.places for one in place)
    assert best[1] == "open door"


@pytest.mark.parametrize("min_probability", [-0.1, 1.5, True, "much", None, math.nan])
def test_a_least_probability_that_is_none_is_refused(min_probability):
    for script in (small_case(0).script, el.examples.doorbell()):
        with pytest.raises(el.InputError, match="min_probability") as caught:
            script.missing([], min_probability=min_probability)
        one_line(caught)


# What learners answer in arrays


def test_predictions_are_the_answers(learner):
    script = learner.script_
    names = list(script.events)
    assert script.telling is not None
    assert tuple(names) == learner.events_
    told = ["hear doorbell", "walk to door", "open door", "close door"]
    opened = ["hear doorbell", None, "open door", None]
    soft = [{"walk to door": 0.5, "open door": 0.25}, "close door"]
    by_name = {name: number for number, name in enumerate(names)}

    def row(answers):
        found = np.zeros(len(names))
        for one in answers:
            found[by_name[one.event]] = one.probability
        return found

    gap = ["hear doorbell", None, "open door"]
    close(learner.predict_gap([gap])[0], row(script.fill(gap)[0].answers))
    (both,) = learner.predict_gaps([opened])
    close(both, [row(one.answers) for one in script.fill(opened)])
    tellings = (told, soft, [])
    for one, found in zip(tellings, learner.predict_anywhere(tellings), strict=True):
        close(found, row(script.fill(one, anywhere=True).answers))
    for one, found in zip(tellings, learner.predict_hidden(tellings), strict=True):
        expected = [row(place) for place in script.missing(one, min_probability=0.0).places]
        close(found, expected)
    beginnings = (told[:2], [], ["hear doorbell", None], soft)
    for one, found in zip(beginnings, learner.predict_next(beginnings), strict=True):
        answer = script.next(one)
        close(found, np.append(row(answer.answers), answer.ended))
        close(found.sum(), 1.0)
    close(learner.score_samples([told]), script.log_probs([told]))
    with pytest.raises(el.InputError, match="gap"):
        learner.predict_gap([told])
    with pytest.raises(el.InputError, match="2 gaps"):
        learner.predict_gap([opened])


@pytest.mark.parametrize("seed", [0, 1])
def test_arrays_of_a_script_alone_agree_as_well(seed):
    case = small_case(seed, missing=Missing(-1.0, 1.0, -1.0))
    for script in (case.script, case.bare):
        every = allowed_events(script, ())
        heard = hear_all(script, [["e0", None, "e1", None], [None, "e2"]])
        found = who(script, "gap_chances")(script, heard, every)
        expected = script.fill_many([["e0", None, "e1", None], [None, "e2"]])
        for rows, fillings in zip(found, expected, strict=True):
            close(rows, [row_of(case, one.answers) for one in fillings])
        found = who(script, "anywhere_chances")(script, ["e0", "e1"], every)
        close(found.sum(axis=1), script.fill(["e0", "e1"], anywhere=True).places)
        (found,) = who(script, "missing_chances")(script, [["e0", "e1"]])
        omitted = script.missing(["e0", "e1"], min_probability=0.0).places
        close(found, [row_of(case, place) for place in omitted])
        (found,) = who(script, "next_chances")(script, [["e0", None]])
        answer = script.next(["e0", None])
        close(found, np.append(row_of(case, answer.answers), answer.ended))
