"""What tests of telling models share."""

from __future__ import annotations

import pytest

import elision as el
import naive_telling as naive
from elision.kernels.plain_tellings import LONGEST_HISTORY


@pytest.fixture(scope="module")
def settings_of_the_package():
    """The twin has the settings of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(naive, "LONGEST_HISTORY", LONGEST_HISTORY)
        yield


@pytest.fixture(scope="module")
def learner():
    return el.ScriptLearner().fit(el.examples.doorbell_tellings())
