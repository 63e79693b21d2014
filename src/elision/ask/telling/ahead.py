"""What a telling model says from left to right: what comes next, log-probabilities, samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from elision import _threads, kernels
from elision.ask.fill import ranked
from elision.ask.following import Ahead, Following, check_steps
from elision.ask.heard import check_top, hear, hear_all, single
from elision.ask.sample import check_drawing, condition
from elision.ask.telling.slots import Sketch, model_of, sketch
from elision.errors import InputError
from elision.values.observations import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.ask.heard import Item
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script
    from elision.values.telling import TellingModel

FOLLOWED = 200
"""Beginnings that are followed up where there are several: the likeliest."""

MOST_READ = 100_000_000
"""Events of beginnings that are read again at each step: that takes some ten seconds."""

FEWEST_WEIGHED = 100
"""Tellings of a given length of which some are chosen, however few are wanted."""

LONGEST_DRAWN = 10_000
"""Events after which a telling that is drawn ends in any case."""


class Begun(NamedTuple):
    """A beginning that may have been told, and its log-probability (up to a constant)."""

    told: NDArray[np.int64]
    log_prob: float


def following(
    script: Script,
    narrative: Iterable[Item],
    *,
    steps: int = 1,
    top: int | None = None,
    unknown: Unknown = "error",
) -> Following:
    """Say which event is told next, see `elision.ask.following.following`.

    The first step is exact unless the beginning leaves more than 200 ways open; of those, and of
    the beginnings that later steps make, the 200 likeliest are followed up.
    """
    check_top(top)
    check_steps(steps)
    model = model_of(script)
    heard = hear(script, narrative, unknown=unknown)
    items = single(heard, "next")
    never = [o for o, event in enumerate(script.events) if event in heard.denied]
    most = 1 + MOST_READ // (FOLLOWED * (len(items) + 1))
    if steps > most:
        raise InputError(
            f"{steps} steps ahead of {len(items):,} events, expected at most {most}",
            hint="look fewer steps ahead, or ask about the last events",
        )
    going = beginnings(model, sketch(model, items))
    log_prob = _log_sum(np.array([one.log_prob for one in going]))
    rows: list[NDArray[np.float64]] = []
    ended = 0.0
    for step in range(steps):
        ahead = each_ahead(model, going)
        if step == 0:
            ahead = going_by_words(model, items, ahead)
        ahead[:, never] = -np.inf  # of these it was said that they did not happen
        total = np.exp(ahead - _log_sum(ahead)).sum(axis=0) * (1 - ended)
        ended += float(total[-1])
        rows.append(np.append(total[:-1], ended))
        going = _grown(going, ahead)
    answers = ranked(script.events, np.array(rows)[:, :-1], top)
    return Following(
        tuple(Ahead(one, float(row[-1])) for one, row in zip(answers, rows, strict=True)), log_prob
    )


def _grown(begun: list[Begun], ahead: NDArray[np.float64]) -> list[Begun]:
    """Each beginning with each next event, the likeliest ones."""
    log_probs = ahead[:, :-1].ravel()
    best = np.argsort(-log_probs, kind="stable")[:FOLLOWED]
    return [
        Begun(np.append(begun[row].told, event), float(log_probs[k]))
        for k in best.tolist()
        for row, event in [divmod(k, ahead.shape[1] - 1)]
    ]


def beginnings(model: TellingModel, sketched: Sketch, width: int = FOLLOWED) -> list[Begun]:
    """The beginnings that a sketch may stand for, with their log-probabilities as beginnings."""
    if not sketched.slots:
        steps = model.step_log_probs([sketched.told])[0]
        return [Begun(sketched.told, float(steps[:-1].sum()))]
    length = len(sketched.told) + len(sketched.slots)
    most = math.isqrt(2 * MOST_READ // width)
    if length > most:
        raise InputError(
            f"{length:,} events with open places among them, expected at most {most:,}",
            hint="ask about a part of them",
        )
    open_at = {slot.index: slot for slot in sketched.slots}
    known = iter(sketched.told.tolist())
    begun = [Begun(np.empty(0, np.int64), 0.0)]
    for place in range(length):
        slot = open_at.get(place)
        options = np.array([next(known)]) if slot is None else slot.options
        weights = np.zeros(1) if slot is None else slot.log_weights
        begun = gone_on(begun, each_ahead(model, begun), options, weights, width)
    return begun


def each_ahead(model: TellingModel, begun: list[Begun]) -> NDArray[np.float64]:
    """Log-probability of each beginning with each event after it, and with the end, the last."""
    return np.array([one.log_prob + model.next_log_probs(one.told) for one in begun])


def gone_on(
    begun: list[Begun],
    ahead: NDArray[np.float64],
    options: NDArray[np.int64],
    log_weights: NDArray[np.float64],
    width: int = FOLLOWED,
) -> list[Begun]:
    """Return the likeliest beginnings with one more event, which is one of some.

    ``ahead`` is what `each_ahead` says of ``begun``.
    """
    value = ahead[:, options] + log_weights
    best = np.sort(np.argsort(-value.ravel(), kind="stable")[:width])
    return [
        Begun(np.append(begun[row].told, options[option]), float(value[row, option]))
        for k in best.tolist()
        for row, option in [divmod(k, len(options))]
    ]


def chances_next(script: Script, narratives: list[list[Observation]]) -> NDArray[np.float64]:
    """Probability of each next event after each beginning, the end last."""
    model = model_of(script)
    result = np.zeros((len(narratives), len(model.events) + 1))

    def work(k: int) -> None:
        begun = beginnings(model, sketch(model, narratives[k], narrative=k))
        ahead = going_by_words(model, narratives[k], each_ahead(model, begun))
        result[k] = np.exp(ahead - _log_sum(ahead)).sum(axis=0)

    _threads.run(work, range(len(narratives)))
    return result


def going_by_words(
    model: TellingModel, items: Sequence[object], ahead: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Let the words of a beginning have their say in what comes next, if it is told in sentences.

    Parameters
    ----------
    ahead
        Log-probability of each beginning that may have been told with each event after it, and
        with the end, which is last.

    Returns
    -------
    The same, up to a constant, with each event as likely as its words and the model make it.
    """
    words = None if model.near_words is None else words_of(items)
    if model.near_words is None or words is None:
        return ahead
    known = np.logaddexp.reduce(ahead, axis=0)
    pooled = model.near_words.ahead.pooled(known - _log_sum(known), words, len(words))
    change = np.zeros_like(known)
    np.subtract(pooled, known, where=known > -np.inf, out=change)
    return np.asarray(ahead + change)


