"""Where an event is told, as a gap sees it."""

from __future__ import annotations

import numpy as np
import pytest

from elision import kernels

pytestmark = pytest.mark.numerical


@pytest.mark.parametrize(("gap", "state"), [(0, 2), (1, 2), (2, 3), (3, 3), (4, 1), (5, 1)])
def test_an_event_is_told_before_a_gap_or_behind_it(gap, state):
    """Event 0 is the second and the fourth of five; the gap k is before the event k."""
    first, last = np.array([1, 0]), np.array([3, -1])
    assert kernels.repairing.state_of(0, gap, first, last) == state
    assert kernels.repairing.state_of(1, gap, first, last) == 0
