"""How values are kept in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.files import library as library
    from elision.files import script as script
else:
    __getattr__ = door(__name__)
