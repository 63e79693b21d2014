"""The telling model against its twin, as a distribution, as a value and in files."""

from __future__ import annotations

import base64
import copy
import dataclasses
import hashlib
import json
import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision as el
import naive_telling as naive
from elision._threads import batch
from elision.files.script import dumps, loads
from elision.kernels import plain_tellings
from elision.kernels.plain_tellings import LONGEST_HISTORY
from elision.values.telling import Chain, Missing, TellingModel
from models import ATOL, RTOL

SEEDS = range(120)
NOTHING = np.empty(0, np.int64)
numerical = pytest.mark.numerical


@pytest.fixture(autouse=True, scope="module")
def settings():
    """The twin has the settings of the package, and compiled code answers."""
    with pytest.MonkeyPatch.context() as patch, batch():
        patch.setattr(naive, "LONGEST_HISTORY", LONGEST_HISTORY)
        yield


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=RTOL, atol=ATOL)


def random_tree(rng, size):
    """Keys, and how many of them are of one symbol: all those, and some that are longer."""
    symbols = size + 1
    density = 0.9 if size < 3 else 0.5
    keys = sorted(rng.choice(symbols, rng.integers(1, symbols + 1), replace=False).tolist())
    singles = len(keys)
    first, last = 1, singles
    starts = {index + 1 for index, key in enumerate(keys) if key == size}
    for _ in range(LONGEST_HISTORY):  # one level more than is ever walked
        number = len(keys)
        for node in range(first, last + 1):
            if node in starts:  # nothing comes before the start
                continue
            for symbol in np.flatnonzero(rng.random(symbols) < density).tolist():
                keys.append(node * symbols + symbol)
                if symbol == size:
                    starts.add(len(keys))
        first, last = number + 1, len(keys)
    return np.array(keys, np.int64), singles


def random_chain(rng, size, *, histories=True):
    symbols = size + 1
    keys, singles = random_tree(rng, size) if histories else (NOTHING, 0)
    return Chain(
        after=rng.normal(size=(symbols, symbols)),
        memory=rng.normal(size=(size, symbols)),
        told=rng.normal(size=(size, symbols)),
        place=rng.normal(size=(int(rng.integers(1, 5)), symbols)),
        fade=float(rng.choice([0.0, 0.3, 0.8, 0.99])),
        again=float(rng.normal()),
        total=float(rng.normal()),
        average=float(rng.normal()),
        keys=keys,
        singles=singles,
        history=rng.normal(size=(len(keys) - singles, symbols)),
    )


def random_model(rng, size, *, backward=True, histories=True, missing=None):
    names = [f"e{number}" for number in range(size)]
    forward = random_chain(rng, size, histories=histories)
    other = random_chain(rng, size, histories=histories) if backward else None
    return TellingModel(names, forward, other, missing=missing)


def twin(chain):
    """The numbers of a chain as its twin takes them."""
    if chain is None:
        return None
    return naive.Chain(*(getattr(chain, name) for name in naive.Chain._fields))


