"""Logs repaired, as frames, as files and by the command: all that came stays as it was."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

import elision as el
from commands import files, finished, refused
from elision.errors import InputError
from elision.logs.log import read_log
from elision.logs.writing import write
from elision.repairing import large, repair, repair_file
from elision.repairing.repairer import UNSURE

STEPS = ("ask", "check", "pay", "pack", "ship")
OTHERS = ("ring", "open", "greet", "close")
CASE, EVENT, TIME = "case:concept:name", "concept:name", "time:timestamp"
INSERTED = "elision:inserted"
START = datetime(2024, 5, 13, 8, tzinfo=UTC)
FORMATS = ("csv", "parquet", "xes", "jsonl")


def rows(steps=STEPS, cases=120, seed=0, domain="orders"):
    """Rows of a log of which each lacks a fifth, with numbers, texts and nulls beside."""
    rng = np.random.default_rng(seed)
    found = []
    for case in range(cases):
        told = [k for k in range(len(steps)) if rng.random() >= 0.2] or [0]
        found += [
            {
                CASE: f"{domain} {case}",
                EVENT: steps[k],
                TIME: START + timedelta(days=case, minutes=10 * k),
                "cost": int(rng.integers(100)),
                "note": None if rng.random() < 0.3 else f'Ä, "{case}";\n{k}',
                "case:kind": f"kind {case % 3}",
            }
            for k in told
        ]
    return found


def log(**options):
    return pl.DataFrame(rows(**options))


def save(frame, path):
    """Write a log as it is."""
    if str(path).endswith(".csv"):
        frame.write_csv(path)
    elif str(path).endswith(".parquet"):
        frame.write_parquet(path)
    elif str(path).endswith(".jsonl"):
        el.read(frame).to_jsonl(path)
    else:
        write(read_log(frame), (), path)


def as_pandas(frame):
    """Any frame as one of pandas, whose nulls are None."""
    table = {pd.DataFrame: lambda: pl.from_pandas(frame), pa.Table: lambda: pl.from_arrow(frame)}
    made = table.get(type(frame), lambda: frame)()
    return made.to_pandas()


def left(frame):
    """What is left of a repaired frame without what was put in."""
    made = as_pandas(frame)
    kept = made[~made[INSERTED].astype(bool)]
    return kept[[name for name in made.columns if not name.startswith("elision:")]]


def same(found, wanted):
    assert_frame_equal(
        as_pandas(found).reset_index(drop=True),
        as_pandas(wanted).reset_index(drop=True),
        check_dtype=False,
    )


def traces_of(frame):
    """The events of each case of a frame, in order of its rows."""
    found = {}
    for case, event in as_pandas(frame)[[CASE, EVENT]].itertuples(index=False):
        found.setdefault(case, []).append(event)
    return found


@pytest.fixture(scope="module")
def repaired():
    return repair(log())


@pytest.fixture(scope="module")
def script():
    return el.ScriptLearner().fit([list(STEPS)] * 20).script_


class TestFrames:
    @pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
    def test_every_row_stays_and_cases_are_whole(self, backend, repaired):
        frame = log()
        given = {"pandas": frame.to_pandas, "polars": lambda: frame, "pyarrow": frame.to_arrow}
        source = given[backend]()
        found = repair(source)
        made = found.to_frame()
        assert type(made) is type(source)
        same(left(made), frame)
        cases = [tuple(one) for one in traces_of(made).values()]
        assert cases.count(STEPS) > 0.9 * len(cases)
        assert found.report == repaired.report
        assert_frame_equal(as_pandas(found.to_frame("polars")), as_pandas(made), check_dtype=False)

    def test_what_is_put_in_is_marked_and_timed(self, repaired):
        made = repaired.to_frame("polars")
        put_in = made.filter(pl.col(INSERTED))
        assert put_in["elision:probability"].is_between(repaired.report.threshold, 1).all()
        assert put_in["cost"].is_null().all()
        assert put_in["case:kind"].null_count() == 0
        times = made.group_by(CASE, maintain_order=True).agg(pl.col(TIME))[TIME].to_list()
        assert all(one == sorted(one) for one in times)

    def test_the_report_agrees_with_the_frame(self, repaired):
        made, report = as_pandas(repaired.to_frame()), repaired.report
        put_in = made[made[INSERTED].astype(bool)]
        assert report.cases == made[CASE].nunique()
        assert report.repaired == put_in[CASE].nunique()
        assert report.told == len(made) - len(put_in)
        assert report.inserted == len(put_in) == sum(one.inserted for one in report.events)
        assert report.uncertain == sum(one.uncertain for one in report.events)
        assert report.uncertain == (put_in["elision:probability"] < UNSURE).sum()
        counted = Counter(put_in[EVENT])
        assert {one.event: one.inserted for one in report.events} == counted
        assert sum(one.told for one in report.events) == report.told
        assert [one.inserted for one in report.events] == sorted(counted.values(), reverse=True)
        assert 0.1 < report.omission < 0.3
        assert sum(one.cases * len(one.inserted) for one in report.variants) <= report.inserted
        text = str(report)
        assert f"{report.inserted} events put into {report.repaired} of 120 cases" in text
        assert all(one.event in text for one in report.events if one.inserted)

    def test_domains_are_repaired_each_by_itself(self):
        both = pl.concat(
            [
                log().with_columns(domain=pl.lit("orders")),
                log(steps=OTHERS, domain="visits").with_columns(domain=pl.lit("visits")),
            ]
        )
        mixed = both.sort(TIME, maintain_order=True)
        found = repair(mixed)
        same(left(found.to_frame()), mixed)
        for case, events in traces_of(found.to_frame().sort(TIME)).items():
            assert set(events) <= set(STEPS if case.startswith("orders") else OTHERS)
        alone = repair(log(), domain="").report
        assert found.report.inserted > alone.inserted
        of_orders = {one.event: one.inserted for one in found.report.events if one.event in STEPS}
        assert of_orders == {one.event: one.inserted for one in alone.events}

    def test_cases_without_events_stay_without(self):
        told = [*(list(one) for one in traces_of(log()).values()), []]
        found = repair(told, omission=0.2)
        assert found.report.cases == 121
        assert not any(one.case == "120" for one in found.insertions)

    @pytest.mark.parametrize("source", [[], [[]]])
    def test_nothing_to_repair(self, source):
        with pytest.raises(InputError):
            repair(source)

    def test_a_complete_log_stays_as_it_is(self):
        found = repair([list(STEPS)] * 60)
        assert (found.report.inserted, found.report.repaired, found.report.omission) == (0, 0, 0)
        assert "0 events put into 0 of 60 cases" in str(found.report)

    def test_repaired_by_a_script(self, script):
        found = repair([["ask", "ship"], ["sing"], list(STEPS)], script=script, omission=0.3)
        assert [one.event for one in found.insertions if one.case == "0"] == list(STEPS[1:4])
        assert not [one for one in found.insertions if one.case == "2"]
        assert repr(found) == f"<Repaired: {len(found.insertions)} events put into 1 of 3 cases>"


class TestFiles:
    @pytest.mark.parametrize("target", FORMATS[:3])
    @pytest.mark.parametrize("source", FORMATS)
    def test_from_any_format_to_any(self, tmp_path, script, source, target):
        """What came is all there, in place; what was put in is marked."""
        first, second = tmp_path / f"log.{source}", tmp_path / f"repaired.{target}"
        save(log(cases=30), first)
        found = repair(first, script=script, omission=0.2)
        found.write(second)
        assert files(tmp_path) == sorted([first.name, second.name])
        back = el.read(second)
        assert all(tuple(one) == STEPS for one in back.events)
        assert [one.id for one in back] == [one.id for one in el.read(first)]
        before, after = read_log(first).frame(), read_log(second).frame()
        mark = after[INSERTED].cast(pl.String).fill_null("false") == "true"
        assert mark.sum() == found.report.inserted > 0
        assert len(after) == len(before) + found.report.inserted
        kept = after.filter(~mark)
        for name in [name for name in before.columns if ":" not in name or name in (CASE, EVENT)]:
            assert kept[name].cast(pl.String).to_list() == before[name].cast(pl.String).to_list()

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_in_parts_it_is_the_same(self, tmp_path, monkeypatch, script, kind):
        path, whole, parts = (tmp_path / f"{name}.{kind}" for name in ("log", "whole", "parts"))
        save(log(cases=60).sort(EVENT), path)
        report = repair_file(path, whole, script=script)
        assert report == repair(path, script=script).report
        monkeypatch.setattr(large, "LARGE", 0)
        monkeypatch.setattr(large, "PART", 2000)
        monkeypatch.setattr(large, "ROWS", 37)
        again = repair_file(path, parts, script=script)
        assert replace(again, variants=()) == replace(report, variants=())
        if kind == "csv":
            assert parts.read_bytes() == whole.read_bytes()
        assert_frame_equal(as_pandas(read_log(parts).frame()), as_pandas(read_log(whole).frame()))

    def test_omissions_of_a_stream_are_estimated_from_it(self, tmp_path, script):
        save(log(), tmp_path / "log.csv")
        report = repair_file(tmp_path / "log.csv", tmp_path / "new.csv", script=script)
        assert report == repair(log(), script=script).report
        assert 0.1 < report.omission < 0.3


class TestCommand:
    @pytest.fixture
    def elision(self, elision, script):
        script.save("script.json")
        save(log(cases=60), "log.csv")
        return elision

    def test_the_log_is_written_and_the_report_said(self, elision):
        status, out, err = elision("repair", "log.csv", "-o", "new.csv")
        found = repair("log.csv")
        assert (status, err) == (0, "")
        assert out == f"{found.report}\nWritten to new.csv.\n"
        found.write("again.csv")
        assert Path("new.csv").read_bytes() == Path("again.csv").read_bytes()
        assert files() == ["again.csv", "log.csv", "new.csv", "script.json"]

    def test_the_report_as_json(self, elision):
        status, out, _ = elision("repair", "log.csv", "-o", "new.csv", "--json")
        said, report = json.loads(out), repair("log.csv").report
        assert status == 0
        assert (said["cases"], said["inserted"]) == (report.cases, report.inserted)
        assert [one["event"] for one in said["events"]] == [one.event for one in report.events]

    def test_the_most_probable_log(self, elision):
        elision("repair", "log.csv", "-o", "a.csv", "--most-probable")
        elision("repair", "log.csv", "-o", "b.csv", "--threshold", "0.5")
        assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
        both = ("--most-probable", "--threshold", "0.4")
        assert "expected one of them" in refused(elision("repair", "log.csv", "-o", "c.csv", *both))

    def test_by_a_script(self, elision, script):
        given = ("--script", "script.json", "--omission", "0.2")
        assert elision("repair", "log.csv", "-o", "new.csv", *given)[0] == 0
        repair("log.csv", script=script, omission=0.2).write("again.csv")
        assert Path("new.csv").read_bytes() == Path("again.csv").read_bytes()

    def test_rates_of_some_events(self, elision, script):
        given = ("--omission", "pack=0", "--omission", "0.2", "--omission", "ask=.1")
        assert elision("repair", "log.csv", "-o", "new.csv", *given)[0] == 0
        rates = {None: 0.2, "ask": 0.1, "pack": 0}
        repair("log.csv", omission=rates).write("again.csv")
        assert Path("new.csv").read_bytes() == Path("again.csv").read_bytes()
        given = ("--script", "script.json", "--omission", "pack=0")
        assert elision("repair", "log.csv", "-o", "new.csv", *given)[0] == 0
        found = repair("log.csv", script=script, omission={"pack": 0})
        found.write("again.csv")
        assert Path("new.csv").read_bytes() == Path("again.csv").read_bytes()
        (pack,) = [one for one in found.report.events if one.event == "pack"]
        assert (pack.omission, pack.inserted) == (0, 0)

    def test_a_log_without_times_is_fine(self, elision):
        log(cases=40).drop(TIME).write_csv("timeless.csv")
        status, _, err = elision("repair", "timeless.csv", "-o", "new.csv")
        assert (status, err.count("\n")) == (0, 1)
        assert err.startswith("no time column found: events of a case are taken in the order of")
        same(left(pl.read_csv("new.csv")), pl.read_csv("timeless.csv"))

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("none.csv", "-o", "new.csv"), "none.csv"),
            (("log.csv", "-o", "."), "directory"),
            (("log.csv", "-o", "folder.csv"), "folder.csv"),
            (("log.csv", "-o", "nowhere/new.csv"), "nowhere"),
            (("log.csv", "-o", "log.csv"), "log.csv: the log to repair is in this file"),
            (("log.csv", "-o", "./link.csv"), "link.csv: the log to repair is in this file"),
            (("log.csv", "-o", "new.odd"), "suffix '.odd'"),
            (("log.csv", "-o", "new.csv", "--omission", "2"), "omission is 2.0"),
            (("log.csv", "-o", "new.csv", "--omission", "nan"), "omission is nan"),
            (("log.csv", "-o", "new.csv", "--omission", "pack=2"), "omission of 'pack' is 2.0"),
            (("log.csv", "-o", "new.csv", "--omission", "pac=0"), "(did you mean 'pack'"),
            (("log.csv", "-o", "new.csv", "--omission", "pack"), "expected a number, or an event"),
            (
                ("log.csv", "-o", "new.csv", "--omission", "pack=0", "--omission", "pack=0.1"),
                "expected one rate of 'pack'",
            ),
            (
                ("log.csv", "-o", "new.csv", "--omission", "0", "--omission", "0.1"),
                "expected one rate for all events",
            ),
            (
                ("log.csv", "-o", "new.csv", "--script", "script.json", "--omission", "sing=0"),
                "omission names 'sing', which is none of the events",
            ),
            (("log.csv", "-o", "new.csv", "--threshold", "0"), "threshold is 0.0"),
            (("empty.csv", "-o", "new.csv"), "empty.csv"),
            (("log.csv", "-o", "new.csv", "--script", "none.json"), "none.json"),
            (("log.csv", "-o", "new.csv", "--script", "log.csv"), "log.csv"),
            (("none.csv", "-o", "new.csv", "--script", "script.json"), "none.csv"),
            (("head.csv", "-o", "new.csv", "--script", "script.json"), "head.csv"),
            (("head.csv", "-o", "new.csv"), "head.csv: there are no narratives"),
        ],
    )
    def test_what_cannot_be_done_is_said_in_one_line(self, elision, arguments, said):
        Path("folder.csv").mkdir()
        Path("link.csv").symlink_to("log.csv")
        Path("empty.csv").write_text("")
        Path("head.csv").write_text(f"{CASE},{EVENT}\n")
        before = files()
        assert said in refused(elision("repair", *arguments))
        assert files() == before

    def test_threads_change_no_byte(self, elision):
        made = []
        for many in ("1", "2"):
            names = ("ELISION_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
            environment = os.environ | dict.fromkeys(names, many)
            new = f"{many}.csv"
            status, out, err = finished(
                *("repair", "log.csv", "-o", new, "--json"), env=environment
            )
            assert (status, err) == (0, b"")
            made.append((out, Path(new).read_bytes()))
        assert made[0] == made[1]
