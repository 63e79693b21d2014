from __future__ import annotations

import copy
import pickle
import re
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision as el
from elision.values._script_parts import DEEPEST_NOTE, LARGEST_NOTE_BITS, name_states
from elision.values.script import ROW_TOLERANCE, Script
from models import RTOL, events

EDGES = {
    "start": {"hear": 0.9, "open": 0.1},
    "hear": {"hear": 0.2, "open": 0.8},
    "open": {"end": 1.0},
}
STATES = {"hear": {"ring": 0.5, "knock": 0.25, None: 0.25}, "open": "open door"}


def arrays():
    """Four states, the second with a self-loop, three events: a valid script to spoil."""
    transition = np.array([[0, 0.9, 0.1, 0], [0, 0.2, 0.8, 0], [0, 0, 0, 1], [0, 0, 0, 0.0]])
    emission = np.array([[0, 0, 0], [0.5, 0.25, 0], [0, 0, 1], [0, 0, 0.0]])
    return {
        "events": ["ring", "knock", "open door"],
        "transition": transition,
        "emission": emission,
        "elision": np.array([0, 0.25, 0, 0]),
        "states": ["start", "hear", "open", "end"],
    }


def spoilt(field, place, value):
    given = arrays()
    given[field][place] = value
    return given


def refused(problem, **given):
    """Check that construction fails with one line that says `problem`."""
    with pytest.raises(el.ScriptError, match=problem) as caught:
        Script(**(arrays() | given))
    one_line(caught.value)


def one_line(error):
    text = str(error)
    assert text.isprintable(), repr(text)
    assert len(text) <= 400


def assert_identical(one, other):
    """Equal to the last bit, notes included."""
    assert one == other
    assert hash(one) == hash(other)
    assert one.about == other.about
    for field in ("transition", "emission", "elision"):
        assert getattr(one, field).tobytes() == getattr(other, field).tobytes()


# What is a script


def test_a_script_holds_what_it_was_given():
    script = Script(**arrays())
    assert script.events == ("ring", "knock", "open door")
    assert script.states == ("start", "hear", "open", "end")
    assert script.size == 4
    assert script.about == {}
    for field in ("transition", "emission", "elision"):
        array = getattr(script, field)
        assert array.dtype == np.float64
        assert array.flags.c_contiguous
        assert np.array_equal(array, arrays()[field])


def test_the_smallest_script_tells_nothing():
    script = Script([], [[0, 1], [0, 0]], np.zeros((2, 0)), [0, 0])
    assert script.states == ("start", "end")
    assert script.log_prob([]) == 0
    assert repr(script) == "Script(0 states, 1 edge, 0 events)"


def test_a_state_may_be_always_silent():
    script = Script(["a"], [[0, 1, 0], [0, 0, 1], [0, 0, 0]], np.zeros((3, 1)), [0, 1, 0])
    assert script.states == ("start", "silent", "end")


@pytest.mark.parametrize(
    "laid_out",
    [np.ndarray.tolist, np.asfortranarray, np.ma.asarray, lambda array: array[::-1][::-1]],
)
def test_arrays_of_any_layout_are_taken(laid_out):
    turned = {field: laid_out(arrays()[field]) for field in ("transition", "emission", "elision")}
    script = Script(**(arrays() | turned))
    assert_identical(script, Script(**arrays()))
    assert type(script.transition) is np.ndarray
    assert script.transition.flags.c_contiguous


def test_whole_numbers_and_fractions_are_numbers():
    emission = [[0], [Fraction(1, 4)], [0]]
    script = Script(["a"], [[0, 1, 0], [0, 0, 1], [0, 0, 0]], emission, [0, 0.75, 0])
    assert script.emission[1, 0] == 0.25


