"""Streams: samples of bounded size, the test for change, the learner and its file."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import cycle, islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
import naive_streams as twin
from elision.errors import FileFormatError, InputError
from elision.learn import drift, stream
from elision.learn.drift import Draws, Reference, Watch, shifts
from elision.learn.exchangeable import BETS, RATIOS, YES_OR_NO, ExchangeTest, Grid, shares
from elision.learn.reservoir import Reservoir
from elision.learn.streamfile import load_state, save_state

TELLINGS = [tuple(one) for one in el.examples.doorbell_tellings()]
SCRIPT = el.examples.doorbell()
RTOL = 1e-9


def told(number, seed=0):
    return [tuple(one) for one in SCRIPT.sample(number, random_state=seed)]


def turned(narratives):
    """The same with two steps in each other's place."""
    other = {"open door": "walk to door", "walk to door": "open door"}
    return [tuple(other.get(event, event) for event in one) for one in narratives]


# --- samples --------------------------------------------------------------------------------------


def filled(draws, capacity, half_life=None):
    sample = Reservoir(capacity, half_life)
    for position, draw in enumerate(draws):
        sample.add((str(position),), position, draw)
    return [one.position for one in sample.kept]


@given(st.lists(st.floats(1e-9, 1), min_size=1, max_size=40), st.integers(1, 10))
def test_without_forgetting_the_smallest_draws_are_kept(draws, capacity):
    best = sorted(range(len(draws)), key=lambda k: (draws[k], -k))[:capacity]
    assert sorted(np.array(draws)[filled(draws, capacity)]) == sorted(np.array(draws)[best])


def test_a_narrative_counts_half_after_a_half_life():
    rng = np.random.default_rng(0)
    found = Counter(
        position for _ in range(3000) for position in filled(rng.random(31), 100, half_life=10)
    )
    share = np.array([found[30 - age] for age in (0, 10, 20, 30)]) / 3000
    np.testing.assert_allclose(share, [1, 0.5, 0.25, 0.125], rtol=0, atol=0.04)


def test_a_full_sample_is_discounted_as_well():
    rng = np.random.default_rng(0)
    found = Counter(position for _ in range(3000) for position in filled(rng.random(40), 5, 10))
    assert sum(found.values()) == 5 * 3000
    ages = np.array([found[39 - age] for age in (0, 10, 20)])
    np.testing.assert_allclose(ages[1:] / ages[:-1], 0.5, rtol=0, atol=0.08)


# --- the test for change --------------------------------------------------------------------------


@pytest.mark.numerical
@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_capitals_are_those_of_the_twin(seed, binary):
    rng = np.random.default_rng(seed)
    draw = (lambda n: rng.integers(0, 2, n)) if binary else (lambda n: rng.integers(-9, 9, n))
    reference, values, draws = draw(5), draw(8), rng.random(8)
    grid = YES_OR_NO if binary else Grid(-9, 1.0, 100)
    test = ExchangeTest([grid], reference[:, None].astype(float), np.array([1e-300]))
    odds = twin.odds_of_rows(reference.tolist(), values.tolist(), draws.tolist(), binary=binary)
    expected = zip(twin.capitals(odds), twin.best_beginnings(odds), strict=True)
    for value, uniform, (capital, best) in zip(values, draws, expected, strict=True):
        assert test.see(np.array([[float(value)]]), np.array([[uniform]])) == (1, None)
        np.testing.assert_allclose(test.capital.mean(), capital, rtol=RTOL)
        np.testing.assert_allclose(test.run[0], [most for most, _ in best], rtol=RTOL)
        for began, (most, since) in zip(test.began[0].tolist(), best, strict=True):
            assert since[began - 1] == pytest.approx(most, rel=RTOL)


def test_every_bet_is_fair():
    x = (np.arange(6000) + 0.5) / 100  # p = exp(-x), for the poles of the densities
    p = np.exp(-x)
    low = np.array([twin.bets_on_number(one)[:4] for one in p])
    mean = (low * p[:, None]).sum(axis=0) / 100
    assert (mean < 1.0001).all()
    np.testing.assert_allclose(mean, 1 - 1e-9 ** np.array([0.1, 0.25, 0.5, 0.75]), rtol=0.03)
    number = twin.bets_on_number(0.2)
    assert len(number) == BETS == len(RATIOS)
    np.testing.assert_allclose(number[:4], twin.bets_on_number(0.8)[4:8], rtol=RTOL)
    below, above = twin.bets_on_share(0.2, 0.3), twin.bets_on_share(0.4, 0.3)
    np.testing.assert_allclose(0.3 * np.array(below) + 0.7 * np.array(above), 1, rtol=RTOL)


