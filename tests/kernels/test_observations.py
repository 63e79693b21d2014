from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
from elision.values.observations import Packed, Packer, real, short
from models import EXAMPLES, RTOL, events, observations

WORDS = ("hear", "walk", "open")


def refused(narratives, problem, error=el.InputError, unknown="error", **options):
    """Check that packing fails with one line that says `problem`."""
    with pytest.raises(error, match=problem) as caught:
        Packer(WORDS, unknown=unknown).pack(narratives, **options)
    text = str(caught.value)
    assert text.isprintable(), repr(text)
    assert len(text) <= 400
    return caught.value


def unpacked(packed, count):
    """Return the given narratives in the notation of `naive`: numbers, None, lists of weights."""

    def item(symbol):
        if symbol < count:
            return int(symbol)
        weights = packed.soft[symbol - count].tolist()
        return None if weights == [1.0] * count else weights

    pieces = [
        [item(symbol) for symbol in packed.symbol[first:last]]
        for first, last in zip(packed.offset, packed.offset[1:], strict=False)
    ]
    return [pieces[place] for place in packed.place]


def named(narrative, words):
    """Return a narrative in the notation of `naive` as the packer takes it."""
    return [
        words[item]
        if isinstance(item, int)
        else item and {word: weight for word, weight in zip(words, item, strict=True) if weight}
        for item in narrative
    ]


# Packing


def test_identical_narratives_are_packed_once_and_weighted():
    packed = Packer(WORDS).pack([["hear"], ["hear", "open"], ["hear"], ["open"], ["hear"]])
    assert len(packed) == 3
    assert packed.symbol.tolist() == [0, 2, 0, 2]
    assert packed.offset.tolist() == [0, 2, 3, 4]
    assert packed.weight.tolist() == [1, 3, 1]
    assert packed.place.tolist() == [1, 0, 1, 2, 1]
    assert packed.soft.shape == (0, 3)


def test_arrays_have_the_types_that_the_kernels_ask_for():
    for narratives in ([], [[]], [["hear", None]], [["hear"]] * 3):
        packed = Packer(WORDS).pack(narratives)
        fields = [field.name for field in dataclasses.fields(packed)]
        types = {name: getattr(packed, name).dtype for name in fields}
        assert types == {
            "symbol": np.uint32,
            "offset": np.int64,
            "weight": np.float64,
            "place": np.int64,
            "soft": np.float64,
        }


def test_longest_first_and_otherwise_as_given():
    given_ = [["open"], [], ["walk"], ["hear", "walk", "open"], ["hear"], ["walk", "open"]]
    packed = Packer(WORDS).pack(given_)
    assert np.diff(packed.offset).tolist() == [3, 2, 1, 1, 1, 0]
    assert packed.symbol.tolist() == [0, 1, 2, 1, 2, 2, 1, 0]
    assert packed.place.tolist() == [2, 5, 3, 0, 4, 1]


def test_no_narratives_at_all():
    packed = Packer(WORDS).pack([])
    assert len(packed) == 0
    assert packed.offset.tolist() == [0]
    assert [len(array) for array in (packed.symbol, packed.weight, packed.place)] == [0, 0, 0]
    assert packed.soft.shape == (0, 3)


def test_a_narrative_without_events_is_one():
    packed = Packer(WORDS).pack([[], []])
    assert len(packed) == 1
    assert packed.weight.tolist() == [2]
    assert packed.offset.tolist() == [0, 0]


def test_none_is_a_symbol_that_any_event_fits():
    packed = Packer(WORDS).pack([["hear", None, None], [None]])
    assert packed.symbol.tolist() == [0, 3, 3, 3]
    assert packed.soft.tolist() == [[1, 1, 1]]


def test_soft_events_have_a_row_of_weights_each():
    one, same = {"open": 0.5, "hear": 0.25}, {"hear": 0.25, "open": 0.5, "walk": 0}
    packed = Packer(WORDS).pack([[one, "walk"], [same, {"walk": 1}]])
    assert packed.symbol.tolist() == [3, 1, 3, 4]
    assert packed.soft.tolist() == [[0.25, 0, 0.5], [0, 1, 0]]


def test_none_is_the_mapping_that_gives_everything_one():
    packed = Packer(WORDS).pack([[None], [dict.fromkeys(WORDS, 1)], [dict.fromkeys(WORDS, 0.5)]])
    assert packed.weight.tolist() == [2, 1]
    assert packed.soft.tolist() == [[1, 1, 1], [0.5, 0.5, 0.5]]


def test_certain_weights_are_a_soft_event_still():
    """Weights need not be probabilities, so {"hear": 1} is not spelled "hear"."""
    packed = Packer(WORDS).pack([["hear"], [{"hear": 1}]])
    assert len(packed) == 2
    likelihood = packed.likelihood(np.eye(3))
    assert np.array_equal(likelihood[:, 0], likelihood[:, 3])


