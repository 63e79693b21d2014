"""Gaps filled by a telling model: all events are tried, and whole tellings compared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np

from elision import _threads
from elision.ask.anywhere import placed
from elision.ask.engine.at_once import in_slices
from elision.ask.fill import Filling, allowed_events, ranked
from elision.ask.heard import check_top, gap_positions, hear, hear_all, single
from elision.ask.joint import DEFAULT_TOP, Course, Joint
from elision.ask.resolve import Candidate, Resolution, ambiguous
from elision.ask.telling.slots import completions, filled, marginals, model_of, sketch, softmax
from elision.errors import InputError
from elision.values.observations import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from elision.ask.anywhere import Anywhere
    from elision.ask.heard import Heard, Item
    from elision.values.near_words import WordChances
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script
    from elision.values.telling import TellingModel

CHUNK = 256
"""Narratives that a thread answers at a time."""

MOST_PUT_IN = 200_000_000
"""Events squared, times kinds to the power of 1.5, for which all events are tried at all places: it
takes some ten seconds."""

MOST_OPENINGS = 8
"""Ways to fill open places of a telling into which events are inserted: the likeliest."""


def fill(
    script: Script,
    narrative: Iterable[Item],
    *,
    top: int | None = None,
    exclude: Iterable[str] = (),
    unknown: Unknown = "error",
) -> list[Filling]:
    """Rank the events that may fill each gap (None) of a narrative, see `elision.ask.fill.fill`."""
    check_top(top)
    heard = hear(script, narrative, unknown=unknown)
    allowed = undenied(script, allowed_events(script, exclude), heard)
    return _fill_heard(script, [heard], top, allowed)[0]


def fill_many(
    script: Script,
    narratives: Iterable[Iterable[Item]],
    *,
    top: int | None = None,
    exclude: Iterable[str] = (),
    unknown: Unknown = "error",
) -> list[list[Filling]]:
    """Fill the gaps of many narratives, each as `fill` does."""
    check_top(top)
    allowed = allowed_events(script, exclude)
    heard = hear_all(script, narratives, unknown=unknown)
    plain = [one for one in heard if not one.denied]
    width = len(script.events)
    found = iter(in_slices(plain, width, lambda part: _fill_heard(script, part, top, allowed)))
    return [
        _fill_heard(script, [one], top, undenied(script, allowed, one))[0]
        if one.denied
        else next(found)
        for one in heard
    ]


def undenied(script: Script, allowed: NDArray[np.bool_], heard: Heard) -> NDArray[np.bool_]:
    """Leave out what a telling says did not happen, unless nothing else is allowed."""
    left = allowed & [event not in heard.denied for event in script.events]
    return left if left.any() else allowed


def _fill_heard(
    script: Script, heard: list[Heard], top: int | None, allowed: NDArray[np.bool_]
) -> list[list[Filling]]:
    gaps = [gap_positions(one) for one in heard]
    found = chances_of_gaps(script, heard, allowed)
    answers = iter(ranked(script.events, np.vstack(found), top))
    return [
        [Filling(one.positions[index], next(answers)) for index in places]
        for one, places in zip(heard, gaps, strict=True)
    ]


def chances_of_gaps(
    script: Script, heard: list[Heard], allowed: NDArray[np.bool_]
) -> list[NDArray[np.float64]]:
    """Probability of each event in each gap of each narrative, (gaps, events) each."""
    model = model_of(script)
    sketches = [
        sketch(model, single(one, "fill"), allowed, narrative=number)
        for number, one in enumerate(heard)
    ]
    found: list[NDArray[np.float64] | None] = [None] * len(heard)
    alone = [k for k, one in enumerate(sketches) if len(one.slots) == 1]
    if alone:
        places = np.array([sketches[k].slots[0].index for k in alone], np.int64)
        odds = insert_each(model, [sketches[k].told for k in alone], places)
        odds[:, ~allowed] = -np.inf
        for k, chances in zip(alone, softmax(odds), strict=True):
            found[k] = chances[None]

    def several(k: int) -> None:
        gaps = [index for index, item in enumerate(heard[k].items) if item is None]
        rows = np.zeros((len(gaps), len(model.events)))
        by_index = {
            slot.index: (slot.options, chances)
            for slot, chances in zip(sketches[k].slots, marginals(model, sketches[k]), strict=True)
        }
        for row, index in zip(rows, gaps, strict=True):
            options, chances = by_index[index]
            row[options] = chances
        found[k] = rows

    _threads.run(several, [k for k, rows in enumerate(found) if rows is None])
    answers = cast("list[NDArray[np.float64]]", found)
    if model.near_words is None:
        return answers
    around = model.near_words.around
    return [_by_words(around, one.items, rows) for one, rows in zip(heard, answers, strict=True)]


def _by_words(
    model: WordChances, items: Sequence[object], chances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Let the words around each gap have their say, where the narrative was told in sentences."""
    words = words_of(items)
    if words is None:
        return chances
    gaps = [index for index, item in enumerate(items) if item is None]
    with np.errstate(divide="ignore"):  # events that are excluded stay impossible
        known = np.log(chances)
    rows = [model.pooled(row, words, gap) for row, gap in zip(known, gaps, strict=True)]
    return softmax(np.array(rows))


