"""`draw_outline`: an outline as a picture in a file or a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elision import show
from elision.errors import InputError
from elision.show.drawing_file import DrawingFile
from elision.show.outline_overlay import laid_over
from elision.show.outline_picture import laid_picture
from elision.show.outline_svg import outline_svg
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from elision.show.outline_overlay import Laid
    from elision.show.outline_picture import OutlinePicture
    from elision.show.svg import Theme
    from elision.values.outline import Outline


@dataclass(frozen=True, slots=True)
class OutlineDrawing(DrawingFile):
    """A drawn outline: its picture as data, and as SVG; notebooks show it."""

    picture: OutlinePicture
    svg: str
    theme: Theme = "auto"

    def _rendered(self, kind: str) -> bytes:
        return show.outline_raster.rendered_outline(self.svg, kind, dark=self.theme == "dark")

    def counted(self) -> str:
        """How much it shows, in words."""
        drawn, steps = self.picture.counts()
        some = "" if drawn == steps else f"{drawn} of "
        return f"{some}{steps} steps, {len(self.picture.links)} links"

    def __repr__(self) -> str:
        return f"OutlineDrawing({self.counted()})"


def draw_outline(
    outline: Outline,
    path: str | PathLike[str] | None = None,
    *,
    telling: Sequence[str | None] | None = None,
    title: str | None = None,
    theme: Theme = "auto",
) -> OutlineDrawing:
    """Draw an outline, with a telling laid over it if one is given.

    The main course goes from start to end. Steps in one frame come in any order, or instead of
    each other, as its label says; rare ones are noted below their place. The more tellings tell a
    step, the stronger its ink.

    Parameters
    ----------
    outline
        The outline.
    path
        An SVG, PNG or PDF file to write, by its suffix.
    telling
        Names of events. What it tells is marked with the number of the line, what it probably
        leaves unsaid with how probable that is, and what it tells out of order.
    title
        What stands above; by default the outline's own.
    theme
        "light", "dark", or "auto": what the reader prefers (PNG and PDF are light).

    Examples
    --------
    >>> import elision as el
    >>> outline = el.examples.doorbell().outline()
    >>> drawing = draw_outline(outline, telling=["hear doorbell", "open door"])
    >>> "unsaid" in drawing.svg
    True
    """
    if theme not in ("auto", "light", "dark"):
        raise InputError(f"theme is {short(theme)}, expected 'auto', 'light' or 'dark'")
    return draw_laid(
        outline,
        None if telling is None else laid_over(outline, telling),
        path,
        title=title,
        theme=theme,
    )


def draw_laid(
    outline: Outline,
    laid: Laid | None,
    path: str | PathLike[str] | None = None,
    *,
    title: str | None = None,
    theme: Theme = "auto",
) -> OutlineDrawing:
    """Draw an outline with what is known of a telling, see `draw_outline`."""
    if title is not None and not isinstance(title, str):
        raise InputError(f"title is {short(title)}, expected a text")
    drawn = laid_picture(outline, laid, outline.title if title is None else title)
    drawing = OutlineDrawing(drawn, outline_svg(drawn, theme=theme), theme)
    if path is not None:
        drawing.save(path)
    return drawing
