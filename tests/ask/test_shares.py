"""Shares and tails by hand: what is none of the scripts, and how many tellings are as odd."""

from __future__ import annotations

import math

import numpy as np
import pytest

import elision as el
from elision.ask.identify import Identifier, Witness
from elision.ask.score import score


def knock(chance):
    """A script that tells one event, or nothing."""
    return el.Script.build(
        {"knock": {"knock": chance, None: 1 - chance}}, {"start": {"knock": 1}, "knock": {"end": 1}}
    )


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.9])
def test_the_share_of_none_of_these_is_its_prior(share):
    """Where evidence says nothing, probabilities are the priors."""
    priors = np.array([0.25, 0.75])
    witnesses = {"one": Witness(knock(0.5)), "two": Witness(knock(0.9))}
    identifier = Identifier(witnesses, priors)
    found = identifier._weighed(np.zeros(2), 0.0, share)
    assert found.probability(None) == pytest.approx(share)
    assert found.probability("one") == pytest.approx(0.25 * (1 - share))
    assert found.probability("two") == pytest.approx(0.75 * (1 - share))
    # Evidence multiplies odds.
    tilted = identifier._weighed(np.log([6.0, 1.0]), math.log(2.0), share)
    weights = np.array([0.25 * (1 - share) * 6, 0.75 * (1 - share), share * 2])
    for name, weight in zip(("one", "two", None), weights / weights.sum(), strict=True):
        assert tilted.probability(name) == pytest.approx(weight)
    assert {one.name: one.log_evidence for one in tilted.candidates if one.name}[
        "one"
    ] == pytest.approx(math.log(3.0))


def test_a_p_value_counts_the_telling_itself():
    """(k + 1) / (n + 1), never k / n: no telling is impossible because none drawn was like it."""
    script = knock(0.5)
    for samples in (1, 4, 9):
        assert score(script, ["knock"], samples=samples).p_value == 1.0
    rare = el.Script.build({"a": {"x": 1 - 1e-9, "y": 1e-9}}, {"start": {"a": 1}, "a": {"end": 1}})
    assert score(rare, ["y"], samples=9).p_value == pytest.approx(0.1)
    assert score(rare, ["x"], samples=9).p_value == 1.0
