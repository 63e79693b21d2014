"""Dates as people write them: one text to a moment, and a moment in the style of a text."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

Order: TypeAlias = Literal["ymd", "dmy", "mdy"]
"""What of a date comes first: year, day or month."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOCAL_EPOCH = EPOCH.replace(tzinfo=None)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NAME = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS) + "|sept"
_SHORT_YEARS_FROM = 1969
"""Two digits stand for a year from this one on, as in POSIX."""

PATTERN = re.compile(
    rf"""(?:(?P<weekday>(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)\.?,?\s+)?
    (?P<first>\d{{1,4}}|{_NAME})(?P<mark>\s*[-/.,]\s*|\.?\s+)
    (?P<second>\d{{1,2}}|{_NAME})(?:\s*[-/.,]\s*|\.?,?\s+)
    (?P<third>\d{{4}}|\d{{1,2}})
    (?:(?:[t,]|\s)\s*(?P<hour>\d{{1,2}}):(?P<minute>\d\d)
      (?::(?P<seconds>\d\d)(?:[.,](?P<fraction>\d+))?)?
      (?:\s*(?P<half>[ap]\.?m\.?))?)?
    (?:\s*(?P<zone>z|utc|gmt|[+-]\d\d(?::?\d\d)?))?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_PLACES: dict[Order, tuple[str, str, str]] = {
    "ymd": ("first", "second", "third"),
    "dmy": ("third", "second", "first"),
    "mdy": ("third", "first", "second"),
}
_ZEROS = str.maketrans("123456789", "000000000")
_COMPACT = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_EARLIEST_COMPACT, _LATEST_COMPACT = 1900, 2199


def microseconds(moment: datetime) -> int:
    """Return how long after 1970 something was; without a zone it is taken for UTC."""
    since = moment - (_LOCAL_EPOCH if moment.tzinfo is None else EPOCH)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def moment_of(value: object, order: Order) -> datetime | None:
    """Return when a value says, read in one order; None where it cannot be read so."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - a day has no zone
    if isinstance(value, int) and not isinstance(value, bool):
        return _compact(str(value)) if order == "ymd" and 0 < value < 10**14 else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    if order == "ymd":
        found = _compact(text) if text.isdecimal() else _iso(text)
        if found is not None:
            return found
    layout = _layout(text.translate(_ZEROS), order)
    return None if layout is None else _read(text, layout)


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _compact(text: str) -> datetime | None:
    """Read 20240531 and the like, where the year is one that a log would be of."""
    if len(text) not in _COMPACT or not _EARLIEST_COMPACT <= int(text[:4]) <= _LATEST_COMPACT:
        return None
    try:
        return datetime.strptime(text, _COMPACT[len(text)])  # noqa: DTZ007 - no zone is said
    except ValueError:
        return None


class _Layout(NamedTuple):
    """Where the parts of a date stand in texts that differ in their digits only."""

    year: slice
    month: slice | int
    day: slice
    hour: slice | None
    minute: slice | None
    seconds: slice | None
    fraction: slice | None
    half: str
    zone: slice | None


@lru_cache(maxsize=1024)
def _layout(shape: str, order: Order) -> _Layout | None:
    """Return the layout of texts with this shape; None if they are no dates in this order."""
    match = PATTERN.fullmatch(shape)
    if match is None:
        return None
    year, month, day = (match[place] for place in _PLACES[order])
    if not (year.isdecimal() and day.isdecimal() and len(day) <= 2):
        return None
    # A year of two digits is first only in 24-05-31; with other marks no one writes it so.
    if len(year) != 4 and (len(year) != 2 or (order == "ymd" and match["mark"] != "-")):
        return None
    if not month.isdecimal() and order == "ymd" and len(year) == 2:
        return None

    def span(name: str) -> slice | None:
        return None if match[name] is None else slice(*match.span(name))

    places = [slice(*match.span(place)) for place in _PLACES[order]]
    named = places[1] if month.isdecimal() else _month(month)
    return _Layout(
        places[0],
        named,
        places[2],
        span("hour"),
        span("minute"),
        span("seconds"),
        span("fraction"),
        (match["half"] or "").lower(),
        span("zone"),
    )


def _read(text: str, layout: _Layout) -> datetime | None:
    year, month = text[layout.year], layout.month
    hour, minute, seconds, fraction = 0, 0, 0, 0
    if layout.hour is not None and layout.minute is not None:
        hour, minute = int(text[layout.hour]), int(text[layout.minute])
        if layout.half:
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + (12 if layout.half[0] == "p" else 0)
        if layout.seconds is not None:
            seconds = int(text[layout.seconds])
            if layout.fraction is not None:
                fraction = int(text[layout.fraction][:6].ljust(6, "0"))
    try:
        return datetime(
            int(year) if len(year) == 4 else _long_year(int(year)),
            month if isinstance(month, int) else int(text[month]),
            int(text[layout.day]),
            hour,
            minute,
            seconds,
            fraction,
            None if layout.zone is None else _zone(text[layout.zone]),
        )
    except ValueError:
        return None


def _long_year(year: int) -> int:
    return (year - _SHORT_YEARS_FROM) % 100 + _SHORT_YEARS_FROM


def _month(name: str) -> int:
    return next(n for n, full in enumerate(_MONTHS, 1) if full.startswith(name[:3].lower()))


@lru_cache(maxsize=256)
def _zone(text: str) -> tzinfo:
    if text[0] not in "+-":
        return UTC
    size = timedelta(hours=int(text[1:3]), minutes=int(text[3:].lstrip(":") or 0))
    return timezone(-size if text[0] == "-" else size)


def written_like(moment: datetime, like: str, order: Order, style: frozenset[str]) -> str:
    """Return a moment as text, in the style of another: its marks, its parts, its precision.

    Parameters
    ----------
    moment
        What to write. What is finer than `like` can show is cut off, never rounded up.
    like
        A text that `moment_of` reads in this order.
    order
        Of year, month and day.
    style
        What `manner_of` says of the texts of the column.
    """
    text = like.strip()
    if text.isdecimal():
        return moment.strftime(_COMPACT[len(text)])
    match = PATTERN.fullmatch(text)
    if match is None:
        return moment.isoformat()
    hour = moment.hour if match["half"] is None else (moment.hour - 1) % 12 + 1
    year, month, day = _PLACES[order]
    named = not match[month].isdecimal()
    digits = len(match["fraction"] or "")
    parts = {
        "weekday": _named(_WEEKDAYS[moment.weekday()], match["weekday"], style),
        year: f"{moment.year:04}"[-len(match[year]) :],
        month: _padded(moment.month, "date", style),
        day: _padded(moment.day, "date", style),
        "hour": _padded(hour, "hour", style),
        "minute": f"{moment.minute:02}",
        "seconds": f"{moment.second:02}",
        "fraction": f"{moment.microsecond:06}".ljust(digits, "0")[:digits],
        "half": _half(moment.hour, match["half"]),
    }
    if named:
        parts[month] = _named(_MONTHS[moment.month - 1], match[month], style)
    for name in sorted(parts, key=match.start, reverse=True):
        if match[name] is not None:
            text = text[: match.start(name)] + parts[name] + text[match.end(name) :]
    return text


def shape_of(text: str) -> str:
    """Return a text with all digits the same: dates of one style have few shapes."""
    return text.strip().translate(_ZEROS)


def manner_of(shape: str) -> set[str]:
    """Return "date" and "hour" where these have no leading zero, "full" for a month in full."""
    match = PATTERN.fullmatch(shape)
    if match is None:
        return set()
    places = ("first", "second", "third")
    found = {"date"} if any(len(match[place]) == 1 for place in places) else set()
    found |= {"hour"} if len(match["hour"] or "--") == 1 else set()
    return found | ({"full"} if any(len(match[place]) > 4 for place in places) else set())


def _padded(number: int, name: str, style: frozenset[str]) -> str:
    return str(number) if name in style else f"{number:02}"


def _named(name: str, like: str | None, style: frozenset[str]) -> str:
    if like is None:
        return ""
    name = name if len(like) > 3 or "full" in style else name[:3]
    return name.upper() if like.isupper() else name if like.islower() else name.capitalize()


def _half(hour: int, like: str | None) -> str:
    letter = "a" if hour < 12 else "p"
    return "" if like is None else (letter.upper() if like[0].isupper() else letter) + like[1:]
