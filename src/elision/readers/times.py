"""Time stamps of a whole column: the one form that all of them have, and moments in that form.

A form turns values into moments, numbers that grow with time, and moments into values again. What
it is, the whole column says: 01/02/2024 alone may be of January or of February.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Protocol, TypeAlias

from elision.errors import InputError, shown
from elision.readers._dates import EPOCH, manner_of, microseconds, moment_of, shape_of, written_like

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from elision.readers._dates import Order

    Place: TypeAlias = Callable[[int], str]

Moment: TypeAlias = int | float

_NUMBER, _ZONED, _LOCAL = "number", "time with a zone", "time without a zone"
_YEAR = re.compile(r"\d{4}")
_WORDS: dict[Order, str] = {"ymd": "year", "dmy": "day", "mdy": "month"}
_BY_WORD: dict[str, Order] = {"year-first": "ymd", "day-first": "dmy", "month-first": "mdy"}
AMBIGUOUS_HINT = "pass time_format= such as '%d.%m.%Y %H:%M', or 'day-first' or 'month-first'"


class Form(Protocol):
    """One way in which time stamps are written."""

    def read(self, value: object) -> tuple[str, Moment] | None:
        """Return the kind of a time stamp and its moment; None if it is not of this form."""

    def written(self, moment: Moment, like: object) -> object:
        """Return a moment as a value like another of the column, cut off and not rounded up."""

    def iso(self, moment: Moment) -> str | None:
        """Return a moment as ISO 8601; None if it is no date."""


class Numbers:
    """Time stamps that are numbers: seconds, milliseconds, days, or a mere count."""

    def read(self, value: object) -> tuple[str, Moment] | None:
        """Return "number", and the number."""
        number = _number(value)
        return None if number is None else (_NUMBER, number)

    def written(self, moment: Moment, like: object) -> object:
        """Return a whole number if the other is whole."""
        whole = isinstance(_number(like), int)
        number = math.floor(moment) if whole else float(moment)
        return str(number) if isinstance(like, str) else number

    def iso(self, moment: Moment) -> str | None:  # noqa: ARG002 - what a number counts is not known
        """Return None: what it counts, and since when, is not known."""
        return None


class Dated:
    """Dates in which year, month and day stand in one order."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self._zoned = False
        self._manner: frozenset[str] = frozenset()

    def read(self, value: object) -> tuple[str, Moment] | None:
        """Return whether a zone is said, and microseconds since 1970."""
        found = moment_of(value, self.order)
        if found is None:
            return None
        self._zoned = found.tzinfo is not None
        return _ZONED if self._zoned else _LOCAL, microseconds(found)

    def note(self, values: Iterable[object]) -> None:
        """Learn from the values of a column how they are written."""
        shapes = {shape_of(value) for value in values if isinstance(value, str)}
        found = self._manner.union(*map(manner_of, shapes))
        self._manner = found

    def written(self, moment: Moment, like: object) -> object:
        """Return a date with the marks, parts and zone of another."""
        model = moment_of(like, self.order)
        made = _date(moment)
        if model is None or made is None:
            return like
        zoned = made if model.tzinfo is None else made.astimezone(model.tzinfo)
        local = zoned.replace(tzinfo=model.tzinfo)
        if isinstance(like, str):
            return written_like(local, like, self.order, self._manner)
        if isinstance(like, int):
            return int(written_like(local, str(like), self.order, self._manner))
        return local if isinstance(like, datetime) else local.date()

    def iso(self, moment: Moment) -> str | None:
        """Return the date in UTC, or without a zone if there is none."""
        return _iso(moment, zoned=self._zoned)


