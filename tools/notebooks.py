"""Runs the notebooks of `examples` and keeps what they show.

    python tools/notebooks.py [NOTEBOOK ...]

Each runs in an empty folder. Nothing is kept of when and by which Python it was run, so that a
notebook changes only if what it shows does.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "examples"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def run(path: Path) -> None:
    """Run a notebook and write it back with what it shows now."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where)
        client.record_timing = False
        client.execute()
    tidy(notebook)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def tidy(notebook: Any) -> None:
    """Number the cells, and forget how the notebook was run."""
    notebook.metadata.clear()
    notebook.metadata.update({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02}"
        cell.metadata.clear()


def main() -> None:
    """Run the notebooks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(FOLDER.glob("*.ipynb")))
    for path in parser.parse_args().notebooks:
        run(path)
        print(path.name)


if __name__ == "__main__":
    main()
