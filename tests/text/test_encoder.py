"""An encoder of sentences has a say when types are found, and none afterwards."""

import json
import math
import sys
from types import ModuleType

import numpy as np
import pytest

import elision as el
from elision.errors import ElisionError, InputError
from labelled import own_tellings
from sentences import b_cubed


class Meanings:
    """Knows which sentences tell the same, whatever their words are."""

    def __init__(self, alike):
        self.alike = alike
        self.asked = []

    def encode(self, sentences, /):
        self.asked += sentences
        groups = sorted(set(self.alike.values()))
        return np.eye(len(groups))[[groups.index(self.alike[one]) for one in sentences]]


ALIKE = {"hop off": 0, "get out of the bus": 0, "pay the driver": 1, "hand over coins": 1}
TELLINGS = [["pay the driver", "hop off"], ["hand over coins", "get out of the bus"]] * 2


def test_an_encoder_that_knows_better_is_listened_to():
    """One that sees the labels brings types nearer to them than words do."""
    told = own_tellings().domain("making tea")
    gold = [event for events in told.events for event in events]
    alike = dict(zip((one for steps in told.steps for one in steps), gold, strict=True))

    def agreement(encoder):
        found = el.EventExtractor(vectors=False, rare="keep", encoder=encoder).fit(told)
        return b_cubed(gold, [one for row in found.labels_ for one in row])[2]

    assert agreement(Meanings(alike)) > agreement(None) + 0.1


def test_it_is_not_needed_afterwards(tmp_path):
    """New sentences are mapped by words, also from a file."""
    encoder = Meanings(ALIKE)
    found = el.EventExtractor(vectors=False, rare="keep", encoder=encoder).fit(TELLINGS)
    before = list(encoder.asked)
    asked = [["get out of a bus", "pay a driver"]]
    answer = found.predict(asked)
    assert encoder.asked == before
    found.save(tmp_path / "types.json")
    again = el.EventExtractor.load(tmp_path / "types.json")
    assert again.encoder is None
    assert again.predict(asked) == answer == [[found.labels_[0][1], found.labels_[0][0]]]


@pytest.mark.parametrize("rows", [[[1.0]], [1.0] * 4, [[math.nan]] * 4, [[]]])
def test_vectors_of_no_use(rows):
    class Broken:
        def encode(self, sentences, /):
            return rows

    with pytest.raises(InputError, match="expected one finite vector each"):
        el.EventExtractor(vectors=False, encoder=Broken()).fit(TELLINGS)


def test_sentences_without_direction():
    """All alike: there is nothing to tell them apart by but their words."""

    class Same:
        def encode(self, sentences, /):
            return np.ones((len(sentences), 3))

    found = el.EventExtractor(vectors=False, rare="keep", encoder=Same()).fit(TELLINGS)
    words = el.EventExtractor(vectors=False, rare="keep").fit(TELLINGS)
    assert found.labels_ == words.labels_


def test_what_is_no_encoder():
    with pytest.raises(ElisionError, match="expected a model or an object with encode"):
        el.EventExtractor(encoder=12).fit(TELLINGS)


@pytest.fixture
def library(monkeypatch):
    """One of the libraries that load models, or none."""

    def install(name, **members):
        for one in ("sentence_transformers", "model2vec"):
            monkeypatch.setitem(sys.modules, one, None)  # as if it were not installed
        if name is not None:
            module = ModuleType(name)
            vars(module).update(members)
            monkeypatch.setitem(sys.modules, name, module)

    return install


def test_a_model_is_loaded_by_its_name(library, elision):
    """And not from the network."""
    asked = []

    def load(model, **options):
        asked.append((model, options))
        return Meanings(ALIKE)

    library("sentence_transformers", SentenceTransformer=load)
    rows = (json.dumps({"domain": "bus", "steps": steps}) + "\n" for steps in TELLINGS)
    write = "".join(rows).encode()
    status, _, err = elision("events", "-", "--encoder", "small", "--keep-rare", stdin=write)
    assert (status, err) == (0, "")
    assert asked == [("small", {"local_files_only": True})]


def test_a_folder_of_model2vec_is_loaded(library, tmp_path):
    class StaticModel:
        from_pretrained = staticmethod(lambda model: Meanings(ALIKE))

    library("model2vec", StaticModel=StaticModel)
    found = el.EventExtractor(vectors=False, rare="keep", encoder=tmp_path).fit(TELLINGS)
    assert found.labels_[0] == found.labels_[1]
    with pytest.raises(InputError, match="encoder 'small': it cannot be loaded: there is no such"):
        el.EventExtractor(encoder="small").fit(TELLINGS)


def test_a_model_that_cannot_be_loaded_is_said_in_one_line(library):
    def load(model, **options):
        raise OSError(f"{model} is no model\nand more")

    library("sentence_transformers", SentenceTransformer=load)
    with pytest.raises(InputError, match=r"it cannot be loaded: x is no model \(pip") as caught:
        el.EventExtractor(encoder="x").fit(TELLINGS)
    assert "\n" not in str(caught.value)
    library(None)
    with pytest.raises(InputError, match="neither sentence-transformers nor model2vec is instal"):
        el.EventExtractor(encoder="x").fit(TELLINGS)
