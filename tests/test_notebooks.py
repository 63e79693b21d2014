"""What the notebooks show is what happens: they are run, and what they print compared.

`python tools/notebooks.py` keeps new outputs in them.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.filterwarnings("default")  # those of the kernel's own libraries
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_happens(path, tmp_path):
    kept = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(fresh, timeout=300, kernel_name="python3", resources=where).execute()
    assert [shown(cell) for cell in fresh.cells] == [shown(cell) for cell in kept.cells]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_does_not_say_when_it_was_run(path):
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.metadata for cell in notebook.cells)
    assert "version" not in notebook.metadata.language_info


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_valid_and_has_its_pictures(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    kinds = {
        kind for cell in notebook.cells for one in outputs(cell) for kind in one.get("data", ())
    }
    assert "image/svg+xml" in kinds


def outputs(cell):
    return cell.get("outputs", [])


def shown(cell):
    """Text and tables that a cell shows; drawings may change, as may last digits beside a table.

    What is printed may come in pieces.
    """
    printed = "".join(one.text for one in outputs(cell) if one.output_type == "stream")
    rest = [one for one in outputs(cell) if one.output_type != "stream"]
    return printed, [(one.output_type, as_seen(one.get("data", {}))) for one in rest]


def as_seen(data):
    unseen = {"image/svg+xml": None, **({"text/plain": None} if "text/html" in data else {})}
    return {**data, **unseen}
