"""Extreme numbers: probabilities near 0 and 1, long narratives, many states. Nothing is NaN.

Floating-point flags are trapped: what numpy computes may not overflow, divide by zero or make NaN
unless the code says that it may. Underflow is no error: that is what improbable paths do, and log
space takes over where they matter. Compiled code raises no flags; its answers are looked at.
"""

from __future__ import annotations

import gc
import math
import sys
import weakref
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
from elision.errors import InputError, ScriptError
from elision.learn.em import pseudocounts, run_em
from elision.values.observations import Packer
from elision.values.telling import LARGEST_LOGIT
from models import events as event_names

NEAR = np.finfo(float).eps / 2
"""One minus this is the largest number below one."""

SUMS = {"probability", "passed", "done", "progress", "ended", "share", "fitness", "p_value"}
"""Attributes that are probabilities or shares."""

INFINITE = {"log_prob", "ending", "oddness", "weight", "surprises", "history"}
"""Attributes that may be infinite: of what cannot be, or of what no slip explains."""


def flags():
    """Floating-point flags as errors, but for underflow."""
    return np.errstate(divide="raise", over="raise", invalid="raise")


def numbers_in(value, name="", seen=None):
    """All floating-point numbers in an answer, with the names of the attributes they stand in."""
    seen = set() if seen is None else seen
    if isinstance(value, (float, np.floating)):
        yield name, np.asarray(float(value))
    elif isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            yield name, value
    elif not isinstance(value, (str, bytes, int, np.generic, type(None))) and id(value) not in seen:
        seen.add(id(value))
        if isinstance(value, Mapping):
            parts = [(name or str(key), one) for key, one in value.items()]
        elif isinstance(value, tuple) and hasattr(value, "_fields"):
            parts = list(zip(value._fields, value, strict=True))
        elif isinstance(value, (list, tuple, set, frozenset)):
            parts = [(name, one) for one in value]
        else:
            slots = [one for kind in type(value).__mro__ for one in getattr(kind, "__slots__", ())]
            fields = [one for one in (*getattr(value, "__dict__", ()), *slots) if one != "__dict__"]
            parts = [(one, getattr(value, one)) for one in fields if hasattr(value, one)]
        for part, one in parts:
            yield from numbers_in(one, part, seen)


def check(answer):
    """No NaN anywhere, nothing infinite but what may be, and probabilities from 0 to 1."""
    for name, values in numbers_in(answer):
        assert not np.isnan(values).any(), name
        if name not in INFINITE:
            assert np.isfinite(values).all(), (name, values)
        if name in SUMS:
            assert (values >= 0).all(), (name, values)
            assert (values <= 1 + 1e-7).all(), (name, values)
    assert "nan" not in str(answer).lower().split()


# --- scripts of extreme parameters, and every question --------------------------------------------


def chain(states, elision, loop=0.0, unused=0):
    """States one after another, each with an event of its own; some events are never told."""
    transition = np.zeros((states + 2, states + 2))
    transition[0, 1] = 1
    emission = np.zeros((states + 2, states + unused))
    silent = np.zeros(states + 2)
    for k in range(1, states + 1):
        transition[k, k], transition[k, k + 1] = loop, 1 - loop
        emission[k, k - 1], silent[k] = 1 - elision, elision
    return el.Script(event_names(states + unused), transition, emission, silent)


def seldom(chance):
    """A state, an event and a silence that have this probability."""
    transition = np.zeros((5, 5))
    often = 1 - chance
    transition[[0, 0, 1, 1], [1, 2, 3, 2]] = [often, chance, often, chance]
    transition[[2, 2, 3], [3, 2, 4]] = [often, chance, 1]
    emission = np.zeros((5, 3))
    emission[[1, 1, 2, 2], [0, 1, 1, 2]] = [often, chance, 0.5, 0.5]
    emission[[3, 3], [2, 0]] = [1 - 2 * chance, chance]
    return el.Script(event_names(3), transition, emission, [0, 0, 0, chance, 0])


