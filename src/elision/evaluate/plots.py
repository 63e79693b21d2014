"""The plots of a benchmark's result: SVG elements drawn with matplotlib, in the page's colours."""

from __future__ import annotations

import io
import re
import warnings
from collections import defaultdict
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from elision.evaluate import methods
from elision.evaluate.markup import captioned, escaped, titled
from elision.evaluate.tables import batch_sizes, domain_accuracy, method_order, one_line, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from elision.evaluate.tables import Result, Row

SHORTEST = 1e-4
"""Seconds at the left end of the time axis, which is logarithmic."""

LONGEST_LABEL = 22
"""Letters of a domain's name in a plot; the table beside it has the whole name."""

MARKERS = "os^vDP<>Xphd"
COLOURS = 12

# matplotlib writes colours as numbers; these stand for the colours of the page, light or dark.
TEXT, RULE, PAPER = "#fe00fe", "#fe00fd", "#fe00fc"
SERIES = "#fe{:02x}01"


class Pen:
    """Draws SVG with matplotlib, in the colours of the page."""

    def __init__(self, matplotlib: Any, figure: Any) -> None:
        self._matplotlib = matplotlib
        self._figure = figure
        self._drawn = 0
        self.order: list[str] = []

    @classmethod
    def find(cls) -> Pen | None:
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
    label = f'role="img" aria-label="{escaped(title)}"' if title else 'aria-hidden="true"'
    return re.sub(
        r"<svg[^>]*?(viewBox=\"[^\"]*\")[^>]*>",
        lambda found: f'<svg {label} width="{width:.0f}" {found[1]}>',
        svg,
        count=1,
    )


def plots(result: Result, corpus: str, pen: Pen) -> list[str]:
    """The four plots; where methods depend on the batch size, at the one in the middle."""
    pen.order = method_order(result, corpus)
    batches = batch_sizes(result, corpus)
    middle = batches[len(batches) // 2] if batches else None
    at = "" if middle is None else f" (r = {middle})"
    key = "".join(
        f"<li>{pen.key(method)}<span>{escaped(method)}</span></li>" for method in pen.order
    )
    return [
        f'<ul class="key">{key}</ul>',
        '<div class="pair">',
        *_curve_figure(_at(rows_of(result, "curve", corpus), middle), at, pen),
        _time_figure(rows_of(result, "summary", corpus), pen),
        _domains_figure(domain_accuracy(result, corpus), middle, at, pen),
        *_reliability_figure(_at(rows_of(result, "reliability", corpus), middle), at, pen),
        "</div>",
    ]


def _at(rows: list[Row], batch: int | None) -> list[Row]:
    """Rows at a batch size, and those that do not depend on it."""
    return [row for row in rows if row["batch"] in (None, batch)]


def _curve_figure(rows: list[Row], at: str, pen: Pen) -> list[str]:
    if not rows:
        return []
    return [
        captioned(
            pen.draw("Learning curve", 4.0, 2.9, lambda axes: _curve(axes, rows, pen)),
            f"Learning curve{at}: first seed, domains that have so many narratives (their"
            " number is below).",
        )
    ]


def _time_figure(rows: list[Row], pen: Pen) -> str:
    return captioned(
        pen.draw("Accuracy against time", 4.0, 2.9, lambda axes: _time(axes, rows, pen)),
        "Accuracy against time: seconds to learn and answer one domain; the number is r,"
        " the bar the standard error.",
    )


def _domains_figure(
    measured: dict[str, dict[tuple[str, int | None], float]],
    middle: int | None,
    at: str,
    pen: Pen,
) -> str:
    accuracy = {
        domain: {key[0]: value for key, value in found.items() if key[1] in (None, middle)}
        for domain, found in measured.items()
    }
    return captioned(
        pen.draw(
            "Accuracy by domain",
            4.0,
            0.9 + 0.34 * len(accuracy),
            lambda axes: _domains(axes, accuracy, pen),
        ),
        f"Accuracy by domain{at}, mean over seeds.",
    )


def _reliability_figure(rows: list[Row], at: str, pen: Pen) -> list[str]:
    bins: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        bins[row["method"]].append(row)
    small = [
        titled(
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
    if not small:
        return []
    caption = (
        f"Reliability{at}: accuracy (upwards) by confidence, in percent; on the line a method is as"
        " often right as it says; larger points have more narratives."
    )
    return [captioned(f'<div class="small">{"".join(small)}</div>', caption)]


def _curve(axes: Any, rows: list[Row], pen: Pen) -> None:
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


def _time(axes: Any, rows: list[Row], pen: Pen) -> None:
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


def _domains(axes: Any, accuracy: dict[str, dict[str, float]], pen: Pen) -> None:
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


def _reliability(axes: Any, rows: list[Row], pen: Pen, method: str) -> None:
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


def _cut(name: str) -> str:
    name = one_line(name)
    return name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1] + "…"
