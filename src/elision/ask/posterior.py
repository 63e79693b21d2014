"""Which states told the events of a narrative and which were passed, all paths weighed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from elision import _html
from elision.ask.heard import hear, impossible, name_of, single
from elision.errors import InputError
from elision.values.observations import Packer, short

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray

    from elision.ask.heard import Item
    from elision.values.observations import Unknown
    from elision.values.script import Script


@dataclass(frozen=True, slots=True, eq=False)
class StatePosterior:
    """Probabilities of states, given a narrative.

    Attributes
    ----------
    events
        The events that were told.
    states
        The states of the script, start and end included.
    told
        (events, states): probability that a state told an event.
    silent
        (events + 1, states): expected silent passes of a state before each event and at the end.
    visited
        (events + 1, states): expected visits to a state with so many events told.
    log_prob
        Log-probability of the narrative.
    """

    events: tuple[str, ...]
    states: tuple[str, ...]
    told: NDArray[np.float64]
    silent: NDArray[np.float64]
    visited: NDArray[np.float64]
    log_prob: float

    def to_frame(self, table: Literal["told", "silent", "visited"] = "told") -> pd.DataFrame:
        """Return one table as a data frame, a row an event or place and a column a state.

        Raises
        ------
        InputError
            If there is no such table, or pandas is not installed.
        """
        if table not in ("told", "silent", "visited"):
            raise InputError(f"table {short(table)}, expected 'told', 'silent' or 'visited'")
        try:
            import pandas as pd  # noqa: PLC0415 - optional
        except ImportError:
            hint = "install elision[files]"
            raise InputError("pandas is not installed", hint=hint) from None
        values = getattr(self, table)
        names = self.events if table == "told" else range(len(values))
        index = pd.Index(list(names), name="event" if table == "told" else "events told")
        columns = pd.Index(self.states, name="state")
        return pd.DataFrame(values, index=index, columns=columns)

    def __str__(self) -> str:
        lines = []
        for event, row in zip(self.events, self.told, strict=True):
            best = int(row.argmax())
            lines.append(f"{event}  [{self.states[best]}]  {row[best]:.0%}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        used = np.flatnonzero(self.told.any(axis=0)).tolist()
        rows: list[list[str | float]] = [
            [event, *(float(row[k]) for k in used)]
            for event, row in zip(self.events, self.told, strict=True)
        ]
        return _html.table(["told", *(self.states[k] for k in used)], rows)


def posterior(
    script: Script, narrative: Iterable[Item], *, unknown: Unknown = "error"
) -> StatePosterior:
    """Weigh all paths of a narrative: which state told which event, and what was passed.

    Parameters
    ----------
    script
        The script of the activity.
    narrative
        The events that were told, in order.
    unknown
        What to do with events that the script does not know: "error" or "ignore".

    Raises
    ------
    InputError
        If the script cannot tell the narrative.

    Examples
    --------
    >>> import elision as el
    >>> found = posterior(el.examples.doorbell(), ["hear doorbell", "open door"])
    >>> print(found)
    hear doorbell  [hear doorbell]  100%
    open door  [open door]  100%
    >>> found.silent.shape
    (3, 12)
    """
    items = single(hear(script, narrative, unknown=unknown), "posterior")
    found = script.lattice.posterior(Packer(script.events).pack([items]))[0]
    if found.log_prob == -np.inf:
        raise impossible()
    tables = (found.told, found.silent(script.elision), found.visited)
    for table in tables:
        table.setflags(write=False)
    return StatePosterior(tuple(map(name_of, items)), script.states, *tables, found.log_prob)
