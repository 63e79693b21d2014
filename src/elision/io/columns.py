"""Which columns of a table hold the case, the activity, the time and the domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elision.errors import InputError, shown
from elision.io.times import is_date, is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    # For case, activity, time and domain: a column, "" for none, None to go by common names.
    Roles = dict[str, str | None]
    # The first cells of some columns.
    Cells = Callable[[list[str]], Mapping[str, Sequence[object]]]

LIFECYCLE_KEY = "lifecycle:transition"

# Names as `_folded` leaves them, the surest first; two of one rank are not told apart.
_KNOWN: dict[str, tuple[frozenset[str], ...]] = {
    "case": (
        frozenset({"caseconceptname"}),
        frozenset({"caseid", "case", "traceid", "trace", "narrativeid", "narrative"}),
        frozenset({"storyid", "story", "sessionid", "casenumber", "caseno", "casekey", "casename"}),
        frozenset({"telling", "tellingid", "session"}),
        frozenset({"processinstance", "processinstanceid", "instanceid", "ticketid", "ticket"}),
    ),
    "activity": (
        frozenset({"conceptname"}),
        frozenset({"activity", "activityname", "event", "eventname"}),
        frozenset({"activityid", "activitytype", "eventtype", "action", "task", "taskname"}),
        frozenset({"step", "stepname", "operation"}),
        frozenset({"what", "whathappened", "happening"}),
    ),
    "time": (
        frozenset({"timetimestamp"}),
        frozenset({"timestamp", "completetimestamp", "completetime", "eventtime"}),
        frozenset({"eventtimestamp", "eventdatetime", "activitytimestamp", "completiontime"}),
        frozenset({"time", "datetime", "date", "endtime", "endtimestamp", "enddate"}),
        frozenset({"starttimestamp", "starttime", "startdate"}),
    ),
    "domain": (frozenset({"domain", "casedomain"}),),
}
_NEEDED = ("case", "activity")
_LIKELY_TIMES = (
    *("occurred", "occurredat", "occurredon", "happened", "happenedat", "eventdate", "when"),
    *("completed", "completedat", "ended", "endedat", "end", "finished", "finishedat"),
    *("started", "startedat", "start", "created", "createdat", "createdon", "recordedat"),
)
"""Names of times, surest first, that may mean something else: what stands in the column decides."""

FIRST_CELLS = 20
"""Cells of a column that are looked at to see whether it holds times, or transitions."""

_LIFECYCLES = frozenset(
    {"lifecycletransition", "lifecycle", "transition", "transitiontype", "eventlifecycle"}
    | {"lifecyclestate", "lifecyclephase", "eventtype"}
)
_TRANSITIONS = frozenset(
    {"schedule", "assign", "reassign", "start", "suspend", "resume", "complete", "withdraw"}
    | {"autoskip", "manualskip", "pi_abort", "ate_abort", "unknown"}
)
"""What the lifecycle extension of XES knows."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns to read; None for those that the table does without."""

    case: str
    activity: str
    time: str | None = None
    domain: str | None = None
    lifecycle: str | None = None

    @property
    def roles(self) -> tuple[str | None, ...]:
        """The columns in the order of the fields."""
        return self.case, self.activity, self.time, self.domain, self.lifecycle

    @property
    def used(self) -> list[str]:
        """The columns that are there, each once."""
        return list(dict.fromkeys(name for name in self.roles if name is not None))