def random_case(seed):
    """A model, of each kind in turn, and tellings: none told, loops, and longer than a history."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 5))
    model = random_model(rng, size, backward=seed % 2 == 0, histories=seed % 3 != 0)
    tellings = [NOTHING, np.zeros(3, np.int64), rng.integers(size, size=LONGEST_HISTORY + 2)]
    tellings.append(rng.integers(size, size=int(rng.integers(1, 6))))
    return SimpleNamespace(model=model, tellings=tellings, rng=rng, size=size)


def some_model(seed=7, **options):
    return random_model(np.random.default_rng(seed), 3, **options)


# Against the twin


@numerical
@pytest.mark.parametrize("seed", SEEDS)
def test_steps_agree_with_the_twin(seed):
    case = random_case(seed)
    forward, backward = twin(case.model.forward), twin(case.model.backward)
    steps = case.model.step_log_probs(case.tellings)
    assert [len(one) for one in steps] == [len(told) + 1 for told in case.tellings]
    for told, found in zip(case.tellings, steps, strict=True):
        close(found, naive.step_log_probs(forward, told))
    expected = [naive.log_prob(forward, told) for told in case.tellings]
    close(case.model.log_probs(case.tellings), expected)
    expected = [naive.worth(forward, backward, told) for told in case.tellings]
    close(case.model.worths(case.tellings), expected)


@numerical
@pytest.mark.parametrize("seed", SEEDS)
def test_what_comes_next_agrees_with_the_twin(seed):
    case = random_case(seed)
    for told in case.tellings:
        found = case.model.next_log_probs(told)
        close(found, naive.next_log_probs(twin(case.model.forward), told))
        close(np.exp(found).sum(), 1.0)


@numerical
@pytest.mark.parametrize("seed", SEEDS)
def test_insertions_agree_with_the_twin(seed):
    case = random_case(seed)
    forward, backward = twin(case.model.forward), twin(case.model.backward)
    for told in case.tellings:
        length = len(told)
        expected = naive.insertions(forward, backward, told, 0, length)
        close(case.model.insertions(told), expected)
        low, high = sorted(case.rng.integers(length + 1, size=2).tolist())
        close(case.model.insertions(told, low, high), expected[low : high + 1])
        close(case.model.insertions(told, low), expected[low:])
        close(case.model.insertions(told, high=high), expected[: high + 1])


@pytest.mark.parametrize("seed", SEEDS)
def test_numpy_alone_says_the_same(seed):
    case = random_case(seed)
    for chain in filter(None, (case.model.forward, case.model.backward)):
        for told in case.tellings:
            expected = naive.insertions(twin(chain), None, told, 0, len(told))
            found = np.empty_like(expected)
            plain_tellings.insertions(chain, told, 0, len(told), found)
            close(found, expected)
            ahead = np.empty(case.size + 1)
            plain_tellings.next_log_probs(chain, told, ahead)
            close(ahead, TellingModel(case.model.events, chain).next_log_probs(told))
            steps = np.empty(len(told) + 1)
            plain_tellings.step_log_probs(chain, told, np.array([0, len(told)]), 0, 1, steps)
            close(steps, TellingModel(case.model.events, chain).step_log_probs([told])[0])
        events, places = np.concatenate(case.tellings), np.zeros(len(case.tellings), np.int64)
        offset = np.cumsum([0, *map(len, case.tellings)])
        by_numpy = np.empty((len(places), case.size))
        plain_tellings.insert_each(chain, events, offset, places, by_numpy)
        compiled = np.empty_like(by_numpy)
        TellingModel(case.model.events, chain).insert_each(case.tellings, places, compiled)
        close(by_numpy, compiled)


def test_what_is_asked_once_needs_numpy_alone_and_is_the_same_whoever_loaded_numba(tmp_path):
    path = tmp_path / "script.json"
    el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_.save(path)
    program = (
        "import sys, elision as el\n"
        f"script = el.load({str(path)!r})\n"
        "told = ['hear doorbell', None, 'open door']\n"
        "first = [one.probability for one in script.fill(told)[0].answers]\n"
        "script.next(['hear doorbell'])\n"
        "assert 'numba' not in sys.modules and 'scipy' not in sys.modules\n"
        "many = script.fill_many([told] * 500)[-1][0].answers\n"
        "assert 'numba' in sys.modules, 'many questions are worth loading compiled code'\n"
        "assert [one.probability for one in script.fill(told)[0].answers] == first\n"
        "assert max(abs(a - b.probability) for a, b in zip(first, many, strict=True)) < 1e-9\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@numerical
@pytest.mark.parametrize("seed", range(20))
def test_one_place_of_each_telling_is_a_row_of_the_table(seed):
    case = random_case(seed)
    places = np.array([case.rng.integers(len(told) + 1) for told in case.tellings])
    found = np.empty((len(places), case.size))
    case.model.insert_each(case.tellings, places, found)
    for row, told, place in zip(found, case.tellings, places, strict=True):
        close(row, case.model.insertions(told)[place])


@numerical
@pytest.mark.parametrize("seed", range(40))
def test_any_keys_in_order_are_walked_like_in_the_twin(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 4))
    chain = random_chain(rng, size, histories=False)
    keys = np.unique(rng.integers(8 * (size + 1), size=12))
    singles = int(rng.integers(len(keys) + 1))
    history = rng.normal(size=(len(keys) - singles, size + 1))
    chain = dataclasses.replace(chain, keys=keys, singles=singles, history=history)
    model = TellingModel([f"e{number}" for number in range(size)], chain)
    told = rng.integers(size, size=LONGEST_HISTORY + 3)
    for length in range(len(told) + 1):
        expected = naive.next_log_probs(twin(chain), told[:length])
        close(model.next_log_probs(told[:length]), expected)
    close(model.insertions(told[:5]), naive.insertions(twin(chain), None, told[:5], 0, 5))


@numerical
@pytest.mark.parametrize("longest", [1, 2, LONGEST_HISTORY - 1, LONGEST_HISTORY + 1])
def test_histories_are_as_long_as_they_may_be_and_no_longer(longest, monkeypatch):
    monkeypatch.setattr(naive, "LONGEST_HISTORY", longest)
    differs = 0
    for seed in range(30):
        case = random_case(seed)
        told = case.tellings[2]
        expected = naive.next_log_probs(twin(case.model.forward), told)
        differs += not np.allclose(case.model.next_log_probs(told), expected)
    assert differs


@numerical
def test_far_places_share_the_last_row():
    model = some_model(histories=False)
    told = np.random.default_rng(0).integers(3, size=60)
    (found,) = model.step_log_probs([told])
    close(found, naive.step_log_probs(twin(model.forward), told))


@numerical
def test_large_numbers_do_not_overflow():
    rng = np.random.default_rng(3)
    chain = random_chain(rng, 2)
    tables = ("after", "memory", "told", "place", "history")
    large = {name: 3000 * getattr(chain, name) for name in tables}
    model = TellingModel("ab", dataclasses.replace(chain, **large))
    told = np.array([0, 1, 1, 0])
    found = model.insertions(told)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(
        found, naive.insertions(twin(model.forward), None, told, 0, 4), rtol=RTOL, atol=1e-7
    )


# As a distribution


@numerical
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1, 2])
def test_tellings_and_going_on_sum_to_one(seed, size):
    model = random_model(np.random.default_rng(seed), size, histories=seed % 2 == 0)
    longest = 5
    total = 0.0
    for length in range(longest + 1):
        tellings = [np.array(one, np.int64) for one in naive.all_tellings(size, length)]
        total += np.exp(model.log_probs(tellings)).sum()
    longer = [np.array(one) for one in naive.all_tellings(size, longest + 1)]
    going_on = sum(np.exp(steps[:-1].sum()) for steps in model.step_log_probs(longer))
    close(total + going_on, 1.0)
    assert 0 < going_on < 1


@numerical
@pytest.mark.parametrize("seed", range(12))
def test_the_worth_of_every_filling_is_in_the_table(seed):
    case = random_case(seed)
    for told in case.tellings:
        table = case.model.insertions(told)
        fillings = [np.insert(told, i, x) for i in range(len(told) + 1) for x in range(case.size)]
        (before,) = case.model.worths([told])
        close(table.ravel(), case.model.worths(fillings) - before)


@numerical
@given(st.integers(0, 2**32 - 1), st.data())
def test_putting_back_what_was_taken_restores_the_worth(seed, data):
    rng = np.random.default_rng(seed)
    size = data.draw(st.integers(1, 4))
    kinds = {"backward": data.draw(st.booleans()), "histories": data.draw(st.booleans())}
    model = random_model(rng, size, **kinds)
    events = st.lists(st.integers(0, size - 1), min_size=1, max_size=8)
    whole = np.array(data.draw(events), np.int64)
    place = data.draw(st.integers(0, len(whole) - 1))
    told = np.delete(whole, place)
    low = data.draw(st.integers(0, place))
    high = data.draw(st.integers(place, len(told)))
    worth, wanted = model.worths([told, whole])
    put_back = model.insertions(told, low, high)[place - low, whole[place]]
    close(worth + put_back, wanted)


@numerical
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 2), max_size=8))
def test_steps_are_what_comes_next(seed, told):
    model = some_model(seed)
    told = np.array(told, np.int64)
    (steps,) = model.step_log_probs([told])
    for t, symbol in enumerate([*told, 3]):
        close(steps[t], model.next_log_probs(told[:t])[symbol])


@numerical
def test_tellings_do_not_disturb_one_another():
    case = random_case(8)
    together = case.model.step_log_probs(case.tellings)
    for told, steps in zip(case.tellings, together, strict=True):
        (alone,) = case.model.step_log_probs([told])
        assert alone.tobytes() == steps.tobytes()


@pytest.mark.parametrize("backward", [True, False])
def test_no_tellings_have_no_log_probs(backward):
    model = some_model(backward=backward)
    assert model.step_log_probs([]) == []
    assert model.log_probs([]).shape == (0,)
    assert model.worths([]).shape == (0,)


# As a value


def test_a_chain_cannot_be_changed():
    chain = some_model().forward
    for field in dataclasses.fields(chain):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(chain, field.name, getattr(chain, field.name))
        value = getattr(chain, field.name)
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0


def test_a_chain_does_not_look_at_arrays_that_it_was_given():
    after = np.zeros((2, 2))
    chain = dataclasses.replace(random_chain(np.random.default_rng(0), 1), after=after)
    after[0, 0] = 5.0
    assert not chain.after.any()


@pytest.mark.parametrize("name", ["events", "forward", "backward", "missing"])
def test_a_model_cannot_be_changed(name):
    model = some_model()
    with pytest.raises(AttributeError):
        setattr(model, name, getattr(model, name))


def test_chains_hold_what_a_file_can_hold():
    chain = some_model().forward
    for name in ("after", "memory", "told", "place", "history"):
        table = getattr(chain, name)
        assert table.dtype == np.float64
        assert np.array_equal(table, table.astype(np.float32))


def test_equal_models_have_equal_hashes():
    missing = Missing(-1.0, 1.0, -1.0)
    one, same = some_model(missing=missing), some_model(missing=missing)
    assert one == same
    assert hash(one) == hash(same)
    assert len({one, same}) == 1
    assert one != "model"
    assert one.forward != "chain"
    others = [
        some_model(8, missing=missing),
        one.with_missing(None),
        one.with_missing(missing._replace(odds=2.0)),
        TellingModel(one.events, one.forward, missing=missing),
        TellingModel(one.events, one.backward, one.forward, missing=missing),
        TellingModel(["x", "y", "z"], one.forward, one.backward, missing=missing),
    ]
    assert all(one != other for other in others)
    with pytest.raises(TypeError, match="unhashable"):
        hash(one.forward)


def test_the_sign_of_zero_does_not_change_the_hash():
    model = some_model()
    zero = np.zeros_like(model.forward.after)
    one, same = (
        TellingModel(model.events, dataclasses.replace(model.forward, after=after))
        for after in (zero, -zero)
    )
    assert one == same
    assert hash(one) == hash(same)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Chain)])
def test_every_part_of_a_chain_counts_for_equality(name):
    chain = some_model(1).forward
    value = getattr(chain, name)
    if name == "singles":
        changes = {"singles": value - 1, "history": np.vstack([chain.history[:1], chain.history])}
    elif name == "keys":
        changes = {"keys": value + 1}
    else:
        changes = {name: value / 2 + 0.25}
    assert chain != dataclasses.replace(chain, **changes)
    assert chain == dataclasses.replace(chain)


def test_a_model_says_what_it_is():
    assert repr(some_model()) == "TellingModel(3 events, both directions)"
    assert repr(some_model(backward=False)) == "TellingModel(3 events, forward only)"


def test_another_notion_of_what_is_missing_changes_nothing_else():
    model = some_model()
    missing = Missing(0.5, 1.0, -0.5)
    other = model.with_missing(missing)
    assert other.missing == missing
    assert model.missing is None
    assert other.forward is model.forward
    assert other.backward is model.backward
    assert other.with_missing(None) == model


WRONG = {
    "after": lambda chain: {"after": chain.after[:-1]},
    "memory": lambda chain: {"memory": chain.memory[:, :-1]},
    "told": lambda chain: {"told": chain.told[:-1]},
    "place": lambda chain: {"place": chain.place[:0]},
    "history": lambda chain: {"history": chain.history[:-1]},
    "told has a number": lambda chain: {"told": chain.told * np.nan},
    "fade": lambda chain: {"fade": 1.0},
    "out of range": lambda chain: {"fade": -0.1},
    "again": lambda chain: {"again": np.inf},
    "average": lambda chain: {"average": np.nan},
    "keys": lambda chain: {"keys": chain.keys[::-1]},
    "not in order": lambda chain: {"keys": np.zeros_like(chain.keys)},
    "histories": lambda chain: {"keys": chain.keys - 1 - chain.keys[0]},
    "expected": lambda chain: {"singles": -1},
}


@pytest.mark.parametrize("problem", WRONG)
def test_what_makes_no_chain_is_refused(problem):
    chain = some_model().forward
    assert len(chain.history)
    with pytest.raises(el.ScriptError, match=problem) as caught:
        dataclasses.replace(chain, **WRONG[problem](chain))
    assert str(caught.value).isprintable()


def test_singles_out_of_range_are_refused():
    chain = some_model(histories=False).forward
    for singles in (-1, 1):
        with pytest.raises(el.ScriptError, match="telling model"):
            dataclasses.replace(chain, singles=singles)


def test_chains_of_other_events_are_refused():
    model, other = some_model(), random_model(np.random.default_rng(0), 2)
    with pytest.raises(el.ScriptError, match="of 2 events, expected 3"):
        TellingModel(model.events, other.forward)
    with pytest.raises(el.ScriptError, match="of 2 events, expected 3"):
        TellingModel(model.events, model.forward, other.backward)


COPIES = {
    "copied": copy.copy,
    "deeply copied": copy.deepcopy,
    "pickled": lambda value: pickle.loads(pickle.dumps(value)),  # noqa: S301
}
every_copy = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)


@every_copy
@pytest.mark.parametrize("asked_before", [False, True])
def test_a_copy_answers_the_same(copied, asked_before):
    model = some_model(missing=Missing(-1.0, 1.0, -1.0))
    told = np.array([0, 2, 1, 1])
    if asked_before:
        model.insertions(told)
    same = copied(model)
    assert same == model
    assert hash(same) == hash(model)
    assert same.insertions(told).tobytes() == model.insertions(told).tobytes()
    assert same.next_log_probs(told).tobytes() == model.next_log_probs(told).tobytes()


@pytest.mark.parametrize("kind", ["deeply copied", "pickled"])
def test_a_copy_cannot_be_changed_either(kind):
    chain = COPIES[kind](some_model()).forward
    for field in dataclasses.fields(chain):
        value = getattr(chain, field.name)
        assert not isinstance(value, np.ndarray) or not value.flags.writeable


# With a script and in files


def script():
    return el.Script.build(
        states={"one": {"e0": 0.5, "e1": 0.25, None: 0.25}, "two": "e2"},
        edges={"start": {"one": 1}, "one": {"two": 1}, "two": {"end": 1}},
    )


def told_script(**options):
    return script().with_telling(some_model(**options))


def test_a_script_keeps_its_telling_model():
    bare, model = script(), some_model()
    assert bare.telling is None
    told = bare.with_telling(model)
    assert told.telling is model
    assert told != bare
    assert told == bare.with_telling(some_model())
    assert told.with_telling(None) == bare
    assert told.annotated(more=1).telling is model
    assert "telling model" in repr(told)


@every_copy
def test_a_copied_script_keeps_its_telling_model(copied):
    told = told_script(missing=Missing(-1.0, 1.0, -1.0))
    same = copied(told)
    assert same == told
    assert same.telling == told.telling


@pytest.mark.parametrize("names", [["e0", "e1"], ["e0", "e2", "e1"], ["e0", "e1", "other"]])
def test_a_telling_model_of_other_events_is_refused(names):
    rng = np.random.default_rng(0)
    model = TellingModel(names, random_chain(rng, len(names)))
    with pytest.raises(el.ScriptError, match="other events"):
        script().with_telling(model)


@pytest.mark.parametrize("backward", [True, False])
@pytest.mark.parametrize("histories", [True, False])
@pytest.mark.parametrize("missing", [None, Missing(-0.1, 1 / 3, 1e-300)])
def test_a_saved_script_answers_to_the_last_bit(tmp_path, backward, histories, missing):
    path = tmp_path / "script.json"
    told = told_script(backward=backward, histories=histories, missing=missing)
    told.save(path)
    found = el.load(path)
    assert found == told
    assert hash(found) == hash(told)
    assert found.telling == told.telling
    assert found.telling.missing == missing
    assert dumps(found) == dumps(told) == path.read_bytes()
    for events in ([], [0], [2, 0, 0, 1, 2, 1]):
        narrative = np.array(events, np.int64)
        for question in ("insertions", "next_log_probs"):
            one, other = (getattr(some.telling, question)(narrative) for some in (found, told))
            assert one.tobytes() == other.tobytes()
        one, other = (some.telling.worths([narrative]) for some in (found, told))
        assert one.tobytes() == other.tobytes()
    for chain in (found.telling.forward, found.telling.backward):
        assert chain is None or not chain.after.flags.writeable


NUMPY_NUMBERS = [("fade", np.float64), ("again", np.float32), ("singles", np.int64)]


@pytest.mark.parametrize(("name", "kind"), NUMPY_NUMBERS)
def test_a_chain_of_numpy_numbers_can_be_saved(name, kind):
    chain = some_model().forward
    chain = dataclasses.replace(chain, **{name: kind(getattr(chain, name))})
    told = script().with_telling(TellingModel(script().events, chain))
    assert loads(dumps(told)) == told


def damaged(change):
    """The bytes of a file whose forward chain was changed, with a checksum that fits."""
    raw = json.loads(dumps(told_script(missing=Missing(-1.0, 1.0, -1.0))))
    change(raw["telling"])
    raw["checksum"] = "sha256:" + "0" * 64
    text = json.dumps(raw)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return text.replace("0" * 64, digest).encode()


def encoded(array):
    return base64.b64encode(array.tobytes()).decode()


def changed_array(direction, name, change, kind="<f4"):
    """Change one of the arrays of a file."""

    def changed(telling):
        chain = telling[direction]
        array = np.frombuffer(base64.b64decode(chain[name]), kind).copy()
        chain[name] = encoded(change(array))

    return changed


def with_number(number):
    def change(array):
        array[-1] = number
        return array

    return change


def set_to(*path, value):
    def change(telling):
        for name in path[:-1]:
            telling = telling[name]
        telling[path[-1]] = value

    return change


def taken_away(*path):
    def change(telling):
        for name in path[:-1]:
            telling = telling[name]
        del telling[path[-1]]

    return change


TABLES = ("after", "memory", "told", "place", "history")
DIRECTIONS = ("forward", "backward")
DAMAGES = {
    f"{direction} {name} {what}": changed_array(direction, name, change)
    for direction in DIRECTIONS
    for name in TABLES
    for what, change in {
        "too short": lambda array: array[:-1],
        "a row short": lambda array: array[:-4] if len(array) > 4 else array[:0],
        "half a number": lambda array: np.frombuffer(array.tobytes()[:-1], np.uint8),
        "not a number": with_number(np.nan),
        "infinite": with_number(np.inf),
    }.items()
    if not (name == "place" and what == "a row short")  # there may be any number of places
} | {
    f"{direction} {what}": change
    for direction in DIRECTIONS
    for what, change in {
        "no places": changed_array(direction, "place", lambda array: array[:0]),
        "a row more of after": changed_array(direction, "after", lambda a: np.append(a, a[:4])),
        "keys not in order": changed_array(direction, "keys", lambda keys: keys[::-1], "<i8"),
        "a key twice": changed_array(direction, "keys", lambda keys: keys * 0 + 1, "<i8"),
        "a key below zero": changed_array(direction, "keys", lambda keys: keys - 99, "<i8"),
        "a key too few": changed_array(direction, "keys", lambda keys: keys[:-1], "<i8"),
        "half a key": changed_array(direction, "keys", lambda keys: keys.view("<i4")[:-1], "<i8"),
        "no base64": set_to(direction, "after", value="/*?*/"),
        "broken base64": set_to(direction, "keys", value="AAA"),
        "a line end in base64": set_to(direction, "keys", value="AAAA\nAAAA"),
        "a list": set_to(direction, "told", value=[1.0, 2.0]),
        "null": set_to(direction, "told", value=None),
        "fade of one": set_to(direction, "fade", value=1.0),
        "fade below zero": set_to(direction, "fade", value=-0.5),
        "fade as text": set_to(direction, "fade", value="0.5"),
        "huge number": set_to(direction, "again", value=10**400),
        "singles below zero": set_to(direction, "singles", value=-1),
        "singles too many": set_to(direction, "singles", value=10**6),
        "huge singles": set_to(direction, "singles", value=10**400),
        "broken singles": set_to(direction, "singles", value=1.5),
        "something else": set_to(direction, "more", value=1),
        "without keys": taken_away(direction, "keys"),
    }.items()
} | {
    "no forward chain": set_to("forward", value=None),
    "forward missing": taken_away("forward"),
    "missing of two numbers": set_to("missing", value=[1.0, 2.0]),
    "missing as text": set_to("missing", value=["a", "b", "c"]),
    "something more": set_to("sideways", value=None),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_telling_model_is_refused_in_one_line(damage, tmp_path):
    path = tmp_path / "damaged.json"
    path.write_bytes(damaged(DAMAGES[damage]))
    with pytest.raises(el.FileFormatError) as caught:
        el.load(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.isprintable()
    assert len(message) < 400


@pytest.mark.parametrize("value", [[], "text", 1, True, {}])
def test_a_telling_model_of_another_type_is_refused(value):
    content = damaged(dict.clear).replace(
        b'"telling": {}', b'"telling": ' + json.dumps(value).encode()
    )
    with pytest.raises(el.FileFormatError, match="damaged") as caught:
        loads(content, checksum=False)
    assert str(caught.value).isprintable()


def test_an_undamaged_copy_is_read():
    assert loads(damaged(lambda telling: None)) == told_script(missing=Missing(-1.0, 1.0, -1.0))


def test_a_damaged_byte_of_the_telling_model_does_not_fit_the_checksum():
    content = dumps(told_script())
    place = content.index(b'"memory": "') + len(b'"memory": "')
    spoiled = content[:place] + (b"B" if content[place : place + 1] == b"A" else b"A")
    spoiled += content[place + 1 :]
    with pytest.raises(el.FileFormatError, match="checksum"):
        loads(spoiled)
