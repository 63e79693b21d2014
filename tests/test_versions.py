"""Files of every version: each was written by the code of its time, and answers as it did then.

``tests/data/versions`` has one of each format and version that is read, with what the code that
wrote it said beside it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import elision as el
from commands import refused, run
from elision.files import library, script
from elision.files.envelope import NO_CHECKSUM
from elision.learn import checkpoint
from elision.learn.checkpoint import Checkpoint
from elision.scale import packed_corpus
from elision.text import extractor_file
from elision.values.observations import HeardSentence

VERSIONS = Path(__file__).parent / "data" / "versions"
TELLINGS = [list(one) for one in el.examples.doorbell_tellings()]
TOLD = ["hear doorbell", "open door", "close door"]

FILES = {
    "script": (script, "script-{}.json"),
    "library": (library, "library-{}/library.json"),
    "extractor": (extractor_file, "extractor-{}.json"),
    "progress": (checkpoint, "progress-{}.json"),
    "packed": (packed_corpus, "packed-{}/corpus.json"),
}


def answers(name):
    return json.loads((VERSIONS / f"{name}.answers.json").read_text(encoding="utf-8"))


def close(found):
    return [[event, pytest.approx(chance, rel=1e-9)] for event, chance in found]


def test_every_version_that_is_read_has_a_file():
    for module, name in FILES.values():
        for version in module.ENVELOPE.versions:
            content = json.loads((VERSIONS / name.format(version)).read_bytes())
            assert (content["format"], content["version"]) == (module.ENVELOPE.format, version)


def test_a_script():
    found, said = el.load(VERSIONS / "script-1.json"), answers("script-1")
    assert found.log_prob(TOLD) == pytest.approx(said["log_prob"], rel=1e-9)
    unsaid = {one.event for one in found.between(TOLD[:2]).unsaid[1]}
    assert {event for event, _ in said["unsaid"]} <= unsaid
    assert script.dumps(found) == (VERSIONS / "script-1.json").read_bytes()


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_script_with_outline_and_telling_model(version):
    found, said = el.load(VERSIONS / f"script-{version}.json"), answers(f"script-{version}")
    assert found.made_from is not None
    assert found.telling is not None
    assert (found.telling.kinds is not None) == (version == 3)
    fillings = found.fill(["hear doorbell", None, "open door"])[0].answers
    assert [[one.event, one.probability] for one in fillings] == close(said["fill"])
    following = found.next(["hear doorbell", "walk to door"])
    assert [[one.event, one.probability] for one in following.answers] == close(said["next"])
    assert found.log_prob(TOLD) == pytest.approx(said["log_prob"], rel=1e-9)
    assert found.outline().happened([0])[0] == 1.0
    assert (found.telling.near_words is not None) == (version == 4)
    if version == 4:
        words = ("hear", "doorbell"), None, ("open", "door")
        told = [one and HeardSentence({" ".join(one): 1.0}, one) for one in words]
        fillings = found.fill(told)[0].answers
        assert [[one.event, one.probability] for one in fillings] == close(said["sentences"])
        following = found.next([one for one in told if one])
        assert [[one.event, one.probability] for one in following.answers] == close(said["ahead"])


def test_a_library():
    found = el.Library.load(VERSIONS / "library-1")
    for told, best in answers("library-1").items():
        assert found.identify(told.split(", ")).best == best
    assert found["door"].events == el.examples.doorbell().events


def test_an_extractor():
    found, said = el.EventExtractor.load(VERSIONS / "extractor-1.json"), answers("extractor-1")
    told = el.Corpus(el.Narrative(None, tuple(one), "mailing a letter") for one in said["steps"])
    assert [list(one) for one in found.transform(told).events] == said["events"]


def test_progress_is_gone_on_from():
    learner = el.SEMHMM(score="approx", random_state=0)
    kept = Checkpoint(VERSIONS / "progress-2.json", learner, TELLINGS).load()
    assert kept is not None
    found, said = learner.resume(TELLINGS, kept).script_, answers("progress-2")
    assert found.size == said["states"]
    assert found.log_prob(TOLD) == pytest.approx(said["log_prob"], rel=1e-6)


def test_progress_without_a_version_is_refused():
    old = Checkpoint(VERSIONS / "progress-1.json", el.SEMHMM(), TELLINGS)
    with pytest.raises(el.FileFormatError, match=r"of version None, .* \(delete it to start anew"):
        old.load()


def test_a_packed_corpus():
    found, said = el.PackedCorpus.open(VERSIONS / "packed-1"), answers("packed-1")
    assert (found.narratives, found.distinct) == (said["narratives"], said["distinct"])
    assert list(found.events) == said["events"]
    assert sorted(found.sample(len(TELLINGS))) == sorted(map(tuple, TELLINGS))


@pytest.mark.parametrize("name", FILES)
def test_what_a_later_release_wrote_is_refused_in_one_line(name, tmp_path, monkeypatch, capsys):
    module, path = FILES[name]
    newest = max(module.ENVELOPE.versions)
    for kept in VERSIONS.glob(f"{name}-{newest}*"):
        copy = shutil.copytree if kept.is_dir() else shutil.copy
        copy(kept, tmp_path / kept.name.replace(f"{name}-{newest}", name))
    file = tmp_path / path.format("").replace("-", "")
    raw = {**json.loads(file.read_bytes()), "version": newest + 1, "checksum": NO_CHECKSUM}
    file.write_bytes(module.ENVELOPE.sealed(json.dumps(raw)))
    with pytest.raises(el.FileFormatError) as found:
        _open(name, tmp_path)
    assert f"of version {newest + 1}, this release reads version" in str(found.value)
    assert "\n" not in str(found.value)
    if name in ("script", "library", "packed"):
        command = {
            "script": ("next", file, "hear doorbell"),
            "library": ("identify", file.parent, "hear doorbell"),
            "packed": ("learn", file.parent, "-o", tmp_path / "a.json"),
        }[name]
        assert f"version {newest + 1}" in refused(run(monkeypatch, capsys, *command))


def _open(name, folder):
    learner = el.SEMHMM(score="approx", random_state=0)
    return {
        "script": lambda: el.load(folder / "script.json"),
        "library": lambda: el.Library.load(folder / "library"),
        "extractor": lambda: el.EventExtractor.load(folder / "extractor.json"),
        "progress": lambda: Checkpoint(folder / "progress.json", learner, TELLINGS).load(),
        "packed": lambda: el.PackedCorpus.open(folder / "packed"),
    }[name]()
