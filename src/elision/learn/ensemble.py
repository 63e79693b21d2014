"""`ScriptEnsemble`: several scripts for the same narratives, and what they are weighed by."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from elision import _threads
from elision.ask.combined import anywhere_chances, chances_and_spread
from elision.ask.fill import fill_gaps
from elision.ask.heard import gap_positions, hear_all, single
from elision.ask.last_step import features, shared_words
from elision.ask.questions import Questions
from elision.ensemble import Ensemble
from elision.errors import InputError
from elision.learn.conditional import count, learn_last_step
from elision.learn.consensus import fillers_of, nearest_of
from elision.learn.held_out import manner_weights, named, some_gaps
from elision.learn.observe import MemberDone
from elision.learn.sem import (
    MOST_BY_PAPER,
    SEMHMM,
    told_narratives,
    vocabulary_of,
)
from elision.script import Script

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike
    from typing import Self

    from numpy.typing import NDArray

    from elision.ask.align import Aligned
    from elision.ask.between import Story
    from elision.ask.following import Following
    from elision.ask.last_step import LastStep
    from elision.ask.posterior import StatePosterior
    from elision.contexts import Context
    from elision.learn.observe import Observer
    from elision.learn.sem import Narratives
    from elision.observations import Observation, Unknown
    from elision.show.draw import Drawing


class Manner(NamedTuple):
    """A way to learn a script: concentration of emissions, and cost of a state."""

    emission: float
    state_cost: float


MANNERS = (
    Manner(emission=0.003, state_cost=0.0),
    Manner(emission=0.01, state_cost=0.5),
    Manner(emission=0.03, state_cost=1.0),
)
"""From many states that tell one thing each to few that tell several. Which of them suits the
narratives, cross-validation inside of them says: the scripts are weighed by it."""

EM_STEPS = 3
"""After each batch of a search; backing off takes more at the end."""

FEWEST_TO_FOLD = 8
"""With fewer narratives nothing is weighed: there is too little to hold out."""


@dataclass(frozen=True, slots=True)
class _Job:
    """One script to learn: from all narratives but those of a fold, in one manner."""

    fold: int | None
    manner: int
    seed: int


@dataclass(slots=True)
class _Held:
    """Gaps of held-out narratives, and what was said of them."""

    contexts: list[Context] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    said: list[NDArray[np.float64]] = field(default_factory=list)
    """By each manner, (gaps, manners, events) a fold."""
    counted: list[Any] = field(default_factory=list)
    """Pairs and sets of the other narratives, a fold."""


class ScriptEnsemble(BaseEstimator, Questions):
    """Learn several scripts from the same narratives, and how to weigh them.

    The structure search is greedy and depends on the order of the narratives, and how much to merge
    is a matter of taste. So scripts are learned in several manners and orders and asked together.
    Inside the training narratives, each is also learned without one fold after the other; the gaps
    of that fold tell how much each manner is worth, and train the last step of filling a gap, which
    sees what no first-order script can: what is told already, the whole set of events around.

    Parameters
    ----------
    members
        Number of scripts.
    folds
        Of the cross-validation inside the training narratives; 0 weighs all scripts alike and
        leaves the last step out.
    last_step
        Whether to learn one.
    batch_size
        Narratives in a batch of each structure search.
    events
        The vocabulary, if it is larger than what the narratives tell.
    random_state
        Seed of orders and folds.
    observer
        Called with a `MemberDone` after each script.

    Attributes
    ----------
    ensemble_
        The learned `Ensemble`: it answers the questions, and can be saved.
    scripts_, weights_
        Its scripts and their weights.
    script_
        One script to read: the one that is nearest to what all say together.
    filler_
        The same states with more backing off (see `elision.learn.backoff`): the script that fills
        gaps best by itself.
    events_
        The vocabulary.

    Examples
    --------
    >>> import elision as el
    >>> learner = el.ScriptEnsemble(random_state=0).fit(el.examples.doorbell_tellings())
    >>> learner.fill(["hear doorbell", None, "open door"], top=1)[0].answers[0].event
    'walk to door'
    """

    def __init__(
        self,
        *,
        members: int = 6,
        folds: int = 4,
        last_step: bool = True,
        batch_size: int = 10,
        events: Sequence[str] | None = None,
        random_state: int = 0,
        observer: Observer | None = None,
    ) -> None:
        self.members = members
        self.folds = folds
        self.last_step = last_step
        self.batch_size = batch_size
        self.events = events
        self.random_state = random_state
        self.observer = observer

    def fit(self, X: Narratives, y: object = None) -> Self:  # noqa: ARG002
        """Learn from narratives: lists of events, or a `Corpus` of one domain."""
        return self.resume(X, None)

    def resume(self, X: Narratives, kept: Mapping[int, Script] | None) -> Self:
        """Fit, but for the scripts that an observer kept of the same fit, by their number."""
        self._check()
        # Small products of matrices in threads of ours: BLAS's own would stand in their way.
        with threadpool_limits(limits=1, user_api="blas"):
            return self._fit(told_narratives(X), kept or {})

    def _fit(self, narratives: list[tuple[str, ...]], kept: Mapping[int, Script]) -> Self:
        self.events_ = vocabulary_of(narratives, self.events)
        number = {event: o for o, event in enumerate(self.events_)}
        try:
            told = [tuple(number[event] for event in one) for one in narratives]
        except KeyError as error:
            raise InputError(f"unknown event {error.args[0]!r}, not in `events`") from None
        folds = self._folds(len(narratives))
        scripts, held = self._learn(narratives, told, folds, kept)
        weights, last_step = np.ones(len(scripts)), None
        if folds:
            said = np.concatenate(held.said)
            of_manner = manner_weights(said[np.arange(len(said)), :, held.answers])
            manner = np.arange(len(scripts)) % len(of_manner)
            weights = of_manner[manner] / np.bincount(manner)[manner]
            if self.last_step:
                last_step = self._last_step(told, held, said, of_manner)
        weights = weights / weights.sum()
        fillers = fillers_of(scripts, narratives)
        nearest = nearest_of(fillers, weights, narratives)
        about = self._about(narratives)
        self.filler_ = fillers[nearest].noted(**about)
        script = scripts[nearest].noted(**about)
        self.ensemble_ = Ensemble(scripts, weights, script=script, last_step=last_step)
        self.scripts_, self.weights_ = self.ensemble_.scripts, self.ensemble_.weights
        self.script_ = self.ensemble_.script
        return self

    def vocabulary(self, X: Narratives) -> tuple[str, ...]:
        """The events that scripts learned from these narratives are over."""
        return vocabulary_of(told_narratives(X), self.events)

    @property
    def asked(self) -> Script:
        """The mixture of the scripts."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.asked

    def fill(self, narrative: Iterable[Any], **options: Any) -> Any:
        """Rank the events that may fill the gaps of a narrative, see `Ensemble.fill`."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.fill(narrative, **options)

    def fill_many(self, narratives: Iterable[Iterable[Any]], **options: Any) -> Any:
        """Fill the gaps of many narratives, each gap by itself."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.fill_many(narratives, **options)

    def between(self, narrative: Iterable[Any], **options: Any) -> Story:
        """What probably happened unsaid, see `Ensemble.between`."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.between(narrative, **options)

    def between_many(self, narratives: Iterable[Iterable[Any]], **options: Any) -> list[Story]:
        """What happened unsaid in each of many narratives."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.between_many(narratives, **options)

    def next(self, narrative: Iterable[Any], **options: Any) -> Following:
        """Which event is told next, see `Ensemble.next`."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.next(narrative, **options)

    def align(self, narrative: Iterable[Any], **options: Any) -> Aligned:
        """The most probable path through the script to read, see `Ensemble.align`."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.align(narrative, **options)

    def posterior(self, narrative: Iterable[Any], **options: Any) -> StatePosterior:
        """Which state of the script to read told which event, see `Ensemble.posterior`."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.posterior(narrative, **options)

    def draw(self, path: str | PathLike[str] | None = None, **options: Any) -> Drawing:
        """Draw the script to read, see `Ensemble.draw`."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.draw(path, **options)

    def each(self, question: str, *arguments: Any, **options: Any) -> list[Any]:
        """Every script's own answer to a question, see `Ensemble.each`."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.each(question, *arguments, **options)

    def predict_gap(
        self, X: Iterable[Sequence[Observation]], *, unknown: Unknown = "error"
    ) -> NDArray[np.float64]:
        """Probability of each event of ``events_`` in the gap (None) of each narrative."""
        found = self.predict_gaps(X, unknown=unknown)
        for place, rows in enumerate(found):
            if len(rows) != 1:
                raise InputError(f"narrative {place} has {len(rows)} gaps (None), expected one")
        return np.concatenate([np.empty((0, len(self.events_))), *found])

    def predict_gaps(
        self, X: Iterable[Sequence[Observation]], *, unknown: Unknown = "error"
    ) -> list[NDArray[np.float64]]:
        """Probability of each event in each gap of each narrative, (gaps, events) each."""
        check_is_fitted(self, "ensemble_")
        heard = hear_all(self.script_, X, unknown=unknown)
        gaps = [gap_positions(one) for one in heard]
        everything = np.ones(len(self.events_), bool)
        if not heard:
            return []
        chances, _ = chances_and_spread(self.ensemble_, heard, gaps, everything)
        return np.split(chances, np.cumsum([len(places) for places in gaps])[:-1])

    def predict_anywhere(
        self, X: Iterable[Sequence[Observation]], *, unknown: Unknown = "error"
    ) -> NDArray[np.float64]:
        """Probability that each event is the one that a narrative lacks, its place unknown."""
        check_is_fitted(self, "ensemble_")
        everything = np.ones(len(self.events_), bool)
        rows = [
            anywhere_chances(self.ensemble_, single(one, "predict anywhere"), everything).sum(
                axis=0
            )
            for one in hear_all(self.script_, X, unknown=unknown)
        ]
        return np.array(rows).reshape(len(rows), len(self.events_))

    def score_samples(self, X: Narratives) -> NDArray[np.float64]:
        """Log-probability of each narrative under the mixture."""
        return self.asked.log_probs(told_narratives(X))

    def _check(self) -> None:
        for name, least in (("members", 1), ("folds", 0), ("batch_size", 1)):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < least:
                raise InputError(f"{name} is {value!r}, expected a whole number from {least}")
        if self.folds == 1:
            raise InputError("folds is 1, expected 0 or at least 2")
        if not isinstance(self.random_state, (int, np.integer)) or self.random_state < 0:
            raise InputError(f"random_state is {self.random_state!r}, expected a seed from 0")

    def _folds(self, narratives: int) -> list[NDArray[np.int64]]:
        """Numbers of the narratives of each fold; only one fold is held out of very many."""
        if self.folds == 0 or narratives < FEWEST_TO_FOLD or not self.events_:
            return []
        order = np.random.default_rng(self.random_state).permutation(narratives)
        parts = [np.sort(order[k :: self.folds]) for k in range(self.folds)]
        return parts if narratives <= MOST_BY_PAPER else parts[:1]

    def _learn(
        self,
        narratives: list[tuple[str, ...]],
        told: list[tuple[int, ...]],
        folds: list[NDArray[np.int64]],
        kept: Mapping[int, Script],
    ) -> tuple[list[Script], _Held]:
        """All scripts, and what those that did not see a fold say of its gaps."""
        held = _Held()
        asked = some_gaps(told, folds, len(self.events_), int(self.random_state))
        jobs = [
            _Job(None, k % len(MANNERS), int(self.random_state) + k) for k in range(self.members)
        ]
        used = min(self.members, len(MANNERS))
        jobs += [
            _Job(fold, manner, int(self.random_state) + 1000 * (fold + 1) + manner)
            for fold in range(len(folds))
            for manner in range(used)
        ]
        found: list[Any] = [None] * len(jobs)
        done = 0
        telling = Lock()

        def work(place: int) -> None:
            nonlocal done
            job = jobs[place]
            out = set() if job.fold is None else set(folds[job.fold].tolist())
            script = kept.get(place)
            if script is None:
                others = [one for k, one in enumerate(narratives) if k not in out]
                script = self._script(others, job)
            if job.fold is None:
                found[place] = script
            else:
                found[place] = fill_gaps(script, named(asked[job.fold], self.events_))
            with telling:
                done += 1
                if self.observer is not None:
                    self.observer(MemberDone(place, script, done, len(jobs)), None)

        _threads.run(work, range(len(jobs)))
        for fold, gaps in enumerate(asked):
            first = self.members + fold * used
            held.said.append(np.stack(found[first : first + used], axis=1))
            held.contexts += [context for context, _ in gaps]
            held.answers += [event for _, event in gaps]
            out = set(folds[fold].tolist())
            others = [one for k, one in enumerate(told) if k not in out]
            held.counted.append(count(others, len(self.events_)))
        return found[: self.members], held

    def _script(self, narratives: list[tuple[str, ...]], job: _Job) -> Script:
        manner = MANNERS[job.manner]
        learner = SEMHMM(
            score="marginal",
            batch_size=self.batch_size,
            state_cost=manner.state_cost,
            edge_cost=manner.state_cost / 2,
            emission_pseudocount=manner.emission,
            em_steps=EM_STEPS,
            events=self.events_,
            random_state=job.seed % 2**32,
        )
        script = learner.fit(narratives).script_
        return Script.from_parameters(script.events, script.parameters)  # without notes

    def _last_step(
        self,
        told: list[tuple[int, ...]],
        held: _Held,
        said: NDArray[np.float64],
        of_manner: NDArray[np.float64],
    ) -> LastStep:
        average = np.einsum("gme,m->ge", said, of_manner)
        shared = shared_words(self.events_)
        values, first = [], 0
        for counted, rows in zip(held.counted, held.said, strict=True):
            here = slice(first, first + len(rows))
            values.append(features(held.contexts[here], average[here], counted, shared))
            first += len(rows)
        return learn_last_step(
            self.events_,
            count(told, len(self.events_)),
            held.contexts,
            np.concatenate(values),
            np.array(held.answers, np.int64),
        )

    def _about(self, narratives: list[tuple[str, ...]]) -> dict[str, Any]:
        return {
            "learner": type(self).__name__,
            "members": int(self.members),
            "folds": int(self.folds),
            "last_step": bool(self.last_step),
            "narratives": len(narratives),
        }
