"""Elision learns the script behind many tellings of one activity and says what was left unsaid.

>>> import elision as el
>>> script = el.examples.doorbell()
>>> script.between(["hear doorbell", "open door"]).unsaid[1][0].event
'walk to door'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elision.errors import ElisionError, FileFormatError, InputError, ScriptError, UnknownEventError

if TYPE_CHECKING:
    from elision import examples
    from elision._threads import get_threads, set_threads
    from elision.corpus import Corpus
    from elision.eventlog import EventLog, Insertion, LogWriter
    from elision.learn.baselines import (
        BidirectionalBigram,
        Conditional,
        Frequency,
        LogisticGap,
        NGram,
        SkipNaiveBayes,
    )
    from elision.learn.em import Converged, Prior, fit_parameters
    from elision.learn.learner import ScriptLearner
    from elision.learn.sem import BMM, BMMEM, SEMHMM, mean_log_prob
    from elision.learn.stream import StreamLearner
    from elision.library import Library
    from elision.narrative import Narrative
    from elision.outline import Outline
    from elision.readers import read
    from elision.repairing import Repairer, repair
    from elision.scale.engine import on
    from elision.scale.packed_corpus import PackedCorpus
    from elision.scale.packing import pack
    from elision.script import Script
    from elision.scriptfile import load
    from elision.telling import TellingModel
    from elision.text.extract import EventExtractor

__version__ = "0.1.0"

__all__ = [
    "BMM",
    "BMMEM",
    "SEMHMM",
    "BidirectionalBigram",
    "Conditional",
    "Converged",
    "Corpus",
    "ElisionError",
    "EventExtractor",
    "EventLog",
    "FileFormatError",
    "Frequency",
    "InputError",
    "Insertion",
    "Library",
    "LogWriter",
    "LogisticGap",
    "NGram",
    "Narrative",
    "Outline",
    "PackedCorpus",
    "Prior",
    "Repairer",
    "Script",
    "ScriptError",
    "ScriptLearner",
    "SkipNaiveBayes",
    "StreamLearner",
    "TellingModel",
    "UnknownEventError",
    "examples",
    "fit_parameters",
    "get_threads",
    "load",
    "mean_log_prob",
    "on",
    "pack",
    "read",
    "repair",
    "set_threads",
]

_LATER = {
    "BMM": "elision.learn.sem",
    "BMMEM": "elision.learn.sem",
    "SEMHMM": "elision.learn.sem",
    "BidirectionalBigram": "elision.learn.baselines",
    "Conditional": "elision.learn.baselines",
    "EventExtractor": "elision.text.extract",
    "EventLog": "elision.eventlog",
    "Frequency": "elision.learn.baselines",
    "Insertion": "elision.eventlog",
    "Library": "elision.library",
    "LogWriter": "elision.eventlog",
    "LogisticGap": "elision.learn.baselines",
    "NGram": "elision.learn.baselines",
    "Script": "elision.script",
    "ScriptLearner": "elision.learn.learner",
    "SkipNaiveBayes": "elision.learn.baselines",
    "StreamLearner": "elision.learn.stream",
    "TellingModel": "elision.telling",
    "Converged": "elision.learn.em",
    "Corpus": "elision.corpus",
    "Narrative": "elision.narrative",
    "Outline": "elision.outline",
    "PackedCorpus": "elision.scale.packed_corpus",
    "pack": "elision.scale.packing",
    "Prior": "elision.learn.em",
    "fit_parameters": "elision.learn.em",
    "get_threads": "elision._threads",
    "load": "elision.scriptfile",
    "mean_log_prob": "elision.learn.sem",
    "on": "elision.scale.engine",
    "read": "elision.readers",
    "Repairer": "elision.repairing",
    "repair": "elision.repairing",
    "set_threads": "elision._threads",
}
"""Names whose modules are imported when they are first used, to keep ``import elision`` quick."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name == "examples":
        return import_module("elision.examples")
    raise AttributeError(f"module 'elision' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
