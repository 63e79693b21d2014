"""Settings that hold for every test."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

# A shell starts background jobs with Ctrl-C ignored, and every command under test would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "elision",
    deadline=None,  # the first example may compile
    derandomize=True,
    max_examples=int(os.environ.get("EXAMPLES", "7")),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
few = min(5, settings.get_profile("elision").max_examples)
settings.register_profile("interpreted", settings.get_profile("elision"), max_examples=few)
settings.load_profile("interpreted" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else "elision")
