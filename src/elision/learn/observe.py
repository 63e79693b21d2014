"""What happens during learning, for whoever watches: progress bars, logs, checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from elision.learn.counts import CountsModel
    from elision.learn.search import Move


@dataclass(frozen=True, slots=True)
class Moved:
    """A move of the structure search was accepted, ``number`` in this batch."""

    batch: int
    number: int
    move: Move


@dataclass(frozen=True, slots=True)
class Stepped:
    """EM took a step; ``objective`` is the MAP objective before it."""

    batch: int
    number: int
    objective: float


@dataclass(frozen=True, slots=True)
class BatchDone:
    """A batch was absorbed: merged, pruned and re-estimated.

    ``seen`` of all ``narratives`` so far; ``score_before`` and ``score_after`` are the search score
    with the batch's prefix tree and at the end of the search; ``log_prob`` is the mean
    log-probability of the narratives seen, after EM (None without it); ``left_out`` is how many
    narratives of the batch were too much for its prefix tree, and are only counted.
    """

    batch: int
    seen: int
    narratives: int
    states: int
    edges: int
    moves: int
    score_before: float
    score_after: float
    em_steps: int
    log_prob: float | None
    constraints: int
    violated: int
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Stage:
    """Learning of an outline and a telling model begins its next stage.

    ``begins`` and ``ends`` are the shares of the whole work before and after it, as they usually
    are: an estimate, for whoever waits.
    """

    name: str
    begins: float
    ends: float


Event: TypeAlias = "Moved | Stepped | BatchDone"


class Observer(Protocol):
    """Called with everything that happens; after a `BatchDone` with the model as it is then."""

    def __call__(self, event: Event, model: CountsModel | None) -> object:
        """Take note of an event."""
        ...


def ignore(event: Event, model: CountsModel | None) -> None:
    """Observe nothing."""
