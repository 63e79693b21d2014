"""`Script`: a left-to-right hidden Markov model with elisions, as an immutable value."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from elision import ask, files, show, text, values
from elision.errors import ScriptError, counted
from elision.lattice import Lattice, Parameters
from elision.values._script_parts import (
    END,
    START,
    as_probability,
    checked_names,
    frozen,
    mapping,
    name_states,
    note,
    stay_problem,
    topological,
)
from elision.values.observations import short
from elision.values.questions import Questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    import networkx as nx
    from numpy.typing import ArrayLike, NDArray

    from elision.values.observations import Observation, Packed, Unknown
    from elision.values.outline import Outline
    from elision.values.telling import TellingModel

ROW_TOLERANCE = 1e-9
"""How far a row of probabilities may be from summing to one."""

Telling: TypeAlias = "str | Mapping[str | None, float]"
"""What a state tells: one event always, or probabilities by event, None for silence."""


class Script(Questions):
    """The learned course of an activity.

    States are numbered in topological order, 0 the start and the last one the end. Entering an
    interior state tells one event or, with the probability ``elision``, nothing.

    Parameters
    ----------
    events
        Names of the events that can be told.
    transition
        (states, states), upper triangular; rows sum to one, the end's row is 0.
    emission
        (states, events); 0 for start and end.
    elision
        (states,); an interior row of ``emission`` and its elision sum to one.
    states
        Names of all states; made from their likeliest events if absent.
    about
        Notes that JSON can hold, kept with the script: where it comes from. Two scripts that
        differ only here are equal.
    telling
        A telling model of the same events: where there is one, it answers what is asked about
        tellings (see `elision.ask.who`), and the script what happened in silence.
    outline
        The outline that the script was made from: interior state k is its step k - 1.

    Raises
    ------
    ScriptError
        If the arrays do not make a script; the message names the state.

    Examples
    --------
    >>> script = Script.build(
    ...     states={
    ...         "hear": {"hear doorbell": 0.9, None: 0.1},
    ...         "walk": {"walk to door": 0.5, None: 0.5},
    ...         "open": "open door",
    ...     },
    ...     edges={
    ...         "start": {"hear": 1},
    ...         "hear": {"walk": 1},
    ...         "walk": {"open": 1},
    ...         "open": {"end": 1},
    ...     },
    ... )
    >>> script
    Script(3 states, 4 edges, 3 events)
    >>> round(float(np.exp(script.log_prob(["hear doorbell", "open door"]))), 3)
    0.45
    """

    def __init__(
        self,
        events: Sequence[str],
        transition: ArrayLike,
        emission: ArrayLike,
        elision: ArrayLike,
        *,
        states: Sequence[str] | None = None,
        about: Mapping[str, Any] | None = None,
        telling: TellingModel | None = None,
        outline: Outline | None = None,
    ) -> None:
        self._events = checked_names(events, "event")
        self._transition = frozen(transition, "transition", 2)
        self._emission = frozen(emission, "emission", 2)
        self._elision = frozen(elision, "elision", 1)
        self._about = note({} if about is None else about, "about")
        self._check_shapes()
        if states is None:
            states = name_states(self._events, self._emission)
        self._states = checked_names(states, "state")
        if len(self._states) != self.size:
            raise ScriptError(f"{len(self._states)} state names for {self.size} states")
        if (self._states[0], self._states[-1]) != (START, END):
            raise ScriptError(f"first and last state must be named {START!r} and {END!r}")
        self._check_probabilities()
        self._check_reachability()
        self._check_loops()
        if telling is not None and telling.events != self._events:
            raise ScriptError("a telling model of other events than the script's")
        self._telling = telling
        self._made_from = outline
        self._check_outline()

    @classmethod
    def build(
        cls,
        states: Mapping[str, Telling],
        edges: Mapping[str, Mapping[str, float]],
        *,
        events: Sequence[str] | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> Script:
        """Build a script from named states and edges, in any order.

        Parameters
        ----------
        states
            For each interior state the event it always tells, or a mapping from event to
            probability in which None stands for silence.
        edges
            For each state but the end, the probability of each next state. The first state is
            called "start", the last "end".
        events
            The vocabulary; by default the events of the states, in their order.
        about
            Notes kept with the script.
        """
        tellings: dict[str, Mapping[str | None, float]] = {
            name: {telling: 1.0} if isinstance(telling, str) else telling
            for name, telling in mapping(states, "states").items()
        }
        for name, telling in tellings.items():
            mapping(telling, f"state {short(name)}")
        for name, targets in mapping(edges, "edges").items():
            mapping(targets, f"edges of {short(name)}")
        order = checked_names([START, *topological(list(tellings), edges), END], "state")
        if events is None:
            told = (event for telling in tellings.values() for event in telling)
            events = [event for event in dict.fromkeys(told) if event is not None]
        events = checked_names(events, "event")
        number = {name: k for k, name in enumerate(order)}
        event_number = {event: o for o, event in enumerate(events)}
        transition = np.zeros((len(order), len(order)))
        for source, targets in edges.items():
            for target, probability in targets.items():
                where = f"edge {short(source)} -> {short(target)}"
                transition[number[source], number[target]] = as_probability(probability, where)
        emission = np.zeros((len(order), len(events)))
        elision = np.zeros(len(order))
        for name, telling in tellings.items():
            for event, probability in telling.items():
                where = f"state {short(name)}"
                if event is None:
                    elision[number[name]] = as_probability(probability, where)
                elif event in event_number:
                    emission[number[name], event_number[event]] = as_probability(probability, where)
                else:
                    raise ScriptError(f"{where} tells {short(event)}, which is not in `events`")
        return cls(events, transition, emission, elision, states=order, about=about)

    @classmethod
    def from_parameters(
        cls,
        events: Sequence[str],
        parameters: Parameters,
        *,
        states: Sequence[str] | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> Script:
        """Build a script from a sparse edge list."""
        return cls(
            events,
            parameters.dense_transition(),
            parameters.emission,
            parameters.elision,
            states=states,
            about=about,
        )

    @property
    def events(self) -> tuple[str, ...]:
        """Names of the events that can be told."""
        return self._events

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the states, "start" and "end" included."""
        return self._states

    @property
    def transition(self) -> NDArray[np.float64]:
        """Probability of each next state, (states, states), read-only."""
        return self._transition

    @property
    def emission(self) -> NDArray[np.float64]:
        """Probability of telling each event on entering a state, (states, events), read-only."""
        return self._emission

    @property
    def elision(self) -> NDArray[np.float64]:
        """Probability of staying silent on entering a state, (states,), read-only."""
        return self._elision

    @property
    def about(self) -> dict[str, Any]:
        """Notes kept with the script, as a copy."""
        notes: dict[str, Any] = note(self._about, "about")
        return notes

    @property
    def telling(self) -> TellingModel | None:
        """What answers questions about tellings; None if the script does so itself."""
        return self._telling

    @property
    def made_from(self) -> Outline | None:
        """The outline whose steps the states are, if the script was made from one."""
        return self._made_from

    def outline(self) -> Outline:
        """What happens, for a reader: steps, their order, choices, and what stays unsaid.

        That of the tellings the script was learned from, or, where the script is all there is, of
        courses drawn from it.

        Examples
        --------
        >>> import elision as el
        >>> print(el.examples.doorbell().outline())
        Answering the doorbell
         1  hear doorbell (70%, otherwise unsaid)
         2  walk to door (71%, otherwise unsaid)
         3  look through peephole (36%, otherwise unsaid or left out)
         4  open door (71%, otherwise unsaid)
         5  one of
               sign for parcel (17%), then take parcel (36%)
               greet visitor (35%), then let visitor in (18%)
         6  say goodbye (36%, otherwise unsaid or left out)
         7  close door (72%, otherwise unsaid)
        """
        return self._made_from or self._drawn_outline

    @cached_property
    def _drawn_outline(self) -> Outline:
        return ask.outlining.outline_of_script(self)

    def annotated(self, **notes: Any) -> Script:
        """Return the same script with more notes in `about`."""
        return self._changed(about={**self.about, **notes})

    def with_telling(self, telling: TellingModel | None) -> Script:
        """Return the same script with this telling model, or without one.

        Examples
        --------
        >>> import elision as el
        >>> learned = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
        >>> learned.with_telling(None).telling is None
        True
        """
        return self._changed(telling=telling)

    def _changed(self, **changes: Any) -> Script:
        parts = {
            "states": self._states,
            "about": self._about,
            "telling": self._telling,
            "outline": self._made_from,
        }
        arrays = (self._events, self._transition, self._emission, self._elision)
        return Script(*arrays, **{**parts, **changes})

    @cached_property
    def extractor(self) -> text.extract.EventExtractor | None:
        """What turns sentences into this script's events, if it was learned from sentences."""
        saved = self._about.get("extractor")
        if saved is None:
            return None
        return text.extract.EventExtractor.from_dict(saved)

    @property
    def asked(self) -> Script:
        """The script itself answers the questions."""
        return self

    @property
    def size(self) -> int:
        """Number of states, start and end included."""
        return len(self._elision)

    @cached_property
    def parameters(self) -> Parameters:
        """The script's numbers over a sparse edge list."""
        parameters = Parameters.from_dense(self._transition, self._emission, self._elision)
        for array in (parameters.source, parameters.target, parameters.transition):
            array.setflags(write=False)
        return parameters

    @cached_property
    def lattice(self) -> Lattice:
        """Exact inference with this script."""
        return Lattice(self.parameters)

    def pack(
        self, narratives: Iterable[Iterable[Observation]], *, unknown: Unknown = "error"
    ) -> Packed:
        """Pack narratives over this script's events."""
        return values.observations.Packer(self._events, unknown=unknown).pack(narratives)

    def log_prob(self, narrative: Iterable[Observation], *, unknown: Unknown = "error") -> float:
        """Log-probability of one narrative: the telling model's, or with every silent path counted.

        Parameters
        ----------
        narrative
            Events by name; None stands for some event, unknown which, and a mapping from event to
            weight for one of several.
        unknown
            "error" for events that the script does not know, or "ignore" to leave them out.
        """
        return float(self.log_probs([narrative], unknown=unknown)[0])

    def log_probs(
        self, narratives: Iterable[Iterable[Observation]], *, unknown: Unknown = "error"
    ) -> NDArray[np.float64]:
        """Log-probability of each of many narratives."""
        found: NDArray[np.float64] = self._ask("log_probs", narratives, unknown=unknown)
        return found

    def save(self, path: str | PathLike[str]) -> None:
        """Write the script to a JSON file (see ``docs/format.md``), whole or not at all."""
        files.script.save(self, path)

    def to_networkx(self) -> nx.DiGraph[str]:
        """Convert to a networkx graph: nodes by state name, ``tells`` and ``elision`` on them."""
        import networkx as nx  # noqa: PLC0415

        graph: nx.DiGraph[str] = nx.DiGraph(events=self._events, about=self.about)
        for k, name in enumerate(self._states):
            told = np.flatnonzero(self._emission[k])
            tells = {self._events[o]: float(self._emission[k, o]) for o in told}
            graph.add_node(name, tells=tells, elision=float(self._elision[k]))
        edges = self.parameters
        for j, k, p in zip(edges.source, edges.target, edges.transition, strict=True):
            graph.add_edge(self._states[j], self._states[k], probability=float(p))
        return graph

    def __reduce__(self) -> tuple[Callable[..., Script], tuple[Any, ...]]:
        """Copy and pickle by building anew: arrays would come back writable."""
        build = partial(
            type(self),
            states=self._states,
            about=self._about,
            telling=self._telling,
            outline=self._made_from,
        )
        return build, (self._events, self._transition, self._emission, self._elision)

    def _repr_html_(self) -> str:
        return show.notebook.script_html(self)

    def __repr__(self) -> str:
        states = counted(self.size - 2, "state")
        edges = counted(len(self.parameters.source), "edge")
        also = "" if self._telling is None else ", with a telling model"
        return f"Script({states}, {edges}, {counted(len(self._events), 'event')}{also})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Script):
            return NotImplemented
        return (
            self._events == other._events
            and self._states == other._states
            and np.array_equal(self._transition, other._transition)
            and np.array_equal(self._emission, other._emission)
            and np.array_equal(self._elision, other._elision)
            and self._telling == other._telling
            and self._made_from == other._made_from
        )

    def __hash__(self) -> int:
        return hash((self._events, self._states, self._transition.tobytes()))

    def _check_outline(self) -> None:
        if self._made_from is None:
            return
        steps = self._made_from.steps
        if len(steps) != self.size - 2:
            raise ScriptError(f"an outline of {len(steps)} steps for {self.size - 2} states")
        number = {event: o for o, event in enumerate(self._events)}
        for state, step in enumerate(steps, start=1):
            told = np.flatnonzero(self._emission[state])
            if step.event not in number or not set(told) <= {number[step.event]}:
                problem = f"the outline's step {short(step.name)} is not what the state tells"
                raise ScriptError(problem, where=self._where(state))

    def _check_shapes(self) -> None:
        size = len(self._elision)
        if size < 2:
            raise ScriptError(f"{size} states, expected at least start and end")
        if self._transition.shape != (size, size):
            raise ScriptError(f"transition is {self._transition.shape}, expected {(size, size)}")
        if self._emission.shape != (size, len(self._events)):
            expected = (size, len(self._events))
            raise ScriptError(f"emission is {self._emission.shape}, expected {expected}")

    def _check_probabilities(self) -> None:
        for array, kind in (
            (self._transition, "transition"),
            (self._emission, "emission"),
            (self._elision, "elision"),
        ):
            bad = ~((array >= 0) & (array <= 1 + ROW_TOLERANCE))
            if bad.any():
                state = int(np.argwhere(bad)[0][0])
                value = array[bad][0]
                raise ScriptError(f"{kind} {value} is no probability", where=self._where(state))
        if self._transition[:, 0].any():
            raise ScriptError("no edge may enter the start")
        if self._transition[-1].any():
            raise ScriptError("no edge may leave the end")
        backward = np.argwhere(np.tril(self._transition, -1))
        if len(backward):
            j, k = map(int, backward[0])
            raise ScriptError(
                f"an edge goes back from {short(self._states[j])} to {short(self._states[k])}",
                hint="states must be in topological order; Script.build sorts them",
            )
        self._check_sums(self._transition[:-1].sum(axis=1), 0, "transitions")
        for state in (0, self.size - 1):
            if self._emission[state].any() or self._elision[state]:
                raise ScriptError("start and end tell nothing", where=self._where(state))
        told = self._emission.sum(axis=1) + self._elision
        self._check_sums(told[1:-1], 1, "events and elision")

    def _check_loops(self) -> None:
        found = stay_problem(self._transition, self._emission, self._elision)
        if found is not None:
            state, problem = found
            raise ScriptError(problem, where=self._where(state))

    def _check_sums(self, sums: NDArray[np.float64], first: int, what: str) -> None:
        bad = np.flatnonzero(~(np.abs(sums - 1) <= ROW_TOLERANCE))
        if len(bad):
            state = int(bad[0]) + first
            raise ScriptError(f"{what} sum to {sums[bad[0]]}, expected 1", where=self._where(state))

    def _check_reachability(self) -> None:
        edges = self._transition > 0
        reached = np.zeros(self.size, bool)
        reached[0] = True
        ending = np.zeros(self.size, bool)
        ending[-1] = True
        for k in range(1, self.size):
            reached[k] = (reached & edges[:, k])[:k].any()
        for k in range(self.size - 2, -1, -1):
            ending[k] = (ending & edges[k])[k + 1 :].any()
        stuck, lost = np.flatnonzero(~ending), np.flatnonzero(~reached)
        if len(stuck):  # the last one: those before it may be stuck because it is
            raise ScriptError("has no way to the end", where=self._where(int(stuck[-1])))
        if len(lost):
            where = self._where(int(lost[0]))
            raise ScriptError("cannot be reached from the start", where=where)

    def _where(self, state: int) -> str:
        return f"state {state} ({short(self._states[state])})"
