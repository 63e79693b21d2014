"""Event types from sentences: real tellings, leaks, files, and input that means no good."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from elision.errors import FileFormatError, InputError
from elision.text import event_types, vectors
from elision.text.event_types import DomainTypes
from elision.text.extract import EventExtractor
from elision.text.wording import content_words
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative
from elision.values.observations import Packer, likeliest_events
from labelled import own_tellings
from sentences import b_cubed

DOORBELL = "answering the doorbell"
TINY = [
    ["I heard the bell", "I walked to the door", "I opened it"],
    ["hear the doorbell", "go to the door", "open the door"],
    ["hear bell", "walk to door", "open the door wide", "sing a song"],
]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return own_tellings().domain(DOORBELL)


@pytest.fixture(scope="module")
def fitted(corpus: Corpus) -> EventExtractor:
    return EventExtractor(vectors=False).fit(corpus[:22])


# --- finding types -----------------------------------------------------------------------------


@pytest.mark.parametrize(("similarity", "least"), [("wordnet", 0.46), ("mixed", 0.63)])
def test_types_agree_with_people(similarity: str, least: float) -> None:
    scores = []
    for part in own_tellings().by_domain().values():
        extractor = EventExtractor(similarity, vectors=False, rare="keep").fit(part)
        gold = [event for row in part.events for event in row]
        found = [label for row in extractor.labels_ for label in row]
        scores.append(b_cubed(gold, found)[2])
    assert np.mean(scores) > least


def test_fit_transform_keeps_steps_beside_events(corpus: Corpus) -> None:
    extractor = EventExtractor(vectors=False)
    found = extractor.fit_transform(corpus)
    assert [n.id for n in found] == [n.id for n in corpus]
    assert found.has_events
    told = sum(map(len, corpus.steps))
    assert sum(map(len, found.events)) + len(extractor.dropped_) == told
    assert len(extractor.dropped_) > 0
    for lost in extractor.dropped_:
        narrative = next(n for n in corpus if n.id == lost.id)
        assert narrative.steps[lost.position] == lost.sentence
    types = extractor.domains_[DOORBELL].types
    assert found.vocabulary == tuple(sorted(kind.name for kind in types))
    assert all(kind.tellings >= 2 for kind in types)
    assert [kind.tellings for kind in types] == sorted((k.tellings for k in types), reverse=True)


def test_rare_steps_can_be_kept(corpus: Corpus) -> None:
    extractor = EventExtractor(vectors=False, rare="keep")
    assert extractor.fit_transform(corpus).steps == corpus.steps
    assert extractor.dropped_ == ()


def test_min_tellings_and_number_of_types(corpus: Corpus) -> None:
    few = EventExtractor(vectors=False, min_tellings=6).fit(corpus).domains_[DOORBELL]
    assert all(kind.tellings >= 6 for kind in few.types)
    some = EventExtractor(vectors=False, n_types=9).fit(corpus).domains_[DOORBELL]
    assert len(some.types) == 9
    loose, strict = (
        EventExtractor(vectors=False, rare="keep", strictness=z).fit(corpus).domains_[DOORBELL]
        for z in (0.5, 2.5)
    )
    assert len(loose.types) < len(strict.types)


def test_examples_are_sentences_of_the_type_most_central_first(fitted: EventExtractor) -> None:
    bell = next(k for k in fitted.domains_[DOORBELL].types if k.name.startswith("hear"))
    assert "bell" in bell.sentences[0]
    assert bell.size >= bell.tellings > 5
    assert 0 < bell.cohesion < 2


def test_domains_are_found_apart() -> None:
    both = own_tellings().domain(DOORBELL)[:12], own_tellings().domain("making tea")[:12]
    together = EventExtractor(vectors=False).fit_transform(Corpus([*both[0], *both[1]]))
    apart = [EventExtractor(vectors=False).fit_transform(part) for part in both]
    assert together.events == apart[0].events + apart[1].events


def test_identical_bytes_whatever_the_threads(corpus: Corpus) -> None:
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            extractor = EventExtractor(vectors=vectors.installed()).fit(corpus)
            found.append(json.dumps([extractor.to_dict(), extractor.labels_]))
    assert found[0] == found[1]


def test_sentences_can_be_split() -> None:
    tellings = [["hear the bell and open the door"], ["hear bell", "open door"]]
    found = EventExtractor(vectors=False, split=True).fit_transform(tellings)
    assert found.steps[0] == ("hear the bell", "open the door")
    assert found.events == [("hear bell", "open door")] * 2
    extractor = EventExtractor(vectors=False, split=True).fit(tellings)
    seen = extractor.observe(["hear the bell and open the door", None, "open door"])
    assert [one and max(one, key=one.get) for one in seen] == [
        "hear bell",
        "open door",
        None,
        "open door",
    ]


def test_where_all_is_rare_nothing_is_left() -> None:
    extractor = EventExtractor(vectors=False, min_tellings=9)
    assert extractor.fit_transform(TINY).events == [()] * 3
    assert len(extractor.dropped_) == 10
    assert extractor.predict([["open door"]]) == [[None]]
    assert extractor.set_params(none_threshold=1).observe(["open door"]) == [None]
    assert EventExtractor.from_dict(extractor.to_dict()).predict([["open door"]]) == [[None]]


# --- mapping new sentences ---------------------------------------------------------------------


def test_new_sentences_are_mapped(fitted: EventExtractor, corpus: Corpus) -> None:
    heard, opened, odd = fitted.predict([["he hears the bell", "they open the door", "⚽⚽⚽"]])[0]
    assert heard.startswith("hear")
    assert opened.startswith("open")
    assert odd is None
    rest = fitted.transform(corpus[22:])
    assert len(rest) == len(corpus) - 22
    assert sum(map(len, rest.events)) > 0.7 * sum(map(len, corpus[22:].steps))


def test_a_sentence_is_left_out_by_taking_it_from_its_type() -> None:
    tellings = [*own_tellings().domain(DOORBELL)[:12].steps, ("juggle seven swords",)]
    types = EventExtractor("wordnet", rare="keep").fit(tellings).domains_[""]
    alone = 0
    for number, kind in enumerate(types.types):
        for at, (wording, count) in enumerate(zip(kind.wordings, kind.counts, strict=True)):
            found = types.probabilities([wording], left_out=True)[0]
            fewer = list(zip(kind.wordings, kind.counts, strict=True))
            fewer[at : at + 1] = [(wording, count - 1)] if count > 1 else []
            others = list(types.types)
            if fewer:
                words, counts = zip(*fewer, strict=True)
                others[number] = kind._replace(wordings=words, counts=counts)
            else:  # nothing else tells it
                alone += 1
                assert found[number] == 0
                found = np.delete(found, number)
                del others[number]
            naive = DomainTypes(
                others,
                types.measure,
                calibration=types.calibration,
                method=types.method,
                cut=types.cut,
            )
            assert found.tolist() == pytest.approx(
                naive.probabilities([wording])[0].tolist(), rel=1e-12
            )
    assert alone


def test_tellings_that_types_were_found_from_are_heard_without_themselves() -> None:
    extractor = EventExtractor("wordnet", rare="keep").fit([*TINY, ["juggle seven swords"]])
    assert extractor.predict([["juggle seven swords"]]) != [[None]]
    assert extractor.transform([["juggle seven swords"]], left_out=True).events == [()]
    twice = EventExtractor("wordnet").fit([["hear bell", "open door"]] * 2)
    heard = twice.transform([["hear bell", "open door"]], left_out=True)
    assert heard.events == [("hear bell", "open door")]


def test_what_sentences_may_tell_is_what_each_is_taken_for(fitted, corpus) -> None:
    """The likeliest are the events that they are mapped to, left out or not; gaps are none."""
    for left_out in (False, True):
        soft = fitted.heard(corpus[:22], left_out=left_out)
        mapped = fitted.transform(corpus[:22], left_out=left_out)
        assert list(map(likeliest_events, soft)) == mapped.events
        assert [[one.words for one in told if one] for told in soft] == [
            [content_words(step) for step in told] for told in mapped.steps
        ]
        assert max(len(one) for told in soft for one in told if one) > 1
    assert fitted.heard([corpus[0].steps]) == [fitted.observe(corpus[0].steps)]
    assert fitted.heard([["⚽⚽⚽"]]) == [[None]]


def test_many_sentences_are_mapped_in_blocks(fitted: EventExtractor, monkeypatch) -> None:
    steps = [[f"I hear the bell {number} times" for number in range(7)]]
    whole = fitted.transform_proba(steps, domain=DOORBELL)
    monkeypatch.setattr(event_types, "_BLOCK", 3)
    assert fitted.transform_proba(steps, domain=DOORBELL) == whole


def test_probabilities_are_soft_observations(fitted: EventExtractor, corpus: Corpus) -> None:
    names = fitted.domains_[DOORBELL].names
    rows = fitted.transform_proba(corpus[22:])
    for row in rows:
        for shares in row:
            assert tuple(shares) == names
            assert 0 <= sum(shares.values()) <= 1 + 1e-12
    packed = Packer(names).pack(rows)
    assert len(packed.place) == len(rows)
    seen = fitted.observe(["I hear the bell", None, "⚽⚽⚽"])
    assert max(seen[0], key=seen[0].get).startswith("hear")
    assert seen[1:] == [None, None]
    Packer(names).pack([seen])
    assert fitted.observe([None]) == [None]
    assert fitted.observe([]) == []


class Neighbourly(EventExtractor):
    """A control that cheats: it shows each sentence together with the one before it."""

    def transform_proba(self, X, *, domain=None):
        joined = [
            [f"{before} and {step}" for before, step in zip(["", *row[:-1]], row, strict=True)]
            for row in X
        ]
        return super().transform_proba(joined, domain=domain)


def leaks(extractor: EventExtractor, steps: list[str], gone: int) -> bool:
    """Whether taking a sentence away changes anything that is said of the others."""
    whole = extractor.transform_proba([steps])[0]
    left = extractor.transform_proba([steps[:gone] + steps[gone + 1 :]])[0]
    return left != whole[:gone] + whole[gone + 1 :]


def held_out() -> list[list[str]]:
    return [list(steps) for steps in own_tellings().domain(DOORBELL)[22:].steps]


@settings(max_examples=40)
@given(st.sampled_from(held_out()), st.data())
def test_a_sentence_taken_away_changes_nothing(fitted, steps, data) -> None:
    gone = data.draw(st.integers(0, len(steps) - 1))
    assert not leaks(fitted, steps, gone)


def test_the_test_for_leaks_can_fail(corpus: Corpus) -> None:
    cheat = Neighbourly(vectors=False).fit(corpus[:22])
    assert any(leaks(cheat, steps, 0) for steps in held_out())


def test_sentences_are_mapped_alone_as_in_company(fitted: EventExtractor) -> None:
    tellings = held_out()
    together = fitted.transform_proba(tellings)
    for steps, rows in zip(tellings, together, strict=True):
        assert [fitted.transform_proba([[step]])[0][0] for step in steps] == rows


def test_types_come_from_training_tellings_only(corpus: Corpus) -> None:
    extractor = EventExtractor(vectors=False).fit(corpus[:22])
    before = json.dumps(extractor.to_dict())
    extractor.transform(corpus[22:])
    extractor.transform_proba(corpus[22:])
    assert json.dumps(extractor.to_dict()) == before


# --- other similarities, parsers, vectors ------------------------------------------------------


@pytest.fixture
def without_vectors(monkeypatch):
    monkeypatch.setattr(vectors, "find_spec", lambda _: None)
    vectors._warn_once.cache_clear()
    yield
    vectors._warn_once.cache_clear()


def test_without_vectors_there_is_one_warning(without_vectors) -> None:
    with pytest.warns(UserWarning, match=r"pip install 'elision\[vectors\]'"):
        EventExtractor().fit(TINY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EventExtractor().fit(TINY)
        EventExtractor(vectors=False).fit(TINY)
    with pytest.raises(InputError, match="wordllama is not installed"):
        EventExtractor(vectors=True).fit(TINY)


def test_with_vectors(corpus: Corpus, tmp_path) -> None:
    pytest.importorskip("wordllama")
    extractor = EventExtractor(vectors=True).fit(corpus[:22])
    again = EventExtractor.from_dict(json.loads(json.dumps(extractor.to_dict())))
    rows = extractor.transform_proba(corpus[22:])
    assert again.transform_proba(corpus[22:]) == rows
    steps = list(corpus[25].steps)
    assert not leaks(extractor, steps, 1)


def test_vectors_that_are_gone_are_done_without(corpus: Corpus, request) -> None:
    pytest.importorskip("wordllama")
    stored = EventExtractor(vectors=True).fit(corpus[:22]).to_dict()
    request.getfixturevalue("without_vectors")
    with pytest.warns(UserWarning, match="without word vectors"):
        again = EventExtractor.from_dict(stored)
    assert again.predict([["he hears the bell"]])[0][0].startswith("hear")
    assert again.to_dict()["domains"][0]["types"] == stored["domains"][0]["types"]


# --- files -------------------------------------------------------------------------------------


def test_saved_and_loaded_bit_for_bit(fitted: EventExtractor, corpus: Corpus, tmp_path) -> None:
    fitted.save(tmp_path / "e.json")
    again = EventExtractor.load(tmp_path / "e.json")
    assert again.to_dict() == fitted.to_dict()
    assert again.transform_proba(corpus) == fitted.transform_proba(corpus)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "e.json").read_bytes()
    assert (tmp_path / "e.json").stat().st_size < 60_000


DAMAGES = {
    "no extractor": lambda d: d.update(format="elision-script"),
    "a newer release": lambda d: d.update(version=2),
    "Expected `array`": lambda d: d.update(domains={}),
    "unknown field": lambda d: d.update(extra=1),
    "it stands twice": lambda d: d["domains"].append(d["domains"][0]),
    "unknown similarity": lambda d: d["settings"].update(similarity="telepathy"),
    "unknown treatment": lambda d: d["settings"].update(rare="?"),
    "0 senses": lambda d: d["settings"].update(senses=0),
    "names of types": lambda d: d["domains"][0]["types"][0].update(name=""),
    "needs wordings": lambda d: d["domains"][0]["types"][0].update(wordings=[]),
    "scale is not positive": lambda d: d["domains"][0].update(calibration=[0.0, 1.0]),
    "centroid of 3": lambda d: d["domains"][0].update(centroid=[0.0] * 3),
    "counts of words": lambda d: d["domains"][0]["words"].update(a=0),
}


@pytest.mark.parametrize("said", DAMAGES)
def test_damaged_values_are_refused(fitted: EventExtractor, said: str) -> None:
    data = json.loads(json.dumps(fitted.to_dict()))
    DAMAGES[said](data)
    with pytest.raises(FileFormatError, match=said) as caught:
        EventExtractor.from_dict(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b'{"a": NaN}', b"[" * 9999])
def test_files_that_are_none_are_refused(tmp_path, content: bytes) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"bad\.json: no extractor") as caught:
        EventExtractor.load(tmp_path / "bad.json")
    assert "\n" not in str(caught.value)


def test_what_json_cannot_hold_is_refused(tmp_path) -> None:
    extractor = EventExtractor(vectors=False).fit([["half a surrogate \ud800"]])
    with pytest.raises(InputError, match="cannot be written as JSON"):
        extractor.save(tmp_path / "e.json")
    assert list(tmp_path.iterdir()) == []


def test_missing_file_is_refused(tmp_path) -> None:
    with pytest.raises(FileFormatError, match="cannot be read: No such file"):
        EventExtractor.load(tmp_path / "none.json")


# --- hostile input -----------------------------------------------------------------------------

HOSTILE = [
    [["wait"]],
    [["wait", "wait"]],
    [["open door"]] * 6,
    [["🔔", "🚪"], ["🔔"], []],
    [[" "], ["\t"], ["."]],
    [["a" * 5000], ["b " * 2000]],
    [["\ud800 half a surrogate"], ["\x00"]],
    [["1", "2", "3"], ["3", "2", "1"]],
]


@pytest.mark.parametrize("tellings", HOSTILE)
@pytest.mark.parametrize("similarity", ["mixed", "wordnet"])
def test_odd_tellings_are_taken(tellings: list[list[str]], similarity: str) -> None:
    extractor = EventExtractor(similarity, vectors=False)
    found = extractor.fit_transform(tellings)
    assert list(map(len, found.events)) == list(map(len, tellings))
    assert extractor.predict(tellings) == [list(row) for row in found.events]
    extractor.transform_proba([["something else", "🤷", "wait"], []])
    again = EventExtractor.from_dict(extractor.to_dict())
    assert again.predict(tellings) == extractor.predict(tellings)


@settings(max_examples=30)
@given(st.lists(st.lists(st.text(min_size=1, max_size=20), max_size=4), max_size=5))
def test_any_text_is_taken(tellings: list[list[str]]) -> None:
    extractor = EventExtractor(vectors=False, rare="keep")
    if not any(tellings):
        with pytest.raises(InputError, match="no sentences"):
            extractor.fit(tellings)
        return
    found = extractor.fit_transform(tellings)
    assert found.steps == [tuple(row) for row in tellings]
    extractor.transform(tellings)


@pytest.mark.parametrize(
    ("tellings", "said"),
    [
        ([], "no sentences"),
        ([[]], "no sentences"),
        ("open door", "not a corpus or a list"),
        (3, "not a corpus or a list"),
        (["open door"], r"narratives\[0\]: 'open door' is not a list of strings"),
        ([["open", ""]], r"narratives\[0\]: steps\[1\] is ''"),
        ([["open"], ["shut", None]], r"narratives\[1\]: steps\[1\] is null"),
        (Corpus.of([["hear", "open"]]), "no steps"),
    ],
)
def test_bad_tellings_are_refused(tellings: object, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        EventExtractor(vectors=False).fit(tellings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "option",
    [
        {"similarity": "magic"},
        {"rare": "hide"},
        {"vectors": "yes"},
        {"verb_weight": 1.5},
        {"verb_weight": float("nan")},
        {"senses": 0},
        {"senses": True},
        {"min_tellings": -1},
        {"n_types": 0},
        {"strictness": "high"},
        {"none_threshold": 2},
        {"split": 3},
    ],
)
def test_bad_options_are_refused(option: dict[str, object]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(option))}=.*, expected"):
        EventExtractor(**option).fit(TINY)


def test_it_is_a_scikit_learn_estimator() -> None:
    extractor = EventExtractor("wordnet", n_types=3)
    with pytest.raises(NotFittedError):
        extractor.predict(TINY)
    with pytest.raises(NotFittedError):
        extractor.to_dict()
    copy = clone(extractor.fit(TINY))
    assert copy.get_params() == extractor.get_params()
    assert not hasattr(copy, "domains_")
    assert copy.set_params(n_types=2).fit(TINY) is copy


def test_domains_must_be_known(fitted: EventExtractor) -> None:
    strange = Corpus([Narrative(steps=("open door",), domain="cake")])
    with pytest.raises(InputError, match="no event types for the domain 'cake'"):
        fitted.transform(strange)
    assert fitted.predict([["open door"]], domain=DOORBELL) == fitted.predict([["open door"]])
    with pytest.raises(InputError, match="no event types for the domain 'tea'"):
        fitted.predict([["open door"]], domain="tea")
