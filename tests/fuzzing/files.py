"""File formats under bad input: scripts, libraries, extractors, progress."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

import elision as el
from elision.files.script import dumps, loads
from fuzzing.targets import (
    STORIES,
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
