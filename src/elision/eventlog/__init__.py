"""Event logs kept whole, with events put in between, and handed back as they came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.eventlog import reading as reading
    from elision.eventlog import streaming as streaming
    from elision.eventlog.insertion import Case, Insertion
    from elision.eventlog.log import EventLog
    from elision.eventlog.writing import LogWriter
else:
    __getattr__ = door(
        __name__,
        {"Case": "insertion", "EventLog": "log", "Insertion": "insertion", "LogWriter": "writing"},
    )

__all__ = ["Case", "EventLog", "Insertion", "LogWriter"]
