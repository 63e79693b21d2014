"""Progress of a long run on disk, so that it can be resumed after an interruption.

A file like those of scripts: one JSON object with format, version and checksum. Counts are arrays
as bytes, little-endian, compressed, which keeps them to the last bit.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from elision._files import shown_path, write_atomically
from elision.errors import InputError
from elision.files.envelope import Envelope
from elision.learn.counts import END, MOST_STATES, START, CountsModel
from elision.learn.observe import BatchDone
from elision.learn.sem import vocabulary_of
from elision.learn.structure import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray

    from elision.learn.observe import Event
    from elision.learn.sem import SEMHMM

FORMAT = "elision-progress"
LARGEST_BYTES = 1 << 30
MOST_CELLS = 1 << 27
"""A larger file, or more counts in it, is refused before the memory runs out."""

ENVELOPE = Envelope(FORMAT, "progress file", LARGEST_BYTES, "delete it to start anew")


class _Fields(msgspec.Struct, forbid_unknown_fields=True):
    settings: str
    narratives: str
    states: int
    events: int
    edge: bytes
    transition: bytes
    emission: bytes
    support: bytes
    elision: bytes
    history: list[BatchDone]


class _File(_Fields, forbid_unknown_fields=True):
    format: str
    version: int
    checksum: str


class OtherRunError(InputError):
    """Progress of a run with other narratives or settings."""


class Checkpoint:
    """Keeps the progress of one fit in a file, as its observer.

    The file belongs to one learner with its settings and one list of narratives: `load` complains
    if either has changed.

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
        parameters = learner.get_params().items()
        known = {name: value for name, value in parameters if name != "observer"}
        self._settings = _digest([type(learner).__name__, known])
        self._narratives = _digest([list(narrative) for narrative in narratives])
        self._size = (
            len(narratives),
            len(vocabulary_of([tuple(one) for one in narratives], learner.events)),
        )
        self._history: tuple[BatchDone, ...] = ()

    def load(self) -> Progress | None:
        """Read how far the same fit had come; None if there is no such file.

        Raises
        ------
        FileFormatError
            If it is damaged.
        OtherRunError
            If it is of another fit.
        """
        if not os.path.lexists(self.path):
            return None
        file = self._read()
        differs = [
            name
            for name in ("narratives", "settings")
            if getattr(file, name) != getattr(self, f"_{name}")
        ]
        if differs:
            problem = f"progress of a run with other {' and '.join(differs)}"
            raise OtherRunError(problem, where=shown_path(self.path), hint="--restart starts anew")
        last = file.history[-1]
        if (last.narratives, file.events) != self._size:
            problem = f"{last.narratives} narratives of {file.events} events"
            ENVELOPE.damaged(problem, shown_path(self.path))
        progress = Progress(_model(file, self.path), last.seen, last.batch, tuple(file.history))
        self._history = progress.history
        return progress

    def _read(self) -> _File:
        where = shown_path(self.path)
        raw = ENVELOPE.opened(ENVELOPE.read(self.path), where)
        file = ENVELOPE.converted(raw, _File, where)
        _check_history(file, where)
        return file

    def __call__(self, event: Event, model: CountsModel | None) -> None:
        """Write the progress after each batch."""
        if isinstance(event, BatchDone) and model is not None:
            self._history = (*self._history, event)
            fields = msgspec.to_builtins(self._fields(model))
            write_atomically(self.path, ENVELOPE.written(fields))

    def remove(self) -> None:
        """Delete the file: the fit is complete."""
        self.path.unlink(missing_ok=True)

    def _fields(self, model: CountsModel) -> _Fields:
        return _Fields(
            settings=self._settings,
            narratives=self._narratives,
            states=model.states,
            events=model.emission.shape[1],
            edge=_packed(np.packbits(model.edge)),
            transition=_packed(model.transition[model.edge].astype("<f8")),
            emission=_packed(model.emission.astype("<f8")),
            support=_packed(np.packbits(model.support)),
            elision=_packed(model.elision.astype("<f8")),
            history=list(self._history),
        )


def _packed(values: NDArray[Any]) -> bytes:
    return zlib.compress(np.ascontiguousarray(values).tobytes(), 6)


def _exactly(content: bytes, kind: DTypeLike, number: int) -> NDArray[Any]:
    """So many numbers: a small file may not blow up."""
    size = number * np.dtype(kind).itemsize
    found = zlib.decompressobj().decompress(content, size + 1)
    if len(found) != size:
        raise ValueError("an array that is too short or too long")
    return np.frombuffer(found, kind)


def _bits(content: bytes, rows: int, columns: int) -> NDArray[np.bool_]:
    found = _exactly(content, np.uint8, -(-rows * columns // 8))
    bits = np.unpackbits(found, count=rows * columns)
    return bits.reshape(rows, columns).astype(bool)


def _check_history(file: _File, where: str) -> None:
    last = [(one.batch, one.seen) for one in file.history]
    grows = all(a[0] + 1 == b[0] and a[1] < b[1] for a, b in pairwise([(0, 0), *last]))
    if not last or not grows or file.history[-1].seen > file.history[-1].narratives:
        ENVELOPE.damaged("batches that do not follow", where)
    states, events = file.states, file.events
    if not 2 <= states <= MOST_STATES or events < 0 or states * (states + events) > MOST_CELLS:
        ENVELOPE.damaged(f"{states} states and {events} events", where)


def _model(file: _File, path: Path) -> CountsModel:
    states, events = file.states, file.events
    try:
        edge = _bits(file.edge, states, states)
        transition = np.zeros((states, states))
        transition[edge] = _exactly(file.transition, "<f8", int(edge.sum()))
        emission = _exactly(file.emission, "<f8", states * events)
        model = CountsModel(
            edge,
            transition,
            emission.reshape(states, events).astype(float),
            _exactly(file.elision, "<f8", states).astype(float),
            _bits(file.support, states, events),
        )
    except (ValueError, zlib.error) as error:
        ENVELOPE.damaged(str(error), shown_path(path))
    counts = (model.transition, model.emission, model.elision)
    if not all(np.isfinite(one).all() and (one >= 0).all() for one in counts):
        ENVELOPE.damaged("a count that is none", shown_path(path))
    if edge[:, START].any() or edge[END].any() or not model.is_whole():
        ENVELOPE.damaged("states that do not lead from start to end", shown_path(path))
    return model


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()
