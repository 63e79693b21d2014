"""Are the steps found that people really left out.

    python -m elision.evaluate.omissions FILE [--seeds N] [--json]

FILE has narratives with a field ``missing``: the events (or steps) that the performer left out. In
each domain the recordings are divided into folds; what is learned from the other recordings, as
they are, ranks all steps of the domain by how likely each held-out one lacks them. Where every step
of an activity is obligatory, the untold steps are the missing ones: then the only question is
whether a method knows that what is told is not missing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from elision import readers
from elision.ask.engine.chances import missing_chances
from elision.errors import ElisionError, InputError
from elision.evaluate import methods
from elision.evaluate.cloze import TIE
from elision.evaluate.report import one_sided_p
from elision.evaluate.tables import markdown_table, one_line, percent, points, probability
from elision.pipeline.learning import DEFAULT, make_learner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from elision.values.corpus import Corpus

FOLDS = 5
LEAST_RECORDINGS = FOLDS
MEASURES = ("precision", "hit", "average_precision")
COMPARED = ("LogisticGap", "Frequency")
"""What the default is compared with."""

Scores: TypeAlias = "dict[str, NDArray[np.float64]]"
"""How likely each event is missing, by method, (recordings, events)."""


class Recording(NamedTuple):
    """What was told, and what was left out and told nowhere in it."""

    told: tuple[str, ...]
    missing: frozenset[str]


class Judged(NamedTuple):
    """One recording's ranking: precision at its number of omissions, first hit, mean precision."""

    precision: float
    hit: float
    average_precision: float


def recordings_of(corpus: Corpus) -> dict[str, list[Recording]]:
    """The recordings of each domain in which something was left out, by the texts of their steps.

    Raises
    ------
    InputError
        If no narrative has a list ``missing``.

    Examples
    --------
    >>> import elision as el
    >>> told = el.Narrative(("a",), ("boil water",), "tea", extra={"missing": ["b"]})
    >>> other = el.Narrative(("b",), ("add tea",), "tea")
    >>> recordings_of(el.Corpus([told, other]))["tea"][0]
    Recording(told=('boil water',), missing=frozenset({'add tea'}))
    """
    found = {}
    for domain, part in corpus.by_domain().items():
        name = _step_names(part)
        some = []
        for narrative in part:
            told = tuple(name.get(one, one) for one in narrative.events or narrative.steps or ())
            given = narrative.extra.get("missing", ())
            if isinstance(given, str) or not isinstance(given, list | tuple):
                raise InputError(
                    f"missing is {given!r}, expected a list of events", where=f"id {narrative.id!r}"
                )
            missing = {name.get(str(one), str(one)) for one in given}
            some.append(Recording(told, frozenset(missing.difference(told))))
        if any(one.missing for one in some):
            found[domain] = some
    if not found:
        raise InputError("no narrative has a field 'missing' with what was left out")
    return found


def _step_names(part: Corpus) -> dict[str, str]:
    """The usual text of each event; the event itself where another has the same text."""
    texts: dict[str, Counter[str]] = defaultdict(Counter)
    for narrative in part:
        for event, step in zip(narrative.events or (), narrative.steps or (), strict=False):
            texts[event][step] += 1
    usual = {event: counted.most_common(1)[0][0] for event, counted in texts.items()}
    times = Counter(usual.values())
    return {event: text if times[text] == 1 else event for event, text in usual.items()}


def scores(
    train: Sequence[tuple[str, ...]], asked: Sequence[tuple[str, ...]], **given: Any
) -> Scores:
    """What every method learned from ``train`` says of recordings; ``given`` are its settings.

    All are summed over places: "anywhere" is the chance that an event is the only one missing,
    "missing" that it is missing from the record, "unsaid" that the script passes it in silence,
    which is the same where nothing but the script answers.
    """
    events = given["events"]
    found: Scores = {}
    for name in ("Frequency", "BidirectionalBigram", "LogisticGap"):
        found[name] = methods.BASELINES[name](events=events).fit(train).predict_anywhere(asked)
    for name in methods.OWN:
        learner = make_learner(name, **given).fit(train)
        found[f"{name}, anywhere"] = learner.predict_anywhere(asked)
        found[f"{name}, missing"] = _anywhere(learner.predict_hidden(asked), events)
        if learner.script_.telling is not None:
            unsaid = missing_chances(learner.script_, [list(one) for one in asked])
            found[f"{name}, unsaid"] = _anywhere(unsaid, events)
    return found


def _anywhere(places: Sequence[NDArray[np.float64]], events: Sequence[str]) -> NDArray[np.float64]:
    return np.array([one.sum(axis=0) for one in places]).reshape(len(places), len(events))


def judge(score: NDArray[np.float64], events: Sequence[str], one: Recording) -> Judged:
    """Judge a ranking of all events; ties go against what is missing.

    Examples
    --------
    >>> one = Recording(("a",), frozenset({"b", "c"}))
    >>> judge(np.array([0.5, 0.4, 0.1]), ["a", "b", "c"], one)
    Judged(precision=0.5, hit=0.0, average_precision=0.5833333333333333)
    """
    right = np.array([event in one.missing for event in events])
    value = np.round(score / max(score.max(initial=0.0), TIE), 12)
    order = np.lexsort((right, -value))
    hits = right[order]
    wanted = len(one.missing)  # also what the method has no name for
    places = np.flatnonzero(hits) + 1
    return Judged(
        precision=float(hits[:wanted].sum() / wanted),
        hit=float(hits[:1].sum()),
        average_precision=float((np.arange(1, len(places) + 1) / places).sum() / wanted),
    )


