"""`ScriptLearner`: what ``elision learn`` does: one script, and with it one telling model."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from elision._threads import batch, one_blas_thread
from elision.errors import InputError
from elision.learn.alarms import with_alarms
from elision.learn.answers import ScriptAnswers
from elision.learn.calibration import learn_calibration
from elision.learn.held_out import hold_out
from elision.learn.missing import learn_missing
from elision.learn.near_words import learn_near_words, told_words
from elision.learn.observe import Stage
from elision.learn.outline import learn_outline, sharp_script
from elision.learn.sem import heard_narratives, told_narratives, vocabulary_of
from elision.learn.telling import learn_telling
from elision.values.observations import Packer, likeliest_events, short
from elision.values.questions import Questions
from elision.values.variants import Variants

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from elision.learn.sem import Heard, HeardNarratives, Narratives
    from elision.values.script import Script


_T = TypeVar("_T")

MOST_NARRATIVES = 100_000
"""Of more, so many are learned from: more do not help.

Log-loss of a gap and of the next event, on narratives that were not learned from, is 1.025 and
1.496 after 10,000 narratives, 1.018 and 1.488 after 100,000, and 1.025 and 1.488 after 1,000,000,
with standard errors of the differences of 0.007 and 0.003
(docs/scale.md has the table).
"""

STAGES = (
    Stage("steps and their order", 0.0, 0.35),
    Stage("what ordinary tellings look like", 0.35, 0.5),
    Stage("how it is told", 0.5, 0.75),
    Stage("how what is missing shows", 0.75, 1.0),
)
"""The stages of learning, with the shares of the time that they take on average."""


class ScriptLearner(ScriptAnswers, BaseEstimator, Questions):
    """Learn a script from narratives, and a telling model that answers about tellings.

    The script is that of an outline: about one state for each event, see `elision.learn.outline`.
    The telling model is learned from the same narratives beside it, see `elision.learn.telling`.
    Which of the two answers which question, `elision.ask.who` says. The learners of the paper are
    in `elision.learn.sem`.

    Parameters
    ----------
    events
        The vocabulary, if it is larger than what the narratives tell.
    title
        The activity, for a reader of the outline.
    wording
        Sentences that people used for an event, for a reader of the outline.
    random_state
        Seed of the folds and of the search for the order of the steps.
    observer
        Called with a `Stage` when each stage of learning begins.

    Attributes
    ----------
    script_
        The learned `Script`, with the telling model as ``script_.telling``: it answers the
        questions, and can be saved.
    events_
        The vocabulary.
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
        events: Sequence[str] | None = None,
        title: str = "",
        wording: Mapping[str, Sequence[str]] | None = None,
        random_state: int = 0,
        observer: Callable[[Stage], object] | None = None,
    ) -> None:
        self.events = events
        self.title = title
        self.wording = wording
        self.random_state = random_state
        self.observer = observer

    def fit(
        self,
        X: Narratives,
        y: object = None,  # noqa: ARG002
        *,
        heard: HeardNarratives | None = None,
        words: Sequence[Sequence[Sequence[str]]] | None = None,
    ) -> Self:
        """Learn from narratives: lists of events, a `Corpus` of one domain, or `Variants`.

        Of more than `MOST_NARRATIVES`, a sample is learned from, which ``script_.about`` says.

        Parameters
        ----------
        X
            The narratives.
        heard
            The same narratives as others like them will be heard when questions are asked, if that
            is not the same: sentences mapped to events one by one, which goes wrong now and then,
            or to weights of those that each may tell, None for what tells none. The script is
            learned from ``X``, and what answers about tellings from both: from these as far as they
            agree with ``X``. How odd tellings usually are goes by these.
        words
            The words of the sentence that tells each event of ``X``, if sentences told them. Then
            gaps between sentences are also filled by the words of these.
        """
        if isinstance(X, Variants) and len(X.domains) == 1 and len(X):
            narratives: Sequence[tuple[str, ...]] = X
        else:
            narratives = told_narratives(X)
        also = None if heard is None else heard_narratives(heard)
        spoken = None if words is None else told_words(words, list(map(len, narratives)))
        return self._learn(narratives, also, spoken)

    def partial_fit(self, X: Narratives, y: object = None) -> Self:  # noqa: ARG002
        """Learn anew from all narratives seen and these; the vocabulary may grow.

        All are kept.
        """
        return self._learn([*getattr(self, "_seen", ()), *told_narratives(X)])

    @property
    def asked(self) -> Script:
        """The learned script."""
        check_is_fitted(self, "script_")
        return self.script_

    def score_samples(self, X: Narratives) -> NDArray[np.float64]:
        """Log-probability of each narrative."""
        return self.asked.log_probs(told_narratives(X))

    def _learn(
        self,
        given: Sequence[tuple[str, ...]],
        heard: list[tuple[Heard, ...]] | None = None,
        words: list[Sequence[Sequence[str]]] | None = None,
    ) -> Self:
        seed = checked_seed(self.random_state)
        if heard is not None and len(heard) != len(given):
            raise InputError(f"{len(heard)} narratives heard, expected {len(given)} as told")
        self._seen = given
        self.n_narratives_seen_ = len(given)
        narratives = drawn(given, seed)
        perhaps = None if heard is None else drawn(heard, seed)
        words = None if words is None else drawn(words, seed)
        likely = None if perhaps is None else [likeliest_events(one) for one in perhaps]
        every = [*narratives, *(likely or ())]
        self.events_ = vocabulary_of(every, self.events)
        Packer(self.events_).pack(every)  # complains of events that the vocabulary lacks
        number = {event: o for o, event in enumerate(self.events_)}
        numbered = {one: tuple(number[event] for event in one) for one in set(every)}
        told = [numbered[one] for one in narratives]
        other = None if likely is None else [numbered[one] for one in likely]
        heard_so = told if other is None else other
        stage = iter(STAGES)
        self._begin(next(stage))
        outline = learn_outline(
            told, self.events_, title=self.title, wording=self.wording, random_state=seed
        )
        self._begin(next(stage))
        outline = with_alarms(outline, heard_so, self.events_, random_state=seed)
        about = {"learner": type(self).__name__, "narratives": self.n_narratives_seen_}
        if len(narratives) < self.n_narratives_seen_:
            about["sample"] = len(narratives)
        self.script_ = sharp_script(outline, self.events_, about=about)
        if self.events_:
            # Small products of matrices in threads of ours: BLAS's own would stand in their way.
            with one_blas_thread(), batch():
                self._begin(next(stage))
                telling = learn_telling(told, self.events_, heard=other, random_state=seed)
                self._begin(next(stage))
                held_out = hold_out(told, self.events_, heard=other, random_state=seed)
                missing = learn_missing(
                    heard_so, self.events_, held_out=held_out, random_state=seed
                )
                calibration = learn_calibration(
                    held_out, heard=perhaps, closed=self.events is not None
                )
                telling = telling.with_missing(missing).with_calibration(calibration)
                if words is not None:
                    near = learn_near_words(told, words, len(self.events_), random_state=seed)
                    telling = telling.with_near_words(near)
            self.script_ = self.script_.with_telling(telling)
        return self

    def _begin(self, stage: Stage) -> None:
        if self.observer is not None:
            self.observer(stage)


def drawn(narratives: Sequence[_T], seed: int) -> list[_T]:
    """Return all narratives, or a sample of those of a longer list, in the order given."""
    if len(narratives) <= MOST_NARRATIVES:
        return [*narratives]
    rng = np.random.default_rng([seed, 18])
    chosen = rng.choice(len(narratives), MOST_NARRATIVES, replace=False, shuffle=False)
    return [narratives[k] for k in np.sort(chosen).tolist()]


def checked_seed(seed: object) -> int:
    """Return a seed as a number.

    Raises
    ------
    InputError
        If it is none.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"random_state is {short(seed)}, expected a seed from 0")
    return int(seed)
