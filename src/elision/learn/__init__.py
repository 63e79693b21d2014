"""Learning scripts from narratives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.learn import em as em
    from elision.learn import learner as learner
else:
    __getattr__ = door(__name__)