# What is none


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("transition", np.zeros((3, 4)), r"transition is \(3, 4\), expected \(4, 4\)"),
        ("transition", np.zeros((5, 5)), r"transition is \(5, 5\), expected \(4, 4\)"),
        ("transition", np.zeros(4), "transition has 1 dimensions, expected 2"),
        ("transition", 0.5, "transition has 0 dimensions, expected 2"),
        ("emission", np.zeros((4, 2)), r"emission is \(4, 2\), expected \(4, 3\)"),
        ("emission", np.zeros((4, 3, 1)), "emission has 3 dimensions, expected 2"),
        ("elision", np.zeros((4, 1)), "elision has 2 dimensions, expected 1"),
        ("elision", [], "0 states, expected at least start and end"),
        ("elision", [0], "1 states, expected at least start and end"),
        ("states", ["start", "end"], "2 state names for 4 states"),
        ("states", [], "0 state names for 4 states"),
    ],
)
def test_shapes_must_agree(field, value, problem):
    refused(problem, **{field: value})


@pytest.mark.parametrize("field", ["transition", "emission", "elision"])
@pytest.mark.parametrize(
    "value",
    [
        None,
        "0.5",
        ["0", "1", "0", "0"],
        b"abc",
        {"a": 1},
        object(),
        [[1, 2], [3]],
        [10**400],
        np.zeros((4, 4), complex),
        np.zeros(4, "datetime64[s]"),
        [[1], "x"],
        np.full((9, 9, 9), "long text " * 50),
    ],
    ids=lambda value: type(value).__name__,
)
def test_arrays_of_something_else_are_refused(field, value):
    refused(f"^{field} ", **{field: value})


@pytest.mark.parametrize("value", [np.nan, -0.1, -5e-324, np.inf, -np.inf, 1.1, 1 + 1e-8, 1e300])
@pytest.mark.parametrize(
    ("field", "place"), [("transition", (1, 2)), ("emission", (1, 0)), ("elision", 1)]
)
def test_probabilities_lie_between_zero_and_one(field, place, value):
    problem = rf"^state 1 \('hear'\): {field} {re.escape(str(value))} is no probability$"
    refused(problem, **spoilt(field, place, value))


@pytest.mark.parametrize(
    ("field", "place", "state", "what"),
    [
        ("transition", (0, 1), "state 0 \\('start'\\)", "transitions"),
        ("transition", (1, 2), "state 1 \\('hear'\\)", "transitions"),
        ("transition", (2, 3), "state 2 \\('open'\\)", "transitions"),
        ("emission", (1, 0), "state 1 \\('hear'\\)", "events and elision"),
        ("elision", 1, "state 1 \\('hear'\\)", "events and elision"),
    ],
)
def test_rows_sum_to_one_within_the_tolerance(field, place, state, what):
    value = arrays()[field][place]
    for within in (-0.9, 0.9):
        Script(**spoilt(field, place, min(1.0, value + within * ROW_TOLERANCE)))
    refused(f"^{state}: {what} sum to", **spoilt(field, place, value - 1.1 * ROW_TOLERANCE))
    if value < 1:
        refused(f"^{state}: {what} sum to", **spoilt(field, place, value + 1.1 * ROW_TOLERANCE))


def test_many_small_errors_in_a_row_add_up():
    count = 100
    shares = np.full(count, 1 / count)
    emission = np.vstack([np.zeros(count), shares + 0.5 * ROW_TOLERANCE, np.zeros(count)])
    with pytest.raises(el.ScriptError, match="events and elision sum to"):
        Script(events(count), np.eye(3, k=1), emission, np.zeros(3))


def test_edges_go_forward():
    given = spoilt("transition", (2, 1), 0.5)
    given["transition"][2, 3] = 0.5
    refused("an edge goes back from 'open' to 'hear' .*Script.build sorts them", **given)


@pytest.mark.parametrize("source", [0, 1, 2])
def test_no_edge_enters_the_start(source):
    refused("^no edge may enter the start$", **spoilt("transition", (source, 0), 0.5))


