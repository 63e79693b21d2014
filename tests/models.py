"""Random small models and narratives for Hypothesis, and the tolerances of the tests."""

from __future__ import annotations

import os

import numpy as np
from hypothesis import strategies as st

from elision.lattice import Parameters
from elision.values.observations import Packer
from elision.values.script import Script

RTOL = 1e-9
ATOL = 1e-12
EXAMPLES = 12 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 120


def events(count):
    return tuple(f"e{number}" for number in range(count))


def pack(narratives, count):
    """Pack narratives in the notation of `naive`: event numbers, None, lists of weights."""
    names = events(count)

    def named(item):
        if item is None:
            return None
        if isinstance(item, int):
            return names[item]
        return {name: weight for name, weight in zip(names, item, strict=True) if weight > 0}

    return Packer(names).pack([[named(item) for item in narrative] for narrative in narratives])


def parameters(model):
    return Parameters.from_dense(*model)


@st.composite
def models(draw, most_states=4, most_events=3, elisions=True):
    """Transition, emission, elision: every interior state reachable, self-loops and all."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    size = 2 + draw(st.integers(0, most_states))
    count = draw(st.integers(1, most_events))
    density = draw(st.sampled_from([0.3, 0.7, 1.0]))
    transition = np.triu(rng.random((size, size)) * (rng.random((size, size)) < density), 1)
    for k in range(1, size - 1):
        if not transition[:k, k].any():
            transition[rng.integers(k), k] = rng.random() + 0.1
        if rng.random() < 0.5:
            transition[k, k] = rng.random() * 0.8
    for k in range(size - 1):
        if not transition[k, k + 1 :].any():
            transition[k, rng.integers(k + 1, size)] = rng.random() + 0.1
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    emission = rng.random((size, count)) * (rng.random((size, count)) < 0.8)
    elision = rng.random(size) * (rng.random(size) < 0.8) if elisions else np.zeros(size)
    elision[(emission.sum(axis=1) + elision) == 0] = 1.0 if elisions else 0.0
    if not elisions:
        emission[emission.sum(axis=1) == 0, 0] = 1.0
    total = emission.sum(axis=1) + elision
    emission /= total[:, None]
    elision /= total
    emission[[0, -1]] = 0
    elision[[0, -1]] = 0
    return transition, emission, elision


def observations(count):
    weights = st.lists(
        st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=count, max_size=count
    ).filter(any)
    hard = st.integers(0, count - 1)
    return st.one_of(hard, hard, hard, st.none(), weights)


@st.composite
def cases(draw, most_narratives=3, most_length=6, **limits):
    """A model and some narratives with soft, unknown and hard events."""
    model = draw(models(**limits))
    item = observations(model[1].shape[1])
    narrative = st.lists(item, max_size=most_length)
    return model, draw(st.lists(narrative, min_size=1, max_size=most_narratives))


def row(states, told=0.8, loop=0.5):
    """States in a row that tell an event of their own, may repeat themselves and be skipped."""
    names = [f"s{k}" for k in range(states)]
    ways = {"start": {names[0]: 1.0}}
    for k, name in enumerate(names):
        ahead = names[k + 1 : k + 4] or ["end"]
        ways[name] = {name: loop} | dict.fromkeys(ahead, (1 - loop) / len(ahead))
    return Script.build({name: {name: told, None: 1 - told} for name in names}, ways)
