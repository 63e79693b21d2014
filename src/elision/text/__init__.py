"""From sentences to event types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.text import extract as extract
    from elision.text import hand as hand
    from elision.text import prose as prose
    from elision.text import wording as wording
else:
    __getattr__ = door(__name__)
