"""The methods that can be measured, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elision.errors import InputError
from elision.learn.baselines import (
    BidirectionalBigram,
    Conditional,
    Frequency,
    LogisticGap,
    NGram,
)
from elision.learn.sem import BMM, BMMEM, SEMHMM
from elision.pipeline.learning import DEFAULT, make_learner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.learn.search import Costs

BASELINES: dict[str, Any] = {
    "Frequency": Frequency,
    "Conditional": Conditional,
    "BidirectionalBigram": BidirectionalBigram,
    "LogisticGap": LogisticGap,
    "NGram": NGram,
}
LEARNERS: dict[str, Any] = {
    "BMM": BMM,
    "BMMEM": BMMEM,
    "SEMHMM-approx": SEMHMM,
    "SEMHMM": SEMHMM,
}
"""Learners of the paper, which depend on the batch size."""

PLAIN = ("BMM", "BMMEM")
"""Those without elisions."""

OWN = ("marginal", DEFAULT)
"""What ``elision learn`` offers beyond the paper: "marginal" is a script alone, by the marginal
score, "default" what is used unless told otherwise."""

ALL = (*BASELINES, *LEARNERS, *OWN)
"""Every method."""

NEXT = ("Frequency", "Conditional", "NGram", *LEARNERS, *OWN)
"""Methods that say what comes next."""


def can(method: str, task: str) -> bool:
    """Whether a method has an answer to a task; where it has none, it is not measured.

    Scripts without elisions have nothing to say about hidden events.

    Examples
    --------
    >>> can("NGram", "next"), can("NGram", "one"), can("BMM", "hidden")
    (True, False, False)
    """
    if task == "next":
        return method in NEXT
    return method != "NGram" and not (task == "hidden" and method in PLAIN)


def has_batches(method: str) -> bool:
    """Whether a method is measured at several batch sizes."""
    return method in LEARNERS


def check_methods(names: Sequence[str], tasks: Sequence[str] = ("one",)) -> tuple[str, ...]:
    """Return the methods asked for, or all that have an answer to some of the tasks.

    Examples
    --------
    >>> check_methods(["BMM"])
    ('BMM',)
    """
    for name in names:
        if name not in ALL:
            raise InputError(f"method {name!r}, expected some of {', '.join(ALL)}")
        if not any(can(name, task) for task in tasks):
            raise InputError(f"method {name!r} has no answer to {' or '.join(tasks)}")
    return tuple(dict.fromkeys(names)) or tuple(
        name for name in ALL if any(can(name, task) for task in tasks)
    )


def make(method: str, events: Sequence[str], *, batch: int | None, seed: int, costs: Costs) -> Any:
    """Make a fresh learner of this name."""
    if method in BASELINES:
        return BASELINES[method](events=events)
    if method in OWN:
        return make_learner(method, events=events, random_state=seed)
    options: dict[str, Any] = {"score": "approx"} if method == "SEMHMM-approx" else {}
    return LEARNERS[method](
        batch_size=batch,
        events=events,
        random_state=seed,
        state_cost=costs.state,
        edge_cost=costs.edge,
        constraint_cost=costs.constraint,
        plan="paper",
        **options,
    )


def cost_grid() -> list[tuple[float, float, float]]:
    """Values of kappa_q, kappa_t, kappa_c to choose from."""
    return [
        (float(state), float(edge), float(rule))
        for state in (0.0, 0.5, 1.0, 2.0)
        for edge in (0.0, 0.25, 0.5, 1.0)
        for rule in (0.0, 0.5)
    ]
