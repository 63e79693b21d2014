"""A picture of an outline as SVG: no script, nothing from elsewhere, colours for both themes.

What is drawn names its colours by class, ``fill-told`` or ``line-told``, so that a style sheet
needs to know nothing else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias
from xml.sax.saxutils import escape

from elision.show.shapes import BOLD, PLAIN, SIZES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elision.show.layout import Curve, Point
    from elision.show.outline_picture import OutlinePicture
    from elision.show.outline_words import Key
    from elision.show.shapes import Bar, Frame, Link, Note, StepBox, Text

Theme: TypeAlias = Literal["auto", "light", "dark"]

_COLOURS = {
    "paper": ("#ffffff", "#15181b"),
    "ink": ("#1d1f21", "#e6e8ea"),
    "soft": ("#5b6066", "#a9afb5"),
    "box": ("#f6f7f9", "#1f2428"),
    "outline": ("#4a5560", "#9aa4ae"),
    "edge": ("#4a5560", "#9aa4ae"),
    "track": ("#dfe3e7", "#353c42"),
    "bar": ("#1b6ca8", "#5aaef0"),
    "told": ("#d6e7f7", "#16324e"),
    "told-line": ("#1b5fa8", "#7fb9f3"),
    "silent": ("#fcecd2", "#3b2a10"),
    "silent-line": ("#96520a", "#f2b65e"),
    "filled": ("#d9f0de", "#133321"),
    "filled-line": ("#1c6e36", "#72d08e"),
    "step": ("#ffffff", "#262c31"),
    "frame": ("#f1f3f5", "#1c2125"),
    "frame-line": ("#b9c1c9", "#47515a"),
    "unsaid": ("#fdebc8", "#3b2a10"),
    "unsaid-line": ("#96520a", "#f2b65e"),
    "astray": ("#fbdcd8", "#46201d"),
    "astray-line": ("#b3261e", "#ff9d93"),
}
LIGHT = {name: light for name, (light, _) in _COLOURS.items()}
DARK = {name: dark for name, (_, dark) in _COLOURS.items()}
"""Colours by name, for light and for dark pages."""

MARKS = {
    "told": ("told", "told-line"),
    "unsaid": ("unsaid", "unsaid-line"),
    "astray": ("astray", "astray-line"),
    "denied": ("frame", "soft"),
}
"""Colours of a box and of its line by what its step is for a telling."""

FADED, FADED_NOTE = 0.6, 0.8
PALEST_LINE, PALEST_TEXT = 0.25, 0.7
"""Opacity of what nobody tells; contrast with the paper stays legible."""

MARKED, PLAIN_LINE, ARROW, TIE = 2.4, 1.5, 1.8, 1.1
DASHES, DOTS = "5 4", "1.5 3.5"
COLOURS = {"caption": "soft", "percent": "soft", "more": "soft", "ghost": "unsaid-line"}
"""Of texts by what they are; the others are in ink."""

_SIZES = "".join(
    f".elision-outline text.{role} {{ font-size: {size}px; }}\n"
    for role, size in sorted(SIZES.items())
)
_COLOUR_RULES = "".join(
    f".elision-outline .fill-{name} {{ fill: var(--elision-{name}); }}\n"
    f".elision-outline .line-{name} {{ stroke: var(--elision-{name}); }}\n"
    for name in LIGHT
)
_BOLD = ", ".join(f".elision-outline text.{role}" for role in sorted(BOLD))
RULES = f"""
.elision-outline {{ font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue",
  Arial, sans-serif; font-size: {PLAIN}px; font-variant-numeric: tabular-nums; }}