@pytest.mark.parametrize("target", [1, 2, 3])
def test_no_edge_leaves_the_end(target):
    refused("^no edge may leave the end$", **spoilt("transition", (3, target), 1.0))


@pytest.mark.parametrize(("field", "place"), [("emission", (0, 1)), ("elision", 0)])
def test_the_start_tells_nothing(field, place):
    refused("^state 0 .*: start and end tell nothing$", **spoilt(field, place, 1.0))


@pytest.mark.parametrize(("field", "place"), [("emission", (3, 1)), ("elision", 3)])
def test_the_end_tells_nothing(field, place):
    refused("^state 3 .*: start and end tell nothing$", **spoilt(field, place, 5e-324))


def test_every_state_can_be_reached():
    given = arrays()
    given["transition"][0] = [0, 0, 1, 0]
    refused("^state 1 \\('hear'\\): cannot be reached from the start$", **given)


def test_a_state_reached_only_from_an_unreachable_one_is_not_reached():
    given = arrays()
    given["transition"][0] = [0, 0, 0, 1]
    refused("^state 1 .*cannot be reached", **given)


def test_every_state_has_a_way_to_the_end():
    given = arrays()
    given["transition"][2] = [0, 0, 1, 0]
    refused("^state 2 \\('open'\\): has no way to the end$", **given)
    given = arrays()
    given["transition"][1] = [0, 1, 0, 0]
    refused("^state 1 \\('hear'\\): has no way to the end$", **given)


def test_a_row_without_edges_is_a_dead_end():
    given = arrays()
    given["transition"][1] = 0
    refused("^state 1 .*: transitions sum to 0.0, expected 1$", **given)


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["a", "b", "a"], "event name 'a' stands twice"),
        (["a", "", "c"], "event name '', expected a text that is not empty"),
        (["a", "\ud800", "c"], "event name '.ud800' holds half a surrogate pair"),
        (["a", None, "c"], "event name None, expected a text"),
        (["a", 3, "c"], "event name 3, expected a text"),
        (["a", b"b", "c"], "event name b'b', expected a text"),
        ("abc", "event names are 'abc', expected a list"),
        (b"abc", "event names are b'abc', expected a list"),
        (7, "event names are 7, expected a list"),
        ({"a", "b", "c"}, "event names are {.*}, expected a list"),
        (["x" * 10_000, "b", "x" * 10_000], "stands twice"),
        (["line\nbreak", "line\nbreak", "c"], "stands twice"),
    ],
)
def test_event_names_are_distinct_texts(names, problem):
    refused(problem, events=names)


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["start", "a", "a", "end"], "state name 'a' stands twice"),
        (["start", "", "b", "end"], "state name '', expected a text"),
        (["start", "a\udfff", "b", "end"], "half a surrogate pair"),
        (["start", 1, "b", "end"], "state name 1, expected a text"),
        (["begin", "a", "b", "end"], "first and last state must be named 'start' and 'end'"),
        (["start", "a", "b", "fin"], "first and last state must be named 'start' and 'end'"),
        (["end", "a", "b", "start"], "first and last state must be named 'start' and 'end'"),
        (["start", "start", "b", "end"], "state name 'start' stands twice"),
        (["start", "a", "end", "end"], "state name 'end' stands twice"),
        ("start", "state names are 'start', expected a list"),
    ],
)
def test_state_names_are_distinct_texts(names, problem):
    refused(problem, states=names)


def test_names_come_from_any_ordered_collection():
    names = arrays()["events"]
    expected = Script(**arrays())
    for listed in (iter(names), np.array(names), tuple(names), dict.fromkeys(names).keys()):
        assert Script(**(arrays() | {"events": listed})) == expected


def test_long_names_are_cut_in_messages():
    given = spoilt("transition", (2, 1), 1.0)
    given["states"] = ["start", "x" * 100_000, "y\n" * 100_000, "end"]
    refused("an edge goes back from 'y", **given)


