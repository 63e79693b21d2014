"""The state of a `StreamLearner` as a file: one versioned format with a checksum."""

from __future__ import annotations

import math
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from elision._files import shown_path, write_atomically
from elision.errors import FileFormatError, InputError, ScriptError, shown
from elision.files.envelope import NO_CHECKSUM, Envelope
from elision.files.telling import PackedTelling, pack, unpack
from elision.learn.drift import Drift, Reference, Watch
from elision.learn.exchangeable import BETS, BINS, ExchangeTest, Grid
from elision.learn.reservoir import Kept, Reservoir, Told
from elision.learn.stream import RECENT, StreamLearner

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMAT = "elision-stream"
VERSION = 1
ENVELOPE = Envelope(FORMAT, (VERSION,), "progress file", hint="delete it to start anew")

SETTINGS = ("capacity", "half_life", "false_alarms", "on_drift", "events", "random_state")
"""What a state depends on."""

LARGEST = 1 << 53

SMALLEST_WIDTH, LARGEST_LOW = 1e-12, 1e12
"""Of the bins of surprises, which are never that small or large."""

MOST_MODELS = 40
"""Each model waits for twice as many narratives as the one before it."""

Sample = list[tuple[float, int, int]]


class _Test(msgspec.Struct, forbid_unknown_fields=True):
    tested: int
    grids: list[tuple[float, float, int]]
    rates: list[float]
    counts: list[tuple[int, int, int]]
    capital: list[list[float]]
    run: list[list[float]]
    began: list[list[int]]


class _Watch(msgspec.Struct, forbid_unknown_fields=True):
    began: int
    seen: int
    models: int
    test_from: int
    sample: Sample
    events: list[str] | None
    told: int
    watched: list[int]
    telling: PackedTelling | None
    test: _Test | None


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    checksum: str
    settings: dict[str, Any]
    source: dict[str, Any] | None
    domain: str | None
    seen: int
    learned: int
    due: int
    events: list[str]
    narratives: list[list[int]]
    sample: Sample
    recent: list[int]
    drifts: list[Drift]
    watch: _Watch | None


class _Table:
    """Different narratives, each once, and each event's name once."""

    def __init__(self) -> None:
        self.events: dict[str, int] = {}
        self._numbers: dict[Told, int] = {}

    def number(self, told: Told) -> int:
        return self._numbers.setdefault(told, len(self._numbers))

    def sample(self, sample: Reservoir) -> Sample:
        return [(one.rank, one.position, self.number(one.told)) for one in sample.kept]

    @property
    def narratives(self) -> list[list[int]]:
        event = self.events
        return [[event.setdefault(e, len(event)) for e in told] for told in self._numbers]


def save_state(
    path: str | Path,
    learner: StreamLearner,
    *,
    source: dict[str, Any] | None = None,
    domain: str | None = None,
) -> None:
    """Write what a learner has come to, whole or not at all.

    ``source`` says where the stream goes on, and ``domain`` which of its narratives are meant.
    """
    table = _Table()
    sample = table.sample(learner.sample_)
    recent = [table.number(one) for one in learner.recent_]
    watch = None if learner.watch_ is None else _packed_watch(learner.watch_, table)
    file = _File(
        format=FORMAT,
        version=VERSION,
        checksum=NO_CHECKSUM,
        settings=_settings(learner),
        source=source,
        domain=domain,
        seen=learner.n_narratives_seen_,
        learned=learner.n_narratives_learned_,
        due=learner.due_,
        narratives=table.narratives,
        events=list(table.events),
        sample=sample,
        recent=recent,
        drifts=learner.drifts_,
        watch=watch,
    )
    text = msgspec.json.encode(file).decode().replace('"checksum":', '"checksum": ', 1)
    try:
        content = ENVELOPE.sealed(text)
    except ScriptError as error:
        raise InputError(str(error), where=shown_path(path), hint="keep a smaller sample") from None
    write_atomically(path, content)


class Resumed(msgspec.Struct, frozen=True):
    """Where a stream goes on, and which of its narratives are meant."""

    source: dict[str, Any] | None
    domain: str | None


def load_state(path: str | Path, learner: StreamLearner) -> Resumed | None:
    """Give a learner the state that a file has; None if there is no such file.

    The script is not in it: where there is none that belongs to it, `catch_up` learns one.

    Raises
    ------
    FileFormatError
        If the file is damaged, or of another version.
    InputError
        If it was written with other settings.
    """
    where = shown_path(path)
    try:
        content = Path(path).read_bytes()
        file = ENVELOPE.converted(ENVELOPE.opened(content, where), _File, where)
        _check_settings(file.settings, _settings(learner), where)
        learner.begin()
        _restore(learner, file, where)
    except FileNotFoundError:
        return None
    except FileFormatError as error:
        raise FileFormatError(error.problem, where=where, hint=ENVELOPE.hint) from None
    except (OSError, LookupError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        problem = f"no progress file: {getattr(error, 'strerror', None) or error}"
        raise FileFormatError(problem, where=where, hint=ENVELOPE.hint) from None
    return Resumed(file.source, file.domain)


def _settings(learner: StreamLearner) -> dict[str, Any]:
    given = {name: getattr(learner, name) for name in SETTINGS}
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(given))
    return found


