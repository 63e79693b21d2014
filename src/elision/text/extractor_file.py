"""Fitted extractors as plain values and JSON files: one versioned format.

A domain is stored as the wordings of its types (verb, particle, object, how often, one sentence)
and the word counts that its similarity needs; content words and vectors are worked out again.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from elision._files import shown_path, write_atomically
from elision.errors import FileFormatError, InputError
from elision.files.envelope import VERSION, Envelope
from elision.text.cluster import Method  # noqa: TC001 - msgspec reads it
from elision.text.event_types import Calibration, DomainTypes, EventType
from elision.text.similarity import (
    MIXED,
    MIXED_WITHOUT_VECTORS,
    WORDNET,
    WordMeasure,
)
from elision.text.vectors import DIMENSIONS, use_vectors
from elision.text.wording import Wording, content_words

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from elision.text.similarity import Weights

FORMAT = "elision-extractor"
ENVELOPE = Envelope(FORMAT, "extractor")

LARGEST_NUMBER = 1e6
MOST_SENTENCES = 1 << 40
"""Of what a whole extractor can hold; larger ones would overflow when sentences are compared."""


class _Type(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    tellings: int
    cohesion: float | None
    wordings: list[tuple[str, str, str, int, str]]


class _Domain(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    method: Method
    cut: float
    calibration: tuple[float, float]
    spare: tuple[float, float] | None
    sentences: int
    words: dict[str, int]
    centroid: list[float]
    types: list[_Type]


class _Settings(msgspec.Struct, forbid_unknown_fields=True):
    similarity: str
    vectors: bool | None
    verb_weight: float
    senses: int | None
    min_tellings: float
    n_types: int | None
    rare: str
    strictness: float | None
    none_threshold: float
    split: bool


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    settings: _Settings
    domains: list[_Domain]


def to_dict(settings: Mapping[str, Any], domains: Mapping[str, DomainTypes]) -> dict[str, Any]:
    """Return settings and event types as plain values."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "settings": {name: _plain(value) for name, value in settings.items()},
        "domains": [_domain_to_dict(name, types) for name, types in domains.items()],
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _domain_to_dict(name: str, domain: DomainTypes) -> dict[str, Any]:
    measure = domain.measure
    words = measure if isinstance(measure, WordMeasure) else None
    return {
        "name": name,
        "method": domain.method,
        "cut": domain.cut,
        "calibration": list(domain.calibration),
        "spare": list(domain.spare) if domain.spare else None,
        "sentences": words.sentences if words else 0,
        "words": dict(words.frequency) if words else {},
        "centroid": words.centroid.tolist() if words and words.weights.vectors else [],
        "types": [
            {
                "name": kind.name,
                "tellings": kind.tellings,
                "cohesion": None if math.isnan(kind.cohesion) else kind.cohesion,
                "wordings": [
                    [w.verb, w.particle, w.object, count, w.text]
                    for w, count in zip(kind.wordings, kind.counts, strict=True)
                ],
            }
            for kind in domain.types
        ],
    }


def from_dict(
    data: Mapping[str, Any], *, where: str
) -> tuple[dict[str, Any], dict[str, DomainTypes]]:
    """Return settings and event types from plain values, or say what is wrong with them."""
    ENVELOPE.check_header(data, where)
    file = ENVELOPE.converted(data, _File, where)
    settings = msgspec.structs.asdict(file.settings)
    weights = _weights(file.settings, where)
    domains: dict[str, DomainTypes] = {}
    for domain in file.domains:
        place = f"{where}, domain {domain.name[:40]!r}"
        if domain.name in domains:
            raise FileFormatError("it stands twice", where=place)
        domains[domain.name] = _domain(domain, settings, weights, place)
    return settings, domains


