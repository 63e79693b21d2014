"""How a script hears a narrative: event names, sentences, gaps and stretches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from types import EllipsisType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from elision import ask, io
from elision._backends import is_frame
from elision.ask.engine.checks import MOST_CELLS
from elision.errors import InputError, counted, relocated, shown
from elision.values.corpus import Corpus
from elision.values.narrative import NO_EVENTS_HINT, Narrative
from elision.values.observations import HeardSentence, Packer, likeliest, short, surely

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script

Item: TypeAlias = "Observation | EllipsisType"
"""An observation, or ``...`` for any number of events that were left out."""


class Heard(NamedTuple):
    """The items of a narrative that the script understands, and where each stood in it.

    ``ignored`` are the places and names of the others, ``denied`` the events of which a sentence
    says that they did not happen.
    """

    items: list[Item]
    positions: Sequence[int]
    ignored: Sequence[tuple[int, str]] = ()
    denied: frozenset[str] = frozenset()


def events_of(narrative: object, script: Script | None = None) -> Any:
    """Return the events of a `Narrative`, and anything else as it came.

    Parameters
    ----------
    narrative
        What a question was asked about.
    script
        The script that is asked. Sentences will do where the events of the narrative are not known,
        if the script was learned from sentences; None takes them in any case.

    Raises
    ------
    InputError
        If only sentences are known and the script understands none, or a corpus or a data frame
        came.

    Examples
    --------
    >>> import elision as el
    >>> events_of(el.Narrative(("hear doorbell", "open door"), id="monday"))
    ('hear doorbell', 'open door')
    >>> events_of(["hear doorbell", None])
    ['hear doorbell', None]
    """
    if isinstance(narrative, Corpus):
        raise InputError(
            f"a corpus of {counted(len(narrative), 'narrative')} came, expected one narrative",
            hint="ask about one of them, such as corpus[0], or ask a question about many",
        )
    if is_frame(narrative):
        raise InputError(
            "a data frame came, expected one narrative",
            hint="read it, corpus = el.read(frame), and ask about one case, such as corpus[0];"
            " questions about many, such as conform, take the frame itself",
        )
    if not isinstance(narrative, Narrative):
        if isinstance(narrative, list | tuple) and any(map(_is_narrative, narrative[:1])):
            raise InputError(
                f"a list of {counted(len(narrative), 'narrative')} came, expected one narrative",
                hint="ask about one of them, or a question about many, such as conform;"
                " scikit-learn's model selection takes scoring=el.mean_log_prob",
            )
        return narrative
    if narrative.events is not None:
        return narrative.events
    if script is not None and script.extractor is None:
        raise InputError(
            "only the sentences of the narrative are known, but the script was learned from events",
            where=f"id {shown(narrative.id)}" if narrative.id else None,
            hint=NO_EVENTS_HINT,
        )
    return narrative.steps


def _is_narrative(item: object) -> bool:
    return isinstance(item, list | tuple | Narrative)


def several(narratives: object) -> list[Any]:
    """Return what a question about many narratives was asked about as a list of narratives.

    Raises
    ------
    InputError
        If it is no list of narratives, or a single one.

    Examples
    --------
    >>> import elision as el
    >>> len(several(el.Corpus.of([["hear doorbell"], ["open door"]])))
    2
    """
    if isinstance(narratives, Narrative):
        raise InputError(
            "one narrative came, expected a list of narratives", hint="put it into a list"
        )
    if is_frame(narratives):
        return list(io.read(narratives))  # type: ignore[arg-type]  # it is a frame
    unordered = isinstance(narratives, str | bytes | Mapping | AbstractSet)
    if unordered or not isinstance(narratives, Iterable):
        raise InputError(f"{short(narratives)} came, expected a list of narratives")
    return list(narratives)


def id_of(narrative: object) -> str | None:
    """Return the id of a `Narrative` that has one, and None for anything else.

    Examples
    --------
    >>> id_of(Narrative(("hear doorbell",), id="monday")), id_of(["hear doorbell"])
    ('monday', None)
    """
    return (narrative.id or None) if isinstance(narrative, Narrative) else None


def hear(script: Script, narrative: Iterable[Item], *, unknown: Unknown = "error") -> Heard:
    """Turn sentences into observations, and leave out what is to be ignored.

    Parameters
    ----------
    script
        The script that is asked.
    narrative
        A `Narrative`, or event names; None for some event, ``...`` for any number of them,
        mappings from event to weight. Where the script was learned from sentences, an unknown name
        is taken for one.
    unknown
        "error" complains of sentences that stand for none of the events, and keeps unknown events
        for the packer to complain of; "ignore" leaves both out. That something did not happen is
        no event, and is left out in any case.

    Examples
    --------
    >>> import elision as el
    >>> hear(el.examples.doorbell(), ["cough", "open door", None], unknown="ignore")
    Heard(items=['open door', None], positions=[1, 2], ignored=[(0, 'cough')], denied=frozenset())
    """
    heard = hear_all(script, [narrative], unknown=unknown)[0]
    _check_size(script, len(heard.items))
    return heard


def hear_all(
    script: Script, narratives: Iterable[Iterable[Item]], *, unknown: Unknown = "error"
) -> list[Heard]:
    """Hear each of many narratives as `hear` does."""
    packer = Packer(script.events, unknown=unknown)
    known = {None, *script.events}
    found = []
    for number, narrative in enumerate(several(narratives)):
        items = _listed(narrative, script)
        try:  # the common case: names and gaps only, all known
            usual = known.issuperset(items)
        except TypeError:
            usual = False
        found.append(
            Heard(items, range(len(items)))
            if usual
            else _hear(script, items, packer, known, unknown, number)
        )
    return found


def _hear(
    script: Script,
    items: list[Item],
    packer: Packer,
    known: set[str | None],
    unknown: Unknown,
    number: int,
) -> Heard:
    heard: list[Item] = []
    positions: list[int] = []
    ignored: list[tuple[int, str]] = []
    denied: set[str] = set()
    for position, item in enumerate(items):
        found: list[Item] = [item]
        if isinstance(item, str) and item not in known and script.extractor is not None:
            sentence = _sentence(script, item)
            denied |= sentence.denied
            found = [*sentence.told]
            if not found and sentence.denies:
                continue
            if not found and unknown == "error":
                raise _unknown_sentence(script, item, f"narrative {number}, event {position}")
        if unknown == "ignore":
            found = [
                _known(one, known)
                for one in found
                if isinstance(one, EllipsisType) or packer.kept([one])
            ]
        heard += found
        positions += [position] * len(found)
        if not found:
            ignored.append((position, name_of(item)))
    return Heard(heard, positions, ignored, frozenset(denied))


def understood(script: Script, narrative: Iterable[Observation]) -> Iterable[Observation]:
    """Return a narrative with its sentences as observations, and all else as it was.

    For questions that have their own ways with events that the script does not know: a sentence
    that stands for none of the script's events stays such an event, and one that says that
    something did not happen is left out.
    """
    told: Iterable[Observation] = events_of(narrative, script)
    if script.extractor is None or isinstance(told, str | bytes) or not isinstance(told, Iterable):
        return told
    known = set(script.events)
    found: list[Observation] = []
    for item in told:
        if not isinstance(item, str) or item in known:
            found.append(item)
            continue
        sentence = _sentence(script, item)
        found += sentence.told or ([] if sentence.denies else [item])
    return found


def understood_all(
    script: Script, narratives: Iterable[Iterable[Observation]]
) -> tuple[list[Iterable[Observation]], list[str | None]]:
    """Return many narratives as `understood` does, and their ids."""
    given = several(narratives)
    told = []
    for number, narrative in enumerate(given):
        try:
            told.append(understood(script, narrative))
        except InputError as error:
            raise relocated(error, f"narrative {number}") from None
    return told, [id_of(narrative) for narrative in given]


def unfinished(narrative: Any, finished: bool) -> tuple[Any, bool]:
    """Take ``...`` off the end of a narrative: it says that the telling is not finished.

    Examples
    --------
    >>> unfinished(["hear doorbell", ...], True)
    (['hear doorbell'], False)
    """
    return (narrative[:-1], False) if is_begun(narrative) else (narrative, finished)


def is_begun(narrative: Any) -> bool:
    """Whether a narrative ends in ``...``: it is not finished."""
    return isinstance(narrative, list | tuple) and len(narrative) > 0 and narrative[-1] is ...


def single(heard: Heard, question: str) -> list[Observation]:
    """Return the items of a narrative without stretches, for questions that know none."""
    for item, position in zip(heard.items, heard.positions, strict=True):
        if item is ...:
            problem = f"{question} does not take a stretch of any number of events (...)"
            at_end = f"leave it away: {question} takes only what is finished"
            hint = at_end if 0 < position == heard.positions[-1] else "put None for one event"
            raise InputError(problem, where=f"event {position}", hint=hint)
    return cast("list[Observation]", heard.items)


def gap_positions(heard: Heard) -> list[int]:
    """Indices of the gaps (None) among the items; at least one."""
    gaps = [index for index, item in enumerate(heard.items) if item is None]
    if not gaps:
        raise InputError("the narrative has no gap", hint="put None where an event is missing")
    return gaps


def name_of(item: Item) -> str:
    """How an item is shown: its likeliest event, ? for a gap."""
    if isinstance(item, (str, Mapping)):
        return likeliest(item)
    return "?" if item is None else "..."


def label_of(item: Item) -> str:
    """How an item is shown where it is a fact: with a ? if it may as well be another event.

    Examples
    --------
    >>> label_of({"wash hair": 0.8, "rinse": 0.1}), label_of({"wait": 0.36, "pour": 0.06})
    ('wash hair', 'wait?')
    """
    unsure = isinstance(item, Mapping) and isinstance(surely(item), Mapping)
    return f"{name_of(item)}?" if unsure else name_of(item)


def impossible() -> InputError:
    """Return the complaint about a narrative that the script cannot tell."""
    return InputError(
        "the script cannot tell this narrative in this order",
        hint="check the order of its events: score says which of them fits nowhere",
    )


def excluded() -> InputError:
    """Return the complaint about a question that leaves no answer."""
    return InputError("every possible event is excluded", hint="exclude fewer events")


def _check_size(script: Script, events: int) -> None:
    """Refuse a narrative whose tables, a row an event, would not fit in memory."""
    most = MOST_CELLS // max(script.size, len(script.events))
    if events > most:
        raise InputError(
            f"{events:,} events for a script of {script.size:,} states and"
            f" {len(script.events):,} kinds of events, expected at most {most:,}",
            hint="ask about a part of them",
        )


def check_top(top: int | None) -> None:
    """Refuse to rank fewer answers than one."""
    if top is not None and (isinstance(top, bool) or not isinstance(top, int) or top < 1):
        raise InputError(f"top is {short(top)}, expected a whole number from 1")


class _Sentence(NamedTuple):
    """What a sentence tells, whether it denies something, and the events that it surely does."""

    told: list[Observation]
    denies: bool
    denied: set[str]


def _sentence(script: Script, sentence: str) -> _Sentence:
    parts = ask.sentences.parts(script, sentence)
    return _Sentence(
        [one for part in parts for one in part.heard if one],
        any(part.denied for part in parts),
        {part.denies for part in parts if part.denies is not None},
    )


def _unknown_sentence(script: Script, sentence: str, where: str) -> InputError:
    return ask.sentences.unknown_sentence(script, sentence, where)


def _known(item: Item, known: set[str | None]) -> Item:
    if isinstance(item, HeardSentence):
        return item.among(known)
    if isinstance(item, Mapping):
        return {event: weight for event, weight in item.items() if event in known}
    return item


def _listed(narrative: object, script: Script) -> list[Item]:
    if isinstance(narrative, list | tuple):
        return list(narrative)
    told = events_of(narrative, script)
    unordered = isinstance(told, str | bytes | Mapping | AbstractSet)
    if unordered or not isinstance(told, Iterable):
        raise InputError(
            f"the narrative is {short(told)}, expected a list of events",
            hint="put the events into a list",
        )
    return list(told)
