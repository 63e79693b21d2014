"""From sentences to events: time of a corpus, growth with its size, and path similarity by nltk.

    python benchmarks/events.py [FILE] [--repeats 2] [--sentences 20000]

Prints one JSON object. FILE is a corpus with steps (the package's own tellings if none is given);
every domain of it is extracted once. Growth is measured on tellings put together from sentences of
FILE, 20,000 sentences in a process of its own, so that its memory can be told. Path similarity is
timed on the same pairs of words and in the same run as nltk's, which reads the files of Debian's
``wordnet-base`` (both are left out where they are not installed).
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import time
import warnings
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elision.evaluate.events import own_tellings
from elision.readers import read
from elision.text.extract import EventExtractor
from elision.text.parse import parse
from elision.text.vectors import installed
from elision.text.wordnet import WordNet
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative

if TYPE_CHECKING:
    from collections.abc import Callable

    from elision.text.wordnet import PartOfSpeech

DEBIAN = Path("/usr/share/wordnet")
SIZES = (250, 500, 1000, 2000, 4000, 8000, 16_000)
STEPS = 8  # sentences of a telling that is put together
WORDS = 40  # verbs, and nouns, whose similarities nltk is asked for


def seconds(job: Callable[[], object], repeats: int = 1) -> float:
    """The least time of some runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def extracted(corpus: Corpus) -> dict[str, Any]:
    """Every domain of a corpus, once."""
    extractor = EventExtractor(vectors=installed())
    elapsed = seconds(lambda: extractor.fit(corpus))
    mapped = seconds(lambda: extractor.transform(corpus))
    sentences = sum(map(len, corpus.steps))
    types = [len(domain.types) for domain in extractor.domains_.values()]
    return {
        "domains": len(types),
        "sentences": sentences,
        "vectors": installed(),
        "fit_seconds": round(elapsed, 2),
        "transform_seconds": round(mapped, 2),
        "mean_types": round(float(np.mean(types)), 1),
        "dropped_share": round(len(extractor.dropped_) / sentences, 3),
    }


def put_together(corpus: Corpus, sentences: int) -> Corpus:
    """Tellings of one domain, their steps drawn from a corpus; words are changed beyond its size.

    A sentence that is drawn again gets another noun at its end, so that it is worded anew.
    """
    rng = np.random.default_rng(0)
    pool = [step for steps in corpus.steps for step in steps]
    nouns = WordNet.load().tables.words["n"]
    drawn = [pool[at] for at in rng.permutation(len(pool))[:sentences]]
    while len(drawn) < sentences:
        drawn.append(f"{pool[rng.integers(len(pool))]} {nouns[rng.integers(len(nouns))]}")
    starts = range(0, sentences, STEPS)
    return Corpus(Narrative(steps=tuple(drawn[at : at + STEPS])) for at in starts)


def growth(corpus: Corpus, repeats: int) -> dict[str, Any]:
    """Processor time against the sentences of one domain, and the exponent for each method.

    Processor time, because a busy machine would bend the curve.
    """
    times: dict[str, dict[int, float]] = {}
    for size in SIZES:
        part = put_together(corpus, size)
        extractor = EventExtractor(vectors=installed())
        spent = []
        for _ in range(repeats):
            start = time.process_time()
            extractor.fit(part)
            spent.append(time.process_time() - start)
        method = next(iter(extractor.domains_.values())).method
        times.setdefault(method, {})[size] = min(spent)
    return {
        method: {
            "processor_seconds": {str(size): round(value, 2) for size, value in found.items()},
            "exponent": exponent(found),
        }
        for method, found in times.items()
    }


def exponent(times: dict[int, float]) -> float | None:
    """Fitted b of time ~ size ** b."""
    if len(times) < 2:
        return None
    slope, _ = np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)
    return round(float(slope), 2)


