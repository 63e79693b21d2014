"""The tools of the house: comparing kept results, one version in one place, the site's pages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import elision as el

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import compare_results  # noqa: E402
import docs_site  # noqa: E402


def kept(folder, version, name, result, **conditions):
    place = folder / version
    place.mkdir(parents=True, exist_ok=True)
    whole = {"benchmark": name, "version": version, "result": result, **conditions}
    (place / f"{name}.json").write_text(json.dumps(whole))


def lines(folder, a="1", b="2", changed=1.0):
    return list(compare_results.report(a, b, folder, changed))


def test_figures_of_two_versions_stand_beside_each_other(tmp_path):
    kept(tmp_path, "1", "estep", {"a": {"times": 10, "gone": 1}, "many": [2, 4], "ok": True})
    kept(tmp_path, "2", "estep", {"a": {"times": 15, "new": 0.5}, "many": [2, 1]})
    assert lines(tmp_path) == [
        "estep",
        "  figure    1    2  ratio",
        "  a.times  10   15   1.50",
        "  a.gone    1    -      -",
        "  many[0]   2    2   1.00",
        "  many[1]   4    1   0.25",
        "  a.new     -  0.5      -",
    ]
    assert [line.split()[0] for line in lines(tmp_path, changed=1.6)[2:]] == [
        "a.gone",
        "many[1]",
        "a.new",
    ]


@pytest.mark.parametrize(("old", "new", "ratio"), [(0, 0, "1.00"), (0, 2, "inf"), (2, 0, "0.00")])
def test_nothing_is_no_divisor(tmp_path, old, new, ratio):
    kept(tmp_path, "1", "estep", {"x": old})
    kept(tmp_path, "2", "estep", {"x": new})
    assert lines(tmp_path, changed=1.0)[-1].split()[-1] == ratio


def test_what_differed_is_said_first(tmp_path):
    kept(tmp_path, "1", "estep", {"x": 1}, cores=2, libraries={"numpy": "2.0"})
    kept(tmp_path, "2", "estep", {"x": 1}, cores=8, libraries={"numpy": "2.1"})
    kept(tmp_path, "2", "telling", {"x": 1})
    assert lines(tmp_path)[1:3] == ["  cores: 2 / 8", "  numpy: 2.0 / 2.1"]
    assert lines(tmp_path)[-2:] == ["telling", "  only in 2"]


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"benchmark": "x", "result": 3}'])
def test_what_is_no_result_gets_one_line(tmp_path, content):
    kept(tmp_path, "1", "estep", {"x": 1})
    if content is not None:
        (tmp_path / "2").mkdir()
        (tmp_path / "2" / "estep.json").write_text(content)
    command = [sys.executable, ROOT / "tools/compare_results.py", "1", "2", "--folder", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout


def test_the_kept_results_are_those_of_their_versions():
    for path in (ROOT / "benchmarks" / "results").glob("*/*.json"):
        name, one = compare_results.read(path)
        assert (name, one["version"]) == (path.stem, path.parent.name)
        assert dict(compare_results.figures(one["result"]))


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/elision/__init__.py"
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited[1] == el.__version__.removesuffix(".dev0")


def test_every_public_name_has_its_place_in_the_reference():
    pages = (ROOT / "docs" / "reference").glob("*.md")
    named = {
        name for page in pages for name in re.findall(r"^::: (\S+)", page.read_text(), re.MULTILINE)
    }
    assert {f"elision.{name}" for name in el.__all__} <= named


@pytest.mark.parametrize(
    ("link", "page", "expected"),
    [
        ("[a](docs/guide.md#learning)", "index.md", "[a](guide.md#learning)"),
        ("![a](docs/pictures/doorbell.svg)", "index.md", "![a](pictures/doorbell.svg)"),
        ("[a](../docs/guide.md)", "notebooks/tellings.md", "[a](../guide.md)"),
        ("[a](../examples/tellings.ipynb)", "process-mining.md", "[a](notebooks/tellings.md)"),
        ("[a](../CONTRIBUTING.md#tests)", "releasing.md", "[a](contributing.md#tests)"),
        ("[a](../guide.md)", "reference/values.md", "[a](../guide.md)"),
        ("[a](src/elision/data/WORDNET-LICENSE)", "index.md", "`src/elision/data/WORDNET-LICENSE`"),
        ("[a](https://semver.org/)", "changelog.md", "[a](https://semver.org/)"),
        ("[a](#below)", "guide.md", "[a](#below)"),
        ("[a](docs/nowhere.md)", "index.md", "[a](docs/nowhere.md)"),
    ],
)
def test_links_fit_the_site(link, page, expected):
    known = {"index.md", "guide.md", "contributing.md", "notebooks/tellings.md"}
    known |= {"pictures/doorbell.svg", "process-mining.md", "releasing.md", "reference/values.md"}
    found = docs_site.LINK.search(link)
    assert docs_site.fitting(found, docs_site.source_of(page), page, known) == expected


def test_notebooks_are_pages_with_what_they_show():
    page = docs_site.notebook_page(ROOT / "examples" / "tellings.ipynb")
    assert page.startswith("# ")
    assert page.count("```") % 2 == 0
    assert "data:image/svg+xml;base64," in page
    assert "<table>" in page
    assert "Withdrawing cash, from 30 tellings" in page
