"""What a telling model answers: the questions about tellings, by whole tellings compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.ask.telling import stretches as stretches
else:
    __getattr__ = door(__name__)
