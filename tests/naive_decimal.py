"""Inference in decimal numbers, whose exponents never end: a twin where doubles leave their range.

Written from docs/formulas.md, one state after the other. Nothing here imports the package.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np

DIGITS = 50


class Inferred(NamedTuple):
    """All of one narrative: its log-probability, expected counts and posteriors."""

    log_prob: float
    transition: np.ndarray
    emission: np.ndarray
    elision: np.ndarray
    told: np.ndarray
    entered: np.ndarray
    visited: np.ndarray


def inferred(transition, emission, elision, narrative):
    """Infer from a narrative of event numbers; zeros, and -inf, if it is impossible."""
    with localcontext() as context:
        context.prec = DIGITS
        return _inferred(*map(_exact, (transition, emission, elision)), narrative)


def _exact(array):
    return np.array([Decimal(float(value)) for value in array.ravel()], object).reshape(array.shape)


def _inferred(T, omega, silent, narrative):
    n, m = len(silent), len(narrative)
    end = n - 1
    zero = Decimal(0)
    visit, arrive, after, enter = (np.full((m + 1, n), zero, object) for _ in range(4))
    visit[0, 0] = Decimal(1)
    for i in range(m + 1):
        for k in range(1, end):
            emitted = omega[k, narrative[i - 1]] * arrive[i - 1, k] if i else zero
            came = sum((visit[i, j] * T[j, k] for j in range(k)), zero)
            arrive[i, k] = (came + T[k, k] * emitted) / (1 - T[k, k] * silent[k])
            visit[i, k] = silent[k] * arrive[i, k] + emitted
    total = sum((visit[m, j] * T[j, end] for j in range(end)), zero)
    enter[m, end] = Decimal(1)
    for i in range(m, -1, -1):
        for k in range(end - 1, -1, -1):
            emitted = omega[k, narrative[i]] * after[i + 1, k] if i < m else zero
            left = sum((T[k, j] * enter[i, j] for j in range(k + 1, n)), zero)
            after[i, k] = (left + T[k, k] * emitted) / (1 - T[k, k] * silent[k])
            enter[i, k] = silent[k] * after[i, k] + emitted
    shape = (m + 1, n)
    found = Inferred(
        float(total.ln()) if total else -np.inf,
        np.zeros((n, n)),
        np.zeros(omega.shape),
        np.zeros(n),
        np.zeros((m, n)),
        np.zeros(shape),
        np.zeros(shape),
    )
    if not total:
        return found
    for i in range(m + 1):
        for k in range(end):
            found.visited[i, k] = float(visit[i, k] * after[i, k] / total)
            found.entered[i, k] = float(arrive[i, k] * after[i, k] / total)
            found.elision[k] += float(arrive[i, k] * silent[k] * after[i, k] / total)
            for j in range(k, n):
                found.transition[k, j] += float(visit[i, k] * T[k, j] * enter[i, j] / total)
            if i < m:
                share = arrive[i, k] * omega[k, narrative[i]] * after[i + 1, k] / total
                found.told[i, k] = float(share)
                found.emission[k, narrative[i]] += float(share)
    return found
