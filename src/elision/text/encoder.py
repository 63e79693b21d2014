"""Vectors of whole sentences, by an encoder that the user brings.

Words alone do not know that "hop off" and "get out of the bus" tell the same. A neural encoder of
sentences, trained on millions of paraphrases, often does. It has a say when event types are found,
and none afterwards: new sentences are mapped by words, so that a script learned with its help can
be asked where no encoder is.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from elision.errors import InputError, shown
from elision.text.similarity import grained, unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.text.cluster import Compare
    from elision.text.wording import Told

__all__ = ["Encoder", "SentenceEncoder", "as_encoder", "with_encoder"]

WEIGHT = 0.45
"""Of the cosine of two sentences, beside what their words say (see `Weights`)."""


@runtime_checkable
class SentenceEncoder(Protocol):
    """Turns sentences into vectors, one row each; alike sentences point in alike directions."""

    def encode(self, sentences: list[str], /) -> Any:
        """Return one vector a sentence."""
        ...


Encoder: TypeAlias = "SentenceEncoder | str | os.PathLike[str]"
"""An object that encodes, or the name or folder of a model."""


def as_encoder(given: Encoder) -> SentenceEncoder:
    """Return what encodes: the object itself, or the model of a name or in a folder.

    Examples
    --------
    >>> as_encoder(12)
    Traceback (most recent call last):
    ...
    elision.errors.InputError: encoder=12, expected a model or an object with encode(sentences)
    """
    if isinstance(given, str | os.PathLike):
        return _loaded(os.fspath(given))
    if not isinstance(given, SentenceEncoder):
        raise InputError(
            f"encoder={shown(given)}, expected a model or an object with encode(sentences)"
        )
    return given


def _loaded(model: str) -> SentenceEncoder:
    """Load a model by the library that knows it; nothing is downloaded."""
    problem = "neither sentence-transformers nor model2vec is installed"
    for load in (_of_sentence_transformers, _of_model2vec):
        try:
            return load(model)
        except ImportError:
            continue
        except Exception as error:  # noqa: BLE001 - each library has its own
            problem = f"it cannot be loaded: {(str(error).splitlines() or [''])[0][:150]}"
    hint = "pip install sentence-transformers, and name a model or its folder on this machine"
    raise InputError(problem, where=f"encoder {shown(model)}", hint=hint)


def _of_sentence_transformers(model: str) -> SentenceEncoder:
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - slow

    found: SentenceEncoder = SentenceTransformer(model, local_files_only=True)
    return found


def _of_model2vec(model: str) -> SentenceEncoder:
    from model2vec import StaticModel  # noqa: PLC0415 - slow

    if not Path(model).is_dir():
        raise FileNotFoundError("there is no such folder")
    found: SentenceEncoder = StaticModel.from_pretrained(model)
    return found


def with_encoder(compare: Compare, told: Told, encoder: SentenceEncoder) -> Compare:
    """Add the cosine of whole sentences, their common direction taken away, to a comparison."""
    vectors = _directions([wording.text for wording in told.wordings], told.count, encoder)

    def both(rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        similarity = compare(rows, columns)
        similarity += WEIGHT * (vectors[rows] @ vectors[columns].T)
        return similarity

    return both


def _directions(
    sentences: Sequence[str], count: NDArray[np.float64], encoder: SentenceEncoder
) -> NDArray[np.float64]:
    rows = np.asarray(encoder.encode(list(sentences)), dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(sentences) or not np.isfinite(rows).all():
        raise InputError(
            f"the encoder gave {shown(rows.shape)} numbers for {len(sentences)} sentences,"
            " expected one finite vector each"
        )
    rows = unit_rows(rows)
    return grained(unit_rows(rows - (rows * count[:, None]).sum(axis=0) / count.sum()))
