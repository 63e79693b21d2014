"""`ScriptLearner`: what ``elision learn`` does: one script, and with it one telling model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from elision.ask.questions import Questions
from elision.errors import InputError
from elision.learn.answers import ScriptAnswers
from elision.learn.missing import learn_missing
from elision.learn.sem import SEMHMM, told_narratives
from elision.learn.telling import learn_telling

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import NDArray

    from elision.learn.observe import Observer
    from elision.learn.sem import Narratives
    from elision.learn.structure import Progress
    from elision.script import Script

EMISSION = 0.1
"""Concentration of what a state tells."""

EM_STEPS = 3
"""After each batch of the search; backing off takes more at the end."""


class ScriptLearner(ScriptAnswers, BaseEstimator, Questions):
    """Learn a script from narratives, and a telling model that answers about tellings.

    The script is learned by structural EM with the marginal likelihood as its score. The telling
    model is learned from the same narratives beside it, see `elision.learn.telling`. Which of the
    two answers which question, `elision.ask.who` says.

    Parameters
    ----------
    batch_size
        Narratives in a batch of the structure search.
    state_cost
        What a state of the script must gain in log-probability: the larger, the fewer states.
    telling
        Whether to learn a telling model; without one the script answers everything.
    events
        The vocabulary, if it is larger than what the narratives tell.
    random_state
        Seed of the order in which narratives come, and of the folds; None keeps the order given.
    observer
        Called with everything that happens, see `elision.learn.observe`.

    Attributes
    ----------
    script_
        The learned `Script`, with the telling model as ``script_.telling``: it answers the
        questions, and can be saved.
    events_
        The vocabulary.
    history_
        A record of each batch of the structure search.
    n_narratives_seen_
        Narratives absorbed so far.

    Examples
    --------
    >>> import elision as el
    >>> learner = el.ScriptLearner().fit(el.examples.doorbell_tellings())
    >>> learner.fill(["hear doorbell", None, "open door"], top=1)[0].answers[0].event
    'walk to door'
    """

    def __init__(
        self,
        *,
        batch_size: int = 5,
        state_cost: float = 3.0,
        telling: bool = True,
        events: Sequence[str] | None = None,
        random_state: int | None = 0,
        observer: Observer | None = None,
    ) -> None:
        self.batch_size = batch_size
        self.state_cost = state_cost
        self.telling = telling
        self.events = events
        self.random_state = random_state
        self.observer = observer

    def fit(self, X: Narratives, y: object = None) -> Self:  # noqa: ARG002
        """Learn from narratives: lists of events, or a `Corpus` of one domain."""
        return self.resume(X, None)

    def resume(self, X: Narratives, progress: Progress | None) -> Self:
        """Fit, going on from the progress that an observer kept of the same fit."""
        search = self._search()
        narratives = told_narratives(X)
        return self._finish(search.resume(narratives, progress), narratives)

    def partial_fit(self, X: Narratives, y: object = None) -> Self:  # noqa: ARG002
        """Absorb narratives as one more batch; the vocabulary may grow.

        The telling model is learned anew from all narratives seen.
        """
        search = getattr(self, "_searched", None) or self._search()
        search.set_params(**self._search().get_params())
        narratives = told_narratives(X)
        search.partial_fit(narratives)
        return self._finish(search, [*getattr(self, "_seen", ()), *narratives])

    @property
    def asked(self) -> Script:
        """The learned script."""
        check_is_fitted(self, "script_")
        return self.script_

    def score_samples(self, X: Narratives) -> NDArray[np.float64]:
        """Log-probability of each narrative."""
        return self.asked.log_probs(told_narratives(X))

    def _search(self) -> SEMHMM:
        seed = self.random_state
        if seed is not None and (not isinstance(seed, (int, np.integer)) or seed < 0):
            raise InputError(f"random_state is {seed!r}, expected a seed from 0, or None")
        return SEMHMM(
            score="marginal",
            batch_size=self.batch_size,
            state_cost=self.state_cost,
            emission_pseudocount=EMISSION,
            em_steps=EM_STEPS,
            events=self.events,
            random_state=seed,
            observer=self.observer,
        )

    def _finish(self, search: SEMHMM, narratives: list[tuple[str, ...]]) -> Self:
        self._searched, self._seen = search, narratives
        self.events_ = search.events_
        self.history_ = search.history_
        self.n_narratives_seen_ = search.n_narratives_seen_
        self.script_ = search.script_.noted(learner=type(self).__name__)
        if self.telling and self.events_:
            number = {event: o for o, event in enumerate(self.events_)}
            told = [tuple(number[event] for event in one) for one in narratives]
            # Small products of matrices in threads of ours: BLAS's own would stand in their way.
            with threadpool_limits(limits=1, user_api="blas"):
                telling = learn_telling(told, self.events_, random_state=self.random_state or 0)
                missing = learn_missing(told, self.events_, random_state=self.random_state or 0)
            self.script_ = self.script_.with_telling(telling.with_missing(missing))
        return self
