"""From sentences to named event types: the estimator that the rest of Elision starts from."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from elision.errors import InputError, shown
from elision.text import extractor_file
from elision.text._tellings import (
    Labels,
    Tellings,
    as_corpus,
    check_options,
    checked_labels,
    comparison,
    kept,
    least_tellings,
    taught_groups,
    with_events,
)
from elision.text.cluster import cluster
from elision.text.encoder import as_encoder, with_encoder
from elision.text.event_types import DomainTypes, calibrate, describe
from elision.text.parse import split
from elision.text.similarity import (
    MIXED,
    MIXED_WITHOUT_VECTORS,
    WORDNET,
    Measure,
    Weights,
    WordMeasure,
)
from elision.text.vectors import use_vectors
from elision.text.wording import Wording, content_words, gather, meanings, read_wording
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative
from elision.values.observations import HeardSentence

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from typing import NoReturn

    from numpy.typing import NDArray

    from elision.text.cluster import Clusters
    from elision.text.encoder import Encoder, SentenceEncoder
    from elision.text.event_types import EventType
    from elision.text.wording import Told
    from elision.values.observations import Observation

__all__ = ["Dropped", "EventExtractor", "Tellings"]


LEAST_WEIGHT = 0.02
"""What an observation leaves out, as a share of the weight of its likeliest event."""


class _Estimator:
    """Options by name, as ``sklearn.base.BaseEstimator`` has them, without importing it.

    Importing scikit-learn costs a second and more, several times what a question to a script does.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - none is nested
        """Return the options by name."""
        return {name: getattr(self, name) for name in self._options()}

    def set_params(self, **options: Any) -> Self:
        """Set some options."""
        known = self._options()
        for name, value in options.items():
            if name not in known:
                names = ", ".join(known)
                raise ValueError(f"invalid parameter {name!r} for {type(self).__name__}: {names}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = inspect.signature(type(self).__init__).parameters
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not usual[name].default and value != usual[name].default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator  # noqa: PLC0415 - slow

        return BaseEstimator().__sklearn_tags__()

    @classmethod
    def _options(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]


def _not_fitted(estimator: object) -> NoReturn:
    """Complain of an estimator that was not fitted, as scikit-learn does."""
    from sklearn.exceptions import NotFittedError  # noqa: PLC0415 - slow

    raise NotFittedError(f"this {type(estimator).__name__} is not fitted yet: call fit first")


class Dropped(NamedTuple):
    """A sentence that was left out because too few tellings tell its type."""

    domain: str
    id: str
    position: int
    sentence: str


class EventExtractor(_Estimator):
    """Finds the event types behind the sentences of many tellings, and names them.

    Types are found in each domain by itself, from the tellings that `fit` is given and nothing
    else. `transform` then looks at each new sentence alone: neither its neighbours, nor its place,
    nor the other sentences that come with it have a say. A sentence that is taken away to be
    guessed can therefore not be seen in what is said of the others.

    Parameters
    ----------
    similarity
        "wordnet" is the paper's: path similarity of verbs and of objects. "mixed" adds all other
        content words, word vectors, opposites, and (when types are found, not when new sentences
        are mapped) the place in the telling and what is told side by side.
    vectors
        Whether "mixed" uses word vectors; None uses them where wordllama is installed, and warns
        where it is not.
    verb_weight
        Share of the verb in "wordnet", from 0 to 1.
    senses
        How many senses of each word count; None for all.
    min_tellings
        How many tellings must tell a type for it not to be rare; below 1, a share of the tellings.
    n_types
        How many types to find in each domain, as nearly as possible, where the number is known;
        None lets the data decide.
    rare
        "drop" leaves the sentences of rare types out, "keep" makes types of them all the same.
    strictness
        How much more alike than two steps of one telling the sentences of a type must be, in
        standard deviations; None takes what was found to be best. Lower makes fewer types.
    none_threshold
        A new sentence is none of the types where that is more probable than this.
    split
        Whether to split sentences that tell several events ("get dressed and leave") first.
    encoder
        A neural encoder of sentences to find types with: an object with ``encode(sentences)``, as
        the models of sentence-transformers are, or the folder of one (BERT). It is used by `fit`
        alone and is not saved: new sentences are mapped by their words.

    Attributes
    ----------
    domains_ : dict
        The event types of each domain, as `DomainTypes`.
    labels_ : list of lists
        The type of each sentence that `fit` was given; None for a rare one that was left out.
    dropped_ : tuple of Dropped
        The sentences that were left out.

    Examples
    --------
    >>> tellings = [
    ...     ["I heard the bell", "I walked to the door", "I opened it"],
    ...     ["hear the doorbell", "go to the door", "open the door"],
    ...     ["hear bell", "walk to door", "open the door wide"],
    ... ]
    >>> extractor = EventExtractor(vectors=False)
    >>> extractor.fit_transform(tellings).events[0]
    ('hear bell', 'walk', 'open door')
    >>> extractor.predict([["she hears a bell"]])
    [['hear bell']]
    """

    def __init__(
        self,
        similarity: Literal["mixed", "wordnet"] = "mixed",
        *,
        vectors: bool | None = None,
        verb_weight: float = 0.6,
        senses: int | None = 3,
        min_tellings: float = 0.06,
        n_types: int | None = None,
        rare: Literal["drop", "keep"] = "drop",
        strictness: float | None = None,
        none_threshold: float = 0.5,
        split: bool = False,
        encoder: Encoder | None = None,
    ) -> None:
        self.similarity = similarity
        self.vectors = vectors
        self.verb_weight = verb_weight
        self.senses = senses
        self.min_tellings = min_tellings
        self.n_types = n_types
        self.rare = rare
        self.strictness = strictness
        self.none_threshold = none_threshold
        self.split = split
        self.encoder = encoder

    def fit(self, X: Tellings, y: Labels | None = None) -> EventExtractor:
        """Find the event types of some tellings, or learn them from examples.

        Parameters
        ----------
        X
            A corpus with steps, or one list of sentences a telling.
        y
            The type of each sentence, one list a telling, such as the ``events`` of a corpus that
            has both: the types are then these, none of them too rare, and what is learned is which
            of them a new sentence tells. None for a sentence that is none of them.

        Returns
        -------
        EventExtractor
            Itself.

        Raises
        ------
        InputError
            If an option, a telling or a label is of no use; the message says which.

        Examples
        --------
        >>> tellings = [["hear bell", "walk to door"], ["bell rings", "go to the door"]]
        >>> labels = [["ring", "approach"], ["ring", "approach"]]
        >>> extractor = EventExtractor(vectors=False).fit(tellings, labels)
        >>> extractor.predict([["I heard the bell", "went to the door"]])
        [['ring', 'approach']]
        """
        self._fit(as_corpus(X), y)
        return self

    def fit_transform(self, X: Tellings, y: Labels | None = None) -> Corpus:
        """Find the event types of some tellings and return those tellings with their events.

        Unlike `transform`, which looks at sentences one by one, this gives each sentence the type
        that it was grouped with.

        Returns
        -------
        Corpus
            With steps and events; sentences of rare types are left out (see ``dropped_``).
        """
        corpus = self._fit(as_corpus(X), y)
        return with_events(corpus, self.labels_)

    def transform(
        self, X: Tellings, *, domain: str | None = None, left_out: bool = False
    ) -> Corpus:
        """Return tellings with the type of each sentence, without those that are none of them.

        Parameters
        ----------
        X
            A corpus with steps, or one list of sentences a telling.
        domain
            The domain of all these tellings; None goes by what the corpus says.
        left_out
            Whether these are tellings that `fit` was given, and each sentence is to be mapped by
            the others: so are new sentences heard, and a model of what is heard is learned so.
        """
        corpus = self.parts(as_corpus(X))
        return with_events(corpus, self._labels(corpus, domain, left_out=left_out))

    def predict(self, X: Tellings, *, domain: str | None = None) -> list[list[str | None]]:
        """Return the type of each sentence, None where it is none of them."""
        return self._labels(self.parts(as_corpus(X)), domain)

    def transform_proba(
        self, X: Tellings, *, domain: str | None = None
    ) -> list[list[dict[str, float]]]:
        """Return the probability of each type for each sentence.

        What is missing to 1 is the probability that the sentence is none of them.

        Examples
        --------
        >>> tellings = [["hear bell", "open door"], ["hear ring", "open the door wide"]]
        >>> extractor = EventExtractor("wordnet").fit(tellings)
        >>> [[shares]] = extractor.transform_proba([["open the window"]])
        >>> sorted(shares, key=shares.get)
        ['hear', 'open door']
        """
        return self._shares(self.parts(as_corpus(X)), domain)

    def _shares(
        self, corpus: Corpus, domain: str | None, *, left_out: bool = False
    ) -> list[list[dict[str, float]]]:
        result = []
        tables = self._probabilities(corpus, domain, left_out=left_out)
        for narrative, rows in zip(corpus, tables, strict=True):
            names = self._types_of(narrative, domain).names
            result.append([dict(zip(names, row[:-1].tolist(), strict=True)) for row in rows])
        return result

    def observe(
        self, sentences: Iterable[str | None], *, domain: str | None = None
    ) -> list[Observation]:
        """Return one telling as soft observations, which a script can be asked about.

        Parameters
        ----------
        sentences
            The sentences; None where a step is missing.
        domain
            The domain; it may be left out where there is only one.

        Returns
        -------
        list
            Weights by event, those that are at least a fiftieth of the greatest, with the words of
            the sentence; None where the step is missing or none of the types is probable. With
            ``split``, one for each part of a sentence.

        Examples
        --------
        >>> extractor = EventExtractor("wordnet").fit([["hear bell", "open door"]] * 3)
        >>> heard, gap = extractor.observe(["I hear the bell", None])
        >>> max(heard, key=heard.get), gap
        ('hear bell', None)
        """
        result: list[Observation] = []
        for sentence in sentences:
            if sentence is None:
                result.append(None)
                continue
            told = self.parts(as_corpus([[sentence]]))
            steps = [step for narrative in told for step in narrative.steps or ()]
            [rows] = self._shares(told, domain)
            result += [self._observed(*one) for one in zip(steps, rows, strict=True)]
        return result

    def heard(
        self, X: Tellings, *, domain: str | None = None, left_out: bool = False
    ) -> list[list[HeardSentence | None]]:
        """Return tellings as soft observations, None where a sentence is none of the types.

        The parameters are those of `transform`, whose events are the likeliest of these.
        """
        corpus = self.parts(as_corpus(X))
        shares = self._shares(corpus, domain, left_out=left_out)
        return [
            [self._observed(*one) for one in zip(narrative.steps or (), rows, strict=True)]
            for narrative, rows in zip(corpus, shares, strict=True)
        ]

    def _observed(self, sentence: str, row: dict[str, float]) -> HeardSentence | None:
        """What a sentence of these shares may tell; None if it is rather of none of the types."""
        probable = row and 1.0 - math.fsum(row.values()) <= self.none_threshold
        return HeardSentence(_likely(row), content_words(sentence)) if probable else None

    # --- finding types --------------------------------------------------------------------------

    def _fit(self, corpus: Corpus, given: Labels | None) -> Corpus:
        check_options(self.get_params(deep=False))
        known = None if given is None else checked_labels(corpus, given)
        corpus = self.parts(corpus) if known is None else corpus
        if not any(narrative.steps for narrative in corpus):
            raise InputError("no sentences, expected tellings of at least one sentence in all")
        encoder = None if self.encoder is None else as_encoder(self.encoder)
        self.domains_: dict[str, DomainTypes] = {}
        found: dict[str, list[list[str | None]]] = {}
        taught: dict[str, list[str | None]] = {}
        for narrative, row in zip(corpus, known or (), strict=known is not None):
            taught.setdefault(narrative.domain, []).extend(row)
        for name, part in corpus.by_domain().items():
            told = gather([self._read_all(n) for n in part])
            if known is None:
                self.domains_[name], labels = self._fit_domain(told, encoder)
                each = iter(labels[told.place].tolist())
            else:
                self.domains_[name] = self._taught_domain(told, taught[name])
                each = iter(taught[name])
            found[name] = [[next(each) for _ in n.steps or ()] for n in part]
        rows = {name: iter(lists) for name, lists in found.items()}
        self.labels_: list[list[str | None]] = [next(rows[n.domain]) for n in corpus]
        self.dropped_: tuple[Dropped, ...] = tuple(
            Dropped(narrative.domain, narrative.id, position, (narrative.steps or ())[position])
            for narrative, row in zip(corpus, self.labels_, strict=True)
            for position, label in enumerate(row)
            if label is None
        )
        return corpus

    def _fit_domain(
        self, told: Told, encoder: SentenceEncoder | None
    ) -> tuple[DomainTypes, NDArray[np.object_]]:
        """Return the types of a domain and the type of each of its wordings."""
        weights = self._weights()
        measure = self._measure(told, weights)
        needed = 1
        if self.rare == "drop":
            needed = least_tellings(self.min_tellings, told.tellings.shape[1])
        compare = comparison(told, measure, weights)
        if encoder is not None:
            compare = with_encoder(compare, told, encoder)
        clusters = cluster(
            told,
            compare,
            weights,
            n_types=self.n_types,
            min_tellings=needed,
        )
        groups = kept(told, clusters, needed)
        types = describe(told, clusters, measure, groups)
        names = np.full(clusters.labels.max(initial=-1) + 1, None, dtype=object)
        names[groups] = [kind.name for kind in types]
        return self._domain(told, clusters, types, measure, weights), names[clusters.labels]

    def _taught_domain(self, told: Told, labels: Sequence[str | None]) -> DomainTypes:
        """Return the types that labels give, each with the wordings that most often have it."""
        weights = self._weights()
        measure = self._measure(told, weights)
        clusters, names = taught_groups(told, labels)
        groups = [group for group in kept(told, clusters, 1) if names[group] is not None]
        types = describe(told, clusters, measure, groups, [str(names[group]) for group in groups])
        return self._domain(told, clusters, types, measure, weights)

    def _domain(
        self,
        told: Told,
        clusters: Clusters,
        types: list[EventType],
        measure: Measure,
        weights: Weights,
    ) -> DomainTypes:
        spare = None
        if weights.vectors:
            spare = calibrate(types, told, self._measure(told, MIXED_WITHOUT_VECTORS))
        return DomainTypes(
            types,
            measure,
            calibration=calibrate(types, told, measure),
            method=clusters.method,
            cut=clusters.cut,
            spare=spare,
        )

    def _weights(self) -> Weights:
        if self.similarity == "mixed":
            weights = MIXED if use_vectors(self.vectors) else MIXED_WITHOUT_VECTORS
        else:
            weights = replace(WORDNET, verb=self.verb_weight, object=1 - self.verb_weight)
        return weights if self.strictness is None else replace(weights, strictness=self.strictness)

    def _measure(self, told: Told, weights: Weights) -> Measure:
        return WordMeasure.of(told.wordings, told.count, weights, senses=self.senses)

    # --- mapping sentences ----------------------------------------------------------------------

    def _labels(
        self, corpus: Corpus, domain: str | None, *, left_out: bool = False
    ) -> list[list[str | None]]:
        result = []
        tables = self._probabilities(corpus, domain, left_out=left_out)
        for narrative, rows in zip(corpus, tables, strict=True):
            names = self._types_of(narrative, domain).names
            result.append(
                [
                    None if row[-1] > self.none_threshold or not names else names[row[:-1].argmax()]
                    for row in rows
                ]
            )
        return result

    def _probabilities(
        self, corpus: Corpus, domain: str | None, *, left_out: bool = False
    ) -> list[NDArray[np.float64]]:
        """Probabilities of the types, one table a narrative, each wording looked at once."""
        tables: dict[str, dict[Wording, NDArray[np.float64]]] = {}
        read = [self._read_all(narrative) for narrative in corpus]
        for narrative, wordings in zip(corpus, read, strict=True):
            known = tables.setdefault(narrative.domain, {})
            known.update(dict.fromkeys(wordings, np.empty(0)))
        for name, known in tables.items():
            types = self._types_of(Narrative((), domain=name), domain)
            rows = types.probabilities(list(known), left_out=left_out)
            known.update(zip(known, rows, strict=True))
        return [
            np.array([tables[narrative.domain][w] for w in wordings])
            for narrative, wordings in zip(corpus, read, strict=True)
        ]

    def _types_of(self, narrative: Narrative, domain: str | None) -> DomainTypes:
        if not hasattr(self, "domains_"):
            _not_fitted(self)
        name = narrative.domain if domain is None else domain
        if name in self.domains_:
            return self.domains_[name]
        if len(self.domains_) == 1 and not name:
            return next(iter(self.domains_.values()))
        known = ", ".join(map(repr, list(self.domains_)[:8]))
        hint = f"it has {known}" + (", ..." if len(self.domains_) > 8 else "")
        raise InputError(f"no event types for the domain {shown(name)}", hint=hint)

    # --- sentences ------------------------------------------------------------------------------

    def _read_all(self, narrative: Narrative) -> list[Wording]:
        meant = meanings(narrative)
        return [self._read(s, meant.get(s)) for s in narrative.steps or ()]

    def _read(self, sentence: str, meant: str | None) -> Wording:
        return read_wording(sentence, meant)

    def parts(self, corpus: Corpus) -> Corpus:
        """Return a corpus whose sentences tell one event each, if that is wanted (``split``)."""
        if not self.split:
            return corpus
        return Corpus(
            Narrative(
                steps=tuple(p for s in n.steps or () for p in split(s) or [s]),
                domain=n.domain,
                id=n.id,
                extra=n.extra,
            )
            for n in corpus
        )

    # --- files ----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the fitted extractor as plain values that JSON can hold.

        The values are enough to map new sentences, and small enough to be kept in another file,
        such as that of a script.
        """
        if not hasattr(self, "domains_"):
            _not_fitted(self)
        settings = self.get_params(deep=False)
        del settings["encoder"]  # it has had its say
        settings["vectors"] = any(
            isinstance(d.measure, WordMeasure) and bool(d.measure.weights.vectors)
            for d in self.domains_.values()
        )
        return extractor_file.to_dict(settings, self.domains_)

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, Any],
        *,
        where: str = "extractor",
    ) -> EventExtractor:
        """Return the extractor that `to_dict` was asked of.

        Parameters
        ----------
        data
            The plain values.
        where
            The name of the file, for messages.

        Raises
        ------
        FileFormatError
            If these are not the values of an extractor.

        Examples
        --------
        >>> extractor = EventExtractor("wordnet").fit([["hear bell", "open door"]] * 3)
        >>> again = EventExtractor.from_dict(extractor.to_dict())
        >>> again.predict([["I heard the bell"]])
        [['hear bell']]
        """
        settings, domains = extractor_file.from_dict(data, where=where)
        extractor = cls(**settings)
        extractor.domains_ = domains
        extractor.labels_ = []
        extractor.dropped_ = ()
        return extractor

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted extractor to a JSON file, whole or not at all."""
        extractor_file.save(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> EventExtractor:
        """Read an extractor from a file that `save` wrote.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        FileFormatError
            If the file is missing, damaged or of another format.
        """
        data, where = extractor_file.read(path)
        return cls.from_dict(data, where=where)


def _likely(weights: dict[str, float]) -> dict[str, float]:
    """Leave out what is next to impossible: each event that remains has to be weighed."""
    least = LEAST_WEIGHT * max(weights.values())
    return {event: weight for event, weight in weights.items() if weight >= least}
