"""Script files that are damaged, in another encoding, edited or too large."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
from elision.files import script as scriptfile
from elision.files.script import dumps, loads
from models import EXAMPLES
from script_files import (
    assert_identical,
    document,
    refused,
    refused_file,
    sealed,
    small,
    survives,
    written,
)

# Damage


def test_every_truncation_is_noticed(tmp_path):
    content = dumps(small())
    for length in range(len(content)):
        refused(content[:length])
        if length < len(content) - 1:  # the last byte is a line feed
            refused(content[:length], checksum=False)
    path = tmp_path / "a.json"
    path.write_bytes(content[:-100])
    refused_file(path, "no script file")


def test_every_flipped_bit_is_noticed():
    content = bytearray(dumps(small()))
    for place in range(len(content)):
        for bit in range(8):
            content[place] ^= 1 << bit
            refused(bytes(content))
            content[place] ^= 1 << bit


def test_no_flipped_bit_does_harm_without_the_checksum():
    content = bytearray(dumps(small()))
    survived = 0
    for place in range(len(content)):
        for bit in range(8):
            content[place] ^= 1 << bit
            survived += survives(bytes(content), checksum=False)
            content[place] ^= 1 << bit
    assert 0 < survived < 4 * len(content)


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_random_damage_does_no_harm(data):
    content = bytearray(dumps(small()))
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.integers(0, 4))
        content[place : place + length] = data.draw(st.binary(max_size=4))
    if bytes(content) != dumps(small()):
        refused(bytes(content))
    survives(bytes(content), checksum=False)


@settings(max_examples=EXAMPLES)
@given(st.binary(max_size=200))
def test_random_bytes_are_no_script(content):
    refused(content)
    refused(content, checksum=False)


@pytest.mark.parametrize("content", [b"", b" ", b"\n", b"\0", b"\0" * 10_000, b"\xff\xfe", b"{}"])
def test_empty_files_are_no_scripts(content, tmp_path):
    path = tmp_path / "empty.json"
    path.write_bytes(content)
    refused_file(path, "no script file")
    refused_file(path, "no script file", checksum=False)


@pytest.mark.parametrize("content", ["null", "true", "3", '"text"', "[]", "[{}]", "1e999", "NaN"])
def test_other_json_is_no_script(content):
    refused(content.encode(), "no script file")


# Encodings


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_other_encodings_are_refused(encoding, tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(dumps(small()).decode().encode(encoding))
    refused_file(path, "no script file")
    refused_file(path, "no script file", checksum=False)


def test_bytes_that_are_not_utf8_are_refused():
    content = dumps(small())
    refused(content.decode().replace("😀", "").encode("latin-1"), "no script file: 'utf-8' codec")
    lone = content.replace("😀".encode(), b"\xed\xa0\x80")
    refused(lone, "no script file: 'utf-8' codec", checksum=False)


# The checksum


@pytest.mark.parametrize(
    "value",
    [
        "",
        "sha256:",
        "sha256:" + "0" * 64,
        "sha256:" + "g" * 64,
        "sha256:" + "0" * 63,
        "md5:" + "0" * 32,
        "0" * 64,
        "\ud800",
    ],
)
def test_a_wrong_checksum_is_refused_unless_asked_for(value):
    content = json.dumps(document() | {"checksum": value}).encode()
    refused(content, r"the checksum does not fit \(load\(..., checksum=False\) reads a file")
    assert_identical(loads(content, checksum=False), small())


def test_the_checksum_in_capitals_is_refused():
    digits = document()["checksum"].removeprefix("sha256:")
    refused(dumps(small()).replace(digits.encode(), digits.upper().encode()), "does not fit")


@pytest.mark.parametrize("value", [None, 1, ["sha256"], {}])
def test_a_checksum_of_another_type_is_refused_always(value):
    content = json.dumps(document() | {"checksum": value}).encode()
    refused(content, "the checksum does not fit")
    refused(content, "Expected `str`", checksum=False)


def test_a_file_without_checksum_is_refused_always():
    raw = document()
    del raw["checksum"]
    refused(json.dumps(raw).encode(), "the checksum does not fit")
    refused(json.dumps(raw).encode(), "missing required field `checksum`", checksum=False)


def test_a_checksum_among_the_notes_is_not_taken_for_the_one_of_the_file():
    raw = document()
    del raw["checksum"]
    note = {"checksum": "sha256:" + "0" * 64}
    text = json.dumps({"about": note, **(raw | {"about": note}), "checksum": "mine"})
    refused(sealed(text), "the checksum does not fit")


def test_an_edited_file_is_read_on_demand(tmp_path):
    path = tmp_path / "edited.json"
    path.write_bytes(dumps(small()).replace(b'"ring"', b'"knock"'))
    refused_file(path, "the checksum does not fit")
    assert el.load(path, checksum=False).events == ("knock", "öffnen 😀")


# Files that are too large


def test_a_file_of_100_megabytes_is_refused_unread(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.write(dumps(small()))
        file.truncate(100 << 20)
    tracemalloc.start()
    try:
        refused_file(path, "too large, expected a script file of at most 67108864 bytes")
        refused_file(path, "too large", checksum=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_a_device_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(scriptfile, "ENVELOPE", replace(scriptfile.ENVELOPE, largest=1 << 20))
    refused_file(Path("/dev/zero"), "too large")


def test_a_file_of_exactly_the_largest_size_is_read(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    content = dumps(small())
    path.write_bytes(content)
    monkeypatch.setattr(scriptfile, "ENVELOPE", replace(scriptfile.ENVELOPE, largest=len(content)))
    assert el.load(path) == small()
    assert dumps(small()) == content
    monkeypatch.setattr(
        scriptfile, "ENVELOPE", replace(scriptfile.ENVELOPE, largest=len(content) - 1)
    )
    refused_file(path, "too large")
    with pytest.raises(el.ScriptError, match="bytes as a file, expected at most"):
        small().save(path)
    assert path.read_bytes() == content


def test_a_small_file_cannot_ask_for_much_memory():
    raw = document()
    raw["states"] = [{"name": str(k), "elision": 1, "tells": []} for k in range(20_000)]
    refused(written(raw), "20002 states and 2 events need .* cells, expected at most 67108864")
    raw = document()
    raw["events"] = [str(number) for number in range(40_000)]
    raw["states"] = raw["states"] * 1000
    refused(written(raw), "2002 states and 40000 events need .* cells, expected at most")


def test_what_could_not_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(scriptfile, "MOST_CELLS", 4 * (4 + 2))
    assert loads(dumps(small())) == small()
    monkeypatch.setattr(scriptfile, "MOST_CELLS", 4 * (4 + 2) - 1)
    with pytest.raises(el.ScriptError, match="4 states and 2 events need 24 cells"):
        small().save(tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []
