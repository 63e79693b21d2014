"""Similarity, linkage, cut, names and their scores, against slow twins and scipy."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from elision.text.cluster import average_linkage, cluster, different, told_together
from elision.text.lexicon import opposite_particles, opposite_verbs
from elision.text.naming import name_types
from elision.text.similarity import MIXED_WITHOUT_VECTORS, WORDNET, Weights, WordMeasure
from elision.text.wording import PLACES, Wording, content_words, gather, read_wording
from elision.text.wordnet import WordNet
from labelled import own_tellings
from sentences import b_cubed

TOLERANCE = 1e-9


def wordings(*sentences: str) -> list[Wording]:
    return [read_wording(sentence) for sentence in sentences]


def told(*tellings: list[str]):
    return gather([wordings(*steps) for steps in tellings])


def tables(size: int, rng: np.random.Generator) -> np.ndarray:
    table = rng.random((size, size))
    table = (table + table.T) / 2
    np.fill_diagonal(table, 1.0)
    return table


def groups(labels) -> set[frozenset[int]]:
    found = defaultdict(set)
    for place, label in enumerate(labels):
        found[label].add(place)
    return set(map(frozenset, found.values()))


def groups_after(count: int, merges) -> set[frozenset[int]]:
    member = {place: {place} for place in range(count)}
    for kept, gone, _ in merges:
        member[kept] |= member.pop(gone)
    return set(map(frozenset, member.values()))


# --- linkage -----------------------------------------------------------------------------------


@given(st.integers(2, 12), st.integers(0, 10**6))
def test_linkage_is_scipys_average_linkage_on_every_sentence(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = tables(size, rng)
    count = rng.integers(1, 4, size)
    merges = average_linkage(table, count.astype(float))
    owner = np.repeat(np.arange(size), count)
    distance = 1 - table[np.ix_(owner, owner)]
    tree = linkage(squareform(distance, checks=False), "average")
    for stop, merge in enumerate(merges):
        theirs = groups(fcluster(tree, 1 - merge.value - TOLERANCE, "distance"))
        ours = groups_after(size, merges[:stop])
        assert {frozenset(owner[list(group)].tolist()) for group in theirs} == ours


@given(st.integers(2, 8), st.integers(0, 10**6))
def test_linkage_with_tellings_is_its_definition(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, count = tables(size, rng), rng.integers(1, 4, size).astype(float)
    both = np.triu(rng.integers(0, 3, (size, size)), 1).astype(float)
    both += both.T
    options = {"tellings": 9, "together": 0.7, "apart": 0.3}
    member = {place: [place] for place in range(size)}

    def value(a: int, b: int) -> float:
        first, second = member[a], member[b]
        weights = np.outer(count[first], count[second])
        mean = (weights * table[np.ix_(first, second)]).sum() / weights.sum()
        smaller = min(count[first].sum(), count[second].sum())
        shared = min(both[np.ix_(first, second)].sum() / smaller, 1.0)
        return mean - 0.7 * shared + 0.3 * smaller / 9

    for kept, gone, found in average_linkage(table, count, both, **options):
        best = max(value(a, b) for a, b in combinations(sorted(member), 2))
        assert found == pytest.approx(best, abs=TOLERANCE)
        assert value(kept, gone) == pytest.approx(best, abs=TOLERANCE)
        member[kept] += member.pop(gone)


def test_linkage_of_one_or_none() -> None:
    assert average_linkage(np.ones((1, 1)), np.ones(1)) == []
    assert average_linkage(np.ones((0, 0)), np.ones(0)) == []


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=5), min_size=1, max_size=5))
def test_different_is_counted_over_pairs_of_sentences(tellings: list[list[str]]) -> None:
    one = gather([[Wording(w, "", "", (w,), w) for w in steps] for steps in tellings])
    size = len(one.wordings)
    table = tables(size, np.random.default_rng(size)) if size else np.zeros((0, 0))
    place = {wording.verb: number for number, wording in enumerate(one.wordings)}
    pairs = [
        table[place[a], place[b]] for steps in tellings for a, b in combinations(steps, 2)
    ] or [
        table[place[a], place[b]]
        for a, b in combinations([w for steps in tellings for w in steps], 2)
    ]
    found = different(table, told_together(one, np.arange(size)), one.count)
    expected = (np.mean(pairs), np.std(pairs)) if pairs else (0.0, 0.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)


# --- groups ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tea():
    corpus = own_tellings().domain("making tea")
    one = gather([wordings(*steps) for steps in corpus.steps])
    measure = WordMeasure.of(one.wordings, one.count, MIXED_WITHOUT_VECTORS)
    side = measure.prepare(one.wordings)
    table = measure.compare(side, side)
    gold = [event for steps in corpus.events for event in steps]
    return one, table, gold


def test_number_of_types_can_be_asked_for(tea) -> None:
    one, table, _ = tea
    for number in (1, 2, 7, 25):
        found = cluster(one, lambda r, c: table[np.ix_(r, c)], WORDNET, n_types=number)
        assert len(set(found.labels.tolist())) == number
        assert found.labels[0] == 0


def test_number_of_types_counts_those_told_often_enough(tea) -> None:
    one, table, _ = tea
    found = cluster(one, lambda r, c: table[np.ix_(r, c)], WORDNET, n_types=12, min_tellings=3)
    tellers = [
        len(np.unique(one.tellings[np.flatnonzero(found.labels == label)].indices))
        for label in range(found.labels.max() + 1)
    ]
    assert sum(number >= 3 for number in tellers) == 12


def test_two_stages_find_much_the_same(tea) -> None:
    one, table, gold = tea
    asked: list[int] = []

    def compare(rows, columns):
        asked.append(len(rows) * len(columns))
        return table[np.ix_(rows, columns)]

    whole = cluster(one, compare, MIXED_WITHOUT_VECTORS)
    asked.clear()
    parts = cluster(one, compare, MIXED_WITHOUT_VECTORS, largest=90)
    assert (whole.method, parts.method) == ("full matrix", "two stages")
    assert max(asked) <= 90 * 1000
    assert min(parts.labels) == 0
    scores = [b_cubed(gold, c.labels[one.place].tolist())[2] for c in (whole, parts)]
    assert scores[1] > 0.75 * scores[0]


def test_no_wordings_no_groups() -> None:
    found = cluster(told([]), lambda r, c: np.zeros((len(r), len(c))), WORDNET)
    assert (len(found.labels), found.cut) == (0, 0.0)


# --- wordings ----------------------------------------------------------------------------------


def test_wordings_are_told_apart_by_words_only() -> None:
    one = told(["Open the door.", "open a door!"], ["open doors", "close door"])
    assert one.place.tolist() == [0, 0, 0, 1]
    assert one.count.tolist() == [3, 1]
    assert one.tellings.toarray().tolist() == [[2, 1], [0, 1]]


@given(st.integers(1, 40))
def test_positions_are_rounded_to_tenths(length: int) -> None:
    one = gather([[Wording(str(at), "", "", (str(at),), "") for at in range(length)]])
    tenths = one.positions.argmax(axis=1)
    places = np.linspace(0, 1, length) if length > 1 else [0.5]
    assert np.abs(tenths / PLACES - places).max() <= 0.05 + TOLERANCE


@given(st.text())
def test_every_sentence_has_words(sentence: str) -> None:
    assert content_words(sentence)


# --- similarity --------------------------------------------------------------------------------


def test_the_papers_similarity_is_its_formula() -> None:
    said = wordings("open the door", "close the gate", "turn off the light", "wait")
    measure = WordMeasure.of(said, [1] * 4, WORDNET)
    found = measure.compare(measure.prepare(said), measure.prepare(said))
    wordnet = WordNet.load()
    for i, a in enumerate(said):
        for j, b in enumerate(said):
            objects = wordnet.similarity(a.object, b.object, "n") if a.object and b.object else 0
            expected = 0.6 * wordnet.similarity(a.verb, b.verb, "v") + 0.4 * objects
            assert found[i, j] == pytest.approx(1.0 if i == j else expected, abs=TOLERANCE)


def test_similarity_is_symmetric_and_the_same_in_any_company(tea) -> None:
    one, table, _ = tea
    np.testing.assert_array_equal(table, table.T)
    measure = WordMeasure.of(one.wordings, one.count, MIXED_WITHOUT_VECTORS)
    all_of_them = measure.prepare(one.wordings)
    for place in (0, 7, 100):
        alone = measure.compare(measure.prepare([one.wordings[place]]), all_of_them)
        np.testing.assert_array_equal(alone[0], table[place])


def test_opposites_are_less_alike() -> None:
    said = wordings("turn the water on", "turn the water off", "turn off water")
    weights = Weights(verb=0.5, object=0.5, opposite=0.3, phrasal=False)
    measure = WordMeasure.of(said, [1] * 3, weights)
    side = measure.prepare(said)
    found = measure.compare(side, side)
    assert found[0, 1] == pytest.approx(found[1, 2] - 0.3)
    assert opposite_verbs("unlock", "lock")
    assert opposite_particles("out", "in")
    assert not opposite_verbs("open", "open")


# --- names -------------------------------------------------------------------------------------


def named(*types: list[str]) -> list[str]:
    return name_types([[(w, 1) for w in wordings(*sentences)] for sentences in types])


def test_names_take_the_object_where_verbs_repeat() -> None:
    found = named(
        ["open the door", "open door slowly", "unlock door"],
        ["open the letter"],
        ["turn the light on", "switch on the light"],
        ["walk to the door"],
        ["walk into the kitchen"],
    )
    assert found == ["open door", "open letter", "turn on", "walk to door", "walk into kitchen"]


def test_names_are_unique_whatever_comes() -> None:
    found = named(["open door"], ["open door"], ["open the door"], ["🔔"], ["🔔"], ["kettle"])
    assert len(set(found)) == len(found)
    assert "" not in found


@given(st.lists(st.lists(st.text(max_size=12), min_size=1, max_size=3), max_size=6))
def test_any_text_gets_a_name_of_its_own(types: list[list[str]]) -> None:
    found = named(*types)
    assert len(set(found)) == len(types)
    assert all(found)


# --- scores ------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_b_cubed_is_its_definition(pairs: list[tuple[int, int]]) -> None:
    gold, found = zip(*pairs, strict=True)
    items = range(len(pairs))
    precision, recall = [], []
    for i in items:
        cluster_of = [j for j in items if found[j] == found[i]]
        class_of = [j for j in items if gold[j] == gold[i]]
        precision.append(np.mean([gold[j] == gold[i] for j in cluster_of]))
        recall.append(np.mean([found[j] == found[i] for j in class_of]))
    p, r = np.mean(precision), np.mean(recall)
    expected = (p, r, 2 * p * r / (p + r))
    np.testing.assert_allclose(b_cubed(gold, found), expected, rtol=0, atol=TOLERANCE)