def _weights(settings: _Settings, where: str) -> Weights:
    """Return the weights of the similarity, without vectors where they are not to be had."""
    problem = None
    if settings.similarity not in {"mixed", "wordnet"}:
        problem = f"unknown similarity {settings.similarity!r:.40}"
    if settings.rare not in {"drop", "keep"}:
        problem = f"unknown treatment of rare steps {settings.rare!r:.40}"
    if settings.senses is not None and settings.senses < 1:
        problem = f"{settings.senses} senses, expected 1 or more"
    numbers = [settings.verb_weight, settings.min_tellings, settings.none_threshold]
    if not all(abs(number) <= LARGEST_NUMBER for number in [*numbers, settings.strictness or 0.0]):
        problem = "a setting is out of range"
    elif settings.similarity == "wordnet" and not 0 <= settings.verb_weight <= 1:
        problem = f"a verb weight of {settings.verb_weight}, expected one from 0 to 1"
    if problem:
        raise FileFormatError(f"damaged extractor: {problem}", where=where)
    if settings.similarity == "mixed":
        vectors = settings.vectors is True and use_vectors(None)
        return MIXED if vectors else MIXED_WITHOUT_VECTORS
    return replace(WORDNET, verb=settings.verb_weight, object=1 - settings.verb_weight)


def _domain(file: _Domain, settings: dict[str, Any], weights: Weights, where: str) -> DomainTypes:
    _check_domain(file, where)
    if len(file.centroid) not in {0, DIMENSIONS}:
        problem = f"centroid of {len(file.centroid)} numbers, expected {DIMENSIONS}"
        raise FileFormatError(problem, where=where)
    measure = WordMeasure(
        weights,
        senses=settings["senses"],
        frequency=file.words,
        sentences=file.sentences,
        centroid=np.array(file.centroid) if file.centroid else None,
    )
    used = bool(weights.vectors) == bool(file.centroid)
    types = []
    for kind in file.types:
        wordings = tuple(
            Wording(verb, particle, thing, content_words(text), text)
            for verb, particle, thing, _, text in kind.wordings
        )
        counts = tuple(count for _, _, _, count, _ in kind.wordings)
        cohesion = math.nan if kind.cohesion is None else kind.cohesion
        types.append(EventType(kind.name, kind.tellings, cohesion, wordings, counts))
    return DomainTypes(
        types,
        measure,
        calibration=Calibration(*(file.calibration if used or not file.spare else file.spare)),
        method=file.method,
        cut=file.cut,
        spare=Calibration(*file.spare) if file.spare else None,
    )


def _check_domain(file: _Domain, where: str) -> None:
    scales = [file.calibration, file.spare or file.calibration]
    numbers = [file.cut, *scales[0], *scales[1], *file.centroid]
    names = [kind.name for kind in file.types]
    problem = None
    if not all(abs(number) <= LARGEST_NUMBER for number in numbers) or min(scales)[0] <= 0:
        problem = "a number is out of range, or the scale is not positive"
    elif not 0 <= file.sentences <= MOST_SENTENCES or min(file.words.values(), default=1) < 1:
        problem = "counts of words and sentences, expected none below 1"
    elif max(file.words.values(), default=0) > file.sentences:
        problem = f"a word of more than all {file.sentences} sentences"
    elif "" in names or len(set(names)) < len(names):
        problem = "names of types, expected each once and none empty"
    for kind in file.types:
        told = [wording[3] for wording in kind.wordings]
        if not told or min(told) < 1 or max(told) > MOST_SENTENCES:
            problem = f"type {kind.name[:40]!r} needs wordings, each told at least once"
        elif not 0 <= kind.tellings <= MOST_SENTENCES or not abs(kind.cohesion or 0.0) <= 1e6:
            problem = f"type {kind.name[:40]!r} has a number that is out of range"
    if problem:
        raise FileFormatError(f"damaged extractor: {problem}", where=where)


def save(data: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write plain values to a JSON file, in one go."""
    try:
        content = ENVELOPE.written({name: data[name] for name in ("settings", "domains")})
    except ValueError as error:  # half a surrogate pair in a sentence, or a nan from a setting
        raise InputError(f"cannot be written as JSON: {str(error)[:100]}") from None
    write_atomically(path, content)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], str]:
    """Return the plain values of a file, and its name for messages."""
    where = shown_path(path)
    data = ENVELOPE.opened(ENVELOPE.read(path), where)
    del data["checksum"]
    return data, where
