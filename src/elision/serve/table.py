"""A restored telling as a table for spreadsheets."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from elision.serve.restore import restore

if TYPE_CHECKING:
    from elision.serve import messages
    from elision.serve.shelf import Held

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


def table(held: Held, asking: messages.Asking) -> bytes:
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
