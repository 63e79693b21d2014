"""Adds to the documentation site what does not stand in `docs`: mkdocs calls it as a hook.

The README is the home page; the changelog, the rules for contributing, security and the licence are
pages; so is each notebook, with what it shows. Links are made to fit, and those that lead out of
the site to a file of the project become its name.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "LICENSE": "licence.md",
}
"""Files of the project, and the pages that they become."""

LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)#\s]*)(?P<part>#[^)]*)?\)")
FENCE = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - a tool for the site alone

    for name, page in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(
            File.generated(config, page, content=text if "." in name else f"# Licence\n\n{text}")
        )
    for path in sorted((ROOT / "examples").glob("*.ipynb")):
        page = f"notebooks/{path.stem}.md"
        files.append(File.generated(config, page, content=notebook_page(path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make the links of a page fit the site."""
    del config
    here = page.file.src_uri
    stood = source_of(here)
    known = {file.src_uri for file in files}
    pieces = FENCE.split(markdown)
    pieces[::2] = [
        LINK.sub(lambda link: fitting(link, stood, here, known), piece) for piece in pieces[::2]
    ]
    return "".join(pieces)


def source_of(page: str) -> str:
    """The file of the project that a page is made from."""
    made = {there: name for name, there in PAGES.items()}
    if page in made:
        return made[page]
    if page.startswith("notebooks/"):
        return f"examples/{Path(page).stem}.ipynb"
    return f"docs/{page}"


def page_of(source: str) -> str:
    """The page, or other file of the site, that a file of the project becomes."""
    if source in PAGES:
        return PAGES[source]
    if source.startswith("examples/") and source.endswith(".ipynb"):
        return f"notebooks/{Path(source).stem}.md"
    return source.removeprefix("docs/") if source.startswith("docs/") else ""


def fitting(link: re.Match[str], stood: str, here: str, known: set[str]) -> str:
    """The link as it must be on the site, or its text if what it leads to is not there."""
    target = link["target"]
    if not target or "://" in target or target.startswith("mailto:"):
        return link[0]
    source = posixpath.normpath(posixpath.join(posixpath.dirname(stood), target))
    page = page_of(source)
    if page not in known:
        if not (ROOT / source).exists():
            return link[0]  # mkdocs will complain
        return f"`{source}`"
    there = posixpath.relpath(page, posixpath.dirname(here) or ".")
    return f"{link['image']}[{link['text']}]({there}{link['part'] or ''})"


def notebook_page(path: Path) -> str:
    """A notebook as Markdown: its cells, and what they show."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        parts += [shown(output) for output in cell.get("outputs", [])]
    return "\n\n".join(parts) + "\n"


def shown(output: dict[str, Any]) -> str:
    """What a cell shows: a drawing, a table, or text."""
    data = output.get("data", {})
    if "image/svg+xml" in data:
        svg = base64.b64encode("".join(data["image/svg+xml"]).encode()).decode()
        return f'<img alt="What the cell above draws" src="data:image/svg+xml;base64,{svg}">'
    if "text/html" in data:
        table = re.sub(r"\n\s*", "", "".join(data["text/html"]))
        return f'<div class="md-typeset__table">{table}</div>'
    text = "".join(output.get("text", data.get("text/plain", ""))).rstrip("\n")
    return f"```text\n{text}\n```"
