"""Which of many scripts a telling is a telling of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import _html
from elision.ask.engine.evidence import (
    LIKENESS_WEIGHT,
    STRAY,
    UNDECIDED,
    WORDY_STRAY,
    Background,
    Bounds,
    Heard,
    Reading,
    Sentence,
    Symbol,
    event_words,
    hear_events,
    log_evidence,
    script_words,
    sheet_of,
    symbols_of,
)
from elision.ask.engine.told_chain import ToldChain
from elision.ask.who import who
from elision.errors import InputError
from elision.values.observations import real, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.ask.engine.evidence import Sheet
    from elision.values.observations import Observation
    from elision.values.script import Script

IMPLAUSIBLE = 25.0
"""A script whose evidence is this far (log) below the best one's is left out: e^-25 is 1e-11."""

LEAST_CANDIDATES = 50
"""Scripts that are looked at closely however little the words of a telling speak for them."""

LEAST_PROBABILITY = 1e-9
"""Candidates below this are not listed."""

WORTH_COMPARING = 1e-3
"""Scripts less probable than this have no say in how familiar the words of a telling are."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A script, or none of them (None), and how probable it is.

    ``log_evidence`` is the logarithm of how much more probable the telling is under the script than
    under *none of these*, before any prior.
    """

    name: str | None
    probability: float
    log_evidence: float


@dataclass(frozen=True, slots=True)
class Identification:
    """Which script a telling is a telling of: candidates, most probable first.

    Scripts that are out of the question are left out.
    """

    candidates: tuple[Candidate, ...]

    @property
    def best(self) -> str | None:
        """Name of the most probable script; None if it is none of them."""
        return self.candidates[0].name

    def probability(self, name: str | None) -> float:
        """Return how probable a script is, or none of them (None)."""
        return next((one.probability for one in self.candidates if one.name == name), 0.0)

    def __str__(self) -> str:
        shown = [one for one in self.candidates[:5] if one.probability >= 0.0005]
        return "\n".join(f"{_shown(one.name)}  {one.probability:.1%}" for one in shown)

    def _repr_html_(self) -> str:
        rows = [(_shown(one.name), one.probability) for one in self.candidates[:10]]
        return _html.table(["script", "probability"], rows)


def _shown(name: str | None) -> str:
    return "(none of these)" if name is None else name


class Witness:
    """A script that is looked at closely; what is slow to know of it is found when needed."""

    def __init__(self, script: Script) -> None:
        self.script = script

    @cached_property
    def chain(self) -> ToldChain:
        """The script from one told event to the next."""
        return ToldChain(self.script)

    @cached_property
    def by_event(self) -> dict[str, dict[str, int]] | None:
        """In how many sentences of each event each word was found, if it knows sentences."""
        extractor = self.script.extractor
        return None if extractor is None else event_words(extractor)

    def sheet(self) -> Sheet:
        """What is known of the script before it is looked at closely."""
        extractor = self.script.extractor
        return sheet_of(self.script, None if extractor is None else script_words(extractor))


