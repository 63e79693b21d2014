"""Whether following a telling is of use: omissions found in time, and which activity it is.

    python -m elision.evaluate.following FILE... [--seeds N] [--json [PATH]]

Two thirds of each domain are learned from, the others are followed. Where narratives have a field
``missing``, that is what they leave out, and any other alarm is false. Else each telling of events
is followed as it is, with a usual step hidden, and with two neighbours exchanged that are always
told in one order; an alarm is false if the step is told later, and of one that is never told
nothing is known. An omission is found in time if it is by the second step that all tellings learned
from tell after it, or by the end where there are no two.

In files of several domains, what is told is also identified event by event: by a library of all
scripts, and by one without the right script.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from elision import readers
from elision.evaluate.following_alarms import (
    METHODS,
    OWN,
    Evidence,
    Learned,
    alarm_figures,
    alarm_table,
    cases_of,
    missing_of,
)
from elision.evaluate.following_many import identify, identify_figures, identify_table
from elision.evaluate.learned import learn
from elision.evaluate.measuring import measure_files, tell
from elision.evaluate.outlines import usable_domains
from elision.pipeline.learning import DEFAULT
from elision.values.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TEST_SHARE = 1 / 3


def measure_corpus(
    corpus: Corpus, seeds: int, tell: Callable[[str], object] = lambda _: None
) -> dict[str, Any]:
    """All figures of a corpus.

    Parameters
    ----------
    corpus
        Tellings of one domain or more, as events or as sentences.
    seeds
        How many splits.
    tell
        Called with what is being measured.
    """
    parts = usable_domains(corpus)
    corpus = Corpus(one for part in parts.values() for one in part)
    given = any(missing_of(one) for one in corpus)
    evidence = {name: Evidence.empty() for name in METHODS}
    runs = []
    for seed in range(seeds):
        train, test = corpus.split(TEST_SHARE, random_state=seed)
        scripts = {}
        for name in parts:
            tell(f"{name}, split {seed + 1} of {seeds}")
            scripts[name] = learn(train.domain(name), seed, DEFAULT)
            if corpus.has_events:
                learned = Learned.of(scripts[name], train.domain(name).events)
                for case in cases_of(learned, test.domain(name), seed, given=given):
                    for method, watch in METHODS.items():
                        evidence[method].add(case, watch(learned, case.told))
        if len(parts) > 1:
            runs.append(identify(scripts, train, test, lambda name: tell(f"without {name}")))
    own = evidence[OWN]
    return {
        "domains": len(parts),
        "tellings": len(corpus),
        "given": given,
        "correct": len(own.false_skips),
        "omissions": len(own.omissions),
        "exchanges": len(own.deviations),
        "alarms": alarm_figures(evidence, given=given) if corpus.has_events else [],
        "identified": identify_figures(runs),
    }


def tables(figures: dict[str, Any], seeds: int) -> str:
    """The figures of a corpus in Markdown."""
    shown = []
    if figures["alarms"]:
        shown.append(alarm_table(figures, seeds))
    if figures["identified"]:
        shown.append(identify_table(figures))
    return "\n\n".join(shown)


def measure_file(file: str, seeds: int) -> dict[str, Any]:
    """Figures of a file."""
    return measure_corpus(readers.read(file), seeds, tell)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of some corpora."""
    return measure_files("following", __doc__, measure_file, tables, arguments)


if __name__ == "__main__":
    sys.exit(main())
