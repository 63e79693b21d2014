"""Writes docs/results.md from the JSON of `elision bench` and from labelled corpora.

    python tools/results.py RESULTS.json ... --labelled FILE.jsonl ... > docs/results.md

Of several results for the same method on the same corpus, the last counts.

`--omissions FILE.json` adds what `python -m elision.evaluate.omissions --json` found.

`make results CORPORA="..." LABELLED="..."` runs the benchmark first.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import elision as el
from elision.evaluate import events, methods, omissions
from elision.evaluate.cloze import TASKS
from elision.evaluate.report import merged
from elision.evaluate.tables import markdown_tables
from elision.evaluate.together import markdown_together

SOURCES = {
    "descript": "crowd-written step lists, raw sentences (DeScript, Wanzare et al. 2016)",
    "descript_gold": "the same kind with gold event labels",
    "crosstask": "ordered steps seen in instructional videos (CrossTask, Zhukov et al. 2019)",
    "breakfast": "actions of people making breakfast (Breakfast Actions, Kuehne et al. 2014)",
    "virtualhome": "household activity programs (VirtualHome, Puig et al. 2018)",
    "tellings": "the package's own labelled tellings",
}
"""Where well-known corpora come from; they are not part of the package."""

PAPER_ORDER = ("SEMHMM", "BMMEM", "BMM", "Conditional", "Frequency")
LEFT_OUT = (
    *("BidirectionalBigram", "SkipNaiveBayes", "LogisticGap"),
    *("marginal", "consensus", "default"),
)


def accuracy(result: dict[str, Any], corpus: str, method: str, batch: int | None) -> float | None:
    """Mean top-1 accuracy of a method; learners without batches have one at any."""
    for row in result["summary"]:
        if (row["corpus"], row["method"]) == (corpus, method) and row["batch"] in (batch, None):
            return float(row["top1"])
    return None


def seconds(result: dict[str, Any], corpus: str, method: str) -> float | None:
    """Mean time to learn and answer, over the batch sizes."""
    rows = [
        row["seconds"]
        for row in result["summary"]
        if (row["corpus"], row["method"]) == (corpus, method)
    ]
    return float(sum(rows) / len(rows)) if rows else None


def says(result: dict[str, Any], corpus: str) -> list[str]:
    """What holds of the paper's claims on one corpus, in sentences."""
    batches = result["protocol"]["batches"]
    lines = []
    for batch in batches:
        found = {m: accuracy(result, corpus, m, batch) for m in PAPER_ORDER}
        known = {m: value for m, value in found.items() if value is not None}
        order = sorted(known, key=lambda method: -known[method])
        shown = " > ".join(f"{method} {known[method]:.1%}" for method in order)
        verdict = "the paper's order" if tuple(order) == PAPER_ORDER else "not the paper's order"
        lines.append(f"At r = {batch}: {shown}: {verdict}.")
    for method, claim in (("SEMHMM", "rises"), ("BMM", "falls")):
        values = [accuracy(result, corpus, method, batch) for batch in batches]
        shown = ", ".join("-" if value is None else f"{value:.1%}" for value in values)
        lines.append(f"{method} {claim} with r in the paper; here it goes {shown}.")
    lines += approx_against_exact(result, corpus)
    strong = {method: accuracy(result, corpus, method, None) for method in LEFT_OUT}
    shown = ", ".join(f"{method} {value:.1%}" for method, value in strong.items() if value)
    lines.append(f"What the paper left out, and what `elision learn` does: {shown}.")
    return lines


def approx_against_exact(result: dict[str, Any], corpus: str) -> list[str]:
    """Differences in accuracy and time of the two scores, if both were measured."""
    batches = result["protocol"]["batches"]
    exact, approx = (seconds(result, corpus, m) for m in ("SEMHMM", "SEMHMM-approx"))
    if exact is None or approx is None:
        return []
    near = []
    for batch in batches:
        one, two = (accuracy(result, corpus, m, batch) for m in ("SEMHMM-approx", "SEMHMM"))
        near.append("-" if one is None or two is None else f"{one - two:+.1%}")
    said = f"Approx against exact: {', '.join(near)} at r = {', '.join(map(str, batches))}, "
    return [f"{said}in {approx / exact:.0%} of the time (the paper: close, in half the time)."]


