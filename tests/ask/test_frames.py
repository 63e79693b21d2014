"""Questions about many cases in a frame, answered in a frame of the same library; corpora out."""

from __future__ import annotations

import pickle
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import elision as el
from elision.errors import InputError
from elision.io import read
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative

LOG = pd.DataFrame(
    {
        "case:concept:name": ["x", "y", "x"],
        "concept:name": ["hear doorbell", "open door", "open door"],
        "time:timestamp": ["29.08.2023 13:38", "29.08.2023 13:39", "29.08.2023 14:00"],
    }
)
MAKERS = [(pd.DataFrame, pd.DataFrame), (pl.from_pandas, pl.DataFrame)]
MAKERS += [(pa.Table.from_pandas, pa.Table)]


@pytest.mark.parametrize(("make", "kind"), MAKERS)
class TestQuestions:
    def test_between(self, make: Any, kind: type) -> None:
        script = el.examples.doorbell()
        found = script.between_many(make(LOG))
        assert found == script.between_many([["hear doorbell", "open door"], ["open door"]])
        assert found.ids == ("x", "y")
        frame = found.to_frame()
        assert type(frame) is kind
        rows = pl.DataFrame(frame).to_dicts()
        assert len(rows) == sum(len(gap) for story in found for gap in story.unsaid)
        walk = next(row for row in rows if row["event"] == "walk to door" and row["place"])
        assert (walk["after"], walk["before"], walk["place"]) == ("hear doorbell", "open door", 1)
        assert walk["probability"] == found[0].unsaid[1][0].probability

    def test_next(self, make: Any, kind: type) -> None:
        script = el.examples.doorbell()
        found = script.next_many(make(LOG), top=2, steps=2)
        assert list(found) == [script.next(told, top=2, steps=2) for told in read(LOG).events]
        rows = pl.DataFrame(found.to_frame()).to_dicts()
        assert type(found.to_frame()) is kind
        assert [row["id"] for row in rows] == ["x"] * 6 + ["y"] * 6
        assert [row["step"] for row in rows[:6]] == [1, 1, 1, 2, 2, 2]
        assert rows[2]["event"] is None
        assert rows[2]["probability"] == found[0].ended

    def test_identify(self, make: Any, kind: type) -> None:
        library = el.Library({"doorbell": el.examples.doorbell()})
        found = library.identify_many(make(LOG))
        assert type(found.to_frame()) is kind
        rows = found.to_rows()
        assert rows[0]["id"] == "x"
        assert rows[0]["script"] == "doorbell"
        assert {row["script"] for row in rows} == {"doorbell", None}

    def test_conform(self, make: Any, kind: type) -> None:
        found = el.examples.doorbell().conform(make(LOG), samples=0)
        assert found.ids == ("x", "y")
        assert found.to_frame("polars")["id"].to_list() == ["x", "y"]
        assert type(found.to_frame()) is type(found[:1].to_frame()) is kind
        learned = el.examples.learned_doorbell().conform(make(LOG), samples=0)
        assert type(learned.to_frame()) is kind


class TestAnswers:
    def test_lists_and_corpora(self) -> None:
        script = el.examples.doorbell()
        found = script.fill_many([[None, "open door"]], top=2)
        assert found == [script.fill([None, "open door"], top=2)]
        assert found.to_rows()[0] == {
            "id": None,
            "telling": 0,
            "position": 0,
            "event": found[0][0].answers[0].event,
            "probability": found[0][0].answers[0].probability,
        }
        named = script.between_many(Corpus([Narrative(("open door",), id="monday")]))
        assert named.ids == ("monday",)
        assert isinstance(named.to_frame(), pd.DataFrame)
        assert isinstance(named.to_frame("polars"), pl.DataFrame)
        again = pickle.loads(pickle.dumps(named))  # noqa: S301 - our own bytes
        assert again.to_rows() == named.to_rows()

    def test_one_story(self) -> None:
        script = el.examples.doorbell()
        story = script.between(["hear doorbell", "open door"])
        (several,) = {len(script.between_many([["hear doorbell", "open door"]]).to_rows())}
        frame = story.to_frame("polars")
        assert frame.to_dicts() == story.to_rows()
        assert (len(frame), type(story.to_frame())) == (several, pd.DataFrame)
        assert frame["event"].to_list() == [one.event for gap in story.unsaid for one in gap]

    def test_a_wrong_backend(self) -> None:
        with pytest.raises(InputError, match="backend 'abacus', expected 'pandas', 'polars'"):
            el.examples.doorbell().between_many([["open door"]]).to_frame("abacus")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
class TestWhereOneNarrativeIsExpected:
    QUESTIONS = ("align", "between", "fill", "log_prob", "missing", "next", "order", "posterior")

    @pytest.mark.parametrize("question", [*QUESTIONS, "resolve", "score"])
    def test_a_table_is_refused(self, backend: str, question: str) -> None:
        script = el.examples.doorbell()
        frame = Corpus.of([["hear doorbell", "open door"]]).to_frame(backend)
        for learned in (script, script.with_telling(None)):
            with pytest.raises(InputError, match=r"a data frame came, expected one .*el\.read"):
                getattr(learned, question)(frame)

    def test_libraries(self, backend: str) -> None:
        library = el.Library({"door": el.examples.doorbell()})
        frame = Corpus.of([["hear doorbell", "open door"]]).to_frame(backend)
        with pytest.raises(InputError, match=r"a data frame came, expected one .*el\.read"):
            library.identify(frame)
        assert len(library.identify_many(frame)) == 1

    def test_many_narratives(self, backend: str) -> None:
        script = el.examples.doorbell()
        corpus = Corpus.of([["hear doorbell", "open door"]])
        frame = corpus.to_frame(backend)
        assert script.compare(script, frame).on_data == script.compare(script, corpus).on_data
        for taken in (script.pack, el.Repairer.learn, el.EventExtractor().fit, Corpus.of):
            with pytest.raises(InputError, match=r"^a data frame came, .*el\.read\(frame"):
                taken(frame)


class TestCorpora:
    CORPUS = Corpus(
        [
            Narrative(("a", "b"), ("A.", "B."), "tea", "1", {"who": ["x", "y"], "mood": "good"}),
            Narrative(("c",), ("C.",), "door", "1"),
        ]
    )

    @pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
    def test_frames(self, backend: str) -> None:
        frame = self.CORPUS.to_frame(backend)
        again = read(frame)
        assert [(one.id, one.domain, one.events) for one in again] == [
            (one.id, one.domain, one.events) for one in self.CORPUS
        ]
        assert pl.DataFrame(frame).columns == [
            *("case:concept:name", "domain", "concept:name", "step", "who", "case:mood")
        ]

    def test_sentences_alone(self) -> None:
        with pytest.raises(InputError, match="it has no events"):
            Corpus([Narrative(None, ("A.",))]).to_frame()
