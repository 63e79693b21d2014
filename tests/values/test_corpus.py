"""Narratives and corpora as values: checks, picking, splitting, writing."""

from __future__ import annotations

import copy
import gzip
import pickle
import stat
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision.errors import InputError
from elision.io import read
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative

if TYPE_CHECKING:
    from pathlib import Path

words = st.text(min_size=1)
told = st.lists(words, max_size=6).map(tuple)


@st.composite
def narratives(draw: st.DrawFn) -> Narrative:
    events = draw(told)
    steps = draw(st.none() | st.lists(words, min_size=len(events), max_size=len(events)))
    extra = draw(st.dictionaries(words.map("x".__add__), st.none() | st.integers() | st.text()))
    return Narrative(
        draw(st.sampled_from([events, None])) if steps is not None else events,
        None if steps is None else tuple(steps),
        draw(st.text(max_size=5)),
        draw(st.text(max_size=5)),
        extra,
    )


corpora = st.lists(narratives(), max_size=20).map(Corpus)


def tellings(count: int, domain: str) -> list[Narrative]:
    return [Narrative((f"e{i}",), domain=domain, id=f"{domain}{i}") for i in range(count)]


def ids(corpus: Corpus) -> list[str]:
    return [narrative.id for narrative in corpus]


class TestNarrative:
    def test_lists_become_tuples_of_plain_strings(self) -> None:
        narrative = Narrative([np.str_("a"), "b"], ["A", "B"])  # type: ignore[arg-type]
        assert narrative.events == ("a", "b")
        assert narrative.steps == ("A", "B")
        assert {type(event) for event in narrative.events} == {str}

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"events": "ab"}, "field 'events': 'ab' is not a list of strings"),
            ({"events": {"a", "b"}}, "is not a list of strings"),
            ({"events": 3}, "field 'events': 3 is not a list of strings"),
            ({"events": ["a", None]}, r"field 'events': events\[1\] is null; expected a non-empty"),
            ({"steps": ["a", ""]}, r"field 'steps': steps\[1\] is ''; expected a non-empty string"),
            ({"events": ["a"], "steps": ["a", "b"]}, "1 events but 2 steps; expected one event a"),
            ({"events": ["a"], "domain": None}, "field 'domain': null is not a string"),
            ({"events": ["a"], "id": 3}, "field 'id': 3 is not a string"),
            ({"events": ["a"], "extra": ["b"]}, r"field 'extra': \['b'\] is not a mapping"),
            ({"events": ["a"], "extra": {"steps": 1}}, "'steps' cannot name an extra field"),
            ({"events": ["a"], "extra": {1: 1}}, "1 cannot name an extra field"),
            ({}, "neither 'events' nor 'steps'"),
        ],
    )
    def test_what_is_refused(self, fields: dict[str, object], message: str) -> None:
        with pytest.raises(InputError, match=message):
            Narrative(**fields)  # type: ignore[arg-type]

    def test_cannot_be_changed(self) -> None:
        given_extra = {"missing": ["x"]}
        narrative = Narrative(("a",), extra=given_extra)
        given_extra["missing"] = []
        assert narrative.extra == {"missing": ["x"]}
        with pytest.raises(AttributeError):
            narrative.events = ()  # type: ignore[misc]
        with pytest.raises(TypeError):
            narrative.extra["missing"] = 1  # type: ignore[index]

    @pytest.mark.parametrize("extra", [{}, {"missing": ["x"]}])
    def test_pickles_copies_and_hashes(self, extra: dict[str, object]) -> None:
        narrative = Narrative(("a",), ("A",), "d", "1", extra)
        assert pickle.loads(pickle.dumps(narrative)) == narrative  # noqa: S301
        assert copy.deepcopy(narrative) == narrative
        assert hash(narrative) == hash(copy.copy(narrative))
        assert narrative != Narrative(("a",), ("A",), "d", "1", {"other": 1})

    def test_length_counts_events_and_otherwise_steps(self) -> None:
        assert Narrative(("a", "b")).length == 2
        assert Narrative(None, ("a", "b", "c")).length == 3
        assert Narrative(()).length == 0


