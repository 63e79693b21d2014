"""``learn --follow``: a script of what keeps coming."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from elision import learn, pipeline
from elision.cli import INTERRUPTED
from elision.cli.app import worded
from elision.errors import InputError, counted
from elision.terminal import complain, print_json, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from elision.learn.drift import Drift
    from elision.learn.stream import StreamLearner

BATCH = 1000
MOST_COMPLAINTS = 10
TERMINATED = 143
"""Exit status after SIGTERM, as shells have it."""


class _TerminatedError(KeyboardInterrupt):
    """SIGTERM came."""


def follow(
    source: str,
    output: Path,
    *,
    settings: Mapping[str, Any],
    reading: Mapping[str, Any],
    batch: int | None,
    domain: str | None,
    resume: bool,
    as_json: bool,
) -> None:
    """Follow a source and learn from it until it ends, or Ctrl-C or SIGTERM comes."""
    if output.is_dir() or not output.parent.is_dir():
        problem = "a folder came" if output.is_dir() else "its folder does not exist"
        raise InputError(f"{problem}, expected a file for the script", where=str(output))
    shown = _Shown(output, as_json=as_json)
    try:
        with _terminated():
            following = pipeline.streaming.Following(
                source,
                output,
                learn.stream.StreamLearner(**settings),
                options=reading,
                batch=batch or BATCH,
                domain=domain,
                resume=resume,
                on_learned=shown.learned,
                on_drift=shown.drift,
                on_bad=shown.bad,
            )
            following.run()
    except KeyboardInterrupt as stopped:
        ended = isinstance(stopped, _TerminatedError)
        said = "terminated" if ended else "interrupted"
        complain(f"{said} (--resume goes on after what is complete)")
        raise typer.Exit(TERMINATED if ended else INTERRUPTED) from None
    if not shown.scripts and not shown.complaints:
        raise InputError("there are no narratives in it", where=source)
    if shown.complaints:
        raise typer.Exit(2)


class _Shown:
    """Prints what happens, a line each."""

    def __init__(self, output: Path, *, as_json: bool) -> None:
        self._output = output
        self._as_json = as_json
        self.scripts = 0
        self.complaints = 0

    def learned(self, learner: StreamLearner) -> None:
        self.scripts += 1
        seen, script = learner.n_narratives_seen_, learner.script_
        sample = script.about["sample"]
        if self._as_json:
            known = {"narratives": seen, "sample": sample, "events": len(script.events)}
            print_json({"learned": {**known, "path": str(self._output)}}, lines=True)
        else:
            told = counted(seen, "narrative")
            of = "" if sample == seen else f", learned from {sample} of them"
            say(f"{self._output}: {told}{of}, {counted(len(script.events), 'event')}", "dim")

    def drift(self, found: Drift) -> None:
        if self._as_json:
            print_json({"drift": _as_dict(found)}, lines=True)
        else:
            say(f"! {found}", "red")

    def bad(self, error: InputError) -> None:
        self.complaints += 1
        if self.complaints <= MOST_COMPLAINTS:
            complain(worded(error))
        if self.complaints == MOST_COMPLAINTS:
            complain("what is bad is no longer told of")


def _as_dict(drift: Drift) -> dict[str, Any]:
    shifts = {
        name: [shift._asdict() for shift in getattr(drift, name)] for name in ("told", "order")
    }
    return {**asdict(drift), **shifts}


@contextmanager
def _terminated() -> Iterator[None]:
    """Let SIGTERM end things as Ctrl-C does."""

    def stop(number: int, frame: object) -> NoReturn:  # noqa: ARG001
        raise _TerminatedError

    usual = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)
