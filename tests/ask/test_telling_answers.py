"""Who answers what: scripts with a telling model and without, and at the edges."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import elision as el
import naive_telling as naive
from elision.ask.declared import QUESTIONS
from elision.ask.engine.evidence import BROKEN_OFF, OPEN, STRAY, Background, sheet_of
from elision.ask.fill import allowed_events
from elision.ask.heard import hear_all
from elision.ask.identify import Identifier, Witness
from elision.ask.order import MOST_ORDERS
from elision.ask.telling.evidence import BY_MEMORY
from elision.ask.who import who
from elision.values.telling import Missing
from telling_cases import (
    close,
    named,
    numbers_of,
    one_line,
    small_case,
    told_events,
)

pytestmark = pytest.mark.usefixtures("settings_of_the_package")


# Which script a telling is of


def two_scripts():
    """Two scripts that share the events e2 and e3, and an identifier of both."""
    cases = {"one": small_case(0, size=4), "two": small_case(1, size=4, first=2)}
    witnesses = {name: Witness(case.script) for name, case in cases.items()}
    identifier = Identifier(witnesses, np.array([0.5, 0.5]))
    return cases, identifier


RATE = 2 / 4  # the one state is visited twice, and tells four events
MEAN = 2.0
BEHIND = {  # how often each event is told in both scripts together, and e9 in none
    **{f"e{number}": 0.95 * RATE / 2 / MEAN + OPEN / 7 for number in (0, 1, 4, 5)},
    **{f"e{number}": 0.95 * RATE / MEAN + OPEN / 7 for number in (2, 3)},
    "e9": OPEN / 7,
}


def evidence_by_hand(case, telling, *, begun):
    """The sum of log(stray + (1 - stray - broken off) p(x) / b(x)), and the end.

    Each of the four events of a script is told equally often.
    """
    going_on = 1 - STRAY - BROKEN_OFF
    past, total = [], 0.0
    for item in telling:
        if item is None:
            continue
        weights = {item: 1.0} if isinstance(item, str) else item
        known = {event: w for event, w in weights.items() if event in case.names}
        following = case.teller.ahead(past)
        chance = sum(
            w * (BY_MEMORY * math.exp(following[case.names.index(e)]) + (1 - BY_MEMORY) / 4)
            for e, w in known.items()
        )
        background = sum(weight * BEHIND[event] for event, weight in weights.items())
        total += math.log(STRAY + going_on * chance / background)
        if known:
            past.append(case.names.index(max(known, key=known.get)))
    if begun:
        return total
    return total + math.log(going_on * math.exp(case.teller.ahead(past)[-1]) + BROKEN_OFF)


def test_the_background_is_what_both_scripts_tell():
    cases, identifier = two_scripts()
    for event, chance in BEHIND.items():
        close(identifier.background.weight(event), chance)
    sheets = [sheet_of(case.script, None) for case in cases.values()]
    close(Background(sheets, np.array([0.5, 0.5])).length, MEAN)


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize(
    "telling",
    [
        [],
        ["e0", "e2", "e3"],
        ["e3", "e2", "e5", "e3"],
        ["e0", "e9", "e2", "e5"],
        ["e9"],
        ["e2", None, "e3"],
        [None],
        [{"e1": 0.5, "e2": 0.25}, "e3", {"e9": 1.0}, {"e0": 0.25, "e4": 0.5, "e9": 0.125}],
    ],
)
def test_evidence_is_what_the_formula_says(telling, begun):
    cases, identifier = two_scripts()
    (found,) = identifier.identify([telling], 0.25, begun=begun)
    mean = MEAN / (1 - STRAY) + 1e-9
    nothing = len(telling) * math.log(mean / (1 + mean)) - (0 if begun else math.log1p(mean))
    evidence = {
        name: evidence_by_hand(case, telling, begun=begun) - nothing for name, case in cases.items()
    }
    logits = {name: math.log(0.75 / 2) + value for name, value in evidence.items()}
    chances = naive.shares({**logits, None: math.log(0.25)})
    assert {one.name for one in found.candidates} == {"one", "two", None}
    for one in found.candidates:
        close(one.log_evidence, evidence.get(one.name, 0.0))
        close(one.probability, chances[one.name])


def test_a_telling_is_recognised_by_its_script():
    cases, identifier = two_scripts()
    for name, case in cases.items():
        tellings = case.script.sample(60, random_state=2)
        found = identifier.identify(tellings, 0.02)
        assert sum(one.best == name for one in found) > 40
    library = el.Library({name: case.script for name, case in cases.items()})
    telling = ["e0", "e1", "e2"]
    assert library.identify(telling).best == identifier.identify([telling], 0.02)[0].best


# Who answers


def asked(script, question):
    """An answer to each question."""
    every = allowed_events(script, ())
    told = ["e0", "e1"]
    arguments = {
        "log_probs": ([told, ["e0", None]],),
        "fill": (["e0", None],),
        "fill_many": ([["e0", None], [None, "e1"]],),
        "joint": ([None, "e0", None],),
        "anywhere": (told,),
        "missing": (told,),
        "next": (told,),
        "resolve": ([{"e0": 0.5, "e1": 0.25}, "e2"],),
        "order": (told,),
        "tellings": (3,),
        "conform": ([told],),
        "gap_chances": (hear_all(script, [["e0", None]]), every),
        "anywhere_chances": (told, every),
        "missing_chances": ([told],),
        "next_chances": ([told],),
        "between": (told,),
        "between_many": ([told],),
        "stories": (3,),
        "align": (told,),
        "posterior": (told,),
        "compare": (script,),
    }
    options = {"tellings": {"random_state": 1}, "stories": {"random_state": 1}}
    if question == "evidence":
        sheet = sheet_of(script, None)
        background = Background([sheet], np.ones(1))
        numbers = [np.array([0, 1, 0])]
        return who(script, question)(Witness(script), ["e0", "e1"], numbers, background, STRAY)
    return who(script, question)(script, *arguments[question], **options.get(question, {}))


def shown(answer):
    """All that an answer says."""
    with np.printoptions(precision=17):
        return repr(list(answer) if question_of_many(answer) else answer)


def question_of_many(answer):
    return type(answer).__name__ == "Conformances"


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_is_answered_with_and_without_a_telling_model(question):
    case = small_case(2, missing=Missing(-1.0, 1.0, -1.0))
    by_script, by_telling, _ = QUESTIONS[question]
    answers = {}
    for script in (case.script, case.bare, case.script.with_telling(None)):
        answerer = by_script if script.telling is None or by_telling is None else by_telling
        module, name = answerer.split(":")
        found = who(script, question)
        assert (found.__module__, found.__name__) == (f"elision.ask.{module}", name)
        answers.setdefault(script.telling is None, []).append(shown(asked(script, question)))
    bare, without = answers[True]
    assert bare == without
    (told,) = answers[False]
    if question != "order":  # which compares tellings by whichever model there is
        assert (told == bare) == (by_telling is None)


@pytest.mark.parametrize(
    "question",
    [name for name, one in QUESTIONS.items() if one.telling and not name.endswith("chances")],
)
def test_both_answerers_take_the_same_options(question):
    case = small_case(2)

    def options(script):
        signature = inspect.signature(who(script, question))
        return {
            one.name: one.default
            for one in signature.parameters.values()
            if one.kind is one.KEYWORD_ONLY
        }

    assert options(case.script) == options(case.bare)


def test_a_question_that_is_none_has_no_answerer():
    with pytest.raises(KeyError):
        who(el.examples.doorbell(), "why")


# At the edges


def test_an_empty_narrative_is_answered():
    case = small_case(0, missing=Missing(-1.0, 1.0, -1.0))
    script = case.script
    close(script.log_prob([]), case.teller.log_prob(()))
    assert len(script.next([]).answers) == case.size
    assert len(script.missing([]).places) == 1
    assert script.score([]).told == ()
    assert script.fill([], anywhere=True).told == ()
    assert script.order([]).events == ()
    for question in (script.fill, script.resolve):
        with pytest.raises(el.InputError) as caught:
            question([])
        one_line(caught)
    with pytest.raises(el.InputError) as caught:
        script.fill([], joint=True)
    one_line(caught)
    assert script.fill_many([]) == []
    assert len(script.conform([])) == 0


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("told", [[], ["e0"], ["e0", "e0", "e0"]])
def test_a_vocabulary_of_one_event_is_answered(seed, told):
    case = small_case(seed, size=1, missing=Missing(-1.0, 1.0, -1.0))
    script = case.script
    assert [one.probability for one in script.fill([*told, None])[0].answers] == [1.0]
    assert script.fill([*told, None, None], joint=True).answers[0].events == ("e0", "e0")
    close(script.fill(told, anywhere=True).answers[0].probability, 1.0)
    step = script.next(told).steps[0]
    close(step.answers[0].probability + step.ended, 1.0)
    assert script.order(told).events == tuple(told)
    assert math.isfinite(script.score(told, samples=9).oddness)
    assert len(script.missing(told, min_probability=0.0).places) == len(told) + 1
    assert script.resolve([*told, {"e0": 0.5}])[0].candidates[0].probability == 1.0
    assert script.sample(1, length=2) == [["e0", "e0"]]
    with pytest.raises(el.InputError, match="exclude"):
        script.fill([*told, None], exclude=["e0"])


ASKED = {
    "fill": lambda script, told, **o: script.fill([*told, None], **o),
    "fill jointly": lambda script, told, **o: script.fill([*told, None], joint=True, **o),
    "fill anywhere": lambda script, told, **o: script.fill(told, anywhere=True, **o),
    "fill many": lambda script, told, **o: script.fill_many([[*told, None]], **o),
    "missing": lambda script, told, **o: script.missing(told, **o),
    "next": lambda script, told, **o: script.next(told, **o),
    "resolve": lambda script, told, **o: script.resolve([*told, {"e0": 0.5, "e1": 1.0}], **o),
    "log_prob": lambda script, told, **o: script.log_prob(told, **o),
    "order": lambda script, told, **o: script.order(told, **o),
    "sample": lambda script, told, **o: script.sample(given=told, random_state=1, **o),
    "score": lambda script, told, **o: script.score(told, samples=9, **o),
}
every_question = pytest.mark.parametrize("question", ASKED)


@every_question
def test_unknown_events_are_refused_or_ignored(question):
    script = small_case(0, missing=Missing(-1.0, 1.0, -1.0)).script
    told = ["e0", "e2", "other", "e1"]
    with pytest.raises(el.InputError, match="unknown event 'other'") as caught:
        ASKED[question](script, told, unknown="error")
    assert "event 2" in one_line(caught)
    for wrong in ([*told, {"other": 0.5}], ["e0", 5], ["e0", {}], ["e0", {"e0": -1.0}]):
        with pytest.raises(el.InputError) as caught:
            ASKED[question](script, wrong, unknown="error")
        one_line(caught)
    found = ASKED[question](script, [*told, {"other": 0.5}], unknown="ignore")
    expected = ASKED[question](script, ["e0", "e2", "e1"], unknown="ignore")
    if question not in {"fill", "fill many", "resolve", "score", "fill jointly"}:
        assert shown(found) == shown(expected)
    with pytest.raises(el.InputError) as caught:
        ASKED[question](script, told, unknown="perhaps")
    one_line(caught)


@every_question
def test_long_narratives_are_answered(question):
    case = small_case(0, size=4, missing=Missing(-1.0, 1.0, -1.0))
    told = named(case, told_events(case, 40))
    assert ASKED[question](case.script, told) is not None


@every_question
@pytest.mark.parametrize("told", [["e0"] * 12, ["e1", "e0"] * 6])
def test_repeated_events_are_answered(question, told):
    script = small_case(2, missing=Missing(-1.0, 1.0, -1.0)).script
    assert ASKED[question](script, told) is not None


@every_question
@pytest.mark.parametrize("number", [1, 4, 20])
def test_nothing_but_gaps_is_answered(question, number):
    script = small_case(2, size=5, missing=Missing(-1.0, 1.0, -1.0)).script
    if question == "order":
        with pytest.raises(el.InputError) as caught:
            script.order([None] * number)
        one_line(caught)
    else:
        assert ASKED[question](script, [None] * number) is not None


@pytest.mark.parametrize("question", ["fill", "fill jointly", "fill anywhere", "fill many"])
def test_everything_excluded_is_refused(question):
    case = small_case(2)
    with pytest.raises(el.InputError, match="excluded") as caught:
        ASKED[question](case.script, ["e0"], exclude=case.names)
    one_line(caught)
    assert ASKED[question](case.script, ["e0"], exclude=()) is not None


@pytest.mark.parametrize("question", ["fill anywhere", "missing", "next", "log_prob", "order"])
def test_stretches_are_refused_where_they_mean_nothing(question):
    with pytest.raises(el.InputError, match="stretch") as caught:
        ASKED[question](small_case(2).script, ["e0", ..., "e1"])
    one_line(caught)


@pytest.mark.parametrize("top", [0, -1, True, 1.5, "all"])
@pytest.mark.parametrize(
    "question", ["fill", "fill jointly", "fill anywhere", "fill many", "next", "resolve", "order"]
)
def test_fewer_answers_than_one_are_refused(question, top):
    with pytest.raises(el.InputError, match="top") as caught:
        ASKED[question](small_case(2).script, ["e0"], top=top)
    one_line(caught)


def test_orders_of_more_events_than_are_all_weighed_have_a_beam():
    case = small_case(2, size=5)
    told = case.names * 2
    assert math.factorial(len(told)) > MOST_ORDERS
    wide, narrow = (case.script.order(told, beam=beam).likeliest[0] for beam in (200, 1))
    assert case.model.worths([numbers_of(case, [wide.events])[0]])[0] >= (
        case.model.worths([numbers_of(case, [narrow.events])[0]])[0] - 1e-9
    )
    for beam in (0, -1, True, "wide"):
        with pytest.raises(el.InputError, match="beam"):
            case.script.order(told, beam=beam)
