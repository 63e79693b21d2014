"""The work behind `elision.ask.score`: many tellings examined at once.

What a telling would be worth had one thing gone differently is the probability of another telling
over that of the one given: two neighbours exchanged, an event left out, one put in, one moved
elsewhere. All come from one forward and one backward pass over the told events.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import kernels
from elision.ask.engine.checks import MOST_DRAWN, share_of, whole
from elision.ask.engine.told_chain import SAFE_LOG_PROB, Tables, ToldChain, visits
from elision.ask.fill import emission_shares
from elision.ask.heard import hear, name_of, single
from elision.ask.sample import LONGEST, tellings
from elision.ask.score import Conformance, Deviations, Flag, named
from elision.errors import InputError, relocated
from elision.values.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.values.observations import Observation, Packed, Unknown
    from elision.values.script import Script


IMPROBABLE = 0.05
"""A repeated event is flagged if it is less probable than this where it stands."""

OUT_OF_ORDER = math.log(20.0)
"""An event is out of order if the telling is so much more probable (log) with it elsewhere."""

LONGEST_ORDERED = 500
"""Events of a telling up to which every move of every event is weighed."""

MOST_MOVED = 2_000_000_000
"""Events, times events, times edges of the script, up to which the same is done."""

MOST_UPDATES = 500_000_000
"""Events times edges of the script that drawn tellings may take in all, in log space."""

QUICK = 20
"""So many times as many, where they are not so improbable that log space is needed."""

FEWEST_DRAWN = 99
"""With fewer than these drawn tellings a telling is not compared with them."""

SKIPPED = 0.5
"""An event is skipped if it was passed in silence with this probability..."""

USUALLY_SILENT = 0.2
"""...though not more than this share of its passes is usually silent."""

FORGOTTEN = 4.0
"""How much more often a teller leaves out a usual event than exchanges two, or tells a strange one.

Chosen on four corpora for what tells altered tellings from untouched ones; not critical.
"""

STRANGE = 1e-4
"""Share of events, in tellings without a deviation, that the script cannot tell."""

MOST_STRANGE = 75
"""Unknown events that count: with more, the odds would be no number any more."""

MISPLACED = 0.03
"""Share of strange events that are nevertheless the script's own."""

CELLS = 1 << 21
"""Size of one table of tellings that are examined side by side."""

KEPT = 1e9
"""Worth of keeping an event when an impossible telling is mended: above any log-probability."""


class _Telling(NamedTuple):
    """A narrative as it is examined: ``places`` says where in it each of the ``items`` stood."""

    names: tuple[str, ...]
    items: list[Observation]
    places: list[int]
    impossible: frozenset[int] = frozenset()

    @property
    def left_out(self) -> list[int]:
        return sorted(set(range(len(self.names))) - set(self.places))


class _Findings(NamedTuple):
    """What is known of a distinct telling, whoever tells it."""

    odds: float
    """Of a deviation among the events that the script can tell."""
    moved: list[tuple[int, int, float]]
    """Events out of order: which, where to, and what it gains."""
    skipped: list[tuple[int, int, float]]
    """Events, before which place they were due, and their probability."""


