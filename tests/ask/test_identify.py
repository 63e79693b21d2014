"""Libraries: identification against all subsets of strays, files, and answers in common."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
import naive_questions as twin
from elision.ask import identify as module
from elision.ask.engine.evidence import (
    BROKEN_OFF,
    EVENT_WEIGHT,
    OPEN,
    SCRIPT_WEIGHT,
    STRAY,
    WORD_POWER,
    Background,
    Bounds,
    Reading,
    Sentence,
    Sheet,
    hear_events,
    log_evidence,
    sheet_of,
    symbols_of,
)
from elision.ask.engine.told_chain import ToldChain
from elision.values.library import Library
from models import ATOL, RTOL, events, models


def script_of(model):
    transition, emission, elision = model
    return el.Script(events(emission.shape[1]), transition, emission, elision)


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=RTOL, atol=ATOL)


def tea():
    return el.Script.build(
        {
            "boil": {"boil water": 0.9, None: 0.1},
            "open": {"open door": 0.2, None: 0.8},
            "pour": "pour",
        },
        {"start": {"boil": 1}, "boil": {"open": 1}, "open": {"pour": 1}, "pour": {"end": 1}},
    )


def library(**options):
    return Library({"doorbell": el.examples.doorbell(), "tea": tea()}, **options)


@pytest.mark.numerical
@settings(max_examples=60)
@given(
    models(most_states=3),
    st.lists(st.sampled_from([0, 1, 2, None, "foreign"]), max_size=4),
)
def test_evidence_is_the_sum_over_all_strays(model, told):
    count = model[1].shape[1]
    narrative = ["foreign" if isinstance(o, int) and o >= count else o for o in told]
    script = script_of(model)
    background = Background([sheet_of(script, None)], np.ones(1))
    named = [script.events[o] if isinstance(o, int) else o for o in narrative]
    symbols, numbers = symbols_of([named])
    heard = hear_events(script, symbols, background)
    found = log_evidence(ToldChain(script), heard, numbers, STRAY)
    weights = [background.weight(event) for event in script.events]
    expected = twin.evidence(model, narrative, weights, STRAY, BROKEN_OFF)
    close(found, [math.log(expected)])
    bounds = Bounds([sheet_of(script, None)]).log_bounds(symbols, background)
    bound = bounds[0, numbers[0]].sum()
    assert found[0] <= bound + 1e-9


@pytest.mark.numerical
@settings(max_examples=25)
@given(
    st.lists(models(most_states=3), min_size=1, max_size=4), st.lists(st.integers(0, 3), max_size=4)
)
def test_the_posterior_and_what_was_left_out_of_it(made, told):
    """Bounds save work and change nothing."""
    scripts = {f"s{number}": script_of(model) for number, model in enumerate(made)}
    narrative = [f"e{o}" for o in told]
    found = Library(scripts).identify(narrative)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "IMPLAUSIBLE", math.inf)
        full = Library(scripts).identify(narrative)
    for one in full.candidates:
        close(found.probability(one.name), one.probability)
    assert math.fsum(one.probability for one in found.candidates) == pytest.approx(1.0)


def test_the_background_is_a_distribution():
    background = Background([sheet_of(tea(), None)], np.ones(1))
    assert math.fsum(background.known.values()) + background.unknown == pytest.approx(1.0)
    assert background.weight("never heard of") == pytest.approx(OPEN / 4)
    assert background.length == pytest.approx(0.9 + 0.2 + 1.0)


def test_many_are_identified_as_one_by_one():
    books = library()
    told = [["boil water"], [], ["open door", None], [{"pour": 0.5, "close door": 0.5}], ["sneeze"]]
    together = books.identify_many(told)
    for narrative, found in zip(told, together, strict=True):
        alone = books.identify(narrative)
        assert alone.best == found.best
        for one in alone.candidates:
            close(found.probability(one.name), one.probability)


def test_priors_and_none_of_these_weigh_in():
    told = ["open door"]
    even, odd = library(), library(priors={"doorbell": 1.0, "tea": 99.0})
    ratio = even.identify(told).probability("tea") / even.identify(told).probability("doorbell")
    # The background moves with the priors, but by the same factor for both.
    shifted = odd.identify(told).probability("tea") / odd.identify(told).probability("doorbell")
    assert shifted / ratio == pytest.approx(99.0, rel=0.2)
    assert even.identify(told, none_of_these=False).probability(None) == 0.0
    assert even.identify(["sneeze"], none_of_these=0.5).best is None
    assert odd.priors == {"doorbell": 0.01, "tea": 0.99}


def test_a_foreign_event_is_evidence_but_no_proof():
    books = library()
    plain = ["boil water", "pour"]
    assert books.identify([*plain, "sneeze"], none_of_these=False).best == "tea"
    mixed = books.identify(["boil water", "pour", "hear doorbell"])
    assert mixed.best == "tea"
    assert mixed.probability("tea") < books.identify(plain).probability("tea") + 1e-9


TELLINGS = {
    "tea": [
        ["fill the kettle", "boil the water", "put a tea bag in the cup", "pour the water"],
        ["boil water", "get a cup", "put tea bag in cup", "pour water", "drink the tea"],
        ["fill kettle with water", "boil it", "pour water into cup", "drink tea"],
    ],
    "door": [
        ["hear the bell", "walk to the door", "open the door", "greet the visitor"],
        ["hear doorbell", "go to door", "open door", "say hello"],
        ["hear the doorbell", "walk to door", "look through peephole", "open the door"],
    ],
}


@pytest.fixture(scope="module")
def spoken():
    found = {}
    for name, tellings in TELLINGS.items():
        extractor = el.EventExtractor(vectors=False, rare="keep")
        told = extractor.fit_transform(tellings * 2)
        script = el.SEMHMM(score="marginal", random_state=0).fit(told.events).script_
        found[name] = script.annotated(extractor=extractor.to_dict())
    return found


def test_sentences_are_identified_by_their_words(spoken):
    books = Library(spoken)
    assert books.identify(["she boils some water", "and pours it over the tea"]).best == "tea"
    assert books.identify(["somebody rings the bell", "I open the door"]).best == "door"
    painting = ["he paints the fence", "and mows a lawn"]
    assert books.identify(painting, none_of_these=0.5).best is None
    both = books.identify_many([["boil the water"], ["open the door"]])
    assert [one.best for one in both] == ["tea", "door"]


def test_words_are_smoothed_from_event_to_script_to_library():
    sheets = [Sheet((), (), (), {"tea": 3, "cup": 1}), Sheet((), (), (), {"door": 4, "cup": 2})]
    words = Counter({"tea": 3, "cup": 3, "door": 4})

    reading = Reading([Sentence("the tea"), Sentence("a zebra")], words)
    usual = (3 + 0.5) / (10 + 0.5 * 4)
    own = (3 + SCRIPT_WEIGHT * usual) / (4 + SCRIPT_WEIGHT)
    others = (3 - 3 + 1) / (10 - 4 + 4)
    close(reading.unigram(sheets[0])[0], WORD_POWER * math.log(own / others))
    script = el.Script.build({"sip": "sip"}, {"start": {"sip": 1}, "sip": {"end": 1}})
    heard = reading.hear(script, sheets[0], {"sip": {"tea": 2}})
    by_event = (2 + EVENT_WEIGHT * own) / (2 + EVENT_WEIGHT)
    close(heard.tell[0, 1] * math.exp(heard.scale[0]), (by_event / others) ** WORD_POWER)
    close(heard.stray[0] * math.exp(heard.scale[0]), (own / others) ** WORD_POWER)
    assert reading.unigram(sheets[1])[1] < 0.5


WORDS = ["tea", "cup", "door", "bell", "zebra"]
COUNTS = st.dictionaries(st.sampled_from(WORDS[:4]), st.integers(1, 50), min_size=1)
SENTENCES = st.sets(st.sampled_from(WORDS), min_size=1).map(sorted)


def likeness_of(tellings, sheet, words):
    """Of tellings as lists of sentences, which are lists of words."""
    sentences = [sentence for telling in tellings for sentence in telling]
    reading = Reading([Sentence(" ".join(one)) for one in sentences], words)
    ends = np.cumsum([0, *map(len, tellings)]).tolist()
    numbers = [list(range(*pair)) for pair in pairwise(ends)]
    return reading.likeness(sheet, reading.tally(numbers))


@pytest.mark.numerical
@settings(max_examples=60)
@given(
    COUNTS, COUNTS, st.lists(st.lists(SENTENCES, min_size=1, max_size=4), min_size=1, max_size=3)
)
def test_likeness_is_as_its_twin_has_it(words, others, tellings):
    sheet, together = Sheet((), (), (), words), Counter(words) + Counter(others)
    found = likeness_of(tellings, sheet, together)
    close(found, [twin.likeness(telling, words, together) for telling in tellings])


def test_words_drawn_from_a_script_are_like_it():
    """About 1, whether they are few or many."""
    words = {"tea": 40, "cup": 30, "door": 20, "bell": 5}
    sheet, rng = Sheet((), (), (), words), np.random.default_rng(0)
    shares = np.array(list(words.values())) / sheet.word_total
    for count in (2, 10, 50):
        drawn = [[[word] for word in rng.choice(WORDS[:4], count, p=shares)] for _ in range(300)]
        found = likeness_of(drawn, sheet, Counter(words) + Counter(door=30))
        assert found.mean() == pytest.approx(1.0, abs=0.08)
    assert likeness_of([[["zebra"]] * 5], sheet, Counter(words))[0] == 0.0


def without_likeness(patch):
    patch.setattr(module, "LIKENESS_WEIGHT", 0.0)


STEEPING = [
    ["boil the soup", "put soup in the cup", "pour the soup", "drink the soup"],
    ["boil the water", "put tea in the cup", "pour the water", "drink the tea"],
]


def test_what_is_said_again_and_again_is_something_else(spoken, monkeypatch):
    """All that is said of tea is said of soup, but for the soup."""
    books = Library(spoken)
    soup, brew = (one.probability(None) for one in books.identify_many(STEEPING))
    without_likeness(monkeypatch)
    soup_before, brew_before = (one.probability(None) for one in books.identify_many(STEEPING))
    assert soup / brew > 10 * soup_before / brew_before > 10


def test_likeness_only_weighs_none_of_these(spoken, monkeypatch):
    """Among the scripts it changes nothing; those that know no words have no say."""
    books = Library({**spoken, "doorbell": el.examples.doorbell()})
    told = [*STEEPING, ["she boils some water", None], ["open the door", "hear the bell"]]
    found = books.identify_many(told)
    alone = [books.identify(one) for one in told]
    without_likeness(monkeypatch)
    for now, single, before in zip(found, alone, books.identify_many(told), strict=True):
        assert now.probability(None) != before.probability(None)
        close(single.probability(None), now.probability(None))
        for name in books:
            shares = [one.probability(name) / (1 - one.probability(None)) for one in (now, before)]
            assert shares[0] == pytest.approx(shares[1], rel=1e-6, abs=1e-8)


def test_likeness_where_a_prior_is_as_good_as_none(spoken):
    books = Library(spoken, {"tea": 1e-300, "door": 1e300})
    found = books.identify(["boil the water", "pour tea"])
    assert found.best is None
    assert math.fsum(one.probability for one in found.candidates) == pytest.approx(1.0)
    assert Library({"tea": spoken["tea"]}).identify(["boil the water", "pour tea"]).best == "tea"


# --- files ------------------------------------------------------------------------------------


def test_a_library_comes_back_as_it_was(tmp_path, spoken):
    scripts = {"doorbell": el.examples.doorbell(), "te/a ☕": tea(), **spoken}
    books = Library(scripts)
    for _ in range(2):
        books.save(tmp_path / "books")
        again = Library.load(tmp_path / "books")
        assert set(again) == set(books)
        assert again.events == books.events
        assert all(again[name] == scripts[name].annotated(domain=name) for name in scripts)
        for told in (["open door"], ["she boils some water"]):
            found, expected = again.identify(told), books.identify(told)
            for one in expected.candidates:
                close(found.probability(one.name), one.probability)


def test_a_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(el.InputError, match=r"something other than these scripts: notes\.txt"):
        library().save(tmp_path)
    with pytest.raises(el.InputError, match="there is a file"):
        library().save(tmp_path / "notes.txt")


def test_missing_and_torn_libraries(tmp_path):
    with pytest.raises(el.FileFormatError, match="no script file in this folder"):
        Library.load(tmp_path / "nowhere")
    library().save(tmp_path)
    path = tmp_path / "doorbell.json"
    path.write_bytes(path.read_bytes().replace(b"open door", b"open Door", 1))
    with pytest.raises(el.FileFormatError, match="checksum"):
        Library.load(tmp_path)


@pytest.mark.parametrize(
    ("scripts", "priors", "problem"),
    [
        ({}, None, "at least one"),
        ([1], None, "scripts by name"),
        ({"": tea()}, None, "no name"),
        ({"x": 3}, None, "no script"),
        ({"x": tea()}, {"y": 1.0}, "one for each script"),
        ({"x": tea()}, {"x": 0.0}, "positive"),
        ({"x": tea()}, {"x": math.nan}, "positive"),
    ],
)
def test_what_is_no_library(scripts, priors, problem):
    with pytest.raises(el.InputError, match=problem):
        Library(scripts, priors)


@pytest.mark.parametrize(
    ("told", "options", "problem"),
    [
        ("open door", {}, "list of events"),
        ([3], {}, "no event"),
        ([{"open door": 2.0}], {}, "from 0 to 1"),
        ([{}], {}, "from 0 to 1"),
        (["open door"], {"none_of_these": 1.0}, "below 1"),
        (["open door"], {"none_of_these": math.nan}, "below 1"),
    ],
)
def test_what_cannot_be_identified(told, options, problem):
    with pytest.raises(el.InputError, match=problem):
        library().identify(told, **options)


def test_it_is_a_mapping_that_can_be_printed():
    books = library()
    assert dict(books) == {"doorbell": el.examples.doorbell(), "tea": tea()}
    assert repr(books) == "Library(2 scripts, 12 events)"
    assert "tea" in books
    with pytest.raises(KeyError):
        books["coffee"]
    found = books.identify(["pour"])
    assert str(found).startswith("tea  ")
    assert "<td>tea</td>" in found._repr_html_()


def test_a_fitted_learner_stands_for_its_script():
    learner = el.SEMHMM(score="approx").fit([["boil water", "pour"]] * 5)
    books = Library({"tea": learner, "doorbell": el.examples.doorbell()})
    assert books["tea"] is learner.script_
    assert books.identify(["boil water", "pour"]).best == "tea"
    with pytest.raises(el.InputError, match=r"script 'tea': .* is no script \(fit it first\)"):
        Library({"tea": el.ScriptLearner()})


# A folder of script files


def test_a_folder_of_script_files_is_a_library(tmp_path):
    el.examples.doorbell().annotated(domain="answering the doorbell").save(tmp_path / "bell.json")
    tea().save(tmp_path / "tea.json")
    tea().annotated(domain="tea").save(tmp_path / "tee.json")
    (tmp_path / "stories.json").write_text('[{"events": ["boil water"]}]')
    (tmp_path / "folder.json").mkdir()
    books = Library.load(tmp_path)
    assert list(books) == ["answering the doorbell", "tea", "tea (2)"]
    assert [*books.priors.values()] == pytest.approx([1 / 3] * 3)
    assert books.identify(["hear doorbell"]).best == "answering the doorbell"
    books.save(tmp_path / "library")
    assert dict(Library.load(tmp_path / "library")) == dict(books)


def test_bad_script_files_in_a_folder_are_named(tmp_path):
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(el.FileFormatError, match="no script file in this folder"):
        Library.load(tmp_path)
    tea().save(tmp_path / "tea.json")
    (tmp_path / "tea.json").write_bytes((tmp_path / "tea.json").read_bytes()[:-20])
    with pytest.raises(el.FileFormatError, match=r"tea\.json"):
        Library.load(tmp_path)
