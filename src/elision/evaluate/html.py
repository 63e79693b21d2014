"""The results of a benchmark as one page that needs nothing else: tables, plots, protocol."""

from __future__ import annotations

import io
import re
import warnings
from collections import defaultdict
from functools import partial
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision.evaluate import methods
from elision.evaluate.report import (
    LEVEL,
    batch_sizes,
    claim_rows,
    duration,
    method_order,
    one_line,
    percent,
    points,
    probability,
    table_rows,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Result = dict[str, Any]

SHORTEST = 1e-4
"""Seconds at the left end of the time axis, which is logarithmic."""

LONGEST_LABEL = 22
"""Letters of a domain's name in a plot; the table beside it has the whole name."""

MARKERS = "os^vDP<>Xp"
COLOURS = 10

# matplotlib writes colours as numbers; these stand for the colours of the page, light or dark.
TEXT, RULE, PAPER = "#fe00fe", "#fe00fd", "#fe00fc"
SERIES = "#fe{:02x}01"

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --text: #1d1f21; --soft: #5b6066; --rule: #d7dade;
  --band: #f4f5f7; --link: #1b5fa8;
  --m0: #8a8f94; --m1: #a87a00; --m2: #17877b; --m3: #6c8312; --m4: #1b6ca8;
  --m5: #c25fae; --m6: #7a4bc2; --m7: #d96a1d; --m8: #b92b27; --m9: #1d1f21; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181b; --text: #e6e8ea; --soft: #a2a8ae;
  --rule: #3a4046; --band: #1f2327; --link: #79b4f0;
  --m0: #8f969d; --m1: #dba92c; --m2: #44c4b4; --m3: #a9c43c; --m4: #5aaef0;
  --m5: #ec92da; --m6: #b18cf5; --m7: #f79a54; --m8: #f2706b; --m9: #f2f4f6; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 72rem; background: var(--paper);
  color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0 1rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-top: .8rem;
  border-top: 2px solid var(--rule); }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
p, dl, ul { margin: .4rem 0; max-width: 44rem; }
a { color: var(--link); }
.note { color: var(--soft); font-size: .9rem; }
pre { padding: .7rem; background: var(--band); border-radius: .3rem; white-space: pre-wrap; }
code { font: .9em ui-monospace, monospace; }
.scroll { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--rule); text-align: right;
  white-space: nowrap; overflow-wrap: normal; unicode-bidi: isolate; }
thead th { vertical-align: bottom; white-space: normal; color: var(--soft); font-weight: 600; }
tbody th { font-weight: 500; }
.t { text-align: left; }
tr > :first-child { position: sticky; left: 0; background: var(--paper); }
td[colspan] { text-align: center; }
.best { font-weight: 700; }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--link); }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr));
  gap: 0 2rem; align-items: start; }
.pair > * { min-width: 0; }
figure { margin: .8rem 0; min-width: 0; }
figcaption { font-size: .9rem; color: var(--soft); }
svg { display: block; max-width: 100%; height: auto; }
svg * { stroke-linejoin: round; stroke-linecap: butt; }
.small { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.3rem, 1fr));
  gap: .4rem .8rem; }
.small figure { margin: 0; }
.key { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; list-style: none; padding: 0;
  max-width: none; font-size: .9rem; }
