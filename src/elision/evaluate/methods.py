"""The methods that can be measured, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elision.errors import InputError
from elision.learn.baselines import (
    BidirectionalBigram,
    Conditional,
    Frequency,
    LogisticGap,
    SkipNaiveBayes,
)
from elision.learn.sem import BMM, BMMEM, SEMHMM
from elision.learning import DEFAULT, make_learner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.evaluate.cloze import Filler
    from elision.learn.search import Costs

BASELINES: dict[str, Any] = {
    "Frequency": Frequency,
    "Conditional": Conditional,
    "BidirectionalBigram": BidirectionalBigram,
    "SkipNaiveBayes": SkipNaiveBayes,
    "LogisticGap": LogisticGap,
}
LEARNERS: dict[str, Any] = {
    "BMM": BMM,
    "BMMEM": BMMEM,
    "SEMHMM-approx": SEMHMM,
    "SEMHMM": SEMHMM,
}
"""Learners of the paper, which depend on the batch size."""

ALL = (*BASELINES, *LEARNERS, "default")
"""Every method; "default" is what ``elision learn`` uses."""


def has_batches(method: str) -> bool:
    """Whether a method is measured at several batch sizes."""
    return method in LEARNERS


def check_methods(names: Sequence[str]) -> tuple[str, ...]:
    """Return the methods asked for, all if none is.

    Examples
    --------
    >>> check_methods(["BMM"])
    ('BMM',)
    """
    for name in names:
        if name not in ALL:
            raise InputError(f"method {name!r}, expected some of {', '.join(ALL)}")
    return tuple(dict.fromkeys(names)) or ALL


def make(
    method: str, events: Sequence[str], *, batch: int | None, seed: int, costs: Costs
) -> Filler:
    """Make a fresh filler of this name."""
    found: Any
    if method in BASELINES:
        found = BASELINES[method](events=events)
    elif method == "default":
        found = make_learner(DEFAULT, events=events, random_state=seed)
    else:
        options: dict[str, Any] = {"score": "approx"} if method == "SEMHMM-approx" else {}
        found = LEARNERS[method](
            batch_size=batch,
            events=events,
            random_state=seed,
            state_cost=costs.state,
            edge_cost=costs.edge,
            constraint_cost=costs.constraint,
            plan="paper",
            **options,
        )
    filler: Filler = found
    return filler


def cost_grid() -> list[tuple[float, float, float]]:
    """Values of kappa_q, kappa_t, kappa_c to choose from."""
    return [
        (float(state), float(edge), float(rule))
        for state in (0.0, 0.5, 1.0, 2.0)
        for edge in (0.0, 0.25, 0.5, 1.0)
        for rule in (0.0, 0.5)
    ]
