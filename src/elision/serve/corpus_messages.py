"""What comes in and goes out as JSON about files of tellings, and about the tellings in them."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from elision.serve.messages import Share, Telling  # noqa: TC001 - msgspec reads the annotations

LONGEST_NAME = 2000
MOST_NAMES = 2000
MOST_ROWS = 200

Name: TypeAlias = Annotated[str, Meta(max_length=LONGEST_NAME)]
NewName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]


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
    """A learning job; ``scripts`` are the results so far, ``seconds`` how long ago it began."""

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
