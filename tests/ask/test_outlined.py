"""Silence and alignment by the outline that a script was made from."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import elision as el
from elision.ask.outlined import places, silences
from elision.ask.sample import stories
from elision.ask.who import who
from elision.errors import FileFormatError
from elision.files.script import dumps, loads
from elision.learn.outline import sharp_script
from elision.values.outline import steps_told
from serving import large

SEEDS = range(4)
TELLINGS = 60
CUT = 1e-4
"""Edges of the script that are hardly ever taken are left out."""


def corpus(seed):
    """Tellings of a made-up activity: a choice, any order, something optional, twice, or again."""
    rng = np.random.default_rng(seed)

    def telling():
        middle = ["grind", "froth"] if rng.random() < 0.6 else ["froth", "grind"]
        kind = ["steep", "strain"] if rng.random() < 0.4 else ["brew"]
        done = ["fill", "wash", "boil", *middle, *kind, "wash"]
        done += ["sweeten"] if rng.random() < 0.5 else []
        done += ["pour", "drink"]
        if rng.random() < 0.1:
            place = rng.integers(len(done) - 1)
            done[place : place + 2] = done[place : place + 2][::-1]
        told = [event for event in done if rng.random() < 0.75]
        told += ["drink"] * int("drink" in told and rng.random() < 0.3)
        return told

    return [telling() for _ in range(TELLINGS)] + [["fill", "sneeze", "drink"]]


@pytest.fixture(scope="module")
def learned():
    """A script for each seed: with its telling model the first, without it the others."""
    scripts = [el.ScriptLearner(random_state=seed).fit(corpus(seed)).script_ for seed in SEEDS]
    return [scripts[0], *(script.with_telling(None) for script in scripts[1:])]


@pytest.fixture(scope="module")
def doorbell():
    return el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_


def asked(script, seed, count=40):
    """Tellings to ask about: some as they were, some in any order, repeated and all."""
    rng = np.random.default_rng([seed, 1])
    events = [*script.events]
    told = [list(one) for one in corpus(seed)[: count // 2]]
    sizes = rng.integers(0, 9, size=count - len(told))
    return [[], *told, *(rng.choice(events, size=size).tolist() for size in sizes)]


def total(story):
    """How often each event happened unsaid, by all places together."""
    found = {}
    for gap in story.unsaid:
        for step in gap:
            found[step.event] = found.get(step.event, 0.0) + step.expected
    return found


def passed(script, items):
    """The probability that each step was passed in silence, by the script's own lattice."""
    found = script.lattice.posterior(script.pack([items]))[0]
    once = 1 - np.diag(script.transition) * script.elision
    return (found.silent(script.elision).sum(axis=0) * once)[1:-1], found.log_prob


def by_event(outline, chances):
    found = {}
    for step, chance in zip(outline.steps, chances, strict=True):
        found[step.event] = found.get(step.event, 0.0) + chance
    return {event: chance for event, chance in found.items() if chance > 0}


def test_the_corpora_have_everything(learned):
    outlines = [script.made_from for script in learned]
    assert any(len(unit.branches) > 1 for outline in outlines for unit in outline.units)
    assert any(len(steps) > 1 for outline in outlines for steps in outline.steps_of.values())
    assert any(step.again > 0.1 for outline in outlines for step in outline.steps)
    assert any(
        (~outline.order & ~outline.order.T).sum() > len(outline.units) for outline in outlines
    )
    for script in learned:
        assert "sneeze" in script.events
        assert "sneeze" not in script.made_from.steps_of


