"""Measuring accuracy: the paper's task and how its results are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.evaluate import command as command
    from elision.evaluate import detecting as detecting
    from elision.evaluate import faults as faults
    from elision.evaluate import identifying as identifying
    from elision.evaluate import ordering as ordering
    from elision.evaluate import tables as tables
    from elision.evaluate import together as together
else:
    __getattr__ = door(__name__)
