"""Writes docs/results.md from the JSON of `elision bench` and from labelled corpora.

    python tools/results.py RESULTS.json ... --labelled FILE.jsonl ... > docs/results.md

RESULTS.json is what `elision bench --output` writes. Of several results for the same method and
task on the same corpus, the last counts.

`--omissions FILE.json` adds what `python -m elision.evaluate.omissions --json` printed, and
`--ablation FILE.json` what `python -m elision.evaluate.ablation --json` did.

`make results CORPORA="..." LABELLED="..."` runs the benchmark first.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import elision as el
from elision.evaluate import ablation, events, methods, omissions
from elision.evaluate.cloze import TASKS
from elision.evaluate.report import merged
from elision.evaluate.tables import batch_sizes, markdown_tables
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
LEFT_OUT = ("BidirectionalBigram", "SkipNaiveBayes", "LogisticGap", *methods.OWN)


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
    """What holds of the paper's claims on one corpus, in sentences about what was measured."""
    batches = batch_sizes(result, corpus)
    lines = []
    either: list[int | None] = [*batches] or [None]
    for batch in either:
        found = {m: accuracy(result, corpus, m, batch) for m in PAPER_ORDER}
        known = {m: value for m, value in found.items() if value is not None}
        if len(known) > 1:
            order = sorted(known, key=lambda method: -known[method])
            shown = " > ".join(f"{method} {known[method]:.1%}" for method in order)
            verdict = "the paper's order" if order == list(known) else "not the paper's order"
            at = "any r" if batch is None else f"r = {batch}"
            lines.append(f"At {at}: {shown}: {verdict}.")
    for method, claim in (("SEMHMM", "rises"), ("BMM", "falls")):
        values = {batch: accuracy(result, corpus, method, batch) for batch in batches}
        some = {batch: value for batch, value in values.items() if value is not None}
        if len(some) > 1:
            shown = ", ".join(f"{value:.1%} at {batch}" for batch, value in some.items())
            lines.append(f"{method} {claim} with r in the paper; here it goes {shown}.")
    lines += approx_against_exact(result, corpus)
    strong = {method: accuracy(result, corpus, method, None) for method in LEFT_OUT}
    shown = ", ".join(f"{m} {value:.1%}" for m, value in strong.items() if value is not None)
    if shown:
        lines.append(f"What the paper left out, and what `elision learn` does: {shown}.")
    return lines


def approx_against_exact(result: dict[str, Any], corpus: str) -> list[str]:
    """Differences in accuracy and time of the two scores, if both were measured."""
    near = {}
    for batch in batch_sizes(result, corpus):
        one, two = (accuracy(result, corpus, m, batch) for m in ("SEMHMM-approx", "SEMHMM"))
        if one is not None and two is not None:
            near[batch] = f"{one - two:+.1%}"
    exact, approx = (seconds(result, corpus, m) for m in ("SEMHMM", "SEMHMM-approx"))
    if not near or exact is None or approx is None:
        return []
    at = ", ".join(map(str, near))
    said = f"Approx against exact: {', '.join(near.values())} at r = {at}, "
    return [f"{said}in {approx / exact:.0%} of the time (the paper: close, in half the time)."]


def print_commands(protocols: list[dict[str, Any]]) -> None:
    """Print which commands made the figures."""
    print("Nothing here is typed in. With the files at hand, these commands make it anew, and")
    print("`python tools/results.py RESULTS.json ...` the page from what `--output` writes:\n")
    for protocol in protocols:
        corpora = " ".join(name if "." in name else f"{name}.jsonl" for name in protocol["corpora"])
        used = f"--seeds {protocol['seeds']} --min-narratives {protocol['min_narratives']}"
        tasks = [task for task in protocol.get("tasks", []) if task != "one"]
        used += "".join(f" --task {task}" for task in tasks)
        used += "".join(f" --batch {batch}" for batch in protocol["batches"])
        chosen = protocol["methods"]
        if set(chosen) != set(methods.check_methods((), protocol.get("tasks", ["one"]))):
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
        "decided which one is removed. Default is what `elision learn` does: the telling model "
        "answers, which is learned of the training sentences with the types that they were grouped "
        "with, and as they are heard, each mapped by the others; the other methods learn of the "
        "former, and are asked about the likeliest type of each sentence. Default is asked about "
        "the sentences with the weights of all types that each may tell, and their words have a "
        "say.\n"
    )
    print(
        "The features and constants of the telling model (default) were chosen by figures of this "
        "kind on these very corpora, the same for all domains: its figures are to that extent "
        "optimistic. The other methods were not tuned here.\n"
    )
    if tasks:
        print(f"Other tasks on the same splits: {'; '.join(TASKS[task] for task in tasks)}.\n")
    for corpus in protocol["corpora"]:
        print(f"- {corpus}: {SOURCES.get(Path(corpus).stem, 'a corpus of the reader')}")
    print()
    if not protocol["costs"]:
        return
    print("Costs of the structure (kappa_q, kappa_t, kappa_c), by cross-validation inside the")
    print("training narratives of each corpus:\n")
    for corpus, kinds in protocol["costs"].items():
        for kind, costs in kinds.items():
            values = f"{costs['state']}, {costs['edge']}, {costs['constraint']}"
            print(f"- {corpus}, {'with' if kind == 'elisions' else 'without'} elisions: {values}")
    print()


def print_ablation(found: dict[str, Any]) -> None:
    """Print what each part of the telling model is worth."""
    print("## What each part of the telling model is worth\n")
    print(
        "`python -m elision.evaluate.ablation FILE... --json`: the same splits, the telling model"
    )
    print("learned without one part after the other; *with the script*: gaps pooled with the")
    print(
        "script's own answers, 0.8 to 0.2 in logarithms; *the script alone* answers everything.\n"
    )
    corpora = ", ".join(Path(name).stem for name in found["corpora"])
    print(f"Mean over {corpora}.\n")
    print(ablation.table(found["mean of corpora"]) + "\n")


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
    parser.add_argument(
        "--ablation", type=Path, help="what `elision.evaluate.ablation --json` wrote"
    )
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
        said = says(result, corpus)
        if said:
            print(f"### {corpus}\n")
            print("\n".join(f"- {line}" for line in said) + "\n")
    if options.ablation:
        print_ablation(json.loads(options.ablation.read_text()))
    if options.omissions:
        print("## Steps that were really left out\n")
        print(omissions.tables(json.loads(options.omissions.read_text())) + "\n")
    if options.labelled:
        print_labelled(options.labelled)


if __name__ == "__main__":
    main()
