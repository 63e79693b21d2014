"""What several questions are answered with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.ask.engine import chances as chances
    from elision.ask.engine import conformance as conformance
    from elision.ask.engine import unfinished as unfinished
else:
    __getattr__ = door(__name__)
