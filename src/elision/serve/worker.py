"""Files of tellings in a process of its own: what happens goes to standard output, a word a line.

``python -m elision.serve.worker PLAN`` does what the `Plan` in a JSON file says: it looks at a
file, learns from it as ``elision learn`` does, or brings its tellings into the events of a script.
Everything that is complete is in the plan's folder, so that it can be stopped at any time.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

import elision as el
from elision import files, pipeline, serve
from elision.errors import ElisionError, InputError
from elision.serve.messages import Choices

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from elision.learn.observe import Stage
    from elision.pipeline.learning import Told

    Tell = Callable[[dict[str, Any]], None]

MEMORY = 6 << 30
"""Bytes of address space that learning may take."""

NICENESS = 10
WATCHING = 0.5
"""Seconds after which the worker looks whether there still is a server."""

FINDING_EVENTS = 0.7
"""Share of the time that it takes to find the events behind sentences, before they are learned."""

MOST_TYPES = 500
LONGEST_EXAMPLE = 120
"""Events of a script that are listed to be renamed, and characters of a sentence of theirs."""

LONGEST_WORD = 16 << 20
"""Bytes that a worker may say at once."""


class Plan(msgspec.Struct):
    """What to do with the file ``source``, called ``name``; ``script`` is one to bring it into."""

    do: Literal["look", "learn", "tell"]
    source: str
    folder: str
    name: str
    choices: Choices = Choices()
    script: str = ""


# --- as the server sees it: started with a plan, heard word by word, ended ------------------------


class Worker:
    """One process with one plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._process: asyncio.subprocess.Process | None = None
        self._killed = False

    async def words(self) -> AsyncIterator[dict[str, Any]]:
        """Start it, and give what it says until it is done or ends.

        It is not waited for after it said that it is done: on a busy machine a process takes its
        time to leave, and meanwhile nothing else could be learned.

        Raises
        ------
        InputError
            If it says that it failed, or ends before its work is done.
        """
        path = Path(self._plan.folder) / "plan.json"
        path.write_bytes(msgspec.json.encode(self._plan))
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "elision.serve.worker", str(path)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST_WORD,
            start_new_session=True,  # Ctrl-C in the terminal is for the server, which ends it
        )
        try:
            if self._killed:
                self.kill()
            while process.stdout and (line := await process.stdout.readline()):
                word = msgspec.json.decode(line)
                if word["kind"] == "failed":
                    raise InputError(word["problem"])
                yield word
                if word["kind"] == "done":
                    return
            await process.wait()
        finally:
            self.kill()
            await process.wait()
        if process.returncode and not self._killed:
            raise InputError("the worker ended before it was done")

    def kill(self) -> None:
        """End it, whatever it does."""
        running = self._process is not None and self._process.returncode is None
        self._killed = self._killed or running or self._process is None
        if self._process is not None and running:
            with suppress(ProcessLookupError):
                self._process.kill()


async def answer(plan: Plan, kind: str, seconds: float) -> dict[str, Any]:
    """Return the one word of this kind that a worker says.

    Raises
    ------
    InputError
        If it does not come, or not in time.
    """
    worker = Worker(plan)
    try:
        async with asyncio.timeout(seconds):
            said = {word["kind"]: word async for word in worker.words()}
    except TimeoutError:
        raise InputError(f"looking at the file took more than {seconds:.0f} seconds") from None
    if kind not in said:
        raise InputError("the worker ended before it was done")
    return said[kind]


# --- the process itself ---------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """Do what is planned, and tell of it."""
    plan = msgspec.json.decode(Path(arguments[0]).read_bytes(), type=Plan)
    _be_modest()
    end_with_server()
    try:
        {"look": look, "learn": learn, "tell": bring}[plan.do](plan, _tell)
    except ElisionError as error:
        _tell({"kind": "failed", "problem": str(error)})
    except MemoryError:
        _tell({"kind": "failed", "problem": "the tellings take too much memory to learn from"})
    except BrokenPipeError:  # nobody listens any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def look(plan: Plan, tell: Tell) -> None:
    """Say what the file seems to be."""
    found = serve.reading.look(Path(plan.source), plan.name, plan.choices)
    tell({"kind": "looked", "found": msgspec.to_builtins(found)})