EXTREMES = {
    "usual": lambda: chain(4, 0.3),
    "hardly ever told": lambda: chain(4, 1 - NEAR),
    "hardly ever told, often repeated": lambda: chain(4, 1 - NEAR, 0.5),
    "silent for long": lambda: chain(3, 1 - NEAR, 1 - 1e-6),
    "always silent, for long": lambda: chain(3, 1.0, 1 - 1e-6),
    "told for very long": lambda: chain(3, 0.0, 1 - 1e-9),
    "told for very long or not": lambda: chain(3, 0.5, 1 - 1e-9),
    "hardly ever silent": lambda: chain(4, 1e-289, 1e-289),
    "beyond the range of doubles": lambda: chain(4, 5e-324, 5e-324),
    "events never told": lambda: chain(3, 0.3, 0.1, unused=2),
    "a state hardly ever visited": lambda: seldom(1e-289),
    "a state seldom visited": lambda: seldom(1e-17),
    "no event": lambda: el.Script((), [[0, 1], [0, 0]], np.zeros((2, 0)), [0, 0]),
    "no state": lambda: el.Script(("e0",), [[0, 1], [0, 0]], np.zeros((2, 1)), [0, 0]),
    "many steps skipped": lambda: chain(170, 0.01),
}


def follow(script, told):
    follower = script.follow()
    return [follower.now(), *(follower.tell(event) for event in told), follower.finish()]


QUESTIONS = {
    "log_prob": lambda script, told: {"log_prob": script.log_prob(told)},
    "fill": lambda script, told: script.fill([*told[:1], None, *told[1:]]),
    "gaps": lambda script, told: script.fill([None, *told, None]),
    "joint": lambda script, told: script.fill([None, *told, None], joint=True),
    "anywhere": lambda script, told: script.fill(told, anywhere=True),
    "missing": lambda script, told: script.missing(told, min_probability=0.0),
    "between": lambda script, told: script.between(told, min_probability=0.0),
    "begun": lambda script, told: script.between([*told, ...], min_probability=0.0),
    "next": lambda script, told: script.next(told, steps=2),
    "align": lambda script, told: script.align(told),
    "posterior": lambda script, told: script.posterior(told),
    "resolve": lambda script, told: script.resolve([*told, None]),
    "order": lambda script, told: script.order(told, top=2),
    "score": lambda script, told: script.score(told, samples=5),
    "sample": lambda script, told: script.sample(2, random_state=0, given=[*told[:1], None]),
    "stories": lambda script, told: script.sample(2, random_state=0, given=told, complete=True),
    "identify": lambda script, told: el.Library({"a": script}).identify(told),
    "follow": follow,
    "outline": lambda script, _: script.outline(),
    "em": lambda script, told: el.fit_parameters(script, [told, []], impossible="ignore"),
    "repair": lambda script, told: el.Repairer.of_script(script, omission=0.2).missing(told),
}

LONG = {name for name in EXTREMES if "long" in name or "many" in name}
DRAWN = {"sample", "stories", "score", "outline", "follow", "repair", "missing"}
"""What draws stories, or asks for every place; and scripts whose stories are long."""

REFUSALS = ("cannot tell", "cannot be told", "tells no event", "too many to draw", "is excluded")


def asked(script, question, told):
    """Ask, and look at the answer; or be refused in words that one would expect."""
    with flags():
        try:
            check(QUESTIONS[question](script, told))
        except InputError as error:
            if not any(one in str(error) for one in REFUSALS):
                raise


@pytest.mark.parametrize(
    ("extreme", "question"),
    [(one, q) for one in EXTREMES for q in QUESTIONS if one not in LONG or q not in DRAWN],
)
def test_questions_to_extreme_scripts(extreme, question):
    script = EXTREMES[extreme]()
    first, last = list(script.events[:1]), list(script.events[-1:])
    for told in ([], first, first + last, first * 3):
        asked(script, question, told)


SIZES = [0.0, 1e-280, 1e-100, 1e-9, 0.3, 1.0]


@st.composite
def extreme_scripts(draw):
    """Three states whose rows have numbers of very different sizes, self-loops and all."""
    size = st.sampled_from(SIZES)
    transition = np.zeros((5, 5))
    for j in range(4):
        row = np.array([draw(size) if j <= k or j == 0 else 0.0 for k in range(1, 5)])
        if j > 0:
            row[j - 1] = min(row[j - 1], 0.3)
        row[min(j, 3)] = row[min(j, 3)] or 1e-100  # a way on
        transition[j, 1:] = row / row.sum()
    told = np.array([[draw(size) for _ in range(3)] for _ in range(3)])
    told[:, 0] += told.sum(axis=1) == 0
    told /= told.sum(axis=1, keepdims=True)
    emission, elision = np.zeros((5, 2)), np.zeros(5)
    emission[1:-1], elision[1:-1] = told[:, :2], told[:, 2]
    loops = np.diag(transition)
    elision[(loops > 0.9) & (elision > 0.9)] = 0.0
    emission[1:-1, 0] = np.maximum(0.0, 1 - elision[1:-1] - emission[1:-1, 1])
    return transition, emission, elision