def test_what_is_put_on_all_rows_is_one_at_most():
    rows = np.arange(1, 10_000)
    np.testing.assert_allclose(shares(rows), [twin.share_of_row(row) for row in rows], rtol=RTOL)
    assert shares(rows).sum() < 1
    np.testing.assert_allclose(shares(rows).sum(), 1 - 1 / np.log(1e4 - 1 + np.e), rtol=1e-6)


def columns(rng, rows, shift=0.0, share=0.3):
    return np.column_stack([rng.normal(size=rows) + shift, rng.random(rows) < share]).astype(float)


def watched(seed, change=None, rate=0.5, rows=800):
    rng = np.random.default_rng(seed)
    grids = [Grid.around(rng.normal(size=50)), YES_OR_NO]
    test = ExchangeTest(grids, columns(rng, 30), np.array([rate / 2, rate / 2]))
    taken, alarm = test.see(columns(rng, rows), rng.random((rows, 2)))
    if alarm is not None:
        return taken, alarm, None
    if change is not None:
        taken, alarm = test.see(columns(rng, rows, **change), rng.random((rows, 2)))
    return taken, alarm, test.changed(0 if alarm is None else alarm)


def test_false_alarms_keep_their_rate_whatever_comes_first():
    alarms = sum(watched(seed)[1] is not None for seed in range(100))
    assert alarms <= 65  # one half is allowed, and three standard errors
    assert sum(watched(seed, rate=0.02)[1] is not None for seed in range(100)) <= 6


@pytest.mark.parametrize(
    ("change", "column"), [({"shift": 1.5}, 0), ({"shift": -1.5}, 0), ({"share": 0.7}, 1)]
)
def test_a_change_is_noticed_where_it_is_and_when_it_was(change, column):
    found = [watched(seed, change, rate=0.05) for seed in range(10)]
    assert [alarm for _, alarm, _ in found] == [column] * 10
    assert max(taken for taken, _, _ in found) < 250
    assert np.median([abs(began - 800) for _, _, began in found]) < 25


# --- watching narratives --------------------------------------------------------------------------


def test_numbers_of_a_narrative():
    reference = Reference.learned(TELLINGS, seed=0)
    strange = (*TELLINGS[0], "fly")
    rows = reference.rows([TELLINGS[0], strange, TELLINGS[0]])
    model = reference.model
    known = model.log_probs([np.array([model.numbers[event] for event in TELLINGS[0]])])[0]
    total = sum(map(len, TELLINGS))
    np.testing.assert_allclose(rows[:, 0], [-known, -known + np.log(total + 1), -known], rtol=RTOL)
    assert rows[:, 1].tolist() == [0, 1, 0]
    watched = [model.events[number] for number in reference.watched]
    assert rows[0, 2:].tolist() == [float(event in TELLINGS[0]) for event in watched]
    np.testing.assert_allclose(reference.shares.sum(), 1, rtol=RTOL)


def test_the_tests_of_all_models_share_the_rate():
    """The k-th has 1 / k(k + 1) of it, and these sum to 1."""
    watch, draws = Watch(0.05, 0), Draws(0)
    for model in (1, 2, 3):
        watch.see(told(watch.next_model - watch.seen, seed=model), draws)
        assert watch.models == model
        expected = 0.05 / (model * (model + 1))
        np.testing.assert_allclose(watch.test.rates.sum(), expected, rtol=RTOL)


def test_what_is_noticed_does_not_depend_on_the_pieces():
    narratives = told(700) + turned(told(200, seed=1))
    found = []
    for size in (1, 7, 900):
        watch, draws = Watch(0.05, 0), Draws(0)
        at = None
        for first in range(0, len(narratives), size):
            _, alarm = watch.see(narratives[first : first + size], draws)
            if alarm is not None:
                at = (watch.seen, alarm, watch.change(alarm))
                break
        found.append(at)
    assert found[0] == found[1] == found[2]
    seen, _, since = found[0]
    assert 700 < seen < 760
    assert abs(since - 700) < 15


