"""File formats under bad input: scripts, libraries, extractors, progress, packed corpora."""

from __future__ import annotations

import hashlib
import math
import re
from functools import cache

import numpy as np

import elision as el
from elision.files.script import dumps, loads
from elision.learn.checkpoint import Checkpoint
from elision.learn.observe import BatchDone
from elision.pipeline.learning import Learned
from elision.scale.journal import NAME, Journal
from fuzzing.spoiling import spoiled
from fuzzing.targets import (
    STORIES,
    TARGETS,
    TOLD,
    Target,
    check_line,
    folder,
    resealed,
    target,
    written,
)

# ---- scripts


@cache
def _scripts():
    learned = el.examples.learned_doorbell()
    bare = el.Script.build(
        {"ring": {"ring": 0.7, "knock": 0.2, None: 0.1}, "open": "open"},
        {"start": {"ring": 1}, "ring": {"ring": 0.1, "open": 0.9}, "open": {"end": 1}},
    )
    return [dumps(bare), dumps(el.examples.doorbell()), dumps(learned)]


def asked(script):
    """Ask a script what scripts are asked; nothing may come of it that is no number."""
    assert np.isfinite(script.transition).all()
    assert np.isfinite(script.emission).all()
    assert loads(dumps(script)) == script
    told = list(script.events[:2])
    try:
        found = script.score(told, samples=0)
        assert not math.isnan(found.log_prob)
        script.next(told[:1])
        script.between(told)
        str(script.outline())
    except el.InputError as error:  # a telling that the script cannot tell
        check_line(error)
    return script


@target("script", "json", _scripts, resealed)
def _script(content):
    return asked(loads(content))


@target("folder", "json", _scripts, resealed)
def _take_folder(content):
    root = folder() / "scripts"
    root.mkdir(exist_ok=True)
    (root / "a.json").write_bytes(content)
    return el.Library.load(root).identify(["ring", "open"])


# ---- extractors


@cache
def _extractors():
    extractor = el.EventExtractor(vectors=False)
    extractor.fit_transform(el.read(STORIES * 3))
    extractor.save(folder() / "extractor.json")
    return [(folder() / "extractor.json").read_bytes()]


@target("extractor", "json", _extractors, resealed)
def _extractor(content):
    extractor = el.EventExtractor.load(written("extractor.json", content))
    domain = next(iter(extractor.domains_), "bell")
    told = el.read([{"steps": ["Hear the bell", "Sing"], "domain": domain}])
    found = extractor.transform_proba(told)
    extractor.transform(told)
    assert all(math.isfinite(p) for one in found for step in one for p in step.values())
    return extractor


# ---- progress


@cache
def _checkpoint():
    learner = el.SEMHMM(score="approx", batch_size=3)
    narratives = [tuple(one) for one in TOLD]
    checkpoint = Checkpoint(folder() / "progress", learner, narratives)

    def stop(event, model):
        checkpoint(event, model)
        if isinstance(event, BatchDone):
            raise KeyboardInterrupt

    try:
        el.SEMHMM(score="approx", batch_size=3, observer=stop).fit(narratives)
    except KeyboardInterrupt:
        return checkpoint.path.read_bytes(), learner, narratives
    raise AssertionError("it was not stopped")


@target("progress", "json", lambda: [_checkpoint()[0]], resealed)
def _progress(content):
    _, learner, narratives = _checkpoint()
    found = Checkpoint(written("progress", content), learner, narratives).load()
    assert found is not None
    return found


@cache
def _journal():
    root = folder() / "journal"
    root.mkdir()
    parts = {"bell": el.Corpus.of(TOLD, "bell"), "door": el.Corpus.of(TOLD[:2], "door")}
    paths = {name: root / f"{name}.json" for name in parts}
    journal = Journal(root, {"method": "default"})
    for name, path in paths.items():
        path.write_bytes(_scripts()[0])
        made = Learned(name, path, 6, 2, 3, (0.0, 0.1, 0.2), -1.5, 0, 0)
        journal.note([(name, parts[name], path.read_bytes(), made.summary())])
    return journal, parts, paths, (root / NAME).read_bytes()


@target("journal", "lines", lambda: [_journal()[-1]])
def _take_journal(content):
    journal, parts, paths, _ = _journal()
    journal.path.write_bytes(content)
    found = journal.complete(parts, paths)
    return [Learned.recorded(one, paths[name]) for name, one in found.items()]


# ---- packed corpora


@cache
def _packed():
    root = folder() / "packed"
    corpus = el.pack([TOLD], root).corpus
    return root, corpus.parts[0].path.name


def _joined():
    root, part = _packed()
    return [(root / "corpus.json").read_bytes() + b"\n@part@" + (root / part).read_bytes()]


def _repacked(content):
    """The checksum of the part into the header, and then that of the header."""
    header, _, part = content.partition(b"\n@part@")
    digest = hashlib.sha256(part).hexdigest().encode()
    return (
        resealed(re.sub(rb'("sha256": ")[0-9a-f]{64}', rb"\g<1>" + digest, header))
        + b"\n@part@"
        + part
    )


class _PackedTarget(Target):
    """The header is spoiled, or the bytes of the part."""

    def spoiled(self, rng):
        header, _, part = self.seeds()[0].partition(b"\n@part@")
        if rng.random() < 0.7:
            header = spoiled(rng, header, "json")
        if rng.random() < 0.5:
            place = rng.randrange(0, len(part), 4)
            number = rng.choice((0, 1, 2**16, 2**31, 2**32 - 1)).to_bytes(4, "little")
            part = part[:place] + number + part[place + 4 :]
        made = header + b"\n@part@" + part
        return self.whole(made) if rng.random() < 0.9 else made


def _take_packed(content):
    root, name = _packed()
    header, _, part = content.partition(b"\n@part@")
    (root / "corpus.json").write_bytes(header)
    (root / name).write_bytes(part)
    corpus = el.PackedCorpus.open(root)
    repr(corpus)
    drawn = corpus.sample(3)
    el.SEMHMM(score="approx").fit(corpus)
    return drawn


TARGETS["packed"] = _PackedTarget("packed", "bytes", cache(_joined), _take_packed, _repacked)