def exact_log_prob(transition, emission, elision, told):
    """Log-probability in fractions: nothing is rounded, nothing underflows."""
    size = len(elision)
    number = [[Fraction(float(one)) for one in row] for row in transition]
    silent = [Fraction(float(one)) for one in elision]
    arrive = [[Fraction(0)] * size for _ in range(len(told) + 1)]
    visit = [[Fraction(0)] * size for _ in range(len(told) + 1)]
    visit[0][0] = Fraction(1)
    for i in range(len(told) + 1):
        for k in range(1, size):
            came = sum((visit[i][j] * number[j][k] for j in range(k)), Fraction(0))
            emitted = Fraction(0)
            if i:
                emitted = Fraction(float(emission[k][told[i - 1]])) * arrive[i - 1][k]
            stay = number[k][k]
            arrive[i][k] = (came + stay * emitted) / (1 - stay * silent[k])
            visit[i][k] = silent[k] * arrive[i][k] + emitted
    total = arrive[-1][-1]
    if total == 0:
        return -math.inf
    return math.log(total.numerator) - math.log(total.denominator)


@given(extreme_scripts(), st.lists(st.integers(0, 1), max_size=5))
@settings(max_examples=40)
def test_extreme_parameters_have_their_exact_log_probability(parts, told):
    try:
        script = el.Script(event_names(2), *parts)
    except ScriptError:
        return  # a state that cannot be reached, once what is too small is taken for 0
    exact = exact_log_prob(script.transition, script.emission, script.elision, told)
    names = [script.events[o] for o in told]
    with flags():
        np.testing.assert_allclose(script.log_prob(names), exact, rtol=1e-9, atol=1e-9)
        for question in ("fill", "between", "begun", "next", "posterior", "align", "score"):
            asked(script, question, names)
        packed = script.pack([names])
        counts = script.lattice.expected_counts(packed)
    check(counts)
    if exact > -math.inf:  # what goes in comes out, and every event was told by somebody
        begun = counts.transition[script.parameters.source == 0].sum()
        np.testing.assert_allclose(begun, 1.0, rtol=1e-6)
        np.testing.assert_allclose(counts.emission.sum(), len(told), rtol=1e-6, atol=1e-9)


# --- what is refused, or answered otherwise than it was -------------------------------------------


def test_a_state_that_is_hardly_ever_left_is_refused():
    with pytest.raises(ScriptError, match=r"stays in silence with a probability of 0\.9999999"):
        chain(2, 1 - 1e-9, 1 - 1e-9)
    with pytest.raises(ScriptError, match=r"follows itself with a probability of 0\.99999999"):
        chain(2, 0.0, 1 - 1e-10)
    sloppy = [[0, 1, 0], [0, 1 - 1e-9, 1.9e-9], [0, 0, 0]]  # within the tolerance of any row
    with pytest.raises(ScriptError, match="sums of probabilities are off"):
        el.Script(("a",), sloppy, [[0], [1], [0]], [0, 0, 0])
    chain(2, 0.0, 1 - 1e-9)


def test_stories_that_never_end_are_not_drawn():
    script = chain(2, 0.0, 1 - 1e-9)
    with pytest.raises(InputError, match=r"state 'e\d', which follows itself .* too many to draw"):
        script.sample(random_state=0)
    assert script.sample(random_state=0, length=4)[0][0] == "e0"


def test_a_silence_beyond_the_range_of_a_double_is_passed_once():
    script = chain(3, 5e-324)
    with flags():
        posterior = script.posterior(["e0", "e2"])
    check(posterior)
    np.testing.assert_allclose(posterior.silent.sum(), 1.0, rtol=1e-6)


def test_priors_of_any_size():
    script, told = el.examples.doorbell(), list(el.examples.doorbell_tellings()[0])
    for size in (5e-324, 1.0, 1.7e308):
        with flags():
            library = el.Library({"a": script, "b": script}, {"a": size, "b": size})
            first, second = library.identify(told).candidates[:2]
        assert first.probability == second.probability > 0.4
    with pytest.raises(InputError, match=r"pseudocount 1e\+308, expected .* from 0 to 1e\+100"):
        el.Prior(1e308)


