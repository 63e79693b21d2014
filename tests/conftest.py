"""Settings that hold for every test."""

from __future__ import annotations

import os
import signal
from functools import partial

import pytest
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


@pytest.fixture
def elision(tmp_path, monkeypatch, capsys):
    """Run commands in this process, in a folder of their own."""
    import commands  # loads the whole program

    monkeypatch.chdir(tmp_path)
    return partial(commands.run, monkeypatch, capsys)


@pytest.fixture
def refused(elision):
    """Run commands that cannot be done; what they say."""
    import commands

    return lambda *arguments, **more: commands.refused(elision(*arguments, **more))