# Building from names


def test_build_puts_everything_in_place():
    assert_identical(Script.build(STATES, EDGES), Script(**arrays()))


def test_build_takes_states_and_edges_in_any_order():
    expected = Script.build(STATES, EDGES)
    turned = Script.build(dict(reversed(STATES.items())), dict(reversed(EDGES.items())))
    assert turned.states == expected.states
    assert turned.events == ("open door", "ring", "knock")
    again = Script.build(
        dict(reversed(STATES.items())), dict(reversed(EDGES.items())), events=expected.events
    )
    assert_identical(again, expected)


def test_build_keeps_an_order_that_is_topological_already():
    """Breadth first would give a, b, d, c."""
    names = ["a", "b", "c", "d"]
    edges = {
        "start": {"a": 0.5, "b": 0.5},
        "a": {"d": 1},
        "b": {"c": 1},
        "c": {"end": 1},
        "d": {"end": 1},
    }
    assert Script.build({name: name for name in names}, edges).states[1:-1] == tuple(names)


def test_build_sorts_a_long_chain():
    """The order given is the worst one; deep recursion or quadratic search would show."""
    names = [f"s{k}" for k in range(1500)]
    steps = zip(["start", *names], [*names, "end"], strict=True)
    script = Script.build(dict.fromkeys(reversed(names), "a"), {a: {b: 1} for a, b in steps})
    assert script.states == ("start", *names, "end")


def test_an_edge_of_probability_zero_is_no_edge():
    edges = EDGES | {"open": {"end": 1.0, "hear": 0.0}}
    assert_identical(Script.build(STATES, edges), Script.build(STATES, EDGES))


def test_none_stands_for_silence():
    script = Script.build(
        {"a": {None: 1}, "b": {"x": 1, None: 0}},
        {"start": {"a": 1}, "a": {"b": 1}, "b": {"end": 1}},
    )
    assert script.elision.tolist() == [0, 1, 0, 0]
    assert script.events == ("x",)


def test_the_vocabulary_may_hold_more_than_is_told():
    words = ["spare", "ring", "knock", "open door"]
    assert Script.build(STATES, EDGES, events=words).events == tuple(words)
    assert Script.build(STATES, EDGES, events=iter(words)).events == tuple(words)


