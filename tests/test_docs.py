"""What the pages show is what happens: their Python and shell blocks are run, in order."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page):
    """Kind, content and the output shown right after, if any."""
    text = (ROOT / page).read_text()
    found = list(FENCE.finditer(text))
    for number, block in enumerate(found):
        shown = None
        if number + 1 < len(found) and found[number + 1][1] == "text":
            between = text[block.end() : found[number + 1].start()]
            if not between.strip():
                shown = found[number + 1][2]
        yield block[1], block[2], shown


@pytest.mark.parametrize("page", ["README.md", "docs/guide.md"])
def test_the_blocks_of_a_page_do_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    for kind, content, shown in blocks(page):
        if kind == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(content, page, "exec"), names)  # noqa: S102
            printed = output.getvalue()
        elif kind == "sh" and not re.search(
            r"^(make|pip|git|python benchmarks)", content, re.MULTILINE
        ):
            printed = shell(content)
        else:
            continue
        ran += 1
        if shown is not None:
            assert tidy(printed) == tidy(shown), content
    assert ran > 1


def shell(content):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", content],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, "PATH": path, "PYTHONWARNINGS": "ignore"},
    )
    return done.stdout


def tidy(text):
    return [line.rstrip() for line in text.strip().splitlines()]
