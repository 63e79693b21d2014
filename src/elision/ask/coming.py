"""What comes next in a telling that is followed, as the question `next` answers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from elision.ask.engine.filters import StateFilter, first_filter
from elision.ask.heard import name_of
from elision.ask.telling.ahead import beginnings, each_ahead, going_by_words, gone_on
from elision.ask.telling.slots import sketch, softmax
from elision.values.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.ask.engine.filters import Filter
    from elision.ask.telling.ahead import Begun
    from elision.values.observations import Observation
    from elision.values.script import Script

LONGEST = 1000
"""Events up to which all counts that open places may be; then only the likeliest of sentences."""


class Coming:
    """Probability of each event's coming next, kept up to date while a telling is told.

    An event by name costs the same, however many came before it. Where sentences may tell one of
    several events, or some event is not known, the likeliest ways to have begun are followed up,
    and words have their say.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> coming = Coming(script)
    >>> coming.tell("open door")
    >>> script.events[coming.chances().argmax()], script.next(["open door"]).answers[0].event
    ('greet visitor', 'greet visitor')
    """

    def __init__(self, script: Script) -> None:
        self._model, self._packer = script.telling, Packer(script.events)
        self._numbers = {event: o for o, event in enumerate(script.events)}
        self._items: list[Observation] = []
        # Before and after each item, an uncertain one being its likeliest event.
        self._filters: list[Filter] = [first_filter(script)]
        self._first_open: int | None = None
        # The ways to have begun, and what comes after each; None where that is not known by now.
        self._begun: tuple[list[Begun], NDArray[np.float64]] | None = None

    def tell(self, item: Observation) -> None:
        """Hear one more event."""
        weights = self._weights(item)
        last = self._filters[-1]
        if isinstance(last, StateFilter):
            self._filters.append(last.tell_any(weights))
        else:
            self._filters.append(last if item is None else last.tell(self._numbers[name_of(item)]))
        options = np.flatnonzero(weights)
        if len(options) > 1 and self._first_open is None:
            self._first_open = len(self._items)
        self._items.append(item)
        if self._model is not None and self._begun is not None:
            begun = gone_on(*self._begun, options, np.log(weights[options]))
            self._begun = begun, each_ahead(self._model, begun)

    def take_back(self, count: int) -> None:
        """Forget all but the first items."""
        del self._items[count:], self._filters[count + 1 :]
        self._begun = None
        if self._first_open is not None and self._first_open >= count:
            self._first_open = None

    def chances(self, denied: Iterable[str] = ()) -> NDArray[np.float64]:
        """Probability that each event comes next, the end last; nothing that was denied does."""
        ahead = self._ahead().copy()
        ahead[:, [self._numbers[event] for event in denied]] = -np.inf
        whole = np.logaddexp.reduce(ahead, axis=0)
        return softmax(whole) if whole.max() > -np.inf else np.zeros(len(whole))

    def _ahead(self) -> NDArray[np.float64]:
        """Log-probability of each way to have begun with each event after it."""
        if self._model is None:
            return self._filters[-1].next_log_probs()[None]
        if self._first_open is None or len(self._items) > LONGEST:
            self._begun = None
            ahead = self._filters[-1].next_log_probs()[None]
            return going_by_words(self._model, self._items, ahead)
        if self._begun is None:
            begun = beginnings(self._model, sketch(self._model, self._items))
            self._begun = begun, each_ahead(self._model, begun)
        return going_by_words(self._model, self._items, self._begun[1])

    def _weights(self, item: Observation) -> NDArray[np.float64]:
        """Of each event, that this is what was told."""
        if item is None:
            return np.ones(len(self._numbers))
        weights = np.zeros(len(self._numbers))
        if isinstance(item, Mapping):
            packed = self._packer.pack([[item]])
            return np.asarray(packed.soft[0])
        weights[self._numbers[name_of(item)]] = 1.0
        return weights
