"""The tools of the house: one version in one place, the site's pages."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

import elision as el

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import docs_site  # noqa: E402


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
