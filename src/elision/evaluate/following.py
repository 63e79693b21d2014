"""Whether following a telling is of use: omissions found in time, and which activity it is.

    python -m elision.evaluate.following FILE... [--seeds N] [--json [PATH]]

Two thirds of each domain are learned from, the others are followed. Where narratives have a field
``missing``, these are the omissions, and any other alarm is false. Else each telling of events is
followed as it is, with a usual step hidden, and with two neighbours exchanged that are always told
in one order; an alarm is false if the step is told later, and of a step that is never told nothing
is known. An omission is found in time if it is by the second step that all tellings learned from
tell after it, or by the end where there are no two.

Files of several domains are identified event by event, by a library of all scripts and by one
without the right script.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from elision._files import write_atomically
from elision.ask._passing import Passing
from elision.ask.follow import Skipped
from elision.corpus import Corpus
from elision.errors import ElisionError, InputError
from elision.evaluate.cloze import calibration_error
from elision.evaluate.identifying import SMOOTHINGS, bag
from elision.evaluate.learned import learn
from elision.evaluate.names import corpus_names
from elision.evaluate.outlines import check_result_path, usable_domains
from elision.evaluate.tables import markdown_table, one_line, percent, plain_text
from elision.learning import DEFAULT
from elision.library import Library
from elision.outline import steps_told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from elision.ask.follow_many import LibraryFollower
    from elision.ask.identify import Identification
    from elision.script import Script

    Floats: TypeAlias = NDArray[np.float64]
    Figures: TypeAlias = dict[str, Any]