def log_probs(
    script: Script, narratives: Iterable[Iterable[Observation]], *, unknown: Unknown = "error"
) -> NDArray[np.float64]:
    """Log-probability of each of many tellings.

    Open places are summed over; where they leave more than 200 ways open, over the likeliest.
    """
    model = model_of(script)
    sketches = [
        sketch(model, single(heard, "log_prob"), narrative=number)
        for number, heard in enumerate(hear_all(script, narratives, unknown=unknown))
    ]
    found = np.empty(len(sketches))
    whole = [k for k, one in enumerate(sketches) if not one.slots]
    found[whole] = model.log_probs([sketches[k].told for k in whole])
    for k, one in enumerate(sketches):
        if one.slots:
            begun = beginnings(model, one)
            ends = [way.log_prob + model.next_log_probs(way.told)[-1] for way in begun]
            found[k] = _log_sum(np.array(ends))
    return found


def tellings(
    script: Script,
    n: int = 1,
    *,
    random_state: int | np.random.Generator | None = None,
    length: int | None = None,
    given: Iterable[Item] | None = None,
    unknown: Unknown = "error",
) -> list[list[str]]:
    """Draw tellings, see `elision.ask.sample.tellings`.

    Without a condition they are drawn from the distribution itself. What fits a narrative with gaps
    is drawn from its likeliest fillings; a stretch (...) may stand at the end, where any number of
    events is drawn. Tellings of a given length are drawn by their chance of ending there.
    """
    model = model_of(script)
    rng = check_drawing(n, random_state)
    if length is None and given is None:
        drawn = [drawn_on(model, np.empty(0, np.int64), rng) for _ in range(n)]
    elif length is not None:
        condition(script, length, given, unknown)
        drawn = _of_length(model, n, length, rng)
    else:
        drawn = _fitting(script, n, condition(script, length, given, unknown), rng)
    return [[model.events[o] for o in one.tolist()] for one in drawn]


def drawn_on(
    model: TellingModel,
    told: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    longest: int = LONGEST_DRAWN,
) -> NDArray[np.int64]:
    """Go on with a telling by drawing events until it ends, or is as long as it may be."""
    found = np.asarray(
        kernels.tellings.draw(model.forward.tables, model.kinds_of(told), longest, rng)
    )
    return np.concatenate([told, _events(model, found[len(told) :], rng)])


def _events(
    model: TellingModel, kinds: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    return kinds if model.kinds is None else model.kinds.drawn(kinds, rng)


def _of_length(
    model: TellingModel, n: int, length: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Draw ``length`` events without an end, several times as many, and keep those likely to end.

    Each is weighed by its probability of not having ended before and of ending now.
    """
    if n == 0:
        return []
    number = max(4 * n, FEWEST_WEIGHED)
    found = [
        kernels.tellings.draw_going_on(model.forward.tables, length, rng) for _ in range(number)
    ]
    weight = np.array([log_weight for _, log_weight in found])
    chance = np.exp(weight - weight.max())
    chosen = rng.choice(len(found), n, p=chance / chance.sum())
    return [_events(model, found[k][0], rng) for k in chosen.tolist()]


def _fitting(
    script: Script, n: int, items: list[Item], rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    model = model_of(script)
    open_end = items[-1:] == [...]
    inside = items[:-1] if open_end else items
    if any(item is ... for item in inside):
        raise InputError(
            "a stretch (...) inside the narrative, expected one at its end",
            hint="put None for each missing event, or ask script.with_telling(None)",
        )
    begun = beginnings(model, sketch(model, cast("list[Observation]", inside)))
    weight = np.array([one.log_prob for one in begun])
    if not open_end:
        weight += [model.next_log_probs(one.told)[-1] for one in begun]
    chance = np.exp(weight - weight.max())
    chosen = rng.choice(len(begun), n, p=chance / chance.sum())
    told = [begun[k].told for k in chosen.tolist()]
    return [drawn_on(model, one, rng) for one in told] if open_end else told


def _log_sum(values: NDArray[np.float64]) -> float:
    largest = values.max()
    return float(largest + np.log(np.exp(values - largest).sum()))