class TestCorpus:
    def test_is_an_immutable_sequence(self) -> None:
        corpus = Corpus.of([["a"], ["b"], []], domain="d")
        assert len(corpus) == 3
        assert corpus[-1].events == ()
        assert corpus[np.int64(1)].events == ("b",)
        assert corpus[1:] == Corpus(list(corpus)[1:])
        assert isinstance(corpus[:1], Corpus)
        assert ids(corpus) == ["0", "1", "2"]
        assert corpus[0] in corpus
        assert hash(corpus) == hash(Corpus(corpus))
        assert corpus != list(corpus)
        assert pickle.loads(pickle.dumps(corpus)) == corpus  # noqa: S301
        with pytest.raises(TypeError):
            corpus[0] = corpus[1]  # type: ignore[index]

    @pytest.mark.parametrize(
        ("narratives", "message"),
        [
            ("abc", "'abc' is not a list of lists of strings"),
            (3, "3 is not a list of lists of strings"),
            ([["a"], "b"], r"narratives\[1\]: 'b' is not a list of strings"),
            ([["a"], ["b", ""]], r"narratives\[1\]: events\[1\] is ''"),
        ],
    )
    def test_of_says_which_narrative_is_wrong(self, narratives: object, message: str) -> None:
        with pytest.raises(InputError, match=message):
            Corpus.of(narratives)  # type: ignore[arg-type]

    def test_of_checks_the_domain(self) -> None:
        with pytest.raises(InputError, match="field 'domain': 3 is not a string"):
            Corpus.of([["a"]], domain=3)  # type: ignore[arg-type]

    def test_refuses_what_is_not_a_narrative(self) -> None:
        with pytest.raises(InputError, match=r"narratives\[0\]: \['a'\] is not a Narrative"):
            Corpus([["a"]])  # type: ignore[list-item]

    def test_domains_are_in_order_of_first_appearance(self) -> None:
        corpus = Corpus([*tellings(1, "b"), *tellings(2, "a"), *tellings(1, "b")])
        assert corpus.domains == ("b", "a")
        parts = corpus.by_domain()
        assert {name: len(part) for name, part in parts.items()} == {"b": 2, "a": 2}
        assert list(parts) == ["b", "a"]
        assert corpus.domain("a") == parts["a"]

    def test_unknown_domain_names_near_ones(self) -> None:
        corpus = Corpus([*tellings(1, "making tea"), *tellings(1, "answering the door")])
        with pytest.raises(InputError, match=r"no domain 'makin tea'.*did you mean 'making tea'"):
            corpus.domain("makin tea")
        with pytest.raises(InputError, match="it has 'making tea', 'answering the door'"):
            corpus.domain("zzz")
        with pytest.raises(InputError, match="it has no narratives"):
            Corpus().domain("zzz")

    def test_events_and_steps(self) -> None:
        both = Narrative(("a",), ("A",))
        assert Corpus([both]).events == [("a",)]
        assert Corpus([both]).steps == [("A",)]
        assert Corpus([both]).has_events
        sentences = Corpus([both, Narrative(None, ("B",), id="seven")])
        assert not sentences.has_events
        with pytest.raises(InputError, match=r"narratives\[1\] \(id 'seven'\).*EventExtractor"):
            _ = sentences.events
        with pytest.raises(InputError, match="EventExtractor"):
            _ = sentences.vocabulary
        with pytest.raises(InputError, match=r"narratives\[0\].*no steps"):
            _ = Corpus([Narrative(("a",))]).steps

    @given(st.lists(told))
    def test_vocabulary_is_sorted_whatever_the_script(self, lists: list[tuple[str, ...]]) -> None:
        found = Corpus.of(lists).vocabulary
        assert list(found) == sorted({event for events in lists for event in events})

    def test_filter_goes_by_length(self) -> None:
        corpus = Corpus([Narrative(("a",)), Narrative(("a", "b")), Narrative(None, ("A", "B"))])
        assert corpus.filter(min_events=2) == corpus[1:]
        assert corpus.filter(min_events=0) == corpus

    @pytest.mark.parametrize(
        ("corpus", "text"),
        [
            (Corpus(), "<Corpus: empty>"),
            (Corpus.of([["a", "b"]]), "<Corpus: 1 narrative, 1 domain (''), 2 event types>"),
            (
                Corpus(Narrative(None, ("A",), domain=name) for name in "vwxyz"),
                "<Corpus: 5 narratives, 5 domains ('v', 'w', 'x', …), no events yet>",
            ),
            (
                Corpus([Narrative(("a",)), Narrative(None, ("A",))]),
                "<Corpus: 2 narratives, 1 domain (''), 1 event type in 1 of them>",
            ),
        ],
    )
    def test_repr_is_for_reading(self, corpus: Corpus, text: str) -> None:
        assert repr(corpus) == text


