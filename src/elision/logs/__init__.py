"""Event logs of people: repaired in place, with every row and attribute that they came with."""

from __future__ import annotations

from elision._rooms import door

__getattr__ = door(__name__)
