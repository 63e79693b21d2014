"""What drawings have in common: an SVG that notebooks show and files hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elision._files import shown_path, write_atomically
from elision.errors import InputError

if TYPE_CHECKING:
    from os import PathLike

    from elision.show.svg import Theme

SUFFIXES = (".svg", ".png", ".pdf")
"""Of files that a drawing can be written to."""


class DrawingFile:
    """A drawing that can be written to a file."""

    __slots__ = ()
    svg: str
    theme: Theme

    def _rendered(self, kind: str) -> bytes:
        """Paint it as "png" or "pdf"."""
        raise NotImplementedError

    def save(self, path: str | PathLike[str]) -> None:
        """Write an SVG, PNG or PDF file, by the suffix, whole or not at all.

        PNG and PDF need matplotlib: ``pip install "elision[draw]"``.
        """
        write_atomically(path, self.content(path))

    def content(self, path: str | PathLike[str]) -> bytes:
        """Return what `save` would write to a file of this name."""
        suffix = Path(path).suffix.lower()
        if suffix == ".svg":
            return self.svg.encode()
        if suffix in SUFFIXES:
            return self._rendered(suffix[1:])
        raise InputError(
            f"cannot draw a file of the kind {suffix or 'without suffix'}",
            where=shown_path(path),
            hint="name it .svg, .png or .pdf",
        )

    def _repr_svg_(self) -> str:
        return self.svg
