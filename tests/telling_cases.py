"""Small telling models by chance, with their twins, and what tests of their answers share."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import elision as el
import naive_telling as naive
from elision.values.telling import Chain, TellingModel
from models import ATOL, RTOL

SEEDS = range(12)
NOTHING = np.empty(0, np.int64)


def close(found, expected, **tolerance):
    np.testing.assert_allclose(found, expected, **({"rtol": RTOL, "atol": ATOL} | tolerance))


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


def numbers_of(case, tellings):
    return [tuple(case.names.index(event) for event in one) for one in tellings]
