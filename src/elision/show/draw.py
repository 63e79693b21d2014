"""`draw`: the outline of a script as a picture in a file or a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from elision._files import shown_path, write_atomically
from elision.ask.heard import events_of, hear, hear_all, name_of, single
from elision.errors import InputError
from elision.show.outline_picture import outline_picture
from elision.show.outline_svg import outline_svg
from elision.show.overlay import laid_over
from elision.values.observations import Packer, short

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from elision.show.outline_picture import OutlinePicture
    from elision.show.outline_svg import Theme
    from elision.show.overlay import Overlay
    from elision.values.observations import Observation, Unknown
    from elision.values.outline import Outline
    from elision.values.script import Script

DOTS_PER_PIXEL = 2
LARGEST = 32_000
"""Dots that a PNG may be wide or high."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawn outline: its picture as data, and as SVG; notebooks show it."""

    picture: OutlinePicture
    svg: str

    def save(self, path: str | PathLike[str]) -> None:
        """Write an SVG or PNG file, by the suffix, whole or not at all.

        PNG needs resvg-py: ``pip install "elision[draw]"``.
        """
        write_atomically(path, self.content(path))

    def content(self, path: str | PathLike[str]) -> bytes:
        """Return what `save` would write to a file of this name."""
        suffix = Path(path).suffix.lower()
        if suffix == ".svg":
            return self.svg.encode()
        if suffix == ".png":
            return png(self)
        hint = "name it .svg or .png"
        raise InputError(
            f"cannot draw a file of the kind {suffix or 'without suffix'}",
            where=shown_path(path),
            hint=f"{hint}; a browser prints an .svg as PDF" if suffix == ".pdf" else hint,
        )

    def counted(self) -> str:
        """How much it shows, in words."""
        drawn, steps = self.picture.counts()
        some = "" if drawn == steps else f"{drawn} of "
        return f"{some}{steps} steps, {len(self.picture.links)} links"

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Drawing({self.counted()})"


def draw(
    script: Script,
    path: str | PathLike[str] | None = None,
    *,
    telling: Iterable[Observation] | None = None,
    title: str | None = None,
    theme: Theme = "auto",
    unknown: Unknown = "error",
) -> Drawing:
    """Draw the outline of a script, with a telling laid over it if one is given.

    The main course goes from start to end. Steps in one frame come in any order, or instead of
    each other, as its label says; rare ones are noted below their place. The more tellings tell a
    step, the stronger its ink.

    Parameters
    ----------
    script
        The script.
    path
        An SVG or PNG file to write, by its suffix.
    telling
        A telling to lay over it: what it tells, what was probably done unsaid, what is out of
        order, and what a sentence of it says not to have happened. None in it stands for a gap.
    title
        What stands above; by default the activity or domain that the script notes.
    theme
        "light", "dark", or "auto": what the reader prefers (a PNG is light).
    unknown
        What to do with events of the telling that the script does not know: "error" or "ignore".

    Examples
    --------
    >>> import elision as el
    >>> drawing = draw(el.examples.doorbell(), telling=["hear doorbell", "open door"])
    >>> "unsaid" in drawing.svg
    True
    """
    laid = None if telling is None else _laid(script, telling, unknown)
    return draw_outline(script.outline(), laid, path, title=title, theme=theme)


def draw_outline(
    outline: Outline,
    laid: Overlay | None = None,
    path: str | PathLike[str] | None = None,
    *,
    title: str | None = None,
    theme: Theme = "auto",
) -> Drawing:
    """Draw an outline, with what is known of a telling, see `draw`."""
    if theme not in ("auto", "light", "dark"):
        raise InputError(f"theme is {short(theme)}, expected 'auto', 'light' or 'dark'")
    picture = outline_picture(outline, laid, title=title)
    drawing = Drawing(picture, outline_svg(picture, theme=theme))
    if path is not None:
        drawing.save(path)
    return drawing


def png(drawing: Drawing) -> bytes:
    """Render a drawing as PNG, with the fonts of this machine.

    Raises
    ------
    InputError
        If resvg-py is missing, no font is installed, or the picture is too large.
    """
    width, height = drawing.picture.width, drawing.picture.height
    if max(width, height) * DOTS_PER_PIXEL > LARGEST:
        raise InputError(
            f"the picture of {width:.0f} x {height:.0f} pixels is too large for a PNG",
            hint="draw an .svg",
        )
    try:
        import resvg_py  # noqa: PLC0415 - optional
    except ImportError:
        raise InputError(
            "a PNG needs resvg-py, which is not installed",
            hint='pip install "elision[draw]", or draw an .svg',
        ) from None
    if not _has_letters():
        raise InputError(
            "a PNG needs a font, and none is installed on this machine",
            hint="install one, such as DejaVu Sans, or draw an .svg",
        )
    return resvg_py.svg_to_bytes(svg_string=drawing.svg, zoom=DOTS_PER_PIXEL)


@cache
def _has_letters() -> bool:
    """Whether letters can be rendered: without fonts they would be left out without a word."""
    import resvg_py  # noqa: PLC0415 - optional

    box = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text y="9">{}</text></svg>'
    empty, letter = (resvg_py.svg_to_bytes(svg_string=box.format(text)) for text in ("", "x"))
    return empty != letter


def _laid(script: Script, telling: Iterable[Observation], unknown: Unknown) -> Overlay:
    """A telling over the outline; what is unknown is refused or left out."""
    items = list(events_of(telling, script))
    heard = hear(script, items, unknown=unknown)
    told = single(heard, "draw")
    Packer(script.events, unknown=unknown).pack([told])  # complains of what is no observation
    denied: dict[str, list[int]] = {event: [] for event in sorted(heard.denied)}
    if denied:
        each = hear_all(script, [[item] for item in items], unknown=unknown)
        for place, one in enumerate(each):
            for event in one.denied:
                denied[event].append(place)
    return laid_over(
        script.outline(),
        [None if item is None else name_of(item) for item in told],
        places=heard.positions,
        length=len(items),
        denied=denied,
    )