.elision-outline text {{ unicode-bidi: isolate; white-space: pre; }}
{_SIZES}{_BOLD} {{ font-weight: 600; }}
.elision-outline path {{ stroke-linecap: round; stroke-linejoin: round; }}
{_COLOUR_RULES}"""


def style(theme: Theme = "auto") -> str:
    """Return the style sheet of pictures of outlines.

    For "auto" the colours are custom properties that any rule of a page overrides, such as
    ``--elision-paper``. "light" and "dark" have plain colours.
    """
    palette = DARK if theme == "dark" else LIGHT
    plain = re.sub(r"var\(--elision-([a-z-]+)\)", lambda found: palette[found[1]], RULES)
    if theme != "auto":
        return plain
    by_day, by_night = (
        " ".join(f"--elision-{name}: {colour};" for name, colour in colours.items())
        for colours in (LIGHT, DARK)
    )
    # Programs that know no custom properties skip the block and keep the plain colours.
    return f"""{plain}@supports (fill: var(--elision-ink)) {{
:where(.elision-outline) {{ {by_day} }}
@media (prefers-color-scheme: dark) {{ :where(.elision-outline) {{ {by_night} }} }}{RULES}}}
"""


def outline_svg(picture: OutlinePicture, *, theme: Theme = "auto", styled: bool = True) -> str:
    """Write a picture of an outline as SVG.

    Steps are ``g.step`` with ``data-step``, ``data-told`` and ``data-happens``; the classes
    ``told``, ``unsaid``, ``astray``, ``denied`` and ``faded`` mark a telling. Links name the steps
    at their ends by ``data-before`` and ``data-after``, notes theirs by ``data-steps``. There are
    no ids, so that a page can hold many pictures.

    Parameters
    ----------
    picture
        What to write.
    theme
        "light", "dark", or "auto" for what the reader prefers.
    styled
        Whether to include the style sheet; a page that serves `style` itself does not need it.
    """
    width, height = _number(picture.width), _number(picture.height)
    name = picture.title or picture.summary.partition(".")[0]
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="elision-outline" role="img"'
            f' width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        ),
        f"<title>{escape(name)}</title>",
        f"<desc>{escape(picture.summary)}</desc>",
        f"<style>{style(theme)}</style>" if styled else "",
        _rectangle((0, 0, picture.width, picture.height), 0, "fill-paper"),
        *_group("frames", map(_frame, picture.frames)),
        *_group("links", map(_link, picture.links)),
        *_group("notes", map(_note, picture.notes)),
        *_group("steps", map(_step, picture.boxes)),
        *_group("words", map(_text, picture.texts)),
        *_group("keys", map(_key, picture.keys)),
        "</svg>",
    ]
    return "\n".join(filter(None, parts)) + "\n"


def _group(name: str, parts: Iterable[str]) -> list[str]:
    return [f'<g class="{name}">', *parts, "</g>"]


def _number(value: float) -> str:
    """A length with at most two digits after the point, and none that say nothing."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _numbers(steps: Iterable[int]) -> str:
    return " ".join(map(str, steps))


def _opacity(value: float) -> str:
    return "" if value >= 1 else f' opacity="{_number(value)}"'


def _rectangle(
    box: tuple[float, float, float, float],
    radius: float,
    colours: str,
    thickness: float = 0.0,
    dashes: str = "",
    opacity: float = 1.0,
) -> str:
    names = zip(("x", "y", "width", "height"), box, strict=True)
    place = " ".join(f'{name}="{_number(value)}"' for name, value in names)
    line = f' stroke-width="{_number(thickness)}"' if thickness else ""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    rounded = f' rx="{_number(radius)}"' if radius else ""
    return f'<rect class="{colours}" {place}{rounded}{line}{dashed}{_opacity(opacity)}/>'


def _text(text: Text, colour: str = "", opacity: float = 1.0) -> str:
    colour = colour or COLOURS.get(text.role, "ink")
    anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
    place = f'x="{_number(text.x)}" y="{_number(text.y)}"'
    return (
        f'<text class="{text.role} fill-{colour}" {place}{anchor}{_opacity(opacity)}>'
        f"{escape(text.text)}</text>"
    )


def _within(box: StepBox | Frame | Note, inside: Iterable[str]) -> str:
    """The inner svg cuts off what some font may draw beyond the box."""
    names = ("x", "y", "width", "height")
    place = " ".join(f'{name}="{_number(getattr(box, name))}"' for name in names)
    return f"<svg {place}>{''.join(inside)}</svg>"


def _place(box: StepBox | Frame | Note | Key) -> tuple[float, float, float, float]:
    return box.x, box.y, box.width, box.height


def _bar(bar: Bar) -> str:
    whole = (bar.x, bar.y, bar.width, bar.height)
    part = (bar.x, bar.y, bar.width * bar.share, bar.height)
    return _rectangle(whole, 1, "fill-track") + _rectangle(part, 1, "fill-bar")


def _step(box: StepBox) -> str:
    marked = box.state in MARKS
    fill, line = MARKS.get(box.state or "", ("step", "outline"))
    strength = FADED if box.state == "faded" else 1.0
    outline = _rectangle(
        _place(box),
        7 if box.step is not None else 13,
        f"fill-{fill if box.step is not None else 'box'} line-{line}",
        MARKED if marked else PLAIN_LINE,
        DASHES if box.optional and not marked else "",
        strength * (1 if marked else PALEST_LINE + (1 - PALEST_LINE) * box.ink),
    )
    pale = FADED if box.state == "faded" else PALEST_TEXT + (1 - PALEST_TEXT) * box.ink
    inside = [_bar(box.bar)] if box.bar else []
    for text in box.texts:
        note = text.role == "note" and marked
        inside.append(_text(text, line if note else "", pale if text.role == "name" else strength))
    names = " ".join(["step", *([box.state] if box.state else [])])
    data = ""
    if box.step is not None:
        data = (
            f' data-step="{box.step}" data-told="{box.told:.6g}" data-happens="{box.happens:.6g}"'
        )
    return (
        f'<g class="{names}"{data}><title>{escape(box.tip)}</title>'
        f"{outline}{_within(box, inside)}</g>"
    )


