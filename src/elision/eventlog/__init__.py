"""Event logs kept whole, with events put in between, and handed back as they came."""

from __future__ import annotations

from elision.eventlog.insertion import Case, Insertion
from elision.eventlog.log import EventLog
from elision.eventlog.writing import LogWriter

__all__ = ["Case", "EventLog", "Insertion", "LogWriter"]
