"""A picture as SVG: no script, nothing from elsewhere, colours that a page can change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias
from xml.sax.saxutils import escape, quoteattr

from elision.show._boxes import BOLD, PLAIN, SIZES, Text
from elision.show.layout import Box

if TYPE_CHECKING:
    from elision.show._boxes import Bar
    from elision.show._legend import Key
    from elision.show.layout import Curve, Point
    from elision.show.picture import Edge, Node, Picture

Theme: TypeAlias = Literal["auto", "light", "dark"]

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1d1f21",
    "soft": "#5b6066",
    "box": "#f6f7f9",
    "outline": "#4a5560",
    "edge": "#4a5560",
    "track": "#dfe3e7",
    "bar": "#1b6ca8",
    "told": "#d6e7f7",
    "told-line": "#1b5fa8",
    "silent": "#fcecd2",
    "silent-line": "#96520a",
    "filled": "#d9f0de",
    "filled-line": "#1c6e36",
}
DARK = {
    "paper": "#15181b",
    "ink": "#e6e8ea",
    "soft": "#a9afb5",
    "box": "#1f2428",
    "outline": "#9aa4ae",
    "edge": "#9aa4ae",
    "track": "#353c42",
    "bar": "#5aaef0",
    "told": "#16324e",
    "told-line": "#7fb9f3",
    "silent": "#3b2a10",
    "silent-line": "#f2b65e",
    "filled": "#133321",
    "filled-line": "#72d08e",
}

FAINTEST, STRONGEST = 0.68, 0.95
PERIOD = 9.0
"""Length of a dash of an outline and the gap after it; the gap's part is the elision."""

_BOLD = ", ".join(f".elision-script .{role}" for role in sorted(BOLD))
_SOFT = ", ".join(f".elision-script .{role}" for role in ("caption", "percent", "more", "silence"))
RULES = f"""
.elision-script {{ font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue",
  Arial, sans-serif; font-size: {PLAIN}px; font-variant-numeric: tabular-nums; }}
.elision-script text {{ fill: var(--elision-ink); unicode-bidi: isolate; white-space: pre; }}
.elision-script .title {{ font-size: {SIZES["title"]}px; }}
.elision-script .name {{ font-size: {SIZES["name"]}px; }}
{_BOLD} {{ font-weight: 600; }}
{_SOFT} {{ fill: var(--elision-soft); }}
.elision-script .paper {{ fill: var(--elision-paper); }}
.elision-script .box {{ fill: var(--elision-box); stroke: var(--elision-outline);
  stroke-width: 1.6px; }}
.elision-script .track {{ fill: var(--elision-track); }}
.elision-script .bar {{ fill: var(--elision-bar); }}
.elision-script .shaft {{ fill: none; stroke: var(--elision-edge); }}
.elision-script .head {{ fill: var(--elision-edge); }}
.elision-script .label {{ paint-order: stroke; stroke: var(--elision-paper); stroke-width: 3px;
  stroke-linejoin: round; }}
.elision-script .taken .shaft {{ stroke: var(--elision-told-line); }}
.elision-script .taken .head {{ fill: var(--elision-told-line); }}
""" + "".join(
    f""".elision-script .{part} .box {{ fill: var(--elision-{part});
  stroke: var(--elision-{part}-line); stroke-width: 2.4px; }}
.elision-script .{part} .note {{ fill: var(--elision-{part}-line); }}
"""
    for part in ("told", "silent", "filled")
)


def style(theme: Theme = "auto") -> str:
    """Return the style sheet of pictures.

    For "auto" the colours are custom properties that any rule of a page overrides, such as
    ``--elision-paper``. "light" and "dark" have plain colours.
    """
    return themed(RULES, ".elision-script", LIGHT, DARK, theme)


def themed(
    rules: str, pictures: str, light: dict[str, str], dark: dict[str, str], theme: Theme
) -> str:
    """Return rules for certain pictures with the colours of a theme in place of their names."""
    palette = dark if theme == "dark" else light
    plain = re.sub(r"var\(--elision-([a-z-]+)\)", lambda found: palette[found[1]], rules)
    if theme != "auto":
        return plain
    by_day, by_night = (
        " ".join(f"--elision-{name}: {colour};" for name, colour in colours.items())
        for colours in (light, dark)
    )
    # Programs that know no custom properties skip the block and keep the plain colours.
    return f"""{plain}@supports (fill: var(--elision-ink)) {{
:where({pictures}) {{ {by_day} }}
@media (prefers-color-scheme: dark) {{ :where({pictures}) {{ {by_night} }} }}{rules}}}
"""


