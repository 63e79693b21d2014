"""Names as text in a picture: harmless, measured, broken into lines."""

from __future__ import annotations

import random
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision.show import words


def parsed(text):
    return ET.fromstring(text)  # noqa: S314 - we wrote it


@given(st.text(st.characters(codec="utf-8")))
def test_clean_names_are_harmless(name):
    text = words.cleaned(name)
    assert text
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text)
    parsed(f"<a>{text.replace('&', '').replace('<', '').replace('>', '')}</a>")
    assert words.cleaned(text) == text


@given(st.text(st.characters(codec="utf-8"), max_size=80), st.floats(40, 200), st.integers(1, 3))
def test_lines_fit(name, room, lines):
    text = words.cleaned(name)
    found = words.wrapped(text, room, 12.0, lines=lines)
    assert 1 <= len(found) <= lines
    assert all(words.width(line, 12.0) <= room for line in found)
    whole = "".join(found).replace(" ", "")
    if not whole.endswith(words.ELLIPSIS):
        assert whole == text.replace(" ", "")
    else:
        assert text.replace(" ", "").startswith(whole[:-1])


def test_a_share_is_not_broken_where_its_space_can_be():
    text = "W Valideren aanvraag\N{NO-BREAK SPACE}16%"
    assert words.wrapped(text, 90, 12.0, lines=4)[-2:] == ["aanvraag", "16%"]
    assert words.wrapped(text, 140, 12.0, lines=4)[-1] == "aanvraag\N{NO-BREAK SPACE}16%"


def test_widths_are_not_below_those_of_a_wide_font():
    pytest.importorskip("matplotlib")
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    letters = [chr(code) for code in range(32, 127)]
    rng = random.Random(0)
    samples = letters + ["".join(rng.choices(letters, k=12)) for _ in range(50)]
    for weight in ("normal", "bold"):
        wide = FontProperties(family="DejaVu Sans", weight=weight, size=100)
        for text in samples:
            actual = text_to_path.get_text_width_height_descent(text.replace("$", "0"), wide, False)
            assert words.width(text, 100, bold=weight == "bold") >= actual[0] * 0.97, text
