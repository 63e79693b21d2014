"""Estimators: SEM-HMM and its relatives, like those of scikit-learn."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from elision._backends import is_frame
from elision.errors import InputError
from elision.learn.answers import ScriptAnswers
from elision.learn.backoff import Backoff, back_off
from elision.learn.counts import CountsModel
from elision.learn.em import Base, Converged, Prior, pseudocounts
from elision.learn.observe import ignore
from elision.learn.scores import SCORES, ScoreName
from elision.learn.search import Costs
from elision.learn.structure import Plan, Progress, Settings, learn_structure
from elision.values.corpus import Corpus
from elision.values.observations import Packer, short
from elision.values.script import Script
from elision.values.variants import Variants

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from elision.learn.observe import Observer
    from elision.values.observations import Observation, Packed

Narratives: TypeAlias = "Corpus | Variants | Iterable[Iterable[str]]"
Heard: TypeAlias = "str | Mapping[str, float] | None"
HeardNarratives: TypeAlias = "Narratives | Iterable[Iterable[Heard]]"

MOST_BY_PAPER = 500
"""Up to so many narratives the "auto" plan is the paper's."""


class SEMHMM(ScriptAnswers, BaseEstimator):
    """Learn a script from narratives by structural EM.

    Each batch of narratives becomes a prefix tree beside the script learned so far. States are
    merged and edges deleted, the best move first, while that improves the score; then EM
    re-estimates the parameters on all narratives seen (Orr et al., AAAI 2014).

    Parameters
    ----------
    score
        "exact": log-likelihood by the forward pass, less the costs; "approx": its local
        approximation by expected counts; "marginal": Dirichlet-multinomial marginal likelihood.
    batch_size
        Narratives in a batch, the paper's r.
    elisions
        Whether states may stay silent.
    em
        Whether EM follows each batch.
    state_cost, edge_cost, constraint_cost
        The paper's kappa_q, kappa_t, kappa_c.
    error_rate
        Allowed rate of violation for a constraint to be kept.
    transition_pseudocount, emission_pseudocount, elision_prior, base
        Prior of the parameters, see `Prior`; by default the paper's for "exact" and "approx" and
        concentrations found to be good for "marginal".
    plan
        "paper": every narrative becomes part of a tree, all are re-read after each batch;
        "growing": batches grow, and only what is badly explained becomes a tree; "auto": "paper"
        up to 500 narratives.
    exhaustive
        With "exact": try every move again after each accepted one.
    em_tolerance, em_steps
        EM stops when a step gains less than this a narrative, or after so many steps.
    backoff
        Pseudocounts a state for leaving to any later state and for telling any event, with which
        the parameters are estimated once more (see `elision.learn.backoff`), or None. "auto": 0.3
        each for "marginal", None as in the paper for the others, which may then find a narrative
        impossible.
    events
        The vocabulary, if it is larger than what the narratives tell.
    random_state
        Seed of the order in which the narratives come; None keeps the order given.
    observer
        Called with everything that happens, see `elision.learn.observe`.

    Attributes
    ----------
    script_
        The learned `Script`.
    events_
        The vocabulary.
    history_
        A record of each batch: states, edges, scores, moves, log-probability.
    n_narratives_seen_
        Narratives absorbed so far.

    Examples
    --------
    >>> import elision as el
    >>> learner = el.SEMHMM(score="marginal").fit(el.examples.doorbell_tellings())
    >>> print(learner.script_.fill(["hear doorbell", None, "open door"], top=1)[0])
    walk to door  87%
    """

    def __init__(
        self,
        *,
        score: ScoreName = "exact",
        batch_size: int = 5,
        elisions: bool = True,
        em: bool = True,
        state_cost: float = 1.0,
        edge_cost: float = 0.5,
        constraint_cost: float = 0.0,
        error_rate: float = 0.1,
        transition_pseudocount: float | None = None,
        emission_pseudocount: float | None = None,
        elision_prior: tuple[float, float] | None = None,
        base: Base | None = None,
        plan: Plan | Literal["auto"] = "auto",
        exhaustive: bool = False,
        em_tolerance: float = 1e-3,
        em_steps: int = 30,
        backoff: tuple[float, float] | Literal["auto"] | None = "auto",
        events: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.score = score
        self.batch_size = batch_size
        self.elisions = elisions
        self.em = em
        self.state_cost = state_cost
        self.edge_cost = edge_cost
        self.constraint_cost = constraint_cost
        self.error_rate = error_rate
        self.transition_pseudocount = transition_pseudocount
        self.emission_pseudocount = emission_pseudocount
        self.elision_prior = elision_prior
        self.base = base
        self.plan = plan
        self.exhaustive = exhaustive
        self.em_tolerance = em_tolerance
        self.em_steps = em_steps
        self.backoff = backoff
        self.events = events
        self.random_state = random_state
        self.observer = observer

    def fit(self, X: Narratives, y: object = None) -> Self:  # noqa: ARG002
        """Learn a script from narratives: lists of events, or a `Corpus` of one domain."""
        narratives = told_narratives(X)
        self._seen = narratives
        self._vocabulary = vocabulary_of(narratives, self.events)
        settings = self._settings(len(narratives))
        packed = Packer(self._vocabulary).pack(narratives)
        order = np.arange(len(narratives))
        if self.random_state is not None:
            order = check_random_state(self.random_state).permutation(len(narratives))
        self._progress = learn_structure(
            packed,
            order,
            len(self._vocabulary),
            settings,
            observer=self.observer or ignore,
        )
        self._finish(settings, packed)
        return self

    def partial_fit(self, X: Narratives, y: object = None) -> Self:  # noqa: ARG002
        """Absorb narratives as one more batch; the vocabulary may grow."""
        narratives = told_narratives(X)
        progress = getattr(self, "_progress", None) or Progress(CountsModel.empty(0))
        known: tuple[str, ...] = getattr(self, "_vocabulary", ())
        vocabulary = (*known, *vocabulary_of(narratives, self.events, known))
        seen = [*getattr(self, "_seen", ()), *narratives]
        packed = Packer(vocabulary).pack(seen)
        settings = self._settings(len(seen), batch_size=len(narratives))
        # Nothing of the learner changes before all this has passed.
        self._seen, self._vocabulary = seen, vocabulary
        self._progress = learn_structure(
            packed,
            range(len(seen)),
            len(vocabulary),
            settings,
            progress=_with_events(progress, len(vocabulary)),
            observer=self.observer or ignore,
        )
        self._finish(settings, packed)
        return self

    def score_samples(self, X: Narratives) -> NDArray[np.float64]:
        """Log-probability of each narrative."""
        check_is_fitted(self, "script_")
        return self.script_.log_probs(told_narratives(X))

    def _settings(self, narratives: int, batch_size: int | None = None) -> Settings:
        if self.score not in SCORES:
            known = [*map(repr, SCORES)]
            expected = f"{', '.join(known[:-1])} or {known[-1]}"
            raise InputError(f"score {self.score!r}, expected {expected}")
        if self.plan not in ("paper", "growing", "auto"):
            raise InputError(f"plan {self.plan!r}, expected 'paper', 'growing' or 'auto'")
        if not isinstance(self.em_steps, (int, np.integer)) or self.em_steps < 0:
            raise InputError(f"em_steps is {short(self.em_steps)}, expected a whole number from 0")
        if not isinstance(self.batch_size, (int, np.integer)) or self.batch_size < 1:
            problem = f"batch_size is {short(self.batch_size)}"
            raise InputError(f"{problem}, expected a whole number from 1")
        for name in ("state_cost", "edge_cost", "constraint_cost"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise InputError(f"{name} is {value}, expected a number from 0")
        plan: Plan = "paper" if narratives <= MOST_BY_PAPER or not self.em else "growing"
        return Settings(
            score=self.score,
            batch_size=batch_size or self.batch_size,
            plan=plan if self.plan == "auto" else self.plan,
            elisions=self.elisions,
            em=self.em,
            prior=self._prior(),
            costs=Costs(self.state_cost, self.edge_cost, self.constraint_cost),
            error_rate=self.error_rate,
            exhaustive=self.exhaustive,
            stop=Converged(self.em_tolerance, self.em_steps),
        )

    def _prior(self) -> Prior:
        default = SCORES[self.score].prior
        prior = Prior(
            transition=_or(self.transition_pseudocount, default.transition),
            emission=_or(self.emission_pseudocount, default.emission),
            elision=_or(self.elision_prior, default.elision),
            base=_or(self.base, default.base),
        )
        least = min(prior.transition, prior.emission, *(prior.elision or ()))
        if SCORES[self.score].concentrations and least == 0:
            raise InputError(f"a pseudocount is 0, but score={self.score!r} needs positive ones")
        return prior

    def _backoff(self) -> Backoff | None:
        if self.backoff == "auto":
            return Backoff() if SCORES[self.score].backs_off else None
        if self.backoff is None:
            return None
        if not isinstance(self.backoff, tuple) or len(self.backoff) != 2:
            raise InputError(f"backoff {self.backoff!r}, expected two pseudocounts")
        return Backoff(*self.backoff)

    def _finish(self, settings: Settings, packed: Packed) -> None:
        prior = pseudocounts(settings.prior, len(self._vocabulary), packed)
        model = self._progress.model
        parameters = model.parameters(prior, elisions=settings.elisions)
        backoff = self._backoff()
        if backoff is not None:
            parameters = back_off(
                parameters, packed, settings.prior, backoff, elisions=settings.elisions
            )
        self.script_ = Script.from_parameters(
            self._vocabulary, parameters, about=self._about(settings)
        )
        self.events_ = self._vocabulary
        self.history_ = self._progress.history
        self.n_narratives_seen_ = self._progress.seen

    def _about(self, settings: Settings) -> dict[str, Any]:
        return {
            "learner": type(self).__name__,
            "score": settings.score,
            "batch_size": settings.batch_size,
            "plan": settings.plan,
            "elisions": settings.elisions,
            "em": settings.em,
            "narratives": self._progress.seen,
        }


def mean_log_prob(estimator: SEMHMM, X: Narratives, y: object = None) -> float:  # noqa: ARG001
    """Mean log-probability of narratives: a ``scoring`` for scikit-learn's model selection.

    Examples
    --------
    >>> import elision as el
    >>> from sklearn.model_selection import GridSearchCV
    >>> grid = GridSearchCV(
    ...     el.SEMHMM(score="marginal", events=el.examples.doorbell().events),
    ...     {"state_cost": [1.0, 100.0]},
    ...     scoring=el.mean_log_prob,
    ...     cv=2,
    ... )
    >>> grid.fit(el.examples.doorbell_tellings()).best_params_
    {'state_cost': 1.0}
    """
    return float(np.mean(estimator.score_samples(X)))


def _named(name: str, description: str, **settings: object) -> type[SEMHMM]:
    """SEMHMM under another name with other defaults, which scikit-learn's conventions see."""
    signature = inspect.signature(SEMHMM.__init__)
    parameters = [
        parameter.replace(default=settings.get(parameter.name, parameter.default))
        for parameter in signature.parameters.values()
    ]

    def initialise(self: SEMHMM, **parameters: Any) -> None:
        SEMHMM.__init__(self, **{**settings, **parameters})

    initialise.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    body = {"__init__": initialise, "__doc__": description, "__module__": __name__}
    return type(name, (SEMHMM,), body)


BMM = _named(
    "BMM",
    """Bayesian model merging: no elisions and no EM, the counts are simply carried along.

    Merges are scored by the counts, as by Stolcke and Omohundro (1994). The parameters are those
    of `SEMHMM`.

    Examples
    --------
    >>> import elision as el
    >>> el.BMM().fit(el.examples.doorbell_tellings()).script_.elision.max()
    np.float64(0.0)
    """,
    score="approx",
    elisions=False,
    em=False,
)

BMMEM = _named(
    "BMMEM",
    """Bayesian model merging with EM after each batch, still without elisions.

    The parameters are those of `SEMHMM`.
    """,
    elisions=False,
)


def told_narratives(X: Narratives) -> list[tuple[str, ...]]:
    """Lists of events, whatever they came in."""
    if isinstance(X, Corpus | Variants):
        if len(X.domains) > 1:
            raise InputError(
                f"a corpus of {len(X.domains)} domains, expected one",
                hint="learn a script for each: corpus.by_domain()",
            )
        narratives = [*X] if isinstance(X, Variants) else X.events
        if not narratives:
            raise InputError("no narratives came, expected at least one")
        return narratives
    if not is_frame(X) and (isinstance(X, (str, bytes)) or not isinstance(X, Iterable)):
        raise InputError(
            f"narratives came as {type(X).__name__}, expected a list of lists of events"
        )
    narratives = Corpus.of(X).events
    if not narratives:
        raise InputError("no narratives came, expected at least one")
    return narratives


def heard_narratives(heard: HeardNarratives) -> list[tuple[Heard, ...]]:
    """Lists of events, of weights of those that each may be, or None for what is none of them."""
    if is_frame(heard) or not isinstance(heard, (list, tuple)) or not _weighs(heard):
        return [*told_narratives(cast("Narratives", heard))]
    listed = [tuple(one) for one in heard]
    names = {name for one in listed for item in one for name in _names(item)}
    Packer(sorted(names)).pack(listed)  # complains of what is no observation
    return cast("list[tuple[Heard, ...]]", listed)


def _weighs(heard: Iterable[Iterable[Observation]]) -> bool:
    lists = (one for one in heard if isinstance(one, (list, tuple)))
    return any(item is None or isinstance(item, Mapping) for one in lists for item in one)


def _names(item: object) -> Iterable[str]:
    some: Iterable[object] = item if isinstance(item, Mapping) else [item]
    return (name for name in some if isinstance(name, str))


def vocabulary_of(
    narratives: list[tuple[str, ...]],
    events: Sequence[str] | None,
    known: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """The events that are not known yet: those asked for, else those told, in sorted order."""
    if events is not None:
        return tuple(event for event in events if event not in known)
    told = {event for narrative in narratives for event in narrative}
    return tuple(sorted(told.difference(known)))


def _with_events(progress: Progress, events: int) -> Progress:
    """Make room for new events."""
    model = progress.model
    more = ((0, 0), (0, events - model.emission.shape[1]))
    wider = replace(
        model, emission=np.pad(model.emission, more), support=np.pad(model.support, more)
    )
    return replace(progress, model=wider)


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value