class Written:
    """Dates in a form that was given, as `datetime.strptime` takes it."""

    def __init__(self, time_format: str) -> None:
        self._format = time_format
        self._zoned = "%z" in time_format or "%Z" in time_format

    def read(self, value: object) -> tuple[str, Moment] | None:
        """Return whether a zone is said, and microseconds since 1970."""
        if isinstance(value, datetime):
            found = value
        else:
            try:
                found = datetime.strptime(str(value).strip(), self._format)  # noqa: DTZ007
            except ValueError:
                return None
        return _LOCAL if found.tzinfo is None else _ZONED, microseconds(found)

    def written(self, moment: Moment, like: object) -> object:
        """Return the date in the same form, in the zone of the other."""
        made = _date(moment)
        if made is None or isinstance(like, datetime):
            return like
        zone = datetime.strptime(str(like).strip(), self._format).tzinfo  # noqa: DTZ007
        text = (made if zone is None else made.astimezone(zone)).strftime(self._format)
        return text if isinstance(like, str) else int(text)

    def iso(self, moment: Moment) -> str | None:
        """Return the date in UTC, or without a zone if there is none."""
        return _iso(moment, zoned=self._zoned)


def _number(value: object) -> Moment | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, int):
        return value
    try:
        # Nanoseconds since 1970 do not fit a float, so whole numbers stay whole.
        return int(value) if isinstance(value, str) else _finite(value)
    except ValueError:
        try:
            return _finite(float(value))
        except ValueError:
            return None


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _date(moment: Moment) -> datetime | None:
    try:
        return EPOCH + timedelta(microseconds=moment)
    except OverflowError:
        return None


def _iso(moment: Moment, *, zoned: bool) -> str | None:
    made = _date(moment)
    if made is None:
        return None
    return (made if zoned else made.replace(tzinfo=None)).isoformat()


class TimeColumn:
    """Finds the form of a column, from all of its values, seen at once or part by part.

    Parameters
    ----------
    time_format
        The form as `datetime.strptime` takes it, or "day-first", "month-first" or "year-first";
        None to find it.
    known
        The form, if it was found before.
    """

    def __init__(self, time_format: str | None = None, known: Form | None = None) -> None:
        self._given = time_format
        self.forms: list[Form] = _all_forms()
        if time_format is not None:
            self.forms = [given_form(time_format)]
        if known is not None:
            self.forms = [known]
        self.kind: str | None = None
        self.differing: object = None

    def see(self, values: Sequence[object], place: Place) -> list[tuple[Form, list[Moment]]]:
        """Return the moments of some values in each form that all values so far can have.

        Raises
        ------
        InputError
            Where no form is left, at the value that rules out the last one.
        """
        left = []
        for form in self.forms:
            found = _all_read(form, values)
            if found is not None:
                left.append((form, found))
        if not left:
            self._refuse(values, place)
        # Dates are no longer numbers: 20240531 is both, and in the same order.
        if len(left) > 1 and isinstance(left[0][0], Numbers):
            left = left[1:]
        self.forms = [form for form, _ in left]
        self._check_kinds(values, [kind for kind, _ in left[0][1]], place)
        moments = [(form, [moment for _, moment in pairs]) for form, pairs in left]
        for form, _ in moments:
            if isinstance(form, Dated):
                form.note(values)
        if self.differing is None:
            first = moments[0][1]
            for _, other in moments[1:]:
                unlike = (v for v, a, b in zip(values, first, other, strict=True) if a != b)
                self.differing = next(unlike, self.differing)
        return moments

    def form(self, where: str) -> Form:
        """Return the form.

        Raises
        ------
        InputError
            Where several are left that say different things.
        """
        if len(self.forms) > 1 and self.differing is not None:
            self.refuse_ambiguous(where)
        return self.forms[0]

    def refuse_ambiguous(self, where: str) -> None:
        """Say that the column can be read in several ways."""
        words = " or the ".join(
            _WORDS[form.order] for form in self.forms if isinstance(form, Dated)
        )
        raise InputError(
            f"{shown(self.differing)} and all others may have the {words} first",
            where=where,
            hint=AMBIGUOUS_HINT,
        )

    def _check_kinds(self, values: Sequence[object], kinds: Sequence[str], place: Place) -> None:
        for number, kind in enumerate(kinds):
            if self.kind is None:
                self.kind = kind
            if kind != self.kind:
                raise _other_kind(values[number], kind, self.kind, place(number))

    def _refuse(self, values: Sequence[object], place: Place) -> None:
        """Say which value is the first that fits no form that the ones before it have."""
        left = self.forms
        for number, value in enumerate(values):
            still = [form for form in left if form.read(value) is not None]
            if still:
                left = still
                read = still[0].read(value)
                self.kind = self.kind or (read and read[0])
                continue
            if self._given is not None:
                problem = f"{shown(value)} is not as the time format {shown(self._given)} says"
                raise InputError(problem, where=place(number), hint="give the form of all of them")
            found = _kind_alone(value)
            if found is None:
                raise no_time(value, place(number))
            if self.kind is not None and found != self.kind:
                raise _other_kind(value, found, self.kind, place(number))
            words = " or ".join(_WORDS[form.order] for form in left if isinstance(form, Dated))
            problem = f"{shown(value)} does not have the {words} first, as those before it have"
            raise InputError(problem, where=place(number), hint=AMBIGUOUS_HINT)


