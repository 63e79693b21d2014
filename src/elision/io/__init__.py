"""How narratives come in: one function for every format, one kind of error for what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.io import large as large
    from elision.io import preview as preview
    from elision.io.formats import Format
    from elision.io.large import read_variants
    from elision.io.reading import read
else:
    __getattr__ = door(__name__, {"Format": "formats", "read": "reading", "read_variants": "large"})

__all__ = ["Format", "read", "read_variants"]