@pytest.mark.parametrize(
    ("states", "edges", "problem"),
    [
        ({"a": "x", "b": "x"}, {"a": {"b": 1}, "b": {"a": 1}}, "in a circle through 'a', 'b'"),
        (
            dict.fromkeys("abcdef", "x"),
            {"start": {"a": 1}, "a": {"b": 1}, "b": {"c": 1}, "c": {"b": 1}},
            "the edges go in a circle through 'b', 'c'",
        ),
        ({"a": "x"}, {"start": {"b": 1}}, "edge 'start' -> 'b': no state 'b'"),
        ({"a": "x"}, {"b": {"a": 1}}, "edge 'b' -> 'a': no state 'b'"),
        ({"start": "x"}, {}, "a state is named 'start', which is kept for the start"),
        ({"end": "x"}, {}, "a state is named 'end', which is kept for the end"),
        ({"a": "x"}, {"start": {"a": 1}, "a": {"start": 1}}, "no edge may enter the start"),
        (
            {"a": "x"},
            {"start": {"a": 1}, "a": {"end": 1}, "end": {"a": 1}},
            "no edge may leave the end",
        ),
        ({"a": "x"}, {"start": {"start": 1}}, "no edge may enter the start"),
        ({"a": "x"}, {"start": {"a": 1}, "a": {"a": 1}}, "'a'.*: has no way to the end"),
        ({"a": "x"}, {"start": {"end": 1}, "a": {"end": 1}}, "'a'.*: cannot be reached"),
        ({"a": "x"}, {"start": {"a": 1}}, "'a'.*: transitions sum to 0.0"),
        ({"a": "x"}, {}, "'start'.*: transitions sum to 0.0"),
        ({"a": {"x": 0.5}}, {"start": {"a": 1}, "a": {"end": 1}}, "events and elision sum to 0.5"),
        ({"a": {}}, {"start": {"a": 1}, "a": {"end": 1}}, "events and elision sum to 0.0"),
        ({"a": {"x": "1"}}, {"start": {"a": 1}, "a": {"end": 1}}, "^state 'a': '1' is no prob"),
        ({"a": {None: None}}, {"start": {"a": 1}, "a": {"end": 1}}, "^state 'a': None is no prob"),
        ({"a": "x"}, {"start": {"a": [1]}}, "^edge 'start' -> 'a': .1. is no probability"),
        ({"a": "x"}, {"start": {"a": 1j}}, "^edge 'start' -> 'a': 1j is no probability"),
        ({"a": "x"}, {"start": {"a": float("nan")}}, "^edge 'start' -> 'a': nan is no prob"),
        ({"a": "x"}, {"start": {"a": 10**400}}, "transition inf is no probability"),
        ({"a": "x"}, {"start": "a"}, "^edges of 'start': 'a', expected a mapping"),
        ({"a": "x"}, [("start", "a")], "^edges: .*, expected a mapping"),
        ({"a": 3}, {}, "^state 'a': 3, expected a mapping"),
        ({"a": None}, {}, "^state 'a': None, expected a mapping"),
        (["a"], {}, "^states: .*, expected a mapping"),
        ({7: "x"}, {"start": {7: 1}, 7: {"end": 1}}, "state name 7, expected a text"),
        ({"": "x"}, {"start": {"": 1}, "": {"end": 1}}, "state name '', expected a text"),
        ({"a": {7: 1}}, {"start": {"a": 1}, "a": {"end": 1}}, "event name 7, expected a text"),
    ],
)
def test_build_says_what_is_wrong(states, edges, problem):
    with pytest.raises(el.ScriptError, match=problem) as caught:
        Script.build(states, edges)
    one_line(caught.value)


def test_an_event_outside_the_vocabulary_is_refused():
    problem = "state 'hear' tells 'knock', which is not in `events`"
    with pytest.raises(el.ScriptError, match=problem):
        Script.build(STATES, EDGES, events=["ring", "open door"])
    with pytest.raises(el.ScriptError, match="event names are 'ring', expected a list"):
        Script.build(STATES, EDGES, events="ring")
    with pytest.raises(el.ScriptError, match="event name 'ring' stands twice"):
        Script.build(STATES, EDGES, events=["ring", "knock", "open door", "ring"])


def test_from_parameters_is_the_same_script():
    script = Script.build(STATES, EDGES, about={"n": 1})
    again = Script.from_parameters(
        script.events, script.parameters, states=script.states, about=script.about
    )
    assert_identical(script, again)


# An immutable value


