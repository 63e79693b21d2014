"""The repairer: what it says is missing, of logs of every shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
from elision.errors import InputError
from elision.repairing import Repairer, repairer
from elision.repairing.completing import Completion

STEPS = ("ask", "check", "pay", "pack", "ship")


def thinned(steps=STEPS, rate=0.2, cases=300, seed=0):
    rng = np.random.default_rng(seed)
    told = [[step for step in steps if rng.random() >= rate] for _ in range(cases)]
    return [one for one in told if one]


@pytest.fixture(scope="module")
def log():
    return thinned()


@pytest.fixture(scope="module")
def learned(log):
    return Repairer.learn(log)


@pytest.fixture(scope="module")
def script():
    return el.ScriptLearner().fit([list(STEPS)] * 20).script_


def whole(trace, missing):
    """A trace with what is missing put in."""
    found = []
    for gap in range(len(trace) + 1):
        found += [one.event for one in missing if one.gap == gap]
        found += trace[gap : gap + 1]
    return found


class TestLearned:
    def test_it_finds_what_is_missing_and_puts_it_in_order(self, log, learned):
        answers = learned.missing_many(log)
        found = [whole(t, m) for t, m in zip(log, answers, strict=True)]
        assert found.count(list(STEPS)) > 0.95 * len(log)
        assert all(one == sorted(one, key=STEPS.index) for one in found)
        some = [(one.gap, one.event) for one in learned.missing(["pay", "ship"])]
        assert some == [(0, "ask"), (0, "check"), (1, "pack")]

    def test_one_and_many_and_iterators_get_the_same_answers(self, log, learned):
        traces = [*log[:40], [], ["unheard of"], log[0]]
        many = learned.missing_many(traces)
        assert many == [learned.missing(trace) for trace in traces]
        assert many == learned.missing_many(iter(traces))
        assert learned.missing_many([]) == []

    def test_answers_are_lists_of_their_own(self, learned):
        first, second = learned.missing_many([["ask", "ship"]] * 2)
        first.clear()
        assert second

    def test_the_same_seed_gives_the_same_answers(self, log, learned):
        again, other = Repairer.learn(log), Repairer.learn(log, random_state=1)
        assert again.threshold == learned.threshold
        assert again.chances(log) == learned.chances(log)
        assert other.chances(log) != learned.chances(log)

    def test_unknown_events_do_no_harm(self, learned):
        missing = learned.missing(["ask", "check", "sing", "pack", "ship"])
        assert "sing" not in {one.event for one in missing}
        assert [one.event for one in learned.missing(["sing", "pay", "pack", "ship"])] == []
        assert [one.event for one in learned.missing(["sing", "check", "pack", "ship"])] == ["pay"]

    def test_what_is_missing_is_among_the_chances(self, log, learned):
        for trace in log[:20]:
            chances = {(gap, event): p for gap, event, p in learned.chances([trace])[0]}
            assert all(0 < p <= 1 for p in chances.values())
            missing = learned.missing(trace)
            said = {(one.gap, one.event) for one in missing}
            assert said == {key for key, p in chances.items() if p >= learned.threshold}
            for one in missing:
                assert one.probability == chances[one.gap, one.event]
                for event, p in one.alternatives:
                    assert chances[one.gap, event] == p < learned.threshold

    def test_higher_thresholds_say_less(self, log, learned):
        said = [
            sum(map(len, learned.missing_many(log, threshold=least)))
            for least in (0.02, 0.3, 0.7, 0.95, 1.0)
        ]
        assert said == sorted(said, reverse=True)
        assert said[0] > said[-1]

    @pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan")])
    def test_thresholds_are_checked(self, learned, threshold):
        with pytest.raises(InputError, match=r"threshold is .*above 0 and at most 1"):
            learned.missing(["ask"], threshold=threshold)

    @pytest.mark.parametrize("rate", [-0.1, 1, 2, float("nan")])
    def test_omissions_are_checked(self, log, rate):
        with pytest.raises(InputError, match=r"omission is .*below 1"):
            Repairer.learn(log, omission=rate)

    def test_omissions_may_be_those_of_some_events(self, log):
        event = log[0][0]
        learned = Repairer.learn(log, omission={event: 0})
        known = learned.events.index(event)
        assert learned.omission.rates[known] == 0
        assert learned.omission.rates[:-1].max() > 0
        assert event not in {one.event for found in learned.missing_many(log) for one in found}
        of_all = Repairer.learn(log, omission={event: 0, None: 0.2})
        rates = of_all.omission.rates.tolist()
        assert rates == [
            0.0 if k == known or k == len(of_all.events) else 0.2 for k in range(len(rates))
        ]

    @pytest.mark.parametrize(
        "omission", [{"sing": 0}, {3: 0.1}, {"ask": 2}, {"ask": None}, "ask=0"]
    )
    def test_omissions_by_name_are_checked(self, log, omission):
        with pytest.raises(InputError, match=r"^omission (names|is|of)"):
            Repairer.learn(log, omission=omission)

    @pytest.mark.parametrize("traces", [[], [[]], [[], []]])
    def test_nothing_to_learn_from(self, traces):
        with pytest.raises(InputError, match="no case has an event"):
            Repairer.learn(traces)


class TestShapes:
    @pytest.mark.parametrize("omission", [None, 0.0, 0.3, 0.9, 0.99])
    @pytest.mark.parametrize(
        "traces",
        [
            [["a"]],
            [["a", "b", "a"]],
            [["a"]] * 40,
            [["a", "a", "a"]] * 20 + [["a"]] * 20,
            [["a", "b", "c"]] * 40,
            [[f"e{k}", f"f{k}"] for k in range(35)],
            [["a"], [], ["b"], []],
        ],
    )
    def test_any_log_can_be_learned_from(self, traces, omission):
        learned = Repairer.learn(traces, omission=omission)
        assert np.isfinite(learned.omission.rates).all()
        assert 0 < learned.threshold <= 0.5
        for trace, missing in zip(traces, learned.missing_many(traces), strict=True):
            for one in missing:
                assert 0 <= one.gap <= len(trace)
                assert learned.threshold <= one.probability <= 1
            if omission == 0.0:
                assert missing == []

    @given(st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=8), st.floats(0, 0.95))
    @settings(max_examples=25)
    def test_any_small_log(self, traces, omission):
        if any(traces):
            learned = Repairer.learn(traces, omission=omission)
            for answers in learned.chances([*traces, [], ["z", "a"]]):
                assert all(0 < p <= 1 for _, _, p in answers)

    def test_identical_cases_are_complete(self):
        learned = Repairer.learn([["a", "b", "c"]] * 200)
        assert learned.missing(["a", "b", "c"]) == []

    def test_a_log_without_omissions_gets_almost_nothing(self):
        """Where the ways part, what one does not do depends on the case."""
        rng = np.random.default_rng(0)
        ways = (["ask", "pay", "ship"], ["ask", "refuse"], ["ask", "check", "repair", "close"])
        log = [list(ways[rng.integers(3)]) for _ in range(400)]
        put_in = sum(map(len, Repairer.learn(log).missing_many(log)))
        assert put_in <= 0.01 * sum(map(len, log))

    def test_rare_events_beyond_the_most_are_never_put_in(self, monkeypatch, log):
        monkeypatch.setattr(repairer, "MOST_EVENTS", 3)
        odd = [[*one, "odd"] for one in log[:5]]
        traces = [["ask", "check", "pay"]] * 40 + [["ask", "pay"]] * 10 + log[:20] + odd
        learned = Repairer.learn(traces, omission=0.2)
        assert learned.events == ("ask", "check", "pay")
        said = {one.event for answer in learned.missing_many(traces) for one in answer}
        assert said <= {"ask", "check", "pay"}
        assert {e for answer in learned.chances(traces) for _, e, _ in answer} <= set(
            learned.events
        )
        assert [one.event for one in learned.missing(["ask", "pay"])] == ["check"]

    def test_of_many_cases_a_part_is_learned_from(self, monkeypatch, log):
        sizes = []

        class Seen(Completion):
            def __init__(self, traces, *arguments, **options):
                sizes.append(len(traces))
                super().__init__(traces, *arguments, **options)

        monkeypatch.setattr(repairer, "MOST_CASES", 100)
        monkeypatch.setattr(repairer, "Completion", Seen)
        learned = Repairer.learn(log, omission=0.2)
        assert sizes == [100]
        assert [one.event for one in learned.missing(["ask", "pay", "pack", "ship"])] == ["check"]


class TestOfScript:
    def test_a_complete_script_fills_what_is_missing(self, script, log):
        made = Repairer.of_script(script, omission=0.2)
        assert [one.event for one in made.missing(["ask", "ship"])] == ["check", "pay", "pack"]
        assert made.missing(STEPS) == []

    def test_omissions_are_estimated_from_traces(self, script, log):
        made = Repairer.of_script(script, log)
        np.testing.assert_allclose(made.omission.rates[:-1], 0.2, rtol=0, atol=0.1)
        again = Repairer.of_script(script, log)
        assert made.chances(log) == again.chances(log)

    @pytest.mark.parametrize("traces", [(), [[]]])
    def test_without_traces_omissions_must_be_given(self, script, traces):
        with pytest.raises(InputError, match="how much is left out"):
            Repairer.of_script(script, traces)
        assert Repairer.of_script(script, traces, omission=0.1).events == tuple(script.events)

    def test_unknown_events_in_the_traces(self, script):
        made = Repairer.of_script(script, [["sing", "dance"]] * 50)
        assert made.missing(["sing"]) == []
        made = Repairer.of_script(script, omission=0.2)
        assert made.missing(["ask", "check", "pay", "sing", "pack", "ship"]) == []
