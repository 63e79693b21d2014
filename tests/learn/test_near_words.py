"""What words say of a gap and of what comes next: the formula, what is learned, answers, files."""

from __future__ import annotations

import copy
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision as el
from elision.ask.heard import hear
from elision.ask.sentences import parts
from elision.ask.telling.gaps import said_by_words
from elision.files.script import dumps, loads
from elision.learn import near_words
from elision.learn.near_words import learn_near_words
from elision.pipeline.learning import as_events, fit_default
from elision.serve import messages
from elision.serve.restore import restore
from elision.serve.shelf import Held
from elision.text.wording import content_words
from elision.values.near_words import FADE, YIELDED, NearWords, WordChances
from elision.values.observations import HeardSentence, words_of
from models import RTOL
from script_files import refused, written

SENTENCES = [
    ["I heard the bell ring", "I walked to the red door", "I opened the red door"],
    ["hear the doorbell", "go to the door", "open the door"],
    ["hear the bell", "look through the window", "shout at the thief"],
    ["the bell is ringing", "look out of the window", "shout at the thief loudly"],
] * 5


def naive_log_chances(model, told, place):
    """Straight from the formula."""
    logits = []
    for event in range(len(model.constant)):
        total = float(model.constant[event])
        for number, word in enumerate(model.words):
            before = [place - at for at in range(place) if word in (told[at] or ())]
            after = [at - place for at in range(place + 1, len(told)) if word in (told[at] or ())]
            for side, distances in enumerate((before, after)):
                if distances and side < len(model.table):
                    weight = float(model.table[side, number, event])
                    total += FADE ** (min(distances) - 1) * weight
        logits.append(total)
    whole = math.log(math.fsum(map(math.exp, logits)))
    return [logit - whole for logit in logits]


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    words, events = rng.integers(0, 5), rng.integers(1, 5)
    names = tuple(f"w{k}" for k in range(words))
    ahead = draw(st.booleans())
    shape = (1 if ahead else 2, words, events)
    model = WordChances(names, rng.normal(size=shape), rng.normal(size=events), rng.random())
    length = rng.integers(1, 7)
    told = [tuple(f"w{k}" for k in rng.integers(0, 6, rng.integers(0, 4))) for _ in range(length)]
    if ahead:
        return model, told, len(told)
    place = int(rng.integers(length))
    told[place] = None
    return model, told, place


@given(cases())
def test_chances_are_those_of_the_formula(case):
    model, told, place = case
    found = model.log_chances(told, place)
    np.testing.assert_allclose(found, naive_log_chances(model, told, place), rtol=1e-9, atol=1e-9)


@given(cases())
def test_a_model_is_a_value(case):
    model, told, place = case
    for same in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301 - its own
        assert same.same(model)
        assert not same.table.flags.writeable
        np.testing.assert_array_equal(same.log_chances(told, place), model.log_chances(told, place))
    other = WordChances(model.words, model.table, model.constant, model.share / 2 + 0.01)
    assert not model.same(other)
    both = NearWords(model, model)
    assert both.same(copy.deepcopy(both))
    assert not any(
        both.same(one) for one in (None, NearWords(model, other), NearWords(other, model))
    )


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ((("b", "a"), np.zeros((2, 2, 1)), np.zeros(1), 0.5), "not in order"),
        ((("a", "a"), np.zeros((2, 2, 1)), np.zeros(1), 0.5), "not in order"),
        ((("a",), np.zeros((2, 2, 1)), np.zeros(1), 0.5), "expected"),
        ((("a",), np.zeros((2, 1)), np.zeros(1), 0.5), "expected"),
        ((("a",), np.full((2, 1, 1), np.nan), np.zeros(1), 0.5), "out of range"),
        ((("a",), np.full((2, 1, 1), 1e9), np.zeros(1), 0.5), "out of range"),
        (((), np.zeros((2, 0, 1)), np.zeros(1), 1.5), "share"),
    ],
)
def test_numbers_that_make_no_model_are_refused(given, problem):
    with pytest.raises(el.ScriptError, match=problem):
        WordChances(*given)


