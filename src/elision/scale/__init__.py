"""Corpora that do not fit in memory, and work that one machine is too small for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.scale import engine as engine
    from elision.scale import packed_corpus as packed_corpus
    from elision.scale import packing as packing
    from elision.scale import sampling as sampling
else:
    __getattr__ = door(__name__)