def svg(picture: Picture, *, theme: Theme = "auto", styled: bool = True) -> str:
    """Write a picture as SVG.

    States are ``g.node`` with ``data-state``, edges ``g.edge`` with ``data-source``,
    ``data-target``, ``data-probability`` and ``data-flow``; labels carry the same as their edge.
    The classes ``told``, ``silent``, ``filled`` and ``taken`` mark a telling. There are no ids, so
    that a page can hold many pictures.

    Parameters
    ----------
    picture
        What to write.
    theme
        "light", "dark", or "auto" for what the reader prefers.
    styled
        Whether to include the style sheet; a page that serves `style` itself does not need it.

    Examples
    --------
    >>> import elision as el
    >>> from elision.show.picture import picture
    >>> svg(picture(el.examples.doorbell())).count("data-state=")
    12
    """
    width, height = _number(picture.width), _number(picture.height)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="elision-script" role="img"'
            f' width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
            f' data-direction="{picture.direction}" aria-label={quoteattr(picture.summary)}>'
        ),
    ]
    if picture.title:
        parts.append(f"<title>{escape(picture.title)}</title>")
    if styled:
        parts.append(f"<style>{style(theme)}</style>")
    parts += [
        f'<rect class="paper" width="{width}" height="{height}"/>',
        *map(_text, picture.texts),
        '<g class="edges">',
        *map(_edge, picture.edges),
        "</g>",
        '<g class="nodes">',
        *map(_node, picture.nodes),
        "</g>",
        '<g class="labels">',
        *(_label(edge) for edge in picture.edges if edge.label),
        "</g>",
        '<g class="keys">',
        *map(_key, picture.keys),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _number(value: float) -> str:
    """A length with at most two digits after the point, and none that say nothing."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _share(value: float) -> str:
    return f"{value:.6g}"


def _text(text: Text) -> str:
    # The role "silent" is that of a text; as a class of a group it marks a state on a path.
    role = "silence" if text.role == "silent" else text.role
    anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
    place = f'x="{_number(text.x)}" y="{_number(text.y)}"'
    return f'<text class="{role}" {place}{anchor}>{escape(text.text)}</text>'


def _box(box: Box, radius: float, silence: float) -> str:
    return f'<rect class="box" {_place(box)} rx="{_number(radius)}"{dashes(silence)}/>'


def _place(box: Box) -> str:
    return " ".join(
        f'{name}="{_number(value)}"' for name, value in zip(Box._fields, box, strict=True)
    )


def dashes(silence: float) -> str:
    """Return the attribute for an outline that is missing as often as the state is silent."""
    if silence <= 0.005:
        return ""
    dash = max(0.6, PERIOD * (1 - silence))
    return f' stroke-dasharray="{_number(dash)} {_number(max(0.8, PERIOD - dash))}"'


def _node(node: Node) -> str:
    names = ["node", node.kind, *([node.part] if node.part else [])]
    numbers = (
        f'data-state="{node.state}" data-elision="{_share(node.elision)}"'
        f' data-chance="{_share(node.chance)}" data-visits="{_share(node.visits)}"'
    )
    radius = 7.0 if node.kind == "state" else 13.0
    box = Box(node.x, node.y, node.width, node.height)
    inside = "".join(map(_bar, node.bars)) + "".join(map(_text, node.texts))
    # The inner svg cuts off what some font may draw beyond the box.
    return (
        f'<g class="{" ".join(names)}" {numbers}><title>{escape(node.tip)}</title>'
        f"{_box(box, radius, node.elision)}<svg {_place(box)}>{inside}</svg></g>"
    )


def _bar(bar: Bar) -> str:
    whole = Box(bar.x, bar.y, bar.width, bar.height)
    part = whole._replace(width=bar.width * bar.share)
    return f'<rect class="track" {_place(whole)}/><rect class="bar" {_place(part)}/>'


def _edge_data(edge: Edge) -> str:
    return (
        f'data-source="{edge.source}" data-target="{edge.target}"'
        f' data-probability="{_share(edge.probability)}" data-flow="{_share(edge.flow)}"'
    )


def _edge(edge: Edge) -> str:
    names = ["edge", *(["taken"] if edge.taken else []), *([] if edge.direct else ["detour"])]
    opacity = 1.0 if edge.taken else FAINTEST + (STRONGEST - FAINTEST) * min(1.0, edge.flow)
    return (
        f'<g class="{" ".join(names)}" {_edge_data(edge)} opacity="{_number(opacity)}">'
        f"<title>{escape(edge.tip)}</title>"
        f"{_arrow(edge.curve, edge.thickness, direct=edge.direct or edge.taken)}</g>"
    )


def _arrow(curve: Curve, thickness: float, *, direct: bool) -> str:
    shaft, head = arrow(curve, thickness)
    first, *rest = (f"{_number(x)} {_number(y)}" for x, y in shaft)
    corners = "L".join(f"{_number(x)} {_number(y)}" for x, y in head)
    dotted = "" if direct else ' stroke-dasharray="2 4"'
    return (
        f'<path class="shaft" d="M{first}C{" ".join(rest)}"'
        f' stroke-width="{_number(thickness)}"{dotted}/>'
        f'<path class="head" d="M{corners}Z"/>'
    )


def arrow(curve: Curve, thickness: float) -> tuple[Curve, tuple[Point, Point, Point]]:
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


def _label(edge: Edge) -> str:
    name = "edge taken" if edge.taken else "edge"
    text = _text(edge.label) if edge.label else ""
    return f'<g class="{name}" {_edge_data(edge)}>{text}</g>'


def _key(key: Key) -> str:
    middle = key.y + key.height / 2
    if key.sign in ("line", "detour"):
        curve = tuple((key.x + key.width * part, middle) for part in (0, 0.33, 0.67, 1))
        mark = _arrow(curve, 2.0, direct=key.sign == "line")
    else:
        silence = 0.35 if key.sign in ("outline", "silent") else 0.0
        mark = _box(Box(key.x, key.y, key.width, key.height), 3.0, silence)
    return f'<g class="key {key.sign}">{mark}{_text(key.text)}</g>'