def _folds(number: int, seed: int) -> list[list[int]]:
    order = np.random.default_rng([seed, number]).permutation(number)
    return [np.sort(order[fold::FOLDS]).tolist() for fold in range(FOLDS)]


def measure(
    parts: dict[str, list[Recording]],
    *,
    seeds: int = 3,
    answer: Callable[..., Scores] = scores,
    progress: Callable[[int, int, str], object] | None = None,
) -> dict[str, Any]:
    """Cross-validate all methods on all domains.

    Parameters
    ----------
    parts
        The recordings of each domain, see `recordings_of`.
    seeds
        How many divisions into folds.
    answer
        What gives the scores of all methods.
    progress
        Called before each division with how many are done, how many there are, and the domain.

    Returns
    -------
    dict
        ``methods``: the means over recordings, seeds averaged, of each measure. ``comparisons``:
        differences in average precision. ``obligatory``: the share of untold steps that are
        missing.
    """
    values: dict[str, dict[tuple[str, int], list[Judged]]] = {}
    tell = progress or (lambda *_: None)
    for place, (domain, recordings) in enumerate(parts.items()):
        if len(recordings) < LEAST_RECORDINGS:
            raise InputError(
                f"{len(recordings)} recordings, expected {LEAST_RECORDINGS} or more",
                where=f"domain {domain!r}",
            )
        events = tuple(sorted({event for one in recordings for event in one.told}))
        for seed in range(seeds):
            tell(place * seeds + seed, len(parts) * seeds, domain)
            for fold in _folds(len(recordings), seed):
                out = set(fold)
                asked = [k for k in fold if recordings[k].missing]
                if not asked:
                    continue
                train = [one.told for k, one in enumerate(recordings) if k not in out]
                found = answer(
                    train, [recordings[k].told for k in asked], events=events, random_state=seed
                )
                for method, rows in found.items():
                    by = values.setdefault(method, {})
                    for k, row in zip(asked, rows, strict=True):
                        by.setdefault((domain, k), []).append(judge(row, events, recordings[k]))
    return _result(values, parts, seeds)


def _result(
    values: dict[str, dict[tuple[str, int], list[Judged]]],
    parts: dict[str, list[Recording]],
    seeds: int,
) -> dict[str, Any]:
    means = {
        method: np.array([np.mean(judged, axis=0) for judged in by.values()])
        for method, by in values.items()
    }
    rows = [
        {"method": method, **dict(zip(MEASURES, values.mean(axis=0).tolist(), strict=True))}
        for method, values in means.items()
    ]
    comparisons = []
    for method in means:
        for against in COMPARED:
            if method.startswith(DEFAULT) and against in means:
                gap = (means[method] - means[against])[:, MEASURES.index("average_precision")]
                comparisons.append(
                    {
                        "method": method,
                        "against": against,
                        "recordings": len(gap),
                        "difference": float(gap.mean()),
                        "p": one_sided_p(gap),
                    }
                )
    return {
        "seeds": seeds,
        "folds": FOLDS,
        "domains": len(parts),
        "recordings": sum(bool(one.missing) for some in parts.values() for one in some),
        "obligatory": _obligatory(parts),
        "methods": rows,
        "comparisons": comparisons,
    }


def _obligatory(parts: dict[str, list[Recording]]) -> float:
    """Share of the untold steps of recordings with omissions that are missing."""
    untold = missing = 0
    for recordings in parts.values():
        events = {event for one in recordings for event in one.told}
        for one in recordings:
            if one.missing:
                rest = events.difference(one.told)
                untold += len(rest)
                missing += len(rest & one.missing)
    return missing / untold if untold else 0.0


def tables(result: dict[str, Any]) -> str:
    """The result in Markdown."""
    rows = [
        [row["method"], *(percent(row[name]) for name in MEASURES)] for row in result["methods"]
    ]
    compared = [
        [
            f"{row['method']} above {row['against']}",
            points(row["difference"]),
            probability(row["p"]),
        ]
        for row in result["comparisons"]
    ]
    said = (
        f"{result['recordings']} recordings with omissions, {result['domains']} domains,"
        f" {result['folds']} folds, {result['seeds']} seeds."
        f" {result['obligatory']:.1%} of the steps that they do not tell are missing."
    )
    return "\n\n".join(
        [
            said,
            markdown_table(["Method", "P@m", "hit@1", "MAP"], rows, {0}),
            (
                "Mean average precision; one-sided paired t-test over recordings,"
                " not corrected, as if those of a domain were independent:"
            ),
            markdown_table(["Comparison", "Difference", "p"], compared, {0}),
        ]
    )


def main(arguments: Iterable[str] | None = None) -> int:
    """Print the tables of a file."""
    parser = argparse.ArgumentParser(
        prog="python -m elision.evaluate.omissions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="narratives with a field 'missing'")
    parser.add_argument("--seeds", type=int, default=3, help="divisions into folds")
    parser.add_argument("--json", action="store_true", help="all figures, as JSON")
    options = parser.parse_args(None if arguments is None else list(arguments))
    try:
        if options.seeds < 1:
            raise InputError(f"--seeds is {options.seeds}, expected a whole number from 1")
        parts = recordings_of(readers.read(options.file))
        result = measure(parts, seeds=options.seeds, progress=_tell)
    except ElisionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    text = json.dumps(result, indent=1) if options.json else tables(result)
    sys.stdout.write(text + "\n")
    return 0


def _tell(done: int, total: int, domain: str) -> None:
    sys.stderr.write(f"{done + 1} of {total}: {one_line(domain)}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
