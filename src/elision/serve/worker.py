"""Learning in a process of its own: what happens goes to standard output, a JSON object a line.

``python -m elision.serve.worker FILE FOLDER NAME`` reads the tellings in FILE and writes the script
of each domain into FOLDER, as it is so far after a batch, so that it can be stopped at any time.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from elision.errors import ElisionError, InputError
from elision.learn.observe import BatchDone, Moved

if TYPE_CHECKING:
    from collections.abc import Callable

    from elision.corpus import Corpus
    from elision.learn.counts import CountsModel
    from elision.learn.observe import Event
    from elision.script import Script

MEMORY = 6 << 30
"""Bytes of address space that learning may take."""

NICENESS = 10
MOST_DOMAINS = 20
MOST_NARRATIVES = 20_000
LONGEST_NARRATIVE = 500
PAUSE = 0.2
"""Seconds between two words about moves."""

SHARE_OF_DRAWING = 0.2
"""Share of the time that may go into showing the script as it is so far."""

MOST_POINTS = 60
"""Points a batch at which the number of states and the score are told."""


def main(arguments: list[str]) -> int:
    """Learn, and tell of it."""
    source, folder, name = arguments
    _be_modest()
    try:
        learn(Path(source), Path(folder), name, _tell)
    except ElisionError as error:
        _tell({"kind": "failed", "problem": str(error)})
    except MemoryError:
        _tell({"kind": "failed", "problem": "the tellings take too much memory to learn from"})
    except BrokenPipeError:  # nobody listens any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def learn(source: Path, folder: Path, name: str, tell: Callable[[dict[str, Any]], None]) -> None:
    """Learn one script for each domain of a file, as ``elision learn`` does."""
    import elision as el  # noqa: PLC0415 - after the limits are set

    tell({"kind": "reading"})
    try:
        parts = el.read(source).by_domain()
    except InputError as error:  # the name of the copy says nothing to whoever sent it
        raise InputError(error.problem, where=name, hint=error.hint) from None
    _check(parts, name)
    for number, (domain, part) in enumerate(parts.items(), start=1):
        title = domain or name
        about = {"domain": title, "number": number, "of": len(parts), "narratives": len(part)}
        tell({"kind": "domain", "sentences": not part.has_events, **about})
        notes: dict[str, Any] = {"domain": title}
        if not part.has_events:
            extractor = el.EventExtractor()
            part = extractor.fit_transform(part)
            notes["extractor"] = extractor.to_dict()
        _learn_one(part.events, notes, folder / f"script-{number}.json", tell)
    tell({"kind": "done"})


def _learn_one(
    narratives: list[tuple[str, ...]],
    notes: dict[str, Any],
    path: Path,
    tell: Callable[[dict[str, Any]], None],
) -> None:
    from elision.learning import DEFAULT, make_learner  # noqa: PLC0415 - after the limits are set

    watcher = _Watcher(narratives, notes, path, tell)
    script = make_learner(DEFAULT, observer=watcher).fit(narratives).script_.noted(**notes)
    script.save(path)
    tell({"kind": "learned", "file": path.name})


class _Watcher:
    """Tells of moves now and then, and of each batch, with a drawing of the script if it is time.

    The last batch always has one.
    """

    def __init__(
        self,
        narratives: list[tuple[str, ...]],
        notes: dict[str, Any],
        path: Path,
        tell: Callable[[dict[str, Any]], None],
    ) -> None:
        self.narratives, self.notes, self.path, self.tell = narratives, notes, path, tell
        self.moves: list[tuple[bool, float]] = []
        self.last = time.monotonic()
        self.draw_at = self.last

    def __call__(self, event: Event, model: CountsModel | None) -> None:
        if isinstance(event, Moved):
            self.moves.append((event.move.kind == "merge", event.move.gain))
            if time.monotonic() - self.last > PAUSE:
                self.last = time.monotonic()
                merged = sum(merge for merge, _ in self.moves)
                gain = sum(gain for _, gain in self.moves)
                counts = {"merged": merged, "deleted": len(self.moves) - merged, "gain": gain}
                self.tell({"kind": "moves", "batch": event.batch, **counts})
        elif isinstance(event, BatchDone) and model is not None:
            found: dict[str, Any] = {"points": self._points(event)}
            if time.monotonic() >= self.draw_at or event.seen == event.narratives:
                found |= self._shown(event, model)
            self.tell({"kind": "batch", **asdict(event), **found})
            self.moves = []
            if event.seen == event.narratives:
                self.tell({"kind": "telling"})

    def _shown(self, event: BatchDone, model: CountsModel) -> dict[str, Any]:
        """Save and draw the script as it is so far."""
        from elision.serve.pictures import of_script  # noqa: PLC0415 - after the limits are set

        began = time.monotonic()
        script = script_so_far(model, event, self.narratives).noted(**self.notes)
        script.save(self.path)
        svg = of_script(script, self.notes["domain"])
        ended = time.monotonic()
        self.draw_at = ended + (ended - began) * (1 / SHARE_OF_DRAWING - 1)
        return {"svg": svg, "file": self.path.name}

    def _points(self, event: BatchDone) -> list[tuple[int, float]]:
        """States and score after each move of the batch, some of them."""
        states = event.states + sum(merge for merge, _ in self.moves)
        score = event.score_before
        points = [(states, score)]
        for merge, gain in self.moves:
            states -= merge
            score += gain
            points.append((states, score))
        step = max(1, len(points) // MOST_POINTS)
        return [*points[:-1:step], points[-1]]


def script_so_far(
    model: CountsModel, event: BatchDone, narratives: list[tuple[str, ...]]
) -> Script:
    """Return the script of a search that ends after a batch, without a telling model."""
    from elision.learn.structure import Progress  # noqa: PLC0415 - after the limits are set
    from elision.learning import DEFAULT, make_learner  # noqa: PLC0415

    learner = make_learner(DEFAULT, telling=False)
    ended = Progress(model, seen=len(narratives), batches=event.batch, history=(event,))
    script: Script = learner.resume(narratives, ended).script_
    return script.noted(narratives=event.seen)


def _check(parts: dict[str, Corpus], name: str) -> None:
    """Refuse what would take too long."""
    corpora = [*parts.values()]
    longest = max(narrative.length for corpus in corpora for narrative in corpus)
    for what, number, most in (
        ("domains", len(parts), MOST_DOMAINS),
        ("tellings", sum(map(len, corpora)), MOST_NARRATIVES),
        ("events in a telling", longest, LONGEST_NARRATIVE),
    ):
        if number > most:
            hint = "learn from it with `elision learn`"
            raise InputError(f"{number} {what}, expected at most {most}", where=name, hint=hint)


def _be_modest() -> None:
    """Leave processor and memory to those who ask."""
    os.environ["ELISION_THREADS"] = "1"
    with suppress(ImportError, OSError, ValueError):  # not every system has these
        import resource  # noqa: PLC0415

        os.nice(NICENESS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _tell(event: dict[str, Any]) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(event) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