@pytest.mark.parametrize("seed", SEEDS)
def test_silence_is_that_of_the_script_in_its_order(learned, seed):
    script = learned[seed]
    outline = script.made_from
    compared = 0
    for telling in asked(script, seed):
        # An event with two steps may tell either, by the script; the outline takes one.
        events = [event for event in telling if len(outline.steps_of.get(event, ())) == 1]
        steps = sorted({outline.steps_of[event][0] for event in events})
        expected, log_prob = passed(script, [outline.steps[step].event for step in steps])
        units = [outline.unit_of[step] for step in steps]
        if log_prob == -math.inf:  # two branches of one choice were told
            assert len(set(units)) < len(units)
            continue
        compared += 1
        expected[steps] = 0.0
        story = script.between(events, min_probability=0.0)
        assert total(story) == pytest.approx(by_event(outline, expected), rel=CUT, abs=1e-9)
    assert compared > 10


@pytest.mark.parametrize("seed", SEEDS)
def test_places_share_out_what_happened_unsaid(learned, seed):
    script = learned[seed]
    outline = script.made_from
    for telling in asked(script, seed):
        steps = steps_told(outline, telling)
        known = {step for step in steps if step is not None}
        at = silences(outline, steps)
        assert at.shape == (len(telling) + 1, len(outline.steps))
        assert ((at >= 0) & (at <= 1)).all()
        expected = outline.happened(known)
        expected[[*known]] = 0.0
        np.testing.assert_allclose(at.sum(axis=0), expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(places(outline, steps).sum(axis=0), 1.0, rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_probabilities_of_a_story_agree_with_each_other(learned, seed):
    script = learned[seed]
    rng = np.random.default_rng([seed, 2])
    for telling in asked(script, seed):
        items = list(telling)
        for place in rng.integers(len(items), size=2).tolist() if items else []:
            soft = {event: rng.uniform(0.01, 1) for event in rng.choice(script.events, size=3)}
            items[place] = None if rng.random() < 0.5 else soft
        for told in (telling, items):
            agrees(script.between(told, min_probability=0.0), len(told))


def agrees(story, length):
    assert len(story.unsaid) == len(story.nothing) == length + 1
    for gap in story.gaps:
        assert 0 <= gap.nothing <= 1
        for step in gap.unsaid:
            assert 0 < step.probability <= 1
            assert step.probability <= step.expected * (1 + 1e-12)
        assert len({step.event for step in gap.unsaid}) == len(gap.unsaid)
        likeliest = max((step.probability for step in gap.unsaid), default=0.0)
        assert gap.nothing <= 1 - likeliest + 1e-9
        assert gap.nothing >= 1 - sum(step.expected for step in gap.unsaid) - 1e-9


def test_the_threshold_only_hides(doorbell):
    whole, part = (
        doorbell.between(["open door"], min_probability=min_probability)
        for min_probability in (0.0, 0.3)
    )
    for all_of_it, likely in zip(whole.unsaid, part.unsaid, strict=True):
        assert likely == tuple(step for step in all_of_it if step.probability >= 0.3)
    assert part.nothing == whole.nothing
    assert part.log_prob == whole.log_prob == doorbell.log_prob(["open door"])


def test_the_order_of_the_telling_changes_places_only(doorbell):
    told = ["hear doorbell", "open door", "close door"]
    forward, backward = (
        doorbell.between(told, min_probability=0),
        doorbell.between(told[::-1], min_probability=0),
    )
    assert total(backward) == pytest.approx(total(forward), rel=1e-12)
    assert forward.told == backward.told[::-1]
    chance = {step.event: step.probability for step in forward.unsaid[1]}
    assert chance["walk to door"] > 0.9


def test_what_is_told_again_changes_nothing(doorbell):
    once = doorbell.between(["hear doorbell", "open door"], min_probability=0)
    again = doorbell.between(["hear doorbell", "hear doorbell", "open door"], min_probability=0)
    assert total(again) == pytest.approx(total(once), rel=1e-12)
    assert again.unsaid == (once.unsaid[0], (), *once.unsaid[1:])
    assert again.nothing == (once.nothing[0], 1.0, *once.nothing[1:])


def test_an_event_with_two_steps_is_named_once_at_a_place(learned):
    for script in learned:
        outline = script.made_from
        twice = [event for event, steps in outline.steps_of.items() if len(steps) == 2]
        chances = outline.happened(())
        for event in twice:
            first, second = (chances[step] for step in outline.steps_of[event])
            (gap,) = script.between([], min_probability=0).unsaid
            (found,) = [step for step in gap if step.event == event]
            assert found.expected == pytest.approx(first + second)
            assert found.probability == pytest.approx(1 - (1 - first) * (1 - second))
    assert twice


def test_nothing_told_leaves_what_usually_happens_unsaid(learned):
    for script in learned:
        outline = script.made_from
        story = script.between([], min_probability=0)
        assert total(story) == pytest.approx(by_event(outline, outline.unsaid), rel=1e-12)
        expected, _ = passed(script, [])
        np.testing.assert_allclose(outline.unsaid, expected, rtol=CUT)
        apart = [
            1 - sum(outline.unsaid[branch[0]] for branch in unit.branches) for unit in outline.units
        ]
        assert story.nothing == (pytest.approx(math.prod(apart), rel=1e-9),)


def test_both_branches_of_a_choice_can_be_told(doorbell):
    told = ["take parcel", "greet visitor"]
    story = doorbell.between(told, min_probability=0)
    chances = total(story)
    assert chances["let visitor in"] == pytest.approx(0.5)  # the rest of one of the two
    assert not chances.keys() & set(told)
    agrees(story, 2)


def test_unknown_events_are_refused_or_left_out(doorbell):
    told = ["hear doorbell", "cough", "open door"]
    for question in (doorbell.between, doorbell.align, doorbell.posterior):
        with pytest.raises(el.InputError, match="'cough'") as caught:
            question(told)
        assert "\n" not in str(caught.value)
    without = doorbell.between(["hear doorbell", "open door"])
    assert doorbell.between(told, unknown="ignore") == without
    with pytest.raises(el.InputError, match="narrative 1"):
        doorbell.between_many([["open door"], told])


def test_events_that_are_no_step_stand_aside(learned):
    script = learned[1]
    told = ["fill", "sneeze", "drink"]
    with_it = script.between(told, min_probability=0)
    without = script.between(["fill", "drink"], min_probability=0)
    assert total(with_it) == pytest.approx(total(without), rel=1e-12)
    assert with_it.told == tuple(told)
    assert script.align(told).spurious == (1,)
    assert script.posterior(told).events == ("fill", "drink")


@pytest.mark.parametrize(
    "item", [{}, {"hear doorbell": -1.0}, {"hear doorbell": math.nan}, 3, b"x"]
)
def test_what_is_no_observation_is_refused(doorbell, item):
    for question in (doorbell.between, doorbell.align, doorbell.posterior):
        with pytest.raises(el.InputError) as caught:
            question(["open door", item])
        assert "\n" not in str(caught.value)
    with pytest.raises(el.InputError, match=r"\.\.\."):
        doorbell.between(["open door", ..., "close door"])
    for script in (doorbell, el.examples.doorbell()):
        with pytest.raises(el.InputError):
            script.between(["open door", item], finished=False)


# What was told is not sure


def test_a_sure_soft_event_is_the_event(learned):
    for script in learned:
        hard = script.between(["boil", "pour"], min_probability=0)
        soft = script.between([{"boil": 0.3}, {"pour": 1.0}], min_probability=0)
        assert soft.told == hard.told
        assert total(soft) == pytest.approx(total(hard), rel=CUT, abs=1e-9)


def test_soft_events_are_weighed_by_the_script(doorbell):
    script = doorbell.with_telling(None)
    weights = {"walk to door": 0.5, "look through peephole": 0.5}
    found = total(script.between(["hear doorbell", weights, "open door"], min_probability=0))
    share = {}
    expected = {}
    for event, weight in weights.items():
        told = ["hear doorbell", event, "open door"]
        share[event] = weight * math.exp(script.log_prob(told))
        for other, chance in total(script.between(told, min_probability=0)).items():
            expected[other] = expected.get(other, 0.0) + share[event] * chance
    whole = sum(share.values())
    expected = {event: chance / whole for event, chance in expected.items()}
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_what_is_one_event_rather_than_not_is_not_unsaid_as_well(doorbell):
    def asked(middle):
        return ["hear doorbell", middle, "close door"]

    # The script by itself would rather have "open door" told: nearly everybody opens it.
    for weights in ({"let visitor in": 0.55, "open door": 0.45}, {"let visitor in": 0.51}):
        story = doorbell.between(asked(weights), min_probability=0)
        plain = doorbell.between(asked("let visitor in"), min_probability=0)
        assert story.told == plain.told
        assert total(story) == total(plain)
        assert "let visitor in" not in total(story)
        aligned = doorbell.align(asked(weights)).steps
        assert aligned == doorbell.align(asked("let visitor in")).steps
        assert doorbell.posterior(asked(weights)).events == story.told
        following = doorbell.follow()
        following.tell_all(asked(weights))
        assert following.told == story.told
        assert following.story().told == story.told
        many = doorbell.between_many([asked(weights)], min_probability=0)
        assert total(many[0]) == total(plain)
    unsure = doorbell.between(asked({"let visitor in": 0.5, "open door": 0.5}), min_probability=0)
    assert 0 < total(unsure)["let visitor in"] < 1
    assert 0 < total(unsure)["open door"] < 1


def test_a_gap_is_something_that_was_told(doorbell):
    with_gap = doorbell.between(["hear doorbell", None, "open door"], min_probability=0)
    assert with_gap.told == ("hear doorbell", "?", "open door")
    plain = doorbell.between(["hear doorbell", "open door"], min_probability=0)
    assert total(with_gap)["walk to door"] < 0.3 < total(plain)["walk to door"]
    expected, _ = passed(doorbell, ["hear doorbell", None, "open door"])
    for step, chance in zip(doorbell.made_from.steps, expected, strict=True):
        if step.event not in ("hear doorbell", "open door"):
            assert total(with_gap).get(step.event, 0.0) == pytest.approx(chance, rel=CUT, abs=1e-9)


def test_a_gap_that_no_step_can_fill_stands_aside(doorbell):
    whole = [step.event for step in doorbell.made_from.steps]
    found = doorbell.between([None, *whole], min_probability=0)
    assert len(found.nothing) == len(whole) + 2
    assert whole[0] not in total(doorbell.between([None, whole[0]], min_probability=0))
    assert len(doorbell.align([None, whole[0]]).spurious) == 1
    only_gaps = doorbell.between([None, None], min_probability=0)
    agrees(only_gaps, 2)


# The path


def test_positions_of_an_alignment_are_those_of_the_telling(doorbell):
    told = ["open door", "cough", "hear doorbell", "close door"]
    found = doorbell.align(told, unknown="ignore")
    assert found.spurious == (1,)
    states = {step.state: step.position for step in found.steps if step.event is not None}
    assert states == {"hear doorbell": 2, "open door": 0, "close door": 3, None: 1}
    passing = [step.state for step in found.steps if step.state is not None]
    order = [doorbell.states.index(state) for state in passing]
    assert order == sorted(order)
    for step in found.steps:
        assert 0 <= step.certainty <= 1 + 1e-12
        assert step.event is None or told[step.position] == step.event


@pytest.mark.parametrize("seed", SEEDS)
def test_everything_told_has_a_place_in_the_alignment(learned, seed):
    script = learned[seed]
    for telling in asked(script, seed):
        try:
            found = script.align(telling)
        except el.InputError:
            assert all(event == "sneeze" for event in telling)
            continue
        told = [step for step in found.steps if step.event is not None]
        assert sorted(step.position for step in told) == list(range(len(telling)))
        for step in told:
            assert telling[step.position] == step.event
        chances = [step.probability for step in found.steps if step.state is not None]
        logs = sum(map(math.log, [*chances, found.ending]))
        assert found.log_prob == pytest.approx(logs, rel=1e-9, abs=1e-9)
        posterior = script.posterior(telling)
        assert len(posterior.events) == len(telling) - len(found.spurious)
        np.testing.assert_allclose(posterior.told.sum(axis=1), 1.0, rtol=1e-9)


def test_sentences_keep_their_positions():
    spoken = el.Corpus.of(
        [["boil the water", "pour the water", "drink the tea"], ["boil the water", "drink the tea"]]
        * 6
    )
    extractor = el.EventExtractor(vectors=False, rare="keep")
    sentences = el.Corpus(el.Narrative(None, one.events) for one in spoken)
    script = el.ScriptLearner().fit(extractor.fit_transform(sentences)).script_
    script = script.annotated(extractor=extractor.to_dict())
    found = script.align(["drink the tea", "boil the water"])
    states = [step for step in found.steps if step.position is not None]
    assert [step.position for step in states] == [1, 0]


# Many at once, and files


def test_many_are_answered_as_one(learned):
    for seed, script in enumerate(learned):
        tellings = [*asked(script, seed, 10), ["fill", None, "drink"]]
        stories = script.between_many(tellings, min_probability=0.01)
        alone = [script.between(telling, min_probability=0.01) for telling in tellings]
        for story, other in zip(stories, alone, strict=True):
            assert (story.told, story.unsaid, story.nothing) == (
                other.told,
                other.unsaid,
                other.nothing,
            )
            assert story.log_prob == pytest.approx(other.log_prob, rel=1e-12)
    assert script.between_many([]) == []


def test_a_saved_script_answers_to_the_last_bit(learned, doorbell, tmp_path):
    for seed, script in enumerate([*learned, doorbell]):
        script.save(tmp_path / "script.json")
        again = el.load(tmp_path / "script.json")
        assert again == script
        assert again.made_from == again.outline() == script.made_from
        assert str(again.outline()) == str(script.outline())
        tellings = (
            asked(script, seed % len(SEEDS), 10) if script is not doorbell else [["open door"]]
        )
        for telling in tellings:
            assert again.between(telling, min_probability=0) == script.between(
                telling, min_probability=0
            )
            if set(telling) != {"sneeze"}:
                assert again.align(telling) == script.align(telling)
                first, second = again.posterior(telling), script.posterior(telling)
                assert np.array_equal(first.told, second.told)
                assert np.array_equal(first.silent, second.silent)
        assert dumps(again) == dumps(script)


def change(*path, to):
    """Change one part of the outline of a file."""

    def damage(raw):
        part = raw["outline"]
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = to(part[path[-1]]) if callable(to) else to

    return damage


def without(*path):
    def damage(raw):
        part = raw["outline"]
        for key in path[:-1]:
            part = part[key]
        del part[path[-1]]

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        change("before", 0, to=[0, 99]),
        change("before", 0, to=[-1, 0]),
        change("before", 0, to=[2, 2]),
        change("before", 0, to=[0]),
        change("before", to=lambda pairs: [*pairs, *([b, a] for a, b in pairs)]),
        change("pairs", to=lambda rows: rows[1:]),
        change("pairs", 0, to=lambda row: row[1:]),
        change("pairs", 0, 1, to=-1),
        change("pairs", 0, 1, to=0.5),
        change("pairs", 0, 1, to=10**30),
        change("pairs", 0, 1, to=2**63),
        change("tellings", to=-1),
        change("title", to=7),
        change("steps", 0, "told", to=1.5),
        change("steps", 0, "telling", to=-0.1),
        change("steps", 0, "again", to=2),
        change("steps", 0, "place", to="early"),
        change("steps", 0, "wording", to="in words"),
        change("steps", 1, "name", to="hear doorbell"),
        change("steps", 0, "event", to="open door"),
        change("steps", 0, "event", to="fly away"),
        change("steps", to=lambda steps: steps[1:]),
        change("units", to=lambda units: units[1:]),
        change("units", 0, "branches", to=[]),
        change("units", 0, "branches", to=[[]]),
        change("units", 0, "branches", to=[[99]]),
        change("units", 0, "branches", to=[[-1]]),
        change("units", 0, "branches", to=[[0, 1]]),
        change("units", 0, "shares", to=[0.5]),
        change("units", 0, "shares", to=[0.5, 0.5]),
        change("units", 0, "shares", to=[]),
        change("units", 0, "happens", to=1.1),
        change("units", 0, "more", to=1),
        without("units"),
        without("steps", 0, "told"),
        lambda raw: raw.update(outline=[]),
        lambda raw: raw.pop("outline"),
    ],
)
def test_a_damaged_outline_is_refused_in_one_line(doorbell, damage):
    script = doorbell.with_telling(None)
    raw = json.loads(dumps(script))
    damage(raw)
    with pytest.raises(FileFormatError) as caught:
        loads(json.dumps(raw).encode(), where="damaged.json", checksum=False)
    assert str(caught.value).startswith("damaged.json")
    assert "\n" not in str(caught.value)


