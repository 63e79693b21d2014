"""Files of tellings in the worker's process: what they seem to be, and the tellings in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from elision import files
from elision.errors import InputError
from elision.files.library import claims_to_be_script
from elision.io import read
from elision.io.columns import likely
from elision.io.preview import WIDE, looks_wide, preview, read_wide
from elision.io.source import opened
from elision.io.tables import parquet_rows
from elision.serve.messages import Choices, Columns, Domain, Looked
from elision.values.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from elision.values.script import Script

Done = TypeVar("Done")

MOST_DOMAINS = 20
MOST_NARRATIVES = 20_000
LONGEST_NARRATIVE = 500

MOST_ROWS = 2_000_000
"""Of a Parquet file, whose rows may take next to no room."""

PARQUET = b"PAR1"

MOST_CELLS = 1 << 22
"""Of a script that is opened: states by states and events."""

VARIED = 0.5
WORDY = 3.0
"""Lines of which more than this share are different, and longer than so many words on average, are
taken for sentences where the file does not say."""

SAYS_WHICH = ("jsonl", "xes")
"""Formats that say whether they hold events or sentences."""

FIRST, FIRST_LINES, LONGEST_LINE = 3, 8, 200
"""Tellings that are shown before learning, lines of each, and characters of a line."""


def look(source: Path, name: str, choices: Choices) -> Looked:
    """Say what a file seems to be.

    Raises
    ------
    InputError
        If it is nothing that can be learned from, whatever is chosen.
    """
    if source.suffix == ".json" and claims_to_be_script(source):
        script = files.script.load(source)
        cells = script.size * (script.size + len(script.events))
        if cells > MOST_CELLS:
            sizes = f"{script.size - 2} states and {len(script.events)} events"
            raise InputError(f"a script of {sizes}, which is too large for the page", where=name)
        return Looked("", name, "script", "script")
    _check_rows(source, name)
    seen = _in_words_of(source, name, lambda: preview(source))
    found = Looked("", name, "tellings", seen.format, columns=seen.columns, rows=seen.rows)
    if seen.columns:
        found.chosen = _chosen(seen.columns, choices.columns)
        if seen.format in WIDE:
            found.each_row = _each_row(found, choices)
        if not found.each_row and not (found.chosen.case and found.chosen.activity):
            found.problem = "Which column says what belongs together, and which says what happened?"
            return found
    try:
        corpus = tellings(source, name, Choices(found.chosen, each_row=found.each_row))
    except InputError as error:
        if not seen.columns:
            raise
        found.problem = str(error)
        return found
    found.recognised = seen.format not in SAYS_WHICH and corpus.has_events
    found.sentences = not corpus.has_events or (found.recognised and looks_like_sentences(corpus))
    if choices.sentences is not None:
        found.sentences = choices.sentences
    _describe(found, taken(corpus, sentences=found.sentences))
    return found


def tellings(source: Path, name: str, choices: Choices) -> Corpus:
    """Read a file as it is to be taken.

    Raises
    ------
    InputError
        If it cannot be read, or is too large; ``name`` stands for it in the message.
    """
    columns = choices.columns
    roles = {
        role: getattr(columns, role)
        for role in columns.__struct_fields__
        if getattr(columns, role) is not None
    }
    _check_rows(source, name)
    if choices.each_row:
        corpus = _in_words_of(source, name, lambda: read_wide(source, preview(source).format))
    else:
        corpus = _in_words_of(source, name, lambda: read(source, **roles))
    _check(corpus, name)
    return taken(corpus, sentences=choices.sentences)


def taken(corpus: Corpus, *, sentences: bool | None) -> Corpus:
    """Take the lines of tellings for sentences or for events, whatever the file says.

    Examples
    --------
    >>> corpus = Corpus.of([["I open the door."]])
    >>> taken(corpus, sentences=True)[0].steps
    ('I open the door.',)
    """
    if sentences is None or (sentences is False and corpus.has_events):
        return corpus
    if sentences:
        return Corpus(replace(one, events=None, steps=one.steps or one.events) for one in corpus)
    return Corpus(replace(one, events=one.events or one.steps, steps=None) for one in corpus)


def looks_like_sentences(corpus: Corpus) -> bool:
    """Whether the lines of tellings are sentences: events come again and again, sentences do not.

    Examples
    --------
    >>> looks_like_sentences(Corpus.of([["ring", "open"], ["ring"]]))
    False
    >>> looks_like_sentences(Corpus.of([["I went to the door", "then I opened it"]]))
    True
    """
    lines = [line.casefold() for one in corpus for line in one.events or one.steps or ()]
    words = sum(len(line.replace("_", " ").split()) for line in lines)
    return len(set(lines)) > VARIED * len(lines) and words >= WORDY * len(lines)


def for_script(script: Script, corpus: Corpus) -> Corpus:
    """Return the tellings of a script's activity as its events.

    Raises
    ------
    InputError
        If none of them is of it, or they are sentences and it understands none.
    """
    domain = str(script.about.get("domain") or "")
    parts = corpus.by_domain()
    if len(parts) > 1 and domain not in parts:
        hint = f"they are of {', '.join(map(repr, [*parts][:8]))}"
        raise InputError(f"no tellings of {domain or 'this script'!r} in the file", hint=hint)
    part = parts.get(domain, corpus)
    if part.has_events and script.extractor is None:
        return part
    if script.extractor is None:
        raise InputError("the tellings are sentences, but the script was learned from events")
    known = set(script.events)
    if part.has_events and any(event in known for one in part for event in one.events or ()):
        return part
    (types,) = [*script.extractor.domains_][:1]
    return script.extractor.transform(taken(part, sentences=True), domain=types)


def _chosen(names: list[str], asked: Columns) -> Columns:
    """What the columns are taken for; what was asked for goes first."""
    guess = likely([name for name in names if name not in (asked.case, asked.activity, asked.time)])
    return Columns(
        **{
            role: guess[role] if getattr(asked, role) is None else getattr(asked, role)
            for role in asked.__struct_fields__
        }
    )


def _each_row(found: Looked, choices: Choices) -> bool:
    """Whether each row of a table is a telling: as it was said, or as it looks."""
    if choices.each_row is not None:
        return choices.each_row
    known = found.chosen.case or found.chosen.activity
    return not known and looks_wide(found.columns, found.rows)


def _describe(found: Looked, corpus: Corpus) -> None:
    found.domains = [
        Domain(name, len(part), sum(one.length for one in part))
        for name, part in corpus.by_domain().items()
    ]
    found.first = [
        [line[:LONGEST_LINE] for line in (one.steps if found.sentences else one.events) or ()]
        for one in corpus[:FIRST]
    ]
    found.first = [
        lines[:FIRST_LINES] + ["…"] * (len(lines) > FIRST_LINES) for lines in found.first
    ]


def _check(corpus: Corpus, name: str) -> None:
    """Refuse what would take too long."""
    for what, number, most in (
        ("domains", len(corpus.domains), MOST_DOMAINS),
        ("tellings", len(corpus), MOST_NARRATIVES),
        ("events in a telling", max(one.length for one in corpus), LONGEST_NARRATIVE),
    ):
        if number > most:
            hint = "learn from it with `elision learn`"
            raise InputError(f"{number} {what}, expected at most {most}", where=name, hint=hint)


def _check_rows(source: Path, name: str) -> None:
    """Refuse a Parquet file that says itself that it unpacks to too much."""
    with source.open("rb") as file:
        if file.read(len(PARQUET)) != PARQUET:
            return
    with opened(source, "utf-8") as packed:
        rows = _in_words_of(source, name, lambda: parquet_rows(packed))
    if rows > MOST_ROWS:
        hint = "learn from it with `elision learn`"
        raise InputError(f"{rows} rows, expected at most {MOST_ROWS}", where=name, hint=hint)


def _in_words_of(source: Path, name: str, work: Callable[[], Done]) -> Done:
    """Do something with a file; the name of the copy says nothing to whoever sent it."""
    try:
        return work()
    except InputError as error:
        where = (error.where or "").replace(str(source), name) or name
        raise InputError(error.problem, where=where, hint=error.hint) from None
