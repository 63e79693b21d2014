"""Progress of a long run on disk, so that it can be resumed after an interruption."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from elision._files import shown_path, write_atomically
from elision.errors import FileFormatError
from elision.learn.counts import CountsModel
from elision.learn.observe import BatchDone
from elision.learn.structure import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.learn.observe import Event
    from elision.learn.sem import SEMHMM

FORMAT = "elision-progress"


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    fingerprint: str
    states: int
    events: int
    edges: list[tuple[int, int, float]]
    emission: list[tuple[int, int, float]]
    elision: list[float]
    support: list[tuple[int, int]]
    history: list[BatchDone]


class Checkpoint:
    """Keeps the progress of one fit in a file, as its observer.

    The file belongs to one learner with its settings and one list of narratives: `load` gives
    nothing if either has changed.

    Parameters
    ----------
    path
        The file.
    learner
        The estimator, with its parameters.
    narratives
        What it learns from.
    """

    def __init__(
        self, path: str | Path, learner: SEMHMM, narratives: Sequence[Sequence[str]]
    ) -> None:
        self.path = Path(path)
        self._fingerprint = _fingerprint(learner, narratives)
        self._history: tuple[BatchDone, ...] = ()

    def load(self) -> Progress | None:
        """Read how far the same fit had come; None if there is no such file, or of another fit."""
        try:
            file = msgspec.json.decode(self.path.read_bytes(), type=_File)
            if file.format != FORMAT or file.fingerprint != self._fingerprint:
                return None
            progress = Progress(
                model=_model(file),
                seen=file.history[-1].seen,
                batches=file.history[-1].batch,
                history=tuple(file.history),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, IndexError) as error:  # msgspec's errors are ValueErrors
            raise _no_progress(self.path, error) from None
        self._history = progress.history
        return progress

    def __call__(self, event: Event, model: CountsModel | None) -> None:
        """Write the progress after each batch."""
        if isinstance(event, BatchDone) and model is not None:
            self._history = (*self._history, event)
            write_atomically(self.path, msgspec.json.encode(self._file(model)))

    def remove(self) -> None:
        """Delete the file: the fit is complete."""
        self.path.unlink(missing_ok=True)

    def _file(self, model: CountsModel) -> _File:
        return _File(
            format=FORMAT,
            fingerprint=self._fingerprint,
            states=model.states,
            events=model.emission.shape[1],
            edges=_entries(model.transition, model.edge),
            emission=_entries(model.emission, model.emission != 0),
            elision=model.elision.tolist(),
            support=[(k, o) for k, o, _ in _entries(model.emission, model.support)],
            history=list(self._history),
        )


def _no_progress(path: Path, error: Exception) -> FileFormatError:
    return FileFormatError(
        f"no progress file: {getattr(error, 'strerror', None) or error}",
        where=shown_path(path),
        hint="delete it to start anew",
    )


def _entries(values: Any, where: Any) -> list[tuple[int, int, float]]:
    rows, columns = np.nonzero(where)
    numbers = values[rows, columns].tolist()
    return list(zip(rows.tolist(), columns.tolist(), numbers, strict=True))


def _model(file: _File) -> CountsModel:
    edge = np.zeros((file.states, file.states), bool)
    transition = np.zeros((file.states, file.states))
    emission = np.zeros((file.states, file.events))
    support = np.zeros((file.states, file.events), bool)
    for j, k, count in file.edges:
        edge[j, k] = True
        transition[j, k] = count
    for k, o, count in file.emission:
        emission[k, o] = count
    for k, o in file.support:
        support[k, o] = True
    return CountsModel(edge, transition, emission, np.array(file.elision), support)


def _fingerprint(learner: SEMHMM, narratives: Sequence[Sequence[str]]) -> str:
    """What a fit depends on: the learner's parameters and the narratives in their order."""
    parameters = {name: value for name, value in learner.get_params().items() if name != "observer"}
    told = [list(narrative) for narrative in narratives]
    text = json.dumps([type(learner).__name__, parameters, told], sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()
