"""`Library`: many scripts by name, to find out which of them is being told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from elision import ask, files
from elision.errors import InputError, counted
from elision.values.observations import real, short
from elision.values.script import Script

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from elision.ask.identify import Identification, Identifier
    from elision.ask.many import Answers
    from elision.values.observations import Observation

LARGEST_PRIOR = 1e290
"""Larger ones are scaled, so that their sum does not overflow."""

NONE_OF_THESE = 0.02
"""Prior probability that a telling is of no script of the library."""


class Library(Mapping[str, Script]):
    """Scripts by name, which say which of them is being told.

    Parameters
    ----------
    scripts
        Scripts by name; a fitted learner stands for the script that it learned.
    priors
        How probable each is before anything was told; by default all the same.

    Raises
    ------
    InputError
        If there are no scripts, or a prior is no positive number.

    Examples
    --------
    >>> import elision as el
    >>> tea = el.Script.build(
    ...     {"boil": {"boil water": 0.9, None: 0.1}, "pour": "pour water"},
    ...     {"start": {"boil": 1}, "boil": {"pour": 1}, "pour": {"end": 1}},
    ... )
    >>> library = Library({"doorbell": el.examples.doorbell(), "tea": tea})
    >>> print(library.identify(["boil water", "pour water"]))
    tea  100.0%
    >>> library.identify(["sneeze", "cough"]).best is None
    True
    """

    def __init__(
        self, scripts: Mapping[str, Any], priors: Mapping[str, float] | None = None
    ) -> None:
        if not isinstance(scripts, Mapping) or not scripts:
            raise InputError(f"{short(scripts)}, expected scripts by name, at least one")
        for name in scripts:
            if not isinstance(name, str) or not name:
                raise InputError(f"{short(name)} is no name of a script")
        self._scripts = {name: _script_of(name, value) for name, value in scripts.items()}
        given = _checked_priors(self._scripts, priors)
        scaled = given / max(1.0, given.max() / LARGEST_PRIOR)
        self._priors = scaled / scaled.sum()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Library:
        """Read all script files of a folder, such as ``elision learn`` and `save` write.

        Each is named by the domain that it notes, or else by its file, and they are equally
        probable.

        Raises
        ------
        FileFormatError
            If there is no script file, or a damaged one.

        Examples
        --------
        >>> import tempfile
        >>> import elision as el
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     el.examples.doorbell().annotated(domain="a bell rings").save(f"{folder}/1.json")
        ...     list(Library.load(folder))
        ['a bell rings']
        """
        return cls(files.library.load(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Write each script to a file of its own in a folder, where it notes its name as domain.

        Priors are not written. A folder that holds something else is refused.
        """
        files.library.save(path, self._scripts)

    def __getitem__(self, name: str) -> Script:
        return self._scripts[name]

    def __len__(self) -> int:
        return len(self._scripts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._scripts)

    def __contains__(self, name: object) -> bool:
        return name in self._scripts

    def __repr__(self) -> str:
        return f"Library({counted(len(self), 'script')}, {counted(len(self.events), 'event')})"

    @property
    def priors(self) -> dict[str, float]:
        """How probable each script is before anything was told; they sum to one."""
        return dict(zip(self._scripts, self._priors.tolist(), strict=True))

    @property
    def events(self) -> tuple[str, ...]:
        """Every event that some script tells, sorted."""
        return tuple(sorted(self._identifier.background.known))

    def identify(
        self,
        narrative: Iterable[Observation],
        *,
        none_of_these: bool | float = True,
        finished: bool = True,
    ) -> Identification:
        """Say which script a telling is a telling of.

        Parameters
        ----------
        narrative
            What was told: a `Narrative`, or events, None for some event, mappings for one of
            several. If some of it is no event that any script knows, and scripts were learned from
            sentences, all of it is taken for sentences.
        none_of_these
            Prior probability that it is none of the scripts; True for 0.02, False for 0.
        finished
            Whether the telling is at its end; if not, or if it ends in ``...``, what it lacks may
            still come.
        """
        told, finished = ask.heard.unfinished(narrative, finished)
        return self.identify_many([told], none_of_these=none_of_these, finished=finished)[0]

    def identify_many(
        self,
        narratives: Iterable[Iterable[Observation]],
        *,
        none_of_these: bool | float = True,
        finished: bool = True,
    ) -> Answers[Identification]:
        """Say which script each of many tellings is a telling of, in far less time.

        The tellings may be a data frame of an event log; ``to_frame()`` of the answer is then a
        frame of the same library, with the ids of the cases.
        """
        share = _checked_share(none_of_these)
        asked = ask.many.Asked(narratives)
        parted = [ask.heard.unfinished(one, finished) for one in asked.narratives]
        listed = [_listed(one) for one, _ in parted]
        found = self._identifier.identify(listed, share, begun=not finished)
        for number, (_, whole) in enumerate(parted):
            if whole is not finished:
                found[number] = self._identifier.identify([listed[number]], share, begun=True)[0]
        return asked.identifications(found)

    @cached_property
    def _identifier(self) -> Identifier:
        witnesses = {name: ask.identify.Witness(script) for name, script in self._scripts.items()}
        return ask.identify.Identifier(witnesses, self._priors)


def _script_of(name: str, value: object) -> Script:
    """Return the script itself, or that of a fitted learner."""
    found = getattr(value, "script_", value)
    if isinstance(found, Script):
        return found
    hint = "fit it first" if hasattr(value, "fit") else None
    raise InputError(f"{short(value)} is no script", where=f"script {short(name)}", hint=hint)


def _listed(narrative: object) -> list[Observation]:
    told = ask.heard.events_of(narrative)
    ordered = not isinstance(told, (str, bytes, Mapping, AbstractSet))
    if not ordered or not isinstance(told, Iterable):
        raise InputError(f"{short(told)}, expected a list of events")
    return list(told)


def _checked_priors(
    scripts: Mapping[str, Any], priors: Mapping[str, float] | None
) -> NDArray[np.float64]:
    if priors is None:
        return np.ones(len(scripts))
    if not isinstance(priors, Mapping) or set(priors) != set(scripts):
        raise InputError(f"priors {short(priors)}, expected one for each script by name")
    found = np.array([real(priors[name]) for name in scripts])
    if not (np.isfinite(found) & (found > 0)).all():
        raise InputError(f"priors {short(priors)}, expected positive numbers")
    return found


def _checked_share(none_of_these: bool | float) -> float:
    if isinstance(none_of_these, bool):
        return NONE_OF_THESE if none_of_these else 0.0
    share = real(none_of_these)
    if not 0 <= share < 1:
        raise InputError(f"none_of_these is {short(none_of_these)}, expected a share below 1")
    return share
