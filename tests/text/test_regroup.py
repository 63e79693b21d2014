"""Groups of wordings after what the tellings say, against plain loops."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from elision.text.regroup import NEAREST, TWICE, TWICE_IN_A_ROW, cut_repeated, regroup, repeating
from elision.text.wording import Wording, gather

NAMES = "abcdefgh"


def told_of(tellings):
    return gather([[Wording(n, "", "", (n,), n) for n in telling] for telling in tellings])


def naive_regroup(tellings, similarity, labels, unit, around, rounds=6):
    count = {w: sum(t.count(w) for t in tellings) for w in range(len(labels))}
    labels = list(labels)
    for _ in range(rounds):
        groups = sorted(set(labels))
        labels = [groups.index(one) for one in labels]
        near = {}
        for w in range(len(labels)):
            for g in range(len(groups)):
                alike = sorted(
                    (
                        similarity[w][v]
                        for v in range(len(labels))
                        if labels[v] == g and (v != w or count[w] > 1)
                    ),
                    reverse=True,
                )[:NEAREST]
                near[w, g] = math.fsum(alike) / len(alike) / unit if alike else -1e6 / unit
        edge = len(groups)
        follows = [[0.2] * (edge + 1) for _ in range(edge + 1)]
        for telling in tellings:
            path = [edge, *(labels[w] for w in telling), edge]
            for a, b in pairwise(path):
                follows[a][b] += 1
        rows = [sum(row) for row in follows]
        columns = [sum(column) for column in zip(*follows, strict=True)]
        whole = sum(rows)

        def order(a, b, follows=follows, rows=rows, columns=columns, whole=whole):
            return around * math.log(follows[a][b] / (rows[a] * columns[b] / whole))

        votes = [[0.0] * edge for _ in labels]
        for telling in tellings:
            chosen = [labels[w] for w in telling]
            for final in (False, True):
                for at, w in enumerate(telling):
                    before = chosen[at - 1] if at else edge
                    after = chosen[at + 1] if at + 1 < len(telling) else edge
                    value = []
                    for g in range(edge):
                        others = sum(c == g for i, c in enumerate(chosen) if i != at)
                        beside = (before == g) + (after == g)
                        value.append(
                            near[w, g]
                            + order(before, g)
                            + order(g, after)
                            - TWICE * others
                            + (TWICE - TWICE_IN_A_ROW) * beside
                        )
                    chosen[at] = max(range(edge), key=value.__getitem__)
                    if final:
                        votes[w] = [a + b for a, b in zip(votes[w], value, strict=True)]
        again = [max(range(edge), key=row.__getitem__) for row in votes]
        if again == labels:
            break
        labels = again
    return labels


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=5), min_size=1, max_size=6),
    st.integers(0, 1000),
)
def test_regroup_is_what_plain_loops_make_of_it(tellings, seed):
    rng = np.random.default_rng(seed)
    told = told_of([[NAMES[w] for w in telling] for telling in tellings])
    size = len(told.wordings)
    table = rng.random((size, size))
    table = (table + table.T) / 2
    labels = np.unique(rng.integers(0, 4, size), return_inverse=True)[1]
    place = [part.tolist() for part in np.split(told.place, np.cumsum(told.lengths)[:-1])]
    found = regroup(told, table, labels, unit=0.3, around=0.5)
    assert found.tolist() == naive_regroup(place, table.tolist(), labels.tolist(), 0.3, 0.5)


def test_a_group_without_spread_stays_as_it_is():
    told = told_of(["ab", "ab"])
    assert regroup(told, np.ones((2, 2)), np.array([0, 1]), unit=0.0, around=1.0).tolist() == [0, 1]


def test_a_group_that_is_told_twice_is_cut():
    told = told_of(["axb", "axb", "axc"])  # b and c are alike, and end what a begins
    table = np.eye(4)
    table[2, 3] = table[3, 2] = 0.9
    table[0, [2, 3]] = table[[2, 3], 0] = 0.5
    assert cut_repeated(told, table, np.array([0, 1, 0, 0])).tolist() == [0, 1, 2, 2]
    # Told in a row it is one event in two breaths.
    told = told_of(["abx", "abx", "acx"])
    assert cut_repeated(told, np.eye(4), np.array([0, 0, 1, 0])).tolist() == [0, 0, 1, 0]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=6), min_size=1, max_size=6),
    st.integers(0, 1000),
)
def test_cutting_only_divides_and_leaves_fewer_repetitions(tellings, seed):
    rng = np.random.default_rng(seed)
    told = told_of([[NAMES[w] for w in telling] for telling in tellings])
    size = len(told.wordings)
    labels = np.unique(rng.integers(0, 3, size), return_inverse=True)[1]
    found = cut_repeated(told, rng.random((size, size)), labels)
    parts = np.split(told.place, np.cumsum(told.lengths)[:-1])
    for group in np.unique(found):
        (whole,) = np.unique(labels[found == group])
        assert repeating(parts, found, group) <= repeating(parts, labels, whole)
