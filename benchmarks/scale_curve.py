"""How well is learned from more and more narratives: the learning curve of ``scale.py``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import elision as el
from common import tell
from elision.learn import telling
from elision.scale import sampling

if TYPE_CHECKING:
    from scale import Source

HELD_OUT = 1000
SEED = 7

Narratives = list[tuple[str, ...]]
Losses = dict[str, NDArray[np.float64]]


def learning_curve(
    source: Source, logs: Sequence[str], sizes: Sequence[int], cells: int | None
) -> dict[str, Any]:
    """Learn from parts of each source that hold one another, and ask about what none has seen."""
    sampling.MOST_NARRATIVES = max(*sizes, sampling.MOST_NARRATIVES)
    telling.MOST_CELLS = cells or telling.MOST_CELLS
    found = {"sampled": _curve("sampled", source.drawn(max(sizes) + HELD_OUT), sizes)}
    for log in logs:
        for domain, corpus in el.read(log).by_domain().items():
            found[domain or log] = _curve(log, corpus.events, sizes)
    return {"held_out": HELD_OUT, "cells": telling.MOST_CELLS, "curves": found}


def _curve(name: str, narratives: Narratives, sizes: Sequence[int]) -> dict[str, Any]:
    rng = np.random.default_rng(SEED)
    order = rng.permutation(len(narratives)).tolist()
    told = [narratives[k] for k in order[HELD_OUT:]]
    asked = [narratives[k] for k in order[:HELD_OUT] if narratives[k]]
    events = sorted({event for one in narratives for event in one})
    hidden = [int(rng.integers(len(one))) for one in asked]
    shown = [int(rng.integers(len(one) + 1)) for one in asked]
    rows, losses = [], []
    for size in sorted({min(size, len(told)) for size in sizes}):
        began = time.process_time()
        learner = el.ScriptLearner(events=events).fit(told[:size])
        seconds = time.process_time() - began
        right, loss = _judged(learner, asked, hidden, shown)
        losses.append(loss)
        rows.append({"narratives": size, "distinct": len(set(told[:size])),
                     "processor_seconds": round(seconds, 1),
                     **{task: {"accuracy": round(float(right[task].mean()), 4),
                               "log_loss": round(float(loss[task].mean()), 4)}
                        for task in loss}})  # fmt: skip
        tell(f"{name}: {rows[-1]}")
    for row, loss in zip(rows, losses, strict=True):
        row["log_loss_above_the_last"] = {
            task: _mean_and_error(loss[task] - losses[-1][task]) for task in loss
        }
    return {"events": len(events), "sizes": rows}


def _judged(
    learner: el.ScriptLearner, asked: Narratives, hidden: list[int], shown: list[int]
) -> tuple[Losses, Losses]:
    number = {event: k for k, event in enumerate(learner.events_)}
    gaps = [[*one[:k], None, *one[k + 1 :]] for one, k in zip(asked, hidden, strict=True)]
    truth = {
        "gap": [number[one[k]] for one, k in zip(asked, hidden, strict=True)],
        "next": [
            number[one[k]] if k < len(one) else len(number)
            for one, k in zip(asked, shown, strict=True)
        ],
    }
    chances = {
        "gap": learner.predict_gap(gaps),
        "next": learner.predict_next([one[:k] for one, k in zip(asked, shown, strict=True)]),
    }
    right, loss = {}, {}
    for task, answers in truth.items():
        rows = np.arange(len(answers))
        right[task] = (chances[task].argmax(axis=1) == answers).astype(float)
        loss[task] = -np.log(np.maximum(chances[task][rows, answers], 1e-12))
    return right, loss


def _mean_and_error(values: NDArray[np.float64]) -> list[float]:
    """Mean, and its standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    return [round(float(values.mean()), 4), round(float(error), 4)]
