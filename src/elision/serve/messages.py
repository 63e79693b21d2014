"""What comes in and goes out as JSON; requests are checked by these types."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

MOST_LINES = 100
LONGEST_LINE = 20_000
"""Lines of a telling and characters of a line that are taken at most."""

LONGEST_NAME = 2000
MOST_NAMES = 2000
MOST_ROWS = 200
"""Characters of a name, events that are renamed, and rows of a matrix, at most."""

Line: TypeAlias = Annotated[str, Meta(max_length=LONGEST_LINE)]
Telling: TypeAlias = Annotated[list[Line | None], Meta(max_length=MOST_LINES)]
"""Events or sentences in order; "?" or null where one is missing."""

Name: TypeAlias = Annotated[str, Meta(max_length=LONGEST_NAME)]
NewName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Count: TypeAlias = Annotated[int, Meta(ge=1, le=1000)]
Theme: TypeAlias = Literal["auto", "light", "dark"]
ItemKind: TypeAlias = Literal["event", "sentence", "denied", "gap", "unknown", "writing"]
LineKind: TypeAlias = Literal["event", "sentence", "denied", "gap", "unknown", "writing", "blank"]


class Asking(Struct, forbid_unknown_fields=True):
    """A telling to be restored.

    Nothing is judged, and nothing counts as passed after the last line, until it is ``finished``.
    ``writing`` is the line that somebody is typing, counted from 0: it may be half a word.
    """

    telling: Telling
    finished: bool = False
    writing: Annotated[int, Meta(ge=0, le=MOST_LINES)] | None = None
    top: Count = 5


class Sharing(Struct, forbid_unknown_fields=True):
    """A telling to be shared; what is less probable than ``min_probability`` is left out."""

    telling: Telling
    finished: bool = True
    min_probability: Share = 0.5
    theme: Theme = "auto"


class Identifying(Struct, forbid_unknown_fields=True):
    """A telling of which the script is sought."""

    telling: Telling


class Problem(Struct):
    """Why a request was refused, in one line."""

    problem: str


class Listed(Struct):
    """A script of the list: ``source`` is where it comes from, ``tellings`` are beside it."""

    id: str
    name: str
    events: int
    narratives: int | None
    sentences: bool
    learned: bool
    source: str = ""
    tellings: int = 0


class Shelf(Struct):
    """All scripts."""

    scripts: list[Listed]


class Answer(Struct):
    """An event and its probability."""

    event: str
    probability: float


class Example(Struct):
    """A telling to begin with."""

    title: str
    telling: list[str]


class Details(Struct):
    """Everything about a script that the page shows without asking again."""

    id: str
    name: str
    summary: str
    sentences: bool
    events: list[str]
    examples: list[Example]
    source: str = ""


class Oddity(Struct):
    """Something odd about a line, or about what is missing before it."""

    kind: str
    event: str
    note: str


class Heard(Struct):
    """What a line was taken for, with the step of the outline that it tells, null if none."""

    event: str
    step: int | None


class ToldLine(Struct):
    """One line of a telling.

    ``denied`` are the events that it says did not happen. ``parts`` are the pieces of a line that
    tells several things one after the other. A line that is not understood has the ``near`` events;
    a gap, or a sentence that is not clear, has ``options``, likeliest first. ``flags`` are empty
    unless the telling is judged.
    """

    text: str
    kind: LineKind
    heard: list[Heard]
    denied: list[str]
    parts: list[str]
    near: list[str]
    options: list[Answer]
    flags: list[Oddity]


class Gap(Struct):
    """What was probably left out before a line, or after the last one.

    ``something`` is the probability that any of the ``steps`` was; each is listed at the place
    where it most probably happened, and its own probability stands in `Restored.steps`.
    """

    something: float
    steps: list[int]
    flags: list[Oddity]


class StepNow(Struct):
    """A step of the outline: the lines that tell it, or how probably it happened untold.

    ``denied`` are the lines that say that it did not happen; what is not told either was not done.
    """

    step: int
    lines: list[int]
    denied: list[int]
    unsaid: float
    astray: bool


class Verdict(Struct):
    """How a finished telling compares with others; ``p`` is the share of drawn ones as unusual."""

    odd: bool
    p: float | None
    summary: str


class Restored(Struct):
    """A telling restored: the one answer that text and outline are shown from.

    ``gaps[i]`` comes before ``lines[i]``, the last one after all. ``judged`` is null until the
    telling is finished.
    """

    lines: list[ToldLine]
    gaps: list[Gap]
    steps: list[StepNow]
    next: list[Answer]
    ended: float
    judged: Verdict | None


class StepInfo(Struct):
    """A step of the outline: how to say it, how often it is told and done, what stands around.

    ``given`` is the step done long before, if this one is, where a choice was made by that.
    """

    step: int
    name: str
    event: str
    words: str
    wording: list[str]
    told: float
    happens: float
    before: list[int]
    after: list[int]
    instead: list[int]
    given: int | None


class Bond(Struct):
    """Two steps that stand directly one before the other, and in how many tellings they do."""

    before: int
    after: int
    holds: int
    broken: int


class Outlined(Struct):
    """The outline of a script: its drawing, which nothing moves, and what is known of its steps."""

    svg: str
    tellings: int
    steps: list[StepInfo]
    bonds: list[Bond]


class Match(Struct):
    """How probable it is that a telling is of this script; null for none of them."""

    script: str | None
    name: str
    probability: float


class Identified(Struct):
    """The scripts, the most probable one first; empty if nothing was understood."""

    matches: list[Match]


# --- files of tellings, learning, and the tellings beside a script


class Columns(Struct, frozen=True, forbid_unknown_fields=True):
    """Which columns of a table hold what; null goes by common names, "" is none."""

    case: Name | None = None
    activity: Name | None = None
    time: Name | None = None
    domain: Name | None = None


class Choices(Struct, frozen=True, forbid_unknown_fields=True):
    """How a file is to be taken.

    ``sentences`` is null to go by what the file says, ``each_row`` (of a table, whether each row is
    one telling) to go by what it looks like. ``names`` gives events other names; those
    that get the same one become one event.
    """

    columns: Columns = Columns()
    sentences: bool | None = None
    each_row: bool | None = None
    names: Annotated[dict[Name, NewName], Meta(max_length=MOST_NAMES)] = {}


class Domain(Struct):
    """One activity of a file: how many tellings it has, and how many lines they have together."""

    name: str
    tellings: int
    lines: int


class Looked(Struct):
    """What a file seems to be.

    A ``table`` has ``columns``, its first ``rows``, and what the columns are taken for; as long as
    case or activity are not known there are no tellings, unless each row is one. ``problem`` is
    what is in the way. ``recognised`` is whether the lines were taken for sentences or events by
    what they look like, and not by what the file says.
    """

    upload: str
    name: str
    kind: Literal["tellings", "script"]
    format: str = ""
    problem: str = ""
    columns: list[str] = []
    rows: list[list[str]] = []
    chosen: Columns = Columns()
    each_row: bool | None = None
    sentences: bool = False
    recognised: bool = False
    domains: list[Domain] = []
    first: list[list[str]] = []


class Opened(Struct):
    """The script that was put on the list, or that got tellings beside it."""

    script: str
    tellings: int


class Job(Struct):
    """A learning job; ``scripts`` are the results so far, ``seconds`` how long it has run."""

    id: str
    name: str
    state: Literal["running", "done", "stopped", "failed"]
    problem: str
    scripts: list[str]
    upload: str
    choices: Choices
    seconds: float


class JobList(Struct):
    """The jobs that are remembered, the newest last."""

    jobs: list[Job]


class Passage(Struct, forbid_unknown_fields=True):
    """A way from one step to another: told one directly after the other, or with some between."""

    after: Name
    before: Name
    direct: bool = True


class Browsing(Struct, forbid_unknown_fields=True):
    """Which tellings of a script to show, in which order.

    ``steps`` is the share of the steps that is shown, the most told ones; ``paths`` the share of
    the tellings that the shown variants make up, the most frequent ones.
    """

    sort: Literal["count", "oddness", "length", "similarity"] = "count"
    step: Name = ""
    part: Literal["told", "unsaid", "absent"] = "told"
    gap: Passage | None = None
    words: Name = ""
    like: Telling = []
    steps: Share = 1.0
    paths: Share = 1.0
    offset: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = 60


class Column(Struct):
    """A step: its place in the outline, and how many of the tellings that fit tell or omit it."""

    step: int
    name: str
    told: int
    unsaid: int


class Row(Struct):
    """A variant: tellings that tell the same events in the same order.

    For each shown step ``told`` says how often it is told, and ``unsaid`` how probably it happened
    untold. ``other`` are events that are no step. ``oddness`` is null until it is known, ``odd``
    the verdict.
    """

    number: int
    lines: list[str]
    count: int
    ids: list[str]
    told: list[int]
    unsaid: list[float]
    other: int
    oddness: float | None
    odd: bool


class Matrix(Struct):
    """Tellings against steps; ``rows`` are some of the ``variants`` that fit."""

    columns: list[Column]
    rows: list[Row]
    offset: int
    variants: int
    tellings: int
    all_variants: int
    all_tellings: int
    all_steps: int
    judged: int