@pytest.mark.parametrize("what", ["around", "ahead"])
def test_what_is_learned_is_the_optimum(what):
    rng = np.random.default_rng(3)
    told = [rng.integers(0, 3, 4).tolist() for _ in range(12)]
    words = [[(f"w{event}", f"x{rng.integers(3)}") for event in one] for one in told]
    models = learn_near_words(told, words, 3)
    assert models is not None
    model = getattr(models, what)

    def loss(table, constant):
        changed = WordChances(model.words, table, constant, model.share)
        value = near_words.PRECISION / 2 * (changed.table**2).sum()
        value += near_words.CONSTANT_PRECISION / 2 * (changed.constant**2).sum()
        for events, said in zip(told, words, strict=True):
            for place, event in enumerate(events if what == "around" else [*events, 3]):
                hidden = [None if at == place else one for at, one in enumerate(said)]
                asked = hidden if what == "around" else said[:place]
                value -= naive_log_chances(changed, asked, place)[event]
        return value

    best = loss(model.table, model.constant)
    for _ in range(20):
        step = rng.normal(size=model.table.shape) * 0.1
        assert loss(model.table + step, model.constant) > best
        assert loss(model.table, model.constant + rng.normal(size=model.constant.size) * 0.1) > best
    again = learn_near_words(told, words, 3)
    assert again is not None
    assert again.same(models)


def test_only_words_of_several_tellings_count():
    told = [(0, 1)] * 2 + [(1, 0)]
    model = learn_near_words(told, [[("a",), ("b",)]] * 2 + [[("b", "c"), ("c",)]], 2)
    assert model is not None
    assert model.around.words == model.ahead.words == ("a", "b")


def test_nothing_is_learned_from_nothing(monkeypatch):
    assert learn_near_words([], [], 3) is None
    assert learn_near_words([(0,)], [[("a",)]], 3) is None
    assert learn_near_words([(0,), (0,)], [[("a",)], [("a",)]], 1) is None
    monkeypatch.setattr(near_words, "MOST_EVENTS", 2)
    assert learn_near_words([(0,), (1,)], [[("a",)], [("a",)]], 3) is None


def test_of_many_sentences_some_are_learned_from(monkeypatch):
    monkeypatch.setattr(near_words, "MOST_SENTENCES", 20)
    told, words = [(0, 1)] * 50, [[("a",), ("b",)]] * 50
    model = learn_near_words(told, words, 2, random_state=1)
    assert model is not None
    assert model.around.share == model.ahead.share == pytest.approx(0.5 * 10 / (10 + 30), rel=RTOL)


# Questions


@pytest.fixture(scope="module")
def script():
    told = as_events(el.Corpus(el.Narrative(steps=tuple(one)) for one in SENTENCES))
    learner = fit_default(el.ScriptLearner(), told, "", lambda _: None)
    return learner.script_.annotated(**told.notes(""))


def without_words(script):
    return script.with_telling(script.telling.with_near_words(None))


def chances(fillings):
    return [{one.event: one.probability for one in gap.answers} for gap in fillings]


def test_sentences_are_heard_with_their_words(script):
    items = hear(script, ["I heard the loud bell", None]).items
    assert items[0].words == content_words("I heard the loud bell")
    assert words_of(items) == [items[0].words, None]
    part = parts(script, "hear the bell")[0].heard[0]
    assert part.words == ("hear", "bell")
    assert pickle.loads(pickle.dumps(part)).words == part.words  # noqa: S301 - its own


def test_following_goes_by_the_same_words_as_what_comes_next(script):
    told = ["the bell rang", "look outside through the window", "open the red door"]
    follow, bare = script.follow(), without_words(script).follow()
    for count, sentence in enumerate(told, start=1):
        now, expected = follow.tell(sentence), script.next(told[:count])
        assert now.next[0].event == expected.answers[0].event
        assert now.next[0].probability == pytest.approx(expected.answers[0].probability, rel=1e-9)
        assert now.ended == pytest.approx(expected.ended, rel=1e-9)
        assert now.next != bare.tell(sentence).next


def test_gaps_between_sentences_are_filled_by_their_words_too(script):
    told = ["the bell rang", None, "open the red door"]
    model = script.telling.near_words.around
    (by_both,), (by_events,) = (chances(one.fill(told)) for one in (script, without_words(script)))
    words = [content_words(told[0]), None, content_words(told[2])]
    by_words = np.exp(model.log_chances(words, 1))
    pooled = np.array([by_events[event] for event in script.events]) ** (1 - YIELDED * model.share)
    pooled *= by_words**model.share
    pooled /= pooled.sum()
    found = [by_both[event] for event in script.events]
    np.testing.assert_allclose(found, pooled, rtol=1e-9)
    assert not np.allclose(found, [by_events[event] for event in script.events], rtol=1e-3)