class TestSplit:
    @given(corpora, st.floats(0.01, 0.99), st.integers(0, 2**70))
    def test_parts_are_disjoint_and_complete(self, corpus: Corpus, share: float, seed: int) -> None:
        numbered = Corpus(
            Narrative(n.events, n.steps, n.domain, str(index)) for index, n in enumerate(corpus)
        )
        train, test = numbered.split(share, random_state=seed)
        assert sorted(map(int, ids(train) + ids(test))) == list(range(len(corpus)))
        for part in (train, test):
            assert list(map(int, ids(part))) == sorted(map(int, ids(part)))
        assert numbered.split(share, random_state=seed) == (train, test)
        assert set(train.domains) == set(numbered.domains)

    @given(st.integers(0, 60), st.integers(0, 99), st.randoms(use_true_random=False))
    def test_other_domains_make_no_difference(
        self, others: int, seed: int, shuffle: object
    ) -> None:
        alone = tellings(30, "tea")
        mixed: list[Narrative] = [*alone, *tellings(others, "door")]
        order = sorted(range(len(mixed)), key=lambda _: shuffle.random())  # type: ignore[attr-defined]
        # The other domain is strewn in between; the order within the domain is kept.
        own = iter(alone)
        strewn = Corpus(next(own) if mixed[i].domain == "tea" else mixed[i] for i in order)
        _, expected = Corpus(alone).split(random_state=seed)
        _, test = strewn.split(random_state=seed)
        assert ids(Corpus(n for n in test if n.domain == "tea")) == ids(expected)

    @pytest.mark.parametrize(
        ("count", "share", "expected"),
        [
            (1, 0.4, 0),
            (1, 0.99, 0),
            (2, 0.4, 1),
            (2, 0.9, 1),
            (5, 0.4, 2),
            (5, 0.5, 3),
            (10, 0.4, 4),
        ],
    )
    def test_sizes(self, count: int, share: float, expected: int) -> None:
        train, test = Corpus(tellings(count, "d")).split(share)
        assert (len(train), len(test)) == (count - expected, expected)

    def test_pinned(self) -> None:
        corpus = Corpus([*tellings(10, "making tea"), *tellings(5, "Türöffnen")])
        expected = {0: "1589 13", 1: "1359 13", 2**40: "0258 34"}
        for seed, places in expected.items():
            test = corpus.split(random_state=seed)[1].by_domain()
            found = ["".join(n.id.removeprefix(name) for n in part) for name, part in test.items()]
            assert " ".join(found) == places

    def test_every_narrative_is_as_likely(self) -> None:
        corpus = Corpus(tellings(10, "d"))
        counts = np.zeros(10)
        for seed in range(1000):
            for narrative in corpus.split(0.4, random_state=seed)[1]:
                counts[int(narrative.id[1:])] += 1
        # Binomial(1000, 0.4) has a standard deviation of 15.5.
        assert np.abs(counts - 400).max() < 5 * 15.5

    @pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan"), "0.4", None])
    def test_share_out_of_range(self, share: float) -> None:
        with pytest.raises(InputError, match="expected a share above 0 and below 1"):
            Corpus(tellings(3, "d")).split(share)

    @pytest.mark.parametrize("seed", [-1, 1.5, None, True, "0"])
    def test_seed_out_of_range(self, seed: int) -> None:
        with pytest.raises(InputError, match="expected a whole number, 0 or above"):
            Corpus(tellings(3, "d")).split(random_state=seed)

    def test_numpy_seed(self) -> None:
        corpus = Corpus(tellings(9, "d"))
        assert corpus.split(random_state=np.int64(3)) == corpus.split(random_state=3)  # type: ignore[arg-type]

    def test_empty(self) -> None:
        assert Corpus().split() == (Corpus(), Corpus())