def test_weights_of_many_kinds_are_numbers():
    item = {"hear": np.float32(0.5), "walk": np.int64(1), "open": Fraction(1, 4)}
    assert Packer(WORDS).pack([[item]]).soft.tolist() == [[0.5, 1, 0.25]]
    assert Packer(WORDS).pack([[{"hear": True, "walk": 5e-324}]]).soft.tolist() == [[1, 5e-324, 0]]


def test_narratives_come_from_any_iterable():
    rows = [["hear", "open"], ["walk"]]
    expected = Packer(WORDS).pack(rows)
    for narratives in (
        iter(rows),
        (iter(row) for row in rows),
        (tuple(row) for row in rows),
        [np.array(row) for row in rows],
        [dict.fromkeys(row).keys() for row in rows],
        {0: rows[0], 1: rows[1]}.values(),
    ):
        packed = Packer(WORDS).pack(narratives)
        assert packed.symbol.tolist() == expected.symbol.tolist()
        assert packed.place.tolist() == expected.place.tolist()


def test_errors_of_the_caller_s_generator_are_left_alone():
    def broken():
        yield "hear"
        raise TypeError("not ours")

    with pytest.raises(TypeError, match="not ours"):
        Packer(WORDS).pack([broken()])


def test_a_packer_does_not_remember_earlier_narratives():
    packer = Packer(WORDS)
    first = packer.pack([[{"hear": 0.5}], [None]])
    second = packer.pack([[{"open": 0.5}]])
    assert first.soft.tolist() == [[0.5, 0, 0], [1, 1, 1]]
    assert second.symbol.tolist() == [3]
    assert second.soft.tolist() == [[0, 0, 0.5]]
    with pytest.raises(el.InputError):
        packer.pack([[{"walk": 0.5}, 7]])
    assert packer.pack([["hear"]]).soft.shape == (0, 3)


def test_without_events_nothing_can_be_told():
    packed = Packer(()).pack([[], [None]])
    assert packed.soft.shape == (1, 0)
    assert packed.symbol.tolist() == [0]


def test_scripts_pack_over_their_events():
    packed = el.examples.doorbell().pack([["walk to door", "tea"]], unknown="ignore")
    assert packed.symbol.tolist() == [1]


# Weights of narratives


def test_weights_are_added_up():
    packed = Packer(WORDS).pack([["hear"], ["open"], ["hear"]], weights=[0.5, 2, 0.25])
    assert packed.weight.tolist() == [0.75, 2]
    packed = Packer(WORDS).pack((row for row in [["hear"]] * 2), weights=iter([1, np.float32(2)]))
    assert packed.weight.tolist() == [3]


@pytest.mark.parametrize(
    "weight",
    [0, -1, float("nan"), float("inf"), 10**400, None, "1", [1], 1j, np.ones(1), np.ones((2, 2))],
    ids=repr,
)
def test_weights_are_positive_numbers(weight):
    problem = "weight of narrative 1 is .*, expected a positive number"
    refused([["hear"], ["open"]], problem, weights=[1, weight])


@pytest.mark.parametrize(("given_", "count"), [([], 0), ([1], 1), ([1, 1, 1], 3), ([1] * 9, 9)])
def test_there_is_a_weight_for_each_narrative(given_, count):
    problem = f"^{count} weights came for 2 narratives$"
    refused([["hear"], ["open"]], problem, weights=given_)
    refused(iter([["hear"], ["open"]]), problem, weights=iter(given_))


# Unknown events


def test_an_unknown_event_is_named_with_its_place_and_its_like():
    error = refused(
        [["hear"], ["hear", "wolk"]],
        r"^narrative 1, event 1: unknown event 'wolk' \(did you mean 'walk'\?\)$",
        el.UnknownEventError,
    )
    assert error.where == "narrative 1, event 1"
    assert error.problem == "unknown event 'wolk'"
    assert error.hint == "did you mean 'walk'?"


def test_several_similar_names_are_offered():
    with pytest.raises(el.UnknownEventError, match=r"did you mean 'door 1' or 'door \d' or 'door"):
        Packer([f"door {n}" for n in range(1, 9)]).pack([["door 1x"]])


def test_without_similar_names_the_option_is_named():
    problem = r"^narrative 0, event 0: unknown event 'zebra' \(unknown='ignore' leaves such"
    refused([["zebra"]], problem, el.UnknownEventError)


@pytest.mark.parametrize("event", ["", " ", "HEAR", "hear ", "heär", "\ud800", "a\nb", "\u202e"])
def test_only_the_very_name_is_known(event):
    refused([["open", event]], "^narrative 0, event 1: unknown event", el.UnknownEventError)


