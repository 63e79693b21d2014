"""The results of a benchmark as one page that needs nothing else: tables, plots, protocol."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from elision.evaluate import methods
from elision.evaluate.markup import Entry, escaped, folded, page, table
from elision.evaluate.plots import Pen, plots
from elision.evaluate.tables import (
    LEVEL,
    accuracy_columns,
    batch_sizes,
    claim_rows,
    domain_accuracy,
    duration,
    method_order,
    percent,
    points,
    probability,
    rows_of,
    sorted_rows,
    table_rows,
)
from elision.evaluate.together import tables_together

if TYPE_CHECKING:
    from collections.abc import Callable

    from elision.evaluate.tables import Result, Row

MEASURES: dict[str, Callable[[float], str]] = {
    "top3": percent,
    "log_loss": "{:.3f}".format,
    "ece": "{:.3f}".format,
    "seconds": duration,
}
NAMES = ["top-3", "log-loss", "ECE", "seconds"]

COSTS = {"state": "κq (a state)", "edge": "κt (an edge)", "constraint": "κc (a broken rule)"}
KINDS = {"elisions": "SEM-HMM, with elisions", "plain": "BMM, without elisions"}


def html_report(result: Result, command: str) -> str:
    """Write the results of a benchmark as one HTML page, without any request to elsewhere.

    Parameters
    ----------
    result
        What :func:`elision.evaluate.report.report` returns, fresh or read back from JSON.
    command
        The command that made it, as the reader would type it.

    Returns
    -------
    str
        The page; the same result and command give the same bytes. Without matplotlib it has no
        plots and says so.
    """
    corpora = [name for name in _corpora(result) if method_order(result, name)]
    pen = Pen.find()
    typed = "\n".join(map(escaped, command.splitlines()))
    parts = [
        "<h1>Which event is missing? Benchmark of gap filling</h1>",
        (
            "<p>One event is removed from each test narrative; every method names the event that is"
            " missing. Accuracy is in percent.</p>"
        ),
        f"<pre><code>{typed}</code></pre>",
    ]
    links = ['<a href="#together">all corpora</a>']
    links += [
        f'<a href="#corpus-{place}">{escaped(corpus)}</a>' for place, corpus in enumerate(corpora)
    ]
    links.append('<a href="#protocol">protocol</a>')
    parts.append(f"<p>{' · '.join(links)}</p>")
    if pen is None:
        parts.append(
            '<p class="note">The plots are left out: matplotlib is not installed'
            " (<code>pip install 'elision[plots]'</code>).</p>"
        )
    parts += ['<section id="together">', *_together(result), "</section>"]
    for place, corpus in enumerate(corpora):
        parts.append(f'<section id="corpus-{place}">')
        parts += _corpus(result, corpus, pen)
        parts.append("</section>")
    parts += ['<section id="protocol">', *_protocol(result, corpora), "</section>"]
    return page(parts)


def _corpora(result: Result) -> list[str]:
    """Corpora in the order asked for."""
    return list(
        dict.fromkeys(
            [*result["protocol"].get("corpora", []), *(row["corpus"] for row in result["summary"])]
        )
    )


def _together(result: Result) -> list[str]:
    """Tables over all corpora."""
    parts = ["<h2>All corpora</h2>"]
    for shown in tables_together(result):
        parts += [
            f"<h3>{escaped(shown.title)}</h3>",
            table(shown.heads, shown.rows, texts=shown.texts),
            f'<p class="note">{escaped(shown.note)}</p>',
        ]
    return parts


def _corpus(result: Result, corpus: str, pen: Pen | None) -> list[str]:
    """All about one corpus."""
    cells = rows_of(result, "cells", corpus)
    domains = {cell["domain"] for cell in cells}
    train, test = (
        float(np.mean([cell[name] for cell in cells])) if cells else 0.0
        for name in ("n_train", "n_test")
    )
    parts = [
        f"<h2>{escaped(corpus)}</h2>",
        (
            f'<p class="note">{_count(len(domains), "domain")}; on average {train:.0f} training and'
            f" {test:.0f} test narratives in each.</p>"
        ),
        "<h3>Accuracy</h3>",
        *_accuracy(result, corpus),
        "<h3>What the paper claims</h3>",
        *_claims(result, corpus),
        *_tests(result, corpus),
    ]
    if pen is not None:
        parts += ["<h3>Plots</h3>", *plots(result, corpus, pen)]
    parts += [
        "<h3>Accuracy by frequency and by length</h3>",
        (
            '<p class="note">Over all test narratives of all domains and seeds together, so that'
            " large domains weigh more than in the table above.</p>"
        ),
        '<div class="pair">',
        _bands(result, corpus, "by_frequency", "The removed event is told in training … times"),
        _bands(result, corpus, "by_length", "Events in the narrative"),
        "</div>",
        "<h3>Numbers behind the plots</h3>",
        *_numbers(result, corpus),
    ]
    return parts


def _accuracy(result: Result, corpus: str) -> list[str]:
    """The table like the paper's Table 1, and every batch size by itself."""
    columns = accuracy_columns(result, corpus)
    rows = table_rows(result, corpus)
    top = percent(max(value for row in rows for value, _ in row["by_batch"].values()))
    best = {
        "top3": max(row["top3"] for row in rows),
        **{name: min(row[name] for row in rows) for name in ("log_loss", "ece")},
    }
    bold = {name: MEASURES[name](value) for name, value in best.items()}
    lines = []
    for row in rows:
        found = {
            batch: Entry(
                percent(value, error if row["domains"] > 1 else None), percent(value) == top
            )
            for batch, (value, error) in row["by_batch"].items()
        }
        lines.append(
            [
                Entry(row["method"]),
                *(found.get(batch, Entry("")) for batch in columns),
                *(
                    Entry(write(row[name]), write(row[name]) == bold.get(name))
                    for name, write in MEASURES.items()
                ),
            ]
        )
    heads = [head.replace(" ", "\u00a0") for head in columns.values()]
    every = [
        [row["method"], _batch(row), str(row["domains"])]
        + [percent(row["top1"], row["stderr"] if row["domains"] > 1 else None)]
        + [write(row[name]) for name, write in MEASURES.items()]
        for row in sorted_rows(result, "summary", corpus)
    ]
    return [
        table(["Method", *heads, *NAMES], lines, texts={0}),
        (
            '<p class="note">Mean over domains ± standard error over domains; r is the batch size,'
            " on which not all methods depend. Top-3, log-loss, expected calibration error and"
            " seconds are means over r. The best is bold.</p>"
        ),
        folded(
            "Every batch size by itself",
            ["Method", "r", "Domains", "top-1", *NAMES],
            every,
        ),
    ]


