"""`PackedCorpus`: distinct narratives, and how often each was told, in a folder.

The folder has a header in JSON and a file for each part (``docs/format.md``), which is mapped into
memory. Each narrative is in
the part that the hash of its events says, so that the same narratives make the same bytes, in
whatever order they came.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from elision._files import shown_path, write_atomically
from elision.errors import FileFormatError, InputError, counted, shown
from elision.files.envelope import Envelope
from elision.scale._arrays import map_arrays, size_of
from elision.values.observations import Packed

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.scale._spill import Rows

FORMAT = "elision-packed-corpus"
VERSION = 1
HEADER = "corpus.json"

_BLOCK = 1 << 20
_MOST = 2.0**53  # whole numbers up to it are exact
_DAMAGED = "pack the narratives again"
ENVELOPE = Envelope(FORMAT, "packed corpus", hint=_DAMAGED)

_checked: set[tuple[str, int, int]] = set()
"""Files whose checksum was found to be right in this process: path, size and time of change."""


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    file: str
    narratives: int
    distinct: int
    told: int
    sha256: str


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    checksum: str
    domain: str
    narratives: int
    distinct: int
    told: int
    longest: int
    events: list[str]
    parts: list[_Entry]


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the narratives of a packed corpus; it can be sent to another process.

    Attributes
    ----------
    path
        The file.
    number
        Which part it is.
    narratives, distinct, told
        Narratives, different ones, and events of these.
    events
        How many kinds of events there are.
    sha256
        What the file's bytes must add up to.
    """

    path: Path
    number: int
    narratives: int
    distinct: int
    told: int
    events: int
    sha256: str

    def load(self) -> Packed:
        """Map the narratives into memory, longest first.

        Raises
        ------
        FileFormatError
            If the file is not there, or damaged.
        """
        where = shown_path(self.path)
        kinds = (("<i8", self.distinct + 1), ("<f8", self.distinct), ("<u4", self.told))
        try:
            found = self.path.stat()
            identity = (str(self.path.resolve()), found.st_size, found.st_mtime_ns)
            if found.st_size != size_of(kinds):
                problem = f"damaged packed corpus: {found.st_size} bytes, not {size_of(kinds)}"
                raise FileFormatError(problem, where=where, hint=_DAMAGED)
            offset, weight, symbol = map_arrays(self.path, kinds)
            if identity not in _checked:
                if checksum_of(self.path) != self.sha256:
                    problem = "damaged packed corpus: the checksum does not fit"
                    raise FileFormatError(problem, where=where, hint=_DAMAGED)
                if not self._fits(offset, weight, symbol):
                    problem = "damaged packed corpus: narratives that the header does not speak of"
                    raise FileFormatError(problem, where=where, hint=_DAMAGED)
                _checked.add(identity)
        except OSError as error:
            problem = f"a part of the packed corpus cannot be read: {error.strerror or error}"
            raise FileFormatError(problem, where=where, hint=_DAMAGED) from None
        place = np.arange(self.distinct)
        return Packed(symbol, offset, weight, place, np.zeros((0, self.events)))

    def _fits(self, offset: NDArray[Any], weight: NDArray[Any], symbol: NDArray[Any]) -> bool:
        """Whether compiled code, which does not look, may go by these numbers."""
        lengths = np.diff(offset)
        counted = (weight >= 1) & (weight <= _MOST) & (weight == np.floor(weight))
        return bool(
            offset[0] == 0
            and offset[-1] == self.told
            and (lengths >= 0).all()
            and (np.diff(lengths) <= 0).all()
            and (symbol < self.events).all()
            and counted.all()
            and int(weight.sum()) == self.narratives
        )