def test_gaps_filled_together_go_by_words_as_one_does(script):
    told = ["the bell rang", None, "open the red door"]
    joint = script.fill(told, joint=True, top=99)
    (alone,) = chances(script.fill(told))
    assert len(joint.answers) == len(alone)
    for one in joint.answers:
        assert one.probability == pytest.approx(alone[one.events[0]], rel=1e-9)
    told = ["the bell rang", None, None]
    found, bare = (one.fill(told, joint=True, top=99) for one in (script, without_words(script)))
    model = script.telling.near_words.around
    words = [content_words(told[0]), None, None]
    by_words = np.exp([model.log_chances(words, 1), model.log_chances(words, 2)])
    number = {event: o for o, event in enumerate(script.events)}
    weight = {
        one.events: one.probability ** (1 - YIELDED * model.share)
        * math.prod(by_words[k][number[event]] for k, event in enumerate(one.events)) ** model.share
        for one in bare.answers
    }
    for one in found.answers:
        assert one.probability == pytest.approx(weight[one.events] / sum(weight.values()), rel=1e-9)


def test_what_comes_next_goes_by_words_too(script):
    told = ["the bell rang", "look outside through the window"]
    model = script.telling.near_words.ahead
    words = [content_words(one) for one in told]
    both, bare = (one.next(told, steps=2) for one in (script, without_words(script)))
    events = {one.event: one.probability for one in bare.answers}
    known = np.array([*(events[event] for event in script.events), bare.steps[0].ended])
    pooled = known ** (1 - YIELDED * model.share)
    pooled *= np.exp(model.share * model.log_chances(words, 2))
    pooled /= pooled.sum()
    found = {one.event: one.probability for one in both.answers}
    given = [*(found[event] for event in script.events), both.steps[0].ended]
    np.testing.assert_allclose(given, pooled, rtol=1e-9)
    assert not np.allclose(pooled, known, rtol=1e-3)
    assert both.steps[1] != bare.steps[1]  # what comes later follows what comes first
    assert both.log_prob == bare.log_prob
    total = sum(one.probability for one in both.steps[1].answers) + both.steps[1].ended
    assert total == pytest.approx(1, rel=RTOL)
    learner = el.ScriptLearner()
    learner.script_ = script
    heard = [hear(script, told[:k]).items for k in range(3)]
    rows = learner.predict_next(heard)
    np.testing.assert_allclose(rows[2], pooled, rtol=1e-9)
    learner.script_ = without_words(script)
    np.testing.assert_allclose(rows[0], learner.predict_next(heard)[0], rtol=1e-9)


def test_what_is_missing_anywhere_goes_by_words_too(script):
    told = ["the bell rang", "open the red door"]
    both, bare = (one.fill(told, anywhere=True) for one in (script, without_words(script)))
    assert both != bare
    assert sum(one.probability for one in both.answers) == pytest.approx(1, rel=RTOL)
    learner, other = el.ScriptLearner(), el.ScriptLearner()
    learner.script_, other.script_ = script, without_words(script)
    heard = [hear(script, told).items]
    with_words, by_events = (one.predict_anywhere(heard)[0] for one in (learner, other))
    assert not np.allclose(with_words, by_events, rtol=1e-3)
    asked = {one.event: one.probability for one in both.answers}
    np.testing.assert_allclose(with_words, [asked[e] for e in script.events], rtol=1e-9)


def test_what_is_missing_goes_by_words_too(script):
    told = ["the bell rang", "open the red door"]
    for record in (told, [*told[:1], ...]):
        both, bare = (
            one.missing(record, min_probability=0) for one in (script, without_words(script))
        )
        assert both != bare
        assert all(0 <= one.probability <= 1 for place in both.places for one in place)
    items = hear(script, told).items
    model = script.telling
    odds = model.insertions(np.array([script.events.index(max(one, key=one.get)) for one in items]))
    found = said_by_words(
        model, [HeardSentence({max(one, key=one.get): 1.0}, one.words) for one in items], odds
    )
    places = np.exp(odds).sum(axis=1)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), places, rtol=1e-9)
    words = [one.words for one in items]
    for place, row in enumerate(odds):
        near = model.near_words.around
        pooled = np.exp(near.pooled(row, [*words[:place], None, *words[place:]], place))
        share = np.exp(found[place]) / places[place]
        np.testing.assert_allclose(share, pooled / pooled.sum(), rtol=1e-9)


