"""A restored telling to keep: a page of its own, the outline with the telling on it, a table."""

from __future__ import annotations

import csv
import io
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from elision import show
from elision.errors import counted
from elision.serve import messages
from elision.serve.outlines import spoken
from elision.serve.restore import restore
from elision.show.outline_picture import outline_picture
from elision.show.outline_svg import DARK, LIGHT, outline_svg
from elision.show.overlay import Overlay
from elision.show.words import cleaned, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.serve.shelf import Held
    from elision.show.draw import Drawing
    from elision.show.outline_svg import Theme
    from elision.show.overlay import State
    from elision.values.outline import Outline

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
SURELY = "surely"
WORDS = ((SURELY, 0.95, "and"), ("probably", 0.5, "and"), ("perhaps", 0.0, "or"))
"""Words for steps that are so probable, and between the last two of them."""

SUREST = 0.999
PALEST = 0.55

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


class Row(NamedTuple):
    """A line of the restored telling: told, denied, or left out with a probability."""

    text: str
    unsaid: float | None
    is_denied: bool = False


class Restoration(NamedTuple):
    """What there is to say about a telling."""

    title: str
    headline: str
    rows: list[Row]
    verdict: str
    laid: Overlay


def restoration(held: Held, sharing: messages.Sharing) -> Restoration:
    """Put together what there is to say about a telling.

    Examples
    --------
    >>> import elision as el
    >>> from elision.serve.shelf import Held
    >>> script = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
    >>> door = Held("door", "Answering the door", script)
    >>> restoration(door, messages.Sharing(["hear doorbell", "open door"])).headline
    '2 lines told, 4 steps left unsaid'
    """
    outline = held.script.outline()
    found = restore(held, messages.Asking(sharing.telling, finished=sharing.finished))
    rows: list[Row] = []
    for place, gap in enumerate(found.gaps):
        rows += _left_out(outline, gap, found.steps, sharing.min_probability)
        for line in found.lines[place : place + 1]:
            if line.kind != "blank":
                rows.append(Row(cleaned(line.text), None, line.kind == "denied"))
    told = sum(row.unsaid is None and not row.is_denied for row in rows)
    denied = sum(row.is_denied for row in rows)
    unsaid = sum(not one.lines and one.unsaid >= sharing.min_probability for one in found.steps)
    return Restoration(
        cleaned(held.name),
        f"{counted(told, 'line')} told, {counted(unsaid, 'step')} left unsaid"
        + (f", {denied} said not to have happened" if denied else ""),
        rows,
        found.judged.summary if found.judged else "",
        _laid(found, sharing.min_probability),
    )


def as_html(held: Held, sharing: messages.Sharing) -> bytes:
    """The telling as a page of its own: no script, nothing from elsewhere."""
    found = restoration(held, sharing)
    drawn = outline_picture(held.script.outline(), found.laid, title="")
    rows = "\n".join(map(_row, found.rows))
    judged = f'<p class="verdict">{escape(found.verdict)}</p>' if found.verdict else ""
    text = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{escape(found.title)}: {escape(found.headline)}</title>
