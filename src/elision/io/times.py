"""Time stamps of a whole column: the one way in which all of them are written, and moments.

What a time stamp means, the whole column says: 01/02/2024 alone may be of January or of February.
Each way of writing is a `Form`, which turns texts into moments, whole numbers that grow with time,
by an expression of polars, and a moment into a text again.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from elision.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl

Order: TypeAlias = Literal["number", "ymd", "dmy", "mdy", "given", "ticks"]
Moment: TypeAlias = int | float

_WORDS: dict[str, str] = {"ymd": "year", "dmy": "day", "mdy": "month"}
_BY_WORD: dict[str, Order] = {"year-first": "ymd", "day-first": "dmy", "month-first": "mdy"}
AMBIGUOUS_HINT = "pass time_format= such as '%d.%m.%Y %H:%M', or 'day-first' or 'month-first'"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_NAME = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)
_WEEKDAY = r"(?i)^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+"
_DATE = re.compile(
    rf"""(?P<weekday>(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?
    (?P<first>\d{{1,4}}|{_NAME})(?P<mark>\s*[-/.,]\s*|\.?\s+)
    (?P<second>\d{{1,2}}|{_NAME})(?:\s*[-/.,]\s*|\.?,?\s+)
    (?P<third>\d{{4}}|\d{{1,2}})
    (?:(?:[t,]|\s)\s*(?P<hour>\d{{1,2}}):(?P<minute>\d\d)
      (?::(?P<second_>\d\d)(?P<fraction>[.,]\d+)?)?(?:\s*(?P<half>[ap]m))?)?
    (?:\s*(?P<zone>z|utc|gmt|[+-]\d\d(?::?\d\d)?))?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_PLACES = {
    "ymd": ("first", "second", "third"),
    "dmy": ("third", "second", "first"),
    "mdy": ("third", "first", "second"),
}
_COMPACT = re.compile(r"\d{8}(?:(?P<t>T?)\d{4}(?P<s>\d\d)?(?P<zone>Z)?)?", re.IGNORECASE)
_ZONE = re.compile(r"([+-])(\d\d):?(\d\d)?$|z$|utc$|gmt$", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d{1,19}")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
_UNITS = {"d": 86_400_000_000, "s": 1_000_000, "ms": 1000, "us": 1}
_EARLIEST, _LATEST = 1900, 2199
"""Years that 20240531 and the like may begin with: other numbers of eight digits are numbers."""


def _layout(text: str, order: str) -> str | None:
    """Return how a text is written, as `strftime` has it; None if it is no date in this order.

    Examples
    --------
    >>> _layout("5/31/2024 6:30 PM", "mdy"), _layout("00.00.0000 00:00:00,000", "dmy")
    ('%-m/%d/%Y %-I:%M %p', '%d.%m.%Y %H:%M:%S,%3f')
    """
    if order == "ymd" and (match := _COMPACT.fullmatch(text)):
        clock = "" if len(text) == 8 else match["t"] + "%H%M" + ("%S" if match["s"] else "")
        return "%Y%m%d" + clock + ("%#z" if match["zone"] else "")
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day = (match[place] for place in _PLACES[order])
    # A year of two digits is first only in 24-05-31; with other marks no one writes it so.
    short = len(year) == 2 and (order != "ymd" or (match["mark"] == "-" and month.isdecimal()))
    if not (year.isdecimal() and day.isdecimal() and len(day) <= 2 and (len(year) == 4 or short)):
        return None
    named = "%b" if len(month) == 3 else "%B"
    codes = {
        "weekday": match["weekday"] and ("%A" if match["weekday"][3:4].isalpha() else "%a"),
        _PLACES[order][0]: "%Y" if len(year) == 4 else "%y",
        _PLACES[order][1]: _digits("m", month) if month.isdecimal() else named,
        _PLACES[order][2]: _digits("d", day),
        "hour": match["hour"] and _digits("I" if match["half"] else "H", match["hour"]),
        "minute": "%M",
        "second_": "%S",
        "fraction": match["fraction"] and f"{match['fraction'][0]}%{len(match['fraction']) - 1}f",
        "half": match["half"] and ("%P" if match["half"].islower() else "%p"),
        "zone": match["zone"] and ("%#z" if match["zone"][0] in "+-zZ" else match["zone"]),
    }
    if match["weekday"]:
        codes["weekday"] += match["weekday"].lstrip("".join(filter(str.isalpha, match["weekday"])))
    for name in sorted(codes, key=match.start, reverse=True):
        if match[name] is not None:
            text = text[: match.start(name)] + str(codes[name]) + text[match.end(name) :]
    return text


def _digits(code: str, text: str) -> str:
    return f"%{code}" if len(text) == 2 else f"%-{code}"


def _parsed(layout: str) -> str:
    """Return the format to read by: it takes days of one digit, and seconds with a fraction."""
    layout = re.sub(r"^%[aA][.,\s]*", "", layout).replace("%-", "%").replace("%b", "%B")
    return re.sub(r"%S(?:[.,]%\d+f)?", "%S%.f", layout).replace("%P", "%p")


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which the time stamps of a column are written.

    Attributes
    ----------
    order
        Numbers, dates with the year, day or month first, a form that was given, or ticks: dates
        as such, whole numbers of their own unit.
    layouts
        How dates are written, as `strftime` has it; several, as digits may be left out.
    unit
        Of ticks, and "int" or "float" of numbers; dates are in microseconds.
    zone
        Of ticks.
    """

    order: Order
    layouts: tuple[str, ...] = ()
    unit: str = "us"
    zone: str | None = None

    @property
    def is_zoned(self) -> bool:
        """Whether a zone is said."""
        return self.zone is not None or any(map(_says_zone, self.layouts))

    def moments(self, column: pl.Expr) -> pl.Expr:
        """Return the moments of a column of text, or of dates as such; null what is of no form."""
        import polars as pl  # noqa: PLC0415 - slow to import

        if self.order == "ticks":
            return column.to_physical().cast(pl.Int64)
        text = column.str.strip_chars()
        if self.order == "number":
            number = text.cast(pl.Int64 if self.unit == "int" else pl.Float64, strict=False)
            return number if self.unit == "int" else pl.when(number.is_finite()).then(number)
        if self.order == "given":
            form = self.layouts[0]
            return text.map_elements(lambda one: _given(one, form), return_dtype=pl.Int64)
        if any(one[:2] in ("%a", "%A") for one in self.layouts):
            text = text.str.replace(_WEEKDAY, "")
        if any(",%" in one for one in self.layouts):
            text = text.str.replace(r"(:\d\d),(\d)", "${1}.${2}")
        # Two digits of a year go first: %Y would take 24 for the year 24.
        formats = sorted({*map(_parsed, self.layouts)}, key=lambda one: "%Y" in one)
        moments = pl.coalesce(
            text.str.strptime(
                pl.Datetime("us", "UTC" if "%#z" in one else None), one, strict=False
            ).to_physical()
            for one in formats
        )
        if not any(one.startswith("%Y%m") for one in formats):
            return moments
        year = text.str.slice(0, 4).cast(pl.Int32, strict=False)
        return pl.when(year.is_between(_EARLIEST, _LATEST)).then(moments)

    def written(self, moment: Moment, like: object) -> object:
        """Return a moment as a value like another of the column, cut off and not rounded up."""
        if self.order == "ticks":
            return math.floor(moment)
        if self.order == "number":
            whole = isinstance(like, int) or (
                isinstance(like, str) and bool(_WHOLE.fullmatch(like))
            )
            number = math.floor(moment) if whole else float(moment)
            return str(number) if isinstance(like, str) else number
        made, text = _date(moment), str(like).strip()
        layout = self.layouts[0] if self.order == "given" else _layout(text, self.order)
        if made is None or layout is None:
            return like
        if "%z" in layout:
            zone = datetime.strptime(text, layout).tzinfo  # noqa: DTZ007
            return made.astimezone(zone).strftime(layout)
        zone_text = _ZONE.search(text) if "%#z" in layout else None
        if zone_text is not None and zone_text[1]:
            minutes = int(zone_text[2]) * 60 + int(zone_text[3] or 0)
            made += timedelta(minutes=-minutes if zone_text[1] == "-" else minutes)
        for codes in ("dm", "HI"):  # where one day of the column has no zero before it, none has
            if any(f"%-{code}" in one for code in codes for one in self.layouts):
                layout = re.sub(f"%([{codes}])", r"%-\1", layout)
        if any("%B" in one for one in self.layouts):
            layout = layout.replace("%b", "%B")
        layout = re.sub(r"%-(\w)", lambda one: str(int(made.strftime("%" + one[1]))), layout)
        layout = re.sub(r"%(\d+)f", lambda one: f"{made:%f}".ljust(9, "0")[: int(one[1])], layout)
        layout = layout.replace("%P", f"{made:%p}".lower())
        found = made.strftime(layout.replace("%#z", "" if zone_text is None else zone_text[0]))
        return int(found) if isinstance(like, int) else found


def _says_zone(layout: str) -> bool:
    return "%z" in layout or "%#z" in layout or bool(_ZONE.search(layout))


def _date(moment: Moment) -> datetime | None:
    try:
        return _EPOCH + timedelta(microseconds=math.floor(moment))
    except OverflowError:
        return None


def _given(text: str, form: str) -> int | None:
    """Return the moment of one text in a form that was given."""
    try:
        found = datetime.strptime(text, form)  # noqa: DTZ007
    except ValueError:
        return None
    since = found.replace(tzinfo=found.tzinfo or UTC) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def shape(column: pl.Expr) -> pl.Expr:
    """Return texts with all digits the same: dates that are written alike have few shapes."""
    return column.str.strip_chars().str.replace_all(r"[0-9]", "0")


def forms_of(shapes: Iterable[str], time_format: str | None = None) -> list[Form]:
    """Return the forms that texts of these shapes may have: several if days and months look alike.

    Raises
    ------
    InputError
        Where `time_format` is none.

    Examples
    --------
    >>> [form.order for form in forms_of(["00/00/0000"])]
    ['dmy', 'mdy']
    """
    known = [*dict.fromkeys(shapes)]
    if time_format is not None:
        given = given_form(time_format)
        if given.order == "given":
            return [given]
        return [one for one in forms_of(known) if one.order == given.order]
    found = []
    if all(map(_NUMBER.fullmatch, known)):
        whole = all(map(_WHOLE.fullmatch, known))
        found.append(Form("number", unit="int" if whole else "float"))
    for order in _PLACES:
        layouts = [_layout(one, order) for one in known]
        if None not in layouts:
            found.append(Form(order, tuple(dict.fromkeys(layouts))))  # type: ignore[arg-type]
    return found


def find(
    column: pl.Series, place: Callable[[int], str], time_format: str | None = None
) -> list[tuple[Form, pl.Series]]:
    """Return the forms that all values of a column have, with the moments in each.

    Parameters
    ----------
    column
        Of text; nulls are times that are not said.
    place
        How messages call a value, by its number.
    time_format
        The form as `datetime.strptime` takes it, or "day-first", "month-first" or "year-first";
        None to find it.

    Raises
    ------
    InputError
        Where no form is left, at the value that rules out the last one.
    """
    import polars as pl  # noqa: PLC0415 - slow to import

    frame = column.alias("time").to_frame()
    said = pl.col("time").drop_nulls()
    shapes = frame.select(shape(said).unique(maintain_order=True))["time"].to_list()
    nulls = column.null_count()
    read = [
        (form, frame.select(form.moments(pl.col("time")))["time"])
        for form in forms_of(shapes, time_format)
    ]
    found = [(form, moments) for form, moments in read if moments.null_count() == nulls]
    # Dates are no longer numbers: 20240531 is both, and in the same order.
    if len(found) > 1 and found[0][0].order == "number":
        found = found[1:]
    if not found or _mixes_zones(found[0][0]):
        raise _misfit(column, place, time_format)
    return found


def _mixes_zones(form: Form) -> bool:
    return len(form.layouts) > 1 and len({*map(_says_zone, form.layouts)}) > 1


def _misfit(column: pl.Series, place: Callable[[int], str], time_format: str | None) -> InputError:
    """Say which value is the first that fits no form that the ones before it have."""
    left: set[str] = set()
    kind = None
    for number, value in enumerate(column):
        if value is None:
            continue
        fitting = {
            form.order: _kind(form)
            for form in forms_of([value], time_format)
            if _read(form, value) is not None
        }
        if not fitting and time_format is not None:
            problem = f"{shown(value)} is not as the time format {shown(time_format)} says"
            return InputError(problem, where=place(number), hint="give the form of all of them")
        if not fitting:
            return no_time(value, place(number))
        now = next(iter(fitting.values()))
        if kind is not None and now != kind:
            return InputError(
                f"{shown(value)} is a {now}, but those before are each a {kind}",
                where=place(number),
                hint="write all timestamps in one way",
            )
        if left and not left & fitting.keys():
            words = " or ".join(word for order, word in _WORDS.items() if order in left)
            problem = f"{shown(value)} does not have the {words} first, as those before it have"
            return InputError(problem, where=place(number), hint=AMBIGUOUS_HINT)
        left = left & fitting.keys() if left else {*fitting}
        kind = now
    return InputError("the times are written in several ways", where=place(0), hint=AMBIGUOUS_HINT)


def _kind(form: Form) -> str:
    if form.order == "number":
        return "number"
    return "time with a zone" if form.is_zoned else "time without a zone"


def _read(form: Form, value: str) -> Any:
    import polars as pl  # noqa: PLC0415 - slow to import

    return pl.select(form.moments(pl.lit(value))).item()


def ambiguous(value: object, forms: Sequence[Form], where: str) -> InputError:
    """Return the complaint that a column can be read in several ways."""
    words = " or the ".join(_WORDS[form.order] for form in forms)
    problem = f"{shown(value)} and all others may have the {words} first"
    return InputError(problem, where=where, hint=AMBIGUOUS_HINT)


def given_form(time_format: object) -> Form:
    """Return the form that somebody names.

    Raises
    ------
    InputError
        Where it is none.
    """
    if isinstance(time_format, str) and time_format in _BY_WORD:
        return Form(_BY_WORD[time_format])
    known = isinstance(time_format, str) and "%" in time_format
    try:
        datetime.strptime("", str(time_format))  # noqa: DTZ007 - only the form is looked at
    except ValueError as error:
        known = known and "format" not in str(error).split("match format", maxsplit=1)[0]
    if not known:
        problem = f"the time format {shown(time_format)} is no form of a date"
        raise InputError(problem, hint="write it as '%d.%m.%Y %H:%M', or 'day-first'")
    return Form("given", (str(time_format),))


def no_time(value: object, where: str) -> InputError:
    """Return the complaint that a value is no time stamp."""
    return InputError(
        f"{shown(value)} is not a timestamp; expected ISO 8601, a number or a date",
        where=where,
        hint="write it as 2024-05-31T18:30:00, name its form with time_format=, or pass time='' to"
        " keep the given order",
    )


def is_date(value: object) -> bool:
    """Whether a value alone is surely a date: with its year in full, and no mere number.

    Examples
    --------
    >>> is_date("2024-05-31 18:30"), is_date("31.5.2024"), is_date("20240531"), is_date("1.2.10")
    (True, True, False, False)
    """
    if not isinstance(value, str):
        return isinstance(value, date)
    text = value.strip()
    if text.isdecimal() or not re.search(r"\d{4}", text):
        return False
    return any(_layout(text, order) for order in _PLACES)


def is_number(value: object) -> bool:
    """Whether a value may be a time stamp that is a number."""
    if isinstance(value, str):
        return bool(_NUMBER.fullmatch(value.strip()))
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