@pytest.mark.parametrize("size", [1.0, 1e-280, 5e-324])
def test_weights_of_events_of_any_size(size):
    script, last = el.examples.doorbell(), el.examples.doorbell_tellings()[0][-1]
    vague = dict.fromkeys(script.events, size)
    with flags():
        check(
            [script.resolve([vague, last]), script.fill([vague, None]), script.posterior([vague])]
        )
        check([script.score([vague, last], samples=5), script.order([vague, last])])
        counts = script.lattice.expected_counts(script.pack([[vague, last]]))
        check(el.fit_parameters(script, [[vague, last]]))
    np.testing.assert_allclose(counts.emission.sum(), 2.0, rtol=1e-6)


def test_a_beginning_whose_states_are_hidden_by_likelier_ones():
    script = chain(2, 0.1, 1e-289)
    with flags():
        story = script.between(["e0"] * 3 + [...])
    assert np.isfinite(story.log_prob)
    check(story)


def test_steps_that_are_all_skipped_are_a_slip_and_have_an_order():
    script = chain(250, 0.01)  # the probability of skipping them is beyond the range of a double
    assert script.log_prob(["e0", "e249"]) < -1000
    with flags():
        assert script.score(["e0", "e249"], samples=0).oddness > 100
        ordering = script.order(["e249", "e0"])
    assert ordering.events == ("e0", "e249")
    assert ordering.exact
    with pytest.raises(InputError, match="in any order"):
        script.order(["e0", "e0"])


def test_a_telling_too_long_to_draw_others_like_it_has_no_p_value():
    script = chain(1, 0.0, 1 - 1e-5)
    found = script.score(["e0"] * 10_001, samples=3)
    assert found.p_value is None
    assert script.score(["e0"] * 20, samples=3).p_value is not None


# --- learning -------------------------------------------------------------------------------------


def test_em_without_a_prior_keeps_states_that_nobody_visits():
    transition = np.zeros((5, 5))
    transition[[0, 0, 1, 2, 3], [1, 2, 3, 3, 4]] = [0.5, 0.5, 1, 1, 1]
    emission = np.vstack([np.zeros(3), np.eye(3), np.zeros(3)])
    script = el.Script(event_names(3), transition, emission, np.zeros(5))
    with flags():
        fitted = el.fit_parameters(script, [["e0", "e2"]] * 3, prior=el.Prior(0, 0))
    check(fitted)
    assert fitted.script.size == script.size
    assert 0 < fitted.script.transition[0, 2] < 1e-100


@pytest.mark.parametrize("weight", [1e-12, 1.0, 1e12])
def test_weights_change_nothing_but_the_counts(weight):
    script = el.examples.doorbell()
    told = [list(one) for one in el.examples.doorbell_tellings()]
    packed = Packer(script.events).pack(told, [weight] * len(told))
    plain = Packer(script.events).pack(told)
    with flags():
        counts = script.lattice.expected_counts(packed)
        nothing = pseudocounts(el.Prior(0, 0), len(script.events), packed)
        learned = run_em(script.parameters, packed, nothing, stop=el.Converged(most_steps=5))
        usual = run_em(script.parameters, plain, nothing, stop=el.Converged(most_steps=5))
    expected = script.lattice.expected_counts(plain)
    np.testing.assert_allclose(counts.transition, weight * expected.transition, rtol=1e-9)
    np.testing.assert_allclose(counts.emission, weight * expected.emission, rtol=1e-9)
    for one, other in zip(
        (learned.parameters.transition, learned.parameters.emission, learned.parameters.elision),
        (usual.parameters.transition, usual.parameters.emission, usual.parameters.elision),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-12)


ODD_CORPORA = {
    "one event": [["a"]],
    "nothing told": [[]] * 3,
    "sometimes nothing": [[], ["a"], ["a", "b"]] * 4,
    "all the same": [["a", "b", "c"]] * 20,
    "all different": [[f"x{number}"] for number in range(25)],
    "one thing again and again": [["a"] * 60, ["a"] * 59 + ["b"]],
    "once in a thousand": [["a", "b"]] * 1000 + [["b", "a", "z"]],
    "both ways": [["a", "b"], ["b", "a"]] * 10,
}

