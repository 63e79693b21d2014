"""Nine scripts on one page: told apart, gone to from one another, all of them working."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import elision as el
from serving import Running, tickets
from visiting import finish, line, lines, shoot, visits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

TELLINGS = Path(el.__file__).with_name("data") / "tellings.jsonl"


@pytest.fixture(scope="module")
def nine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("nine")
    read = el.read(TELLINGS)
    told = {name: [list(one.events or ()) for one in read.domain(name)] for name in read.domains}
    told["a ticket"] = tickets(100)
    for name, narratives in told.items():
        script = el.ScriptLearner().fit(narratives).script_.annotated(domain=name)
        script.save(folder / f"{name.replace(' ', '-')}.json")
    with Running([folder]) as running:
        yield running


@pytest.fixture
def visit_nine(browser: Browser, nine: Running) -> Iterator[Callable[..., Page]]:
    with visits(browser, nine) as open_page:
        yield open_page


def test_a_telling_finds_its_script_among_nine(visit_nine: Callable[..., Page]) -> None:
    page = visit_nine("view=scripts")
    expect(page.locator("#list > li")).to_have_count(9)
    shoot(page, "nine", full_page=True)
    page.locator("#list > li").get_by_role("link", name="making tea").click()
    expect(page.locator("#name")).to_have_text("making tea")
    page.get_by_role("button", name="Write your own").click()
    line(page, 1).fill("hear_bell\nopen_door\ngreet_visitor")
    expect(page.locator("#which button")).to_be_visible()
    page.keyboard.press("Escape")  # what it suggests for the last line is in the way
    page.locator("#which button").click()
    expect(page.locator("#name")).to_have_text("answering the doorbell")
    assert lines(page) == ["hear_bell", "open_door", "greet_visitor"]
    finish(page)
    expect(page.locator("#lines .ghost").first).to_be_visible()
    page.get_by_role("link", name="Scripts").click()
    first = page.locator("#list > li").first
    expect(first).to_contain_text("answering the doorbell")
    expect(first.locator(".match")).to_contain_text("%")


def test_scripts_show_an_example_and_an_outline_each(visit_nine: Callable[..., Page]) -> None:
    page = visit_nine("view=scripts")
    names = page.locator("#list > li > a:first-child").all_inner_texts()
    assert len(set(names)) == 9
    for name in names[::4]:
        page.locator("#list > li").get_by_role("link", name=name, exact=True).click()
        expect(page.locator("#name")).to_have_text(name)
        expect(page.locator("#outline .step[data-step]").first).to_be_visible()
        assert lines(page), name
        page.get_by_role("link", name="Scripts").click()
