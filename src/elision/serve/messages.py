"""What comes in and goes out as JSON; the API's documentation is made from these."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

MOST_LINES = 100
LONGEST_LINE = 20_000
"""Lines of a telling and characters of a line that are taken at most."""

Line: TypeAlias = Annotated[str, Meta(max_length=LONGEST_LINE)]
Telling: TypeAlias = Annotated[list[Line | None], Meta(max_length=MOST_LINES)]
"""Events or sentences in order; "?" or null where one is missing."""

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


class Filling(Struct, forbid_unknown_fields=True):
    """A telling with gaps to be filled."""

    telling: Telling
    top: Count = 5
    exclude: Telling = []


class Identifying(Struct, forbid_unknown_fields=True):
    """A telling of which the script is sought."""

    telling: Telling


class Follow(Struct, forbid_unknown_fields=True):
    """What is said to a follower: something to tell, to take it back, or that this was all."""

    tell: Line | None = None
    undo: bool = False
    finish: bool = False


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


class Filled(Struct):
    """Ranked answers for one gap; ``fallback`` if they do not depend on the rest of the telling."""

    position: int
    answers: list[Answer]
    fallback: bool


class Fillings(Struct):
    """Answers for every gap."""

    fillings: list[Filled]


class Match(Struct):
    """How probable it is that a telling is of this script; null for none of them."""

    script: str | None
    name: str
    probability: float


class Identified(Struct):
    """The scripts, the most probable one first; empty if nothing was understood."""

    matches: list[Match]


class Skipped(Struct):
    """A step that was not told, though its place has probably been passed.

    ``done`` is how probably it was done all the same; ``alarm`` whether it is worth speaking up;
    ``told`` how many tellings tell it; ``before``, of an alarm, which step told it comes before;
    ``within``, of one at the end, which step told it goes with, if only those tell it that tell
    that. Where a whole choice was skipped, ``step`` says one of which.
    """

    event: str
    step: str
    passed: float
    done: float
    alarm: bool
    told: float
    before: str | None
    within: str | None


class OutOfOrder(Struct):
    """A step told too late, at ``position`` from 0, that usually comes before another."""

    event: str
    position: int
    before: str
    probability: float
    alarm: bool


class Now(Struct):
    """What is known of a telling as of now; ``unknown`` is what the script does not know.

    ``knows_alarms`` is whether there were enough tellings to know how rare an alarm is.
    """

    count: int
    skipped: list[Skipped]
    out_of_order: list[OutOfOrder]
    next: list[Answer]
    ended: float
    progress: float
    unknown: list[str]
    finished: bool
    knows_alarms: bool


class Activity(Struct):
    """How probable it is that a telling is of this script; null for none of them."""

    name: str | None
    probability: float
    log_evidence: float | None


class Guess(Struct):
    """Which script a telling is of as of now, most probable first, and what is known by it.

    ``best`` and ``now`` are null where it is probably none of them. ``about`` is the script that
    ``now`` is by: the best one, or, if only the end says that it is none, the best before that.
    """

    best: str | None
    activities: list[Activity]
    now: Now | None
    about: str | None


class Failed(Struct):
    """What could not be done, in one line; all is as it was before."""

    error: Problem