@dataclass(frozen=True, slots=True)
class PackedCorpus:
    """Narratives of one domain on disk, identical ones once.

    `elision.pack` makes one, `PackedCorpus.open` opens it, and learners learn from it.

    Attributes
    ----------
    path
        The folder.
    domain
        What is told; "" if it is not said.
    events
        The vocabulary, sorted.
    narratives, distinct, told
        How many narratives there are; how many different ones; how many events these tell.
    longest
        Events of the longest narrative.
    parts
        Where they are.

    Examples
    --------
    >>> import tempfile
    >>> import elision as el
    >>> folder = tempfile.mkdtemp() + "/packed"
    >>> corpus = el.pack([el.examples.doorbell_tellings()], folder).corpus
    >>> corpus
    <PackedCorpus: 20 narratives, 19 of them different, 10 events>
    >>> corpus.sample(1)[0][:3]
    ('hear doorbell', 'look through peephole', 'open door')
    """

    path: Path
    domain: str
    events: tuple[str, ...]
    narratives: int
    distinct: int
    told: int
    longest: int
    parts: tuple[Part, ...]

    def __repr__(self) -> str:
        told = counted(self.narratives, "narrative", ",")
        events = counted(len(self.events), "event", ",")
        return f"<PackedCorpus: {told}, {self.distinct:,} of them different, {events}>"

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> PackedCorpus:
        """Open the packed corpus of a folder.

        Raises
        ------
        FileFormatError
            If there is none, it is damaged, or it is of another version.
        """
        root = Path(path)
        root = root.parent if root.name == HEADER else root
        header = _read_header(root)
        parts = tuple(
            Part(
                root / one.file,
                number,
                one.narratives,
                one.distinct,
                one.told,
                len(header.events),
                one.sha256,
            )
            for number, one in enumerate(header.parts)
        )
        for part in parts:
            try:
                there = part.path.is_file()
            except (OSError, ValueError):  # a name that no file can have
                there = False
            if not there:
                problem = "damaged packed corpus: a part is missing"
                raise FileFormatError(problem, where=shown_path(part.path), hint=_DAMAGED)
        return cls(
            root,
            header.domain,
            tuple(header.events),
            header.narratives,
            header.distinct,
            header.told,
            header.longest,
            parts,
        )

    def sample(self, n: int, seed: int = 0) -> list[tuple[str, ...]]:
        """Draw narratives as they were told, repeated ones as often as chance has it.

        The draw depends on the narratives and the seed alone. Without as many narratives, it is all
        of them.
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 0:
            raise InputError(f"n={n!r}, expected how many narratives to draw, from 0")
        names = np.array([*self.events, ""], dtype=object)
        found: list[tuple[str, ...]] = []
        for part, which in zip(self.parts, self._drawn(n, seed), strict=True):
            if len(which):
                packed = part.load()
                number = np.searchsorted(np.cumsum(packed.weight), which, side="right")
                rows, often = np.unique(number, return_counts=True)
                some = packed.take(rows)
                told = names[some.symbol].tolist()
                for row, times in enumerate(often.tolist()):
                    found += [tuple(told[some.offset[row] : some.offset[row + 1]])] * times
        return found

    def _drawn(self, n: int, seed: int) -> list[NDArray[np.int64]]:
        """Which narratives of each part are drawn, repeats counted, without replacement."""
        if n >= self.narratives:
            return [np.arange(part.narratives) for part in self.parts]
        rng = np.random.default_rng([seed, 18])
        chosen = np.sort(rng.choice(self.narratives, n, replace=False, shuffle=False))
        ends = np.cumsum([part.narratives for part in self.parts])
        cuts = np.searchsorted(chosen, ends)
        first = 0
        found = []
        for part, cut, end in zip(self.parts, cuts.tolist(), ends.tolist(), strict=True):
            found.append(chosen[first:cut] - (end - part.narratives))
            first = cut
        return found


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Whether a folder says that it is a packed corpus."""
    return (Path(path) / HEADER).is_file()


def packed_in(path: str | os.PathLike[str]) -> dict[str, PackedCorpus]:
    """Open the packed corpora of a folder, by domain: the folder itself, or those in it.

    Raises
    ------
    FileFormatError
        If there are none, or damaged ones.
    """
    root = Path(path)
    folders = [root] if is_packed(root) else sorted(one.parent for one in root.glob(f"*/{HEADER}"))
    if not folders:
        raise FileFormatError(
            "there is no packed corpus in this folder",
            where=shown_path(root),
            hint="elision pack makes one",
        )
    opened = [PackedCorpus.open(folder) for folder in folders]
    return {one.domain: one for one in sorted(opened, key=lambda one: one.domain)}


def write_header(root: Path, domain: str, events: Sequence[str], parts: Sequence[Any]) -> None:
    """Write the header of parts, each given as `_Entry` and the length of its longest narrative."""
    entries = [entry for entry, _ in parts]
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "checksum": f"sha256:{'0' * 64}",
        "domain": domain,
        "narratives": sum(one.narratives for one in entries),
        "distinct": sum(one.distinct for one in entries),
        "told": sum(one.told for one in entries),
        "longest": max((longest for _, longest in parts), default=0),
        "events": list(events),
        "parts": [msgspec.to_builtins(one) for one in entries],
    }
    text = json.dumps(head, ensure_ascii=False, indent=0)
    write_atomically(root / HEADER, ENVELOPE.sealed(text + "\n"))


def entry_of(path: Path, rows: Rows) -> tuple[_Entry, int]:
    """Describe a part for the header, and say how long its longest narrative is."""
    weight, told = rows.weight, rows.symbol
    entry = _Entry(path.name, int(weight.sum()), len(weight), len(told), checksum_of(path))
    return entry, int(np.diff(rows.offset).max(initial=0))


def checksum_of(path: Path) -> str:
    """Return what the bytes of a file add up to."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _read_header(root: Path) -> _Header:
    where = shown_path(root / HEADER)
    try:
        content = (root / HEADER).read_bytes()
    except (OSError, ValueError) as error:
        problem = f"no packed corpus can be read: {getattr(error, 'strerror', None) or error}"
        raise FileFormatError(problem, where=where, hint="elision pack makes one") from None
    header = ENVELOPE.converted(ENVELOPE.opened(content, where), _Header, where)
    for entry in header.parts:
        numbers = (entry.narratives, entry.distinct, entry.told)
        if Path(entry.file).name != entry.file or not 0 <= min(numbers) <= max(numbers) <= _MOST:
            ENVELOPE.damaged(f"{shown(entry.file)} is no part", where)
    for name in ("narratives", "distinct", "told"):
        if getattr(header, name) != sum(getattr(entry, name) for entry in header.parts):
            ENVELOPE.damaged(f"{name} that are not those of its parts", where)
    return header
