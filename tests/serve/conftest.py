"""One server and one browser for all tests of the page."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

import elision as el
from elision.pipeline.learning import as_events
from serving import Running, hostile, large, tickets
from visiting import visits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

TELLINGS = Path(el.__file__).with_name("data") / "tellings.jsonl"
SHORT = 40
"""Tellings in an upload that is learned in a moment."""


@pytest.fixture(scope="session")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("scripts")
    tea = el.read(TELLINGS).domain("making tea")
    spoken = el.Corpus(el.Narrative(None, one.steps, one.domain, one.id) for one in tea)
    heard = as_events(spoken)
    learner = el.ScriptLearner(wording=heard.wording).fit(heard.events)
    door = el.ScriptLearner().fit(el.examples.doorbell_tellings())
    made = {
        "doorbell": el.examples.doorbell(),
        "tea": learner.script_.annotated(**heard.notes("making tea")),
        "hostile": hostile(),
        "large": large(),
        "door": door.script_.annotated(activity="answering the door"),
        "tickets": el.ScriptLearner().fit(tickets()).script_.annotated(activity="tickets"),
    }
    for name, script in made.items():
        script.save(folder / f"{name}.json")
    return {name: folder / f"{name}.json" for name in made}


@pytest.fixture(scope="session")
def server(scripts: dict[str, Path]) -> Iterator[Running]:
    with Running([*scripts.values()]) as running:
        yield running


@pytest.fixture(scope="session")
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.fail("no chromium: `make test` installs Debian's, or `apt-get install chromium`")
    return found


@pytest.fixture(scope="module")  # its event loop would be in the way of other modules
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def visit(browser: Browser, server: Running) -> Iterator[Callable[..., Page]]:
    """Open the page; afterwards nothing may have gone wrong, nor anything left the machine."""
    with visits(browser, server) as open_page:
        yield open_page
