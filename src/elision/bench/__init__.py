"""How well methods fill gaps, find hidden events and say what is next, measured on tellings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.bench import measuring as measuring
    from elision.bench import report as report
    from elision.bench import tasks as tasks
else:
    __getattr__ = door(__name__)
