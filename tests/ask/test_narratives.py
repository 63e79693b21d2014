"""Every question takes what `elision.read` returns: a `Narrative`, or a `Corpus` of them."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import elision as el
from elision.ask.heard import events_of, hear, several, understood
from elision.terminal import plain
from elision.values.library import Library
from elision.values.questions import Questions

DOORBELL = el.examples.doorbell()
TOLD = ("hear doorbell", "open door", "close door")
NARRATIVE = el.Narrative(TOLD, domain="answering the doorbell", id="monday")
CORPUS = el.Corpus([NARRATIVE, el.Narrative(("walk to door", "open door"), id="tuesday")])
LISTS = [list(events) for events in CORPUS.events]
SENTENCES = el.Narrative(steps=("he heard the bell", "he opened the door"), id="raw")

ABOUT_ONE = {
    "fill": lambda s, told: s.fill(told, anywhere=True),
    "missing": lambda s, told: s.missing(told),
    "between": lambda s, told: s.between(told),
    "next": lambda s, told: s.next(told),
    "align": lambda s, told: s.align(told),
    "posterior": lambda s, told: s.posterior(told),
    "resolve": lambda s, told: s.resolve(told, candidates=["greet visitor"]),
    "sample": lambda s, told: s.sample(3, random_state=0, given=told),
    "score": lambda s, told: s.score(told, samples=10),
    "order": lambda s, told: s.order(told),
    "draw": lambda s, told: s.draw(telling=told).svg,
    "log_prob": lambda s, told: s.log_prob(told),
}
ABOUT_MANY = {
    "fill_many": lambda s, told: s.fill_many(told),
    "between_many": lambda s, told: s.between_many(told),
    "next_many": lambda s, told: s.next_many(told),
    "conform": lambda s, told: list(s.conform(told, samples=10)),
    "compare": lambda s, told: s.compare(s, told, samples=10),
    "log_probs": lambda s, told: s.log_probs(told),
}


@pytest.fixture(scope="module")
def heard():
    """A script that was learned from sentences."""
    extractor = el.EventExtractor("wordnet")
    events = extractor.fit_transform(
        [["hear the bell", "walk to the door", "open the door"], ["hear the bell", "open the door"]]
        * 4
    )
    learned = el.SEMHMM(score="marginal", random_state=0).fit(events).script_
    return learned.annotated(extractor=extractor.to_dict())


def test_every_question_is_tested():
    questions = {name for name, _ in inspect.getmembers(Questions, inspect.isfunction)}
    public = {name for name in questions if not name.startswith("_")}
    assert public - {"export", "follow"} <= {*ABOUT_ONE, *ABOUT_MANY}


def same(first, second):
    np.testing.assert_equal(plain(first), plain(second))


def asked(question, told):
    """The answer, or the complaint."""
    try:
        return question(DOORBELL, told)
    except el.InputError as error:
        return str(error)


@pytest.mark.parametrize("question", ABOUT_ONE)
def test_a_narrative_stands_for_its_events(question):
    ask = ABOUT_ONE[question]
    if question == "resolve":  # nothing in plain events is ambiguous
        assert asked(ask, NARRATIVE) == asked(ask, list(TOLD))
    else:
        same(ask(DOORBELL, NARRATIVE), ask(DOORBELL, list(TOLD)))


@pytest.mark.parametrize("question", ABOUT_MANY)
def test_a_corpus_stands_for_lists_of_events(question):
    lists = LISTS
    corpus = CORPUS
    if question == "fill_many":  # which needs gaps, and narratives have none
        assert asked(ABOUT_MANY[question], corpus) == asked(ABOUT_MANY[question], lists)
        return
    same(ABOUT_MANY[question](DOORBELL, corpus), ABOUT_MANY[question](DOORBELL, lists))
    same(ABOUT_MANY[question](DOORBELL, list(corpus)), ABOUT_MANY[question](DOORBELL, lists))


def test_ids_come_through():
    found = DOORBELL.conform(CORPUS, samples=0)
    assert found.ids == ("monday", "tuesday")
    assert [row["id"] for row in found.to_rows()] == ["monday", "tuesday"]
    assert DOORBELL.conform(LISTS, samples=0).ids == (None, None)


def test_sentences_are_heard_where_events_are_not_known(heard):
    told = list(SENTENCES.steps)
    corpus = el.Corpus([SENTENCES])
    same(heard.align(SENTENCES), heard.align(told))
    same(heard.next(SENTENCES), heard.next(told))
    same(heard.resolve(SENTENCES), heard.resolve(told))
    same(heard.order(SENTENCES), heard.order(told))
    same(heard.score(SENTENCES, samples=10), heard.score(told, samples=10))
    same(heard.between_many(corpus), heard.between_many([told]))
    found = heard.conform(corpus, samples=0)
    same(list(found), list(heard.conform([told], samples=0)))
    assert found.ids == ("raw",)
    assert understood(heard, SENTENCES) == understood(heard, told)
    assert hear(heard, SENTENCES) == hear(heard, told)


@pytest.mark.parametrize("question", ["between", "next", "align", "posterior", "score", "order"])
def test_sentences_alone_need_a_script_of_sentences(question):
    with pytest.raises(el.InputError, match=r"only the sentences .* are known.*EventExtractor"):
        ABOUT_ONE[question](DOORBELL, SENTENCES)


def test_one_and_many_are_told_apart():
    with pytest.raises(el.InputError, match="a corpus of 2 narratives came, expected one"):
        DOORBELL.between(CORPUS)
    for ask in (DOORBELL.fill_many, DOORBELL.between_many, DOORBELL.conform):
        with pytest.raises(el.InputError, match="one narrative came, expected a list"):
            ask(NARRATIVE)
        for wrong in ("open door", {"open door": 1.0}, 3, None):
            with pytest.raises(el.InputError, match="expected a list of narratives"):
                ask(wrong)
    with pytest.raises(el.InputError, match=r"3, expected a list of events \(put the events into"):
        DOORBELL.between(3)


def test_a_library_takes_narratives():
    tea = el.Script.build(
        {"boil": {"boil water": 0.9, None: 0.1}, "pour": "pour water"},
        {"start": {"boil": 1}, "boil": {"pour": 1}, "pour": {"end": 1}},
    )
    library = Library({"doorbell": DOORBELL, "tea": tea})
    assert library.identify(NARRATIVE) == library.identify(list(TOLD))
    assert library.identify_many(CORPUS) == library.identify_many(LISTS)
    with pytest.raises(el.InputError, match="one narrative came"):
        library.identify_many(NARRATIVE)
    with pytest.raises(el.InputError, match="a corpus of 2 narratives"):
        library.identify(CORPUS)


def test_a_library_hears_the_sentences_of_a_narrative(heard):
    library = Library({"doorbell": heard})
    assert library.identify(SENTENCES) == library.identify(list(SENTENCES.steps))


def test_narratives_are_gone_through_event_by_event():
    assert list(NARRATIVE) == list(TOLD)
    assert events_of(NARRATIVE) == TOLD
    assert several(iter(LISTS)) == LISTS
    with pytest.raises(el.InputError, match="id 'raw': it has no events"):
        list(SENTENCES)
