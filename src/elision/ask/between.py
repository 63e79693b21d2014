"""What probably happened unsaid before, between and after the events of a narrative."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from elision import _html, ask
from elision.ask.engine import checks
from elision.ask.engine.at_once import in_slices
from elision.ask.engine.frames import frame_of
from elision.ask.fill import emission_shares
from elision.ask.heard import hear, hear_all, impossible, label_of, single
from elision.errors import relocated
from elision.values.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.ask.heard import Heard, Item
    from elision.values.observations import Unknown
    from elision.values.script import Script


@dataclass(frozen=True, slots=True)
class Unsaid:
    """An event that probably happened and was not told.

    ``probability`` is that of its having been passed over in silence at this place at least once,
    and ``expected`` how often it was: more than the probability where states repeat themselves or
    several stand for the event.
    """

    event: str
    expected: float
    probability: float


@dataclass(frozen=True, slots=True)
class Gap:
    """One place of a story: after the event ``after`` and before ``before``, None at the ends.

    ``nothing`` is the probability that nothing was left unsaid here, ``unsaid`` are the events that
    may have been, in the order in which they come.
    """

    after: str | None
    before: str | None
    nothing: float
    unsaid: tuple[Unsaid, ...]

    @property
    def something(self) -> float:
        """Probability that something was left unsaid here."""
        return 1 - self.nothing


@dataclass(frozen=True, slots=True)
class Story:
    """A narrative with what was probably left unsaid.

    Attributes
    ----------
    told
        The events that were told; with a ? where it may as well have been another.
    unsaid
        ``unsaid[i]`` comes before ``told[i]``, and the last one after the last event.
    nothing
        Probability that nothing was left unsaid, for the same places.
    log_prob
        Log-probability of the narrative.
    """

    told: tuple[str, ...]
    unsaid: tuple[tuple[Unsaid, ...], ...]
    nothing: tuple[float, ...]
    log_prob: float

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """The places of the story, one more than events were told."""
        ends = pairwise((None, *self.told, None))
        return tuple(
            Gap(after, before, nothing, unsaid)
            for (after, before), nothing, unsaid in zip(
                ends, self.nothing, self.unsaid, strict=True
            )
        )

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dictionary for each event that happened unsaid, with its place."""
        columns = ask.many.STORY_COLUMNS
        return [dict(zip(columns, row, strict=True)) for row in ask.many.story_rows(self)]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the rows as a data frame of pandas, polars or pyarrow.

        Raises
        ------
        InputError
            If that library is not installed.

        Examples
        --------
        >>> import elision as el
        >>> frame = el.examples.doorbell().between(["hear doorbell", "open door"]).to_frame()
        >>> frame[["place", "event"]].values.tolist()[0]
        [1, 'walk to door']
        """
        return frame_of(ask.many.STORY_COLUMNS, self.to_rows(), backend)

    def __str__(self) -> str:
        lines: list[str] = []
        for place, gap in enumerate(self.unsaid):
            if len(gap) > 1:
                lines.append(f"  {1 - self.nothing[place]:.0%}: something was left out here")
            lines += [f"  ({step.event}, {step.probability:.0%})" for step in gap]
            lines += self.told[place : place + 1]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows: list[tuple[str | float, ...]] = []
        for place, gap in enumerate(self.unsaid):
            rows += [("", step.event, step.probability) for step in gap]
            rows += [(event, "", "") for event in self.told[place : place + 1]]
        return _html.table(["told", "unsaid", "probability"], rows)


def between(
    script: Script,
    narrative: Iterable[Item],
    *,
    unknown: Unknown = "error",
    min_probability: float = 0.05,
    finished: bool = True,
) -> Story:
    """Tell what probably happened unsaid in each gap of a narrative, the ends included.

    A state that was passed in silence is taken to stand for the events that it tells when it does.

    Parameters
    ----------
    script
        The script of the activity.
    narrative
        The events that were told, in order.
    unknown
        What to do with events that the script does not know: "error" or "ignore".
    min_probability
        Leave out what is less probable than this.
    finished
        Whether the telling is at its end; if not, what comes after its last event is still to come.

    Raises
    ------
    InputError
        If the script cannot tell this narrative at all.

    Examples
    --------
    >>> import elision as el
    >>> print(el.examples.doorbell().between(["hear doorbell", "open door"]))
    hear doorbell
      100%: something was left out here
      (walk to door, 100%)
      (look through peephole, 23%)
    open door
      100%: something was left out here
      (greet visitor, 42%)
      (let visitor in, 21%)
      (sign for parcel, 13%)
      (take parcel, 58%)
      (say goodbye, 34%)
      (close door, 100%)
    """
    if not finished:
        return ask.engine.unfinished.between(
            script, narrative, unknown=unknown, min_probability=min_probability
        )
    heard = hear(script, narrative, unknown=unknown)
    (story,) = _stories(script, [heard], min_probability)
    if story is None:
        raise impossible()
    return story


def between_many(
    script: Script,
    narratives: Iterable[Iterable[Item]],
    *,
    unknown: Unknown = "error",
    min_probability: float = 0.05,
) -> list[Story]:
    """Tell what happened unsaid in each of many narratives, as `between` does, in far less time.

    Examples
    --------
    >>> import elision as el
    >>> tellings = [["open door"], ["close door"]]
    >>> stories = between_many(el.examples.doorbell(), tellings, min_probability=0.9)
    >>> [[step.event for step in story.unsaid[-1]] for story in stories]
    [['close door'], []]
    """
    heard = hear_all(script, narratives, unknown=unknown)
    stories = in_slices(heard, script.size, lambda part: _stories(script, part, min_probability))
    for number, story in enumerate(stories):
        if story is None:
            raise relocated(impossible(), f"narrative {number}")
    return [story for story in stories if story is not None]


def _stories(script: Script, heard: list[Heard], min_probability: float) -> list[Story | None]:
    """The story of each narrative, None where the script cannot tell it."""
    min_probability = checks.probability(min_probability, "min_probability")
    items = [single(one, "between") for one in heard]
    packed = Packer(script.events).pack(items)
    shares = emission_shares(script.emission)
    anything = shares.any(axis=1, keepdims=True)
    chance, passes, first, log_prob = script.lattice.silences(packed, np.hstack([shares, anything]))
    gaps = unsaid_of(script.events, passes, shares, chance[:, :-1], min_probability)
    nothing = np.clip(1 - chance[:, -1], 0, 1).tolist()
    rows = first.tolist()
    return [
        Story(
            tuple([label_of(item) for item in narrative]),
            tuple(gaps[rows[s] : rows[s + 1]]),
            tuple(nothing[rows[s] : rows[s + 1]]),
            probability,
        )
        if probability > -np.inf
        else None
        for narrative, s, probability in zip(
            items, packed.place.tolist(), log_prob[packed.place].tolist(), strict=True
        )
    ]


def unsaid_of(
    events: tuple[str, ...],
    passes: NDArray[np.float64],
    shares: NDArray[np.float64],
    chance: NDArray[np.float64],
    min_probability: float,
) -> list[tuple[Unsaid, ...]]:
    """Return the events of each place, in the order of the states that stand for them."""
    expected = passes @ shares
    depth = (passes * np.arange(len(shares))) @ shares
    row, event = np.nonzero((chance >= min_probability) & (expected > 0))
    value = expected[row, event]
    order = np.lexsort((event, depth[row, event] / value, row))
    found = [
        Unsaid(events[o], often, probability)
        for o, often, probability in zip(
            event[order].tolist(),
            value[order].tolist(),
            np.minimum(chance[row, event], 1.0)[order].tolist(),
            strict=True,
        )
    ]
    ends = np.searchsorted(row, np.arange(len(passes) + 1)).tolist()
    return [tuple(found[a:b]) for a, b in pairwise(ends)]