def _check_settings(before: dict[str, Any], now: dict[str, Any], where: str) -> None:
    for name in SETTINGS:
        if before.get(name) != now[name]:
            was, given = shown(before.get(name)), shown(now[name])
            raise InputError(
                f"{name} was {was} and is {given} now, expected the same to go on",
                where=where,
                hint="give the same, or start anew",
            )


def _check_numbers(file: _File) -> None:
    """Numbers that a stream may have come to; seeds are made of some of them."""
    watch = file.watch
    counts = [file.seen, file.learned, file.due, *(position for _, position, _ in file.sample)]
    ranks = [rank for rank, _, _ in file.sample]
    if watch is not None:
        counts += [watch.began, watch.seen, watch.test_from, watch.told]
        counts += [position for _, position, _ in watch.sample]
        ranks += [rank for rank, _, _ in watch.sample]
        if not 0 <= watch.models <= MOST_MODELS:
            raise ValueError(f"{watch.models} models, expected at most {MOST_MODELS}")
    if not all(0 <= number <= LARGEST for number in counts) or not all(map(math.isfinite, ranks)):
        raise ValueError("a count that is none")


def _restore(learner: StreamLearner, file: _File, where: str) -> None:
    _check_numbers(file)
    told = [tuple(file.events[e] for e in _from_zero(one)) for one in file.narratives]
    learner.n_narratives_seen_ = file.seen
    learner.n_narratives_learned_ = file.learned
    learner.due_ = file.due
    learner.sample_.kept = _kept(file.sample, told)
    learner.recent_ = deque((told[k] for k in _from_zero(file.recent)), maxlen=RECENT)
    learner.drifts_ = list(file.drifts)
    if learner.watch_ is not None:
        if file.watch is None:
            raise FileFormatError("damaged progress file: nothing is watched", where=where)
        _restore_watch(learner.watch_, file.watch, told, where)


def _from_zero(numbers: Iterable[int]) -> Iterable[int]:
    for number in numbers:
        if number < 0:
            raise IndexError(f"number {number}, expected one from 0")
        yield number


def _kept(sample: Sample, told: list[Told]) -> list[Kept]:
    numbers = _from_zero(number for _, _, number in sample)
    return [
        Kept(rank, position, told[number])
        for (rank, position, _), number in zip(sample, numbers, strict=True)
    ]


def _packed_watch(watch: Watch, table: _Table) -> _Watch:
    reference, test = watch.reference, watch.test
    return _Watch(
        began=watch.began,
        seen=watch.seen,
        models=watch.models,
        test_from=watch.test_from,
        sample=table.sample(watch.sample),
        events=None if reference is None else list(reference.model.events),
        told=0 if reference is None else reference.told,
        watched=[] if reference is None else reference.watched,
        telling=None if reference is None else pack(reference.model),
        test=None if test is None else _packed_test(test),
    )


def _packed_test(test: ExchangeTest) -> _Test:
    columns, bins = np.nonzero(test.counts)
    numbers = test.counts[columns, bins].tolist()
    return _Test(
        tested=test.tested,
        grids=[(grid.low, grid.width, grid.size) for grid in test.grids],
        rates=test.rates.tolist(),
        counts=list(zip(columns.tolist(), bins.tolist(), numbers, strict=True)),
        capital=test.capital.tolist(),
        run=test.run.tolist(),
        began=test.began.tolist(),
    )


def _restore_watch(watch: Watch, file: _Watch, told: list[Told], where: str) -> None:
    watch.began, watch.seen, watch.models = file.began, file.seen, file.models
    watch.test_from = file.test_from
    if file.seen >= (watch.next_model or math.inf):
        raise ValueError("counts of models and narratives that do not fit")
    watch.sample.kept = _kept(file.sample, told)
    if file.events is None or file.telling is None or file.test is None:
        return
    model = unpack(file.telling, file.events, where)
    watched = list(_from_zero(file.watched))
    if max(watched, default=0) >= len(file.events):
        raise IndexError("an event that is watched is none")
    watch.reference = Reference(model, file.told, watched)
    watch.test = _restored_test(file.test, len(watch.reference.shares))


def _fits(grid: Grid) -> bool:
    widths = SMALLEST_WIDTH <= grid.width <= LARGEST_LOW
    return widths and abs(grid.low) <= LARGEST_LOW and 2 <= grid.size <= BINS


def _restored_test(file: _Test, columns: int) -> ExchangeTest:
    grids = [Grid(*grid) for grid in file.grids]
    if len(grids) != columns or not all(map(_fits, grids)):
        raise ValueError("columns that do not fit")
    rates = np.array(file.rates, float)
    if rates.shape != (columns,) or not ((rates > 0) & (rates < 1)).all():
        raise ValueError("rates that do not fit")
    test = ExchangeTest(grids, np.empty((0, columns)), rates)
    test.tested = file.tested
    if not 0 <= test.tested <= LARGEST:
        raise ValueError("a count that is none")
    for column, place, number in file.counts:
        if not (
            0 <= column < columns and 0 <= place < grids[column].size and 0 <= number <= LARGEST
        ):
            raise ValueError("counts that do not fit")
        test.counts[column, place] = number
    for name in ("capital", "run", "began"):
        values = np.array(getattr(file, name), getattr(test, name).dtype)
        if values.shape != (columns, BETS) or not all(map(math.isfinite, values.ravel().tolist())):
            raise ValueError(f"{name} does not fit")
        setattr(test, name, values)
    return test