def _claims(result: Result, corpus: str) -> list[str]:
    rows = claim_rows(result, corpus)
    if not rows:
        return [
            "<p>Nothing to test: it takes two methods that the paper compares, two domains.</p>"
        ]
    lines = [
        [
            f"{row['better']} above {row['worse']}",
            "tested" if row["tested"] else "order only",
            _batch(row),
            str(row["domains"]),
            points(row["difference"]),
            probability(row["p"]),
            probability(row["p_corrected"]),
            row["verdict"],
        ]
        for row in rows
    ]
    return [
        table(
            ["Claim", "In the paper", "r", "Domains", "Difference", "p", "p (Holm)", "Here"],
            lines,
            texts={0, 1, 7},
        ),
        (
            '<p class="note">One-sided paired t-tests over domains, in the direction claimed;'
            f" differences in percentage points; judged at the paper's level of {LEVEL:g}.</p>"
        ),
    ]


def _tests(result: Result, corpus: str) -> list[str]:
    rows = rows_of(result, "tests", corpus)
    if not rows:
        return ["<p>There are no tests: they need two domains and two methods that differ.</p>"]
    lines = [
        [
            row["better"],
            row["worse"],
            _batch(row),
            str(row["domains"]),
            points(row["difference"]),
            probability(row["p"]),
            probability(row["p_corrected"]),
        ]
        for row in sorted(rows, key=lambda row: (row["p"], -row["difference"]))
    ]
    significant = sum(row["p_corrected"] < LEVEL for row in rows)
    return [
        folded(
            f"All {len(rows)} pairs; {significant} significant at {LEVEL:g} after correction",
            ["Better", "Worse", "r", "Domains", "Difference", "p", "p (Holm)"],
            lines,
            texts={0, 1},
            note="The better method of each pair is the one that came out better here, so a raw p"
            " is never above a half; for a pair chosen beforehand see the claims. Holm's"
            " correction is over all pairs of the corpus.",
        )
    ]


