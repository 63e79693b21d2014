"""Scripts and narratives of random models, as the tests of the questions want them."""

from __future__ import annotations

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import elision as el
import naive
from models import ATOL, RTOL, events, models, observations


def script_of(model):
    transition, emission, elision = model
    return el.Script(events(emission.shape[1]), transition, emission, elision)


def named(narrative, count):
    """A narrative in the notation of `naive` as names; `...` stays."""
    names = events(count)
    return [
        item
        if item is None or item is ...
        else names[item]
        if isinstance(item, int)
        else {name: weight for name, weight in zip(names, item, strict=True) if weight > 0}
        for item in narrative
    ]


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=RTOL, atol=ATOL)


@st.composite
def told(draw, most_length=4, soft=False, **limits):
    """A model and a narrative that it can tell."""
    model = draw(models(**limits))
    count = model[1].shape[1]
    item = observations(count) if soft else st.integers(0, count - 1)
    narrative = draw(st.lists(item, max_size=most_length))
    assume(np.isfinite(naive.log_prob(*model, narrative)))
    return model, narrative


@st.composite
def with_gaps(draw, gaps, most_length=3, **limits):
    """A model and a narrative with so many gaps that it can tell."""
    model, narrative = draw(told(most_length, **limits))
    for _ in range(draw(gaps)):
        narrative.insert(draw(st.integers(0, len(narrative))), None)
    assume(np.isfinite(naive.log_prob(*model, narrative)))
    return model, narrative
