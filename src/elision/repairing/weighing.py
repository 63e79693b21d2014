"""How much the record itself has to say beside the completed copies of a log: the log decides.

Told events take the place of missing ones. An event that is left out with chance e stands in the
log (1 - e) / e times as often as it is missing, whatever else was left out: so what an estimate
says of the gaps that told events would leave, were they taken out, says how far it is from the
truth, up to what is the same for all estimates. Each half of the cases is judged by what was
learned from the other one: who is judged by his own words is right.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from elision.repairing.completing import Completion
from elision.repairing.gaps import AT_ONCE, framed, learn_gaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.repairing.gaps import GapTables
    from elision.repairing.recorded import Record

MOST = 0.5
"""Weight of the record at most: where hardly anything is left out, both are hardly judged."""


def learn_weight(
    told: Sequence[NDArray[np.int64]],
    events: int,
    rates: NDArray[np.float64],
    *,
    copies: int,
    random_state: int = 0,
) -> float:
    """Return the weight from 0 to `MOST` of what the record says.

    It is where the squared error is least, with what is gained lowered by its standard error.

    Parameters
    ----------
    told
        Told events of each trace, as numbers below ``events``.
    rates
        For each type of event how often it is left out.
    copies
        Completed copies of each half.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> log = [np.flatnonzero(rng.random(3) < 0.8) for _ in range(900)]
    >>> learn_weight([one for one in log if len(one)], 3, np.full(3, 0.2), copies=5) < 0.5
    True
    """
    if len(told) < 2 or not rates.any():
        return 0.0
    rng = np.random.default_rng([random_state, 16])
    order = rng.permutation(len(told))
    halves = [[told[k] for k in np.sort(part).tolist()] for part in np.array_split(order, 2)]
    sums = np.zeros(3)
    for number, half in enumerate(halves):
        completion = Completion(half, events, rates, random_state=random_state + 1 + number)
        tables = learn_gaps(completion.copies(copies), events, rates, rng, half, 1.0)
        if tables.record is not None:
            sums += compared(tables, tables.record, halves[1 - number])
    gain, cost, variance = sums.tolist()
    surely = gain - variance**0.5
    # Where both say the same of all gaps, nothing is to be chosen.
    return float(min(surely / cost, MOST)) if surely > 0 and cost > 0 else 0.0


def compared(
    tables: GapTables, record: Record, told: Sequence[NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Return what a weight of the record gains, what it costs, and the variance of the gain.

    With what completed copies say, a, and the record, b, the risk of a + w (b - a) is that of a
    less 2 w gain - w^2 cost. The variance is that of sums over cases, whose means are small.
    """
    times = Counter(tuple(trace.tolist()) for trace in told)
    traces = [np.array(one, np.int64) for one in times]
    weights = np.array(list(times.values()), float)
    sums = np.zeros(3)
    for first in range(0, len(traces), AT_ONCE):
        weight = weights[first : first + AT_ONCE]
        starts, joined = framed(traces[first : first + AT_ONCE], tables.base)
        found = tables.completed(starts, joined, 0.0)
        apart = record.chances(starts, joined, *found[:3]) - found.chance
        many = len(weight)
        cost = np.bincount(found.trace, apart**2, minlength=many)
        odds = np.append(record.odds, [0.0, 0.0])[joined]
        out = record.told_chances(starts, joined) - tables.completed_told(starts, joined)
        trace = np.repeat(np.arange(many), np.diff(starts))
        gain = np.bincount(trace, odds * out, minlength=many)
        gain -= np.bincount(found.trace, apart * found.chance, minlength=many)
        sums += [(weight * one).sum() for one in (gain, cost, gain**2)]
    return sums
