"""WordNet: against nltk on Debian's files, and the packed file against those files.

nltk (from PyPI) and Debian's ``wordnet-base`` are needed: without them these tests fail.
"""

from __future__ import annotations

import io
import lzma
import random
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from elision.errors import FileFormatError, InputError
from elision.text import wordnet as module
from elision.text.wordnet import WordNet

if TYPE_CHECKING:
    from collections.abc import Callable

DEBIAN = Path("/usr/share/wordnet")
REPOSITORY = Path(__file__).resolve().parents[2]

sys.path.insert(0, str(REPOSITORY / "tools"))
import build_wordnet  # noqa: E402

PAIRS = 1000
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    return WordNet.load()


@pytest.fixture(scope="module")
def folder() -> WordNet:
    return WordNet(build_wordnet.read_folder(DEBIAN))


@pytest.fixture(scope="module")
def nltk_wordnet() -> Any:
    """nltk's reader on Debian's folder.

    nltk reads only below its search path, wants a ``lexnames`` file that Debian leaves out (its
    names have no part in what is compared), and looks for a second WordNet to translate between
    versions.
    """
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class DebianReader(WordNetCorpusReader):  # type: ignore[misc]
        def open(self, file: str) -> Any:
            if file == "lexnames":
                return io.StringIO("".join(f"{i} file{i} 0\n" for i in range(45)))
            return super().open(file)

        def map_wn(self, *_: object) -> None:
            return None

    nltk.data.path.append(str(DEBIAN))
    try:
        with pytest.warns(UserWarning, match="multilingual"):
            yield DebianReader(str(DEBIAN), None)
    finally:
        nltk.data.path.remove(str(DEBIAN))


@pytest.fixture(scope="module")
def offsets() -> list[tuple[str, int]]:
    """Part of speech and file offset of each of our synsets, read without our reader."""
    return [
        (pos, int(line[:8]))
        for pos in ("n", "v")
        for line in (DEBIAN / f"data.{FILES[pos]}").read_text().splitlines()
        if not line.startswith(" ")
    ]


def synset_pairs(wordnet: WordNet, kind: str, seed: int) -> list[tuple[int, int]]:
    """Random pairs; half of them senses of related words, or nearly all would be far apart."""
    rng = random.Random(seed)
    nouns, total = wordnet.tables.n_nouns, len(wordnet.tables.hypernyms.starts) - 1
    ids = {"n": range(nouns), "v": range(nouns, total), "nv": range(total)}[kind]
    pairs = [(rng.choice(ids), rng.choice(ids)) for _ in range(PAIRS)]
    near = [(a, min(max(a + rng.randint(-30, 30), ids[0]), ids[-1])) for a, _ in pairs]
    return pairs + near


@pytest.mark.parametrize("kind", ["n", "v", "nv"])
def test_path_similarity_is_nltks(
    kind: str, wordnet: WordNet, nltk_wordnet: Any, offsets: list[tuple[str, int]]
) -> None:
    for a, b in synset_pairs(wordnet, kind, seed=1):
        theirs = [nltk_wordnet.synset_from_pos_and_offset(*offsets[s]) for s in (a, b)]
        expected = theirs[0].path_similarity(theirs[1])
        assert wordnet.path_similarity(a, b) == expected, theirs


def test_without_the_simulated_root_too(
    wordnet: WordNet, nltk_wordnet: Any, offsets: list[tuple[str, int]]
) -> None:
    seen = set()
    for a, b in synset_pairs(wordnet, "v", seed=2):
        theirs = [nltk_wordnet.synset_from_pos_and_offset(*offsets[s]) for s in (a, b)]
        expected = theirs[0].path_similarity(theirs[1], simulate_root=False)
        assert wordnet.path_similarity(a, b, simulate_root=False) == expected
        seen.add(expected is None)
    assert seen == {True, False}


@pytest.mark.parametrize("pos", ["n", "v"])
def test_senses_are_nltks_in_order(
    pos: Any, wordnet: WordNet, nltk_wordnet: Any, offsets: list[tuple[str, int]]
) -> None:
    words = random.Random(3).sample(wordnet.tables.words[pos], 3000)
    for word in words:
        expected = nltk_wordnet._lemma_pos_offset_map[word][pos]
        assert [offsets[s] for s in wordnet.synsets(word, pos)] == [(pos, o) for o in expected]


