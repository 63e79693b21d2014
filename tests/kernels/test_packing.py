"""Hashes of narratives and texts, and identical ones found, as plain Python does it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elision.kernels import packing

WORD = (1 << 64) - 1


def mixed(value):
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value ^= value >> 33
        value = value * factor & WORD
    return value ^ value >> 33


@given(st.integers(0, WORD))
def test_bits_are_spread(value):
    assert int(packing.mixed(np.uint64(value))) == mixed(value)


def rows_of(told):
    symbol = np.array([event for one in told for event in one], np.uint32)
    return symbol, np.cumsum([0, *map(len, told)])


narratives = st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=1, max_size=12)
digests = st.lists(st.integers(0, WORD), min_size=3, max_size=3)


@given(narratives, digests)
def test_hashes_of_narratives(told, digest):
    found = np.zeros(len(told), np.uint64)
    packing.narrative_hashes(*rows_of(told), np.array(digest, np.uint64), found)
    expected = []
    for one in told:
        value = 0x9E3779B97F4A7C15
        for event in one:
            value = mixed(value ^ digest[event])
        expected.append(value)
    assert found.tolist() == expected


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=5), st.integers(0, WORD))
def test_hashes_of_texts(texts, start):
    content = np.frombuffer(b"".join(texts), np.uint8)
    found = np.zeros(len(texts), np.uint64)
    packing.byte_hashes(content, np.cumsum([0, *map(len, texts)]), np.uint64(start), found)
    expected = []
    for text in texts:
        value = start ^ len(text)
        for place in range(0, len(text), 8):
            value = mixed(value ^ int.from_bytes(text[place : place + 8], "big"))
        expected.append(value)
    assert found.tolist() == expected


@given(narratives, st.data())
def test_those_of_one_hash_are_told_apart_and_sorted(told, data):
    """By hash, then by symbols, the shorter first where one begins like the other."""
    hash_of = {
        one: data.draw(st.integers(0, 2), label=str(one)) for one in sorted(set(map(tuple, told)))
    }
    weight = np.array(
        data.draw(st.lists(st.integers(1, 5), min_size=len(told), max_size=len(told)))
    )
    hashes = np.array([hash_of[tuple(one)] for one in told], np.uint64)
    kept, total = np.zeros((2, len(told)), np.int64)
    order = np.argsort(hashes, kind="stable")
    number = packing.find_distinct(order, hashes, *rows_of(told), weight, kept, total)
    found = [tuple(told[row]) for row in kept[:number]]
    assert found == sorted(hash_of, key=lambda one: (hash_of[one], one))
    assert total[:number].tolist() == [
        sum(int(w) for w, other in zip(weight, told, strict=True) if tuple(other) == one)
        for one in found
    ]


@given(narratives, st.data())
def test_rows_are_put_where_they_belong(told, data):
    which = np.array(data.draw(st.lists(st.integers(0, len(told) - 1), max_size=6)), np.int64)
    code = np.array([7, 5, 9], np.uint32)
    ends = np.cumsum([0, *(len(told[row]) for row in which)])
    into = np.zeros(ends[-1], np.uint32)
    packing.gather(*rows_of(told), which, code, into, ends)
    assert into.tolist() == [int(code[event]) for row in which for event in told[row]]