class TestToJsonl:
    @given(corpora.filter(len))
    def test_round_trip(self, tmp_path_factory: pytest.TempPathFactory, corpus: Corpus) -> None:
        path = tmp_path_factory.mktemp("trip") / "stories.jsonl"
        corpus.to_jsonl(path)
        assert read(path) == corpus

    @pytest.mark.parametrize("event", ["\u2028", "\x85", "\r", "\n", "\ufeff", "\0", "😀", '"\\'])
    def test_round_trip_of_odd_characters(self, tmp_path: Path, event: str) -> None:
        corpus = Corpus.of([[event], [event, "b"]], domain=event)
        corpus.to_jsonl(tmp_path / "stories.jsonl")
        assert read(tmp_path / "stories.jsonl") == corpus
        assert len((tmp_path / "stories.jsonl").read_bytes().split(b"\n")) == 3

    def test_packs_by_name(self, tmp_path: Path) -> None:
        corpus = Corpus.of([["a", "b"]])
        corpus.to_jsonl(tmp_path / "stories.jsonl")
        corpus.to_jsonl(tmp_path / "stories.jsonl.gz")
        packed = (tmp_path / "stories.jsonl.gz").read_bytes()
        assert gzip.decompress(packed) == (tmp_path / "stories.jsonl").read_bytes()
        assert read(tmp_path / "stories.jsonl.gz") == corpus
        corpus.to_jsonl(tmp_path / "stories.jsonl.gz")
        assert (tmp_path / "stories.jsonl.gz").read_bytes() == packed

    def test_keeps_mode_and_link_and_leaves_nothing_behind(self, tmp_path: Path) -> None:
        target = tmp_path / "real.jsonl"
        target.write_text("old")
        target.chmod(0o640)
        link = tmp_path / "link.jsonl"
        link.symlink_to(target)
        Corpus.of([["a"]]).to_jsonl(link)
        assert link.is_symlink()
        assert len(read(target)) == 1
        assert stat.S_IMODE(target.stat().st_mode) == 0o640
        assert sorted(tmp_path.iterdir()) == [link, target]

    def test_a_value_that_json_has_not_leaves_the_old_file(self, tmp_path: Path) -> None:
        target = tmp_path / "stories.jsonl"
        target.write_text("old")
        bad = Narrative(("a",), id="seven", extra={"thing": object()})
        with pytest.raises(
            InputError, match=r"narratives\[1\] \(id 'seven'\): cannot be written as"
        ):
            Corpus([Narrative(("a",)), bad]).to_jsonl(target)
        with pytest.raises(InputError, match=r"narratives\[0\].*surrogates"):
            Corpus.of([["\ud800"]]).to_jsonl(target)
        assert target.read_text() == "old"

    def test_places_that_cannot_be_written(self, tmp_path: Path) -> None:
        corpus = Corpus.of([["a"]])
        with pytest.raises(InputError, match="cannot be written"):
            corpus.to_jsonl(tmp_path)
        with pytest.raises(InputError, match=r"missing.*cannot be written: No such file"):
            corpus.to_jsonl(tmp_path / "missing" / "stories.jsonl")
        with pytest.raises(InputError, match="cannot be written"):
            corpus.to_jsonl("a\0b")
        with pytest.raises(InputError, match="/dev/null: cannot be written"):
            corpus.to_jsonl("/dev/null")