def test_changes_in_words():
    before = [("ring", "open")] * 60 + [("ring", "walk", "open")] * 40
    after = [("open", "ring", "wave")] * 30
    rates, orders = shifts(before, after)
    assert [str(one) for one in rates] == ["wave 0% -> 100%", "walk 40% -> 0%"]
    assert [str(one) for one in orders] == ["open before ring 0% -> 100%"]
    assert shifts(before, before) == ((), ())
    assert shifts(before, []) == shifts([], after) == ((), ())
    found = drift.Drift(130, 100, (-3.0, -12.5), rates, orders)
    assert str(found) == (
        "after 130 narratives: what is told has changed, since about 100;"
        " log-probability -3.00 -> -12.50; told: wave 0% -> 100%, walk 40% -> 0%;"
        " order: open before ring 0% -> 100%"
    )


# --- the learner ----------------------------------------------------------------------------------


@cache
def learned():
    return el.examples.learned_doorbell()


@pytest.fixture
def learnings(monkeypatch):
    """Sizes of the samples that scripts are learned from; learning itself takes too long here."""
    sizes = []
    script = learned()

    def fit(learner, narratives):
        sizes.append(len(narratives))
        learner.n_narratives_seen_ = len(narratives)
        learner.script_, learner.events_ = script, script.events
        return learner

    monkeypatch.setattr(el.ScriptLearner, "fit", fit)
    return sizes


def test_it_learns_what_a_script_learner_learns():
    learner = el.StreamLearner(title="door").fit(TELLINGS)
    other = el.ScriptLearner(title="door").fit(TELLINGS)
    assert learner.script_.annotated(learner="ScriptLearner") == other.script_.annotated(sample=20)
    assert learner.events_ == other.events_
    assert learner.fill(["hear doorbell", None, "open door"]) == other.fill(
        ["hear doorbell", None, "open door"]
    )
    assert learner.script_.about["narratives"] == 20


def test_an_endless_source_is_learned_from_ever_more_seldom(learnings):
    source = islice(cycle(TELLINGS), 29_000)
    learner = el.StreamLearner(capacity=50, false_alarms=None).partial_fit(source)
    assert learner.n_narratives_seen_ == 29_000
    assert set(learnings) == {50}
    assert len(learnings) == 11  # after 1000, 2000, ... 5000, 7000, 9000, 12000, ...
    assert len(learner.sample_) == 50
    assert len(learner.recent_) == stream.RECENT
    assert learner.is_behind
    learner.catch_up()
    assert not learner.is_behind
    assert learner.script_.about["narratives"] == 29_000


def test_with_a_half_life_it_is_learned_often_enough(learnings):
    learner = el.StreamLearner(half_life=100, false_alarms=None)
    for first in range(0, 1000, 10):
        learner.partial_fit(told(10, seed=first))
    assert len(learnings) > 30  # every 25 narratives or three batches
    assert 100 < len(learner.sample_) < 190  # 144 on average


@pytest.mark.parametrize("on_drift", ["forget", "report"])
def test_after_a_change(learnings, on_drift):
    learner = el.StreamLearner(on_drift=on_drift).partial_fit(told(600))
    learner.partial_fit(turned(told(120, seed=1)))
    [found] = learner.drifts_
    assert 600 < found.at < 660
    assert found.log_prob[1] < found.log_prob[0] - 2
    assert any("before" in shift.what for shift in found.order)
    positions = [one.position for one in learner.sample_.kept]
    if on_drift == "forget":
        assert positions == list(range(found.since, 720))
        assert learnings == [600, 720 - found.since]
    else:
        assert positions == list(range(720))
        assert learnings == [600]  # it has not grown by a quarter
    learner.partial_fit(turned(told(600, seed=2)))
    assert learner.drifts_ == [found]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"capacity": 0}, "capacity is 0, expected a whole number from 1"),
        ({"capacity": 2.5}, "capacity is 2.5, expected a whole number from 1"),
        ({"half_life": 0}, "half_life is 0, expected a number above 0"),
        ({"half_life": float("nan")}, "half_life is nan, expected a number above 0"),
        ({"false_alarms": 1}, "false_alarms is 1, expected a probability between 0 and 1"),
        ({"on_drift": "stop"}, "on_drift is 'stop', expected 'forget' or 'report'"),
        ({"random_state": -1}, "random_state is -1, expected a seed from 0"),
    ],
)
def test_settings_that_are_none(settings, said):
    with pytest.raises(InputError, match=said):
        el.StreamLearner(**settings).partial_fit(TELLINGS)


