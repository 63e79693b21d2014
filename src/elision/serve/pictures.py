"""Drawings of the scripts for the page and for files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision import show
from elision.errors import InputError
from elision.serve.lines import understood
from elision.serve.messages import Drawn
from elision.show.flow import select
from elision.show.picture import picture
from elision.show.svg import DARK, LIGHT, RULES, svg

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elision.serve.messages import Drawing
    from elision.serve.shelf import Held
    from elision.show.picture import Direction, Picture
    from elision.show.svg import Theme
    from elision.values.observations import Observation
    from elision.values.script import Script

MOST_EDGES = 250
"""Edges that a drawing has at most: more can be neither read nor drawn in a moment."""

MOST_PASSED = 150
SMALL_LEAST = 0.15
STEPS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def drawing(held: Held, wanted: Drawing) -> Drawn:
    """Draw a script for the page, which has the style sheet itself."""
    if any(wanted.telling):
        return _drawn(_picture(held, wanted, ""), asked=wanted.min_share is not None)
    return _plain(held, wanted.min_share, wanted.direction)


def small(held: Held) -> Drawn:
    """Draw what most courses pass, for the list."""
    return _plain(held, SMALL_LEAST, "LR")


def as_file(held: Held, wanted: Drawing, kind: str) -> bytes:
    """Draw a script into an SVG or PNG file, in colours that stay.

    Raises
    ------
    InputError
        If matplotlib, which PNG needs, is not installed.
    """
    theme: Theme = wanted.theme
    text = svg(_picture(held, wanted, held.name), theme=theme)
    if kind == "svg":
        return text.encode()
    return show.raster.rendered(text, kind, dark=theme == "dark")


def style() -> str:
    """Return the style sheet of drawings; they follow the page's colour scheme."""
    colours = " ".join(
        f"--elision-{name}: light-dark({light}, {DARK[name]});" for name, light in LIGHT.items()
    )
    return f".elision-script {{ {colours} }}{RULES}"


def bounded(script: Script, min_share: float | None) -> float | None:
    """Return the threshold, or the next one that leaves few enough edges."""
    if min_share is None:
        return None
    for step in STEPS:
        value = max(step, min_share)
        if len(select(script, min_share=value).passages) <= MOST_EDGES:
            return value
    return 1.0


def _bounded(held: Held, min_share: float | None) -> float | None:
    return held.remember(("min_share", min_share), lambda: bounded(held.script, min_share))


def _plain(held: Held, min_share: float | None, direction: Direction) -> Drawn:
    def draw() -> Drawn:
        value = _bounded(held, min_share)
        found = picture(held.script, min_share=value, direction=direction, title="")
        return _drawn(found, asked=min_share is not None)

    return held.remember(("drawing", min_share, direction), draw)


def _picture(held: Held, wanted: Drawing, title: str) -> Picture:
    script = held.script
    return picture(
        script,
        telling=_told(script, held, wanted.telling) or None,
        min_share=_bounded(held, wanted.min_share),
        direction=wanted.direction,
        title=title,
        unknown="ignore",
    )


def _told(script: Script, held: Held, telling: Iterable[str | None]) -> list[Observation]:
    """Return the part of a telling that the script can tell."""
    heard = [one.heard for one in understood(held, telling) if one.is_told]
    if not heard:
        return []
    try:
        aside = set(script.align(heard, unknown="ignore").spurious)
    except InputError:
        return []
    return [one for index, one in enumerate(heard) if index not in aside][:MOST_PASSED]


def _drawn(found: Picture, *, asked: bool) -> Drawn:
    """Return a picture; unless a threshold was asked for, it is 0 where nothing is hidden."""
    hidden = found.hidden_states + found.hidden_edges > 0
    return Drawn(
        svg(found, styled=False),
        found.min_share if hidden or asked else 0.0,
        found.hidden_states,
        found.hidden_edges,
    )
