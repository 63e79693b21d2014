"""The package's own tellings that were labelled by hand."""

from __future__ import annotations

from pathlib import Path

import elision as el


def own_tellings():
    return el.read(str(Path(el.__file__).with_name("data") / "tellings.jsonl"))