def print_commands(protocols: list[dict[str, Any]]) -> None:
    """Print which commands made the figures."""
    print("Nothing here is typed in. With the files at hand, these commands make it anew, and")
    print("`python tools/results.py RESULTS.json ...` the page from what `--json` writes:\n")
    for protocol in protocols:
        corpora = " ".join(name if "." in name else f"{name}.jsonl" for name in protocol["corpora"])
        used = f"--seeds {protocol['seeds']} --min-narratives {protocol['min_narratives']}"
        tasks = [task for task in protocol.get("tasks", []) if task != "one"]
        used += "".join(f" --task {task}" for task in tasks)
        used += "".join(f" --batch {batch}" for batch in protocol["batches"])
        chosen = protocol["methods"]
        if set(chosen) != set(methods.ALL):
            used += "".join(f" --methods {method}" for method in chosen)
        print(f"    elision bench {corpora} {used}")
    print()


def print_protocol(protocol: dict[str, Any]) -> None:
    """Print how the figures were made."""
    tasks = [task for task in protocol.get("tasks", []) if task != "one"]
    print("## Filling a gap\n")
    print(
        f"One event of each test narrative is removed, its place known; {protocol['seeds']} splits "
        "of 60 % training and 40 % test narratives a domain; the mean over domains with its "
        "standard error. Ties go against the removed event. Top-3, log-loss, calibration error and "
        "seconds are means over r. Raw sentences (descript) are turned into event types found in "
        "the training narratives alone; every test sentence is mapped by itself, before it is "
        "decided which one is removed. Default is what `elision learn` does, an ensemble; "
        "consensus is the one script that it gives to read, asked alone; both learn once, and each "
        "is charged for all of it.\n"
    )
    if tasks:
        print(f"Other tasks on the same splits: {'; '.join(TASKS[task] for task in tasks)}.\n")
    for corpus in protocol["corpora"]:
        print(f"- {corpus}: {SOURCES.get(Path(corpus).stem, 'a corpus of the reader')}")
    print()
    print("Costs of the structure (kappa_q, kappa_t, kappa_c), by cross-validation inside the")
    print("training narratives of each corpus:\n")
    for corpus, kinds in protocol["costs"].items():
        for kind, costs in kinds.items():
            values = f"{costs['state']}, {costs['edge']}, {costs['constraint']}"
            print(f"- {corpus}, {'with' if kind == 'elisions' else 'without'} elisions: {values}")
    print()


def print_labelled(paths: list[str]) -> None:
    """Print how well event types found in sentences agree with gold labels."""
    print("## From sentences to event types\n")
    print("B-cubed F1, V-measure and adjusted Rand index against gold labels, mean over the")
    print("domains, rare steps kept. Settings were chosen on the package's own tellings only.\n")
    for path in paths:
        print(f"### {Path(path).stem}\n")
        print(events.table(events.compare_methods(el.read(path))))
        print()


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--labelled", nargs="*", default=[])
    parser.add_argument("--omissions", type=Path)
    options = parser.parse_args()
    results = [json.loads(path.read_text()) for path in options.results]
    result = merged(results)
    print("# Results\n")
    print_commands([one["protocol"] for one in results])
    print_protocol(result["protocol"])
    print("## All corpora\n")
    print(markdown_together(result))
    print("## Corpus by corpus\n")
    print(markdown_tables(result))
    print("## What holds of the paper's claims here\n")
    for corpus in result["protocol"]["corpora"]:
        print(f"### {corpus}\n")
        for line in says(result, corpus):
            print(f"- {line}")
        print()
    if options.omissions:
        print("## Steps that were really left out\n")
        print(omissions.tables(json.loads(options.omissions.read_text())) + "\n")
    if options.labelled:
        print_labelled(options.labelled)


if __name__ == "__main__":
    main()
