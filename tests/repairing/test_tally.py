"""What was put into a log, counted and said, by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from elision.repairing import repaired
from elision.repairing.repaired import OFTEN, UNSURE, Tally
from elision.repairing.repairer import Missing


def repairer(rates, known, overall, threshold):
    omission = SimpleNamespace(
        rates=np.array([*rates, 0.0]), known=np.array([*known, 0.0]), overall=overall
    )
    return SimpleNamespace(events=("a", "b"), omission=omission, threshold=threshold)


def counted():
    tally = Tally()
    tally.add([["a"], ["a", "a"], ["c"]], [[Missing(1, "b", UNSURE)], [], []])
    sure, unsure = Missing(0, "b", 0.9), Missing(1, "a", UNSURE - 0.01)
    tally.add([["a"], ["b"]], [[sure, unsure], [Missing(0, "a", 0.8)]])
    return tally


def test_everything_is_counted():
    report = counted().report(
        [repairer([0.1, 0.5], [0.9, 0.5], 0.2, 0.4), repairer([0.3, 0.9], [0.51, 0.6], 0.3, 0.5)],
        None,
    )
    assert (report.cases, report.repaired, report.told) == (5, 3, 6)
    assert (report.inserted, report.uncertain) == (4, 1)
    assert report.omission == pytest.approx(0.25)
    assert report.threshold == pytest.approx(0.45)
    rows = [
        (one.event, one.told, one.inserted, one.uncertain, one.omission, one.own_rate)
        for one in report.events
    ]
    assert rows == [
        ("a", 4, 2, 1, 0.3, True),
        ("b", 1, 2, 0, 0.9, True),
        ("c", 1, 0, 0, 0.0, False),
    ]
    found = [(one.events, one.cases, one.inserted) for one in report.variants]
    assert found == [(("a",), 2, ((0, "b"), (1, "a"))), (("b",), 1, ((0, "a"),))]
    one = counted().report([repairer([0.1, 0.5], [0.9, 0.5], 0.2, 0.4)], 0.7)
    assert one.threshold == 0.7
    assert [event.own_rate for event in one.events] == [True, False, False]


def test_the_report_in_words():
    rates = [OFTEN, OFTEN + 0.01]
    lines = str(counted().report([repairer(rates, [0.9, 0.9], 0.25, 0.4)], None)).splitlines()
    assert lines[0] == (
        "4 events put into 3 of 5 cases, beside 6 recorded ones;"
        f" 1 of them are uncertain (probability below {UNSURE:.0%})."
    )
    assert "25.0% is taken to be left out" in lines[1]
    assert "probability 40% or more" in lines[1]
    assert lines[2:4] == ["", "event  recorded  put in  uncertain  left out"]
    assert [line.split()[0] for line in lines[4:]] == ["a", "b"]
    assert not lines[4].endswith(")")
    assert lines[5].endswith("(or often not done?)")
    assumed = str(counted().report([repairer(rates, [0.9, 0.4], 0.25, 0.4)], None))
    assert assumed.splitlines()[5].endswith(" (assumed)")


def test_only_so_many_variants_are_kept(monkeypatch):
    monkeypatch.setattr(repaired, "MOST_VARIANTS", 2)
    tally = Tally()
    put_in = [Missing(0, "z", 0.9)]
    traces = [["a"], ["b"], ["c"], ["a"]]
    tally.add(traces, [put_in] * 4)
    report = tally.report([repairer([0.1, 0.1], [1, 1], 0.1, 0.4)], None)
    assert [(one.events, one.cases) for one in report.variants] == [(("a",), 2), (("b",), 1)]
    assert report.repaired == 4