def _frame(frame: Frame) -> str:
    outline = _rectangle(
        _place(frame), 9, "fill-frame line-frame-line", 1.2, DASHES if frame.optional else ""
    )
    return (
        f'<g class="frame {frame.kind}"><title>{escape(frame.tip)}</title>'
        f"{outline}{_within(frame, map(_text, frame.texts))}</g>"
    )


def _note(note: Note) -> str:
    outline = _rectangle(_place(note), 5, "fill-frame line-frame-line", 1, DOTS)
    opacity = _opacity(FADED_NOTE if note.faded else 1.0)
    steps = f'data-steps="{_numbers(note.steps)}"'
    return (
        f'<g class="note" {steps}{opacity}><title>{escape(note.tip)}</title>'
        f"{outline}{_within(note, map(_text, note.texts))}</g>"
    )


def _link(link: Link) -> str:
    if link.kind == "aside":
        return f'<g class="aside">{_path(link.curve, TIE, DOTS)}</g>'
    opacity = _opacity(PALEST_LINE + (1 - PALEST_LINE) * (0.4 + 0.6 * link.ink))
    ends = f'data-before="{_numbers(link.before)}" data-after="{_numbers(link.after)}"'
    return f'<g class="link" {ends}{opacity}>{_arrow(link.curve, link.kind)}</g>'


def _arrow(curve: Curve, kind: str) -> str:
    shaft, head = _with_head(curve, ARROW)
    dashes = DASHES if kind == "usually" else ""
    corners = "L".join(f"{_number(x)} {_number(y)}" for x, y in head)
    return f'{_path(shaft, ARROW, dashes)}<path class="fill-edge" d="M{corners}Z"/>'


def _with_head(curve: Curve, thickness: float) -> tuple[Curve, tuple[Point, Point, Point]]:
    """Split a curve into the line to draw and the corners of its arrowhead."""
    length, half = 6.0 + thickness, 2.6 + thickness * 0.9
    (before_x, before_y), (x, y) = curve[-2], curve[-1]
    along = ((x - before_x) ** 2 + (y - before_y) ** 2) ** 0.5 or 1.0
    ux, uy = (x - before_x) / along, (y - before_y) / along
    base = (x - length * ux, y - length * uy)
    pulled = (before_x - length * ux / 2, before_y - length * uy / 2)
    corners = (
        (base[0] - half * uy, base[1] + half * ux),
        (x, y),
        (base[0] + half * uy, base[1] - half * ux),
    )
    return (*curve[:-2], pulled, base), corners


def _path(curve: Curve, thickness: float, dashes: str = "") -> str:
    first, *rest = (f"{_number(x)} {_number(y)}" for x, y in curve)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<path class="line-edge" fill="none" d="M{first}C{" ".join(rest)}"'
        f' stroke-width="{_number(thickness)}"{dashed}/>'
    )


def _key(key: Key) -> str:
    return f'<g class="key">{_swatch(key)}{_text(key.text)}</g>'


def _swatch(key: Key) -> str:
    middle = key.y + key.height / 2
    if key.sign == "words":
        return ""
    if key.sign in ("then", "usually"):
        curve = tuple((key.x + key.width * part, middle) for part in (0, 0.33, 0.67, 1))
        return _arrow(curve, key.sign)
    if key.sign == "bar":
        whole = (key.x, middle - 2.5, key.width, 5.0)
        return _rectangle(whole, 1, "fill-track") + _rectangle(
            (*whole[:2], key.width * 0.6, 5.0), 1, "fill-bar"
        )
    if key.sign in MARKS:
        fill, line = MARKS[key.sign]
        return _rectangle(_place(key), 3, f"fill-{fill} line-{line}", MARKED)
    if key.sign == "note":
        return _rectangle(_place(key), 3, "fill-frame line-frame-line", 1, DOTS)
    dashes = DASHES if key.sign == "optional" else ""
    faded = FADED if key.sign == "faded" else 1.0
    return _rectangle(_place(key), 3, "fill-step line-outline", PLAIN_LINE, dashes, faded)
