"""What the pages show is what happens: their Python and shell blocks are run, in order."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import elision as el

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = (
    "README.md",
    "docs/guide.md",
    "docs/questions.md",
    "docs/process-mining.md",
)
PICTURES = sorted((ROOT / "docs" / "pictures").glob("*.svg"))
"""Drawn by the blocks of the first page, under the same names."""

NOT_RUN = re.compile(r"^(make|pip|git|curl|python benchmarks|elision (serve|bench))", re.MULTILINE)

STATUS = '; echo "status $?"'
PLAIN = re.compile(rf"elision [^;|<>$&`*]*({re.escape(STATUS)})?")
"""A command that means the same without a shell."""

COMMANDS = """
import contextlib, io, json, sys
from elision.cli import main

for line in sys.stdin:
    sys.argv = ["elision", *json.loads(line)]
    printed, status = io.StringIO(), 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
    print(json.dumps([printed.getvalue(), status]), flush=True)
"""
"""One process for the commands of a page: starting one for each would take most of the time."""


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


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_do_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    with Shell() as shell:
        for kind, content, shown in blocks(page):
            if kind == "python":
                output = io.StringIO()
                with contextlib.redirect_stdout(output):
                    exec(compile(content, page, "exec"), names)  # noqa: S102
                printed = output.getvalue()
            elif kind == "sh" and not NOT_RUN.search(content):
                printed = shell.run(content)
            else:
                continue
            ran += 1
            if shown is not None:
                assert tidy(printed) == tidy(shown), content
    assert ran > 1
    for picture in PICTURES:
        drawn = tmp_path / picture.name
        assert page != "README.md" or drawn.read_bytes() == picture.read_bytes(), picture.name


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]), ids=lambda page: page.name
)
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text())
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if "://" in target:
            continue
        path, _, part = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), target
        if part:
            headings = re.findall(r"^#+ (.*)", FENCE.sub("", there.read_text()), re.MULTILINE)
            assert part in map(anchor, headings), target


def test_the_map_of_the_house_is_true():
    told = set(re.findall(r"`([\w/]+(?:\.py|/))`", (ROOT / "docs/architecture.md").read_text()))
    source = ROOT / "src" / "elision"
    for room in source.iterdir():
        assert not (room / "__init__.py").exists() or f"{room.name}/" in told, room
    for name in told:
        assert any((place / name).exists() for place in (source, ROOT)), name


def test_the_glossary_speaks_of_what_is_there():
    page = (ROOT / "docs/glossary.md").read_text()
    first_column = re.findall(r"^\| (.*?) \|", page, re.MULTILINE)
    named = {name for cell in first_column for name in re.findall(r"`([A-Za-z_]+)`", cell)}
    known = {"None", "script_", *el.__all__, *dir(el.Script), *dir(el.Library)}
    assert len(named) > 20
    assert named <= known, named - known


def test_the_map_is_one_that_newcomers_read():
    assert len((ROOT / "docs/architecture.md").read_text().splitlines()) <= 80


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Shell:
    """Runs blocks of commands, one a line, and returns what they print, errors included."""

    def __enter__(self):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._options = {
            "text": True,
            "encoding": "utf-8",
            "env": {**os.environ, "PATH": path, "PYTHONWARNINGS": "ignore"},
        }
        self._commands = subprocess.Popen(
            [sys.executable, "-c", COMMANDS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **self._options,
        )
        return self

    def __exit__(self, *_):
        self._commands.communicate()

    def run(self, content):
        lines = content.replace("\\\n", " ").strip().splitlines()
        return "".join(map(self._line, lines))

    def _line(self, line):
        if not PLAIN.fullmatch(line):
            done = subprocess.run(
                ["bash", "-c", line],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
                **self._options,
            )
            return done.stdout
        words = shlex.split(line.removesuffix(STATUS))[1:]
        self._commands.stdin.write(json.dumps(words) + "\n")
        self._commands.stdin.flush()
        printed, status = json.loads(self._commands.stdout.readline())
        return printed + (f"status {status}\n" if line.endswith(STATUS) else "")


def tidy(text):
    return [line.rstrip() for line in text.strip().splitlines()]