.key li { display: flex; align-items: center; gap: .35rem; }
dt { font-weight: 600; margin-top: .5rem; }
dd { margin: 0; }
"""


class Entry(NamedTuple):
    """A field of a table."""

    text: str
    best: bool = False
    span: int = 1


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
    pen = _Pen.find()
    typed = "\n".join(map(_text, command.splitlines()))
    parts = [
        "<h1>Which event is missing? Benchmark of gap filling</h1>",
        (
            "<p>One event is removed from each test narrative; every method names the event that is"
            " missing. Accuracy is in percent.</p>"
        ),
        f"<pre><code>{typed}</code></pre>",
    ]
    links = [
        f'<a href="#corpus-{place}">{_text(corpus)}</a>' for place, corpus in enumerate(corpora)
    ]
    links.append('<a href="#protocol">protocol</a>')
    parts.append(f"<p>{' · '.join(links)}</p>")
    if pen is None:
        parts.append(
            '<p class="note">The plots are left out: matplotlib is not installed'
            " (<code>pip install 'elision[plots]'</code>).</p>"
        )
    for place, corpus in enumerate(corpora):
        parts.append(f'<section id="corpus-{place}">')
        parts += _corpus(result, corpus, pen)
        parts.append("</section>")
    parts += ['<section id="protocol">', *_protocol(result, corpora), "</section>"]
    return _page(parts)


def _page(parts: list[str]) -> str:
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            (
                '<meta http-equiv="Content-Security-Policy"'
                " content=\"default-src 'none'; style-src 'unsafe-inline'\">"
            ),
            "<title>elision bench</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            *parts,
            "</body>",
            "</html>",
            "",
        ]
    )


def _corpora(result: Result) -> list[str]:
    """Corpora in the order asked for."""
    return list(
        dict.fromkeys(
            [*result["protocol"].get("corpora", []), *(row["corpus"] for row in result["summary"])]
        )
    )


def _corpus(result: Result, corpus: str, pen: _Pen | None) -> list[str]:
    """All about one corpus."""
    cells = _of(result, "cells", corpus)
    domains = {cell["domain"] for cell in cells}
    train, test = (
        float(np.mean([cell[name] for cell in cells])) if cells else 0.0
        for name in ("n_train", "n_test")
    )
    parts = [
        f"<h2>{_text(corpus)}</h2>",
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
        pen.order = method_order(result, corpus)
        parts += ["<h3>Plots</h3>", *_plots(result, corpus, pen)]
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


# Tables


def _accuracy(result: Result, corpus: str) -> list[str]:
    """The table like the paper's Table 1, and every batch size by itself."""
    batches = batch_sizes(result, corpus)
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
        if None in found:
            accuracy = [found[None]._replace(span=max(1, len(batches)))]
        else:
            accuracy = [found.get(batch, Entry("")) for batch in batches]
        lines.append(
            [
                Entry(row["method"]),
                *accuracy,
                *(
                    Entry(write(row[name]), write(row[name]) == bold.get(name))
                    for name, write in MEASURES.items()
                ),
            ]
        )
    heads = [f"r\u00a0=\u00a0{batch}" for batch in batches] or ["top-1"]
    every = [
        [row["method"], _batch(row), str(row["domains"])]
        + [percent(row["top1"], row["stderr"] if row["domains"] > 1 else None)]
        + [write(row[name]) for name, write in MEASURES.items()]
        for row in _sorted(result, "summary", corpus)
    ]
    return [
        _table(["Method", *heads, *NAMES], lines, texts={0}),
        (
            '<p class="note">Mean over domains ± standard error over domains; r is the batch size,'
            " and a figure across the columns does not depend on it. Top-3, log-loss, expected"
            " calibration error and seconds are means over r. The best is bold.</p>"
        ),
        _folded(
            "Every batch size by itself",
            ["Method", "r", "Domains", "top-1", *NAMES],
            every,
        ),
    ]


MEASURES: dict[str, Callable[[float], str]] = {
    "top3": percent,
    "log_loss": "{:.3f}".format,
    "ece": "{:.3f}".format,
    "seconds": duration,
}
NAMES = ["top-3", "log-loss", "ECE", "seconds"]


def _claims(result: Result, corpus: str) -> list[str]:
    rows = claim_rows(result, corpus)
    if not rows:
        return ["<p>The methods that the paper compares were not measured.</p>"]
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
        _table(
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
    rows = _of(result, "tests", corpus)
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
        _folded(
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
    rows = _sorted(result, what, corpus)
    bands: dict[tuple[int, int | None], int] = {}
    table: dict[tuple[str, str], dict[tuple[int, int | None], str]] = defaultdict(dict)
    for row in rows:
        band = (row["from"], row["to"])
        bands[band] = row["narratives"]
        table[row["method"], _batch(row)][band] = percent(row["top1"])
    heads = [f"{_band(*band)}, n\u00a0=\u00a0{bands[band]}" for band in sorted(bands, key=_start)]
    lines = [
        [*key, *(found.get(band, "") for band in sorted(bands, key=_start))]
        for key, found in table.items()
    ]
    return f"<div><p>{_text(title)}</p>{_table(['Method', 'r', *heads], lines, texts={0})}</div>"


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
        for row in _sorted(result, "curve", corpus)
    ]
    order = [
        (method, batch)
        for method in method_order(result, corpus)
        for batch in (None, *batch_sizes(result, corpus))
    ]
    accuracy = _domain_accuracy(result, corpus)
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
        for row in _sorted(result, "reliability", corpus)
    ]
    return [
        _folded("Accuracy by domain", ["Domain", *heads], domains),
        _folded(
            "Learning curve",
            ["Method", "r", "Training narratives", "Domains", "top-1"],
            curve,
        ),
        _folded(
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
        " run; the only figures that differ from run to run.",
        "Methods": ", ".join(map(str, given.get("methods", methods.ALL)))
        + "; default is what elision learn uses.",
    }
    parts = ["<h2>Protocol</h2>", "<dl>"]
    for name, text in facts.items():
        parts.append(f"<dt>{_text(name)}</dt><dd>{_text(text)}</dd>")
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
            _table(["Corpus", "Methods", *COSTS.values()], lines, texts={0, 1}),
        ]
    return parts


