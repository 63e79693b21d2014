"""Elision learns the script behind many tellings of one activity and says what was left unsaid.

>>> import elision as el
>>> script = el.examples.doorbell()
>>> script.between(["hear doorbell", "open door"]).unsaid[1][0].event
'walk to door'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door
from elision.errors import ElisionError, FileFormatError, InputError, ScriptError, UnknownEventError

if TYPE_CHECKING:
    from elision import examples
    from elision._threads import get_threads, set_threads
    from elision.io import read, read_variants
    from elision.learn.baselines import (
        BidirectionalBigram,
        Conditional,
        Frequency,
        LogisticGap,
        NGram,
    )
    from elision.learn.em import Converged, Prior, fit_parameters
    from elision.learn.learner import ScriptLearner
    from elision.learn.sem import BMM, BMMEM, SEMHMM, mean_log_prob
    from elision.pipeline.loading import load
    from elision.repairing import Repairer, repair
    from elision.text.extract import EventExtractor
    from elision.values.corpus import Corpus
    from elision.values.library import Library
    from elision.values.narrative import Narrative
    from elision.values.outline import Outline
    from elision.values.script import Script
    from elision.values.telling import TellingModel
    from elision.values.variants import Variants
else:
    __getattr__ = door(
        __name__,
        {
            "BMM": "learn.sem",
            "BMMEM": "learn.sem",
            "BidirectionalBigram": "learn.baselines",
            "Conditional": "learn.baselines",
            "Converged": "learn.em",
            "Corpus": "values.corpus",
            "EventExtractor": "text.extract",
            "Frequency": "learn.baselines",
            "Library": "values.library",
            "LogisticGap": "learn.baselines",
            "NGram": "learn.baselines",
            "Narrative": "values.narrative",
            "Outline": "values.outline",
            "Prior": "learn.em",
            "Repairer": "repairing",
            "SEMHMM": "learn.sem",
            "Script": "values.script",
            "ScriptLearner": "learn.learner",
            "TellingModel": "values.telling",
            "Variants": "values.variants",
            "fit_parameters": "learn.em",
            "get_threads": "_threads",
            "load": "pipeline.loading",
            "mean_log_prob": "learn.sem",
            "read": "io",
            "read_variants": "io",
            "repair": "repairing",
            "set_threads": "_threads",
        },
    )

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
    "FileFormatError",
    "Frequency",
    "InputError",
    "Library",
    "LogisticGap",
    "NGram",
    "Narrative",
    "Outline",
    "Prior",
    "Repairer",
    "Script",
    "ScriptError",
    "ScriptLearner",
    "TellingModel",
    "UnknownEventError",
    "Variants",
    "examples",
    "fit_parameters",
    "get_threads",
    "load",
    "mean_log_prob",
    "read",
    "read_variants",
    "repair",
    "set_threads",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
