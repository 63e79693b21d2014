"""`draw`: a script as a picture in a file or a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elision._files import shown_path, write_atomically
from elision.errors import InputError
from elision.observations import short
from elision.show.picture import picture
from elision.show.svg import svg

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from elision.observations import Observation, Unknown
    from elision.script import Script
    from elision.show.picture import Direction, Picture
    from elision.show.svg import Theme

SUFFIXES = (".svg", ".png", ".pdf")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawn script: its picture as data, and as SVG; notebooks show it."""

    picture: Picture
    svg: str
    theme: Theme = "auto"

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
            from elision.show.raster import rendered  # noqa: PLC0415 - needs matplotlib

            return rendered(self.svg, suffix[1:], dark=self.theme == "dark")
        raise InputError(
            f"cannot draw a file of the kind {suffix or 'without suffix'}",
            where=shown_path(path),
            hint="name it .svg, .png or .pdf",
        )

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        states, edges = len(self.picture.nodes) - 2, len(self.picture.edges)
        return f"Drawing({states} states, {edges} edges)"


def draw(
    script: Script,
    path: str | PathLike[str] | None = None,
    *,
    telling: Iterable[Observation] | None = None,
    least: float | None = None,
    direction: Direction = "LR",
    title: str | None = None,
    theme: Theme = "auto",
    unknown: Unknown = "error",
) -> Drawing:
    """Draw a script, with a telling laid over it if one is given.

    Boxes are states with their likeliest events; the gaps in a box's outline are its elision.
    The thickness of a line is how often it is taken.

    Parameters
    ----------
    script
        The script.
    path
        An SVG, PNG or PDF file to write, by its suffix.
    telling
        A telling whose most probable path is shown; None in it stands for a gap.
    least
        Hide states that a course passes with less probability, and edges taken less often; each
        state keeps its best way in and out. By default as many are shown as one can read.
    direction
        "LR", left to right, or "TB", top to bottom, for narrow pages.
    title
        What stands above; by default the activity or domain that the script notes.
    theme
        "light", "dark", or "auto": what the reader prefers (PNG and PDF are light).
    unknown
        What to do with events of the telling that the script does not know: "error" or "ignore".

    Examples
    --------
    >>> import elision as el
    >>> draw(el.examples.doorbell(), telling=["hear doorbell", "open door"])
    Drawing(10 states, 16 edges)
    """
    if theme not in ("auto", "light", "dark"):
        raise InputError(f"theme is {short(theme)}, expected 'auto', 'light' or 'dark'")
    drawn = picture(
        script, telling=telling, least=least, direction=direction, title=title, unknown=unknown
    )
    drawing = Drawing(drawn, svg(drawn, theme=theme), theme)
    if path is not None:
        drawing.save(path)
    return drawing