COSTS = {"state": "κq (a state)", "edge": "κt (an edge)", "constraint": "κc (a broken rule)"}
KINDS = {"elisions": "SEM-HMM, with elisions", "plain": "BMM, without elisions"}


def _table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str | Entry]],
    *,
    texts: set[int],
) -> str:
    """A table that scrolls sideways if need be; the columns that are not texts are numbers."""
    text = ' class="t"'
    top = "".join(
        f'<th scope="col"{text if place in texts else ""}>{_text(head)}</th>'
        for place, head in enumerate(heads)
    )
    body = []
    for row in rows:
        line = []
        for place, entry in enumerate(row):
            entry = entry if isinstance(entry, Entry) else Entry(entry)
            names = [*(["t"] if place in texts else []), *(["best"] if entry.best else [])]
            tag, given = ("td", "") if place else ("th", ' scope="row"')
            given += f' class="{" ".join(names)}"' if names else ""
            given += f' colspan="{entry.span}"' if entry.span > 1 else ""
            line.append(f"<{tag}{given}>{_text(entry.text)}</{tag}>")
        body.append(f"<tr>{''.join(line)}</tr>")
    inside = "\n".join(body)
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{top}</tr></thead>\n'
        f"<tbody>\n{inside}\n</tbody></table></div>"
    )


def _folded(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str | Entry]],
    *,
    texts: set[int] | None = None,
    note: str = "",
) -> str:
    """A long table, folded away."""
    said = f'<p class="note">{_text(note)}</p>' if note else ""
    table = _table(heads, rows, texts=texts or {0})
    return f"<details><summary>{_text(title)}</summary>{said}{table}</details>" if rows else ""


# Plots