<style>{_style(sharing.theme)}</style>
</head>
<body>
<main>
<h1>{escape(found.title)}</h1>
<p class="headline">{escape(found.headline)}</p>
<ol>
{rows}
</ol>
{judged}
<figure>{outline_svg(drawn, theme=sharing.theme)}
<figcaption>What usually happens, with this telling laid over it.</figcaption></figure>
<footer>Restored with Elision.</footer>
</main>
</body>
</html>
"""
    return text.encode()


def as_svg(held: Held, sharing: messages.Sharing) -> bytes:
    """The outline with a telling laid on it."""
    return _outline(held, sharing).content("outline.svg")


def as_png(held: Held, sharing: messages.Sharing) -> bytes:
    """The same as a picture of pixels.

    Raises
    ------
    InputError
        If resvg-py, which PNG needs, is not installed.
    """
    return _outline(held, sharing).content("outline.png")


def _outline(held: Held, sharing: messages.Sharing) -> Drawing:
    found = restoration(held, sharing)
    laid = found.laid if found.rows else None
    outline = held.script.outline()
    return show.draw.draw_outline(outline, laid, title=found.title, theme=sharing.theme)


# --- what it says -----------------------------------------------------------------------------


def _left_out(
    outline: Outline, gap: messages.Gap, steps: Sequence[messages.StepNow], min_probability: float
) -> list[Row]:
    shown = [step for step in gap.steps if steps[step].unsaid >= min_probability]
    if gap.something < min_probability or not gap.steps:
        return []
    shown = shown or sorted(gap.steps, key=lambda step: -steps[step].unsaid)[:1]
    text = (
        f"something was left out here ({_chance(gap.something)}): {_worded(outline, shown, steps)}"
    )
    return [Row(text, gap.something)]


def _worded(outline: Outline, shown: Sequence[int], steps: Sequence[messages.StepNow]) -> str:
    """Say which steps: "surely this and that; perhaps this (11%)", as the page does."""
    parts, most = [], float("inf")
    for word, min_probability, last in WORDS:
        here = [step for step in shown if min_probability <= steps[step].unsaid < most]
        named = [
            spoken(outline, step) + ("" if word == SURELY else f" ({_chance(steps[step].unsaid)})")
            for step in here
        ]
        if named:
            parts.append(f"{word} {_listed(named, last)}")
        most = min_probability
    return "; ".join(parts)


def _listed(texts: Sequence[str], last: str) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def _chance(probability: float) -> str:
    """A probability: nothing that was learned from tellings is quite sure."""
    return percent(min(probability, SUREST))


def _laid(found: messages.Restored, min_probability: float) -> Overlay:
    states: list[State] = []
    for one in found.steps:
        if one.lines:
            states.append("astray" if one.astray else "told")
        elif one.denied:
            states.append("denied")
        else:
            states.append("unsaid" if one.unsaid >= min_probability else "faded")
    strange = [line.text for line in found.lines if line.kind == "unknown"]
    return Overlay(
        tuple(states),
        tuple(tuple(line + 1 for line in one.lines or one.denied) for one in found.steps),
        tuple(1.0 if one.lines else one.unsaid for one in found.steps),
        tuple(strange),
        sum(line.kind != "blank" for line in found.lines),
    )


# --- as HTML ----------------------------------------------------------------------------------


def _row(row: Row) -> str:
    if row.unsaid is None:
        kind = "denied" if row.is_denied else "told"
        return f'<li class="{kind}"><bdi>{escape(row.text)}</bdi></li>'
    ink = PALEST + (1 - PALEST) * row.unsaid
    return f'<li class="unsaid" style="opacity: {ink:.2f}"><bdi>{escape(row.text)}</bdi></li>'


def _style(theme: Theme) -> str:
    def rules(colours: dict[str, str]) -> str:
        return (
            f":root {{ --paper: {colours['paper']}; --ink: {colours['ink']};"
            f" --soft: {colours['soft']}; --unsaid: {colours['unsaid-line']}; }}"
        )

    plain = rules(DARK if theme == "dark" else LIGHT)
    if theme == "auto":
        plain += f"@media (prefers-color-scheme: dark) {{ {rules(DARK)} }}"
    return f"""{plain}
body {{ margin: 0; background: var(--paper); color: var(--ink);
  font: 17px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; }}
main {{ max-width: 1120px; margin: 0 auto; padding: 24px 16px; }}
h1 {{ font-size: 1.5rem; margin: 0; }}
.headline {{ font-size: 1.15rem; margin: 4px 0 16px; color: var(--soft); }}
ol {{ padding: 0; list-style: none; max-width: 46rem; }}
li {{ padding: 3px 0; overflow-wrap: anywhere; }}
.told {{ font-weight: 600; }}
.denied {{ color: var(--soft); }}
.unsaid {{ color: var(--unsaid); font-style: italic; padding-left: 26px; }}
figure {{ margin: 24px 0 8px; overflow-x: auto; }}
figure svg {{ max-width: 100%; height: auto; }}
figcaption, footer, .verdict {{ color: var(--soft); }}
"""


# --- as a table for spreadsheets ------------------------------------------------------------------


def as_csv(held: Held, asking: messages.Asking) -> bytes:
    """Write a restored telling as CSV, a row for each line, answer and step left out."""
    found = restore(held, asking)
    steps = held.script.outline().steps
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["place", "kind", "text", "event", "probability", "note"])
    for place, gap in enumerate(found.gaps):
        for step in gap.steps:
            writer.writerow(
                _cells(place, "unsaid", "", steps[step].event, found.steps[step].unsaid, "")
            )
        for line in found.lines[place : place + 1]:
            notes = "; ".join(flag.note for flag in line.flags)
            for one in line.heard:
                writer.writerow(_cells(place + 1, line.kind, line.text, one.event, "", notes))
            for event in line.denied:
                writer.writerow(_cells(place + 1, "denied", line.text, event, "", notes))
            if not line.heard and not line.denied and line.kind != "blank":
                writer.writerow(_cells(place + 1, line.kind, line.text, "", "", notes))
            for answer in line.options:
                row = (line.text, answer.event, answer.probability, "")
                writer.writerow(_cells(place + 1, "answer", *row))
    return text.getvalue().encode()


def _cells(*cells: str | float) -> list[str | float]:
    """Mark texts that a spreadsheet would compute."""
    return [
        f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell for cell in cells
    ]