class Examiner:
    """Examines tellings of one script.

    Parameters
    ----------
    script
        The script.
    unknown, false_alarms, samples, random_state
        As for `elision.ask.score.score`.
    """

    def __init__(
        self,
        script: Script,
        *,
        unknown: Unknown,
        false_alarms: float,
        samples: int,
        random_state: int,
    ) -> None:
        self._false_alarms = share_of(false_alarms, "false_alarms")
        self._samples = whole(samples, "samples", maximum=MOST_DRAWN)
        self._seed = whole(random_state, "random_state")
        self._script = script
        self._unknown: Unknown = unknown
        self._chain = ToldChain(script)
        self._told = 1.0 - self._chain.never()[0]
        often = visits(script)
        rates = often @ script.emission
        self._overall = rates / rates.sum() if rates.any() else rates
        self._shares = emission_shares(script.emission)
        silent = (often * script.elision) @ self._shares
        self._mostly_told = silent <= USUALLY_SILENT * (often @ self._shares)
        self._references: dict[tuple[int, tuple[int, ...], int], NDArray[np.float64]] = {}

    def examine(self, narratives: Iterable[Iterable[Observation]]) -> list[Conformance]:
        """Examine tellings."""
        given = [self._hear(number, one) for number, one in enumerate(narratives)]
        packer = Packer(self._script.events, unknown=self._unknown)
        packed = packer.pack(one.items for one in given)
        log_prob = self._script.lattice.log_prob(packed)
        if (log_prob == -np.inf).any():
            given = self._mended(given, packed, log_prob)
            packed = packer.pack(one.items for one in given)
            log_prob = self._script.lattice.log_prob(packed)
        surprises = self._chain.surprises(packed)
        first = packed.offset + np.arange(len(packed) + 1)
        p_values = self._p_values(packed, log_prob)
        findings = dict(self._findings(packed, log_prob))
        return [
            self._conformance(
                telling,
                float(log_prob[s]),
                surprises[first[s] : first[s + 1]].tolist(),
                p_values[s],
                findings.get(s),
            )
            for telling, s in zip(given, packed.place.tolist(), strict=True)
        ]

    def _hear(self, number: int, narrative: Iterable[Observation]) -> _Telling:
        items = list(narrative) if isinstance(narrative, Iterator) else narrative
        try:
            heard = hear(self._script, items, unknown=self._unknown)
            kept = single(heard, "score")
        except InputError as error:
            raise relocated(error, f"narrative {number}") from None
        return _Telling(tuple(map(name_of, items)), kept, list(heard.positions))

    def _mended(
        self, given: list[_Telling], packed: Packed, log_prob: NDArray[np.float64]
    ) -> list[_Telling]:
        """Leave the fewest events out of impossible tellings that make them possible."""
        likelihood = packed.likelihood(self._script.emission).T
        possible = {
            s: _possible_part(self._chain, likelihood[_symbols(packed, s)])
            for s in np.flatnonzero(log_prob == -np.inf).tolist()
        }
        result = []
        for telling, s in zip(given, packed.place.tolist(), strict=True):
            if s in possible:
                kept = possible[s]
                places = [telling.places[i] for i in kept]
                lost = frozenset(telling.places) - frozenset(places)
                telling = _Telling(telling.names, [telling.items[i] for i in kept], places, lost)
            result.append(telling)
        return result

    # --- how probable it is among its like ------------------------------------------------------

    def _p_values(self, packed: Packed, log_prob: NDArray[np.float64]) -> list[float | None]:
        if not self._samples:
            return [None] * len(packed)
        own = log_prob.copy()
        events = len(self._script.events)
        gap = np.concatenate([np.zeros(events, bool), (packed.soft == 1).all(axis=1)])
        soft = np.arange(len(gap)) >= events
        ambiguous = [
            s
            for s in range(len(packed))
            if log_prob[s] > -np.inf and (soft & ~gap)[_symbols(packed, s)].any()
        ]
        if ambiguous:
            own[ambiguous] = self._resolved(packed, np.array(ambiguous), gap)
        found: list[float | None] = []
        for s, value in enumerate(own.tolist()):
            if value == -np.inf:
                found.append(1 / (self._samples + 1))
                continue
            symbol = _symbols(packed, s)
            if len(symbol) > LONGEST:
                found.append(None)
                continue
            key = (len(symbol), tuple(np.flatnonzero(gap[symbol]).tolist()))
            samples = self._affordable(len(symbol), value)
            if samples < self._samples and samples < FEWEST_DRAWN:
                found.append(None)
                continue
            reference = self._reference(*key, samples)
            # Equal tellings must count as equal, whatever the order their sums were added in.
            below = np.searchsorted(reference, value + 1e-9 * max(1.0, -value), side="right")
            found.append((1 + int(below)) / (samples + 1))
        return found

    def _affordable(self, length: int, log_prob: float) -> int:
        """How many tellings of so many events are drawn: fewer, where each takes long."""
        edges = len(self._chain.model.in_source) + self._chain.states
        most = MOST_UPDATES if log_prob < SAFE_LOG_PROB else QUICK * MOST_UPDATES
        return min(self._samples, most // ((length + 1) * edges))

    def _reference(self, length: int, gaps: tuple[int, ...], samples: int) -> NDArray[np.float64]:
        """Log-probabilities of drawn tellings of this length, ascending, with these gaps."""
        if (length, gaps, samples) not in self._references:
            # By length and not one after the other: what else is examined must not matter.
            generator = np.random.default_rng([self._seed, length])
            drawn: list[list[Observation]] = [
                [*one]
                for one in tellings(self._script, samples, length=length, random_state=generator)
            ]
            for one in drawn:
                for place in gaps:
                    one[place] = None
            self._references[length, gaps, samples] = np.sort(self._script.log_probs(drawn))
        return self._references[length, gaps, samples]

    def _resolved(
        self, packed: Packed, which: NDArray[np.int64], gap: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Log-probability with every ambiguous event taken for what it most probably is."""
        events = self._script.events
        part = packed.take(which)
        likelihood = part.likelihood(self._script.emission)
        resolved: list[list[Observation]] = []
        for s, posterior in enumerate(self._script.lattice.posterior(part)):
            telling: list[Observation] = []
            for symbol, told in zip(_symbols(part, s).tolist(), posterior.told, strict=True):
                if symbol < len(events):
                    telling.append(events[symbol])
                elif gap[symbol]:
                    telling.append(None)
                else:
                    chance = likelihood[:, symbol] / likelihood[:, symbol].max()
                    by = np.divide(told, chance, out=np.zeros_like(told), where=chance > 0)
                    weight = (by @ self._script.emission) * part.soft[symbol - len(events)]
                    telling.append(events[int(weight.argmax())])
            resolved.append(telling)
        return self._script.log_probs(resolved)

    # --- what is odd about it -------------------------------------------------------------------

    def _findings(
        self, packed: Packed, log_prob: NDArray[np.float64]
    ) -> Iterator[tuple[int, _Findings]]:
        """Examine distinct tellings that are possible, those of one length side by side."""
        likelihood = np.ascontiguousarray(packed.likelihood(self._script.emission).T)
        usual = np.concatenate([self._overall, packed.soft @ self._overall])
        weights = np.vstack([np.eye(len(self._overall)), packed.soft])
        means = np.asarray(2 * weights >= weights.sum(axis=1, keepdims=True))
        length = np.diff(packed.offset)
        for events in np.unique(length).tolist():
            group = np.flatnonzero((length == events) & (log_prob > -np.inf))
            size = max(1, CELLS // ((events + 1) * self._script.size))
            for start in range(0, len(group), size):
                chunk = group[start : start + size]
                symbol = packed.symbol[packed.offset[chunk][:, None] + np.arange(events)]
                yield from zip(
                    chunk.tolist(),
                    self._examine_equal(symbol, likelihood[symbol], log_prob[chunk], usual, means),
                    strict=True,
                )

    def _examine_equal(
        self,
        symbol: NDArray[np.uint32],
        likelihood: NDArray[np.float64],
        log_prob: NDArray[np.float64],
        usual: NDArray[np.float64],
        means: NDArray[np.bool_],
    ) -> Iterator[_Findings]:
        events = symbol.shape[1]
        tables = self._chain.tables(likelihood)
        found = deviations(self._chain, tables, likelihood, log_prob)
        told = np.asarray(means[symbol].any(axis=1))
        differ = symbol[:, 1:] != symbol[:, :-1]
        exchanged = (found.exchanged * differ).sum(axis=1) / np.maximum(differ.sum(axis=1), 1)
        put_in = found.entered.sum(axis=1) @ self._script.emission
        forgotten = (put_in * self._told * ~told).sum(axis=1) / (events + 1)
        strange = MISPLACED * (found.without * usual[symbol]).sum(axis=1) / max(events, 1)
        odds = exchanged + FORGOTTEN * forgotten + strange
        # Where a step is so improbable that the tables have lost the telling, a slip explains it.
        odds[tables.before_scale[:, -1] == -np.inf] = STRANGE**-MOST_STRANGE
        silent = (found.entered * self._script.elision) @ self._shares
        for n in range(len(symbol)):
            own = Tables(*(part[n] for part in tables))
            moved = self._out_of_order(own, likelihood[n], float(log_prob[n]))
            skipped = self._skipped(silent[n], told[n])
            yield _Findings(float(odds[n]), moved, skipped)

    def _out_of_order(
        self, tables: Tables, likelihood: NDArray[np.float64], log_prob: float
    ) -> list[tuple[int, int, float]]:
        """Moves that gain much, the best first, none across another."""
        edges = len(self._chain.model.in_source)
        longest = min(LONGEST_ORDERED, math.isqrt(MOST_MOVED // max(1, edges)))
        if not 2 <= len(likelihood) <= longest:
            return []
        gain = moves(self._chain, tables, likelihood, log_prob)
        best = gain.argmax(axis=1)
        worth = gain.max(axis=1)
        crossed = np.zeros(len(gain), bool)
        found = []
        for i in np.argsort(-worth, kind="stable").tolist():
            if worth[i] <= OUT_OF_ORDER:
                break
            first, last = sorted((i, int(best[i])))
            if not crossed[first : last + 1].any():
                crossed[first : last + 1] = True
                found.append((i, int(best[i]), float(worth[i])))
        return found

    def _skipped(
        self, silent: NDArray[np.float64], told: NDArray[np.bool_]
    ) -> list[tuple[int, int, float]]:
        passed = silent.sum(axis=0)
        odd = np.flatnonzero((passed >= SKIPPED) & self._mostly_told & ~told)
        return [(o, int(silent[:, o].argmax()), min(1.0, float(passed[o]))) for o in odd.tolist()]

    # --- the answer -----------------------------------------------------------------------------

    def _conformance(
        self,
        telling: _Telling,
        log_prob: float,
        surprises: list[float],
        p_value: float | None,
        findings: _Findings | None,
    ) -> Conformance:
        per_place: list[float | None] = [None] * len(telling.names)
        for place, surprise in zip(telling.places, surprises[:-1], strict=True):
            per_place[place] = (per_place[place] or 0.0) + surprise
        lost = telling.left_out
        flags = [
            Flag("impossible", place, telling.names[place], math.inf, "cannot be told here")
            if place in telling.impossible
            else Flag("unknown", place, telling.names[place], math.inf, "not in the script")
            for place in lost
        ]
        odds = math.inf
        if findings is not None:
            flags += self._flags(telling, surprises, findings)
            odds = findings.odds
            if lost:
                odds += STRANGE ** -min(len(lost), MOST_STRANGE) / len(telling.names)
        flags.sort(key=lambda flag: (flag.position, flag.kind))
        if lost and p_value is not None:
            p_value = 1 / (self._samples + 1)
        found = Conformance(
            told=telling.names,
            log_prob=log_prob,
            surprises=tuple(per_place),
            ending=surprises[-1],
            p_value=p_value,
            oddness=math.log(odds / (2 + FORGOTTEN)) if odds > 0 else -math.inf,
            flags=tuple(flags),
            deviations=_counted(flags),
            false_alarms=self._false_alarms,
        )
        return named(found)

    def _flags(
        self, telling: _Telling, surprises: list[float], findings: _Findings
    ) -> Iterator[Flag]:
        seen: Counter[str] = Counter()
        for item, place, surprise in zip(
            telling.items, telling.places, surprises[:-1], strict=True
        ):
            if isinstance(item, str):
                if seen[item] and surprise > -math.log(IMPROBABLE):
                    note = f"told before, {math.exp(-surprise):.1%} probable here"
                    yield Flag("repeated", place, item, surprise, note)
                seen[item] += 1
        for i, target, gain in findings.moved:
            where = f"after {telling.names[telling.places[target]]}"
            if target < i:
                where = f"before {telling.names[telling.places[target]]}"
            note = f"out of order: {times(gain)} as probable {where}"
            place = telling.places[i]
            yield Flag("out of order", place, telling.names[place], gain, note)
        ends = [*telling.places, len(telling.names)]
        for event, before, chance in findings.skipped:
            name = self._script.events[event]
            note = f"probably skipped, {chance:.0%}"
            yield Flag("skipped", ends[before], name, chance, note, chance)


def _counted(flags: Iterable[Flag]) -> Deviations:
    """What is flagged, each flag with its probability, or for certain."""
    count = {"skipped": 0.0, "out of order": 0.0, "superfluous": 0.0}
    for flag in flags:
        kind = flag.kind if flag.kind in count else "superfluous"
        count[kind] += 1.0 if flag.probability is None else flag.probability
    return Deviations(count["skipped"], count["superfluous"], count["out of order"])


def times(gain: float) -> str:
    """A gain in log-probability as a number of times, no more exact than such numbers are.

    Examples
    --------
    >>> times(1.2), times(10.6)
    ('3 times', 'over 1000 times')
    """
    often = math.exp(min(gain, 10.0))
    if often >= 1000:
        return "over 1000 times"
    return f"{float(f'{often:.1g}') if often >= 20 else often:.0f} times"


def _possible_part(chain: ToldChain, likelihood: NDArray[np.float64]) -> list[int]:
    """The events of the most probable path that keeps as many events as can be kept."""
    kept = np.zeros(len(likelihood), bool)
    with np.errstate(divide="ignore"):
        log_likelihood = np.log(likelihood)
    kernels.told_chain.best_part(chain.model, chain.log_model, log_likelihood, KEPT, kept)
    return [int(place) for place in np.flatnonzero(kept)]


def _symbols(packed: Packed, number: int) -> NDArray[np.uint32]:
    return packed.symbol[packed.offset[number] : packed.offset[number + 1]]


LARGEST_LOG_RATIO = 700.0
"""Ratios are cut here, short of overflow."""


class Ratios(NamedTuple):
    """Ratios for N tellings of m events.

    ``exchanged`` (N, m - 1): the telling with events i and i + 1 exchanged, over the telling;
    ``without`` (N, m): the telling without event i; ``entered`` (N, m + 1, states): times
    Omega(x|k), the telling with an x told by k put in after i events, and times the elision of k
    the expected silent passes of k there.
    """

    exchanged: NDArray[np.float64]
    without: NDArray[np.float64]
    entered: NDArray[np.float64]


def deviations(
    chain: ToldChain, tables: Tables, likelihood: NDArray[np.float64], log_prob: NDArray[np.float64]
) -> Ratios:
    """Weigh all deviations of tellings of the same length that the script can tell.

    Parameters
    ----------
    chain
        The chain of told events.
    tables
        Its tables of these tellings.
    likelihood
        (N, m, states): of each event in each state.
    log_prob
        (N,): of the tellings; finite.
    """
    before, arrived, before_scale, after, after_scale = tables
    # Telling i + 1 from where event i was due, then i.
    early = arrived[:, :-2] * likelihood[:, 1:]
    late = chain.arrivals(early) * likelihood[:, :-1]
    exchanged = _ratio(
        (late * after[:, 2:]).sum(axis=2),
        before_scale[:, :-2] + after_scale[:, 2:] - log_prob[:, None],
    )
    without = _ratio(
        (before[:, :-1] * after[:, 1:]).sum(axis=2),
        before_scale[:, :-1] + after_scale[:, 1:] - log_prob[:, None],
    )
    entered = _ratio(arrived * after, (before_scale + after_scale - log_prob[:, None])[:, :, None])
    return Ratios(exchanged, without, entered)


def moves(
    chain: ToldChain, tables: Tables, likelihood: NDArray[np.float64], log_prob: float
) -> NDArray[np.float64]:
    """What moving one event of a telling gains.

    Parameters
    ----------
    chain
        The chain of told events.
    tables
        The rows of one telling of its tables.
    likelihood
        (m, states): of each event in each state.
    log_prob
        Of the telling; finite.

    Returns
    -------
    numpy.ndarray
        (m, m): the gain in log-probability where event i becomes the event number p; 0 for i = p.
    """
    moved = np.full((len(likelihood), len(likelihood)), log_prob)
    _, arrived, before_scale, after, after_scale = map(np.ascontiguousarray, tables)
    likelihood = np.ascontiguousarray(likelihood)
    for kernel in (kernels.told_chain.later_moves, kernels.told_chain.earlier_moves):
        kernel(chain.model, likelihood, arrived, before_scale, after, after_scale, moved)
    return moved - log_prob


def _ratio(value: NDArray[np.float64], log_scale: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(value * np.exp(np.minimum(log_scale, LARGEST_LOG_RATIO)))
