"""What SECURITY.md promises of the code itself, and that the tests that it names are there."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "elision"
MODULES = sorted(SOURCE.rglob("*.py"))

RUNS_DATA = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml"}
PROCESSES = ("src/elision/_parallel.py", "src/elision/bench/measuring.py")
"""They begin processes of their own by joblib, and read nothing by it."""

NETWORK = {"urllib.request", "http.client", "requests", "httpx", "ftplib", "smtplib", "aiohttp"}
BUILT_IN = {"eval", "exec", "compile"}


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def trees():
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in MODULES]


def test_nothing_that_is_read_is_run():
    for path, tree in trees():
        found = {name.partition(".")[0] for name in imported(tree)} & RUNS_DATA
        assert found <= ({"joblib"} if path.as_posix().endswith(PROCESSES) else set()), path
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = node.func.id if isinstance(node.func, ast.Name) else None
                assert called not in BUILT_IN, f"{path}:{node.lineno}"
                trusting = [one for one in node.keywords if one.arg == "allow_pickle"]
                assert not any(ast.literal_eval(one.value) for one in trusting), path


def test_the_library_asks_nothing_of_the_network():
    for path, tree in trees():
        names = set(imported(tree))
        asked = (names | {name.partition(".")[0] for name in names}) & NETWORK
        assert not asked, (path, asked)
        if path.parent.name != "serve":
            assert "socket" not in names, path


SHELLS = {"system", "popen", "getoutput", "getstatusoutput", "create_subprocess_shell"}


def test_no_command_goes_through_a_shell():
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                assert node.attr not in SHELLS, path
            if isinstance(node, ast.Call):
                assert not [one for one in node.keywords if one.arg == "shell"], path


def test_every_dependency_has_a_lowest_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    several = [project["dependencies"], *project["optional-dependencies"].values()]
    for line in (one for some in several for one in some):
        name = re.match(r"[\w-]+", line)[0]
        stubs = name.endswith("-stubs") or name.startswith("types-")
        assert name == "elision" or stubs or re.fullmatch(r"[\w\[\]-]+>=\d[\d.]*", line), line


def test_every_promise_names_tests_that_are_there():
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promised = page.partition("## What is promised")[2].partition("## What is not promised")[0]
    rows = re.findall(r"^\| ([A-Z].*?) \| (.*) \|$", promised, re.MULTILINE)
    assert len(rows) > 20
    pattern = re.compile(r"^ *def (test_\w+)\(", re.MULTILINE)
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    there = {name for text in texts for name in pattern.findall(text)}
    for promise, cell in rows:
        named = re.findall(r"`(\w+)`", cell)
        assert named, promise
        assert {*named} <= there, {*named} - there


@pytest.mark.parametrize("line", ["import pickle", "from urllib.request import urlopen"])
def test_what_is_forbidden_would_be_found(line):
    assert set(imported(ast.parse(line))) & (RUNS_DATA | NETWORK)
