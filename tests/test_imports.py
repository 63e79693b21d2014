"""Who may import whom: the contracts fail where they should, and what is measured is there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINTER = Path(sys.executable).with_name("lint-imports")

PLANTED = {
    "io/plain.py": ("from elision.values.script import Script", "know no models"),
    "kernels/passes.py": ("from elision.errors import InputError", "nothing but kernels"),
    "lattice.py": ("from elision.values.script import Script", "those below"),
    "learn/em.py": (
        "from elision.show.outline_svg import outline_svg",
        "neither readers nor sentences",
    ),
    "ask/order.py": ("from elision.learn.em import Prior", "those below"),
    "learn/outline.py": ("from elision.ask.order import order", "measures by asking"),
    "values/script.py": ("from elision.ask.order import order", "those below"),
    "learn/sem.py": ("from elision.bench.tasks import TASKS", "those below"),
    "show/draw.py": ("from elision.serve.shelf import Shelf", "those below"),
    "values/library.py": ("from elision.terminal import out", "Only commands"),
    "repairing/gaps.py": ("from elision.values.telling import Chain", "Repairers stand beside"),
    "_files.py": ("from elision.values.corpus import Corpus", "nothing but errors"),
}
"""Imports that break a contract: one late, in a function, the others when the module is loaded."""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What the linter says of a copy of the package with all these imports in it."""
    source = tmp_path_factory.mktemp("planted") / "src"
    shutil.copytree(
        ROOT / "src" / "elision",
        source / "elision",
        ignore=lambda _, names: [name for name in names if Path(name).suffix in {".nbi", ".nbc"}],
    )
    for name, (line, _) in PLANTED.items():
        path = source / "elision" / name
        late = "\n\ndef planted():\n    " if name == "ask/order.py" else "\n\n"
        path.write_text(f"{path.read_text()}{late}{line}\n")
    return linted(source)


def linted(source):
    """Run the linter with the contracts of this project on the package in a folder."""
    command = [LINTER, "--config", ROOT / "pyproject.toml", "--no-cache"]
    return subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(source), "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_contracts_are_kept():
    done = linted(ROOT / "src")
    assert done.returncode == 0, done.stdout


def test_planted_imports_break_the_contracts(said):
    assert said.returncode == 1
    assert " 0 kept" in said.stdout, "every contract has an import that breaks it"


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_import_is_named(said, name):
    line, contract = PLANTED[name]
    importer = f"elision.{name.removesuffix('.py').replace('/', '.')}"
    imported = line.split()[1]
    broken = [one for one in said.stdout.splitlines() if " BROKEN" in one]
    assert any(contract in one for one in broken), broken
    assert f"{importer} -> {imported} " in said.stdout


SMALL = {
    "__init__.py": "from house.values import value\n",
    "values.py": """
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from house.ask.question import Question

        def ask():
            from house.ask import question
            from house import values as own
            import house.late, json
            return question

        class Value:
            from . import plain

            def show(self):
                from .ask import question, answer
        """,
    "plain.py": "import os\n",
    "late.py": "import house.values\n",
    "ask/__init__.py": "",
    "ask/question.py": "from house import values\nfrom ..plain import os\n",
    "ask/answer.py": "from . import question\n\n\ndef late():\n    from house import values\n",
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    source = tmp_path_factory.mktemp("small")
    for name, text in SMALL.items():
        path = source / "house" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import import_graph
    finally:
        sys.path.pop(0)
    found = import_graph.measure(source, "house")
    return found, dict(import_graph.rows_of(found))


def test_late_imports_are_those_in_functions(measured):
    found, _ = measured
    assert found["late"] == {
        "house.values:ask": ["house.ask.question", "house.late"],
        "house.values:Value.show": ["house.ask.question", "house.ask.answer"],
        "house.ask.answer:late": ["house.values"],
    }
    assert found["late that save nothing"] == {"house.ask.answer:late": ["house.values"]}


def test_knots_by_when_imports_happen(measured):
    found, _ = measured
    assert found["knots at loading"] == []
    assert found["knots with types"] == [["house.ask.question", "house.values"]]
    everything = ["house.ask.answer", "house.ask.question", "house.late", "house.values"]
    assert found["knots with types and late"] == [everything]


def test_the_table_counts(measured):
    _, rows = measured
    assert rows == {
        "modules": "5",
        "imports, loading": "6",
        "imports, types": "1",
        "functions with late": "3 (5 imports)",
        "functions with late that save nothing": "1 (1 imports)",
        "knots at loading": "0",
        "knots with types": "1 (modules: 2)",
        "knots with types and late": "1 (modules: 4)",
        "modules in (root)": "3",
        "modules in ask": "2",
    }
