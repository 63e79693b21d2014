"""`StreamLearner`: a script of narratives that never end, in bounded memory."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Literal

import numpy as np

from elision.errors import InputError, shown
from elision.learn.drift import Draws, Drift, Watch
from elision.learn.learner import ScriptLearner
from elision.learn.reservoir import Reservoir, Told
from elision.learn.sem import told_narratives
from elision.scale.packed_corpus import PackedCorpus
from elision.scale.sampling import checked_seed
from elision.values.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from elision.learn.observe import Stage
    from elision.learn.sem import HeardNarratives, Narratives

GROWTH = 1.25
"""The script is learned anew once there are so many times as many narratives."""

RENEWALS = 4
"""With a half-life it is so many times in each, at least."""

RECENT = 2000
"""Narratives, the last ones, that are kept to learn from after a change."""

FEWEST_SINCE = 50
"""Narratives since a change that a script is learned from at least."""

PIECE = 1000
"""Narratives that are taken at once from a source that may never end."""

MOST_DRIFTS = 1000
"""Reports that are remembered, the last ones."""

OnDrift = Literal["forget", "report"]


class StreamLearner(ScriptLearner):
    """Learn a script from narratives that keep coming, and notice when they change.

    A sample of all narratives is kept, of bounded size. From it a script and its telling model are
    learned as `ScriptLearner` learns them, each time the number of narratives has grown by a
    quarter: `partial_fit` takes bounded memory, and bounded time a narrative. Between, each
    narrative is judged by a model of those before it, see `elision.learn.drift`.

    Parameters
    ----------
    capacity
        Narratives in the sample at most.
    half_life
        Narratives after which one counts half; None: all count alike.
    false_alarms
        The probability that a stream which does not change is ever reported to have changed,
        however long it is; None: nothing is watched. After a report it is the same for the rest.
    on_drift
        After a reported change, "forget" what came before it, or only "report" it.
    events, title, wording, random_state, observer
        As `ScriptLearner` has them.

    Attributes
    ----------
    script_
        The `Script` as it was last learned.
    events_
        Its vocabulary.
    n_narratives_seen_
        Narratives that came so far.
    n_narratives_learned_
        Of them, those that had come when the script was learned.
    drifts_
        The reported changes, each a `Drift`.

    Examples
    --------
    >>> import elision as el
    >>> learner = el.StreamLearner()
    >>> for batch in [el.examples.doorbell_tellings()] * 3:
    ...     learner = learner.partial_fit(batch)
    >>> learner.n_narratives_seen_, len(learner.drifts_)
    (60, 0)
    """

    def __init__(
        self,
        *,
        capacity: int = 10_000,
        half_life: float | None = None,
        false_alarms: float | None = 0.05,
        on_drift: OnDrift = "forget",
        events: Sequence[str] | None = None,
        title: str = "",
        wording: Mapping[str, Sequence[str]] | None = None,
        random_state: int = 0,
        observer: Callable[[Stage], object] | None = None,
    ) -> None:
        super().__init__(
            events=events,
            title=title,
            wording=wording,
            random_state=random_state,
            observer=observer,
        )
        self.capacity = capacity
        self.half_life = half_life
        self.false_alarms = false_alarms
        self.on_drift = on_drift

    def fit(
        self,
        X: Narratives | PackedCorpus,
        y: object = None,  # noqa: ARG002
        *,
        heard: HeardNarratives | None = None,
        words: Sequence[Sequence[Sequence[str]]] | None = None,
    ) -> Self:
        """Forget everything, and learn from these narratives."""
        if heard is not None or words is not None:
            raise InputError(
                "a stream has no other narratives to hear and no sentences, expected X alone",
                hint="use ScriptLearner",
            )
        if isinstance(X, PackedCorpus):
            raise InputError(
                "a packed corpus has no order, expected a stream", hint="use ScriptLearner"
            )
        self.begin()
        return self.partial_fit(X).catch_up()

    def partial_fit(self, X: Narratives, y: object = None) -> Self:  # noqa: ARG002
        """Take in narratives: lists of events, a `Corpus` of one domain, or what never ends.

        A script is learned at the end, if it is time. Of an iterator 1000 narratives are taken at
        once, and a script may be learned after each time.
        """
        if not hasattr(self, "sample_"):
            self.begin()
        pieces = _pieces(X) if isinstance(X, Iterator) else [told_narratives(X)]
        came = False
        for narratives in pieces:
            came = True
            if self.events is not None:
                Packer(self.events).pack(narratives)  # complains before anything is taken in
            self._take(narratives)
            if self.n_narratives_seen_ >= self.due_:
                self.catch_up()
        if not came:
            raise InputError("no narratives came, expected at least one")
        return self

    def catch_up(self) -> Self:
        """Learn from the sample as it is, if anything came since the script was learned."""
        if not self.is_behind:
            return self
        seen = self.n_narratives_seen_
        narratives = self.sample_.narratives
        try:
            super().fit(narratives)
        finally:
            self.n_narratives_seen_ = seen
        self._seen = []  # nothing beside the sample
        self.script_ = self.script_.annotated(narratives=seen, sample=len(narratives))
        self.n_narratives_learned_ = seen
        step = math.ceil((GROWTH - 1) * seen)
        if self.half_life is not None:
            step = min(step, math.ceil(self.half_life / RENEWALS))
        self.due_ = seen + max(1, step)
        return self

    @property
    def is_behind(self) -> bool:
        """Whether narratives came since the script was learned."""
        return self.n_narratives_seen_ > self.n_narratives_learned_

    def begin(self) -> None:
        """Begin as if nothing had come."""
        self._check()
        seed = int(self.random_state)
        self.sample_ = Reservoir(self.capacity, self.half_life)
        self.recent_: deque[Told] = deque(maxlen=RECENT)
        self.watch_ = None if self.false_alarms is None else Watch(self.false_alarms, seed)
        self.drifts_: list[Drift] = []
        self.n_narratives_seen_ = 0
        self.n_narratives_learned_ = 0
        self.due_ = 1
        self._draws = Draws(seed)

    def _check(self) -> None:
        whole = isinstance(self.capacity, (int, np.integer)) and not isinstance(self.capacity, bool)
        if not whole or self.capacity < 1:
            raise InputError(f"capacity is {shown(self.capacity)}, expected a whole number from 1")
        if self.half_life is not None and not _is_number(self.half_life, 0, math.inf):
            raise InputError(f"half_life is {shown(self.half_life)}, expected a number above 0")
        if self.false_alarms is not None and not _is_number(self.false_alarms, 0, 1):
            problem = f"false_alarms is {shown(self.false_alarms)}"
            raise InputError(f"{problem}, expected a probability between 0 and 1")
        if self.on_drift not in ("forget", "report"):
            problem = f"on_drift is {shown(self.on_drift)}"
            raise InputError(f"{problem}, expected 'forget' or 'report'")
        checked_seed(self.random_state)

    def _take(self, narratives: list[Told]) -> None:
        done = 0
        while done < len(narratives):
            part = narratives[done:]
            alarm = None
            if self.watch_ is not None:
                taken, alarm = self.watch_.see(part, self._draws)
                part = part[:taken]
            for one in part:
                position = self.n_narratives_seen_
                self.sample_.add(one, position, self._draws.kept(position))
                self.n_narratives_seen_ += 1
            self.recent_.extend(part)
            done += len(part)
            if alarm is not None:
                self._report(alarm)

    def _report(self, column: int) -> None:
        """Something has changed: say so, and go on from there."""
        watch, seen = self.watch_, self.n_narratives_seen_
        if watch is None:
            return
        since = watch.change(column)
        after = list(self.recent_)[-min(seen - since, RECENT) :]
        self.drifts_ = [*self.drifts_, watch.described(since, after, seen)][-MOST_DRIFTS:]
        watch.restart(seen)
        if self.on_drift == "forget":
            self.sample_ = Reservoir(self.capacity, self.half_life)
            for position, one in enumerate(after, start=seen - len(after)):
                self.sample_.add(one, position, self._draws.kept(position))
            self.due_ = seen + max(0, FEWEST_SINCE - len(after))


def _pieces(source: Iterator[object]) -> Iterator[list[Told]]:
    """What comes from an iterator, in pieces."""
    while piece := list(islice(source, PIECE)):
        yield told_narratives(piece)  # type: ignore[arg-type]  # which checks what came


def _is_number(value: object, above: float, below: float) -> bool:
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return real and above < value < below  # type: ignore[operator]