def test_a_very_long_event_is_answered_in_short():
    words = [f"{letter * 3000}" for letter in "abcdefgh"]
    with pytest.raises(el.UnknownEventError) as caught:
        Packer(words).pack([["ab" * 50_000]])
    assert len(str(caught.value)) < 400


def test_similar_names_are_cut_in_the_hint():
    words = [("x" * 90) + str(number) for number in range(5)]
    with pytest.raises(el.UnknownEventError, match="did you mean 'x") as caught:
        Packer(words).pack([["x" * 90]])
    assert len(str(caught.value)) < 400


def test_an_unknown_event_among_weights_is_named_too():
    problem = "^narrative 0, event 1: unknown event 'wolk'"
    refused([["hear", {"open": 1, "wolk": 1}]], problem, el.UnknownEventError)


def test_unknown_events_are_left_out_on_demand():
    packed = Packer(WORDS, unknown="ignore").pack(
        [["tea", "hear", "tea", "open"], ["hear", "open", "tea"], ["tea"], [], ["tea", None]]
    )
    assert packed.symbol.tolist() == [0, 2, 3]
    assert packed.weight.tolist() == [2, 1, 2]
    assert packed.place.tolist() == [0, 0, 2, 2, 1]


def test_unknown_weights_are_left_out_on_demand():
    packed = Packer(WORDS, unknown="ignore").pack(
        [["hear", {"tea": 1, "open": 0.5}], ["hear", {"tea": 1}], ["hear", {"tea": 1, "open": 0}]]
    )
    assert unpacked(packed, 3) == [[0, [0, 0, 0.5]], [0], [0]]


def test_weights_of_unknown_events_are_checked_all_the_same():
    for weight in (-1, float("nan"), "x"):
        refused([[{"tea": weight, "open": 1}]], "of 'tea', expected a number", unknown="ignore")
    refused([[{"tea": 0}]], "no event has a positive weight", unknown="ignore")


@pytest.mark.parametrize("unknown", ["", "Error", None, True, ["error"]])
def test_there_are_two_ways_with_unknown_events(unknown):
    with pytest.raises(el.InputError, match=r"^unknown=.*, expected 'error' or 'ignore'$"):
        Packer(WORDS, unknown=unknown)


def test_the_vocabulary_is_of_distinct_events():
    with pytest.raises(el.InputError, match=r"^3 events, only 2 of them distinct$"):
        Packer(("a", "b", "a"))


# What is no narrative


@pytest.mark.parametrize("unknown", ["error", "ignore"])
@pytest.mark.parametrize(
    "item",
    [
        *[3, 0, 1.5, True, b"hear", ["hear"], ("hear",), {"hear"}, object(), Ellipsis, len],
        *[np.zeros((100, 100)), np.int64(0), float("nan"), ("x" * 10_000,)],
    ],
    ids=lambda item: type(item).__name__,
)
def test_events_are_names_none_or_weights(item, unknown):
    problem = "^narrative 1, event 2: .* is no event, expected a name, None or weights by name$"
    refused([["hear"], ["hear", None, item]], problem, unknown=unknown)


@pytest.mark.parametrize("unknown", ["error", "ignore"])
@pytest.mark.parametrize("key", [3, None, b"hear", ("hear",), True])
def test_weights_are_given_by_name(key, unknown):
    refused([[{key: 1.0}]], "^narrative 0, event 0: .* is no event name$", unknown=unknown)


@pytest.mark.parametrize(
    "weight",
    [
        *[-1, -5e-324, float("nan"), float("inf"), 10**400, None, "1", 1j, np.complex128(1), [1]],
        *[{}, np.ones(1), np.ones((30, 30))],
    ],
    ids=repr,
)
def test_weights_of_events_are_numbers_from_zero(weight):
    problem = "^narrative 0, event 0: weight .* of 'walk', expected a number from 0 to 1$"
    refused([[{"hear": 1, "walk": weight}]], problem)


@pytest.mark.parametrize("item", [{}, {"hear": 0}, {"hear": 0.0, "walk": -0.0}])
def test_some_weight_is_positive(item):
    refused([["hear"], [item]], "^narrative 1, event 0: no event has a positive weight$")


@pytest.mark.parametrize("text", ["hear", "", b"hear", "x" * 10_000, "a\nb", np.str_("hear")])
def test_a_text_is_no_narrative(text):
    problem = r"^narrative 1 is the text .*, expected a list of events \(wrap a single narrative"
    refused([["hear"], text], problem)


def test_a_narrative_alone_is_no_list_of_narratives():
    refused(["hear", "open"], "^narrative 0 is the text 'hear'")
    refused("hear", "^narrative 0 is the text 'h'")


