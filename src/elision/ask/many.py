"""Answers about many narratives: a list, that knows their ids and can be a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from elision._backends import is_frame, library_of
from elision.ask.engine.frames import frame_of
from elision.ask.heard import id_of, several

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from elision.ask.between import Story
    from elision.ask.fill import Filling
    from elision.ask.following import Following
    from elision.ask.identify import Identification

    Rows = Callable[[Any], Iterator[tuple[Any, ...]]]

T = TypeVar("T")

STORY_COLUMNS = ("place", "after", "before", "event", "probability", "expected", "nothing")


class Answers(list[T]):
    """One answer a narrative, in the order in which they were given.

    Attributes
    ----------
    ids
        The id of each narrative: that of the `Narrative` or of the case in a frame, if it was one.
    """

    def __init__(
        self,
        found: Iterable[T],
        ids: Iterable[str | None],
        columns: tuple[str, ...],
        rows: Rows,
        backend: str | None,
    ) -> None:
        super().__init__(found)
        self.ids = tuple(ids)
        self._columns = ("id", "telling", *columns)
        self._rows = rows
        self._backend = backend

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (list(self), self.ids, self._columns[2:], self._rows, self._backend)
        return Answers, parts

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dictionary for each thing that is answered, with the id of its narrative."""
        return [
            dict(zip(self._columns, (name, number, *values), strict=True))
            for number, (name, one) in enumerate(zip(self.ids, self, strict=True))
            for values in self._rows(one)
        ]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the rows as a data frame of pandas, polars or pyarrow.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow"; by default as the narratives came, pandas if they came
            in no frame.

        Raises
        ------
        InputError
            If that library is not installed.
        """
        return frame_of(self._columns, self.to_rows(), backend or self._backend or "pandas")


class Asked:
    """Narratives that a question is asked about, with their ids; they may have come in a frame."""

    def __init__(self, narratives: object) -> None:
        self.backend = library_of(narratives) if is_frame(narratives) else None
        self.narratives = several(narratives)
        self.ids = [id_of(narrative) for narrative in self.narratives]

    def stories(self, found: Iterable[Story]) -> Answers[Story]:
        """Return what happened unsaid in each, a row an event at a place."""
        return Answers(found, self.ids, STORY_COLUMNS, story_rows, self.backend)

    def followings(self, found: Iterable[Following]) -> Answers[Following]:
        """Return what comes next after each, a row an event at a step; None for nothing more."""
        columns = ("step", "event", "probability")
        return Answers(found, self.ids, columns, following_rows, self.backend)

    def fillings(self, found: Iterable[list[Filling]]) -> Answers[list[Filling]]:
        """Return what fills the gaps of each, a row an event in a gap."""
        columns = ("position", "event", "probability")
        return Answers(found, self.ids, columns, filling_rows, self.backend)

    def identifications(self, found: Iterable[Identification]) -> Answers[Identification]:
        """Return which script each is of, a row a script; None for none of them."""
        columns = ("script", "probability", "log_evidence")
        return Answers(found, self.ids, columns, identification_rows, self.backend)


def story_rows(one: Story) -> Iterator[tuple[Any, ...]]:
    """Go through what happened unsaid in a story."""
    for place, gap in enumerate(one.gaps):
        for step in gap.unsaid:
            said = (step.event, step.probability, step.expected, gap.nothing)
            yield (place, gap.after, gap.before, *said)


def following_rows(one: Following) -> Iterator[tuple[Any, ...]]:
    """Go through what comes next, step by step."""
    for number, step in enumerate(one.steps, start=1):
        yield from ((number, answer.event, answer.probability) for answer in step.answers)
        yield number, None, step.ended


def filling_rows(one: list[Filling]) -> Iterator[tuple[Any, ...]]:
    """Go through what fills gaps."""
    for gap in one:
        yield from ((gap.position, answer.event, answer.probability) for answer in gap.answers)


def identification_rows(one: Identification) -> Iterator[tuple[Any, ...]]:
    """Go through the scripts that it may be."""
    for candidate in one.candidates:
        yield candidate.name, candidate.probability, candidate.log_evidence
