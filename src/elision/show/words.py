"""Names as text in a picture: made harmless, measured, broken into lines."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 400
"""Characters of a text that are looked at to break it into lines."""

MOST_MARKS = 3
"""Combining marks in a row that are kept: more would grow out of the line."""

ELLIPSIS = "…"
BREAKS = " _-/.,:;"
TIED = "\N{NO-BREAK SPACE}"
JOINER = "\u200d"
_KEPT_FORMATS = {"\u200c", JOINER}
_NO_NAME = "\N{REPLACEMENT CHARACTER}"

# Upper bounds over common sans serif fonts at weight 400, in em: what stands in none is 0.7.
_WIDTHS = {
    letter: width
    for width, letters in (
        (0.34, " ',.Iijl"),
        (0.44, "!()-/:;[\\]frt|"),
        (0.6, '"*?J_`ckLsvxyz'),
        (0.67, "0123456789$EFTabdeghnopqu{}"),
        (0.79, "&ABCDGHKNOPQRSUVXYZ"),
        (0.88, "#+<=>^~Mw"),
        (1.03, "%@Wm"),
    )
    for letter in letters
}
_WIDE = 1.1
_EMOJI = 1.4
_BOLD = 1.14


def cleaned(name: str) -> str:
    r"""Return a name on one line, without what could steer or break a file or a page.

    Control characters go, and so do those that turn the direction of writing for what follows.

    Examples
    --------
    >>> cleaned("open\n\x00 the \u202edoor")
    'open the door'
    """
    kept: list[str] = []
    marks = 0
    for letter in name:
        category = unicodedata.category(letter)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if category in ("Cc", "Zl", "Zp", "Zs"):
            kept.append(" ")
        elif category in ("Cs", "Cn") or marks > MOST_MARKS:
            continue
        elif category != "Cf" or letter in _KEPT_FORMATS:
            kept.append(letter)
    text = " ".join("".join(kept).split())
    return text if text.strip("\u200c\u200d ") else _NO_NAME


def isolated(name: str, longest: int | None = None) -> str:
    """Return a clean name that cannot turn the direction of the sentence it stands in."""
    text = cleaned(name)
    if longest is not None and len(text) > longest:
        text = text[:longest] + ELLIPSIS
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"


def width(text: str, size: float, *, bold: bool = False) -> float:
    """How wide a text is at most in a common sans serif font, in the unit of ``size``.

    Examples
    --------
    >>> 50 < width("open door", 12) < 70
    True
    """
    total = sum(_letter_width(letter) for letter in text)
    return total * size * (_BOLD if bold else 1.0)


def _letter_width(letter: str) -> float:
    known = _WIDTHS.get(letter)
    if known is not None:
        return known
    if ord(letter) < 0x300:
        return _WIDE if letter in "ÆŒ©®¼½¾" else 0.8
    category = unicodedata.category(letter)
    if category in ("Mn", "Me", "Cf"):
        return 0.0
    if category == "So" or 0x1F000 <= ord(letter) < 0x20000:
        return _EMOJI
    wide = unicodedata.east_asian_width(letter) in ("W", "F")
    return _WIDE if wide or category in ("Mc", "Lo") or ord(letter) > 0xFFFF else 0.9


def clusters(text: str) -> list[str]:
    r"""Split a text where it may be cut: a mark or a joined sign stays with what it belongs to.

    Examples
    --------
    >>> [len(part) for part in clusters("ae\u0301")]
    [1, 2]
    """
    parts: list[str] = []
    for letter in text:
        bound = unicodedata.category(letter) in ("Mn", "Me", "Mc") or letter in _KEPT_FORMATS
        tone = 0x1F3FB <= ord(letter) <= 0x1F3FF
        if parts and (bound or tone or parts[-1].endswith(JOINER)):
            parts[-1] += letter
        else:
            parts.append(letter)
    return parts


def _after(characters: Sequence[str], breaks: str) -> list[int]:
    """The places after any of the breaks."""
    return [at for at, character in enumerate(characters, start=1) if character in breaks]


def wrapped(
    text: str, room: float, size: float, *, bold: bool = False, lines: int = 2
) -> list[str]:
    """Break a clean text into lines no wider than ``room``; what is left over becomes an ellipsis.

    Lines break after a space, an underscore and the like; where there is none, after a space that
    should hold two words together; inside a word only if it is too long.

    Examples
    --------
    >>> wrapped("look through peephole", 100, 12)
    ['look through', 'peephole']
    >>> wrapped("look through peephole", 100, 12, lines=1)
    ['look through…']
    """
    found: list[str] = []
    rest = clusters(text[:LONGEST])
    while rest:
        if len(found) == lines:
            return [*found[:-1], _shortened(found[-1], room, size, bold)]
        fitting = _fitting(rest, room, size, bold)
        if fitting < len(rest):
            breaks = _after(rest[:fitting], BREAKS) or _after(rest[:fitting], TIED)
            space_next = rest[fitting] == " "
            fitting = fitting if space_next or not breaks else breaks[-1]
        found.append("".join(rest[:fitting]).strip())
        rest = rest[fitting:]
        while rest and rest[0] == " ":
            rest = rest[1:]
    return found


def _fitting(parts: list[str], room: float, size: float, bold: bool) -> int:
    """How many parts fit, one at least."""
    used = 0.0
    for number, part in enumerate(parts):
        used += width(part, size, bold=bold)
        if used > room and number > 0:
            return number
    return len(parts)


def _shortened(line: str, room: float, size: float, bold: bool) -> str:
    parts = clusters(line)
    while len(parts) > 1 and width("".join(parts) + ELLIPSIS, size, bold=bold) > room:
        parts.pop()
    return "".join(parts).rstrip(BREAKS) + ELLIPSIS


def longest_word(text: str, size: float, *, bold: bool = False) -> float:
    """How wide the longest part of a text is that should not be broken."""
    spaced = "".join(f"{letter} " if letter in BREAKS else letter for letter in text)
    return max((width(word, size, bold=bold) for word in spaced.split()), default=0.0)


def percent(probability: float) -> str:
    """A probability as it stands in a picture.

    Examples
    --------
    >>> percent(0.236), percent(0.004), percent(0.998)
    ('24%', '<1%', '>99%')
    """
    if 0 < probability < 0.005:
        return "<1%"
    if 0.995 <= probability < 1 - 1e-9:
        return ">99%"
    return f"{probability:.0%}"
