"""The options of ``learn``, each with its help."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Method(StrEnum):
    """Ways to learn a script."""

    DEFAULT = "default"
    MARGINAL = "marginal"
    SEM = "sem"
    APPROX = "approx"
    BMM = "bmm"
    BMM_EM = "bmm-em"


def _cost(value: float | None) -> float | None:
    if value is not None and not (math.isfinite(value) and value >= 0):
        raise typer.BadParameter(f"{value} is not a number from 0.")
    return value


def not_standard_output(value: Path | str | None) -> Path | str | None:
    """Refuse ``-`` where a file is written."""
    if value is not None and str(value) == "-":
        raise typer.BadParameter("'-' is standard output, expected a file or folder.")
    return value


Narratives = Annotated[
    str,
    typer.Argument(help="File of narratives, - for standard input."),
]
Output = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        help="Script file; a folder if there are several domains, or if it ends with a slash.",
        metavar="PATH",
        callback=not_standard_output,
    ),
]
HowToLearn = Annotated[
    Method,
    typer.Option(
        help="How to learn: by default an outline, its script and how it is told; a script"
        " alone by search with marginal, or with sem, approx, bmm and bmm-em, which are the"
        " paper's."
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option("--batch-size", "--batch", "-r", help="By search: narratives a batch.", min=1),
]
StateCost = Annotated[
    float | None,
    typer.Option(help="By search: cost of a state, the paper's kappa_q.", callback=_cost),
]
EdgeCost = Annotated[
    float | None, typer.Option(help="By search: cost of an edge, kappa_t.", callback=_cost)
]
ConstraintCost = Annotated[
    float | None,
    typer.Option(help="By search: cost of a violated constraint, kappa_c.", callback=_cost),
]
OnlyDomain = Annotated[str | None, typer.Option(help="Learn this domain only.")]
Title = Annotated[
    str | None,
    typer.Option(help="What the script is called, if the file says no domain; for one domain."),
]
TypesByHand = Annotated[
    Path | None,
    typer.Option(help="Table of sentences and their types, from `elision events -o`."),
]
Exhaustive = Annotated[
    bool, typer.Option("--exhaustive", help="With sem: try every move again after each one.")
]
PaperPlan = Annotated[
    bool,
    typer.Option("--paper-plan", help="By search: re-read everything after each batch."),
]