def _all_read(form: Form, values: Sequence[object]) -> list[tuple[str, Moment]] | None:
    """Return kind and moment of each value, None as soon as one of them is not of the form."""
    found = []
    for value in values:
        pair = form.read(value)
        if pair is None:
            return None
        found.append(pair)
    return found


def given_form(time_format: object) -> Form:
    """Return the form that somebody names.

    Raises
    ------
    InputError
        Where it is none.
    """
    if isinstance(time_format, str) and time_format in _BY_WORD:
        return Dated(_BY_WORD[time_format])
    known = isinstance(time_format, str) and "%" in time_format
    try:
        datetime.strptime("", str(time_format))  # noqa: DTZ007 - only the form is looked at
    except ValueError as error:
        known = known and "format" not in str(error).split("match format", maxsplit=1)[0]
    if not known:
        problem = f"the time format {shown(time_format)} is no form of a date"
        raise InputError(problem, hint="write it as '%d.%m.%Y %H:%M', or 'day-first'")
    return Written(str(time_format))


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
    if isinstance(value, str) and (value.strip().isdecimal() or not _YEAR.search(value)):
        return False
    dated = isinstance(value, str | date)
    return dated and any(Dated(order).read(value) is not None for order in _WORDS)


def is_number(value: object) -> bool:
    """Whether a value may be a time stamp that is a number."""
    return Numbers().read(value) is not None


def _all_forms() -> list[Form]:
    return [Numbers(), Dated("ymd"), Dated("dmy"), Dated("mdy")]


def _kind_alone(value: object) -> str | None:
    return next((read[0] for form in _all_forms() if (read := form.read(value))), None)


def _other_kind(value: object, kind: str, before: str, where: str) -> InputError:
    return InputError(
        f"{shown(value)} is a {kind}, but those before are each a {before}",
        where=where,
        hint="write all timestamps in one way",
    )


class Ticks:
    """Moments of a column that holds dates as such: whole numbers of its own unit."""

    def __init__(self, unit: str, zone: str | None) -> None:
        self.unit = unit
        self.zone = zone

    def read(self, value: object) -> tuple[str, Moment] | None:
        """Return the number itself."""
        return (_ZONED if self.zone else _LOCAL, value) if isinstance(value, int) else None

    def written(self, moment: Moment, like: object) -> object:  # noqa: ARG002 - all are alike
        """Return a whole number of ticks."""
        return math.floor(moment)

    def iso(self, moment: Moment) -> str | None:
        """Return the date in the zone of the column."""
        # A day is never cut short by a zone; nanoseconds are finer than Python's times.
        ticks = int(moment)
        made = _date(ticks // 1000 if self.unit == "ns" else ticks * _MICROSECONDS[self.unit])
        if made is None:
            return None
        if self.unit == "d":
            return made.date().isoformat()
        if self.zone is None:
            return made.replace(tzinfo=None).isoformat()
        return made.astimezone(_zone(self.zone)).isoformat()


_MICROSECONDS = {"d": 86_400_000_000, "s": 1_000_000, "ms": 1000, "us": 1}


def _zone(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - seldom needed

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