def parts(value, path=()):
    """Paths to every value of an outline."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from parts(part, (*path, key))


def test_whatever_stands_in_an_outline_is_refused_or_answers(doorbell):
    whole = json.loads(dumps(doorbell.with_telling(None)))
    refused = 0
    for path in parts(whole["outline"]):
        for odd in (None, True, -1, 0, 1, 0.5, 1e308, 10**1000, "\ud800", "start", [], [[]], {}):
            raw = copy.deepcopy(whole)
            change(*path, to=odd)(raw)
            try:
                script = loads(json.dumps(raw).encode(), where="odd.json", checksum=False)
            except FileFormatError:
                refused += 1
                continue
            agrees(script.between(["open door", "hear doorbell"], min_probability=0), 2)
            assert str(script.outline())
            assert loads(dumps(script)) == script
    assert refused > 1000


def test_a_changed_outline_breaks_the_checksum(doorbell):
    content = dumps(doorbell.with_telling(None))
    assert b'"happens":' in content
    with pytest.raises(FileFormatError, match="checksum"):
        loads(content.replace(b'"happens":', b'"happens": ', 1), where="changed.json")


# Scripts that were not made from an outline


def test_a_script_built_by_hand_answers_itself():
    script = el.examples.doorbell()
    assert script.made_from is None
    for question in ("between", "between_many", "align", "posterior"):
        assert who(script, question).__module__.startswith("elision.ask.")
        assert "outlined" not in who(script, question).__module__
    with pytest.raises(el.InputError, match="cannot tell this narrative in this order"):
        script.between(["close door", "hear doorbell"])
    assert b'"outline": null' in dumps(script)


def test_the_outline_of_a_script_built_by_hand():
    script = el.examples.doorbell()
    outline = script.outline()
    assert outline is script.outline()
    assert {step.name for step in outline.steps} == set(script.events)
    number = {step.name: place for place, step in enumerate(outline.steps)}
    unit = {step.name: outline.unit_of[place] for place, step in enumerate(outline.steps)}
    chain = ["hear doorbell", "walk to door", "look through peephole", "open door"]
    for later in ("greet visitor", "take parcel", "say goodbye", "close door"):
        steps = [*chain, later]
        for first, second in pairwise(steps):
            assert outline.order[unit[first], unit[second]]
    assert outline.order[unit["greet visitor"], unit["close door"]]
    assert unit["greet visitor"] == unit["take parcel"] == unit["sign for parcel"]
    branches = outline.units[unit["take parcel"]].branches
    assert not any({number["take parcel"], number["greet visitor"]} <= {*one} for one in branches)
    for step in outline.steps:
        silent = float(script.elision[script.states.index(step.name)])
        assert step.telling == pytest.approx(1 - silent, abs=0.05)
    assert outline.title == "answering the doorbell"


def test_the_outline_of_a_script_says_what_may_be_missing():
    script = el.Script.build(
        {"a": "a", "b": {"b": 0.5, None: 0.5}, "c": "c", "d": "d"},
        {
            "start": {"a": 1},
            "a": {"b": 0.4, "c": 0.6},
            "b": {"d": 1},
            "c": {"d": 1},
            "d": {"end": 1},
        },
    )
    outline = script.outline()
    assert [step.name for step in outline.steps] in (["a", "b", "c", "d"], ["a", "c", "b", "d"])
    assert [len(unit.branches) for unit in outline.units] == [1, 2, 1]
    choice = outline.units[1]
    shares = {
        outline.steps[branch[0]].name: share
        for branch, share in zip(choice.branches, choice.shares, strict=True)
    }
    assert shares == {"b": pytest.approx(0.4, abs=0.05), "c": pytest.approx(0.6, abs=0.05)}
    assert choice.happens == pytest.approx(1.0)
    names = [step.name for step in outline.steps]
    untold = outline.happened([names.index("a"), names.index("d")])
    assert untold[names.index("b")] == pytest.approx(1.0)


def test_the_outline_of_a_very_large_script_is_one_row():
    script = large(110)
    outline = script.outline()
    assert len(outline.units) == len(outline.steps) == len(script.events)
    number = {step.event: k for k, step in enumerate(outline.steps)}
    assert number["event 3"] < number["event 40"] < number["event 100"]
    assert outline.order[number["event 3"], number["event 40"]]
    drawn = stories(script, 400, random_state=5)
    happened = np.mean([any(one.event == "event 40" for one in each.story) for each in drawn])
    (unit,) = [u for u in outline.units if u.steps == (number["event 40"],)]
    assert unit.happens == pytest.approx(happened, abs=0.1)


# What everybody told


@pytest.fixture(scope="module")
def always():
    """A script that lacks nothing in silence: everyone told c."""
    tellings = [["a", "b", "c", "d"], ["a", "c", "d"], ["a", "b", "c"], ["b", "c", "d"]] * 5
    return el.ScriptLearner().fit(tellings).script_


def test_no_step_is_told_so_surely_that_it_must_be(always):
    assert (always.elision[1:-1] > 0).all()
    step = next(step for step in always.made_from.steps if step.event == "c")
    assert (step.told, step.telling) == (1.0, pytest.approx(20.5 / 21))
    found = always.align(["a", "b", "d"])
    assert [step.state for step in found.steps if step.event is None] == ["c"]
    assert found.spurious == ()
    assert always.posterior(["a", "b", "d"]).silent[2].max() == pytest.approx(1.0)
    assert always.with_telling(None).log_prob(["a", "b", "d"]) > -math.inf


def test_what_everybody_told_is_left_out_of_sentences_too(always):
    for script in (always, sure_of(always, "c")):
        hard = script.between(["a", "b", "d"], min_probability=0)
        soft = script.between([{"a": 0.7}, {"b": 1.0}, "d"], min_probability=0)
        assert total(soft) == pytest.approx(total(hard), rel=CUT, abs=1e-5)
        assert script.align([{"a": 0.7}, "b", "d"]).spurious == ()
        assert script.align(["a", ...]).steps[0].event == "a"


def sure_of(script, event):
    """The script as files have it that were written before: the step is never left out."""
    steps = tuple(
        replace(step, telling=1.0) if step.event == event else step
        for step in script.made_from.steps
    )
    outline = replace(script.made_from, steps=steps)
    sharp = sharp_script(outline, script.events)
    assert (sharp.elision[1:-1] == 0).any()
    return sharp.with_telling(script.telling)