def insert_each(
    model: TellingModel, told: list[NDArray[np.int64]], places: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Worth that each event gains each telling, put at its one place, (tellings, events)."""
    result = np.empty((len(told), len(model.events)))

    def work(number: int) -> None:
        part = slice(number * CHUNK, (number + 1) * CHUNK)
        model.insert_each(told[part], places[part], result[part])

    _threads.run(work, range(-(-len(told) // CHUNK)))
    return result


def fill_joint(
    script: Script,
    narrative: Iterable[Item],
    *,
    top: int | None = None,
    exclude: Iterable[str] = (),
    unknown: Unknown = "error",
) -> Joint:
    """Rank the fillings of all gaps (None) together, see `elision.ask.joint.fill_joint`.

    Every filling is weighed where there are at most a few dozen beginnings to follow up, else the
    best ones; ``exact`` says which. Other open places are summed over.
    """
    check_top(top)
    heard = hear(script, narrative, unknown=unknown)
    gaps = gap_positions(heard)
    model = model_of(script)
    allowed = undenied(script, allowed_events(script, exclude), heard)
    sketched = sketch(model, single(heard, "fill jointly"), allowed)
    found = completions(model, sketched)
    columns = [k for k, slot in enumerate(sketched.slots) if slot.index in set(gaps)]
    fillings, row = np.unique(found.choices[:, columns], axis=0, return_inverse=True)
    shares = np.bincount(row.ravel(), found.shares, len(fillings))
    words = None if model.near_words is None else words_of(heard.items)
    if model.near_words is not None and words is not None:
        around = model.near_words.around
        said = np.array([around.log_chances(words, gap) for gap in gaps])
        by_words = np.take_along_axis(said, fillings.T, axis=1).sum(axis=0)
        shares = softmax(around.weighed(np.log(shares), by_words)[None])[0]
    order = np.argsort(-shares, kind="stable")[: top or DEFAULT_TOP].tolist()
    return Joint(
        tuple(heard.positions[index] for index in gaps),
        tuple(
            Course(tuple(script.events[o] for o in fillings[k].tolist()), float(shares[k]))
            for k in order
        ),
        found.exact,
    )


def fill_anywhere(
    script: Script,
    narrative: Iterable[Item],
    *,
    top: int | None = None,
    exclude: Iterable[str] = (),
    unknown: Unknown = "error",
) -> Anywhere:
    """Rank the events of which one is missing, see `elision.ask.anywhere.fill_anywhere`."""
    check_top(top)
    heard = hear(script, narrative, unknown=unknown)
    items = single(heard, "fill anywhere")
    allowed = undenied(script, allowed_events(script, exclude), heard)
    chances = chances_anywhere(script, items, allowed)
    return placed(script, items, chances, top)


def chances_anywhere(
    script: Script, items: list[Observation], allowed: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Probability that each event is missing at each place, (events told + 1, events)."""
    model = model_of(script)
    odds = over_openings(model, items)
    odds[:, ~allowed] = -np.inf
    return softmax(said_by_words(model, items, odds).ravel()).reshape(odds.shape)


def said_by_words(
    model: TellingModel, items: list[Observation], odds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log-odds of insertions into a telling, where it is told in sentences by their words, too.

    Words say which event a place lacks, if it lacks one. Whether it does stays as it was.
    """
    words = None if model.near_words is None else words_of(items)
    if model.near_words is None or words is None:
        return odds
    around = model.near_words.around
    pooled = [
        around.pooled(row, [*words[:place], None, *words[place:]], place)
        for place, row in enumerate(odds)
    ]
    with np.errstate(divide="ignore"):  # events that are excluded stay impossible
        shares = np.log(softmax(np.array(pooled)))
    return np.asarray(shares + np.logaddexp.reduce(odds, axis=1)[:, None])


def over_openings(model: TellingModel, items: list[Observation]) -> NDArray[np.float64]:
    """Insertions into a telling; what is open in it holds whatever it probably holds.

    Odds are averaged over the likeliest ways to fill the open places, by their shares.
    """
    sketched = sketch(model, items)
    ways = MOST_OPENINGS if sketched.slots else 1
    most = math.isqrt(int(MOST_PUT_IN / (ways * len(model.events) ** 1.5)))
    if len(items) > most:
        raise InputError(
            f"{len(items):,} events of {len(model.events):,} kinds, expected at most {most:,}",
            hint="ask about a part of them",
        )
    if not sketched.slots:
        return model.insertions(sketched.told)
    found = completions(model, sketched)
    best = np.argsort(-found.worth, kind="stable")[:MOST_OPENINGS]
    log_shares = np.log(softmax(found.worth[best]))
    worth = np.empty((len(best), len(items) + 1, len(model.events)))
    for row, k, log_share in zip(worth, best.tolist(), log_shares.tolist(), strict=True):
        row[:] = log_share + model.insertions(filled(sketched, found.choices[k]))
    largest = worth.max()
    return np.asarray(largest + np.log(np.exp(worth - largest).sum(axis=0)))


def resolve(
    script: Script,
    narrative: Iterable[Item],
    *,
    candidates: Iterable[str] | Mapping[str, float] | None = None,
    top: int | None = None,
    unknown: Unknown = "error",
) -> list[Resolution]:
    """Say what each ambiguous observation stands for, see `elision.ask.resolve.resolve`."""
    check_top(top)
    heard, items, _ = ambiguous(script, narrative, candidates, unknown)
    model = model_of(script)
    sketched = sketch(model, items)
    found = []
    for slot, chances in zip(sketched.slots, marginals(model, sketched), strict=True):
        weights = softmax(slot.log_weights)
        order = np.lexsort((-weights, -chances))[:top].tolist()
        found.append(
            Resolution(
                heard.positions[slot.index],
                tuple(
                    Candidate(
                        script.events[int(slot.options[k])], float(weights[k]), float(chances[k])
                    )
                    for k in order
                ),
            )
        )
    return found
