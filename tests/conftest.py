"""Settings that hold for every test."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "elision",
    deadline=None,  # the first example may compile
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("interpreted", settings.get_profile("elision"), max_examples=25)
settings.load_profile("interpreted" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else "elision")