class Identifier:
    """Identifies tellings.

    Parameters
    ----------
    witnesses, priors
        The scripts by name, and how probable each is before anything was told.
    """

    def __init__(self, witnesses: Mapping[str, Witness], priors: NDArray[np.float64]) -> None:
        self._names, self._witnesses = list(witnesses), list(witnesses.values())
        self._sheets = [one.sheet() for one in self._witnesses]
        self._priors = priors
        self._words: Counter[str] = Counter()
        for sheet in self._sheets:
            self._words.update(sheet.words or {})
        self._bounds = Bounds(self._sheets)
        self.background = Background(self._sheets, priors)

    def identify(
        self,
        narratives: Iterable[Sequence[Observation]],
        none_of_these: float,
        *,
        begun: bool = False,
    ) -> list[Identification]:
        """Identify tellings, or what may be the beginnings of some.

        Parameters
        ----------
        narratives
            What was told.
        none_of_these
            Prior probability that it is none of the scripts.
        begun
            Whether more may follow.
        """
        tellings = [self._told(number, one) for number, one in enumerate(narratives)]
        evidence = np.full((len(tellings), len(self._names)), -np.inf)
        nothing = np.zeros(len(tellings))
        for wordy in (False, True):
            places = [n for n, one in enumerate(tellings) if _is_wordy(one) is wordy]
            if places:
                part = _Told.of([tellings[place] for place in places], self._words)
                stray = WORDY_STRAY if wordy else STRAY
                evidence[places] = self._evidence(part, stray, begun=begun)
                lengths = np.array([len(one) for one in part.numbers])
                nothing[places] = self.background.log_length(lengths, stray, begun=begun)
                if part.reading is not None:
                    nothing[places] += self._unfamiliar(part, part.reading, evidence[places])
        return [
            self._weighed(row, float(none), none_of_these)
            for row, none in zip(evidence, nothing, strict=True)
        ]

    def _weighed(
        self, evidence: NDArray[np.float64], nothing: float, share: float
    ) -> Identification:
        """Make probabilities of the evidence for each script and for none of them.

        Parameters
        ----------
        evidence
            (scripts,): log-evidence, relative to the background.
        nothing
            The same for none of the scripts.
        share
            Prior probability that it is none of them.
        """
        with np.errstate(divide="ignore"):
            logits = np.append(
                np.log(self._priors * (1 - share)) + evidence, np.log(share) + nothing
            )
        chances = np.exp(logits - logits.max())
        chances /= chances.sum()
        relative = np.append(evidence - nothing, 0.0)
        names: list[str | None] = [*self._names, None]
        order = np.argsort(-chances, kind="stable").tolist()
        return Identification(
            tuple(
                Candidate(names[place], float(chances[place]), float(relative[place]))
                for place in order
                if chances[place] >= LEAST_PROBABILITY
            )
        )

    def _evidence(self, told: _Told, stray: float, *, begun: bool) -> NDArray[np.float64]:
        """Log-evidence of each telling for each script, -inf where it is out of the question."""
        promise = self._promise(told)
        result = np.full(promise.shape, -np.inf)
        best = np.full(len(told.numbers), -np.inf)
        # The most promising first: what follows may then be seen to be out of the question.
        for place in np.argsort(-promise.max(axis=0), kind="stable").tolist():
            hopeful = np.flatnonzero(promise[:, place] >= best - IMPLAUSIBLE)
            if len(hopeful):
                witness = self._witnesses[place]
                chosen = [told.numbers[telling] for telling in hopeful.tolist()]
                if told.reading is None or witness.by_event is None:
                    ask = who(witness.script, "evidence")
                    found = ask(witness, told.symbols, chosen, self.background, stray, begun=begun)
                else:
                    heard = hear_events(witness.script, told.symbols, self.background)
                    sheet = self._sheets[place]
                    by_words = told.reading.hear(witness.script, sheet, witness.by_event)
                    _put(heard, told.spoken, by_words)
                    found = log_evidence(witness.chain, heard, chosen, stray, begun=begun)
                result[hopeful, place] = found
                best[hopeful] = np.maximum(best[hopeful], found)
        return result

    def _unfamiliar(
        self, told: _Told, reading: Reading, evidence: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Log-evidence for none of the scripts, by words unlike those of the scripts in question.

        Each script has a say as far as it is probable, given that it is one of them.
        """
        with np.errstate(divide="ignore"):
            logits = np.log(self._priors) + evidence
        chances = np.exp(logits - np.nan_to_num(logits.max(axis=1, keepdims=True), neginf=0.0))
        chances /= np.maximum(chances.sum(axis=1, keepdims=True), 1.0)
        chances[chances < WORTH_COMPARING] = 0.0
        tellings = told.sentences()
        tally = reading.tally(tellings)
        lacking = np.zeros(len(tellings))
        for place in np.flatnonzero(chances.any(axis=0)).tolist():
            if self._sheets[place].words:
                likeness = reading.likeness(self._sheets[place], tally)
                lacking += chances[:, place] * (UNDECIDED - likeness)
        return np.asarray(LIKENESS_WEIGHT * lacking * [len(one) for one in tellings])

    def _promise(self, told: _Told) -> NDArray[np.float64]:
        """How much evidence there can be at most, (tellings, scripts), from the sheets alone.

        For events this is a bound. For sentences it is a guess, by their words alone; then the
        scripts that promise most, `LEAST_CANDIDATES` of them, are all looked at.
        """
        table = self._bounds.log_bounds(told.symbols, self.background)
        if told.reading is None:
            return np.array([table[:, row].sum(axis=1) for row in told.numbers])
        for place, sheet in enumerate(self._sheets):
            if sheet.words is not None:
                table[place, told.spoken] = told.reading.unigram(sheet)
        promise = np.array([table[:, row].sum(axis=1) for row in told.numbers])
        count = min(LEAST_CANDIDATES, promise.shape[1])
        first = np.argpartition(-promise, count - 1, axis=1)[:, :count]
        np.put_along_axis(promise, first, np.inf, axis=1)
        return promise

    def _told(self, number: int, narrative: Sequence[Observation]) -> tuple[Symbol, ...]:
        """Return a narrative as observations that can be compared."""
        told = tuple(
            _symbol(item, f"narrative {number}, event {place}")
            for place, item in enumerate(narrative)
        )
        names = [one for one in told if isinstance(one, str)]
        if not self._words or all(name in self.background.known for name in names):
            return told
        # Among sentences, what happens to be the name of an event is a short sentence too.
        return tuple(Sentence(one) if isinstance(one, str) else one for one in told)


class _Told(NamedTuple):
    """Tellings as numbers of distinct observations; those that are sentences are read.

    ``spoken`` are the numbers of the sentences, in the order of the reading.
    """

    symbols: list[Symbol]
    numbers: list[NDArray[np.int64]]
    spoken: list[int]
    reading: Reading | None

    @classmethod
    def of(cls, tellings: list[tuple[Symbol, ...]], words: Counter[str]) -> _Told:
        """Number the observations of tellings, and read the sentences among them."""
        symbols, numbers = symbols_of(tellings)
        spoken = [row for row, one in enumerate(symbols) if isinstance(one, Sentence)]
        sentences = [one for one in symbols if isinstance(one, Sentence)]
        return cls(symbols, numbers, spoken, Reading(sentences, words) if sentences else None)

    def sentences(self) -> list[list[int]]:
        """The numbers of the sentences of each telling, as the reading counts them."""
        number = {row: place for place, row in enumerate(self.spoken)}
        return [[number[row] for row in one.tolist() if row in number] for one in self.numbers]


def _put(heard: Heard, rows: list[int], found: Heard) -> None:
    """Replace what was heard in some rows."""
    for part, new in zip(heard, found, strict=True):
        part[rows] = new


def _symbol(item: object, where: str) -> Symbol:
    if item is None or isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        shares = [(event, real(share)) for event, share in item.items()]
        if all(isinstance(event, str) and 0 <= share <= 1 for event, share in shares):
            positive = tuple(sorted((event, share) for event, share in shares if share > 0))
            if positive:
                return positive
        raise InputError(f"{short(item)}, expected weights from 0 to 1 by event", where=where)
    raise InputError(f"{short(item)} is no event, expected a name or weights", where=where)


def _is_wordy(telling: tuple[Symbol, ...]) -> bool:
    return any(isinstance(one, Sentence) for one in telling)