@pytest.mark.parametrize(
    "narrative",
    [None, 3, 1.5, True, object(), {"hear": 1.0}, {}, {"hear"}, frozenset(), np.array("hear"), len],
    ids=lambda narrative: type(narrative).__name__,
)
def test_what_has_no_order_is_no_narrative(narrative):
    refused([["hear"], narrative], "^narrative 1 is .*, expected a list of events$")


# Helpers


@given(st.text() | st.binary() | st.integers() | st.lists(st.text()))
def test_a_value_in_a_message_is_one_short_line(value):
    text = short(value)
    assert text.isprintable()
    assert len(text) <= 60
    if len(repr(value)) <= 60 and isinstance(value, str):
        assert text == repr(value)


@pytest.mark.parametrize(
    "value", [np.zeros((9, 9)), "x" * 10**6, "\n" * 60, ["a\nb"] * 99, "x" * 59], ids=type
)
def test_long_values_are_cut(value):
    text = short(value)
    assert text.isprintable()
    assert len(text) == 60
    assert text.endswith("...")


def test_real_numbers_are_told_from_everything_else():
    assert [real(value) for value in (1, 0.5, np.float32(2), Fraction(1, 4), True)] == [
        *[1, 0.5, 2, 0.25, 1]
    ]
    assert real(10**400) == np.inf
    assert all(np.isnan(real(value)) for value in (None, "1", 1j, [1], np.ones(1), b"1"))


def test_packed_narratives_are_compared_by_identity():
    one, other = Packer(WORDS).pack([["hear"]]), Packer(WORDS).pack([["hear"]])
    assert one == one  # noqa: PLR0124
    assert one != other
    assert len({one, other}) == 2


# There and back


@st.composite
def corpora(draw):
    count = draw(st.integers(1, 4))
    item = observations(count)
    return count, draw(st.lists(st.lists(item, max_size=5), max_size=8))


def as_none(narrative, count):
    """Weights of one for every event say no more than None."""
    return [None if item == [1.0] * count else item for item in narrative]


@settings(max_examples=EXAMPLES)
@given(corpora())
def test_unpacking_gives_the_narratives_back(corpus):
    count, narratives = corpus
    words = events(count)
    packed = Packer(words).pack([named(narrative, words) for narrative in narratives])
    expected = [as_none(narrative, count) for narrative in narratives]
    assert unpacked(packed, count) == expected
    assert packed.weight.sum() == len(narratives)
    assert len(packed) == len({repr(narrative) for narrative in expected})
    assert (np.diff(np.diff(packed.offset)) <= 0).all()
    assert packed.weight.tolist() == np.bincount(packed.place, minlength=len(packed)).tolist()


@given(corpora(), st.lists(st.floats(0.01, 100), min_size=8, max_size=8))
def test_weights_follow_their_narratives(corpus, weights):
    count, narratives = corpus
    words = events(count)
    weights = weights[: len(narratives)]
    packed = Packer(words).pack([named(narrative, words) for narrative in narratives], weights)
    sums = np.bincount(packed.place, weights, minlength=len(packed)) if weights else []
    np.testing.assert_allclose(packed.weight, sums, rtol=RTOL)


@given(corpora(), st.randoms(use_true_random=False))
def test_taking_some_keeps_them_as_they_are(corpus, rng):
    count, narratives = corpus
    words = events(count)
    packed = Packer(words).pack([named(narrative, words) for narrative in narratives])
    which = np.array(sorted(rng.sample(range(len(packed)), rng.randint(0, len(packed)))), np.int64)
    taken = packed.take(which)
    assert isinstance(taken, Packed)
    whole = dict(zip(packed.place.tolist(), unpacked(packed, count), strict=True))
    assert unpacked(taken, count) == [whole[place] for place in which.tolist()]
    assert taken.weight.tolist() == packed.weight[which].tolist()
    assert taken.symbol.dtype == np.uint32
    assert taken.offset.dtype == np.int64


@given(corpora(), st.integers(0, 2**32 - 1))
def test_likelihoods_are_sums_over_the_events_that_may_be_meant(corpus, seed):
    count, narratives = corpus
    words = events(count)
    packed = Packer(words).pack([named(narrative, words) for narrative in narratives])
    emission = np.random.default_rng(seed).random((3, count))
    likelihood = packed.likelihood(emission)
    assert likelihood.shape == (3, count + len(packed.soft))
    assert likelihood.flags.c_contiguous
    for state in range(3):
        for narrative, place in zip(narratives, packed.place, strict=True):
            symbols = packed.symbol[packed.offset[place] : packed.offset[place + 1]]
            for item, symbol in zip(narrative, symbols, strict=True):
                weights = np.ones(count) if item is None else item
                weights = np.eye(count)[item] if isinstance(item, int) else weights
                expected = sum(w * e for w, e in zip(weights, emission[state], strict=True))
                assert likelihood[state, symbol] == pytest.approx(expected, rel=RTOL)