def test_arrays_are_read_only():
    script = Script(**arrays())
    edges = script.parameters
    for array in (
        *(script.transition, script.emission, script.elision),
        *(edges.source, edges.target, edges.transition, edges.emission, edges.elision),
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_the_arrays_given_are_copied_and_stay_writable():
    given = arrays()
    script = Script(**given)
    for field in ("transition", "emission", "elision"):
        assert not np.shares_memory(getattr(script, field), given[field])
        given[field][...] = 7
    given["events"].clear()
    given["states"].clear()
    assert_identical(script, Script(**arrays()))


@pytest.mark.parametrize(
    "field", ["events", "states", "transition", "emission", "elision", "about", "size"]
)
def test_fields_cannot_be_set(field):
    with pytest.raises(AttributeError):
        setattr(Script(**arrays()), field, None)


def test_notes_are_copied_in_and_out():
    notes = {"who": ["me"], "nested": {"deep": [1]}}
    script = Script(**arrays(), about=notes)
    notes["who"].append("you")
    script.about["nested"]["deep"].append(2)
    script.about["new"] = 1
    assert script.about == {"who": ["me"], "nested": {"deep": [1]}}


def test_notes_become_what_json_gives_back():
    notes = {
        "tuple": (1, 2),
        "numbers": [np.int64(3), np.float32(0.5), np.bool_(True), 2**64, -0.0, 5e-324],
        "none": None,
        "true": True,
        "text": "a\nb 😀",
        "": {},
    }
    about = Script(**arrays(), about=notes).about
    assert about == {**notes, "tuple": [1, 2]}
    assert [type(number) for number in about["numbers"]] == [int, float, bool, int, float, float]


def nested(depth):
    notes = {}
    for _ in range(depth):
        notes = {"a": notes}
    return notes


def circle():
    notes = {}
    notes["a"] = [notes]
    return notes


@pytest.mark.parametrize(
    "about",
    [
        [1],
        "text",
        7,
        {1: "a"},
        {None: "a"},
        {"a": {2: 3}},
        {"\ud800": 1},
        {"a": "\ud800"},
        {"a": float("nan")},
        {"a": [float("inf")]},
        {"a": 1 << LARGEST_NOTE_BITS},
        {"a": {1, 2}},
        {"a": b"b"},
        {"a": np.zeros(3)},
        {"a": object()},
        nested(DEEPEST_NOTE + 1),
        nested(5000),
        circle(),
    ],
    ids=lambda about: type(about).__name__,
)
def test_notes_that_json_cannot_hold_are_refused(about):
    refused("^about: ", about=about)


def test_notes_may_be_as_large_as_the_limits():
    about = {"deep": nested(DEEPEST_NOTE - 1), "large": (1 << LARGEST_NOTE_BITS) - 1}
    assert Script(**arrays(), about=about).about == about


# Equality


def test_equal_scripts_are_equal_and_hash_alike():
    one, other = Script(**arrays()), Script(**arrays(), about={"note": 1})
    assert one == other
    assert one is not other
    assert len({one, other}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"events": ["ring", "knock", "shut door"]},
        {"states": ["start", "hear", "shut", "end"]},
        spoilt("transition", 1, [0, 0.25, 0.75, 0]),
        spoilt("emission", 1, [0.25, 0.5, 0]),
        spoilt("emission", (1, 0), np.nextafter(0.5, 1)),
        spoilt("elision", 1, np.nextafter(0.25, 1)),
    ],
    ids=["events", "states", "transition", "emission", "last bit", "elision"],
)
def test_any_difference_counts(change):
    assert Script(**(arrays() | change)) != Script(**arrays())


def test_a_script_is_equal_to_nothing_else():
    script = Script(**arrays())
    assert script != "script"
    assert script != None  # noqa: E711
    assert script != script.transition.tolist()


def test_minus_zero_is_zero():
    """Equal arrays of different bytes would give equal scripts different hashes."""
    given = arrays()
    for field in ("transition", "emission", "elision"):
        given[field][given[field] == 0] = -0.0
    assert_identical(Script(**given), Script(**arrays()))


# Copies


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        *[
            lambda script, protocol=protocol: pickle.loads(pickle.dumps(script, protocol))  # noqa: S301
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
        ],
    ],
)
@pytest.mark.parametrize("used", [False, True])
def test_copies_are_equal_and_read_only_too(copied, used):
    script = Script.build(STATES, EDGES, about={"a": [1]})
    if used:  # whatever was computed and kept must not get in the way
        script.log_prob(["ring", "open door"])
    twin = copied(script)
    assert_identical(twin, script)
    assert not twin.transition.flags.writeable
    assert not twin.emission.flags.writeable
    assert not twin.elision.flags.writeable
    assert twin.log_prob(["ring", "open door"]) == script.log_prob(["ring", "open door"])


