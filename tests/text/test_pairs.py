"""Sentences to keep apart and paraphrases to put together, of the project's own writing.

``pairs_developed.jsonl`` was looked at while the similarity was developed, ``pairs_after.jsonl``
was written when that had stopped.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elision.text.vectors import installed
from sentences import pairs

DATA = Path(__file__).parents[1] / "data"
FILES = ("pairs_developed.jsonl", "pairs_after.jsonl")


def test_there_are_enough_pairs_of_enough_activities():
    found = [json.loads(line) for name in FILES for line in (DATA / name).read_text().splitlines()]
    assert len({one["activity"] for one in found}) == len(found) >= 15
    for one in found:
        first, second = one["tellings"]
        assert len(first) == len(second)
        assert all(i != j and max(i, j) < len(first) for i, j in one["apart"])
    same = sum(len(one["tellings"][0]) for one in found)
    apart = sum(2 * len(one["apart"]) for one in found)
    assert same + apart >= 200
    assert min(same, apart) >= 100


@pytest.mark.skipif(not installed(), reason="needs word vectors")
@pytest.mark.parametrize("alone", [False, True])
def test_nine_of_ten_pairs_are_right(alone):
    assert pairs(str(DATA / "pairs_after.jsonl"), alone=alone)["all"]["share"] >= 0.9
