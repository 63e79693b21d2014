"""The page as a person uses it: typing, waiting, looking, keeping files."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import axe_playwright_python
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Locator, Page

    from serving import Running

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")


@contextmanager
def visits(browser: Browser, server: Running) -> Iterator[Callable[..., Page]]:
    """Open pages; afterwards nothing may have gone wrong, nor anything left the machine."""
    problems: list[str] = []
    contexts = []

    def asked(url: str) -> None:
        if not url.startswith((server.url, "blob:")):
            problems.append(f"asked {url}")

    def open_page(link: str = "", **options: Any) -> Page:
        size = options.pop("size", (1280, 900))
        viewport = {"width": size[0], "height": size[1]}
        options.setdefault("reduced_motion", "reduce")  # nothing to wait for
        context = browser.new_context(viewport=viewport, accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda said: problems.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: asked(request.url))
        page.goto(f"{server.url}#{link}")
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


PICTURES = os.environ.get("SCREENSHOTS")
"""The folder for pictures of what the tests see, for people to look at."""


def shoot(page: Page, name: str, *, full_page: bool = False) -> None:
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=full_page)


def shoot_everywhere(page: Page, name: str) -> None:
    """As wide screens, small ones and phones show it, by day and by night."""
    if not PICTURES:
        return
    for size in ((1440, 900), (1280, 720), (390, 844)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            shoot(page, f"{name}-{size[0]}-{scheme}")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")


def serious(page: Page, *rules: str) -> list[str]:
    """What axe-core finds that keeps people out, by all of its rules or by these."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(
        "rules => axe.run({resultTypes: ['violations'], ...rules.length && {runOnly: rules}})",
        rules,
    )
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def kept(page: Page, button: str) -> bytes:
    """Click a button that saves a file, and return what is in it."""
    wanted = page.get_by_role("button", name=button)
    if not wanted.is_visible():
        page.locator("#share summary").click()
    with page.expect_download() as waiting:
        wanted.click()
    return Path(waiting.value.path()).read_bytes()


def line(page: Page, number: int) -> Locator:
    """The field of a line, counted from 1."""
    return page.get_by_label(f"Line {number}", exact=True)


def lines(page: Page) -> list[str]:
    """The told lines, without an empty one at the end."""
    found = [field.input_value() for field in page.locator("#lines textarea").all()]
    return found[:-1] if found and not found[-1] else found


def answered(page: Page, telling: str) -> None:
    """Wait until the page has caught up with a telling."""
    expect(page.locator("#lines")).to_have_attribute("data-for", telling)


def tell(page: Page, telling: str, *, done: bool = False) -> None:
    """Empty the page, type a telling, and wait for the answer."""
    page.get_by_role("button", name="Write your own").click()
    answered(page, "")
    line(page, 1).fill(telling)
    answered(page, telling)
    if done:
        finish(page)


def finish(page: Page) -> None:
    page.get_by_role("button", name="That is all").click()
    expect(page.get_by_role("button", name="Go on writing")).to_be_visible()


def view_box(page: Page, place: str = "#outline") -> list[float]:
    text = page.locator(f"{place} > svg").get_attribute("viewBox") or ""
    return [float(part) for part in text.split()]


def step(page: Page, name: str) -> Locator:
    """A step of the outline by its name, if that stands on one line."""
    label = page.locator("text.name", has_text=re.compile(f"^{re.escape(name)}$"))
    return page.locator("#outline .step[data-step]").filter(has=label).first