def test_frequencies_add_up_over_the_senses(wordnet: WordNet) -> None:
    lines = (DEBIAN / "cntlist.rev").read_text().splitlines()
    for word in ("walk", "water", "cake", "oven"):
        numbers: list[tuple[Any, int]] = [("n", 1), ("v", 2)]
        for pos, number in numbers:
            counted = [int(x.split()[2]) for x in lines if x.startswith(f"{word}%{number}:")]
            assert wordnet.frequency(word, pos) == sum(counted)


def inflected(word: str, pos: str, rng: random.Random) -> str:
    endings = {"n": "s es ies men ves", "v": "s es ed ing ies", "a": "er est", "r": "s"}[pos]
    return word[: len(word) - rng.randint(0, 2)] + rng.choice(["", *endings.split()])


@pytest.mark.parametrize("pos", ["n", "v", "a", "r"])
def test_lemmas_are_nltks_morphy(pos: Any, wordnet: WordNet, nltk_wordnet: Any) -> None:
    rng = random.Random(4)
    words = rng.sample(wordnet.tables.words[pos], 2000)
    forms = words + [inflected(w, pos, rng) for w in words] + [*wordnet.tables.exceptions[pos]]
    for form in forms:
        assert wordnet.lemma(form, pos) == nltk_wordnet.morphy(form, pos), form
        assert wordnet.lemmas(form, pos) == nltk_wordnet._morphy(form, pos), form


def test_a_lemma_needs_no_lower_case_and_no_underscore(wordnet: WordNet) -> None:
    assert wordnet.lemma("Washing Machines", "n") == "washing_machine"
    assert wordnet.lemma("", "n") is None


def test_the_packed_file_is_the_folder(wordnet: WordNet, folder: WordNet) -> None:
    ours, theirs = wordnet.tables, folder.tables
    assert ours.words == theirs.words
    assert ours.exceptions == theirs.exceptions
    assert ours.n_nouns == theirs.n_nouns
    for pos in ours.counts:
        np.testing.assert_array_equal(ours.counts[pos], theirs.counts[pos])
    for pos in ours.senses:
        np.testing.assert_array_equal(ours.senses[pos].starts, theirs.senses[pos].starts)
        np.testing.assert_array_equal(ours.senses[pos].items, theirs.senses[pos].items)
    np.testing.assert_array_equal(ours.hypernyms.starts, theirs.hypernyms.starts)
    np.testing.assert_array_equal(ours.hypernyms.items, theirs.hypernyms.items)


def test_the_build_script_writes_the_file_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["build_wordnet.py", "--out", str(tmp_path)])
    runpy.run_path(str(REPOSITORY / "tools" / "build_wordnet.py"), run_name="__main__")
    for name in ("wordnet.bin", "WORDNET-LICENSE"):
        built = (tmp_path / name).read_bytes()
        assert built == (REPOSITORY / "src" / "elision" / "data" / name).read_bytes()
    assert (tmp_path / "wordnet.bin").stat().st_size < 1_500_000


@pytest.mark.parametrize("pos", ["n", "v"])
@pytest.mark.parametrize("senses", [1, 3, None])
def test_the_matrix_is_the_pairs(pos: Any, senses: int | None, wordnet: WordNet) -> None:
    rng = random.Random(5)
    frequent = [w for w in wordnet.tables.words[pos] if len(wordnet.synsets(w, pos)) > 3]
    words = [*rng.sample(frequent, 60), "qwxz", "taking", "boxes"]
    others = [*rng.sample(frequent, 20), "boxes", "qwxz", "vwxz"]
    square = wordnet.similarities(words, pos=pos, senses=senses)
    oblong = wordnet.similarities(words, others, pos=pos, senses=senses)
    pairs = [[wordnet.similarity(a, b, pos, senses=senses) for b in words] for a in words]
    wide = [[wordnet.similarity(a, b, pos, senses=senses) for b in others] for a in words]
    np.testing.assert_array_equal(square, pairs)
    np.testing.assert_array_equal(oblong, wide)
    np.testing.assert_array_equal(np.diag(square), 1.0)