def _plots(result: Result, corpus: str, pen: _Pen) -> list[str]:
    """The four plots; where methods depend on the batch size, at the one in the middle."""
    batches = batch_sizes(result, corpus)
    middle = batches[len(batches) // 2] if batches else None
    at = "" if middle is None else f" (r = {middle})"
    key = "".join(f"<li>{pen.key(method)}<span>{_text(method)}</span></li>" for method in pen.order)
    parts = [f'<ul class="key">{key}</ul>', '<div class="pair">']
    curve = [row for row in _of(result, "curve", corpus) if row["batch"] in (None, middle)]
    if curve:
        parts.append(
            _figure(
                pen.draw("Learning curve", 4.0, 2.9, lambda axes: _curve(axes, curve, pen)),
                f"Learning curve{at}: first seed, domains that have so many narratives (their"
                " number is below).",
            )
        )
    summary = _of(result, "summary", corpus)
    parts.append(
        _figure(
            pen.draw("Accuracy against time", 4.0, 2.9, lambda axes: _time(axes, summary, pen)),
            "Accuracy against time: seconds to learn and answer one domain; the number is r,"
            " the bar the standard error.",
        )
    )
    accuracy = {
        domain: {key[0]: value for key, value in found.items() if key[1] in (None, middle)}
        for domain, found in _domain_accuracy(result, corpus).items()
    }
    parts.append(
        _figure(
            pen.draw(
                "Accuracy by domain",
                4.0,
                0.9 + 0.34 * len(accuracy),
                lambda axes: _domains(axes, accuracy, pen),
            ),
            f"Accuracy by domain{at}, mean over seeds.",
        )
    )
    bins: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _of(result, "reliability", corpus):
        if row["batch"] in (None, middle):
            bins[row["method"]].append(row)
    small = [
        _titled(
            pen.draw(
                f"Reliability of {method}",
                1.85,
                1.75,
                partial(_reliability, rows=bins[method], pen=pen, method=method),
            ),
            method,
        )
        for method in pen.order
        if bins[method]
    ]
    if small:
        parts.append(
            f'<figure><div class="small">{"".join(small)}</div><figcaption>Reliability{at}:'
            " accuracy (upwards) by confidence, in percent; on the line a method is as often right"
            " as it says; larger points have more narratives.</figcaption></figure>"
        )
    return [*parts, "</div>"]


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{_text(caption)}</figcaption></figure>"


def _titled(svg: str, title: str) -> str:
    return f"<figure><figcaption>{_text(title)}</figcaption>{svg}</figure>"


class _Pen:
    """Draws SVG with matplotlib, in the colours of the page."""

    def __init__(self, matplotlib: Any, figure: Any) -> None:
        self._matplotlib = matplotlib
        self._figure = figure
        self._drawn = 0
        self.order: list[str] = []

    @classmethod
    def find(cls) -> _Pen | None:
        """Return a pen if there is matplotlib."""
        try:
            return cls(import_module("matplotlib"), import_module("matplotlib.figure"))
        except ImportError:
            return None

    def colour(self, method: str) -> str:
        """Colour of a method."""
        return SERIES.format(self._place(method) % COLOURS)

    def line(self, method: str) -> dict[str, Any]:
        """How the line of a method looks; baselines are dashed."""
        return {
            "color": self.colour(method),
            "marker": MARKERS[self._place(method) % len(MARKERS)],
            "linestyle": (0, (3, 1.5)) if method in methods.BASELINES else "-",
            "linewidth": 1.3,
            "markersize": 5.5,
            "markeredgecolor": PAPER,
            "markeredgewidth": 0.6,
        }

    def _place(self, method: str) -> int:
        """The same for every corpus, whatever was measured."""
        if method in methods.ALL:
            return methods.ALL.index(method)
        return len(methods.ALL) + self.order.index(method)

    def key(self, method: str) -> str:
        """The sign of a method, for the key."""

        def draw(axes: Any) -> None:
            axes.plot([0, 1, 2], [0, 0, 0], markevery=[1], **self.line(method))
            axes.set_axis_off()

        return self.draw("", 0.42, 0.17, draw)

    def draw(self, title: str, width: float, height: float, plot: Callable[[Any], None]) -> str:
        """One plot, width and height in inches, as an SVG element."""
        self._drawn += 1
        matplotlib = self._matplotlib
        with matplotlib.rc_context(), warnings.catch_warnings():
            # A name in a script that matplotlib has no letters for is still text to the browser.
            warnings.filterwarnings("ignore", message="Glyph")
            warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(
                {
                    "axes.edgecolor": RULE,
                    "axes.facecolor": "none",
                    "axes.labelcolor": TEXT,
                    "axes.spines.right": False,
                    "axes.spines.top": False,
                    "figure.facecolor": "none",
                    "font.sans-serif": ["DejaVu Sans"],
                    "font.size": 8.5,
                    "grid.color": RULE,
                    "grid.linewidth": 0.5,
                    "svg.fonttype": "none",
                    "svg.hashsalt": "elision",
                    "text.color": TEXT,
                    "text.parse_math": False,
                    "xtick.color": RULE,
                    "xtick.labelcolor": TEXT,
                    "ytick.color": RULE,
                    "ytick.labelcolor": TEXT,
                }
            )
            figure = self._figure.Figure(figsize=(width, height), layout="constrained")
            plot(figure.add_subplot())
            file = io.StringIO()
            figure.savefig(file, format="svg")
        return _embedded(file.getvalue(), f"p{self._drawn}-", title)


def _embedded(svg: str, prefix: str, title: str) -> str:
    """An SVG file as an element of the page: its own ids, the page's colours, no XML, no date."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)

    def tag(found: re.Match[str]) -> str:
        text = re.sub(r' xmlns(:\w+)?="[^"]*"| version="[^"]*"', "", found[0])
        text = re.sub(r'\bid="', f'id="{prefix}', text).replace("xlink:href", "href")
        text = re.sub(r'(href="|url\()#', rf"\1#{prefix}", text)
        text = text.replace(TEXT, "currentColor").replace(RULE, "var(--rule)")
        text = text.replace(PAPER, "var(--paper)")
        text = re.sub("#fe([0-9a-f]{2})01", lambda one: f"var(--m{int(one[1], 16)})", text)
        return re.sub(r" ?font-family: [^;\"]*;?", "", text)  # the page's own

    # Text stands between tags, with its own "<" and ">" escaped: only tags are matched.
    svg = re.sub(r"<[^<>]*>", tag, svg).strip()
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    width = float(size[1]) * 1.6 if size else 400.0
    label = f'role="img" aria-label="{_text(title)}"' if title else 'aria-hidden="true"'
    return re.sub(
        r"<svg[^>]*?(viewBox=\"[^\"]*\")[^>]*>",
        lambda found: f'<svg {label} width="{width:.0f}" {found[1]}>',
        svg,
        count=1,
    )


def _curve(axes: Any, rows: list[dict[str, Any]], pen: _Pen) -> None:
    sizes = sorted({row["n_train"] for row in rows if row["n_train"] is not None})
    places: list[int | None] = [*sizes, None]
    for method in pen.order:
        found = {row["n_train"]: row["top1"] for row in rows if row["method"] == method}
        here = [place for place, size in enumerate(places) if size in found]
        axes.plot(here, [100 * found[places[place]] for place in here], **pen.line(method))
    domains = {row["n_train"]: row["domains"] for row in rows}
    axes.set_xticks(
        range(len(places)),
        [f"{'all' if size is None else size}\n({domains.get(size, 0)})" for size in places],
    )
    axes.set_xlabel("training narratives (domains)")
    axes.set_ylabel("accuracy, %")
    axes.grid(axis="y")


def _time(axes: Any, rows: list[dict[str, Any]], pen: _Pen) -> None:
    for method in pen.order:
        found = sorted(
            (row for row in rows if row["method"] == method), key=lambda row: row["batch"] or 0
        )
        seconds = [max(SHORTEST, row["seconds"]) for row in found]
        accuracy = [100 * row["top1"] for row in found]
        error = [100 * row["stderr"] for row in found]
        axes.errorbar(
            seconds, accuracy, error, fmt="none", ecolor=pen.colour(method), elinewidth=0.6
        )
        axes.plot(seconds, accuracy, **pen.line(method))
        for row, x, y in zip(found, seconds, accuracy, strict=True):
            if row["batch"] is not None:
                axes.annotate(
                    str(row["batch"]),
                    (x, y),
                    xytext=(4, 3),
                    textcoords="offset points",
                    fontsize=7,
                    color=pen.colour(method),
                )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(lambda *_: "")
    axes.set_xlabel("seconds")
    axes.set_ylabel("accuracy, %")
    axes.grid()


def _domains(axes: Any, accuracy: dict[str, dict[str, float]], pen: _Pen) -> None:
    """Domains from the hardest to the easiest, a point for each method."""
    names = sorted(accuracy, key=lambda domain: float(np.mean([*accuracy[domain].values(), 0])))
    for method in pen.order:
        found = [
            (100 * accuracy[domain][method], place)
            for place, domain in enumerate(names)
            if method in accuracy[domain]
        ]
        line = {**pen.line(method), "linestyle": "none"}
        axes.plot([x for x, _ in found], [y for _, y in found], clip_on=False, **line)
    axes.set_yticks(range(len(names)), [_cut(name) for name in names])
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xlabel("accuracy, %")
    axes.grid()


def _reliability(axes: Any, rows: list[dict[str, Any]], pen: _Pen, method: str) -> None:
    axes.plot([0, 100], [0, 100], color=RULE, linewidth=1)
    x = [100 * row["confidence"] for row in rows]
    y = [100 * row["accuracy"] for row in rows]
    total = sum(row["narratives"] for row in rows)
    axes.plot(x, y, color=pen.colour(method), linewidth=1)
    axes.scatter(
        x,
        y,
        [6 + 110 * row["narratives"] / total for row in rows],
        color=pen.colour(method),
        edgecolor=PAPER,
        linewidth=0.5,
        zorder=3,
        clip_on=False,
    )
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 100)
    axes.set_xticks([0, 50, 100])
    axes.set_yticks([0, 50, 100])


# What both need


def _of(result: Result, what: str, corpus: str) -> list[dict[str, Any]]:
    """Rows about a corpus."""
    return [row for row in result.get(what, []) if row["corpus"] == corpus]


def _sorted(result: Result, what: str, corpus: str) -> list[dict[str, Any]]:
    """Rows about a corpus by method and batch size; otherwise as they came."""
    order = {method: place for place, method in enumerate(method_order(result, corpus))}
    return sorted(
        _of(result, what, corpus),
        key=lambda row: (order.get(row["method"], len(order)), row["batch"] or 0),
    )


def _domain_accuracy(result: Result, corpus: str) -> dict[str, dict[tuple[str, int | None], float]]:
    """Accuracy of each method at each batch size, by domain, mean over seeds."""
    found: dict[str, dict[tuple[str, int | None], list[float]]] = {}
    for cell in _of(result, "cells", corpus):
        key = (cell["method"], cell["batch"])
        found.setdefault(cell["domain"], {}).setdefault(key, []).append(cell["top1"])
    return {
        domain: {key: float(np.mean(values)) for key, values in by.items()}
        for domain, by in found.items()
    }


def _batch(row: dict[str, Any]) -> str:
    return "" if row["batch"] is None else str(row["batch"])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _cut(name: str) -> str:
    name = one_line(name)
    return name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1] + "…"


def _text(text: str) -> str:
    """A text as HTML."""
    return escape(one_line(text))