class Named(Script):
    """A subclass must stay one."""


def test_a_copy_of_a_subclass_is_one():
    assert type(copy.deepcopy(Named(**arrays()))) is Named


# Names of states


def test_states_are_named_after_their_likeliest_events():
    given = arrays()
    del given["states"]
    assert Script(**given).states == ("start", "ring", "open door", "end")


@given(
    st.lists(
        st.sampled_from(["a", "a (2)", "a (3)", "start", "end", "silent", "start (2)"]),
        min_size=1,
        unique=True,
    ),
    st.lists(st.integers(-1, 6), max_size=12),
)
def test_default_names_are_unique(words, told):
    emission = np.zeros((len(told) + 2, len(words)))
    for k, event in enumerate(told, start=1):
        if event >= 0:
            emission[k, event % len(words)] = 1
    names = name_states(words, emission)
    assert len(set(names)) == len(names) == len(told) + 2
    assert (names[0], names[-1]) == ("start", "end")
    for name, row in zip(names[1:-1], emission[1:-1], strict=True):
        assert name.startswith(words[int(row.argmax())] if row.any() else "silent")


def test_repeated_names_are_numbered():
    emission = np.zeros((5, 1))
    emission[1:-1] = 1
    assert name_states(["a"], emission) == ("start", "a", "a (2)", "a (3)", "end")


def test_many_states_of_one_name_are_named_quickly():
    emission = np.ones((20_000, 1))
    assert name_states(["a"], emission)[-2] == "a (19998)"


# Showing, networkx


def test_repr_counts():
    assert repr(Script(**arrays())) == "Script(2 states, 5 edges, 3 events)"
    assert repr(el.examples.doorbell()) == "Script(10 states, 16 edges, 10 events)"


def test_the_graph_says_what_the_script_says():
    graph = Script(**arrays()).to_networkx()
    assert list(graph) == ["start", "hear", "open", "end"]
    assert graph.nodes["hear"] == {"tells": {"ring": 0.5, "knock": 0.25}, "elision": 0.25}
    assert graph.nodes["end"] == {"tells": {}, "elision": 0.0}
    assert graph.edges["hear", "hear"] == {"probability": 0.2}
    assert graph.number_of_edges() == 5
    assert nx.is_directed_acyclic_graph(nx.DiGraph((a, b) for a, b in graph.edges if a != b))


def test_changing_the_graph_leaves_the_script_alone():
    script = Script(**arrays(), about={"a": [1]})
    graph = script.to_networkx()
    graph.graph["about"]["a"].append(2)
    graph.nodes["hear"]["tells"].clear()
    assert_identical(script, Script(**arrays(), about={"a": [1]}))


# Probabilities, by hand (the lattice has its own tests)


def test_log_prob_by_hand():
    script = Script(**arrays())
    silent_then_open = 0.9 * 0.25 * 0.8 / (1 - 0.2 * 0.25) + 0.1
    told = 0.9 * 0.5 * 0.8 / (1 - 0.2 * 0.25) ** 2
    expected = [silent_then_open, told]
    narratives = [["open door"], ["ring", "open door"]]
    found = script.log_probs([narratives[1], narratives[0], narratives[1]])
    np.testing.assert_allclose(np.exp(found), [told, silent_then_open, told], rtol=RTOL)
    for narrative, probability in zip(narratives, expected, strict=True):
        assert np.exp(script.log_prob(narrative)) == pytest.approx(probability, rel=RTOL)
    assert script.log_prob(["open door", "ring"]) == -np.inf
    assert np.exp(script.log_prob([None, "open door"])) == pytest.approx(told * 1.5, rel=RTOL)
    with pytest.raises(el.UnknownEventError, match=r"unknown event 'rang'.*did you mean 'ring'"):
        script.log_prob(["rang"])
    assert script.log_prob(["rang", "open door"], unknown="ignore") == script.log_prob(
        ["open door"]
    )
