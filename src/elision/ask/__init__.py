"""Questions to a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.ask import engine as engine
    from elision.ask import follow as follow
    from elision.ask import following as following
    from elision.ask import heard as heard
    from elision.ask import identify as identify
    from elision.ask import many as many
    from elision.ask import outlining as outlining
    from elision.ask import score as score
    from elision.ask import sentences as sentences
    from elision.ask import telling as telling
    from elision.ask import who as who
else:
    __getattr__ = door(__name__)
