"""What the command line prints, and on which console."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.ask.between import Story
    from elision.ask.fill import Filling
    from elision.learning import Learned
    from elision.text.event_types import DomainTypes

out = Console(highlight=False, emoji=False)
if not out.file.isatty():
    out.width = 160
err = Console(stderr=True, highlight=False, emoji=False)

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def print_json(value: object) -> None:
    """Print a value as JSON, plain whatever the terminal."""
    out.print_json(data=value, ensure_ascii=True, highlight=False)


def print_learned(learned: list[Learned]) -> None:
    """Print a table of learned scripts."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    sought = any(one.constraints for one in learned)
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("domain", overflow="fold")
    for name in ("narratives", "states", "edges", "elision", "log-prob"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("constraints", "violated") if sought else ():
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("file", overflow="fold")
    for one in learned:
        low, mean, high = one.elision
        table.add_row(
            Text(printable(one.domain) or "-"),
            str(one.narratives),
            str(one.states),
            str(one.edges),
            f"{mean:.0%} ({low:.0%}-{high:.0%})",
            f"{one.log_prob:.2f}",
            *((str(one.constraints), str(one.violated)) if sought else ()),
            Text(printable(str(one.path))),
        )
    out.print(table)


def print_story(story: Story) -> None:
    """Print a telling, what was left unsaid in it indented with its probability."""
    for place, gap in enumerate(story.unsaid):
        for step in gap:
            bar = "█" * round(20 * min(1.0, step.expected))
            name = escape(f"{printable(step.event):<24}")
            out.print(f"    [dim]{name}[/] {step.expected:4.0%} [cyan]{bar}[/]")
        for event in story.told[place : place + 1]:
            out.print(f"[bold]{escape(printable(event))}[/]")


def printable(text: str) -> str:
    """Return a text as one line that cannot steer the terminal."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def complain(problem: str) -> None:
    """Print one line of complaint."""
    err.print(f"elision: {printable(problem)}", style="red", markup=False, soft_wrap=True)


def print_fillings(told: Sequence[str | None], fillings: list[Filling]) -> None:
    """Print a telling with its gaps, and the ranked answers of each."""
    shown = ["[cyan]?[/]" if one is None else escape(printable(one)) for one in told]
    out.print(", ".join(shown) + "\n", style="bold")
    for number, filling in enumerate(fillings, start=1):
        if len(fillings) > 1:
            out.print(f"gap {number}")
        for answer in filling.answers:
            bar = "█" * round(20 * answer.probability)
            name = escape(f"{printable(answer.event):<24}")
            out.print(f"    {name} {answer.probability:4.0%} [cyan]{bar}[/]")


def print_types(domains: dict[str, DomainTypes], dropped: int) -> None:
    """Print the event types of each domain, most told first, with examples."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    for domain, types in domains.items():
        table = Table(box=None, header_style="bold", pad_edge=False, title=None)
        table.add_column(printable(domain) or "event type", overflow="fold")
        table.add_column("steps", justify="right", no_wrap=True)
        table.add_column("for example", overflow="fold")
        for one in types.types:
            examples = "; ".join(printable(example) for example in one.sentences[:3])
            table.add_row(Text(printable(one.name)), str(one.size), Text(examples, style="dim"))
        out.print(table)
        out.print()
    if dropped:
        out.print(f"{dropped} rare steps were dropped.")


def print_benchmark(result: dict[str, Any]) -> None:
    """Print a table like the paper's for each corpus, and the tests of neighbouring methods."""
    from rich.table import Table  # noqa: PLC0415

    from elision.evaluate.tables import table_rows  # noqa: PLC0415

    batches = result["protocol"]["batches"]
    for corpus in result["protocol"]["corpora"]:
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column(printable(corpus))
        for batch in batches:
            table.add_column(f"r = {batch}", justify="right", no_wrap=True)
        for name in ("top-3", "log-loss", "ECE", "seconds"):
            table.add_column(name, justify="right", no_wrap=True)
        for row in table_rows(result, corpus):
            by_batch = row["by_batch"]
            found = [by_batch.get(batch, by_batch.get(None)) for batch in batches]
            cells = ["-" if one is None else f"{one[0]:.1%} ±{one[1]:.1%}" for one in found]
            if None in by_batch:
                cells = [cells[0], *["" for _ in cells[1:]]]
            table.add_row(
                row["method"],
                *cells,
                f"{row['top3']:.1%}",
                f"{row['log_loss']:.2f}",
                f"{row['ece']:.3f}",
                f"{row['seconds']:.2f}",
            )
        out.print(table)
        out.print()
