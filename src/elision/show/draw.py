"""`draw`: a script as a picture in a file or a notebook: its outline, or its states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elision import show
from elision.ask.heard import events_of, hear, hear_all, name_of, single
from elision.errors import InputError
from elision.show.drawing_file import DrawingFile
from elision.show.outline_drawing import draw_laid
from elision.show.outline_overlay import laid_over
from elision.show.picture import picture
from elision.show.svg import svg
from elision.values.observations import Packer, short

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from elision.show.outline_drawing import OutlineDrawing
    from elision.show.outline_overlay import Laid
    from elision.show.picture import Direction, Picture
    from elision.show.svg import Theme
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script


@dataclass(frozen=True, slots=True)
class Drawing(DrawingFile):
    """A drawn script: its picture as data, and as SVG; notebooks show it."""

    picture: Picture
    svg: str
    theme: Theme = "auto"

    def _rendered(self, kind: str) -> bytes:
        return show.raster.rendered(self.svg, kind, dark=self.theme == "dark")

    def counted(self) -> str:
        """How much it shows, in words."""
        return f"{len(self.picture.nodes) - 2} states, {len(self.picture.edges)} edges"

    def __repr__(self) -> str:
        return f"Drawing({self.counted()})"


def draw(
    script: Script,
    path: str | PathLike[str] | None = None,
    *,
    telling: Iterable[Observation] | None = None,
    states: bool = False,
    min_share: float | None = None,
    direction: Direction | None = None,
    title: str | None = None,
    theme: Theme = "auto",
    unknown: Unknown = "error",
) -> Drawing | OutlineDrawing:
    """Draw a script, with a telling laid over it if one is given.

    By default its outline: what happens, in which order, what instead of what, what may be left
    out. With ``states`` the hidden Markov model: boxes are states with their likeliest events, the
    gaps in a box's outline are its elision, the thickness of a line is how often it is taken.

    Parameters
    ----------
    script
        The script.
    path
        An SVG, PNG or PDF file to write, by its suffix.
    telling
        A telling to lay over it: what it tells, what was probably done unsaid, what is out of
        order, and what a sentence of it says not to have happened; over states, its most probable
        path. None in it stands for a gap.
    states
        Draw the states of the script, not its outline.
    min_share
        With ``states``: hide states that a course passes with less probability, and edges taken
        less often; each state keeps its best way in and out. By default as many are shown as one
        can read.
    direction
        With ``states``: "LR", left to right, or "TB", top to bottom, for narrow pages.
    title
        What stands above; by default the activity or domain that the script notes.
    theme
        "light", "dark", or "auto": what the reader prefers (PNG and PDF are light).
    unknown
        What to do with events of the telling that the script does not know: "error" or "ignore".

    Examples
    --------
    >>> import elision as el
    >>> draw(el.examples.doorbell(), telling=["hear doorbell", "open door"], states=True)
    Drawing(10 states, 16 edges)
    """
    if theme not in ("auto", "light", "dark"):
        raise InputError(f"theme is {short(theme)}, expected 'auto', 'light' or 'dark'")
    if not states:
        if min_share is not None or direction is not None:
            given = "min_share" if min_share is not None else "direction"
            raise InputError(
                f"{given} is for states, but an outline is drawn", hint="ask for states"
            )
        laid = None if telling is None else _laid(script, telling, unknown)
        return draw_laid(script.outline(), laid, path, title=title, theme=theme)
    drawn = picture(
        script,
        telling=telling,
        min_share=min_share,
        direction=direction or "LR",
        title=title,
        unknown=unknown,
    )
    drawing = Drawing(drawn, svg(drawn, theme=theme), theme)
    if path is not None:
        drawing.save(path)
    return drawing


def _laid(script: Script, telling: Iterable[Observation], unknown: Unknown) -> Laid:
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
