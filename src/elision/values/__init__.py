"""What is read, learned and kept: narratives, scripts, telling models, outlines, libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.values import library as library
    from elision.values import observations as observations
    from elision.values import outline_reading as outline_reading
else:
    __getattr__ = door(__name__)
