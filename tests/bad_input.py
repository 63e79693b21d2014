"""The matrix of bad input: what came, at which commands and calls, and what they say.

`docs/bad-input.md` is made of it (``python tests/bad_input.py > docs/bad-input.md``), and
`test_bad_input.py` runs all of it.
"""

from __future__ import annotations

import json
from typing import NamedTuple

DONE, FLAGGED, REFUSED = 0, 1, 2
BELL = ["hear doorbell", "walk to door", "open door", "greet visitor"]


class Row(NamedTuple):
    """What came, where, and what came of it: an exit status, and a part of the one line."""

    what: str
    where: tuple[str, ...]
    status: int
    said: str = ""


# ---- commands that read narratives

READING = {
    "learn": ("learn", "FILE", "-o", "out.json"),
    "learn --method approx": ("learn", "FILE", "-o", "out.json", "--method", "approx"),
    "events": ("events", "FILE", "-o", "events.jsonl"),
    "repair": ("repair", "FILE", "-o", "repaired.csv"),
    "repair --script": ("repair", "FILE", "-o", "repaired.csv", "--script", "script.json"),
    "score --log": ("score", "script.json", "--log", "FILE"),
    "compare --on": ("compare", "script.json", "other.json", "--samples", "9", "--on", "FILE"),
    "bench": ("bench", "FILE", "--methods", "Frequency", "--min-narratives", "5", "--jobs", "1"),
}
ALL_READING = tuple(READING)
LEARNING = ("learn", "learn --method approx")
REPAIRING = ("repair", "repair --script")
DEFAULT = (*LEARNING, *REPAIRING, "score --log", "compare --on")
NO_STEPS = "it has no steps (these are events already: elision learn takes them)"
TOO_FEW = "no domain has 5 narratives of two events or more, and 3 different events"


def told(*narratives):
    """Lines of JSON."""
    return "".join(json.dumps(one) + "\n" for one in narratives)


NARRATIVES = {
    "an empty file": "",
    "one narrative": told({"events": BELL}),
    "one event": told({"events": ["hear doorbell"]}),
    "narratives without events": told(*[{"events": []}] * 5),
    "identical narratives": told(*[{"events": BELL}] * 6),
    "narratives that share no event": told(
        *({"events": [f"event {3 * k + j}" for j in range(3)]} for k in range(6))
    ),
    "an empty text for an event": told({"events": ["open door", ""]}),
    "the same id twice": told(*[{"id": "1", "events": BELL}] * 5),
    "a number for an event": told({"events": ["open door", 1]}),
    "a number for a narrative": told({"events": BELL}, 3),
    "events that the script does not know": told(*[{"events": ["sing", "dance", "bow"]}] * 5),
    "sentences": told(*[{"steps": ["I sing.", "I dance.", "I bow."]}] * 5),
    "bytes that are no text": b'{"events": ["\xff"]}\n',
    "half a line": '{"events": ["open door", "gre',
}
FINE = ("one narrative", "one event", "identical narratives", "narratives that share no event")
FILES = [
    Row("an empty file", ALL_READING, REFUSED, "the file is empty (expected narratives)"),
    *(
        Row(what, DEFAULT, DONE)
        for what in (*FINE, "the same id twice", "events that the script does not know")
    ),
    *(
        Row(what, ("bench",), DONE)
        for what in (
            *("identical narratives", "narratives that share no event", "the same id twice"),
            "events that the script does not know",
        )
    ),
    *(Row(what, ("bench",), REFUSED, TOO_FEW) for what in ("one narrative", "one event")),
    Row("narratives without events", (*LEARNING, "score --log", "compare --on"), DONE),
    Row(
        "narratives without events",
        REPAIRING,
        REFUSED,
        "no case has an event: there is nothing to",
    ),
    Row("narratives without events", ("bench",), REFUSED, TOO_FEW),
    *(
        Row(what, ("events",), REFUSED, NO_STEPS)
        for what in (
            *(*FINE, "narratives without events", "the same id twice"),
            "events that the script does not know",
        )
    ),
    Row(
        "an empty text for an event",
        ALL_READING,
        REFUSED,
        "line 1, field 'events': events[1] is ''; expected a non-empty string",
    ),
    Row(
        "a number for an event",
        ALL_READING,
        REFUSED,
        "line 1, field 'events': events[1] is 1; expected a non-empty string",
    ),
    Row(
        "a number for a narrative",
        ALL_READING,
        REFUSED,
        "line 2: 3 is not a narrative; expected an",
    ),
    Row("sentences", ("learn", "learn --method approx", "events", "bench"), DONE),
    Row(
        "sentences",
        (*REPAIRING, "compare --on"),
        REFUSED,
        "it has no events (turn sentences into events first: elision events)",
    ),
    Row("sentences", ("score --log",), REFUSED, "only the sentences of the narrative are known"),
    Row("bytes that are no text", ALL_READING, REFUSED, "line 1: byte 0xff is not utf-8 text"),
    Row("half a line", ALL_READING, REFUSED, "line 1: not valid JSON"),
]

