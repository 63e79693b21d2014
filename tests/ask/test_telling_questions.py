"""What a telling model answers, against enumeration with its twin; and who answers what."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from itertools import combinations, permutations
from types import SimpleNamespace

import numpy as np
import pytest

import elision as el
import naive_telling as naive
from elision.ask.declared import QUESTIONS
from elision.ask.engine.evidence import BROKEN_OFF, OPEN, STRAY, Background, sheet_of
from elision.ask.fill import allowed_events
from elision.ask.heard import hear_all
from elision.ask.identify import Identifier, Witness
from elision.ask.telling import ahead, conformance, deviations, gaps, ordering, stretches
from elision.ask.telling.evidence import BY_MEMORY
from elision.ask.who import who
from elision.kernels.plain_tellings import LONGEST_HISTORY
from elision.values.telling import Calibration, Chain, Missing, TellingModel
from models import ATOL, RTOL

SEEDS = range(12)
NOTHING = np.empty(0, np.int64)


@pytest.fixture(autouse=True, scope="module")
def settings():
    """The twin has the settings of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(naive, "LONGEST_HISTORY", LONGEST_HISTORY)
        yield


def close(found, expected, **tolerance):
    np.testing.assert_allclose(found, expected, **({"rtol": RTOL, "atol": ATOL} | tolerance))


# Small models


def histories(rng, size):
    """Keys of all histories of one symbol and of some of two, and how many are of one."""
    symbols = size + 1
    longer = [
        node * symbols + symbol
        for node in range(1, size + 1)
        for symbol in np.flatnonzero(rng.random(symbols) < 0.5).tolist()
    ]
    return np.array([*range(symbols), *longer], np.int64), symbols


def random_chain(rng, size, *, with_histories, ending):
    symbols = size + 1
    keys, singles = histories(rng, size) if with_histories else (NOTHING, 0)
    after = rng.normal(size=(symbols, symbols))
    after[:, -1] += ending
    return Chain(
        after=after,
        memory=rng.normal(size=(size, symbols)),
        told=rng.normal(size=(size, symbols)),
        place=rng.normal(size=(int(rng.integers(1, 5)), symbols)),
        fade=float(rng.choice([0.0, 0.3, 0.8])),
        again=float(rng.normal()),
        total=float(rng.normal() / 2),
        average=float(rng.normal() / 2),
        keys=keys,
        singles=singles,
        history=rng.normal(size=(len(keys) - singles, symbols)),
    )


def bare_script(names):
    """One state that tells every event, and may do so again."""
    return el.Script.build(
        states={"all": dict.fromkeys(names, 1 / len(names))},
        edges={"start": {"all": 1}, "all": {"all": 0.5, "end": 0.5}},
    )


def twin(chain):
    if chain is None:
        return None
    return naive.Chain(*(getattr(chain, name) for name in naive.Chain._fields))