def choose(
    names: Sequence[object], roles: Roles, where: str, cells: Cells | None = None
) -> Columns:
    """Find the columns of a table.

    Where no column has a common name for the time, it is the only one that holds dates; of several,
    the one whose name says most. Whether events are complete is said by `lifecycle:transition`, or
    by a column of a like name that holds nothing but transitions.

    Parameters
    ----------
    names
        All columns of the table.
    roles
        What was asked for.
    where
        The table, for messages.
    cells
        Gives the first cells of some columns.

    Returns
    -------
    Columns

    Raises
    ------
    InputError
        Where a column is not there, or two would do equally well.
    """
    texts = [name for name in names if isinstance(name, str)]
    asked = {role: _asked(texts, role, roles[role], where) for role in _KNOWN}
    free = [name for name in texts if name not in asked.values()]
    found = {role: asked[role] or _guessed(free, role, roles[role], where) for role in _KNOWN}
    case, activity = found["case"], found["activity"]
    if case is None or activity is None:
        role = "case" if case is None else "activity"
        raise InputError(
            f"no column looks like the {role}; the columns are {_listed(texts)}",
            where=where,
            hint=f"name it with {role}=",
        )
    rest = [name for name in free if name not in found.values() and texts.count(name) == 1]
    if found["time"] is None and roles["time"] is None and cells is not None:
        found["time"] = _timed(cells(rest)) if rest else None
    lifecycle = LIFECYCLE_KEY if LIFECYCLE_KEY in texts else None
    if lifecycle is None and cells is not None:
        named = [name for name in rest if _folded(name) in _LIFECYCLES]
        lifecycle = _phased(cells(named)) if named else None
    chosen = Columns(case, activity, found["time"], found["domain"], lifecycle)
    for name in chosen.used:
        if texts.count(name) > 1:
            raise InputError(f"two columns are named {shown(name)}", where=where)
    return chosen


def _asked(names: list[str], role: str, name: str | None, where: str) -> str | None:
    if not name:
        return None
    if name not in names:
        hint = "" if role != "domain" else ", or '' for none; in a table, domain= names a column"
        raise InputError(
            f"no column {shown(name)} for the {role}; the columns are {_listed(names)}",
            where=where,
            hint=f"give one of them as {role}={hint}",
        )
    return name


def _guessed(names: list[str], role: str, asked: str | None, where: str) -> str | None:
    if asked == "" and role not in _NEEDED:
        return None
    for rank in _KNOWN[role]:
        fitting = [name for name in names if _folded(name) in rank]
        if len(fitting) > 1:
            raise InputError(
                f"{_listed(fitting)} could each be the {role}",
                where=where,
                hint=f"name it with {role}=; the columns are {_listed(names)}",
            )
        if fitting:
            return fitting[0]
    return None


def _timed(cells: Mapping[str, Sequence[object]]) -> str | None:
    """The column that holds times, by its first cells; None where there is none, or several."""
    dated = [name for name, values in cells.items() if values and all(map(is_date, values))]
    if len(dated) == 1:
        return dated[0]
    for likely_name in _LIKELY_TIMES:
        named = [name for name in dated or cells if _folded(name) == likely_name]
        if len(named) == 1 and cells[named[0]] and (dated or all(map(is_number, cells[named[0]]))):
            return named[0]
    return None


def _phased(cells: Mapping[str, Sequence[object]]) -> str | None:
    """The only column that holds transitions, by its first cells."""
    found = []
    for name, values in cells.items():
        said = {str(value).strip().lower() for value in values if value is not None} - {""}
        if said and said <= _TRANSITIONS:
            found.append(name)
    return found[0] if len(found) == 1 else None


def time_of(names: Sequence[str], asked: str | None) -> str | None:
    """Return the one of some fields that says when events happened, if there is one."""
    if asked is not None:
        return asked if asked in names else None
    return _guessed(list(names), "time", None, "narratives")


def likely(names: Sequence[str]) -> Roles:
    """Return the columns that go by common names, None for a role that none or several could have.

    Examples
    --------
    >>> likely(["Case ID", "Activity", "who"])
    {'case': 'Case ID', 'activity': 'Activity', 'time': None, 'domain': None}
    """
    found: Roles = {}
    for role in _KNOWN:
        try:
            found[role] = _guessed([*names], role, None, "")
        except InputError:  # several could be it
            found[role] = None
    return found


def looks_known(names: Sequence[str]) -> bool:
    """Whether the names include one for the case and one for the activity."""
    folded = set(map(_folded, names))
    return all(any(rank & folded for rank in _KNOWN[role]) for role in _NEEDED)


def _folded(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(map(shown, names[:most])) + (", …" if len(names) > most else "")
