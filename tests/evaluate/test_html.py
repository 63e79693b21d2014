"""The page and the Markdown tables that are made of a benchmark's result."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from html.parser import HTMLParser

import pytest

from elision.evaluate import bench, report, tables
from elision.evaluate.cloze import calibration_error
from elision.evaluate.html import html_report

COMMAND = "elision bench corpus.jsonl --html page.html"
VOID = {"meta", "br", "img", "link", "hr"}
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></svg>]]><!-- -->",
    "$\\frac{1}{$ #fe00fe",
    "\x00\x1b[31mred\x85\ud800",
    "two\nlines\r\n\tof it",
    "水を飲む שלום नमस्ते",
    'id="x" &amp; &lt;b&gt;',
)
TOP1 = {
    ("Frequency", None): 0.30,
    ("Conditional", None): 0.25,
    ("BMM", 2): 0.40,
    ("BMM", 5): 0.40,
    ("SEMHMM", 2): 0.45,
    ("SEMHMM", 5): 0.40,
    ("default", None): 0.60,
}


def result(corpus="kitchen", domains=("tea", "cake"), methods=TOP1):
    """A small result, by hand."""
    name = {"corpus": corpus}
    keys = [{**name, "method": method, "batch": batch} for method, batch in methods]
    tops = list(methods.values())
    pairs = [
        ("SEMHMM", "BMM", 2, 0.05, 0.004, 0.016),
        ("SEMHMM", "Frequency", 2, 0.15, 0.00001, 0.00005),
        ("Frequency", "Conditional", None, 0.05, 0.02, 0.06),
        ("BMM", "Conditional", 2, 0.15, 0.3, 0.3),
    ]
    fields = ("better", "worse", "batch", "difference", "p", "p_corrected")
    return {
        "protocol": {
            "task": "one event removed from each test narrative, its place known",
            "corpora": [corpus],
            "methods": sorted({method for method, _ in methods}),
            "batches": [2, 5],
            "seeds": 2,
            "min_narratives": 20,
            "max_train": None,
            "test_share": 0.4,
            "ties": "against the removed event",
            "costs": {corpus: {"plain": {"state": 1.0, "edge": 0.25, "constraint": 0.5}}},
        },
        "cells": [
            {**key, "domain": domain, "seed": seed, "n_train": 12, "n_test": 8, "top1": top1}
            for key, top1 in zip(keys, tops, strict=True)
            for domain in domains
            for seed in range(2)
        ],
        "summary": [
            {
                **key,
                "domains": len(domains),
                "top1": top1,
                "stderr": 0.013,
                "top3": top1 + 0.2,
                "log_loss": 2.5 - top1,
                "ece": 0.1,
                "seconds": 0.0 if key["batch"] is None else 1.5,
            }
            for key, top1 in zip(keys, tops, strict=True)
        ],
        "tests": [
            {**name, "domains": len(domains), **dict(zip(fields, pair, strict=True))}
            for pair in pairs
        ],
        "by_frequency": [
            {**key, "from": low, "to": high, "narratives": 9, "top1": top1}
            for key, top1 in zip(keys, tops, strict=True)
            for low, high in ((0, 1), (21, None))
        ],
        "by_length": [
            {**key, "from": 2, "to": 3, "narratives": 9, "top1": top1}
            for key, top1 in zip(keys, tops, strict=True)
        ],
        "reliability": [
            {
                **key,
                "from": number / 10,
                "to": (number + 1) / 10,
                "narratives": 3 + number,
                "confidence": number / 10 + 0.05,
                "accuracy": number / 10,
            }
            for key in keys
            for number in (2, 6, 9)
        ],
        "curve": [
            {**key, "n_train": size, "domains": 2, "top1": top1}
            for key, top1 in zip(keys, tops, strict=True)
            if key["batch"] in (None, 5)
            for size in (10, None)
        ],
    }


class Page(HTMLParser):
    """Checks that elements close in order, and keeps what was found."""

    def __init__(self, text):
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str | None]] = []
        self.rows: list[list[str]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data

    def values(self, name):
        return [value for _, found, value in self.attributes if found == name]


@pytest.fixture
def drawn():
    pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def tame():
    """A result with harmless names in the places of the hostile ones."""
    pytest.importorskip("matplotlib")
    found = result("a", ("b", "tea"), {**TOP1, ("c", None): 0.1})
    return Page(html_report(found, "d")).tags, tables.markdown_tables(found).count("|")


@pytest.fixture
def undrawn(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_the_tables_say_what_the_result_says(undrawn):
    page = Page(html_report(result(), COMMAND))
    assert ["Frequency", "30.0 ± 1.3", "", "", "50.0", "2.200", "0.100", "<0.001"] in page.rows
    numbers = ["45.0 ± 1.3", "40.0 ± 1.3", "62.5", "2.075", "0.100", "1.500"]
    assert ["SEMHMM", "", *numbers] in page.rows
    claim = ["SEMHMM above BMM", "tested", "2", "2", "+5.0", "0.0040", "0.0160"]
    assert [*claim, "p < 0.01, uncorrected only"] in page.rows
    assert ["SEMHMM", "Frequency", "2", "2", "+15.0", "<0.0001", "<0.0001"] in page.rows
    assert ["Method", "r", "0–1, n\xa0=\xa09", "21+, n\xa0=\xa09"] in page.rows
    assert ["kitchen", "BMM, without elisions", "1", "0.25", "0.5"] in page.rows
    assert COMMAND in page.text
    heads = ["any\xa0r", "r\xa0=\xa02", "r\xa0=\xa05", "top-3", "log-loss", "ECE", "seconds"]
    first = page.rows.index(["Method", *heads])
    names = [row[0] for row in page.rows[first + 1 : first + 6]]
    assert names == ["Frequency", "Conditional", "BMM", "SEMHMM", "default"]
    assert ["SEMHMM", "5", "40.0"] in page.rows  # the table over all corpora


def test_the_page_needs_nothing_else(drawn):
    text = html_report(result(), COMMAND)
    page = Page(text)
    assert page.tags["svg"] == 5 + 3 + 5  # keys, plots, a reliability diagram for each method
    assert not page.tags.keys() & {"script", "img", "link", "iframe", "image", "object"}
    assert not re.search(r"https?:|@import|@font-face", text)
    assert all(value.startswith("#") for value in page.values("href"))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {value[1:] for value in page.values("href")} <= set(ids)
    assert set(re.findall(r"url\(#([^)]*)\)", text)) <= set(ids)
    used = set(re.findall(r"var\((--\w+)\)", text))
    assert used <= set(re.findall(r"(--\w+):", text))
    assert "#fe0" not in text  # no stand-in for a colour is left


def test_the_same_result_gives_the_same_bytes(drawn):
    first = result()
    read = json.loads(json.dumps(first))
    assert html_report(first, COMMAND) == html_report(read, COMMAND)
    assert read == first


def test_the_users_settings_of_matplotlib_change_nothing(drawn):
    import matplotlib as mpl

    plain = html_report(result(), COMMAND)
    with mpl.rc_context({"font.size": 30, "xtick.major.size": 20}):
        assert html_report(result(), COMMAND) == plain
        assert mpl.rcParams["font.size"] == 30


@pytest.mark.parametrize("first", range(0, len(HOSTILE), 3))
def test_hostile_names_are_text(tame, first):
    tags, bars = tame
    corpus, domain, method = (HOSTILE[(first + k) % len(HOSTILE)] for k in range(3))
    found = result(corpus, (domain, "tea"), {**TOP1, (method, None): 0.1})
    text = html_report(found, method)
    page = Page(text)
    assert page.tags == tags
    assert "onerror" not in {attribute for _, attribute, _ in page.attributes}
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    markdown = tables.markdown_tables(found)
    assert markdown.count("|") == bars
    assert "<img" not in markdown
    (text + markdown).encode()


def test_names_stand_as_they_are(undrawn):
    name = 'fish & <chips> "to go"'
    page = Page(html_report(result(name, (name, "tea")), name))
    assert [name, "BMM, without elisions", "1", "0.25", "0.5"] in page.rows
    assert any(row[0] == name and row[1] == "30.0" for row in page.rows)
    assert name in page.text


def test_without_matplotlib_the_page_says_so(undrawn):
    page = Page(html_report(result(), COMMAND))
    assert not page.tags["svg"]
    assert sum("matplotlib is not installed" in text for text in page.text) == 1


def test_with_matplotlib_it_does_not(drawn):
    assert "not installed" not in html_report(result(), COMMAND)


@pytest.mark.parametrize("methods", [{("default", None): 0.6}, {("BMM", 5): 0.4}])
def test_one_method_on_one_domain(drawn, methods):
    found = result(domains=("tea",), methods=methods)
    found["tests"] = []
    page = Page(html_report(found, COMMAND))
    assert "±" not in str(page.rows)  # one domain has no standard error
    assert "There are no tests: they need two domains and two methods that differ." in page.text


def test_an_older_result_without_reliability(drawn):
    found = result()
    del found["reliability"]
    assert Page(html_report(found, COMMAND)).tags["svg"] == 5 + 3


def test_claims_of_the_paper():
    rows = {
        (row["better"], row["worse"], row["batch"]): row
        for row in tables.claim_rows(result(), "kitchen")
    }
    assert ("SEMHMM", "BMMEM", 2) not in rows  # not measured
    assert rows["SEMHMM", "Frequency", 2]["verdict"] == "p < 0.01, corrected"
    assert rows["BMM", "Conditional", 2]["verdict"] == "not significant"
    turned = rows["Conditional", "Frequency", None]
    assert turned["verdict"] == "the other way round"
    assert turned["difference"] == -0.05
    assert turned["p"] == 0.98
    assert turned["p_corrected"] == 1
    assert rows["SEMHMM", "BMM", 5]["verdict"] == "equal"
    assert rows["SEMHMM", "BMM", 5]["p"] is None
    assert ("SEMHMM", "Frequency", 5) not in rows  # they differ, and there is no test


def test_nothing_is_claimed_of_what_was_not_measured(undrawn):
    few = {key: top1 for key, top1 in TOP1.items() if key[0] in ("Frequency", "default")}
    found = result(methods=few)
    found["tests"] = []
    assert tables.claim_rows(found, "kitchen") == []
    assert "| Claim |" not in tables.markdown_tables(found)
    text = html_report(found, COMMAND)
    assert '<th scope="col" class="t">Claim</th>' not in text
    assert "Nothing to test: it takes two methods that the paper compares" in text


def test_columns_of_accuracy():
    assert tables.accuracy_columns(result(), "kitchen") == {
        None: "any r",
        2: "r = 2",
        5: "r = 5",
    }
    alone = result(methods={("default", None): 0.6})
    assert tables.accuracy_columns(alone, "kitchen") == {None: "top-1"}
    learners = result(methods={("BMM", 5): 0.6})
    assert tables.accuracy_columns(learners, "kitchen") == {5: "r = 5"}


def test_markdown():
    text = tables.markdown_tables(result())
    heads = "| Method | any r | r = 2 | r = 5 | top-3 |"
    assert text.startswith(f"### kitchen (2 domains)\n\n{heads}")
    assert "\n| Frequency | 30.0 ± 1.3 |  |  | 50.0 | 2.200 | 0.100 | <0.001 |\n" in text
    assert "\n| SEMHMM |  | 45.0 ± 1.3 | 40.0 ± 1.3 | 62.5 |" in text
    assert "| Conditional above Frequency | order only |  | 2 | −5.0 | 0.9800 | 1.0000 |" in text
    assert "### a\\|b &lt;i> \\*c\\*" in tables.markdown_tables(result("a|b\n<i> *c*"))


def test_reliability_adds_up_to_the_calibration_error():
    confidence = [0.0, 0.05, 0.1, 0.55, 0.58, 0.97, 1.0]
    rank = [4, 1, 2, 1, 3, 1, 1]
    one = bench.Cell("c", "d", "BMM", 5, 0, 9, 7, 0.1, rank, confidence, confidence)
    rows = report.reliability([one])
    assert [(row["from"], row["to"]) for row in rows] == [
        (0.0, 0.1),
        (0.1, 0.2),
        (0.5, 0.6),
        (0.9, 1.0),
    ]
    assert [row["narratives"] for row in rows] == [2, 1, 2, 2]
    assert [row["accuracy"] for row in rows] == [0.5, 0, 0.5, 1]
    error = sum(row["narratives"] / 7 * abs(row["accuracy"] - row["confidence"]) for row in rows)
    (summary,) = report.summary([one])
    assert error == pytest.approx(summary["ece"], rel=0, abs=1e-9)
    assert calibration_error.__defaults__ == (report.BINS,)