def test_narratives_that_are_none(learnings):
    learner = el.StreamLearner(events=SCRIPT.events)
    for bad in ([], iter([]), "text", [["fly"]]):
        with pytest.raises(InputError):
            learner.partial_fit(bad)
    assert learner.n_narratives_seen_ == 0
    assert learner.partial_fit([["open door"]]).n_narratives_seen_ == 1


# --- its file -------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{}, {"half_life": 80.5, "on_drift": "report"}])
def test_resumed_from_a_file_it_goes_on_as_if_nothing_had_been(tmp_path, learnings, more):
    narratives = told(500) + turned(told(100, seed=1))
    pieces = [narratives[first : first + 90] for first in range(0, 600, 90)]
    straight = el.StreamLearner(**more)
    broken = el.StreamLearner(**more)
    for number, piece in enumerate(pieces):
        straight.partial_fit(piece)
        broken.partial_fit(piece)
        save_state(tmp_path / "a", broken, source={"offset": number}, domain="door")
        broken = el.StreamLearner(**more)
        resumed = load_state(tmp_path / "a", broken)
        assert (resumed.source, resumed.domain) == ({"offset": number}, "door")
    for learner, name in ((straight, "a"), (broken, "b")):
        save_state(tmp_path / name, learner)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert straight.drifts_ == broken.drifts_
    assert len(straight.drifts_) == 1


def test_there_is_no_file(tmp_path):
    assert load_state(tmp_path / "none", el.StreamLearner()) is None


def test_other_settings(tmp_path, learnings):
    save_state(tmp_path / "a", el.StreamLearner().partial_fit(TELLINGS))
    said = "half_life was null and is 3 now, expected the same to go on"
    with pytest.raises(InputError, match=said):
        load_state(tmp_path / "a", el.StreamLearner(half_life=3))


def with_sum(content, **changes):
    from elision.files.script import ENVELOPE

    raw = json.loads(content) | {"checksum": f"sha256:{'0' * 64}"} | changes
    return ENVELOPE.sealed(json.dumps(raw))


def with_watch(content, **changes):
    return with_sum(content, watch=json.loads(content)["watch"] | changes)


def with_test(content, **changes):
    return with_watch(content, test=json.loads(content)["watch"]["test"] | changes)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-20],
        lambda content: content.replace(b'"seen":', b'"sown":'),
        lambda content: content.replace(b"hear", b"fear"),
        lambda content: b"[]",
        lambda content: b"\xff",
        lambda content: with_sum(content, version=2),
        lambda content: with_sum(content, format="elision-script"),
        lambda content: with_sum(content, seen=-1),
        lambda content: with_sum(content, due=2**63),
        lambda content: with_watch(content, began=-1),
        lambda content: with_watch(content, told=-1),
        lambda content: with_watch(content, models=-1),
        lambda content: with_watch(content, models=10**9),
        lambda content: with_sum(content, recent=[10**6]),
        lambda content: with_sum(content, recent=[-1]),
        lambda content: with_sum(content, watch=None),
        lambda content: with_watch(content, watched=[99]),
        lambda content: with_test(content, counts=[(0, 2000, 1)]),
        lambda content: with_test(content, capital=[[1.0]]),
    ],
)
def test_a_damaged_file(tmp_path, learnings, damage):
    learner = el.StreamLearner().partial_fit(told(120))
    save_state(tmp_path / "a", learner)
    (tmp_path / "a").write_bytes(damage((tmp_path / "a").read_bytes()))
    with pytest.raises(FileFormatError) as caught:
        load_state(tmp_path / "a", el.StreamLearner())
    assert "progress file" in str(caught.value)
    assert "(delete it to start anew)" in str(caught.value)
    assert "\n" not in str(caught.value)
