"""Pages in a real browser for tests, and what may not go wrong on them."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import axe_playwright_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

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


def serious(page: Page) -> list[str]:
    """What axe-core finds that keeps people out."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
