"""How good inputs are spoiled: bytes, texts, tables, and structures of JSON and XML.

Everything is drawn from a `random.Random`, which may be one of Hypothesis.
"""

from __future__ import annotations

import base64
import binascii
import csv
import io
import json
import struct
import zlib
from xml.etree import ElementTree as ET

TEXTS = (
    *("", " ", "\t", "\n", "\r", "\0", "\x1b[31m", "\x85", "\u2028", "\u202e", "\ufeff", "\ufffd"),
    *("\udc80", "\ud800", "😀", "e\u0301", "ǆ", "İ", "ß", "水" * 50, "a" * 5000, "?", "...", "|"),
    *(
        "nan",
        "inf",
        "-inf",
        "1e999",
        "-1",
        "0",
        "1_000",
        "１２",
        "9" * 5000,
        "true",
        "null",
        "None",
    ),
    *("../../x", "/dev/zero", "C:\\x", "a.json", "[red]x[/red]", "%s%n{0}", "<b>&amp;", "'\"`;--"),
    *(
        "2020-01-01",
        "2020-13-45",
        "0000-00-00",
        "9999-12-31T23:59:60+99:99",
        "1e18",
        "-99999999999",
    ),
    *("start", "end", "case", "activity", "time", "events", "steps", "domain", "id"),
)
NUMBERS = (0, -0.0, 1, -1, 0.5, 2, 3, 5e-324, 1e-320, 1 - 2**-53, 1 + 2**-52, 1e16, 1e308, -1e308)
WHOLES = (2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30)
RAW = (
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "-1e999",
    "9" * 400,
    "9" * 5000,
    "1e-999",
    "00",
    "1.",
)
TOKENS = {
    "json": ("{", "}", "[", "]", ",", ":", '"', "\\u", "\\ud800", "null", "true", *RAW),
    "table": (",", ";", "\t", "|", '"', '""', "\n", "\r", "\r\n", "\0", '"a\nb"', ",,,", "\ufeff"),
    "xml": (
        *(
            "<",
            ">",
            "/>",
            "</",
            "&",
            "&lt;",
            "&#0;",
            "&#x110000;",
            "<![CDATA[",
            "]]>",
            "<!--",
            "-->",
        ),
        *(
            '<!DOCTYPE a [<!ENTITY b "c">]>',
            "&b;",
            "<?xml version='1.0' encoding='utf-7'?>",
            'key=""',
        ),
    ),
    "text": ("\n\n", "\r", "\f", ". ", "?", "...", "|", "\ufeff", "and then "),
}
DEEP = (("[", "]"), ('{"a":', "}"))
MOST_BYTES = 200_000