def small_case(seed, size=None, *, ending=0.0, missing=None, first=0):
    """A script with a telling model, of each kind in turn, and the twin of that model."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 6)) if size is None else size
    names = [f"e{number}" for number in range(first, first + size)]
    options = {"with_histories": seed % 3 != 0, "ending": ending}
    forward = random_chain(rng, size, **options)
    backward = random_chain(rng, size, **options) if seed % 2 == 0 else None
    model = TellingModel(names, forward, backward, missing=missing)
    bare = bare_script(names)
    return SimpleNamespace(
        rng=rng,
        size=size,
        names=names,
        model=model,
        bare=bare,
        script=bare.with_telling(model),
        teller=naive.Teller(twin(forward), twin(backward)),
    )


def named(case, items):
    """Items of the twin by name."""
    found = []
    for item in items:
        if isinstance(item, dict):
            found.append({case.names[event]: weight for event, weight in item.items()})
        else:
            found.append(item if item is None or item is ... else case.names[item])
    return found


def told_events(case, length):
    return case.rng.integers(case.size, size=length).tolist()


def with_gaps(case, length, number):
    items = told_events(case, length)
    for place in sorted(case.rng.choice(length, number, replace=False).tolist()):
        items[place] = None
    return items


def row_of(case, answers):
    """Probabilities of all events from ranked answers."""
    values = [one.probability for one in answers]
    assert values == sorted(values, reverse=True)
    found = np.zeros(case.size)
    for one in answers:
        found[case.names.index(one.event)] = one.probability
    return found


def one_line(caught):
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 400
    return message


@pytest.fixture(scope="module")
def learner():
    return el.ScriptLearner().fit(el.examples.doorbell_tellings())


# Gaps


@pytest.mark.parametrize("seed", SEEDS)
def test_one_gap_is_filled_with_every_event_in_turn(seed):
    case = small_case(seed)
    for length in (1, 2, 5, LONGEST_HISTORY + 2):
        items = with_gaps(case, length, 1)
        place = items.index(None)
        (found,) = case.script.fill(named(case, items))
        expected = naive.marginal(naive.completed(case.teller, items), place, case.size)
        assert found.position == place
        assert not found.fallback
        assert len(found.answers) == case.size
        close(row_of(case, found.answers), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_excluded_events_leave_their_probability_to_the_others(seed):
    case = small_case(seed)
    items = with_gaps(case, 4, 1)
    allowed = [event for event in range(case.size) if event not in {0, 2}]
    expected = naive.marginal(
        naive.completed(case.teller, items, allowed), items.index(None), case.size
    )
    (found,) = case.script.fill(named(case, items), exclude=["e0", "e2", "not an event"])
    close(row_of(case, found.answers), expected)
    assert {one.event for one in found.answers} == {case.names[event] for event in allowed}
    (same,) = case.script.fill(named(case, items), exclude=["e0", "e2"], top=1)
    assert same.answers == found.answers[:1]


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_count_beside_the_worth(seed):
    case = small_case(seed)
    items = [0, {0: 0.25, 2: 1.0}, None, 1, {1: 0.5, 0: 0.125}]
    chances = naive.completed(case.teller, items)
    (found,) = case.script.fill(named(case, items))
    assert found.position == 2
    close(row_of(case, found.answers), naive.marginal(chances, 2, case.size))


@pytest.mark.parametrize("seed", SEEDS)
def test_several_gaps_are_filled_each_by_itself(seed):
    case = small_case(seed)
    most = 4 if case.size == 3 else 3
    for number in range(2, most + 1):
        items = with_gaps(case, 5, number)
        chances = naive.completed(case.teller, items)
        found = case.script.fill(named(case, items))
        assert [one.position for one in found] == [
            i for i, item in enumerate(items) if item is None
        ]
        for one in found:
            close(row_of(case, one.answers), naive.marginal(chances, one.position, case.size))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("exclude", [(), ("e1",)])
def test_gaps_are_filled_together(seed, exclude):
    case = small_case(seed)
    allowed = [event for event in range(case.size) if case.names[event] not in exclude]
    items = [None, 0, {0: 0.5, 1: 1.0}, None, 2]
    chances = Counter()
    for told, chance in naive.completed(case.teller, items, allowed).items():
        chances[told[0], told[3]] += chance
    found = case.script.fill(named(case, items), joint=True, top=1000, exclude=exclude)
    assert found.exact
    assert found.positions == (0, 3)
    assert len(found.answers) == len(chances) == len(allowed) ** 2
    values = [one.probability for one in found.answers]
    assert values == sorted(values, reverse=True)
    for one in found.answers:
        close(one.probability, chances[tuple(case.names.index(event) for event in one.events)])
    few = case.script.fill(named(case, items), joint=True, top=2, exclude=exclude)
    assert few.answers == found.answers[:2]


@pytest.mark.parametrize("seed", SEEDS)
def test_many_fillings_are_not_all_looked_at(seed):
    case = small_case(seed, size=5)
    items = [0, None, None, 1, None, None]
    found = case.script.fill(named(case, items), joint=True)
    assert not found.exact
    assert len(found.answers) == 10
    chances = naive.completed(case.teller, items)
    best = max(chances, key=chances.get)
    answer = tuple(case.names.index(event) for event in found.answers[0].events)
    assert answer == tuple(best[place] for place in (1, 2, 4, 5))
    for one in case.script.fill(named(case, items)):
        row = row_of(case, one.answers)
        close(row.sum(), 1.0)
        close(row, naive.marginal(chances, one.position, case.size), atol=0.1)


def test_excluding_what_is_far_more_probable_leaves_probabilities():
    case = small_case(0, size=5)
    after = case.model.forward.after.copy()
    after[:, 0] += 2000
    chain = Chain(after, *(getattr(case.model.forward, name) for name in naive.Chain._fields[1:]))
    script = case.bare.with_telling(TellingModel(case.names, chain))
    for one in script.fill([None] * 5, exclude=["e0"]):
        close(row_of(case, one.answers).sum(), 1.0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("exclude", [(), ("e0",)])
def test_anywhere_tries_every_event_at_every_place(seed, exclude):
    case = small_case(seed)
    allowed = [event for event in range(case.size) if case.names[event] not in exclude]
    for items in ([], [1], told_events(case, 5), [0, None, 2], [{0: 0.5, 1: 0.25}, 2]):
        table = naive.inserted(case.teller, items, allowed)
        table /= table.sum()
        found = case.script.fill(named(case, items), anywhere=True, exclude=exclude)
        close(found.places, table.sum(axis=1))
        assert len(found.answers) == len(allowed)
        for one in found.answers:
            event = case.names.index(one.event)
            close(one.places, table[:, event])
            close(one.probability, table[:, event].sum())
            assert one.place == int(np.argmax(one.places))
        assert [one.probability for one in found.answers] == sorted(
            (one.probability for one in found.answers), reverse=True
        )
        best = case.script.fill(named(case, items), anywhere=True, exclude=exclude, top=1)
        assert best.answers == found.answers[:1]
        assert best.places == found.places


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_many_narratives_are_filled_as_one_by_one(seed, threads):
    case = small_case(seed)
    told = [with_gaps(case, int(case.rng.integers(1, 8)), 1) for _ in range(2 * gaps.CHUNK + 9)]
    told += [with_gaps(case, 6, number) for number in (2, 3, 5)]
    told.append([None, {0: 0.5, 1: 1.0}, 2])
    narratives = [named(case, items) for items in told]
    el.set_threads(threads)
    try:
        found = case.script.fill_many(narratives, top=2, exclude=["e1"])
    finally:
        el.set_threads(None)
    assert found == [case.script.fill(one, top=2, exclude=["e1"]) for one in narratives]


# Stretches


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "items", [[0, ..., 1], [..., 2], [1, ...], [0, ..., None, 1], [{0: 0.5, 2: 0.25}, ..., 1]]
)
def test_stretches_hold_any_number_of_events(seed, items):
    case = small_case(seed, size=3, ending=4.0)
    chances = naive.stretched(case.teller, items, 4)
    place = items.index(...)
    courses, counts, expected = Counter(), np.zeros(5), np.zeros(case.size)
    for parts, chance in chances.items():
        courses[parts[place]] += chance
        counts[len(parts[place])] += chance
        np.add.at(expected, list(parts[place]), chance)
    answers = {one.position: one for one in case.script.fill(named(case, items), top=20)}
    found = answers[place]
    assert not found.exact
    assert found.more == 0.0
    close(sum(found.counts), 1.0)
    few = min(len(found.counts), 5)
    enumerated = sum(found.counts[:few])
    assert enumerated > 0.98
    close(np.array(found.counts[:few]) / enumerated, counts[:few], rtol=0, atol=1e-3)
    assert counts[few:].sum() < 1e-3
    for one in found.courses:
        course = tuple(case.names.index(event) for event in one.events)
        if len(course) < 5:
            close(one.probability / enumerated, courses[course], rtol=0, atol=1e-3)
    for one in found.answers:
        event = case.names.index(one.event)
        close(one.expected, expected[event], rtol=0, atol=1e-3 + 10 * (1 - enumerated))
    if None in items:
        gap = items.index(None)
        row = np.zeros(case.size)
        for parts, chance in chances.items():
            row[parts[gap]] += chance
        close(row_of(case, answers[gap].answers), row, rtol=0, atol=1e-3 + 2 * (1 - enumerated))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("items", [[..., 0, ...], [0, ..., ..., 1]])
def test_two_stretches_share_what_is_missing(seed, items):
    case = small_case(seed, size=3, ending=5.0)
    chances = naive.stretched(case.teller, items, 3, [0, 2])
    found = case.script.fill(named(case, items), top=3, exclude=["e1"])
    assert [one.position for one in found] == [i for i, item in enumerate(items) if item is ...]
    for one in found:
        courses = Counter()
        for parts, chance in chances.items():
            courses[parts[one.position]] += chance
        assert {event for course in one.courses for event in course.events} <= {"e0", "e2"}
        for answer in one.courses:
            course = tuple(case.names.index(event) for event in answer.events)
            close(answer.probability, courses[course], rtol=0, atol=3e-3)


def test_a_stretch_ends_even_where_tellings_hardly_do():
    case = small_case(1, size=3, ending=-6.0)
    (found,) = case.script.fill(["e0", ..., "e1"], top=1)
    assert len(found.counts) <= stretches.MOST_INSERTED + 1
    assert len(found.courses) == 1
    close(sum(found.counts), 1.0)


# What an observation stands for


@pytest.mark.parametrize("seed", SEEDS)
def test_ambiguous_observations_are_resolved_by_the_rest(seed):
    case = small_case(seed)
    items = [{0: 0.5, 1: 0.25}, 2, None, {1: 1.0, 2: 0.125}]
    chances = naive.completed(case.teller, items)
    found = case.script.resolve(named(case, items))
    assert [one.position for one in found] == [0, 2, 3]
    for one in found:
        row = naive.marginal(chances, one.position, case.size)
        weights = items[one.position] or dict.fromkeys(range(case.size), 1.0)
        assert len(one.candidates) == len(weights)
        for candidate in one.candidates:
            event = case.names.index(candidate.event)
            close(candidate.probability, row[event])
            close(candidate.weight, weights[event] / sum(weights.values()))
        values = [candidate.probability for candidate in one.candidates]
        assert values == sorted(values, reverse=True)
    top = case.script.resolve(named(case, items), top=1)
    assert [one.candidates for one in top] == [one.candidates[:1] for one in found]


@pytest.mark.parametrize("candidates", [["e0", "e1"], {"e0": 1.0, "e1": 1.0}])
def test_vague_lines_may_have_candidates(candidates):
    case = small_case(4)
    (found,) = case.script.resolve([None, "e2"], candidates=candidates)
    expected = naive.completed(case.teller, [{0: 1.0, 1: 1.0}, 2])
    assert len(found.candidates) == 2
    for one in found.candidates:
        close(one.probability, expected[case.names.index(one.event), 2])


@pytest.mark.parametrize("candidates", [[], ["other"], {"e0": 2.0}])
def test_candidates_that_are_none_are_refused(candidates):
    with pytest.raises(el.InputError) as caught:
        small_case(4).script.resolve(["e2", None], candidates=candidates)
    one_line(caught)


def test_nothing_ambiguous_is_refused():
    with pytest.raises(el.InputError, match="ambiguous"):
        small_case(4).script.resolve(["e0", "e1"])


# From left to right


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "items", [[], [0, 2], [1, 1, 0, 2, 2, 1, 0], [None, 1], [{0: 0.5, 2: 1.0}]]
)
def test_next_events_are_those_of_every_continuation(seed, items):
    case = small_case(seed, size=3 + seed % 2)
    found = case.script.next(named(case, items), steps=3)
    begun = [case.teller.begins(told) + w for told, w in naive.ways(items, case.size)]
    close(found.log_prob, naive.log_sum(begun))
    assert found.answers == found.steps[0].answers
    assert found.ended == found.steps[0].ended
    for number, step in enumerate(found.steps, start=1):
        if len(begun) * case.size ** (number - 1) > ahead.FOLLOWED:
            continue
        chances, ended = naive.followed(case.teller, items, number)
        close(row_of(case, step.answers), chances)
        close(step.ended, ended, atol=1e-9)
        close(math.fsum([step.ended, *(one.probability for one in step.answers)]), 1.0)
    first = case.script.next(named(case, items), top=2)
    assert len(first.steps) == 1
    assert [one.event for one in first.answers] == [one.event for one in found.answers[:2]]


@pytest.mark.parametrize("ending", [-3.0, 0.0, 8.0])
def test_far_ahead_probabilities_still_sum_to_one(ending):
    case = small_case(3, size=4, ending=ending)
    found = case.script.next(["e0", None, None], steps=60)
    for step in found.steps:
        close(math.fsum([step.ended, *(one.probability for one in step.answers)]), 1.0)
    ended = [step.ended for step in found.steps]
    assert ended == sorted(ended)
    assert ended[-1] <= 1 + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_log_probabilities_sum_over_what_is_open(seed):
    case = small_case(seed)
    tellings = [[], [0], told_events(case, 9), [None], [0, None, 1], [{0: 0.5, 2: 0.25}, None, 1]]
    expected = [
        naive.log_sum([case.teller.log_prob(told) + w for told, w in naive.ways(items, case.size)])
        for items in tellings
    ]
    narratives = [named(case, items) for items in tellings]
    close(case.script.log_probs(narratives), expected)
    assert [case.script.log_prob(one) for one in narratives] == pytest.approx(expected, rel=RTOL)
    assert case.script.log_probs([]).shape == (0,)


# Orders


def orders_of(case, events):
    """Share of each order of some events among all of them."""
    return naive.shares({told: case.teller.worth(told) for told in set(permutations(events))})


def right_pairs(chances, told):
    """Expected number of pairs of different events in the right order; equal ones stay."""
    total = 0.0
    counted = copies(told)
    for other, share in chances.items():
        rank = {one: place for place, one in enumerate(copies(other))}
        total += share * sum(rank[one] < rank[two] for one, two in combinations(counted, 2))
    return total


def copies(told):
    """Each event with how often it was told before."""
    return [(event, told[:place].count(event)) for place, event in enumerate(told)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("events", [[1], [0, 1, 2], [2, 0, 0, 1], [0, 1, 2, 1, 0], [1, 1]])
def test_all_orders_are_weighed(seed, events):
    case = small_case(seed)
    chances = orders_of(case, events)
    found = case.script.order(named(case, events), top=1000)
    assert found.exact
    assert len(found.likeliest) == len(chances)
    assert Counter(found.events) == Counter(named(case, events))
    values = [one.share for one in found.likeliest]
    assert values == sorted(values, reverse=True)
    for one in found.likeliest:
        told = tuple(case.names.index(event) for event in one.events)
        close(one.share, chances[told])
        close(one.log_prob, case.teller.log_prob(told))
    agreed = tuple(case.names.index(event) for event in found.events)
    close(
        right_pairs(chances, agreed), max(right_pairs(chances, told) for told in chances), rtol=1e-9
    )
    places = copies(agreed)
    for i, one in enumerate(places):
        for j, two in enumerate(places):
            expected = sum(
                share
                for told, share in chances.items()
                if copies(told).index(one) < copies(told).index(two)
            )
            close(found.before[i, j], expected)
    assert np.array_equal(found.before, found.precedence)
    assert case.script.order(named(case, events)).likeliest == found.likeliest[:1]


def test_five_different_events_are_put_into_the_order_of_most_right_pairs():
    for seed in range(20):
        case = small_case(seed, size=5)
        chances = orders_of(case, range(5))
        found = case.script.order(case.names)
        agreed = tuple(case.names.index(event) for event in found.events)
        best = max(right_pairs(chances, told) for told in chances)
        close(right_pairs(chances, agreed), best)


def test_the_given_order_says_nothing():
    case = small_case(2)
    names = [case.names[event] for event in (2, 0, 1)]
    listed = case.script.order(names)
    for given in (set(names), frozenset(names), iter(names), tuple(sorted(names))):
        found = case.script.order(given)
        assert found.events == listed.events
        assert found.likeliest[0].events == listed.likeliest[0].events


def test_an_ambiguous_event_is_ordered_as_its_likeliest():
    case = small_case(2)
    found = case.script.order(["e2", {"e0": 0.25, "e1": 0.5}])
    assert found.events == case.script.order(["e2", "e1"]).events


@pytest.mark.parametrize("seed", SEEDS)
def test_many_events_are_ordered_by_a_search(seed):
    case = small_case(seed, size=4)
    events = [0, 0, 1, 1, 2, 3, 3]
    chances = orders_of(case, events)
    found = case.script.order(named(case, events), top=50)
    assert not found.exact
    assert found.before is None
    assert Counter(found.events) == Counter(named(case, events))
    tellings = [one.events for one in found.likeliest]
    assert len(set(tellings)) == len(tellings) == 50
    first = chances[tuple(case.names.index(event) for event in tellings[0])]
    assert first > max(chances.values()) / 2
    assert all(one.share is None for one in found.likeliest)
    assert found.precedence.shape == (7, 7)
    pairs = found.precedence + found.precedence.T
    close(pairs[~np.eye(7, dtype=bool)], 1.0)
    placed = copies(list(found.events))
    for i, j in combinations(range(7), 2):
        if placed[i][0] == placed[j][0]:
            assert found.precedence[i, j] == pytest.approx(1.0)


def test_orders_without_a_meaning_are_refused():
    script = small_case(2).script
    for events in (
        ["e0", None],
        [None],
        ["e0", "other"],
        ["e0", ...],
        ["e0", 5],
        "e0",
        [{"e0": 7}],
    ):
        with pytest.raises(el.InputError) as caught:
            script.order(events)
        one_line(caught)
    assert script.order(["e0", "other"], unknown="ignore").events == ("e0",)


def test_nothing_is_in_order():
    found = small_case(2).script.order([])
    assert found.events == ()
    assert found.likeliest[0].events == ()
    assert found.likeliest[0].share == 1.0


# Drawn tellings


def numbers_of(case, tellings):
    return [tuple(case.names.index(event) for event in one) for one in tellings]


def fits(drawn, chances):
    """Whether frequencies are as far from probabilities as chance has it (chi-square)."""
    often = Counter(drawn)
    expected = {one: chance * len(drawn) for one, chance in chances.items()}
    usual = {one: value for one, value in expected.items() if value >= 5}
    rest = len(drawn) - sum(usual.values())
    total = sum((often[one] - value) ** 2 / value for one, value in usual.items())
    if rest > 5:
        total += (len(drawn) - sum(often[one] for one in usual) - rest) ** 2 / rest
    bins = len(usual) + 1
    return total < bins + 5 * math.sqrt(2 * bins)


def distance(drawn, chances):
    """Total variation between frequencies and probabilities."""
    often = Counter(drawn)
    found = sum(abs(often[one] / len(drawn) - chances.get(one, 0.0)) for one in {*often, *chances})
    return found / 2


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_tellings_are_drawn_as_often_as_they_are_probable(seed):
    case = small_case(seed, size=3, ending=1.0)
    drawn = numbers_of(case, case.script.sample(6000, random_state=5))
    chances = {
        told: math.exp(case.teller.log_prob(told))
        for length in range(5)
        for told in naive.all_tellings(3, length)
    }
    assert fits(drawn, chances)
    assert case.script.sample(3, random_state=5) == case.script.sample(3, random_state=5)
    assert case.script.sample(0) == []


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("length", [0, 1, 3])
def test_tellings_of_a_length_are_drawn_by_their_probability(seed, length):
    case = small_case(seed, size=3)
    drawn = numbers_of(case, case.script.sample(5000, random_state=3, length=length))
    chances = naive.completed(naive.Teller(case.teller.forward), [None] * length)
    assert {len(one) for one in drawn} == {length}
    assert distance(drawn, chances) < 0.06
    assert case.script.sample(0, length=length) == []


def test_a_single_telling_of_a_length_is_drawn_like_many():
    case = small_case(3, size=3)
    alone = [case.script.sample(1, random_state=k, length=2)[0] for k in range(500)]
    chances = naive.completed(naive.Teller(case.teller.forward), [None] * 2)
    assert distance(numbers_of(case, alone), chances) < 0.08


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_tellings_are_drawn_to_fit_a_narrative(seed):
    case = small_case(seed, size=3)
    items = [0, None, {1: 0.5, 2: 0.25}]
    drawn = numbers_of(case, case.script.sample(4000, random_state=3, given=named(case, items)))
    assert fits(drawn, naive.completed(naive.Teller(case.teller.forward), items))
    assert case.script.sample(2, given=["e0", "e1"]) == [["e0", "e1"]] * 2
    assert case.script.sample(2, given=[]) == [[], []]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_stretch_at_the_end_is_drawn(seed):
    case = small_case(seed, size=3, ending=1.0)
    given = [None, "e1", ...]
    drawn = numbers_of(case, case.script.sample(4000, random_state=3, given=given))
    begun = naive.log_sum([case.teller.begins((event, 1)) for event in range(3)])
    chances = {
        (event, 1, *more): math.exp(case.teller.log_prob((event, 1, *more)) - begun)
        for event in range(3)
        for length in range(4)
        for more in naive.all_tellings(3, length)
    }
    assert all(one[1] == 1 for one in drawn)
    assert fits(drawn, chances)
    anything = case.script.sample(5, random_state=3, given=[...])
    assert anything == case.script.sample(5, random_state=3, given=iter([...]))


def test_drawing_that_cannot_be_is_refused():
    script = small_case(1).script
    for options in (
        {"given": ["e0", ..., "e1"]},
        {"given": [..., "e1"]},
        {"given": ["e0"], "length": 1},
        {"length": -1},
        {"given": ["other"]},
        {"random_state": -1},
    ):
        with pytest.raises(el.InputError) as caught:
            script.sample(2, **options)
        one_line(caught)
    assert script.sample(1, given=["e0", "other"], unknown="ignore") == [["e0"]]


# How well a telling fits


def expected_surprises(case, items):
    """What is open counts as the likeliest of all ways to fill it, for what comes after it."""
    chances = naive.completed(case.teller, items)
    best = max(chances, key=chances.get)
    found = []
    for place, item in enumerate(items):
        weights = dict.fromkeys(range(case.size), 1.0) if item is None else item
        weights = weights if isinstance(weights, dict) else {weights: 1.0}
        following = case.teller.ahead(best[:place])
        found.append(
            -math.log(sum(weight * math.exp(following[event]) for event, weight in weights.items()))
        )
    return found, -case.teller.ahead(best)[-1]


@pytest.mark.parametrize("seed", SEEDS)
def test_surprises_are_the_steps_of_the_twin(seed):
    case = small_case(seed, missing=Missing(-1.0, 1.0, -1.0))
    for items in (
        [],
        told_events(case, 6),
        [0, None, 1],
        [{0: 0.5, 2: 0.25}, 1, None],
        [1, {2: 0.5}],
    ):
        found = case.script.score(named(case, items), samples=0)
        surprises, ending = expected_surprises(case, items)
        close(found.surprises, surprises)
        close(found.ending, ending)
        close(found.log_prob, -math.fsum([*surprises, ending]))
        assert found.p_value is None
        assert math.isfinite(found.oddness)
        assert found.possible
        if all(isinstance(item, int) for item in items):
            close(found.log_prob, case.teller.log_prob(tuple(items)))


@pytest.mark.parametrize("seed", SEEDS)
def test_unknown_events_are_flagged_and_left_out(seed):
    case = small_case(seed)
    found = case.script.score(["e0", "sneeze", "e1", {"cough": 1.0}], samples=0)
    without = case.script.score(["e0", "e1"], samples=0)
    assert found.told == ("e0", "sneeze", "e1", "cough")
    assert found.surprises[1] is found.surprises[3] is None
    assert (found.surprises[0], found.surprises[2]) == without.surprises
    assert found.log_prob == without.log_prob
    assert not found.possible
    unknown = [flag for flag in found.flags if flag.kind == "unknown"]
    assert [(flag.position, flag.event) for flag in unknown] == [(1, "sneeze"), (3, "cough")]
    assert found.oddness > without.oddness
    with pytest.raises(el.InputError, match="narrative 1, event 1: unknown event 'sneeze'"):
        case.script.conform([["e0"], ["e0", "sneeze"]], unknown="error", samples=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_p_values_are_shares_of_drawn_tellings(seed):
    case = small_case(seed, ending=5.0)
    told = case.script.sample(8, random_state=seed)
    drawn = case.script.sample(29, random_state=np.random.default_rng(7))
    odd = np.array([one.oddness for one in case.script.conform(drawn, samples=0)])
    for found in case.script.conform(told, samples=29, random_state=7):
        assert found.p_value == (1 + sum(odd >= found.oddness - conformance.ALIKE)) / 30


def test_p_values_are_shares_of_the_tellings_held_out():
    case = small_case(0)
    model = case.script.telling.with_calibration(Calibration.of([3.0, -2.0, -100.0], 0.01))
    script = case.script.with_telling(model)
    found = script.score(["e0", "e1"], samples=0)
    known = np.array([3.0, -2.0, -100.0])
    assert found.p_value == (1 + sum(known >= found.oddness - conformance.ALIKE)) / 4
    assert found.odd == (found.p_value <= 0.05)
    assert script.score(["e0", "e1"], false_alarms=0.99).odd == (found.p_value <= 0.99)
    for wrong in (0, 1, "5 %", True, math.nan):
        with pytest.raises(el.InputError, match="expected a number between 0 and 1"):
            script.score(["e0"], false_alarms=wrong)


def test_oddness_weighs_every_deviation():
    case = small_case(0, size=3, ending=1.0)
    told = (0, 2, 0)
    swaps = {(2, 0, 0), (0, 0, 2)}
    parts = [case.teller.worth(one) - math.log(4 * 2 * 2) for one in swaps]
    # Over a distance: the first and the last event go past both others, which changes one place.
    parts += [case.teller.worth(one) - math.log(4 * 2 * 2) for one in ((2, 0, 0), (0, 0, 2))]
    for i in range(3):
        rest = (*told[:i], *told[i + 1 :])
        parts.append(case.teller.worth(rest) - math.log(4 * 3 * 3))
        parts += [
            case.teller.worth((*told[:i], event, *told[i + 1 :])) - math.log(4 * 3 * 3)
            for event in range(3)
            if event != told[i]
        ]
    parts += [
        case.teller.worth((*told[:i], event, *told[i:])) - math.log(4 * 4)
        for i in range(4)
        for event in range(3)
    ]
    found = case.script.score(named(case, told), samples=0)
    close(found.oddness, naive.log_sum(parts) - case.teller.worth(told))


@pytest.mark.parametrize("seed", SEEDS)
def test_undoing_a_deviation_gains_what_it_says(seed):
    case = small_case(seed, size=4)
    model = case.script.telling
    for told in ((0, 1, 2, 3), (3, 3, 0), (1,), ()):
        weighed = deviations.weigh(model, np.array(told, np.int64))
        deviation = weighed.likeliest()
        undone = tuple(deviations.undone(weighed.told, deviation).tolist())
        close(deviation.gain, case.teller.worth(undone) - case.teller.worth(told))
        assert 0 <= deviation.chance <= deviations.chance_of(weighed.oddness) + 1e-12


def test_fitness_is_one_for_the_usual_course_and_falls_with_every_fault(learner):
    usual = ["hear doorbell", "walk to door", "open door", "greet visitor", "close door"]
    worse = [usual, [*usual, "sneeze"], ["cough", *usual, "sneeze"], ["cough", "sneeze"]]
    found = [learner.score(one).fitness for one in worse]
    assert found[0] == 1.0
    assert sorted(found, reverse=True) == found
    assert len(set(found)) == len(found)
    assert found[-1] == 0.0
    swapped = learner.score(["close door", "open door", "hear doorbell"])
    assert 0 < swapped.fitness < 0.9
    assert swapped.odd
    assert swapped.deviations.out_of_order > 0.5
    assert all(0 <= flag.probability <= 1 for flag in swapped.flags)


def test_what_is_learned_from_is_not_called_odd(learner):
    found = learner.conform(el.examples.doorbell_tellings())
    assert not any(one.odd or one.flags for one in found)


def test_logs_are_summed_up(learner):
    usual = ["hear doorbell", "walk to door", "open door", "greet visitor", "close door"]
    odd = ["close door", "open door", "hear doorbell", "sneeze"]
    found = learner.conform([usual, odd, usual])
    variants = found.by_variant()
    assert [row["tellings"] for row in variants] == [2, 1]
    assert [row["odd"] for row in variants.flagged()] == [True]
    steps = {row["step"]: row for row in found.by_step()}
    assert steps["hear doorbell"]["told"] == 3
    assert steps["sneeze"]["superfluous"] == 1
    assert sum(row["out_of_order"] for row in steps.values()) >= 1
    assert list(found.by_step().to_frame()["step"]) == list(steps)
    assert str(variants).count("\n") == 2
    assert str(learner.conform([]).by_step()).startswith("step")


def test_a_model_that_hardly_tells_anything_finds_nothing_infinitely_odd():
    script = small_case(0, ending=60.0).script
    for told in ([], ["e0"], [None], ["sneeze"]):
        assert math.isfinite(script.score(told, samples=9).oddness)


def test_a_swapped_telling_is_flagged(learner):
    usual = ["hear doorbell", "walk to door", "open door", "greet visitor", "close door"]
    swapped = ["open door", "walk to door", "hear doorbell", "greet visitor", "close door"]
    fine, odd = learner.conform([usual, swapped], samples=200)
    assert not [flag for flag in fine.flags if flag.kind == "out of order"]
    assert [flag for flag in odd.flags if flag.kind == "out of order"]
    assert odd.oddness > fine.oddness
    assert odd.p_value < fine.p_value
    assert odd.log_prob < fine.log_prob
    assert "out of order" in str(odd)


def test_a_repeated_event_is_flagged(learner):
    told = ["hear doorbell", "walk to door", "open door", "walk to door", "greet visitor"]
    told += ["let visitor in", "close door"]
    found = learner.score(told, samples=0, false_alarms=0.5)
    assert ("repeated", 3) in [(flag.kind, flag.position) for flag in found.flags]


def test_what_is_no_list_of_tellings_is_not_scored(learner):
    for wrong in ("open door", 5, {"open door": 1.0}, ["open door", 7], ["open door", ..., None]):
        with pytest.raises(el.InputError) as caught:
            learner.score(wrong, samples=0)
        one_line(caught)


def test_names_of_narratives_are_kept(learner):
    narratives = [el.Narrative(("open door",), id="monday"), ["open door"]]
    answer = who(learner.script_, "conform")
    assert answer(learner.script_, narratives, samples=0).ids == ("monday", None)


# What is missing from the record


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_missing_follows_from_the_odds(seed):
    missing = Missing(-0.5, 0.8, -0.6)
    case = small_case(seed, missing=missing)
    for items in ([], [0], told_events(case, 4), [0, None, 1], [{0: 0.5, 2: 0.25}, 1]):
        odds = np.log(naive.inserted(case.teller, items))
        value = missing.constant + missing.odds * odds
        value += missing.rivals * math.log(np.exp(odds).sum())
        expected = 1 / (1 + np.exp(-value))
        found = case.script.missing(named(case, items), min_probability=0.0)
        assert len(found.places) == len(items) + 1
        for row, omitted in zip(expected, found.places, strict=True):
            close(row_of(case, omitted), row)
        some = case.script.missing(named(case, items), min_probability=0.1)
        assert some.places == tuple(
            tuple(one for one in omitted if one.probability >= 0.1) for omitted in found.places
        )


def test_certainly_missing_events_are_put_in_one_after_the_other():
    case = small_case(0, missing=Missing(3.0, 1.0, -1.0))
    told = [case.names[event] for event in (0, 1, 0)]
    found = case.script.missing(told)
    assert [one.event for one in found.repaired if one.told] == told
    put = [one for one in found.repaired if not one.told]
    assert put
    assert all(one.probability > 0.5 for one in put)
    assert all(one.probability == 1.0 for one in found.repaired if one.told)
    first = max((one.probability, one.event) for place in found.places for one in place)
    assert first in [(one.probability, one.event) for one in put]
    assert len(found.repaired) <= 2 * len(told) + case.size


@pytest.mark.parametrize("seed", SEEDS)
def test_without_a_notion_of_missing_nothing_is(seed):
    case = small_case(seed)
    found = case.script.missing(["e0", "e1"], min_probability=0.0)
    assert found.places == ((), (), ())
    assert [one.event for one in found.repaired] == ["e0", "e1"]


def test_a_script_alone_takes_its_silences_for_missing():
    script = el.examples.doorbell()
    told = ["hear doorbell", "open door"]
    found = script.missing(told, min_probability=0.01)
    story = script.between(told, min_probability=0.01)
    assert found.told == tuple(told)
    for omitted, unsaid in zip(found.places, story.unsaid, strict=True):
        expected = {one.event: one.probability for one in unsaid}
        assert {one.event: one.probability for one in omitted} == pytest.approx(expected)
    assert [one.event for one in found.repaired if one.told] == told
    assert "walk to door" in [one.event for one in found.repaired]


def test_a_learned_script_finds_what_was_hidden(learner):
    told = ["hear doorbell", "walk to door", "greet visitor", "let visitor in", "close door"]
    found = learner.missing(told)
    best = max((one.probability, one.event) for place in found.places for one in place)
    assert best[1] == "open door"


@pytest.mark.parametrize("min_probability", [-0.1, 1.5, True, "much", None, math.nan])
def test_a_least_probability_that_is_none_is_refused(min_probability):
    for script in (small_case(0).script, el.examples.doorbell()):
        with pytest.raises(el.InputError, match="min_probability") as caught:
            script.missing([], min_probability=min_probability)
        one_line(caught)


# What learners answer in arrays


def test_predictions_are_the_answers(learner):
    script = learner.script_
    names = list(script.events)
    assert script.telling is not None
    assert tuple(names) == learner.events_
    told = ["hear doorbell", "walk to door", "open door", "close door"]
    opened = ["hear doorbell", None, "open door", None]
    soft = [{"walk to door": 0.5, "open door": 0.25}, "close door"]
    by_name = {name: number for number, name in enumerate(names)}

    def row(answers):
        found = np.zeros(len(names))
        for one in answers:
            found[by_name[one.event]] = one.probability
        return found

    gap = ["hear doorbell", None, "open door"]
    close(learner.predict_gap([gap])[0], row(script.fill(gap)[0].answers))
    (both,) = learner.predict_gaps([opened])
    close(both, [row(one.answers) for one in script.fill(opened)])
    tellings = (told, soft, [])
    for one, found in zip(tellings, learner.predict_anywhere(tellings), strict=True):
        close(found, row(script.fill(one, anywhere=True).answers))
    for one, found in zip(tellings, learner.predict_hidden(tellings), strict=True):
        expected = [row(place) for place in script.missing(one, min_probability=0.0).places]
        close(found, expected)
    beginnings = (told[:2], [], ["hear doorbell", None], soft)
    for one, found in zip(beginnings, learner.predict_next(beginnings), strict=True):
        answer = script.next(one)
        close(found, np.append(row(answer.answers), answer.ended))
        close(found.sum(), 1.0)
    close(learner.score_samples([told]), script.log_probs([told]))
    with pytest.raises(el.InputError, match="gap"):
        learner.predict_gap([told])
    with pytest.raises(el.InputError, match="2 gaps"):
        learner.predict_gap([opened])


@pytest.mark.parametrize("seed", [0, 1])
def test_arrays_of_a_script_alone_agree_as_well(seed):
    case = small_case(seed, missing=Missing(-1.0, 1.0, -1.0))
    for script in (case.script, case.bare):
        every = allowed_events(script, ())
        heard = hear_all(script, [["e0", None, "e1", None], [None, "e2"]])
        found = who(script, "gap_chances")(script, heard, every)
        expected = script.fill_many([["e0", None, "e1", None], [None, "e2"]])
        for rows, fillings in zip(found, expected, strict=True):
            close(rows, [row_of(case, one.answers) for one in fillings])
        found = who(script, "anywhere_chances")(script, ["e0", "e1"], every)
        close(found.sum(axis=1), script.fill(["e0", "e1"], anywhere=True).places)
        (found,) = who(script, "missing_chances")(script, [["e0", "e1"]])
        omitted = script.missing(["e0", "e1"], min_probability=0.0).places
        close(found, [row_of(case, place) for place in omitted])
        (found,) = who(script, "next_chances")(script, [["e0", None]])
        answer = script.next(["e0", None])
        close(found, np.append(row_of(case, answer.answers), answer.ended))


# Which script a telling is of


def two_scripts():
    """Two scripts that share the events e2 and e3, and an identifier of both."""
    cases = {"one": small_case(0, size=4), "two": small_case(1, size=4, first=2)}
    sheets = [sheet_of(case.script, None) for case in cases.values()]
    priors = np.array([0.5, 0.5])
    identifier = Identifier(list(cases), sheets, priors, lambda name: Witness(cases[name].script))
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
    (stretch,) = script.fill([*told, ...])
    close(sum(stretch.counts), 1.0)
    with pytest.raises(el.InputError, match="exclude"):
        script.fill([*told, None], exclude=["e0"])


ASKED = {
    "fill": lambda script, told, **o: script.fill([*told, None], **o),
    "fill jointly": lambda script, told, **o: script.fill([*told, None], joint=True, **o),
    "fill anywhere": lambda script, told, **o: script.fill(told, anywhere=True, **o),
    "fill a stretch": lambda script, told, **o: script.fill([*told, ...], **o),
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
    if question not in {"fill", "fill a stretch", "fill many", "resolve", "score", "fill jointly"}:
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


@pytest.mark.parametrize(
    "question", ["fill", "fill jointly", "fill anywhere", "fill a stretch", "fill many"]
)
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
    assert math.factorial(len(told)) > ordering.MOST_ORDERS
    wide, narrow = (case.script.order(told, beam=beam).likeliest[0] for beam in (200, 1))
    assert case.model.worths([numbers_of(case, [wide.events])[0]])[0] >= (
        case.model.worths([numbers_of(case, [narrow.events])[0]])[0] - 1e-9
    )
    for beam in (0, -1, True, "wide"):
        with pytest.raises(el.InputError, match="beam"):
            case.script.order(told, beam=beam)