def test_names_of_events_say_no_words(script):
    name, bare = script.events[0], without_words(script)
    for told in ([name, None], [name, None, "open the red door"], [None]):
        assert script.fill(told) == bare.fill(told)
        assert script.fill(told, joint=True) == bare.fill(told, joint=True)
    for told in ([name], [name, "open the red door"], []):
        assert script.next(told) == bare.next(told)
        assert script.missing(told, min_probability=0) == bare.missing(told, min_probability=0)
        assert script.fill(told, anywhere=True) == bare.fill(told, anywhere=True)


def test_several_gaps_and_many_narratives(script):
    told = ["the bell rang", None, None, "open the red door"]
    both = script.fill(told)
    assert [one.position for one in both] == [1, 2]
    assert script.fill_many([told, [None]]) == [both, script.fill([None])]
    assert both != without_words(script).fill(told)


def test_what_is_excluded_stays_out(script):
    told = ["the bell rang", None, "open the red door"]
    banned = script.fill(told, top=1)[0].answers[0].event
    (found,) = chances(script.fill(told, exclude=[banned]))
    assert banned not in found
    assert sum(found.values()) == pytest.approx(1, rel=RTOL)


def test_observations_without_the_words_are_filled_as_before(script):
    heard = [one if one is None else dict(one) for one in hear(script, ["ring", None]).items]
    assert script.fill(heard) == without_words(script).fill(heard)
    assert HeardSentence({"a": 1.0}, ("b",)) == {"a": 1.0}


def test_the_page_goes_by_words_as_the_other_ways_do(script):
    held = Held("door", "door", script)
    typical = script.made_from.steps[0].wording[0]  # which the page takes for its event
    for told in (["the bell rang", "?", "open the red door"], [typical, "?", "shout loudly"]):
        restored = restore(held, messages.Asking(told))
        gap = restored.lines[1].options
        by_words = [(one.event, one.probability) for one in gap]
        bare = Held("door", "door", without_words(script))
        by_events = restore(bare, messages.Asking(told))
        options = [(one.event, one.probability) for one in by_events.lines[1].options]
        assert by_words != options
        assert restored.next != by_events.next
    told = [script.events[0], "?"]
    assert restore(held, messages.Asking(told)) == restore(bare, messages.Asking(told))


def test_words_must_be_those_of_the_events():
    learner = el.ScriptLearner()
    with pytest.raises(el.InputError, match="words of other narratives"):
        learner.fit([["a", "b"]], words=[[("a",)]])
    with pytest.raises(el.InputError, match="words of other narratives"):
        learner.fit([["a", "b"]], words=[])
    for wrong in ("run", 3, None, [("a", 1)]):
        with pytest.raises(el.InputError, match=r"narrative 1, event 1: .* no words"):
            learner.fit([["a"], ["a", "b"]], words=[[("ring",)], [("ring",), wrong]])
    with pytest.raises(el.InputError, match="words of other narratives"):
        learner.fit([["a", "b"]], words=3)


# Files


def test_a_file_keeps_the_words(script):
    content = dumps(script)
    again = loads(content)
    assert again == script
    assert again != without_words(script)
    assert dumps(again) == content
    told = ["the bell rang", None, "open the red door"]
    assert again.fill(told) == script.fill(told)
    assert again.next(told) == script.next(told)


def test_damaged_words_are_refused(script):
    def damaged(**changed):
        document = json.loads(dumps(script))
        document["telling"]["near_words"].update(changed)
        return written(document)

    refused(damaged(words=[]), "words and their table do not fit")
    refused(damaged(table="AA=="), "half a number")
    refused(damaged(constant="AAA="), "damaged script file")
    refused(damaged(ahead=["AAA=", "AAA="]), "words and their table do not fit")
    refused(damaged(share=2.0), "share is 2.0")
    refused(damaged(extra=1), "extra")
