"""What was put into a log, counted and said, by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import elision as el
from elision.errors import InputError
from elision.repairing import repaired
from elision.repairing.repaired import OFTEN, Tally, repair
from elision.repairing.repairer import UNSURE, Answer, Missing


def repairer(rates, known, threshold, trust=(1, 1), doubted=(0, 0)):
    each = {"rates": rates, "known": known, "trust": trust, "doubted": doubted}
    omission = SimpleNamespace(**{name: np.array([*one, 0.0]) for name, one in each.items()})
    return SimpleNamespace(events=("a", "b"), omission=omission, threshold=threshold)


def counted(by=(0, 0, 0, 1, 1)):
    tally = Tally()
    answers = [Answer([Missing(1, "b", UNSURE)]), Answer([], ("b", "d", "d")), Answer([])]
    tally.add([["a"], ["a", "a"], ["c"]], answers, by[:3])
    sure, unsure = Missing(0, "b", 0.9), Missing(1, "a", UNSURE - 0.01)
    answers = [Answer([sure, unsure]), Answer([Missing(0, "a", 0.8)], ("d",))]
    tally.add([["a"], ["b"]], answers, by[3:])
    return tally


def test_everything_is_counted():
    report = counted().report(
        [repairer([0.1, 0.5], [0.9, 0.5], 0.4), repairer([0.5, 0.75], [0.4, 0.6], 0.5)], None
    )
    assert (report.cases, report.repaired, report.told) == (5, 3, 6)
    assert (report.inserted, report.uncertain, report.unplaced) == (4, 1, 4)
    assert report.threshold == pytest.approx(0.45)
    # three of a at 10 % and one at 50 %, one of b at 75 %, one of c at nothing
    left_out = 3 / 9 + 1 + 3
    assert report.omission == pytest.approx(left_out / (6 + left_out))
    rows = [
        (one.event, one.told, one.inserted, one.uncertain, pytest.approx(one.omission))
        for one in report.events
    ]
    assert rows == [
        ("a", 4, 2, 1, (1 / 3 + 1) / (4 + 4 / 3)),
        ("b", 1, 2, 0, 0.75),
        ("c", 1, 0, 0, 0),
        ("d", 0, 0, 0, 0),
    ]
    assert [one.unplaced for one in report.events] == [0, 1, 0, 3]
    assert [one.own_rate for one in report.events] == [True, True, False, False]
    found = [(one.events, one.cases, one.inserted) for one in report.variants]
    assert found == [(("a",), 2, ((0, "b"), (1, "a"))), (("b",), 1, ((0, "a"),))]
    one = counted([0] * 5).report([repairer([0.1, 0.5], [0.9, 0.5], 0.4)], 0.7)
    assert one.threshold == 0.7
    assert [event.own_rate for event in one.events] == [True, False, False, False]


def test_the_share_left_out_is_that_of_the_table():
    """What the rates of events say of the record, summed; `--json` has the same figures."""
    rng = np.random.default_rng(0)
    rates = {"receive": 0.0, "check": 0.25, "pack": 0.1, "pay": 0.15}
    log = [[e for e, rate in rates.items() if rng.random() >= rate] for _ in range(800)]
    report = repair(log).report
    left_out = sum(one.told * one.omission / (1 - one.omission) for one in report.events)
    assert report.omission == pytest.approx(left_out / (report.told + left_out))
    assert report.omission == pytest.approx(np.mean(list(rates.values())), abs=0.02)


def test_an_event_of_no_record_keeps_its_rate():
    """A script may know more than a log holds; of two domains such a rate is the mean."""
    tally = Tally()
    tally.add([["a"]], [Answer([Missing(0, "b", 0.9)])])
    report = tally.report(
        [repairer([0.1, 0.3], [1, 1], 0.4), repairer([0, 0.1], [1, 1], 0.4)], None
    )
    assert [(one.event, one.omission) for one in report.events] == [
        ("b", pytest.approx(0.2)),
        ("a", pytest.approx(0.1)),
    ]


def test_the_report_in_words():
    rates = [OFTEN, OFTEN + 0.01]
    tally = counted([0] * 5)
    report = tally.report([repairer(rates, [0.9, 0.9], 0.4, [0.9, 0.9])], None)
    lines = str(report).splitlines()
    assert lines[0] == (
        "4 events put into 3 of 5 cases, beside 6 recorded ones;"
        f" 1 of them are uncertain (probability below {UNSURE:.0%})."
    )
    assert f"{report.omission:.1%} is taken to be left out" in lines[1]
    assert "probability 40% or more" in lines[1]
    assert lines[2] == (
        f"4 more are missing with probability {UNSURE:.0%} or more, but have no certain place,"
        " and were not put in."
    )
    assert lines[3:5] == ["", "event  recorded  put in  uncertain  no place  left out"]
    assert [line.split()[:5] for line in lines[5:8]] == [
        ["a", "4", "2", "1", "0"],
        ["b", "1", "2", "0", "1"],
        ["d", "0", "0", "0", "3"],
    ]
    assert not lines[5].endswith(")")
    assert lines[6].endswith("(or often not done?)")
    assert lines[8] == ""
    assert lines[9].endswith("say how often it is left out: --omission b=0")
    sure = str(tally.report([repairer(rates, [1, 1], 0.4)], None)).splitlines()
    assert sure == [*lines[:6], lines[6].removesuffix(" (or often not done?)"), lines[7]]
    assumed = str(tally.report([repairer(rates, [0.9, 0.4], 0.4)], None))
    assert assumed.splitlines()[6].endswith(" (assumed)")


def test_doubts_are_named_most_told_first():
    """Also of events of which nothing was put in; of several domains the greatest doubt counts."""
    tally = Tally()
    tally.add([["a", "b"], ["b"]], [Answer([])] * 2)
    repairers = [
        repairer([0.1, 0.1], [0.1, 0.1], 0.4, doubted=[0.2, 0.25]),
        repairer([0.1, 0.1], [0.1, 0.1], 0.4, doubted=[0.123, 0]),
    ]
    report = tally.report(repairers, None)
    assert {one.event: one.doubted for one in report.events} == {"a": 0.2, "b": 0.25}
    *_, title, first, second, said = str(report).splitlines()
    assert "perhaps not always done" in title
    assert [first.split(), second.split()] == [["b", "25.0%"], ["a", "20.0%"]]
    assert said.endswith("say how often: --omission b=0.25")
    without = tally.report([repairer([0.1, 0.1], [0.1, 0.1], 0.4)], None)
    assert "perhaps" not in str(without)


def test_a_step_left_out_that_may_be_optional_is_named_with_its_rate():
    """A quarter of a step is gone from a log that lacks nothing else: the report must say so."""
    rng = np.random.default_rng(0)

    def told(check_rate):
        call = ["call"] if rng.random() < 0.3 else []
        steps = ["open", *call, "check", "pay", "close"]
        lost = rng.random() < check_rate
        return [one for one in steps if one != "check" or not lost]

    log = [told(0.25) for _ in range(1000)]
    report = repair(log).report
    (check,) = [one for one in report.events if one.event == "check"]
    assert check.inserted == 0
    assert check.doubted == pytest.approx(0.25, abs=0.04)
    assert "perhaps not always done" in str(report)
    assert f"--omission check={check.doubted:.2g}" in str(report)
    told_so = repair(log, omission={"check": round(check.doubted, 2)}).report
    (known,) = [one for one in told_so.events if one.event == "check"]
    assert known.doubted == 0
    assert known.inserted == sum("check" not in one for one in log)
    assert "perhaps" not in str(repair([told(0) for _ in range(1000)]).report)


def test_only_so_many_variants_are_kept(monkeypatch):
    monkeypatch.setattr(repaired, "MOST_VARIANTS", 2)
    tally = Tally()
    put_in = Answer([Missing(0, "z", 0.9)])
    traces = [["a"], ["b"], ["c"], ["a"]]
    tally.add(traces, [put_in] * 4)
    report = tally.report([repairer([0.1, 0.1], [1, 1], 0.4)], None)
    assert [(one.events, one.cases) for one in report.variants] == [(("a",), 2), (("b",), 1)]
    assert report.repaired == 4


def test_what_one_domain_leaves_out_is_not_missing_from_another():
    """The same record: in one domain a step of it was left out, in the other there is none."""
    rng = np.random.default_rng(0)
    told = [("orders", [e for e in "xyz" if rng.random() < 0.8]) for _ in range(150)]
    told += [("visits", ["x", "z"])] * 150
    log = el.Corpus(
        [el.Narrative(tuple(events), domain=domain) for domain, events in told if events]
    )
    found = repair(log)
    (one,) = [one for one in found.report.variants if one.events == ("x", "z")]
    records = sum(domain == "orders" and events == ["x", "z"] for domain, events in told)
    assert one.cases == records
    together = el.Repairer.learn([events for _, events in told])
    assert together.missing(["x", "z"]) == []


def test_a_step_that_may_be_done_at_will_is_put_in_with_doubt():
    """Its rate is doubted, and so are the rows; who knows better says so, also of one domain."""
    rng = np.random.default_rng(0)
    rates = [0.0, 0.3, 0.05, 0.2, 0.02, 0.15, 0.1]

    def told():
        steps = [k for k in range(6) if rng.random() >= rates[k]]
        return [f"step {k}" for k in steps] + ["call"] * (rng.random() < 0.38)

    log = [told() for _ in range(800)]
    found = repair(log)
    (call,) = [one for one in found.report.events if one.event == "call"]
    assert call.omission > OFTEN
    assert call.trust < 0.95
    assert call.inserted > 100
    frame = found.to_frame("pandas")
    of_calls = frame[frame["elision:inserted"] & (frame["concept:name"] == "call")]
    assert of_calls["elision:probability"].max() <= call.trust
    assert "--omission call=0" in str(found.report)
    domains = [("with", one) for one in log] + [("without", ["step 0", "step 1"])] * 50
    both = el.Corpus([el.Narrative(tuple(one), domain=domain) for domain, one in domains if one])
    known = repair(both, omission={"call": 0})
    assert "call" not in {one.event for one in known.report.events if one.inserted}
    assert "often not done" not in str(known.report)
    with pytest.raises(InputError, match="omission names 'cal'"):
        repair(both, omission={"cal": 0})


def test_what_is_missing_and_has_no_place_is_counted():
    """A check goes beside three other steps: that it is missing is clear, and not where."""
    rng = np.random.default_rng(0)

    def told():
        steps = ["receive", "pick", "pack", "ship"]
        steps.insert(1 + int(rng.integers(3)), "check")
        return [step for step in steps if step == "receive" or rng.random() >= 0.1]

    log = [told() for _ in range(1500)]
    found = repair(log, threshold=0.5)
    (check,) = [one for one in found.report.events if one.event == "check"]
    without = sum("check" not in one for one in log)
    assert check.inserted + check.unplaced == pytest.approx(without, rel=0.1)
    assert check.unplaced > 50
    assert found.report.unplaced == sum(one.unplaced for one in found.report.events)
    placed = repair(log, threshold=0.2).report  # each at its likeliest place
    (check,) = [one for one in placed.events if one.event == "check"]
    assert check.unplaced < 10
    assert check.inserted == pytest.approx(without, rel=0.1)
