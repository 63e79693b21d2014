"""The methods that can be measured, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elision.errors import InputError
from elision.learn.answers import ScriptAnswers
from elision.learn.baselines import (
    BidirectionalBigram,
    Conditional,
    Frequency,
    LogisticGap,
    SkipNaiveBayes,
)
from elision.learn.ensemble import ScriptEnsemble
from elision.learn.sem import BMM, BMMEM, SEMHMM
from elision.learning import DEFAULT, make_learner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from elision.evaluate.cloze import Filler
    from elision.learn.search import Costs
    from elision.learn.sem import Narratives
    from elision.script import Script

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

OWN = {"marginal": "marginal", "consensus": "ensemble", "default": DEFAULT}
"""What ``elision learn`` offers beyond the paper, and the learner of each: "marginal" is one
script, "default" what is used unless told otherwise, "consensus" the one script that an ensemble
shows, asked alone."""

ALL = (*BASELINES, *LEARNERS, *OWN)
"""Every method."""


class Consensus(ScriptAnswers, ScriptEnsemble):
    """The one script that stands for an ensemble, backed off for filling gaps, asked alone."""

    @classmethod
    def of(cls, learner: ScriptEnsemble) -> Self:
        """Ask an ensemble that has learned already."""
        one = cls(**learner.get_params())
        one.__dict__.update(learner.__dict__)
        if hasattr(one, "filler_"):
            one.script_ = one.filler_
        return one

    def resume(self, X: Narratives, kept: Mapping[int, Script] | None) -> Self:
        """Fit, and then answer by the one script."""
        super().resume(X, kept)
        self.script_ = self.filler_
        return self


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


def learner_of(method: str) -> str:
    """What a method learns by: methods of the same learner need to learn only once.

    Examples
    --------
    >>> learner_of("consensus"), learner_of("BMM")
    ('ensemble', 'BMM')
    """
    return OWN.get(method, method)


def asked_as(method: str, learned: Any) -> Filler:
    """What has been learned by the learner of a method, as the method asks it."""
    found: Filler = Consensus.of(learned) if method == "consensus" else learned
    return found


def make(
    method: str, events: Sequence[str], *, batch: int | None, seed: int, costs: Costs
) -> Filler:
    """Make a fresh filler of this name."""
    return asked_as(method, make_learner_of(method, events, batch=batch, seed=seed, costs=costs))


def make_learner_of(
    method: str, events: Sequence[str], *, batch: int | None, seed: int, costs: Costs
) -> Any:
    """Make the learner of a method, see `learner_of`."""
    if method in BASELINES:
        return BASELINES[method](events=events)
    if method in OWN:
        return make_learner(OWN[method], events=events, random_state=seed)
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
