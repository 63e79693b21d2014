"""Files of tellings and the matrix of tellings, without a browser."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
from elision.errors import InputError
from elision.pipeline.learning import as_events
from elision.serve.command import loaded, open_beside
from elision.serve.messages import Browsing, Choices, Columns, Passage
from elision.serve.reading import for_script, look, looks_like_sentences, taken, tellings
from elision.serve.shelf import Shelf
from elision.serve.tellings import Tellings, browse, likeness

if TYPE_CHECKING:
    from pathlib import Path

    from elision.serve.messages import Matrix
    from elision.serve.shelf import Held

TOLD = el.examples.doorbell_tellings()


@pytest.fixture(scope="module")
def script() -> el.Script:
    return el.examples.learned_doorbell()


@pytest.fixture(scope="module")
def held(script: el.Script) -> Held:
    return Shelf().add(script, "door", tellings=Tellings(script, el.Corpus.of(TOLD)))


def asked(held: Held, **wanted: Any) -> Matrix:
    return browse(held, Browsing(**wanted))


class TestMatrix:
    def test_unsaid_is_what_between_says(self, script: el.Script, held: Held) -> None:
        found = held.tellings
        assert found is not None
        for row, variant in enumerate(found.variants):
            story = script.between(variant.events, min_probability=0.0)
            summed = dict.fromkeys(found.steps, 0.0)
            for gap in story.gaps:
                for one in gap.unsaid:
                    summed[one.event] += one.probability
            np.testing.assert_allclose(
                found.unsaid[row], [summed[name] for name in found.steps], rtol=0, atol=1e-9
            )
            often = [variant.events.count(name) for name in found.steps]
            assert found.told[row].tolist() == often

    def test_a_script_without_an_outline_answers_by_its_states(self) -> None:
        script = el.examples.doorbell()
        corpus = el.Corpus.of([*TOLD, ["sneeze"], ["close door", "hear doorbell"]])
        found = Tellings(script, corpus)
        row = next(r for r, one in enumerate(found.variants) if one.events == tuple(TOLD[2]))
        chances = [
            one.probability
            for gap in script.between(TOLD[2], min_probability=0.0).gaps
            for one in gap.unsaid
            if one.event == "walk to door"
        ]
        column = found.steps.index("walk to door")
        assert found.unsaid[row, column] == pytest.approx(1 - np.prod([1 - p for p in chances]))
        assert np.isfinite(found.unsaid).all()

    def test_filters_agree_with_a_plain_search(self, held: Held) -> None:
        counted = {tuple(one): TOLD.count(one) for one in TOLD}

        def number(fits: Any) -> int:
            return sum(count for one, count in counted.items() if fits(one))

        steps = held.tellings.steps if held.tellings else []
        for first, second in itertools.permutations(steps[:5], 2):
            direct = asked(held, gap=Passage(first, second)).tellings
            assert direct == number(
                lambda one, a=first, b=second: (a, b) in itertools.pairwise(one)
            )
            later = asked(held, gap=Passage(first, second, direct=False)).tellings
            assert later == number(
                lambda one, a=first, b=second: a in one and b in one[one.index(a) + 1 :]
            )
        assert asked(held, gap=Passage("", "walk to door")).tellings == number(
            lambda one: one[0] == "walk to door"
        )
        for step in steps:
            parts = [asked(held, step=step, part=part) for part in ("told", "unsaid", "absent")]
            assert sum(one.tellings for one in parts) == len(TOLD)
            assert parts[0].tellings == number(lambda one, step=step: step in one)
        assert asked(held, words="PARCEL sign").tellings == number(
            lambda one: "sign for parcel" in one
        )

    def test_rows_come_in_the_order_that_is_asked_for(self, held: Held) -> None:
        everything = asked(held, sort="length").rows
        lengths = [len(row.lines) for row in everything]
        assert lengths == sorted(lengths, reverse=True)
        like = TOLD[5]
        assert asked(held, sort="similarity", like=like).rows[0].lines == like
        pages = [asked(held, sort="length", offset=at, limit=4).rows for at in range(0, 20, 4)]
        assert [row.number for page in pages for row in page] == [row.number for row in everything]

    def test_sliders_thin_rare_steps_and_rare_variants(self, held: Held) -> None:
        thin = asked(held, steps=0.3, paths=0.1)
        assert [one.name for one in thin.columns] == ["hear doorbell", "open door", "close door"]
        assert (thin.variants, thin.rows[0].count) == (1, 2)
        assert asked(held, steps=0, paths=0).variants == 1

    def test_oddness_is_that_of_the_script(self, script: el.Script) -> None:
        found = Tellings(script, el.Corpus.of(TOLD))
        found._judge()
        wanted = script.conform([one.events for one in found.variants])
        np.testing.assert_allclose(found.oddness, [one.oddness for one in wanted], rtol=1e-9)
        assert found.odd.tolist() == [one.odd for one in wanted]

    @given(st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=2, max_size=2))
    @settings(max_examples=60, deadline=None)
    def test_similarity_is_the_longest_common_part(self, two: list[list[str]]) -> None:
        def common(one: list[str], other: list[str]) -> int:
            if not one or not other:
                return 0
            if one[0] == other[0]:
                return 1 + common(one[1:], other[1:])
            return max(common(one[1:], other), common(one, other[1:]))

        first, second = two
        whole = max(len(first) + len(second), 1)
        assert likeness(first, [second]) == pytest.approx([2 * common(first, second) / whole])

    def test_a_step_that_is_not_there_is_refused(self, held: Held) -> None:
        with pytest.raises(InputError, match="no step 'sneeze'"):
            asked(held, step="sneeze")


class TestFiles:
    def test_a_table_waits_for_its_columns(self, tmp_path: Path) -> None:
        path = tmp_path / "log.csv"
        path.write_text("Vorgang;Schritt;Wann\n1;ring;2\n1;open;1\n2;ring;x\n")
        found = look(path, "log", Choices())
        assert (found.columns, found.domains) == (["Vorgang", "Schritt", "Wann"], [])
        assert found.rows[0] == ["1", "ring", "2"]
        chosen = Columns(case="Vorgang", activity="Schritt")
        assert look(path, "log", Choices(chosen)).first == [["ring", "open"], ["ring"]]
        wrong = Columns(case="Vorgang", activity="Schritt", time="Wann")
        found = look(path, "log", Choices(wrong))
        assert found.problem.startswith("log line 4, column 'Wann': 'x' is not a timestamp")
        assert found.chosen == Columns("Vorgang", "Schritt", "Wann")

    def test_common_columns_are_found(self, tmp_path: Path) -> None:
        path = tmp_path / "log.tsv"
        path.write_text("case\tactivity\n1\tring\n")
        found = look(path, "log", Choices())
        assert (found.chosen.case, found.chosen.activity, found.problem) == ("case", "activity", "")
        assert found.domains[0].tellings == 1

    @pytest.mark.parametrize("header", ["telling,step", "Story,what", "narrative,event"])
    def test_the_words_of_the_page_are_known_as_columns(self, tmp_path: Path, header: str) -> None:
        path = tmp_path / "log.csv"
        path.write_text(f"{header}\nAnn,ring\nAnn,open\nBob,ring\n")
        found = look(path, "log", Choices())
        assert (found.problem, found.each_row) == ("", False)
        assert found.first == [["ring", "open"], ["ring"]]

    @pytest.mark.parametrize("heading", ["", "first,second,third\n"])
    def test_each_row_of_a_table_can_be_a_telling(self, tmp_path: Path, heading: str) -> None:
        path = tmp_path / "wide.csv"
        path.write_text(f"{heading}ring,open,greet\nring,greet\n\nopen,,greet\n")
        found = look(path, "wide", Choices())
        assert (found.problem, found.each_row) == ("", True)
        assert found.first == [["ring", "open", "greet"], ["ring", "greet"], ["open", "greet"]]
        other = look(path, "wide", Choices(each_row=False))
        assert "Which column" in other.problem
        assert not other.first
        assert len(tellings(path, "wide", Choices(each_row=True))) == 3
        path.write_text(",,\n,\n")
        assert "no telling" in look(path, "wide", Choices(each_row=True)).problem

    def test_sentences_are_recognised_where_the_file_does_not_say(self, tmp_path: Path) -> None:
        lines = ["I went to the door.", "Then I opened it wide.", "I greeted my visitor."]
        path = tmp_path / "a.txt"
        path.write_text("\n".join(lines))
        assert look(path, "a", Choices()).sentences
        assert not look(path, "a", Choices(sentences=False)).sentences
        assert tellings(path, "a", Choices(sentences=True))[0].steps == tuple(lines)
        assert tellings(path, "a", Choices())[0].events == tuple(lines)  # as the command does
        path = tmp_path / "a.jsonl"
        path.write_text(json.dumps({"events": lines}))
        assert not look(path, "a", Choices()).sentences
        assert not looks_like_sentences(el.Corpus.of(TOLD))

    def test_sentences_can_be_taken_for_events(self) -> None:
        corpus = el.Corpus([el.Narrative(None, ("ring", "open"))])
        assert taken(corpus, sentences=False)[0].events == ("ring", "open")
        assert taken(corpus, sentences=None) is corpus

    def test_a_script_file_is_known(self, tmp_path: Path) -> None:
        el.examples.doorbell().save(tmp_path / "door.json")
        assert look(tmp_path / "door.json", "door", Choices()).kind == "script"

    def test_tellings_of_a_script_are_picked_by_its_domain(self, script: el.Script) -> None:
        mine = el.Corpus.of(TOLD[:2], domain="answering the doorbell")
        other = el.Corpus.of(TOLD[2:4], domain="another")
        assert for_script(script, el.Corpus([*mine, *other])) == mine
        assert for_script(script, other) == other  # the only one there is
        with pytest.raises(InputError, match="no tellings of 'answering the doorbell'"):
            for_script(script, el.Corpus([*other, *el.Corpus.of(TOLD, domain="third")]))

    def test_sentences_need_a_script_that_understands_them(self, script: el.Script) -> None:
        spoken = el.Corpus([el.Narrative(None, ("I opened the door.",))])
        with pytest.raises(InputError, match="learned from events"):
            for_script(script, spoken)


class TestNames:
    def test_events_are_renamed_and_merged(self) -> None:
        names = {"let visitor in": "greet visitor", "open door": "open"}
        heard = as_events(el.Corpus.of(TOLD), names)
        assert heard.events[0][2:5] == ("open", "greet visitor", "greet visitor")

    def test_merged_types_understand_the_sentences_of_both(self) -> None:
        told = [["I heard the bell", "I walked to the door", "I opened it"]] * 3
        spoken = el.Corpus(el.Narrative(None, tuple(one)) for one in told)
        found = as_events(spoken)
        assert found.extractor is not None
        heard, walked, opened = found.events[0]
        merged = as_events(spoken, {heard: "come", walked: "come"})
        assert merged.events[0] == ("come", "come", opened)
        assert merged.extractor is not None
        again = el.EventExtractor.from_dict(merged.extractor.to_dict())
        assert again.predict([told[0]]) == [["come", "come", opened]]
        (types,) = merged.extractor.domains_.values()
        assert {one.name: one.tellings for one in types.types} == {"come": 3, opened: 3}
        assert merged.wording is not None
        assert set(merged.wording["come"]) == {"I heard the bell", "I walked to the door"}


class TestShelf:
    def test_scripts_of_the_same_name_are_told_apart(
        self, tmp_path: Path, script: el.Script
    ) -> None:
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir()
            script.save(tmp_path / folder / "door.json")
        shelf = loaded([tmp_path / "one", tmp_path / "two", tmp_path / "one" / "door.json"])
        title = "answering the doorbell"
        assert [one.name for one in shelf] == [title, f"{title} (2)", f"{title} (3)"]
        assert len({one.id for one in shelf}) == 3
        assert [one.source for one in shelf][1] == str(tmp_path / "two")

    def test_tellings_are_opened_beside_their_script(
        self, tmp_path: Path, script: el.Script
    ) -> None:
        shelf = Shelf()
        held = shelf.add(script, "door")
        el.Corpus.of(TOLD).to_jsonl(tmp_path / "told.jsonl")
        open_beside(shelf, tmp_path / "told.jsonl")
        assert held.tellings is not None
        assert held.tellings.counts.sum() == 20
        shelf.add(script, "another door")
        with pytest.raises(InputError, match="of none of the scripts"):
            open_beside(shelf, tmp_path / "told.jsonl")
