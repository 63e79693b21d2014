"""`Ensemble`: several scripts of one activity, which answer together."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from elision.ask.questions import Questions
from elision.errors import InputError, ScriptError
from elision.script import ROW_TOLERANCE, Script

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from elision.ask.align import Aligned
    from elision.ask.between import Story
    from elision.ask.following import Following
    from elision.ask.heard import Heard, Item
    from elision.ask.last_step import LastStep
    from elision.ask.posterior import StatePosterior
    from elision.observations import Observation, Unknown
    from elision.show.draw import Drawing
    from elision.text.extract import EventExtractor


class Ensemble(Questions):
    """Scripts learned from the same narratives in different ways.

    Gaps are filled by the average of the scripts and, if there is one, a last step that weighs in
    what no script can see. What was left unsaid and what comes next is the average of the scripts,
    too. Paths, states and pictures are those of the script to read. All other questions are
    answered by the mixture, which is a script itself: its start branches into all of them.

    Where the scripts disagree, the answers say so by their ``spread``; `each` gives every script's
    own answer to any question.

    Parameters
    ----------
    scripts
        The members, all over the same events in the same order.
    weights
        How much each counts; by default all the same.
    script
        The one to read: by default the first.
    last_step
        The last step of filling a gap.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> both = Ensemble([script, script.noted(copy=True)])
    >>> both
    Ensemble(2 scripts of 10 to 10 states, 10 events)
    >>> bool(np.isclose(both.log_prob(["open door"]), script.log_prob(["open door"])))
    True
    """

    def __init__(
        self,
        scripts: Sequence[Script],
        weights: ArrayLike | None = None,
        *,
        script: Script | None = None,
        last_step: LastStep | None = None,
    ) -> None:
        if not scripts:
            raise ScriptError("an ensemble of no scripts, expected at least one")
        for number, one in enumerate(scripts):
            if one.events != scripts[0].events:
                raise ScriptError("other events than the first script's", where=f"script {number}")
        given = np.ones(len(scripts)) if weights is None else np.array(weights, float)
        if given.shape != (len(scripts),) or not ((given >= 0).all() and given.sum() > 0):
            raise ScriptError(f"weights {weights!r}, expected one from 0 for each script")
        self._scripts = tuple(scripts)
        if abs(given.sum() - 1) > ROW_TOLERANCE:  # else a saved ensemble would change a bit
            given = given / given.sum()
        self._weights: NDArray[np.float64] = given
        self._weights.setflags(write=False)
        self._script = scripts[0] if script is None else script
        self._last_step = last_step

    @property
    def scripts(self) -> tuple[Script, ...]:
        """The members."""
        return self._scripts

    @property
    def weights(self) -> NDArray[np.float64]:
        """How much each member counts; they sum to one."""
        return self._weights

    @property
    def script(self) -> Script:
        """The one to read: it is the nearest to what all say together."""
        return self._script

    @property
    def last_step(self) -> LastStep | None:
        """What a filled gap is weighed by beside the scripts."""
        return self._last_step

    @property
    def events(self) -> tuple[str, ...]:
        """Names of the events that can be told."""
        return self._script.events

    @property
    def about(self) -> dict[str, Any]:
        """Notes kept with the script to read."""
        return self._script.about

    @property
    def extractor(self) -> EventExtractor | None:
        """What turns sentences into events, if the ensemble was learned from sentences."""
        return self._script.extractor

    def noted(self, **notes: Any) -> Ensemble:
        """Return the same ensemble with more notes in `about`."""
        script = self._script.noted(**notes)
        return Ensemble(self._scripts, self._weights, script=script, last_step=self._last_step)

    @cached_property
    def asked(self) -> Script:
        """The mixture of the scripts, as a script."""
        return mixture(self._scripts, self._weights, about=self.about)

    def each(self, question: str, *arguments: Any, **options: Any) -> list[Any]:
        """Every script's own answer to a question, by the name of its method.

        Examples
        --------
        >>> import elision as el
        >>> pair = Ensemble([el.examples.doorbell()] * 2)
        >>> [next_.answers[0].event for next_ in pair.each("next", ["hear doorbell"], top=1)]
        ['walk to door', 'walk to door']
        """
        if question.startswith("_") or not hasattr(Questions, question):
            raise InputError(f"question {question!r}, expected a method of a script")
        return [getattr(script, question)(*arguments, **options) for script in self._scripts]

    def fill(
        self,
        narrative: Iterable[Item],
        *,
        top: int | None = None,
        exclude: Iterable[str] = (),
        unknown: Unknown = "error",
        joint: bool = False,
        anywhere: bool = False,
    ) -> Any:
        """Rank the events that may fill the gaps of a narrative, see `Script.fill`.

        Gaps by themselves, and one event missing anywhere, go through the last step; fillings of
        all gaps together, and stretches (...), are the mixture's.
        """
        from elision.ask.combined import fill_anywhere, fill_heard  # noqa: PLC0415
        from elision.ask.heard import hear  # noqa: PLC0415

        heard = hear(self._script, narrative, unknown=unknown)
        if joint or any(item is ... for item in heard.items):
            return super().fill(
                narrative,
                top=top,
                exclude=exclude,
                unknown=unknown,
                joint=joint,  # type: ignore[call-overload]
                anywhere=anywhere,
            )
        if anywhere:
            return fill_anywhere(self, heard, top=top, exclude=exclude)
        return fill_heard(self, [heard], top=top, exclude=exclude)[0]

    def fill_many(
        self,
        narratives: Iterable[Iterable[Item]],
        *,
        top: int | None = None,
        exclude: Iterable[str] = (),
        unknown: Unknown = "error",
    ) -> Any:
        """Fill the gaps of many narratives, each gap by itself, in far less time."""
        from elision.ask.combined import fill_heard  # noqa: PLC0415

        return fill_heard(self, self._heard(narratives, unknown), top=top, exclude=exclude)

    def between(
        self,
        narrative: Iterable[Item],
        *,
        unknown: Unknown = "error",
        least: float = 0.05,
        ways: int = 0,
    ) -> Story:
        """What probably happened unsaid, averaged over the scripts, see `Script.between`."""
        from elision.ask.averaged import average_story  # noqa: PLC0415
        from elision.ask.heard import hear, single  # noqa: PLC0415

        heard = hear(self._script, narrative, unknown=unknown)
        return average_story(self, single(heard, "between"), least, ways)

    def between_many(
        self,
        narratives: Iterable[Iterable[Item]],
        *,
        unknown: Unknown = "error",
        least: float = 0.05,
    ) -> list[Story]:
        """What happened unsaid in each of many narratives."""
        return [self.between(one, unknown=unknown, least=least) for one in narratives]

    def next(
        self,
        narrative: Iterable[Item],
        *,
        steps: int = 1,
        top: int | None = None,
        unknown: Unknown = "error",
    ) -> Following:
        """Which event is told next, averaged over the scripts, see `Script.next`."""
        from elision.ask.averaged import average_following  # noqa: PLC0415
        from elision.ask.heard import check_top, hear  # noqa: PLC0415

        check_top(top)
        heard = hear(self._script, narrative, unknown=unknown)
        return average_following(self, heard.items, steps=steps, top=top)

    def align(self, narrative: Iterable[Observation], *, unknown: Unknown = "error") -> Aligned:
        """The most probable path through the script to read, see `Script.align`."""
        return self._script.align(narrative, unknown=unknown)

    def posterior(
        self, narrative: Iterable[Observation], *, unknown: Unknown = "error"
    ) -> StatePosterior:
        """Which state of the script to read told which event, see `Script.posterior`."""
        return self._script.posterior(narrative, unknown=unknown)

    def draw(self, path: str | PathLike[str] | None = None, **options: Any) -> Drawing:
        """Draw the script to read, see `Script.draw`."""
        return self._script.draw(path, **options)

    def export(self, path: str | PathLike[str], *, least: float | None = None) -> None:
        """Write the script to read for other tools, see `Script.export`."""
        self._script.export(path, least=least)

    def _repr_html_(self) -> str:
        return self._script._repr_html_()

    def _heard(self, narratives: Iterable[Iterable[Item]], unknown: Unknown) -> list[Heard]:
        from elision.ask.heard import hear_all  # noqa: PLC0415

        return hear_all(self._script, narratives, unknown=unknown)

    def log_prob(self, narrative: Iterable[Any], *, unknown: Unknown = "error") -> float:
        """Log-probability of one narrative under the mixture."""
        return self.asked.log_prob(narrative, unknown=unknown)

    def log_probs(
        self, narratives: Iterable[Iterable[Any]], *, unknown: Unknown = "error"
    ) -> NDArray[np.float64]:
        """Log-probability of each of many narratives under the mixture."""
        return self.asked.log_probs(narratives, unknown=unknown)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the ensemble to a JSON file (see ``docs/format.md``), whole or not at all."""
        from elision.ensemblefile import save  # noqa: PLC0415

        save(self, path)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ensemble):
            return NotImplemented
        return (
            self._scripts == other._scripts
            and np.array_equal(self._weights, other._weights)
            and self._script == other._script
            and self._last_step == other._last_step
        )

    def __hash__(self) -> int:
        return hash((self._scripts, self._script))

    def __repr__(self) -> str:
        sizes = [script.size - 2 for script in self._scripts]
        return (
            f"Ensemble({len(sizes)} scripts of {min(sizes)} to {max(sizes)} states,"
            f" {len(self.events)} events)"
        )


def mixture(
    scripts: Sequence[Script],
    weights: NDArray[np.float64],
    *,
    about: dict[str, Any] | None = None,
) -> Script:
    """One script that first chooses among others by their weights, and then goes its way.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> mixture([script, script], np.array([0.5, 0.5])).size
    22
    """
    inner = [script.size - 2 for script in scripts]
    size = sum(inner) + 2
    transition = np.zeros((size, size))
    emission = np.zeros((size, len(scripts[0].events)))
    elision = np.zeros(size)
    first = 1
    for script, weight, count in zip(scripts, weights.tolist(), inner, strict=True):
        here = slice(first, first + count)
        transition[0, here] = weight * script.transition[0, 1:-1]
        transition[0, -1] += weight * script.transition[0, -1]
        transition[here, here] = script.transition[1:-1, 1:-1]
        transition[here, -1] = script.transition[1:-1, -1]
        emission[here] = script.emission[1:-1]
        elision[here] = script.elision[1:-1]
        first += count
    return Script(scripts[0].events, transition, emission, elision, about=about)
