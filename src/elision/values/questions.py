"""Every question that can be put to a script, as methods; `elision.ask.who` says who answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, overload

from elision import ask, show
from elision._backends import is_frame
from elision.errors import InputError, numbered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    import numpy as np

    from elision.ask.align import Aligned
    from elision.ask.between import Story
    from elision.ask.compare import Comparison
    from elision.ask.fill import Filling
    from elision.ask.follow import Follower
    from elision.ask.following import Following
    from elision.ask.heard import Item
    from elision.ask.many import Answers
    from elision.ask.missing import Omissions
    from elision.ask.order import Ordering
    from elision.ask.posterior import StatePosterior
    from elision.ask.resolve import Resolution
    from elision.ask.sample import Sampled
    from elision.ask.score import Conformance, Conformances
    from elision.show.draw import Drawing
    from elision.show.outline_svg import Theme
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script


class Questions(ABC):
    """What can be asked of a script, or of anything that has one.

    Narratives are lists of events by name. None stands for some event, unknown which; a mapping
    from event to weight for one of several; ``...``, where it is allowed, for any number of events.
    If the script was learned from sentences, sentences will do as well. ``unknown="ignore"`` leaves
    out what the script does not know, instead of complaining.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> print(script.next(["hear doorbell", "open door"], top=1))
    greet visitor  35%
    (nothing more)  3%
    """

    @property
    @abstractmethod
    def asked(self) -> Script:
        """The script that answers."""

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
        """Rank the events that may fill the gaps of a narrative.

        Parameters
        ----------
        narrative
            Events, with None where one is missing; `between` says what happened where any number
            may be.
        top
            How many answers; all by default, ten if ``joint``.
        exclude
            Events that are no answer.
        unknown
            "error" or "ignore": what to do with events that the script does not know.
        joint
            Rank fillings of all gaps together, not each gap by itself.
        anywhere
            One event is missing, and it is not known where: the narrative has no gap.

        Returns
        -------
        list or Joint or Anywhere
            A `Filling` for each None; or see `elision.ask.joint` and `elision.ask.anywhere`.
        """
        if joint and anywhere:
            raise InputError("both joint and anywhere, expected one of them")
        question = "joint" if joint else "anywhere" if anywhere else "fill"
        return self._ask(question, narrative, top=top, exclude=exclude, unknown=unknown)

    def _ask(self, question: str, *arguments: Any, **options: Any) -> Any:
        """Put a question to whoever answers it."""
        script = self.asked
        return ask.who.who(script, question)(script, *arguments, **options)

    def fill_many(
        self,
        narratives: Iterable[Iterable[Observation]],
        *,
        top: int | None = None,
        exclude: Iterable[str] = (),
        unknown: Unknown = "error",
    ) -> Answers[list[Filling]]:
        """Fill the gaps of many narratives, each gap by itself, in far less time."""
        asked = ask.many.Asked(narratives)
        options = {"top": top, "exclude": exclude, "unknown": unknown}
        return asked.fillings(self._ask("fill_many", asked.narratives, **options))

    def missing(
        self,
        narrative: Iterable[Observation],
        *,
        min_probability: float = 0.05,
        unknown: Unknown = "error",
        finished: bool = True,
    ) -> Omissions:
        """Which events are probably missing from the record, and where.

        That is: what would stand in it, had nothing been removed? `between` says what happened,
        whether or not it would have been told. Of a record that is not ``finished``, or that ends
        in ``...``, nothing is missing after its last event.
        """
        told, finished = ask.heard.unfinished(narrative, finished)
        options = {"min_probability": min_probability, "unknown": unknown, "finished": finished}
        found: Omissions = self._ask("missing", told, **options)
        return found

    def between(
        self,
        narrative: Iterable[Observation],
        *,
        unknown: Unknown = "error",
        min_probability: float = 0.05,
        finished: bool = True,
    ) -> Story:
        """What probably happened unsaid before, between and after the events of a narrative.

        A telling that is not ``finished``, or that ends in ``...``, may go on: what comes after its
        last event is not taken for left out.
        """
        told, finished = ask.heard.unfinished(narrative, finished)
        found: Story = self._ask(
            "between",
            told,
            unknown=unknown,
            min_probability=min_probability,
            finished=finished,
        )
        return found

    def between_many(
        self,
        narratives: Iterable[Iterable[Observation]],
        *,
        unknown: Unknown = "error",
        min_probability: float = 0.05,
    ) -> Answers[Story]:
        """What happened unsaid in each of many narratives, in far less time.

        If one of them ends in ``...``, each is asked by itself. The narratives may be a data frame
        of an event log, as `elision.read` takes it; ``to_frame()`` of the answer is then a frame of
        the same library, with the ids of the cases. So it is with all questions about many
        narratives.
        """
        asked = ask.many.Asked(narratives)
        if not any(map(ask.heard.is_begun, asked.narratives)):
            options = {"unknown": unknown, "min_probability": min_probability}
            return asked.stories(self._ask("between_many", asked.narratives, **options))
        found = []
        for number, one in enumerate(asked.narratives):
            try:
                found.append(self.between(one, unknown=unknown, min_probability=min_probability))
            except InputError as error:
                raise numbered(error, number) from None
        return asked.stories(found)

    def next(
        self,
        narrative: Iterable[Item],
        *,
        steps: int = 1,
        top: int | None = None,
        unknown: Unknown = "error",
    ) -> Following:
        """Which event is told next after the beginning of a narrative, and whether any is.

        A beginning may end in ``...``, which says no more than that it is one.
        """
        told, _ = ask.heard.unfinished(narrative, finished=False)
        found: Following = self._ask("next", told, steps=steps, top=top, unknown=unknown)
        return found

    def next_many(
        self,
        narratives: Iterable[Iterable[Item]],
        *,
        steps: int = 1,
        top: int | None = None,
        unknown: Unknown = "error",
    ) -> Answers[Following]:
        """Which event is told next after each of many beginnings of narratives.

        In ``to_frame()`` the event of the last row of a step is None: nothing more is told.
        """
        asked = ask.many.Asked(narratives)
        ask.heard.check_top(top)
        ask.following.check_steps(steps)
        found = []
        for number, one in enumerate(asked.narratives):
            try:
                found.append(self.next(one, steps=steps, top=top, unknown=unknown))
            except InputError as error:
                raise numbered(error, number) from None
        return asked.followings(found)

    def follow(self, *, false_alarms: float = 0.05, unknown: Unknown = "ignore") -> Follower:
        """Follow a telling while it is told: what was skipped, what comes next, how far it is.

        Parameters
        ----------
        false_alarms
            Share of ordinary tellings in which a step may be called skipped that is told later, and
            share in which one may be called out of order; see `elision.ask.follow.Follower`.
        unknown
            "ignore" notes what the script does not know; "error" refuses it.
        """
        return ask.follow.Follower(self.asked, false_alarms=false_alarms, unknown=unknown)

    def align(
        self,
        narrative: Iterable[Observation],
        *,
        unknown: Unknown = "error",
        finished: bool = True,
    ) -> Aligned:
        """The most probable path of a narrative: who told what, and what was passed.

        Of a telling that is not ``finished``, or that ends in ``...``, up to its last event.
        """
        told, finished = ask.heard.unfinished(narrative, finished)
        found: Aligned = self._ask("align", told, unknown=unknown, finished=finished)
        return found if finished else ask.engine.unfinished.aligned(found)

    def posterior(
        self, narrative: Iterable[Observation], *, unknown: Unknown = "error"
    ) -> StatePosterior:
        """Which state told which event and which were passed, all paths weighed."""
        found: StatePosterior = self._ask("posterior", narrative, unknown=unknown)
        return found

    def resolve(
        self,
        narrative: Iterable[Observation],
        *,
        candidates: Iterable[str] | Mapping[str, float] | None = None,
        top: int | None = None,
        unknown: Unknown = "error",
    ) -> list[Resolution]:
        """What each ambiguous observation of a narrative stands for, in the light of the rest."""
        found: list[Resolution] = self._ask(
            "resolve", narrative, candidates=candidates, top=top, unknown=unknown
        )
        return found

    @overload
    def sample(
        self,
        n: int = 1,
        *,
        random_state: int | np.random.Generator | None = None,
        length: int | None = None,
        given: Iterable[Item] | None = None,
        complete: Literal[False] = False,
        unknown: Unknown = "error",
    ) -> list[list[str]]: ...

    @overload
    def sample(
        self,
        n: int = 1,
        *,
        random_state: int | np.random.Generator | None = None,
        length: int | None = None,
        given: Iterable[Item] | None = None,
        complete: Literal[True],
        unknown: Unknown = "error",
    ) -> list[Sampled]: ...

    def sample(
        self,
        n: int = 1,
        *,
        random_state: int | np.random.Generator | None = None,
        length: int | None = None,
        given: Iterable[Item] | None = None,
        complete: bool = False,
        unknown: Unknown = "error",
    ) -> list[list[str]] | list[Sampled]:
        """Draw tellings or, if ``complete``, the whole stories behind them.

        Parameters
        ----------
        n
            How many.
        random_state
            A seed or a generator; the same seed gives the same tellings.
        length
            How many events are told; any number by default.
        given
            A narrative with gaps (None) or stretches (...) that the tellings fit.
        complete
            Also what was passed over in silence.
        unknown
            "error" or "ignore": what to do with events of ``given`` that the script does not know.
        """
        options = {"random_state": random_state, "length": length, "given": given}
        drawn: list[list[str]] | list[Sampled] = self._ask(
            "stories" if complete else "tellings", n, **options, unknown=unknown
        )
        return drawn

    def score(
        self,
        narrative: Iterable[Observation],
        *,
        unknown: Unknown = "ignore",
        false_alarms: float = 0.05,
        samples: int = 1000,
        random_state: int = 0,
        finished: bool = True,
    ) -> Conformance:
        """How well a narrative fits the script, and which of its events do not.

        A telling that is not ``finished``, or that ends in ``...``, is judged as far as it goes.
        """
        told, finished = ask.heard.unfinished(narrative, finished)
        options: dict[str, Any] = {"unknown": unknown, "false_alarms": false_alarms}
        options |= {"samples": samples, "random_state": random_state}
        if finished:
            return self.conform([told], **options)[0]
        return self._conform_begun([(told, False)], **{**options, "samples": 0})[0]

    def conform(
        self,
        narratives: Iterable[Iterable[Observation]],
        *,
        unknown: Unknown = "ignore",
        false_alarms: float = 0.05,
        samples: int = 1000,
        random_state: int = 0,
    ) -> Conformances:
        """How well each of many narratives fits the script, as a table.

        At most a share of ``false_alarms`` of usual tellings are called odd. Those that end in
        ``...`` are judged as far as they go. ``to_frame()`` gives a frame of the library that the
        narratives came in.
        """
        options: dict[str, Any] = {"unknown": unknown, "false_alarms": false_alarms}
        options |= {"samples": samples, "random_state": random_state}
        given = narratives if is_frame(narratives) else ask.heard.several(narratives)
        if isinstance(given, list) and any(map(ask.heard.is_begun, given)):
            parted = [ask.heard.unfinished(one, finished=True) for one in given]
            return self._conform_begun(parted, **options)
        found: Conformances = self._ask("conform", given, **options)
        return found

    def _conform_begun(self, parted: list[tuple[Any, bool]], **options: Any) -> Conformances:
        """Judge tellings of which not all are finished: each comes with whether it is."""
        wholes = []
        for number, (told, finished) in enumerate(parted):
            try:
                whole = (told, 0) if finished else ask.engine.unfinished.completed(self.asked, told)
            except InputError as error:
                raise numbered(error, number) from None
            wholes.append(whole)
        judged: Conformances = self._ask("conform", [whole for whole, _ in wholes], **options)
        found = [
            one if finished else ask.engine.unfinished.conformed(one, added)
            for one, (_, finished), (_, added) in zip(judged, parted, wholes, strict=True)
        ]
        return ask.score.Conformances(found, judged.ids)

    def order(
        self,
        events: Iterable[Observation],
        *,
        top: int = 1,
        beam: int = 100,
        unknown: Unknown = "error",
    ) -> Ordering:
        """In which order some events probably happened."""
        told = ask.heard.understood(self.asked, events)
        found: Ordering = self._ask("order", told, top=top, beam=beam, unknown=unknown)
        return found

    def compare(
        self,
        other: Questions,
        narratives: Iterable[Iterable[Observation]] | None = None,
        *,
        samples: int = 2000,
        random_state: int = 0,
    ) -> Comparison:
        """How another script differs from this one."""
        found: Comparison = self._ask(
            "compare", other.asked, narratives, samples=samples, random_state=random_state
        )
        return found

    def draw(
        self,
        path: str | PathLike[str] | None = None,
        *,
        telling: Iterable[Observation] | None = None,
        title: str | None = None,
        theme: Theme = "auto",
        unknown: Unknown = "error",
    ) -> Drawing:
        """Draw the outline, with a telling laid over it if one is given; into a file if one is."""
        return show.draw.draw(
            self.asked,
            path,
            telling=telling,
            title=title,
            theme=theme,
            unknown=unknown,
        )

    def export(self, path: str | PathLike[str], *, states: bool = False) -> None:
        """Write the outline, or the states, for other tools; the suffix of the file says for which.

        DOT, Mermaid, JSON, PNML, BPMN; the states as DOT only.
        """
        show.export.export(self.asked, path, states=states)