def resident_peak() -> int:
    """Peak memory of this process in MB; getrusage would count that of the parent before exec."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(peak) // 1024


def _large(corpus: Corpus, sentences: int, answers: Any) -> None:
    part = put_together(corpus, sentences)
    extractor = EventExtractor(vectors=installed())
    extractor.fit(corpus[:1])  # reads WordNet and the vectors
    before = resident_peak()
    elapsed = seconds(lambda: extractor.fit(part))
    answers.put(
        {
            "sentences": sentences,
            "seconds": round(elapsed, 1),
            "megabytes_before": before,
            "peak_megabytes": resident_peak(),
            "method": next(iter(extractor.domains_.values())).method,
        }
    )


def large(corpus: Corpus, sentences: int) -> dict[str, Any]:
    """One domain of many sentences, in a fresh process: time, peak memory, method."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_large, args=(corpus, sentences, answers))
    process.start()
    result: dict[str, Any] = answers.get()
    process.join()
    return result


def nltk_reader() -> Any:
    """Nltk's reader on Debian's folder, or None; see tests/text/test_wordnet.py for the details."""
    try:
        import nltk
        from nltk.corpus.reader.wordnet import WordNetCorpusReader
    except ImportError:
        return None
    if not DEBIAN.is_dir():
        return None

    class DebianReader(WordNetCorpusReader):  # type: ignore[misc]
        def open(self, file: str) -> Any:
            if file == "lexnames":
                return io.StringIO("".join(f"{i} file{i} 0\n" for i in range(45)))
            return super().open(file)

        def map_wn(self, *_: object) -> None:
            return None

    nltk.data.path.append(str(DEBIAN))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return DebianReader(str(DEBIAN), None)


def words_of(corpus: Corpus) -> dict[PartOfSpeech, list[str]]:
    """The first verbs and nouns of a corpus that WordNet knows."""
    found: dict[PartOfSpeech, dict[str, None]] = {"v": {}, "n": {}}
    wordnet = WordNet.load()
    for steps in corpus.steps:
        for clause in map(parse, steps):
            for pos, word in (("v", clause.verb), ("n", clause.object)):
                if wordnet.knows(word, pos):  # type: ignore[arg-type]
                    found[pos][word] = None  # type: ignore[index]
    return {pos: list(words)[:WORDS] for pos, words in found.items()}


def against_nltk(corpus: Corpus, repeats: int) -> dict[str, Any]:
    """Greatest similarity over the first three senses of each word, all pairs of some words."""
    reader = nltk_reader()
    if reader is None:
        return {"nltk": "not installed"}
    wordnet = WordNet.load()
    result: dict[str, Any] = {}
    for pos, words in words_of(corpus).items():
        senses = {word: reader.synsets(word, pos)[:3] for word in words}

        def theirs(senses: dict[str, Any] = senses) -> list[float]:
            return [
                max(a.path_similarity(b) or 0.0 for a, b in product(senses[one], senses[other]))
                for one in senses
                for other in senses
            ]

        def ours(words: list[str] = words, pos: PartOfSpeech = pos) -> Any:
            return wordnet.similarities(words, pos=pos, senses=3)

        if not np.allclose(ours().ravel(), theirs(), rtol=0, atol=1e-12):
            raise SystemExit(f"similarities of {pos} differ from nltk's")
        slow, fast = seconds(theirs), seconds(ours, max(repeats, 3))
        result["verbs" if pos == "v" else "nouns"] = {
            "pairs": len(words) ** 2,
            "nltk_pairs_per_second": round(len(words) ** 2 / slow),
            "pairs_per_second": round(len(words) ** 2 / fast),
            "times_faster": round(slow / fast, 1),
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--sentences", type=int, default=20_000)
    options = parser.parse_args()
    corpus = read(options.file) if options.file else own_tellings()
    extracted(corpus[:1])  # reads WordNet and the vectors
    result = {
        "extracted": extracted(corpus),
        "growth": growth(corpus, options.repeats),
        "large": large(corpus, options.sentences),
        "path_similarity": against_nltk(corpus, options.repeats),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
