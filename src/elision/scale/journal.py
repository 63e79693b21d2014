"""Which domains of a run are complete, so that it can be resumed after its cluster was lost."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from elision import __version__
from elision._files import shown_path
from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from elision.values.corpus import Corpus

NAME = "elision.progress"
"""Of the file, in the folder of the scripts."""


class Journal:
    """A file with a line for each domain whose script is written.

    Parameters
    ----------
    folder
        Where the scripts are.
    how
        The method and its settings: a line counts only for the same ones.
    """

    def __init__(self, folder: Path, how: Mapping[str, Any]) -> None:
        self.path = folder / NAME
        self._how = json.dumps([__version__, dict(how)], sort_keys=True, default=repr)

    def complete(self, parts: Mapping[str, Corpus], paths: Mapping[str, Path]) -> dict[str, Any]:
        """What was noted of the domains that need not be learned again.

        Their settings and narratives are the same, and their scripts lie there as they were
        written. A last line that an interruption cut off does not count.
        """
        found: dict[str, Any] = {}
        for line in self._lines():
            try:
                record = json.loads(line)
                domain, print_, content = record["domain"], record["learned_from"], record["sha256"]
                noted = dict(record["summary"])
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
            part = parts.get(domain) if isinstance(domain, str) else None
            if part is None or print_ != self._fingerprint(part):
                continue
            try:
                written = paths[domain].read_bytes()
            except OSError:
                continue
            if hashlib.sha256(written).hexdigest() == content:
                found[domain] = noted
        return found

    def note(self, done: Iterable[tuple[str, Corpus, bytes, Mapping[str, Any]]]) -> None:
        """Note domains with their narratives, the bytes of their scripts, and a summary."""
        lines = [
            json.dumps(
                {
                    "domain": domain,
                    "learned_from": self._fingerprint(part),
                    "sha256": hashlib.sha256(content).hexdigest(),
                    "summary": dict(summary),
                }
            )
            for domain, part, content, summary in done
        ]
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in lines))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(
                f"cannot be written: {error.strerror}", where=shown_path(self.path)
            ) from None

    def remove(self) -> None:
        """Delete the file: the run is complete, or begins anew."""
        self.path.unlink(missing_ok=True)

    def _lines(self) -> list[str]:
        try:
            return self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(
                f"cannot be read: {error.strerror}", where=shown_path(self.path)
            ) from None

    def _fingerprint(self, part: Corpus) -> str:
        told = [[one.events, one.steps] for one in part]
        return hashlib.sha256(f"{self._how}{json.dumps(told)}".encode()).hexdigest()
