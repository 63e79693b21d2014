"""Pages of the matrix of tellings: which rows fit, in which order, with which columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.serve.corpus_messages import Column, Matrix, Row
from elision.serve.lines import understood
from elision.serve.tellings import finite
from elision.show.overlay import PROBABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.serve.corpus_messages import Browsing
    from elision.serve.shelf import Held
    from elision.serve.tellings import Tellings

MOST_LINES = 100
DIGITS = 9


def browse(held: Held, wanted: Browsing) -> Matrix:
    """Return some rows of the matrix of a script's tellings; none if there are none beside it.

    Raises
    ------
    InputError
        If a step is none of the script's own.
    """
    tellings = held.tellings
    if tellings is None:
        return Matrix([], [], wanted.offset, 0, 0, 0, 0, 0, 0)
    tellings.judge()
    fits = _fitting(tellings, wanted)
    order = _sorted(held, tellings, wanted)
    rows = order[fits[order]]
    steps = tellings.most_told(wanted.steps)
    counts = tellings.counts * fits
    return Matrix(
        columns=[
            Column(
                step,
                tellings.steps[step],
                int(counts @ (tellings.told[:, step] > 0)),
                int(counts @ (tellings.unsaid[:, step] > PROBABLE)),
            )
            for step in steps
        ],
        rows=[
            _row(tellings, row, steps)
            for row in rows[wanted.offset : wanted.offset + wanted.limit].tolist()
        ],
        offset=wanted.offset,
        variants=len(rows),
        tellings=int(counts.sum()),
        all_variants=len(tellings.variants),
        all_tellings=int(tellings.counts.sum()),
        all_steps=len(tellings.steps),
        judged=tellings.judged,
    )


def _fitting(tellings: Tellings, wanted: Browsing) -> NDArray[np.bool_]:
    fits = tellings.frequent(wanted.paths)
    if wanted.step:
        fits = fits & tellings.with_step(wanted.step, wanted.part)
    if wanted.gap is not None:
        fits = fits & tellings.with_gap(wanted.gap)
    if wanted.words.strip():
        fits = fits & tellings.with_words(wanted.words)
    return fits


def _sorted(held: Held, tellings: Tellings, wanted: Browsing) -> NDArray[np.int64]:
    """All rows in the order that is asked for; the more frequent first where that says nothing."""
    if wanted.sort == "oddness":  # those that are not known yet come last
        keys = np.nan_to_num(tellings.oddness, nan=-np.inf)
    elif wanted.sort == "length":
        keys = np.array([len(one.events) for one in tellings.variants], np.float64)
    elif wanted.sort == "similarity":
        said = [one.heard for one in understood(held, wanted.like)]
        told = [max(one, key=one.__getitem__) if isinstance(one, dict) else one for one in said]
        events = [one for one in told if isinstance(one, str)]
        keys = tellings.similarity(events or tellings.variants[0].events)
    else:
        keys = tellings.counts.astype(np.float64)
    return np.argsort(-keys, kind="stable")


def _row(tellings: Tellings, row: int, steps: list[int]) -> Row:
    one = tellings.variants[row]
    return Row(
        number=row,
        lines=[*one.lines[:MOST_LINES]],
        count=one.tellings,
        ids=[*one.ids],
        told=tellings.told[row, steps].tolist(),
        unsaid=tellings.unsaid[row, steps].round(DIGITS).tolist(),
        other=len(one.events) - len(tellings.paths[row]),
        oddness=finite(tellings.oddness[row]),
        odd=bool(tellings.odd[row]),
    )
