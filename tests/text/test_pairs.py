"""Sentences to keep apart and paraphrases to put together, of the project's own writing.

``pairs_developed.jsonl`` was looked at while the similarity was developed, ``pairs_after.jsonl``
was written when that had stopped.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elision.evaluate.pairs import judged, judged_alone, main
from elision.text.extract import EventExtractor
from elision.text.vectors import installed

DATA = Path(__file__).parents[1] / "data"
FILES = ("pairs_developed.jsonl", "pairs_after.jsonl")


def activities(name):
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


def test_there_are_enough_pairs_of_enough_activities():
    found = [one for name in FILES for one in activities(name)]
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
@pytest.mark.parametrize("judge", [judged, judged_alone])
def test_nine_of_ten_pairs_are_right(judge):
    extractor = EventExtractor(rare="keep")
    pairs = [
        pair
        for one in activities("pairs_after.jsonl")
        for pair in judge(one["activity"], one["tellings"], one["apart"], extractor)
    ]
    assert sum(pair.right for pair in pairs) >= 0.9 * len(pairs)


def test_the_command_says_what_is_wrong_with_a_file(tmp_path, capsys):
    file = tmp_path / "pairs.jsonl"
    file.write_text("{")
    assert main([str(file)]) == 2
    assert "pairs.jsonl: no activities" in capsys.readouterr().err