PLACES = [
    Row("no such file", ALL_READING, REFUSED, "none.jsonl: there is no such file (check the path"),
    Row(
        "a directory for a file",
        ALL_READING,
        REFUSED,
        "folder: this is a directory; expected a file (name one file in it)",
    ),
]

# ---- commands that ask a script

ASKING = {
    "outline": ("outline", "SCRIPT"),
    "fill": ("fill", "SCRIPT", "EVENT", "?"),
    "missing": ("missing", "SCRIPT", "EVENT"),
    "between": ("between", "SCRIPT", "EVENT"),
    "next": ("next", "SCRIPT", "EVENT"),
    "follow": ("follow", "SCRIPT"),
    "score": ("score", "SCRIPT", "EVENT"),
    "order": ("order", "SCRIPT", "EVENT", "open door"),
    "sample": ("sample", "SCRIPT", "EVENT"),
    "compare": ("compare", "SCRIPT", "other.json", "--samples", "9"),
    "identify": ("identify", "SCRIPT", "EVENT"),
    "draw": ("draw", "SCRIPT", "-o", "drawing.svg"),
    "export": ("export", "SCRIPT", "-o", "script.dot"),
}
ALL_ASKING = tuple(ASKING)
ONE_OR_MORE = ("identify",)
EVENTS = tuple(name for name, arguments in ASKING.items() if "EVENT" in arguments)
SCRIPTS = {
    "no such script": None,
    "a directory for a script": "folder",
    "an empty script": b"",
    "narratives for a script": told(*[{"events": BELL}] * 2).encode(),
    "half a script": "half",
    "a script with one byte changed": "changed",
}
SCRIPT_ROWS = [
    Row("no such script", ALL_ASKING, REFUSED, "cannot be read: No such file or directory"),
    Row(
        "a directory for a script",
        tuple(name for name in ALL_ASKING if name not in ONE_OR_MORE),
        REFUSED,
        "cannot be read: Is a directory",
    ),
    Row("a directory for a script", ONE_OR_MORE, REFUSED, "no script file in this folder"),
    Row(
        "an empty script",
        ALL_ASKING,
        REFUSED,
        "no script file: the file is empty (elision learn writes one)",
    ),
    Row("narratives for a script", ALL_ASKING, REFUSED, "no script file: "),
    Row("half a script", ALL_ASKING, REFUSED, "no script file: "),
    Row(
        "a script with one byte changed",
        ALL_ASKING,
        REFUSED,
        "damaged script file: the checksum does not fit",
    ),
]
TELLINGS = {
    "an unknown event": "sing",
    "an empty text": "",
    "a blank": "  ",
    "a control character": "\x1b[2J",
}
UNKNOWN = "unknown event"
ANY_EVENT = ("score", "identify")
TELLING_ROWS = [
    *(
        Row(what, tuple(name for name in EVENTS if name not in ANY_EVENT), REFUSED, UNKNOWN)
        for what in ("an unknown event", "a control character")
    ),
    *(
        row
        for what in ("an unknown event", "a control character")
        for row in (Row(what, ("score",), DONE), Row(what, ("identify",), FLAGGED))
    ),
    *(
        Row(
            what,
            EVENTS,
            REFUSED,
            "an item of the telling is empty (put ? where an event is",
        )
        for what in ("an empty text", "a blank")
    ),
]

# ---- numbers: every option of every command that takes one

NUMBERS = ("nan", "inf", "-inf", "-1", "1e400", "99999999999999999999", "x", "")
HARMLESS = {
    **dict.fromkeys(("--top", "--types", "--beam"), "as many as there are"),
    "--samples": "a learned script draws no more than it needs",
    "--batch": "all in one batch",
    "--min-narratives": "no domain is large enough",
    "--max-train": "all of them",
}
"""Options that may be larger than anything."""

