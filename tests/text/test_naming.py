"""Names of types: words that are true of their sentences, and tell them from others."""

from __future__ import annotations

from importlib.resources import files

import pytest

import elision as el
from elision.text import naming
from elision.text.naming import name_types
from elision.text.wording import read_wording
from elision.text.wordnet import WordNet


def told(*sentences):
    return [(read_wording(sentence), 1) for sentence in sentences]


BOARD = ["place clothes on ironing board", "placing clothing on the board", "put it on the board"]
SMOOTH = ["move iron over clothes", "move the hot iron over it", "moving irons slowly"]
ENTER = ["go into the bathroom", "go in the bathroom.", "enter bathroom", "go to the bathroom"]
PUTTING = ["put iron on clothes", "place iron on clothing", "put iron on it", "put on hanger"]


@pytest.mark.parametrize(
    ("types", "names"),
    [
        # verbs that say little get what follows them
        ([BOARD, SMOOTH, ENTER], ["place on board", "move iron", "go into bathroom"]),
        ([["use soap", "use some soap", "apply soap"], ["rinse"]], ["use soap", "rinse"]),
        ([["go"], ["go", "went"]], ["go 2", "go"]),  # nothing follows
        # a sentence at the edge of a type does not lend its words
        ([PUTTING], ["put iron"]),
        # what is drunk is no drinking
        ([["fill up the drink", "fill cup with drink", "drink"]], ["fill"]),
        # a verb of its own, with what it is usually done to
        ([["fill the sink with water", "fill sink", "fill it", "fill pot"]], ["fill sink"]),
        ([["fill the sink", "fill it", "fill cup", "fill bowl", "fill jug"]], ["fill"]),
        ([["wait for the bus", "wait for bus", "wait"]], ["wait"]),
        # "of" is said behind "out" alone
        ([["get out of the shower", "step out of it"], ["get out of car", "leave"], ["get tea"]],
         ["get out of shower", "get out of car", "get tea"]),
    ],
)  # fmt: skip
def test_names_are_true_and_tell_apart(types, names):
    assert name_types([told(*sentences) for sentences in types]) == names


def test_every_word_of_a_name_stands_in_one_sentence_of_its_type():
    corpus = el.read(str(files("elision") / "data" / "tellings.jsonl"))
    bare = el.Corpus(el.Narrative(steps=one.steps, domain=one.domain) for one in corpus)
    wordnet = WordNet.load()
    for types in el.EventExtractor("wordnet").fit(bare).domains_.values():
        assert len(set(types.names)) == len(types.names)
        for kind in types.types:
            words = {word for word in kind.name.split() if not word.isdigit()}
            assert any(words <= forms(one, wordnet) for one in kind.wordings), kind.name


def forms(wording, wordnet):
    found = {wording.verb, wording.particle, wording.object, *wording.words}
    for word in wording.text.lower().replace(".", " ").replace(",", " ").split():
        found |= {word, *wordnet.lemmas(word, "n"), *wordnet.lemmas(word, "v")}
    return found


@pytest.mark.parametrize(("tail", "true"), [("in rack", 2), ("in dish", 0), ("dish", 2)])
def test_a_noun_stands_behind_its_preposition(tail, true):
    index = naming._Index([told("place dish in rack", "place the dishes into the rack")])
    assert index.score(naming._Name("place", (tail,)), 0) == true