def _bands(result: Result, corpus: str, what: str, title: str) -> str:
    """Accuracy by bands, a column each."""
    rows = sorted_rows(result, what, corpus)
    bands: dict[tuple[int, int | None], int] = {}
    top1: dict[tuple[str, str], dict[tuple[int, int | None], str]] = defaultdict(dict)
    for row in rows:
        band = (row["from"], row["to"])
        bands[band] = row["narratives"]
        top1[row["method"], _batch(row)][band] = percent(row["top1"])
    heads = [f"{_band(*band)}, n\u00a0=\u00a0{bands[band]}" for band in sorted(bands, key=_start)]
    lines = [
        [*key, *(found.get(band, "") for band in sorted(bands, key=_start))]
        for key, found in top1.items()
    ]
    return f"<div><p>{escaped(title)}</p>{table(['Method', 'r', *heads], lines, texts={0})}</div>"


def _start(band: tuple[int, int | None]) -> int:
    return band[0]


def _band(low: int, high: int | None) -> str:
    if high is None:
        return f"{low}+"
    return str(low) if low == high else f"{low}–{high}"


def _numbers(result: Result, corpus: str) -> list[str]:
    """What the plots show, as tables."""
    curve = [
        [
            row["method"],
            _batch(row),
            "all" if row["n_train"] is None else str(row["n_train"]),
            str(row["domains"]),
            percent(row["top1"]),
        ]
        for row in sorted_rows(result, "curve", corpus)
    ]
    order = [
        (method, batch)
        for method in method_order(result, corpus)
        for batch in (None, *batch_sizes(result, corpus))
    ]
    accuracy = domain_accuracy(result, corpus)
    shown = [key for key in order if any(key in found for found in accuracy.values())]
    domains = [
        [domain, *(percent(found[key]) if key in found else "" for key in shown)]
        for domain, found in accuracy.items()
    ]
    heads = [name if batch is None else f"{name}, r = {batch}" for name, batch in shown]
    reliability = [
        [
            row["method"],
            _batch(row),
            f"{row['from']:.1f}–{row['to']:.1f}",
            str(row["narratives"]),
            percent(row["confidence"]),
            percent(row["accuracy"]),
        ]
        for row in sorted_rows(result, "reliability", corpus)
    ]
    return [
        folded("Accuracy by domain", ["Domain", *heads], domains),
        folded(
            "Learning curve",
            ["Method", "r", "Training narratives", "Domains", "top-1"],
            curve,
        ),
        folded(
            "Reliability",
            ["Method", "r", "Confidence in", "Narratives", "Mean confidence", "Accuracy"],
            reliability,
        ),
    ]


def _protocol(result: Result, corpora: list[str]) -> list[str]:
    """How it was measured."""
    given = result["protocol"]
    test = float(given.get("test_share", 0.4))
    seeds = int(given.get("seeds", 1))
    least, most = given.get("min_narratives"), given.get("max_train")
    facts = {
        "Task": f"{given.get('task', 'one event removed from each test narrative')}.",
        "Splits": f"In each domain, narratives of two events or more, shuffled with the seed;"
        f" {100 * (1 - test):.0f} % to learn from, {100 * test:.0f} % to be tested on. All methods"
        " see the same splits and the same removed events.",
        "Domains": f"Those with at least {least} narratives."
        + (f" At most {most} training narratives in each." if most else ""),
        "Seeds": f"{seeds} (0 to {seeds - 1}); the seeds of a domain are averaged first."
        if seeds > 1
        else "1 (0).",
        "Ties": f"They go {given.get('ties', 'against the removed event')}.",
        "Calibration": "Expected calibration error over ten equal bins of the largest probability"
        " given to any event, over all narratives of a corpus.",
        "Seconds": "To learn a domain and answer its test narratives, once, on the machine of the"
        " run; the only figures that differ from run to run. A method learns once for all"
        " tasks, and each task is charged for it.",
        "Methods": ", ".join(map(str, given.get("methods", methods.ALL)))
        + "; default is what elision learn uses; marginal is a script alone, by the marginal"
        " score.",
    }
    parts = ["<h2>Protocol</h2>", "<dl>"]
    for name, text in facts.items():
        parts.append(f"<dt>{escaped(name)}</dt><dd>{escaped(text)}</dd>")
    parts.append("</dl>")
    costs = given.get("costs", {})
    lines = [
        [corpus, KINDS.get(kind, kind), *(f"{values.get(name, 0):g}" for name in COSTS)]
        for corpus in corpora
        for kind, values in costs.get(corpus, {}).items()
    ]
    if lines:
        parts += [
            "<h3>Costs</h3>",
            (
                "<p>The paper does not print its costs of structure. They are chosen for each"
                " corpus by cross-validation on training narratives only.</p>"
            ),
            table(["Corpus", "Methods", *COSTS.values()], lines, texts={0, 1}),
        ]
    return parts


def _batch(row: Row) -> str:
    return "" if row["batch"] is None else str(row["batch"])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