def spoiled(rng, content, kind, others=()):
    """Return a content with a few changes, each of bytes or of what they mean."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 6))):
        change = STRUCTURES.get(kind)
        made = change(rng, content) if change and rng.random() < 0.75 else None
        content = bytes_changed(rng, content, kind, others) if made is None else made
    return content[:MOST_BYTES]


# ---- bytes


def bytes_changed(rng, content, kind, others=()):  # noqa: PLR0911 - a way each
    """Return bytes with one change."""
    first, last = sorted((rng.randint(0, len(content)), rng.randint(0, len(content))))
    if rng.random() < 0.8:  # mostly a few only
        last = min(last, first + rng.randint(0, 20))
    before, part, after = content[:first], content[first:last], content[last:]
    way = rng.randrange(9)
    if way == 0 and content:
        place = rng.randrange(len(content))
        return (
            content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]
        )
    if way == 1:
        return before + after
    if way == 2:
        return before
    if way == 3:
        return before + part * rng.choice((2, 3, 100)) + after
    if way == 4 and others:
        other = rng.choice(others)
        start = rng.randint(0, len(other))
        return before + other[start : start + rng.randint(0, len(other))] + after
    if way == 5:
        return before + bytes(rng.randrange(256) for _ in range(rng.randint(1, 8))) + after
    if way == 6:
        return before + text_of(rng).encode("utf-8", "surrogatepass") + after
    if way == 7:
        opening, closing = rng.choice(DEEP)
        depth = rng.choice((3, 60, 600, 20_000))
        return before + opening.encode() * depth + part + closing.encode() * depth + after
    family = {"lines": "json", "bytes": "text"}.get(kind, kind)
    token = rng.choice(TOKENS[family]) * rng.choice((1, 1, 1, 2, 50))
    return before + token.encode("utf-8", "surrogatepass") + after


def text_of(rng):
    """Return a text that is hard to take."""
    return rng.choice(TEXTS)


# ---- JSON


class Raw:
    """A number as it stands, whatever JSON or Python say of it."""

    def __init__(self, text):
        self.text = text


def json_changed(rng, content):
    """Return a JSON document with one part changed, or None if it is none."""
    try:
        document = json.loads(content)
        places = list(_places(document))
        made = _changed_at(rng, document, places)
        return _dumped(rng, made)
    except (ValueError, RecursionError):
        return None


def lines_changed(rng, content):
    """Return lines of JSON with one changed, or lines in another order."""
    lines = content.split(b"\n")
    place = rng.randrange(len(lines))
    way = rng.randrange(6)
    if way == 0:
        lines.insert(rng.randint(0, len(lines)), lines[place])
    elif way == 1:
        del lines[place]
    else:
        made = json_changed(rng, lines[place])
        if made is None:
            return None
        lines[place] = made
    return b"\n".join(lines)


def _places(document):
    """Yield the paths to all parts, the whole first."""
    stack = [((), document)]
    while stack:
        path, value = stack.pop()
        yield path
        if isinstance(value, dict):
            stack += [((*path, key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            stack += [((*path, k), inner) for k, inner in enumerate(value)]


def _at(document, path):
    for key in path:
        document = document[key]
    return document


def _changed_at(rng, document, places):
    path = rng.choice(places)
    if not path:
        return _value(rng, document) if rng.random() < 0.2 else _grown(rng, document)
    parent, key = _at(document, path[:-1]), path[-1]
    way = rng.randrange(6)
    if way == 0:
        del parent[key]
    elif way == 1:
        copied = json.loads(json.dumps(_at(document, rng.choice(places))))
        parent[key] = copied
    elif way == 2 and isinstance(parent, list):
        parent.insert(rng.randint(0, len(parent)), parent[key])
    elif way == 3:
        parent[key] = _grown(rng, parent[key])
    else:
        parent[key] = _value(rng, parent[key])
    return document


def _grown(rng, value):
    if isinstance(value, dict):
        return value | {text_of(rng) or "x": _value(rng, None)}
    if isinstance(value, list):
        return value * rng.choice((0, 2, 40)) if rng.random() < 0.5 else [*value, _value(rng, None)]
    return [value]


def _value(rng, old):
    """Return another value: near the old one, or of whatever kind."""
    if isinstance(old, str) and len(old) > 7 and rng.random() < 0.8:
        packed = _repacked(rng, old)
        if packed is not None:
            return packed
    if isinstance(old, int | float) and abs(old) < 2**64 and rng.random() < 0.5:
        return rng.choice((old + 1, old - 1, -old, old * 2, old / 2, float(old)))
    if isinstance(old, str) and rng.random() < 0.3:
        return old + text_of(rng)
    return rng.choice(
        (
            rng.choice(NUMBERS),
            rng.choice(WHOLES),
            Raw(rng.choice(RAW)),
            text_of(rng),
            *(None, True, False, [], {}, [[]], [None], {"": None}, [[[[]]]]),
        )
    )


def _repacked(rng, text):
    """Change the array in bytes that are written as base64, and perhaps compressed."""
    try:
        content = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return None
    try:
        inner, again = zlib.decompress(content), zlib.compress
    except zlib.error:
        inner, again = content, bytes
    numbers = (float("nan"), float("inf"), *NUMBERS)
    number = rng.choice(numbers)
    form = rng.choice(("<d", "<f", "<q", "<i"))
    if form[1] in "df":
        try:
            piece = struct.pack(form, number)
        except OverflowError:
            piece = struct.pack(form, float("inf"))
    else:
        piece = struct.pack(form, rng.choice((0, 1, -1, 2**31 - 1, -(2**31), 5)))
    place = rng.randint(0, len(inner) // len(piece)) * len(piece)
    made = inner[:place] + piece + inner[place + len(piece) :]
    if rng.random() < 0.3:
        made = rng.choice((made[: len(made) // 2], made * 2, made + b"\0", bytes(10**6), b""))
    return base64.b64encode(again(made)).decode()


def _dumped(rng, document):
    raw = []

    def plain(value):
        raw.append(value.text)
        return f"@raw{len(raw) - 1}@"

    text = json.dumps(document, default=plain, ensure_ascii=rng.random() < 0.5)
    for number, value in enumerate(raw):
        text = text.replace(f'"@raw{number}@"', value, 1)
    return text.encode("utf-8", "surrogatepass")


# ---- tables


def table_changed(rng, content):
    """Return a table in text with a cell, a row or a column changed."""
    try:
        text = content.decode()
        mark = max(",;\t|", key=text.count)
        rows = list(csv.reader(io.StringIO(text), delimiter=mark))
    except (ValueError, csv.Error):
        return None
    if not rows or not rows[0]:
        return None
    row, column = rng.randrange(len(rows)), rng.randrange(len(rows[0]))
    way = rng.randrange(7)
    if way == 0:
        rows = [one[:column] + one[column + 1 :] for one in rows]
    elif way == 1:
        rows = [[*one, *one[column : column + 1]] for one in rows]
    elif way == 2:
        rows.insert(rng.randint(0, len(rows)), rows[row])
    elif way == 3:
        del rows[row]
    elif way == 4:
        rows[0][column] = rng.choice((*rows[0], text_of(rng)))
    elif column < len(rows[row]):
        rows[row][column] = text_of(rng)
    out = io.StringIO()
    try:
        csv.writer(out, delimiter=mark, lineterminator=rng.choice(("\n", "\r\n"))).writerows(rows)
    except csv.Error:
        return None
    return out.getvalue().encode("utf-8", "surrogatepass")


# ---- XML


def xml_changed(rng, content):
    """Return an XML document with an element or attribute changed."""
    try:
        root = ET.fromstring(content)  # noqa: S314 - our own
    except (ET.ParseError, ValueError, LookupError):
        return None
    elements = list(root.iter())
    element, other = rng.choice(elements), rng.choice(elements)
    way = rng.randrange(8)
    if way == 0:
        element.clear()
    elif way == 1:
        element.append(ET.fromstring(ET.tostring(other)))  # noqa: S314
    elif way == 2:
        element.tag = other.tag
    elif way == 3 and element.attrib:
        del element.attrib[rng.choice(sorted(element.attrib))]
    elif way == 4:
        element.text = _xml_text(rng)
    elif way == 5:
        inner = element
        for _ in range(rng.choice((3, 100, 400))):
            inner = ET.SubElement(inner, other.tag, dict(other.attrib))
    elif element.attrib:
        name = rng.choice(sorted(element.attrib))
        element.set(name, rng.choice((_xml_text(rng), str(rng.choice((*NUMBERS, *WHOLES))))))
    try:
        return ET.tostring(root)
    except (ValueError, TypeError, RecursionError):
        return None


def _xml_text(rng):
    return text_of(rng).encode("utf-8", "replace").decode()


STRUCTURES = {
    "json": json_changed,
    "lines": lines_changed,
    "table": table_changed,
    "xml": xml_changed,
}
