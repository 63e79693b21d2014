"""What a learner that ends with a script answers, in arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elision.ask.fill import allowed_events
from elision.ask.heard import gap_positions, hear_all, single
from elision.ask.who import who
from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script


class ScriptAnswers:
    """Predictions of a learner whose ``script_`` is asked.

    A narrative that the script cannot tell at all gets the events' overall probabilities: every
    question has an answer.
    """

    script_: Script

    def predict_gap(
        self, X: Iterable[Sequence[Observation]], *, unknown: Unknown = "error"
    ) -> NDArray[np.float64]:
        """Probability of each event of ``events_`` in the gap (None) of each narrative."""
        found = self.predict_gaps(X, unknown=unknown)
        for place, rows in enumerate(found):
            if len(rows) != 1:
                raise InputError(f"narrative {place} has {len(rows)} gaps (None), expected one")
        return np.concatenate([np.empty((0, len(self.script_.events))), *found])

    def predict_gaps(
        self, X: Iterable[Sequence[Observation]], *, unknown: Unknown = "error"
    ) -> list[NDArray[np.float64]]:
        """Probability of each event in each gap of each narrative, (gaps, events) each."""
        script = self._fitted()
        heard = hear_all(script, X, unknown=unknown)
        for one in heard:
            gap_positions(one)
        found: list[NDArray[np.float64]] = who(script, "gap_chances")(
            script, heard, allowed_events(script, ())
        )
        return found

    def predict_anywhere(
        self, X: Iterable[Sequence[Observation]], *, unknown: Unknown = "error"
    ) -> NDArray[np.float64]:
        """Probability that each event is the one that a narrative lacks, its place unknown."""
        script = self._fitted()
        chances = who(script, "anywhere_chances")
        every = allowed_events(script, ())
        rows = [
            chances(script, single(one, "predict anywhere"), every).sum(axis=0)
            for one in hear_all(script, X, unknown=unknown)
        ]
        return np.array(rows).reshape(len(rows), len(script.events))

    def predict_hidden(
        self, X: Iterable[Sequence[Observation]], *, unknown: Unknown = "error"
    ) -> list[NDArray[np.float64]]:
        """Probability that each event is missing at each place, (events told + 1, events) each.

        The place i is before the event i, the last one the end.
        """
        script = self._fitted()
        items = [single(one, "predict hidden") for one in hear_all(script, X, unknown=unknown)]
        found: list[NDArray[np.float64]] = who(script, "missing_chances")(script, items)
        return found

    def predict_next(
        self, X: Iterable[Sequence[Observation]], *, unknown: Unknown = "error"
    ) -> NDArray[np.float64]:
        """Probability of each next event after each beginning, (beginnings, events + 1).

        The last column is that of the end.
        """
        script = self._fitted()
        items = [single(one, "predict next") for one in hear_all(script, X, unknown=unknown)]
        found: NDArray[np.float64] = who(script, "next_chances")(script, items)
        return found

    def _fitted(self) -> Script:
        check_is_fitted(self, "script_")
        return self.script_
