"""The methods to compare with by hand, and the predictions of learners of scripts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import elision as el
from elision.ask.fill import overall
from elision.learn.baselines import NGram
from mornings import EVENTS, TEN


def test_frequency_by_hand():
    found = el.Frequency().fit(TEN).predict_gap([["wake", None], ["wake", "leave", None]])
    told = {"dress": 7, "eat": 5, "leave": 9, "wake": 9, "wash": 7}
    for event, times in told.items():
        assert sum(one.count(event) for one in TEN) == times
    assert EVENTS[found[0].argmax()] == "leave"
    assert EVENTS[found[1].argmax()] in ("dress", "wash")
    assert found[1][EVENTS.index("dress")] == found[1][EVENTS.index("wash")]


def test_conditional_by_hand():
    found = el.Conditional().fit(TEN).predict_gap([["wake", None, "leave"], [None, "wash"]])
    # After "wake": wash 6 times, dress 2, eat 1.
    total = 9 + 0.3 * 6
    np.testing.assert_allclose(found[0][EVENTS.index("wash")], 6.3 / (total - 0.3), rtol=1e-12)
    assert EVENTS[found[1].argmax()] == "wake"  # what a telling begins with


def test_bidirectional_bigram_by_hand():
    found = el.BidirectionalBigram().fit(TEN).predict_gap([["wash", None, "eat"]])
    after_wash = {"dress": 5.3, "eat": 1.3, "leave": 1.3, "wake": 0.3, "wash": 0.3}
    before_eat = {"dress": 3.3 / 8.8, "eat": 0.3 / 6.8, "leave": 0.3 / 10.8, "wake": 1.3 / 10.8}
    before_eat["wash"] = 1.3 / 8.8
    weight = np.array([after_wash[event] * before_eat[event] for event in EVENTS])
    np.testing.assert_allclose(found[0], weight / weight.sum(), rtol=1e-12)


def test_logistic_regression_is_scikit_learns_on_the_features_named():
    from sklearn.linear_model import LogisticRegression

    fitted = el.LogisticGap().fit(TEN)
    rows, answers = [], []
    for one in TEN:
        for place, event in enumerate(one):
            before, after = one[:place], one[place + 1 :]
            row = [float(before[-1:] == [other]) for other in EVENTS] + [float(not before)]
            row += [float(after[:1] == [other]) for other in EVENTS] + [float(not after)]
            row += [float(other in before) for other in EVENTS]
            row += [float(other in after) for other in EVENTS]
            rows.append(row)
            answers.append(EVENTS.index(event))
    peer = LogisticRegression(C=0.3, max_iter=500).fit(np.array(rows), answers)
    gap = rows[5]
    expected = peer.predict_proba([gap])[0]
    found = fitted.predict_gap([["wake", None, "leave"]])[0]
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_frequency_takes_every_place_alike():
    (found,) = el.Frequency().fit(TEN).predict_hidden([["wake", "leave"]])
    assert found.shape == (3, 5)
    weight = np.array([7.3, 5.3, 9.3e-3, 9.3e-3, 7.3])
    np.testing.assert_allclose(found, np.tile(weight / weight.sum() / 3, (3, 1)), rtol=1e-12)


def test_the_bigram_gives_the_odds_of_an_insertion():
    fitted = el.BidirectionalBigram().fit(TEN)
    (found,) = fitted.predict_hidden([["wake", "leave"]])
    # wake -> wash 6 times of 9, wash -> leave once of 7, wake -> leave never.
    odds = (6.3 / 10.8) * (1.3 / 8.8) / (0.3 / 10.8)
    assert found[1, EVENTS.index("wash")] == pytest.approx(odds / (1 + odds), rel=1e-12)
    # Nothing -> wash once of 10; wash -> wake never; nothing -> wake 9 times.
    odds = (1.3 / 11.8) * (0.3 / 8.8) / (9.3 / 11.8)
    assert found[0, EVENTS.index("wash")] == pytest.approx(odds / (1 + odds), rel=1e-12)
    # After "leave" comes the end 9 times of 9.
    odds = (0.3 / 10.8) * (0.3 / 6.8) / (9.3 / 10.8)
    assert found[2, EVENTS.index("eat")] == pytest.approx(odds / (1 + odds), rel=1e-12)


@pytest.mark.parametrize("name", ["Frequency", "BidirectionalBigram", "LogisticGap"])
def test_hidden_events_of_odd_narratives(name):
    fitted = getattr(el, name)(events=EVENTS).fit(TEN)
    assert fitted.predict_hidden([]) == []
    empty, unknown = fitted.predict_hidden([[], ["wake", "whistle", "leave"]])
    assert empty.shape == (1, 5)
    assert unknown.shape == (4, 5)
    np.testing.assert_array_equal(unknown[1], unknown[2])  # what is unknown is not there
    for found in (empty, unknown):
        assert ((found >= 0) & (found <= 1)).all()


def test_what_is_next_by_frequency_and_by_the_last_event():
    frequency = el.Frequency().fit(TEN).predict_next([[], ["wake", "leave"]])
    total = 37 + 10 + 6 * 0.3
    told = [7, 5, 9, 9, 7, 10]
    np.testing.assert_allclose(frequency, np.tile((np.array(told) + 0.3) / total, (2, 1)))
    found = el.Conditional().fit(TEN).predict_next([[], ["wash", "wake"], ["whistle"]])
    assert found[0] == pytest.approx(np.array([0.3, 0.3, 0.3, 9.3, 1.3, 0.3]) / 11.8, rel=1e-12)
    assert found[1] == pytest.approx(np.array([2.3, 1.3, 0.3, 0.3, 6.3, 0.3]) / 10.8, rel=1e-12)
    np.testing.assert_array_equal(found[2], found[0])


def test_n_grams_by_hand():
    fitted = NGram(events=("a", "b", "c")).fit([["a", "b"], ["a", "b", "b"], ["b"]])
    # Told: a twice, b four times, the end thrice: 9 of three kinds; c has what is left.
    single = (np.array([2, 4, 0, 3]) + 3 / 4) / (9 + 3)
    start = (np.array([2, 1, 0, 0]) + 2 * single) / (3 + 2)
    after_b = (np.array([0, 1, 0, 3]) + 2 * single) / (4 + 2)
    after_a = (np.array([0, 2, 0, 0]) + 1 * single) / (2 + 1)
    after_ab = (np.array([0, 1, 0, 1]) + 2 * after_b) / (2 + 2)
    after_start_a = (np.array([0, 2, 0, 0]) + 1 * after_a) / (2 + 1)
    rows = fitted.predict_next([[], ["a"], ["a", "b"], ["b", "c", "b"], ["c", "a"], ["c"]])
    np.testing.assert_allclose(
        rows, [start, after_start_a, after_ab, after_b, after_a, single], rtol=1e-12
    )
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)
    alone = clone(fitted).set_params(order=1).fit([["a", "b"], ["a", "b", "b"], ["b"]])
    np.testing.assert_allclose(alone.predict_next([["a", "b"], []]), [single, single], rtol=1e-12)
    assert alone.predict_next([]).shape == (0, 4)


def naive(narratives, events, order, beginning):
    """Witten-Bell straight from the formula, counting anew at each step."""
    lines = [("<", *one, ">") for one in narratives]

    def chance(event, history):
        shorter = chance(event, history[1:]) if history else 1 / (len(events) + 1)
        after = [
            line[place]
            for line in lines
            for place in range(1, len(line))
            if line[max(0, place - len(history)) : place] == history
        ]
        kinds = len(set(after))
        return (after.count(event) + kinds * shorter) / (len(after) + kinds) if after else shorter

    history = ("<", *beginning)[-(order - 1) :] if order > 1 else ()
    return [chance(event, history) for event in (*events, ">")]


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_n_grams_of_any_order_follow_the_formula(order):
    told = [tuple(one) for one in TEN]
    fitted = NGram(order=order, events=(*EVENTS, "whistle")).fit(told)
    beginnings = [one[:place] for one in told for place in range(len(one) + 1)]
    beginnings += [("leave", "leave"), ("eat", "wake", "wash"), ("whistle",)]
    for beginning, row in zip(beginnings, fitted.predict_next(beginnings), strict=True):
        expected = naive(told, (*EVENTS, "whistle"), order, beginning)
        np.testing.assert_allclose(row, expected, rtol=1e-12)


@pytest.mark.parametrize("order", [0, -1, 1.5, True, "2"])
def test_orders_that_are_none(order):
    with pytest.raises(el.InputError, match="order is"):
        NGram(order=order).fit(TEN)


def test_a_script_answers_anywhere_as_fill_does():
    learner = el.SEMHMM(score="marginal", events=EVENTS).fit(TEN)
    told = ["wake", "leave"]
    (found,) = learner.predict_anywhere([told])
    answers = learner.script_.fill(told, anywhere=True).answers
    assert len(answers) == len(EVENTS)
    for one in answers:
        assert found[EVENTS.index(one.event)] == pytest.approx(one.probability, rel=1e-9)
    gaps = [["wake", None, None], [None, "leave"]]
    for rows, fillings in zip(
        learner.predict_gaps(gaps), learner.script_.fill_many(gaps), strict=True
    ):
        for row, filling in zip(rows, fillings, strict=True):
            for one in filling.answers:
                assert row[EVENTS.index(one.event)] == pytest.approx(one.probability, rel=1e-9)
    assert learner.predict_gaps([]) == []
    assert learner.predict_anywhere([]).shape == (0, len(EVENTS))


def test_what_a_script_cannot_tell_gets_the_usual_answer():
    learner = el.BMM(events=EVENTS).fit([["wake", "wash"], ["wake", "dress"]])
    impossible = ["dress", "dress", "wake", "wake"]
    usual = overall(learner.script_)
    np.testing.assert_allclose(learner.predict_anywhere([impossible])[0], usual, rtol=1e-12)
    (rows,) = learner.predict_gaps([[*impossible, None, None]])
    np.testing.assert_allclose(rows, np.tile(usual, (2, 1)), rtol=1e-12)
    with pytest.raises(el.InputError, match="no gap"):
        learner.predict_gaps([["wake"]])


def test_events_that_training_never_told_do_not_stop_the_default():
    learner = el.ScriptLearner(events=(*EVENTS, "whistle"), random_state=0)
    learner.fit(TEN)
    found = learner.predict_anywhere([["wake", "whistle"], ["whistle", "whistle"]])
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-9)