# ---- what becomes of files

UNWRITABLE = {
    "a folder that does not exist": "no/such/NAME",
    "a directory where a file goes": "folder",
    "something that is no file": "/dev/full",
}
WRITING = {
    "demo": ("demo", "-o", "out.json"),
    "learn": ("learn", "good.jsonl", "-o", "out.json"),
    "events": ("events", "sentences.jsonl", "-o", "out.jsonl"),
    "repair": ("repair", "good.jsonl", "-o", "out.csv"),
    "draw": ("draw", "script.json", "-o", "out.svg"),
    "export": ("export", "script.json", "-o", "out.dot"),
    "bench": (*READING["bench"][:1], "good.jsonl", *READING["bench"][2:], "-o", "out.json"),
}
MADE = {("learn", "a folder that does not exist")}
INTO = {("learn", "a directory where a file goes")}
NO_SUFFIX = {(name, "something that is no file") for name in ("draw", "export", "repair")}
WRITTEN = [
    (command, what)
    for command in WRITING
    for what in UNWRITABLE
    if command != "demo" and (command, what) not in MADE | INTO | NO_SUFFIX
]
"""Folders are made where several files go, and a device has no suffix to say what is written."""

WORLD = {
    "a full disk": "2, one line; the file that was there stays, nothing is left beside it",
    "a pipe that is closed, as by `head -0`": "1, nothing is said; what was written stays",
    "Ctrl-C": "130, one line; nothing is left half-written",
    "SIGTERM, SIGKILL": "the file that was there stays; what is left, the next run deletes",
    "`HOME` unset": "none",
    "a cache of compiled code that cannot be written": "none, but it is compiled each time",
    "no terminal": "no colours, bars of progress or questions",
    "a locale that is not UTF-8": "what it lacks is shown as `\\xfc`; UTF-8 is understood",
}


HEAD = """
# Bad input

Bad input ends in one line on standard error, which says what came, what was expected, where, and
what to do, and in exit status 2. Status 1 is an answer: something was flagged, or a telling is of
none of the scripts. 130 is Ctrl-C. Nothing is written by halves, and a file that was there stays as
it was. In Python the same is an `ElisionError`.

These tables are made of the tests that check them (`tests/bad_input.py`). Of a message they show a
part.
"""


def tables():
    """The rows of each part of the page, and the commands that it is about."""
    return {
        "Narratives": ([*FILES, *PLACES], ALL_READING),
        "Scripts": (SCRIPT_ROWS, ALL_ASKING),
        "Tellings": (TELLING_ROWS, EVENTS),
    }


def _line(*cells):
    return "| " + " | ".join(cells) + " |"


def _where(row, everyone):
    """The names of a row; of most of them, those that are not in it."""
    names = ", ".join(f"`{name}`" for name in row.where)
    others = ", ".join(f"`{name}`" for name in everyone if name not in row.where)
    if 2 * len(row.where) <= len(everyone):
        return names
    return f"all but {others}" if others else "all"


def _said(row):
    if not row.said:
        return "done" if row.status == DONE else "an answer that says so"
    return f"`{row.said}`"


def page():
    """The page of the documentation."""
    lines = [HEAD.strip()]
    for title, (rows, everyone) in tables().items():
        lines += ["", f"## {title}", "", ", ".join(f"`{name}`" for name in everyone) + ":"]
        lines += ["", _line("what came", "where", "status", "what is said")]
        lines.append(_line(*["---"] * 4))
        for row in sorted(rows, key=lambda row: [one.what for one in rows].index(row.what)):
            lines.append(_line(row.what, _where(row, everyone), str(row.status), _said(row)))
    numbers = ", ".join(f"`{one}`" for one in NUMBERS if one)
    lines += [
        "",
        "## Numbers",
        "",
        f"Every option that takes a number refuses {numbers}",
        "and an empty text with status 2. Only these may be larger than anything:",
        "",
        _line("option", "what it means then"),
        _line("---", "---"),
        *(_line(f"`{name}`", meaning) for name, meaning in HARMLESS.items()),
        "",
        "## Places to write to",
        "",
        "Refused with status 2, and nothing is left: "
        + ", ".join(UNWRITABLE)
        + ". Folders are made",
        "where several files go.",
        "",
        "## The world",
        "",
        _line("what happens", "what comes of it"),
        _line("---", "---"),
        *(_line(what, outcome) for what, outcome in WORLD.items()),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
