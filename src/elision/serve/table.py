"""An explained telling as a table for spreadsheets."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elision.serve import messages

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


def table(found: messages.Explained) -> bytes:
    """Write an explained telling as CSV, one row a line, answer or unsaid event."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["place", "kind", "text", "event", "probability", "note"])
    for place, gap in enumerate(found.unsaid):
        for one in gap.events:
            writer.writerow(_cells(place, "unsaid", "", one.event, one.probability, ""))
        for item in found.items[place : place + 1]:
            notes = "; ".join(flag.note for flag in item.flags)
            row = (item.text, item.event or "", item.certainty, notes)
            writer.writerow(_cells(place + 1, item.kind, *row))
            answers = [(one.event, one.probability) for one in item.answers]
            answers += [(one.event, one.probability) for one in item.candidates]
            for event, probability in answers:
                row = (item.text, event, probability, "")
                writer.writerow(_cells(place + 1, "answer", *row))
    return text.getvalue().encode()


def _cells(*cells: str | float) -> list[str | float]:
    """Mark texts that a spreadsheet would compute."""
    return [
        f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell for cell in cells
    ]