def bring(plan: Plan, tell: Tell) -> None:
    """Write the tellings of a file as events of a script."""
    corpus = serve.reading.tellings(Path(plan.source), plan.name, plan.choices)
    told = serve.reading.for_script(files.script.load(plan.script), corpus)
    path = Path(plan.folder) / "tellings.jsonl"
    told.to_jsonl(path)
    tell({"kind": "told", "file": path.name})


def learn(plan: Plan, tell: Tell) -> None:
    """Learn one script for each domain of a file, as ``elision learn`` does."""
    tell({"kind": "reading"})
    corpus = serve.reading.tellings(Path(plan.source), plan.name, plan.choices)
    folder, parts = Path(plan.folder), corpus.by_domain()
    work = _Work(tell, [sum(one.length for one in part) for part in parts.values()])
    for number, (domain, part) in enumerate(parts.items(), start=1):
        title = domain or plan.name
        about = {"domain": title, "number": number, "of": len(parts), "narratives": len(part)}
        tell({"kind": "domain", "sentences": not part.has_events, **about})
        work.begin(number - 1, finds=not part.has_events)
        heard = pipeline.learning.as_events(part, plan.choices.names)
        learner = pipeline.learning.fit_default(el.ScriptLearner(), heard, title, work.stage)
        path = folder / f"script-{number}.json"
        learner.script_.annotated(**heard.notes(title)).save(path)
        tellings = folder / f"tellings-{number}.jsonl"
        _as_learned(part, heard).to_jsonl(tellings)
        files = {"file": path.name, "tellings": tellings.name}
        tell({"kind": "learned", "number": number, **files, "types": _types(heard)})
    tell({"kind": "done"})


class _Work:
    """Tells which stage of the whole work begins, and which share of it that usually is."""

    def __init__(self, tell: Tell, sizes: list[int]) -> None:
        total = max(sum(sizes), 1)
        self._tell = tell
        self._ends = [sum(sizes[: place + 1]) / total for place in range(len(sizes))]
        self._begins = [0.0, *self._ends]

    def begin(self, place: int, *, finds: bool) -> None:
        """Begin a domain, with finding the events behind its sentences if that is needed."""
        self._from, self._to = self._begins[place], self._ends[place]
        if finds:
            middle = self._from + FINDING_EVENTS * (self._to - self._from)
            self._say("the events behind the sentences", self._from, middle)
            self._from = middle

    def stage(self, stage: Stage) -> None:
        """Begin a stage of the learner."""
        wide = self._to - self._from
        self._say(stage.name, self._from + stage.begins * wide, self._from + stage.ends * wide)

    def _say(self, name: str, begins: float, ends: float) -> None:
        self._tell({"kind": "stage", "name": name, "begins": begins, "ends": ends})


def _as_learned(part: el.Corpus, heard: Told) -> el.Corpus:
    """The tellings with the events that were learned, and the sentences that they stand for."""
    sentences: Sequence[tuple[str, ...] | None] = heard.sentences or [None] * len(part)
    return el.Corpus(
        el.Narrative(events, steps, one.domain, one.id)
        for one, events, steps in zip(part, heard.events, sentences, strict=True)
    )


def _types(heard: Told) -> list[dict[str, Any]]:
    """The events that were learned, most told first, with a sentence for each if there are any."""
    counted = Counter(event for one in heard.events for event in set(one))
    wording = heard.wording or {}
    return [
        {
            "name": name,
            "tellings": number,
            "example": next(iter(wording.get(name, ())), "")[:LONGEST_EXAMPLE],
        }
        for name, number in counted.most_common(MOST_TYPES)
    ]


def _be_modest() -> None:
    """Leave processor and memory to those who ask."""
    os.environ["ELISION_THREADS"] = "1"
    with suppress(ImportError, OSError, ValueError):  # not every system has these
        import resource  # noqa: PLC0415

        os.nice(NICENESS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def end_with_server() -> None:
    """End when the server has ended, whatever this process is doing then."""
    server = os.getppid()

    def watch() -> None:
        while os.getppid() == server:
            time.sleep(WATCHING)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _tell(event: dict[str, Any]) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(event) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
