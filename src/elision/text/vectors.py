"""Word vectors, where the optional package that carries them is installed.

wordllama (``pip install elision[vectors]``) brings its own table of vectors; nothing is downloaded.
Words are looked up one at a time and remembered, so a word has the same vector whatever stands
beside it.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["DIMENSIONS", "installed", "use_vectors", "word_vectors"]

DIMENSIONS = 256
_CURE = "pip install 'elision[vectors]'"


def installed() -> bool:
    """Say whether word vectors can be had."""
    return find_spec("wordllama") is not None


def use_vectors(wanted: bool | None) -> bool:
    """Decide whether to use word vectors.

    Parameters
    ----------
    wanted
        True insists, False declines, None takes them where they are installed and warns, once a
        process, where they are not.

    Raises
    ------
    InputError
        If they are insisted on and not there.

    Examples
    --------
    >>> use_vectors(False)
    False
    """
    if wanted is False or installed():
        return wanted is not False
    if wanted:
        raise InputError("vectors=True, but wordllama is not installed", hint=_CURE)
    _warn_once()
    return False


@cache
def _warn_once() -> None:
    message = "wordllama is not installed: event types are found without word vectors"
    warnings.warn(f"{message} ({_CURE}, or vectors=False for silence)", stacklevel=5)


@cache
def _model() -> Any:
    import wordllama  # noqa: PLC0415 - slow

    try:
        folder = Path(wordllama.__file__).parent  # where its table lies: nothing is downloaded
        return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    except (OSError, ValueError) as error:
        raise InputError("the vectors of wordllama are not where they were", hint=_CURE) from error


@cache
def _vector(word: str) -> NDArray[np.float64]:
    """Mean of the vectors of the pieces of a word."""
    return np.asarray(_model().embed([word])[0], dtype=np.float64)


def word_vectors(words: Sequence[str]) -> NDArray[np.float64]:
    """Return the vectors of some words, shape (words, 256)."""
    rows = [_vector(word) for word in words]
    return np.array(rows) if rows else np.zeros((0, DIMENSIONS))
