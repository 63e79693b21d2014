"""`read`: narratives from any source, whatever its format."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from elision import text
from elision._backends import is_frame
from elision.errors import InputError, ReadingWarning, shown
from elision.io.cases import Lifecycle, Reading
from elision.io.formats import FORMATS, Format, checked_domain, guessed
from elision.io.records import from_items
from elision.io.source import is_readable, opened
from elision.io.tables import read_frame
from elision.io.times import given_form
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

    from elision.io.source import Readable


def read(
    source: str | os.PathLike[str] | Readable | IntoFrame | Corpus | Iterable[object],
    *,
    format: Format | None = None,  # noqa: A002 - the word that users know
    domain: str | None = None,
    case: str | None = None,
    activity: str | None = None,
    time: str | None = None,
    time_format: str | None = None,
    lifecycle: Lifecycle = "complete",
    encoding: str = "utf-8",
    sentences: bool | None = None,
) -> Corpus:
    r"""Read narratives.

    Parameters
    ----------
    source
        A path; "-" for stdin; an open file, of bytes or text; a pandas, polars or pyarrow frame;
        a list of lists of str, of records or of narratives; or a corpus. Files may be packed with
        gzip, whatever their name.
    format
        "jsonl", "json", "csv", "tsv", "parquet", "xes" or "text". By default the suffix decides,
        and the content where the suffix says nothing.
    domain
        In a table the column that holds the domain ("" for none). Elsewhere the domain of
        narratives that state none.
    case, activity, time
        In a table the columns that say which narrative a row belongs to, which event it is, and
        when it happened; in XES the keys of the attributes. By default common names are tried.
        `time=""` keeps the order of the rows.
    time_format
        How times are written, as `datetime.strptime` takes it ("%d.%m.%Y %H:%M"), or "day-first"
        or "month-first". By default the form that all values of the column have; where there are
        several, and they differ in the order of events, none is chosen.
    lifecycle
        For logs that say `lifecycle:transition`, and tables with a column of a like name
        (lifecycle, transition, event_type) that says start, complete and so on: "complete" keeps
        only the events that are complete, if there are any such; "all" keeps every event.
    encoding
        How text is written. XES files say this themselves.
    sentences
        Whether what is told are sentences (True) or names of events (False). By default the file
        says so, or in plain text the lines: those that hardly two narratives share are sentences,
        and running text is cut into what happens in it, one paragraph a narrative.

    Returns
    -------
    Corpus

    Raises
    ------
    InputError
        Where the source cannot be read or is not what it should be; says where and why.

    Warns
    -----
    ReadingWarning
        Where many events of a case have the same time, so that the order of the rows is all there
        is; and where events are left out since a column not named `lifecycle:transition` says that
        they are not complete.

    Examples
    --------
    >>> import io
    >>> read(io.StringIO("hear bell\nopen door\n\nopen door\n"), domain="doorbell").events
    [('hear bell', 'open door'), ('open door',)]
    >>> read(io.StringIO("case;activity\n1;hear bell\n2;open door\n1;open door\n")).events
    [('hear bell', 'open door'), ('open door',)]
    """
    check_options(format, lifecycle, time_format)
    remarks: list[str] = []
    reading = Reading(lifecycle, time_format, remarks=remarks)
    roles = {"case": case, "activity": activity, "time": time, "domain": domain}
    # A frame may well have a column called "read", so frames are asked first.
    if is_frame(source):
        name = "data frame"
        _check_no_format(format, name)
        corpus = read_frame(source, roles, reading, name)
    elif isinstance(source, str | os.PathLike) or is_readable(source):
        with opened(source, encoding) as file:
            name = file.name
            kind = format or guessed(file, roles)
            corpus = FORMATS[kind].read(file, roles, reading, sentences)
    else:
        name = type(source).__name__
        _check_no_format(format, name)
        corpus = _read_memory(source, checked_domain(roles, name))
    if not corpus:
        raise InputError("there are no narratives in it", where=name)
    for one in remarks:
        warnings.warn(one, ReadingWarning, stacklevel=2)
    if sentences is not None:
        corpus = _meant(corpus, sentences)
    return corpus if sentences is False else _cut(corpus)


def check_options(format: object, lifecycle: object, time_format: object) -> None:  # noqa: A002
    """Refuse options that are none, whatever the source is."""
    _check_choice("format", format, tuple(FORMATS), optional=True)
    _check_choice("lifecycle", lifecycle, get_args(Lifecycle))
    if time_format is not None:
        given_form(time_format)


def _meant(corpus: Corpus, sentences: bool) -> Corpus:
    """Take what is told for sentences, or for events, where only the other was read."""
    return Corpus(
        replace(one, events=None, steps=one.events)
        if sentences and one.steps is None
        else replace(one, events=one.steps, steps=None)
        if not sentences and one.events is None
        else one
        for one in corpus
    )


def _cut(corpus: Corpus) -> Corpus:
    """Cut running text into what happens in it, where a narrative is one step with all of it."""
    if not any(map(_is_running, corpus)):
        return corpus
    return Corpus(_told(one) if _is_running(one) else one for one in corpus)


def _told(one: Narrative) -> Narrative:
    told = text.prose.telling(" ".join(one.steps or ()))
    return (
        one if told is None else replace(one, steps=told.steps, extra={**one.extra, **told.extra})
    )


def _is_running(one: Narrative) -> bool:
    steps = one.steps
    if steps is None or len(steps) != 1 or one.events is not None:
        return False
    return len(text.prose.sentences_of(steps[0])) > 1


def _read_memory(source: object, domain: str) -> Corpus:
    if not isinstance(source, Iterable) or isinstance(source, bytes | Mapping):
        raise InputError(
            f"cannot read narratives from {shown(source)}",
            hint="give a path, an open file, a data frame or a list of lists of strings",
        )
    items = list(source)
    if not all(isinstance(item, Narrative) for item in items):
        return from_items(items, domain)
    if isinstance(source, Corpus) and not domain:
        return source
    return Corpus(item if item.domain else replace(item, domain=domain) for item in items)


def _check_choice(
    name: str, value: object, choices: tuple[str, ...], *, optional: bool = False
) -> None:
    if value not in choices and not (optional and value is None):
        raise InputError(f"{name}={shown(value)}; expected one of {', '.join(choices)}")


def _check_no_format(value: Format | None, name: str) -> None:
    if value is not None:
        raise InputError(f"format={value!r} is for files; the source is a {name}")
