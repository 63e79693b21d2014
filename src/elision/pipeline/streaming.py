"""A script that is learned from what keeps coming, and written after each batch."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from elision.errors import FileFormatError, InputError, relocated, shown
from elision.files.script import load
from elision.learn.streamfile import load_state, save_state
from elision.readers.arriving import arriving, as_told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from elision.learn.drift import Drift
    from elision.learn.stream import StreamLearner
    from elision.readers.arriving import Arriving
    from elision.values.narrative import Narrative

QUIET = 1.0
"""Seconds without anything new after which a batch that is not full is learned from."""


class Following:
    """Follows a source, learns from it in batches, and keeps script and progress in files.

    Parameters
    ----------
    source
        "-" for standard input, a file that grows, or a folder of arriving files.
    output
        The script's file. The progress is beside it, with ``.progress`` after its name.
    learner
        What learns; with ``resume`` it goes on from the progress, if there is any.
    options
        How narratives are read, see `elision.read`.
    batch
        Narratives after which a script may be learned and the files are written.
    domain
        The domain to learn, others are passed over; by default that of the first narrative, and
        others are bad.
    on_learned, on_drift, on_bad
        Called after a script was written, after a reported change, and with what was no narrative.
    """

    def __init__(
        self,
        source: str,
        output: Path,
        learner: StreamLearner,
        *,
        options: Mapping[str, Any],
        batch: int,
        domain: str | None,
        resume: bool,
        on_learned: Callable[[StreamLearner], object],
        on_drift: Callable[[Drift], object],
        on_bad: Callable[[InputError], object],
    ) -> None:
        self._output = output
        self._progress = output.with_name(output.name + ".progress")
        self._learner = learner
        self._batch = batch
        self._domain = domain
        self._only = domain is not None
        self._on_learned, self._on_drift, self._on_bad = on_learned, on_drift, on_bad
        self._position: dict[str, Any] | None = None
        learner.begin()
        if resume:
            self._resume()
        self._source: Arriving = arriving(source, options, self._position)

    def _resume(self) -> None:
        found = load_state(self._progress, self._learner)
        if found is None:
            return
        if self._domain not in (None, found.domain):
            problem = f"the domain {shown(found.domain)} was followed, not {shown(self._domain)}"
            raise InputError(problem, where=str(self._progress))
        self._position, self._domain = found.source, found.domain
        learner = self._learner
        try:
            script = load(self._output)
        except FileFormatError:
            script = None
        if script is not None and script.about.get("narratives") == learner.n_narratives_learned_:
            learner.script_, learner.events_ = script, script.events
        else:
            learner.n_narratives_learned_ = 0

    def run(self) -> None:
        """Follow the source to its end, if it has one."""
        pending: list[tuple[str, ...]] = []
        last = time.monotonic()
        for arrival in self._source.arrivals():
            if isinstance(arrival, InputError):
                self._on_bad(arrival)
            elif arrival is not None:
                self._hear(arrival, pending)
                last = time.monotonic()
            waited = arrival is None and time.monotonic() - last >= QUIET
            if len(pending) >= self._batch or (pending and waited):
                self._learn(pending)
                pending = []
        if pending:
            self._learn(pending)
        if self._learner.is_behind:
            self._learner.catch_up()
            self._write(learned=True)

    def _hear(self, arrival: Narrative, pending: list[tuple[str, ...]]) -> None:
        if self._domain is None:
            self._domain = arrival.domain
        if self._only and arrival.domain != self._domain:
            return
        try:
            pending.append(as_told(arrival, self._domain))
        except InputError as error:
            self._on_bad(relocated(error, self._source.place))

    def _learn(self, narratives: list[tuple[str, ...]]) -> None:
        learner = self._learner
        learned, reported = learner.n_narratives_learned_, learner.drifts_
        learner.set_params(title=self._domain or "").partial_fit(narratives)
        for drift in learner.drifts_:
            if not any(drift is one for one in reported):
                self._on_drift(drift)
        self._write(learned=learner.n_narratives_learned_ != learned)

    def _write(self, *, learned: bool) -> None:
        """First the script, then the progress that speaks of it."""
        if learned:
            notes = {"domain": self._domain} if self._domain else {}
            self._learner.script_.annotated(**notes).save(self._output)
        save_state(self._progress, self._learner, source=self._source.position, domain=self._domain)
        if learned:
            self._on_learned(self._learner)
