"""Learning in a process of its own: what happens goes to standard output, a JSON object a line.

``python -m elision.serve.worker FILE FOLDER NAME`` reads the tellings in FILE and writes the script
of each domain into FOLDER when it is learned, so that it can be stopped at any time.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from elision.errors import ElisionError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from elision.corpus import Corpus

MEMORY = 6 << 30
"""Bytes of address space that learning may take."""

NICENESS = 10
MOST_DOMAINS = 20
MOST_NARRATIVES = 20_000
LONGEST_NARRATIVE = 500


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
    from elision.learning import DEFAULT, as_events, make_learner  # noqa: PLC0415 - slow to import

    for number, (domain, part) in enumerate(parts.items(), start=1):
        title = domain or name
        about = {"domain": title, "number": number, "of": len(parts), "narratives": len(part)}
        tell({"kind": "domain", "sentences": not part.has_events, **about})
        heard = as_events(part)
        tell({"kind": "learning"})
        learner = make_learner(DEFAULT, title=title, wording=heard.wording).fit(heard.events)
        path = folder / f"script-{number}.json"
        learner.script_.noted(**heard.notes(title)).save(path)
        tell({"kind": "learned", "file": path.name})
    tell({"kind": "done"})


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
