"""The scores of a structure search: what each rests on, and what is usual with it.

A new local score is an entry here, and its formula in `elision.kernels.moves.piece`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from elision.learn.em import Prior

ScoreName: TypeAlias = Literal["exact", "approx", "marginal"]
LocalScore: TypeAlias = Literal["approx", "marginal"]


@dataclass(frozen=True, slots=True)
class StructureScore:
    """A score of structures.

    Attributes
    ----------
    method
        What the command line calls learning by it.
    prior
        The usual prior of the parameters.
    kind
        Which formula the kernels use; of the forward likelihood, the one that proposes moves.
    concentrations
        Whether pseudocounts are those of Dirichlet distributions, so that none may be 0.
    backs_off
        Whether parameters are estimated once more with edges to all later states.
    """

    method: str
    prior: Prior
    kind: int
    concentrations: bool = False
    backs_off: bool = False


_PAPER = Prior(transition=1.0, emission=1.0)

SCORES: dict[ScoreName, StructureScore] = {
    "marginal": StructureScore(
        "marginal",
        Prior(transition=1.0, emission=0.01, elision=(1.0, 1.0), base="unigram"),
        kind=1,
        concentrations=True,
        backs_off=True,
    ),
    "exact": StructureScore("sem", _PAPER, kind=0),
    "approx": StructureScore("approx", _PAPER, kind=0),
}
