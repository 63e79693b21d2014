"""What a learner that ends with one script answers: gaps at known places, or anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elision.ask._at_once import in_slices
from elision.ask.anywhere import insertions
from elision.ask.fill import allowed_events, fill_gaps, gap_chances, overall
from elision.ask.heard import gap_positions, hear_all, single
from elision.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.ask.heard import Heard
    from elision.observations import Observation, Unknown
    from elision.script import Script


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
        check_is_fitted(self, "script_")
        return fill_gaps(self.script_, X, unknown=unknown)

    def predict_gaps(
        self, X: Iterable[Sequence[Observation]], *, unknown: Unknown = "error"
    ) -> list[NDArray[np.float64]]:
        """Probability of each event in each gap of each narrative, (gaps, events) each."""
        check_is_fitted(self, "script_")
        return _several(self.script_, hear_all(self.script_, X, unknown=unknown))

    def predict_anywhere(
        self, X: Iterable[Sequence[Observation]], *, unknown: Unknown = "error"
    ) -> NDArray[np.float64]:
        """Probability that each event is the one that a narrative lacks, its place unknown."""
        check_is_fitted(self, "script_")
        heard = hear_all(self.script_, X, unknown=unknown)
        rows = [_anywhere(self.script_, single(one, "predict anywhere")) for one in heard]
        return np.array(rows).reshape(len(rows), len(self.script_.events))


def _several(script: Script, heard: list[Heard]) -> list[NDArray[np.float64]]:
    allowed = allowed_events(script, ())

    def answer(part: list[Heard]) -> list[NDArray[np.float64]]:
        gaps = [gap_positions(one) for one in part]
        chances, _ = gap_chances(script, part, gaps, allowed)
        return np.split(chances, np.cumsum([len(places) for places in gaps])[:-1])

    return in_slices(heard, answer)


def _anywhere(script: Script, items: list[Observation]) -> NDArray[np.float64]:
    put = insertions(script, Packer(script.events).pack([items])).sum(axis=0)
    total = put.sum()
    return np.asarray(put / total) if total > 0 else overall(script)