LEARNERS = {
    "ScriptLearner": el.ScriptLearner,
    "SEMHMM": el.SEMHMM,
    "BMMEM": el.BMMEM,
    "LogisticGap": el.LogisticGap,
    "NGram": el.NGram,
}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("corpus", ODD_CORPORA)
def test_odd_corpora_are_learned(corpus, learner):
    narratives = ODD_CORPORA[corpus]
    with flags():
        found = LEARNERS[learner]().fit(narratives)
    script = getattr(found, "script_", None)
    if script is None:
        return
    check([script.transition, script.emission, script.elision, script.telling])
    with flags():
        check(script.log_probs(narratives[:3]))
    short = narratives[-1][:3]
    for question in ("fill", "next", "missing", "between", "align", "order", "follow"):
        asked(script, question, short)


@pytest.mark.parametrize("omission", [None, 0.0, 1e-12, 0.999999])
@pytest.mark.parametrize("corpus", ["one event", "sometimes nothing", "all the same", "both ways"])
def test_repairers_of_odd_logs(corpus, omission):
    log = ODD_CORPORA[corpus]
    with flags():
        repairer = el.Repairer.learn(log, omission=omission)
        answers = [repairer.missing_many(log[:5]), repairer.chances(log[:5])]
    check([answers, repairer.omission.rates, repairer.threshold])


def test_a_telling_model_of_the_largest_numbers():
    script = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
    model = script.telling

    def enlarged(part):
        tables = {name: getattr(part, name) * 1e6 for name in ("after", "memory", "told", "place")}
        return replace(
            part,
            **{k: np.clip(one, -LARGEST_LOGIT, LARGEST_LOGIT) for k, one in tables.items()},
        )

    backward = None if model.backward is None else enlarged(model.backward)
    extreme = el.TellingModel(model.events, enlarged(model.forward), backward)
    script = script.with_telling(extreme.with_missing(model.missing))
    told = ["hear doorbell", "open door"]
    for question in ("log_prob", "fill", "gaps", "joint", "anywhere", "missing", "next", "order"):
        asked(script, question, told)
    for question in ("resolve", "score", "sample", "identify", "follow"):
        asked(script, question, told)


# --- many events, many states ---------------------------------------------------------------------


def test_a_hundred_thousand_events():
    script, told = chain(1, 0.0, 1 - 1e-5), ["e0"] * 100_000
    expected = (len(told) - 1) * math.log(1 - 1e-5) + math.log(1e-5)
    with flags():
        found = [script.log_prob(told)]
        found += [one(told).log_prob for one in (script.between, script.posterior, script.align)]
        check([script.next(told), script.fill([*told[1:], None])])
        fitted = el.fit_parameters(script, [told], prior=el.Prior(0, 0))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(fitted.script.transition[1, 2], 1e-5, rtol=1e-9)


def test_a_hundred_thousand_events_are_learned_from():
    told = ["a", "b"] * 50_000
    with flags():
        learner = el.ScriptLearner().fit([told])
        check(learner.script_.telling)
        check([learner.script_.log_prob(told), learner.next(told), learner.between(told[:1000])])


@pytest.mark.parametrize("question", ["fill", "between", "posterior", "align", "identify"])
def test_two_thousand_states(question):
    script = chain(2000, 0.5)
    told = [script.events[0], script.events[-1]]
    np.testing.assert_allclose(script.log_prob(told), 2000 * math.log(0.5), rtol=1e-9)
    asked(script, question, told)


# --- again and again ------------------------------------------------------------------------------


ASKED = ("fill", "between", "next", "align", "posterior", "order")


def test_what_was_learned_and_asked_leaves_nothing_behind():
    """Neither the scripts nor anything else."""
    told = [list(one) for one in el.examples.doorbell_tellings()]

    def learn():
        for script in (
            el.ScriptLearner().fit(told).script_,
            el.fit_parameters(el.examples.doorbell(), told).script,
        ):
            for question in ASKED:
                QUESTIONS[question](script, told[0])
            yield from map(weakref.ref, (script, script.lattice, script.outline()))

    left = list(learn())
    gc.collect()
    assert len(left) == 6
    assert not any(one() for one in left)


def test_questions_do_not_use_up_memory():
    script = el.examples.doorbell()
    told = list(el.examples.doorbell_tellings()[0])

    def blocks(rounds):
        for _ in range(rounds):
            for question in ASKED:
                QUESTIONS[question](script, told)
        gc.collect()
        return sys.getallocatedblocks()

    before = blocks(150)  # until the interpreter has settled
    assert blocks(100) - before < 5 * 100
