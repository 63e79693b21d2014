"""Scoring tellings: surprises, p-values, deviations and flags, against the twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import elision as el
import naive
import naive_questions as twin
from elision.ask.engine.conformance import OUT_OF_ORDER, deviations, moves
from elision.ask.engine.told_chain import Tables, ToldChain
from elision.ask.score import Conformances, conform, score
from models import ATOL, RTOL, cases, events, models, pack

pytestmark = pytest.mark.numerical


def script_of(model):
    transition, emission, elision = model
    return el.Script(events(emission.shape[1]), transition, emission, elision)


def named(script, narrative):
    return [script.events[o] for o in narrative]


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=RTOL, atol=ATOL)


hard = st.lists(st.integers(0, 2), max_size=5)


@given(cases(most_narratives=3, most_length=5))
def test_surprises_are_those_of_all_paths_and_sum_to_the_log_probability(case):
    model, narratives = case
    packed = pack(narratives, model[1].shape[1])
    found = ToldChain(script_of(model)).surprises(packed)
    for number, narrative in enumerate(narratives):
        s = packed.place[number]
        first = packed.offset[s] + s
        own = found[first : first + len(narrative) + 1]
        expected = twin.surprises(model, narrative)
        stop = expected.index(math.inf) + 1 if math.inf in expected else len(expected)
        close(own[:stop], expected[:stop])
        close(own.sum(), -naive.log_prob(*model, narrative))


@given(models())
def test_surprises_survive_underflow(model):
    """Two hundred improbable events: scaled and log space must agree where both can be."""
    script = script_of(model)
    told = [0] * 200
    expected = script.log_prob(named(script, told))
    own = ToldChain(script).surprises(script.pack([named(script, told)]))
    close(own.sum(), -expected)


@given(models(), hard)
def test_deviations_are_ratios_of_probabilities(model, told):
    count = model[1].shape[1]
    narrative = [o for o in told if o < count]
    log_prob = naive.log_prob(*model, narrative)
    assume(np.isfinite(log_prob))
    chain = ToldChain(script_of(model))
    likelihood = naive.event_likelihood(model[1], narrative)[None]
    found = deviations(chain, chain.tables(likelihood), likelihood, np.array([log_prob]))
    base = math.exp(log_prob)

    def ratio(other):
        return twin.probability(model, other) / base

    for i in range(len(narrative) - 1):
        swapped = [*narrative[:i], narrative[i + 1], narrative[i], *narrative[i + 2 :]]
        close(found.exchanged[0, i], ratio(swapped))
    for i in range(len(narrative)):
        close(found.without[0, i], ratio([*narrative[:i], *narrative[i + 1 :]]))
    for i in range(len(narrative) + 1):
        for o in range(count):
            put_in = [*narrative[:i], o, *narrative[i:]]
            close(found.entered[0, i] @ model[1][:, o], ratio(put_in))
    passed = found.entered[0] * model[2]
    close(passed, naive.posterior(*model, narrative).unsaid)


@given(models(), hard)
def test_moves_are_gains_in_log_probability(model, told):
    count = model[1].shape[1]
    narrative = [o for o in told if o < count]
    log_prob = naive.log_prob(*model, narrative)
    assume(np.isfinite(log_prob))
    chain = ToldChain(script_of(model))
    likelihood = naive.event_likelihood(model[1], narrative)
    tables = Tables(*(part[0] for part in chain.tables(likelihood[None])))
    found = moves(chain, tables, likelihood, log_prob)
    for i in range(len(narrative)):
        rest = [*narrative[:i], *narrative[i + 1 :]]
        for p in range(len(narrative)):
            moved = [*rest[:p], narrative[i], *rest[p:]]
            close(found[i, p], naive.log_prob(*model, moved) - log_prob)


@given(models())
def test_events_never_told(model):
    found = ToldChain(script_of(model)).never()[0]
    close(found, [twin.never(model, o) for o in range(model[1].shape[1])])


@settings(max_examples=30)
@given(models(most_states=3, most_events=2), st.lists(st.integers(0, 1), max_size=4))
def test_the_p_value_is_the_tail_among_tellings_of_that_length(model, told):
    narrative = [o for o in told if o < model[1].shape[1]]
    assume(np.isfinite(naive.log_prob(*model, narrative)))
    script = script_of(model)
    samples = 2000
    found = score(script, named(script, narrative), samples=samples).p_value
    expected = twin.tail(model, narrative)
    error = math.sqrt(expected * (1 - expected) / samples)
    assert abs(found - expected) <= 5 * error + 2 / samples


@given(cases(most_narratives=4, most_length=4))
def test_a_report_for_every_narrative(case):
    """Possible or not: no NaN, and the surprises add up for what can be told."""
    model, narratives = case
    script = script_of(model)
    names = events(model[1].shape[1])

    def item(one):
        if one is None or isinstance(one, int):
            return None if one is None else names[one]
        return {name: weight for name, weight in zip(names, one, strict=True) if weight > 0}

    given_ = [[item(one) for one in narrative] for narrative in narratives]
    for narrative, found in zip(given_, conform(script, given_, samples=20), strict=True):
        left_out = {flag.position for flag in found.flags if flag.kind == "impossible"}
        kept = [one for place, one in enumerate(narrative) if place not in left_out]
        assert not math.isnan(found.oddness)
        assert 0 < found.p_value <= 1
        assert found.possible is not bool(left_out)
        close(found.log_prob, script.log_prob(kept))
        told = [value for value in found.surprises if value is not None]
        close(math.fsum([*told, found.ending]), -found.log_prob)
        if left_out:
            assert script.log_prob(narrative) == -math.inf
            assert found.p_value == 1 / 21


@given(models(most_states=3), st.lists(st.integers(0, 2), max_size=4))
def test_as_few_events_are_left_out_as_can_be(model, told):
    from itertools import combinations

    narrative = [o for o in told if o < model[1].shape[1]]
    script = script_of(model)
    found = score(script, named(script, narrative), samples=0)
    left_out = sum(flag.kind == "impossible" for flag in found.flags)
    kept = [
        len(part)
        for size in range(len(narrative) + 1)
        for part in combinations(narrative, size)
        if np.isfinite(naive.log_prob(*model, list(part)))
    ]
    assert len(narrative) - left_out == max(kept, default=0)


def test_the_same_telling_has_the_same_report_alone_and_among_others():
    script = el.examples.doorbell()
    tellings = el.examples.doorbell_tellings()
    for telling, found in zip(tellings, conform(script, tellings, samples=50), strict=True):
        assert score(script, telling, samples=50) == found


def test_gaps_are_compared_with_gaps():
    script = el.examples.doorbell()
    assert score(script, [None, None], samples=30).p_value == 1.0


def test_an_ambiguous_event_counts_as_what_it_probably_is():
    script = el.examples.doorbell()
    unsure = {"open door": 0.6, "hear doorbell": 0.4}
    sure = score(script, ["hear doorbell", "open door", "close door"])
    found = score(script, ["hear doorbell", unsure, "close door"])
    assert found.p_value == sure.p_value
    assert found.told == ("hear doorbell", "open door", "close door")


@pytest.fixture(scope="module")
def learned():
    learner = el.SEMHMM(score="marginal", random_state=0)
    return learner.fit(el.examples.doorbell_tellings() * 3).script_


def flags(found, kind):
    return [flag for flag in found.flags if flag.kind == kind]


def test_an_event_out_of_order_is_flagged_with_where_it_belongs(learned):
    usual = ["hear doorbell", "walk to door", "open door", "greet visitor", "close door"]
    assert not flags(score(learned, usual), "out of order")
    odd = ["hear doorbell", "open door", "greet visitor", "close door", "walk to door"]
    (flag,) = flags(score(learned, odd), "out of order")
    assert (flag.event, flag.position) == ("walk to door", 4)
    assert flag.weight > OUT_OF_ORDER
    assert "before open door" in flag.note


def test_a_repeated_event_is_flagged_unless_it_is_usual(learned):
    told = ["hear doorbell", "open door", "hear doorbell", "close door"]
    (flag,) = flags(score(learned, told), "repeated")
    assert flag.position == 2
    loop = el.Script.build(
        {"knock": "knock"}, {"start": {"knock": 1}, "knock": {"knock": 0.5, "end": 0.5}}
    )
    assert score(loop, ["knock", "knock", "knock"]).flags == ()


def test_a_usual_event_that_was_passed_in_silence_is_flagged():
    script = el.Script.build(
        {"a": {"a": 0.95, None: 0.05}, "b": {"b": 0.9, None: 0.1}, "c": {"c": 0.5, None: 0.5}},
        {"start": {"a": 1}, "a": {"b": 1}, "b": {"c": 1}, "c": {"end": 1}},
    )
    (flag,) = score(script, ["a"]).flags
    assert (flag.kind, flag.event, flag.position) == ("skipped", "b", 1)
    assert flag.weight == pytest.approx(1.0)
    assert score(script, ["a", "b"]).flags == ()


def test_deviations_make_a_telling_odd(learned):
    usual = score(
        learned, ["hear doorbell", "walk to door", "open door", "take parcel", "close door"]
    )
    for odd in (
        ["hear doorbell", "open door", "walk to door", "take parcel", "close door"],
        ["hear doorbell", "walk to door", "sneeze", "open door", "take parcel", "close door"],
        ["hear doorbell", "walk to door", "take parcel", "close door"],
    ):
        assert score(learned, odd).oddness > usual.oddness


def test_unknown_events_are_flagged_or_refused():
    script = el.examples.doorbell()
    found = score(script, ["open door", "sneeze"])
    assert [flag.kind for flag in found.flags if flag.position == 1] == ["unknown"]
    assert found.log_prob == script.log_prob(["open door"])
    assert found.surprises[1] is None
    with pytest.raises(el.UnknownEventError, match="sneeze"):
        score(script, ["open door", "sneeze"], unknown="error")


def test_nothing_can_be_told_by_a_script_that_must_tell_something_else():
    script = el.Script.build(
        {"a": "a", "b": "b"}, {"start": {"a": 1}, "a": {"b": 1}, "b": {"end": 1}}
    )
    found = score(script, ["b", "a"])
    assert found.log_prob == -math.inf
    assert found.oddness == math.inf
    assert found.surprises == (None, None)
    assert "cannot be told" in str(found)


def test_tables():
    found = conform(el.examples.doorbell(), [["open door"], [], ["sneeze"]], samples=0)
    assert [row["events"] for row in found.to_rows()] == [1, 0, 1]
    assert found[0].p_value is None
    assert found.to_frame()["log_prob"].tolist() == [one.log_prob for one in found]
    assert len(found.to_frame("polars")) == 3
    assert list(conform(el.examples.doorbell(), []).to_frame()) == list(found.to_rows()[0])
    assert "sneeze: not in the script" in str(found)
    assert found._repr_html_().count("<tr>") == 4
    assert "<td>open door</td>" in found[0]._repr_html_()
    assert len(found[1:]) == 2
    with pytest.raises(el.InputError, match="backend"):
        found.to_frame("spreadsheet")


def test_ids_stand_in_tables():
    told = [el.Narrative(("open door",), id="monday"), el.Narrative(("sneeze",)), ["open door"]]
    found = conform(el.examples.doorbell(), told, samples=0)
    assert found.ids == ("monday", None, None)
    assert [row["id"] for row in found.to_rows()] == ["monday", None, None]
    assert found[:1].ids == ("monday",)
    assert [line.split()[0] for line in str(found).splitlines()[1:]] == ["monday", "1", "2"]
    assert "<td>monday</td>" in found._repr_html_()
    assert list(found.to_frame())[:2] == ["id", "telling"]
    with pytest.raises(el.InputError, match="1 ids came for 3 tellings"):
        Conformances(found, ["monday"])


@pytest.mark.parametrize(
    ("narratives", "options", "problem"),
    [
        ("open door", {}, "list of narratives"),
        (["open door"], {}, "narrative 0"),
        ([["open door", ...]], {}, "narrative 0"),
        ([[3]], {}, "no event"),
        ([["open door"]], {"samples": -1}, "samples is -1"),
        ([["open door"]], {"random_state": None}, "random_state is None"),
        ([[{"open door": 2.0}]], {}, "from 0 to 1"),
    ],
)
def test_what_cannot_be_scored(narratives, options, problem):
    with pytest.raises(el.InputError, match=problem):
        conform(el.examples.doorbell(), narratives, **options)
