"""From what was read to what is kept: sentences, then learning, then a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.pipeline import learning as learning
else:
    __getattr__ = door(__name__)
