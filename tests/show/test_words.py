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


DEJAVU = {
    False: (
        "318 401 460 838 636 950 780 275 390 390 500 838 318 361 318 337 636 636 636 636 636 "
        "636 636 636 636 636 337 337 838 838 838 531 1000 684 686 698 770 632 575 775 752 295 "
        "295 656 557 863 748 787 603 787 695 635 611 732 684 989 685 611 685 390 337 390 838 "
        "500 500 613 635 550 635 615 352 635 634 278 278 579 278 974 634 612 635 635 411 521 "
        "392 634 592 818 592 592 525 636 337 636 838 "
    ),
    True: (
        "348 456 521 838 696 1002 872 306 457 457 523 838 380 415 380 365 696 696 696 696 696 "
        "696 696 696 696 696 400 400 838 838 838 580 1000 774 762 734 830 683 683 821 837 372 "
        "372 775 637 995 837 850 733 850 770 720 682 812 774 1103 771 724 725 457 365 457 838 "
        "500 500 675 716 593 716 678 435 716 712 343 343 665 343 1042 712 687 716 716 493 595 "
        "478 712 652 924 645 652 582 712 365 712 838 "
    ),
}
"""Widths of the letters from " " to "~" in DejaVu Sans, plain and bold, in thousandths of an em."""


@pytest.mark.parametrize("bold", [False, True])
def test_widths_are_not_below_those_of_a_wide_font(bold):
    wide = {chr(32 + k): int(one) for k, one in enumerate(DEJAVU[bold].split())}
    rng = random.Random(0)
    for text in [*wide, *("".join(rng.choices([*wide], k=12)) for _ in range(50))]:
        actual = sum(wide[letter] for letter in text)
        assert words.width(text, 1000, bold=bold) >= actual * 0.97, text
