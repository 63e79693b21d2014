"""``elision ...``: parses, calls, prints."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from elision.errors import ElisionError

if TYPE_CHECKING:
    from elision.ask.between import Story

app = typer.Typer(
    help="Learn the script behind many tellings of one activity, and ask it what was left unsaid.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


@app.callback()
def _elision() -> None:
    """Learn the script behind many tellings of one activity, and ask it what was left unsaid."""


@app.command()
def demo() -> None:
    """Learn from twenty tellings of answering a doorbell, and say what one of them left out.

    Example: elision demo
    """
    import elision as el  # noqa: PLC0415

    tellings = el.examples.doorbell_tellings()
    prior = el.Prior(transition=0.1, emission=0.01, elision=(1, 4))
    script, history = el.fit_parameters(el.examples.doorbell(), tellings, prior=prior)
    out.print(
        f"{len(tellings)} tellings of [bold]answering the doorbell[/], none of them complete."
    )
    out.print(f"EM raised the objective from {history[1]:.1f} to {history[-1]:.1f}.\n")
    told = ["hear doorbell", "open door", "close door"]
    out.print("Somebody tells: " + ", ".join(told) + ". What happened unsaid?\n")
    print_story(script.between(told))


def print_story(story: Story) -> None:
    """Print a telling, what was left unsaid in it indented with its probability."""
    for place, gap in enumerate(story.unsaid):
        for step in gap:
            bar = "█" * round(20 * min(1.0, step.expected))
            out.print(f"    [dim]{step.event:<24}[/] {step.expected:4.0%} [cyan]{bar}[/]")
        for event in story.told[place : place + 1]:
            out.print(f"[bold]{event}[/]")


def main() -> None:
    """Run the command line; bad input ends with one line and exit status 2."""
    try:
        app()
    except ElisionError as error:
        err.print(f"elision: {error}", style="red", markup=False, soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        err.print("elision: interrupted", markup=False)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
