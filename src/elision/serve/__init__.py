"""The script explorer: a local page, and what it asks over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.serve import app as app
    from elision.serve import command as command
    from elision.serve import connection as connection
    from elision.serve import guard as guard
    from elision.serve import jobs as jobs
    from elision.serve import messages as messages
    from elision.serve import outlines as outlines
    from elision.serve import reading as reading
    from elision.serve import restore as restore
    from elision.serve import shelf as shelf
    from elision.serve import tellings as tellings
else:
    __getattr__ = door(__name__)