def test_similarity_is_the_greatest_over_the_first_senses(
    wordnet: WordNet, nltk_wordnet: Any
) -> None:
    rng = random.Random(6)
    words = [w for w in wordnet.tables.words["v"] if len(wordnet.synsets(w, "v")) > 3]
    for _ in range(100):
        a, b = rng.choice(words), rng.choice(words)
        senses = [nltk_wordnet._lemma_pos_offset_map[w]["v"][:3] for w in (a, b)]
        theirs = [[nltk_wordnet.synset_from_pos_and_offset("v", o) for o in s] for s in senses]
        expected = max(x.path_similarity(y) for x in theirs[0] for y in theirs[1])
        assert wordnet.similarity(a, b, "v") == expected


def test_all_senses_make_blobs_of_light_verbs(wordnet: WordNet) -> None:
    assert wordnet.similarity("get", "take", "v", senses=None) == 1
    assert wordnet.similarity("get", "take", "v", senses=3) == pytest.approx(1 / 3, rel=1e-12)


@pytest.mark.parametrize("words", [[], ["qwxz"], ["qwxz", "qwxz", "vwxz"]])
def test_matrix_of_nothing_known(words: list[str], wordnet: WordNet) -> None:
    matrix = wordnet.similarities(words, pos="n")
    assert matrix.shape == (len(words), len(words))
    assert matrix.tolist() == [[float(a == b) for b in words] for a in words]


def test_more_synsets_than_one_block(wordnet: WordNet, monkeypatch: pytest.MonkeyPatch) -> None:
    words = random.Random(7).sample(wordnet.tables.words["v"], 50)
    whole = wordnet.similarities(words, pos="v")
    monkeypatch.setattr("elision.text.wordnet._BLOCK", 7)
    np.testing.assert_array_equal(wordnet.similarities(words, pos="v"), whole)


@pytest.fixture
def small_folder(tmp_path: Path) -> Callable[[str, str], WordNet]:
    """Two verbs over an empty noun file; the arguments are their hypernym pointers."""

    def write(first: str, second: str) -> WordNet:
        (tmp_path / "data.noun").write_text("  1 licence\n")
        (tmp_path / "index.noun").write_text("  1 licence\n")
        (tmp_path / "data.verb").write_text(
            f"00000001 29 v 01 run 0 {first} 00 | a gloss\n"
            f"00000002 29 v 01 walk 0 {second} 00 | a gloss\n"
        )
        (tmp_path / "index.verb").write_text("run v 1 0 1 0 00000001\nwalk v 1 0 1 0 00000002\n")
        return WordNet(build_wordnet.read_folder(tmp_path))

    return write


def test_a_folder_without_the_optional_files(small_folder: Callable[[str, str], WordNet]) -> None:
    small = small_folder("000", "001 @ 00000001 v 0000")
    assert small.lemma("walked", "v") == "walk"
    assert small.lemma("better", "a") is None
    assert small.similarity("run", "walk", "v") == 0.5


def test_hypernyms_in_a_circle_end(small_folder: Callable[[str, str], WordNet]) -> None:
    small = small_folder("001 @ 00000002 v 0000", "001 @ 00000001 v 0000")
    assert small.similarity("run", "walk", "v") == 0.5
    assert small.similarities(["run", "walk"], pos="v").tolist() == [[1, 0.5], [0.5, 1]]


@pytest.mark.parametrize("damaged", [b"", b"text", lzma.compress(b"a\nb\nc")])
def test_a_damaged_packed_file(damaged: bytes) -> None:
    with pytest.raises(FileFormatError, match="here: not the packed WordNet"):
        module.unpack(damaged, where="here")


def test_a_part_of_speech_that_is_none(wordnet: WordNet) -> None:
    with pytest.raises(InputError, match="'x' where one of 'n', 'v', 'a', 'r'"):
        wordnet.lemma("word", "x")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="only nouns and verbs have senses"):
        wordnet.similarity("good", "better", "a")
    with pytest.raises(InputError, match="senses=0"):
        wordnet.similarity("box", "cup", "n", senses=0)
