"""The page in a real browser, used as a person would use it."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from serving import HOSTILE
from visiting import kept, line, lines, serious, shoot, step, tell, view_box

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from serving import Running

LARGE = "forty-steps"
DOOR = "script=answering-the-door"


class TestManyScripts:
    def test_the_list_shows_sizes(self, visit: Callable[..., Page]) -> None:
        page = visit("view=scripts")
        cards = page.locator("#list > li")
        assert cards.count() >= 4
        door = page.locator("#list > li", has_text="answering the doorbell").first
        expect(door).to_contain_text("10 events")
        shoot(page, "scripts", full_page=True)
        door.get_by_role("link", name="answering the doorbell").click()
        expect(page.locator("#name")).to_have_text("answering the doorbell")

    def test_which_script_is_this_telling(self, visit: Callable[..., Page]) -> None:
        page = visit(f"script={LARGE}")
        tell(page, "hear doorbell\nopen door")
        offered = page.locator("#which button")
        expect(offered).to_have_text("answering the doorbell")
        page.get_by_role("link", name="Scripts").click()
        expect(page.locator("#list > li").first).to_contain_text("answering the doorbell")
        page.go_back()
        offered.click()
        expect(page.locator("#name")).to_have_text("answering the doorbell")
        assert lines(page) == ["hear doorbell", "open door"]


class TestLinksAndFiles:
    def test_a_link_brings_everything_back(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\n?\nopen door", done=True)
        page.get_by_label("How much is said").fill("80")
        page.get_by_label("Find a step").fill("door")
        step(page, "open door").click()
        page.get_by_role("button", name="Zoom in").click()
        box, said = view_box(page), page.locator("#lines").inner_text()
        expect(page).to_have_url(re.compile("box="))
        again = visit(page.url.partition("#")[2])
        assert lines(again) == ["hear doorbell", "?", "open door"]
        expect(again.get_by_role("button", name="Go on writing")).to_be_visible()
        expect(again.get_by_label("How much is said")).to_have_value("80")
        expect(again.get_by_label("Find a step")).to_have_value("door")
        expect(again.locator("#details h3")).to_have_text("open door")
        assert view_box(again) == pytest.approx(box, abs=1)
        assert again.locator("#lines").inner_text() == said

    def test_a_broken_link_still_opens_the_page(self, visit: Callable[..., Page]) -> None:
        page = visit("script=gone&step=x&say=7&box=1,2&view=none&telling=%00%E2%80%AE")
        expect(page.locator("#problem")).to_contain_text("no script “gone”")
        expect(page.locator("#outline .step").first).to_be_visible()
        page.wait_for_timeout(800)  # other scripts are asked after half a second
        expect(page.locator("#problem")).to_contain_text("no script “gone”")

    def test_pictures_and_answers_are_kept(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\n?\nopen door")
        assert b'class="step told"' in kept(page, "Save the picture as SVG")
        assert kept(page, "Save the picture as PNG").startswith(b"\x89PNG")
        found = json.loads(kept(page, "Answers as JSON"))
        assert found["lines"][1]["options"][0]["event"] == "walk to door"
        rows = list(csv.DictReader(kept(page, "Answers as CSV").decode().splitlines()))
        assert "hear doorbell" in [row["event"] for row in rows]


class TestEverybody:
    def test_a_phone_is_wide_enough(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR, size=(390, 844), has_touch=True, is_mobile=True)
        for view in ("Explore", "Scripts", "Learn"):
            page.get_by_role("link", name=view, exact=True).click()
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, view
        page.get_by_role("link", name="Explore").click()
        high = page.evaluate("document.getElementById('outline').clientHeight")
        assert view_box(page)[2] < 480
        assert high > 0.9 * view_box(page)[3] * 350 / view_box(page)[2]  # nothing scrolls inside
        step(page, "open door").tap()
        expect(page.locator("#details h3")).to_have_text("open door")
        page.get_by_role("button", name="with a gap").tap()
        expect(page.locator("#lines .open")).to_be_visible()
        shoot(page, "phone", full_page=True)
        page.get_by_role("button", name="Keep in sight").tap()
        page.evaluate("scrollTo(0, 0)")
        for place in (line(page, 1), page.locator("#outline .step.told").first):
            expect(place).to_be_in_viewport()
        shoot(page, "phone-both")

    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_nobody_is_kept_out(self, visit: Callable[..., Page], theme: str) -> None:
        page = visit("script=making-tea", color_scheme=theme)
        rules = () if theme == "light" else ("color-contrast",)  # the rest is the same at night
        assert serious(page, *rules) == []
        tell(page, "I boiled the water.\n?\nI did the usual thing.\nI drank the tea.", done=True)
        page.get_by_label("How much is said").fill("90")
        page.locator("#outline .step[data-step]").nth(2).click()
        page.get_by_label("Find a step").fill("tea")
        page.locator("#share summary").click()
        assert serious(page, *rules) == []
        shoot(page, f"tea-{theme}", full_page=True)
        for view in ("Scripts", "Learn"):
            page.get_by_role("link", name=view, exact=True).click()
            page.wait_for_timeout(200)
            assert serious(page, *rules) == []

    def test_what_was_left_out_is_spoken(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\nopen door")
        spoken = page.locator("#spoken")
        expect(spoken).to_contain_text(re.compile(r"Probably left out: walk to door, \d+%"))
        expect(spoken).to_contain_text("Next, probably")
        expect(step(page, "walk to door")).to_have_attribute(
            "aria-label", re.compile(r"unsaid \d+%$")
        )

    def test_the_theme_can_be_chosen(self, visit: Callable[..., Page]) -> None:
        page = visit(color_scheme="light")
        paper = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(paper)
        page.get_by_role("button", name="Colours").click()
        page.get_by_role("button", name="Colours").click()
        assert page.evaluate(paper) != light
        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert page.evaluate(paper) != light

    def test_hostile_names_are_text(self, visit: Callable[..., Page], server: Running) -> None:
        scripts = server.ask("GET", "/api/scripts").json["scripts"]
        number = next(one["id"] for one in scripts if "hostile" in one["id"])
        page = visit(f"script={number}")
        tell(page, "\n".join(HOSTILE))
        assert lines(page) == list(HOSTILE)
        for box in page.locator("#outline .step[data-step]").all():
            box.click()
        page.get_by_label("Find a step").fill("<script>")
        expect(page.locator(".step.hit")).to_have_count(1)
        assert "pwned" not in page.title()
        assert page.locator("#explore script, #explore img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        shoot(page, "hostile", full_page=True)
        page.get_by_role("link", name="Scripts", exact=True).click()
        expect(page.locator("#list > li", has_text="<b onclick").first).to_be_visible()
