"""The page in a real browser, used as a person would use it."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from browsing import serious
from serving import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from serving import Running

LARGE = "forty-steps"


def kept(page: Page, button: str) -> bytes:
    """Click a button that saves a file, and return what is in it."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).click()
    return Path(waiting.value.path()).read_bytes()


def story(page: Page) -> str:
    return page.locator("#story").inner_text()


def tell(page: Page, telling: str) -> None:
    """Type a telling, and wait until the page has caught up."""
    page.get_by_label("Tell it yourself").fill(telling)
    expect(page.locator("#story")).to_have_attribute("data-for", telling)


def view_box(page: Page) -> list[float]:
    text = page.locator("#drawing > svg").get_attribute("viewBox") or ""
    return [float(part) for part in text.split()]


class TestDrawing:
    def test_a_state_tells_all_about_itself(
        self, visit: Callable[..., Page], screenshots: Path
    ) -> None:
        page = visit()
        page.locator(".node", has_text="take parcel").first.hover()
        details = page.locator("#details")
        expect(details).to_contain_text("take parcel")
        expect(details).to_contain_text("Passed by 50% of courses; left unsaid in 30%")
        expect(details).to_contain_text("sign for parcel")
        page.locator(".node", has_text="open door").first.click()
        page.mouse.move(5, 5)
        expect(details).to_contain_text("open door")
        details.get_by_role("button", name="greet visitor").click()
        expect(page.locator("#details h3")).to_have_text("greet visitor")
        page.screenshot(path=screenshots / "explore-light.png")

    def test_zoom_pan_and_fit(self, visit: Callable[..., Page]) -> None:
        page = visit()
        whole = view_box(page)
        page.get_by_role("button", name="Zoom in").click()
        zoomed = view_box(page)
        assert zoomed[2] < whole[2]
        box = page.locator("#drawing").bounding_box()
        assert box
        x, y = box["x"] + box["width"] - 30, box["y"] + 20
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 80, y + 30, steps=4)
        page.mouse.up()
        dragged = view_box(page)
        assert dragged[0] > zoomed[0]
        assert dragged[1] < zoomed[1]
        assert dragged[2] == zoomed[2]
        page.keyboard.down("Control")
        page.mouse.wheel(0, 200)
        page.keyboard.up("Control")
        page.wait_for_function(
            "wide => document.querySelector('#drawing > svg').viewBox.baseVal.width > wide",
            arg=dragged[2],
        )
        page.get_by_role("button", name="Fit").click()
        assert view_box(page) == whole

    def test_the_slider_hides_rare_edges(self, visit: Callable[..., Page]) -> None:
        page = visit()
        before = page.locator(".edges .edge").count()
        page.locator("#least").fill("9")
        expect(page.locator("#least-shown")).to_have_text("30%")
        expect(page.locator("#drawing .node")).to_have_count(10)
        assert page.locator(".edges .edge").count() < before

    def test_search_finds_states(self, visit: Callable[..., Page]) -> None:
        page = visit()
        search = page.get_by_label("Find an event")
        search.fill("parcel")
        expect(page.locator("#found")).to_have_text("2 steps are told like this.")
        expect(page.locator(".node.hit")).to_have_count(2)
        search.press("Enter")
        expect(page.locator("#details h3")).to_have_text("sign for parcel")
        search.fill("nowhere")
        expect(page.locator("#found")).to_have_text("No step is told like this.")

    def test_everything_by_keyboard(self, visit: Callable[..., Page]) -> None:
        page = visit()
        page.get_by_role("button", name="Save the picture as PNG").focus()
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        expect(page.locator("#details h3")).to_have_text("walk to door")
        page.keyboard.press("Enter")
        expect(page.locator(".node.chosen")).to_have_attribute("data-state", "2")
        whole = view_box(page)
        page.keyboard.press("+")
        assert view_box(page)[2] < whole[2]
        page.keyboard.press("0")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # the first edge of the details
        expect(page.locator("#details h3")).to_have_text("hear doorbell")


class TestTelling:
    def test_examples_light_up_a_path(self, visit: Callable[..., Page], screenshots: Path) -> None:
        page = visit(color_scheme="dark")
        page.get_by_role("button", name="a short telling").click()
        expect(page.locator(".node.told").first).to_be_visible()
        expect(page.locator(".node.silent").first).to_be_visible()
        expect(page.locator("#story .unsaid").first).to_be_visible()
        page.screenshot(path=screenshots / "explore-dark.png")
        page.get_by_role("button", name="an odd one").click()
        expect(page.locator("#story .flag").first).to_be_visible()
        page.screenshot(path=screenshots / "odd-dark.png", full_page=True)

    def test_a_gap_is_filled_by_a_click(self, visit: Callable[..., Page]) -> None:
        page = visit()
        tell(page, "hear doorbell\n?\nopen door")
        answers = page.locator("#story .gap button")
        expect(answers.first).to_contain_text("walk to door")
        expect(answers.first).to_contain_text("81%")
        expect(page.locator(".node.filled")).to_have_attribute("data-state", "2")
        answers.first.click()
        field = page.get_by_label("Tell it yourself")
        expect(field).to_have_value("hear doorbell\nwalk to door\nopen door")
        expect(page.locator(".node.filled")).to_have_count(0)

    def test_events_are_offered_while_typing(
        self, visit: Callable[..., Page], screenshots: Path
    ) -> None:
        page = visit()
        field = page.get_by_label("Tell it yourself")
        field.press_sequentially("hear")
        expect(page.get_by_role("option")).to_have_text(["hear doorbell"])
        field.press("ArrowDown")
        field.press("Enter")
        expect(field).to_have_value("hear doorbell\n")
        field.press_sequentially("door")
        assert "open door" in page.get_by_role("option").all_inner_texts()
        page.screenshot(path=screenshots / "suggestions.png")
        page.get_by_role("option", name="open door").click()
        expect(field).to_have_value("hear doorbell\nopen door\n")
        expect(page.locator("#story .told")).to_have_count(2)

    def test_sentences_are_understood_and_unclear_ones_explained(
        self, visit: Callable[..., Page], screenshots: Path
    ) -> None:
        page = visit("script=making-tea")
        page.get_by_role("button", name="in sentences").click()
        expect(page.locator("#story .means").first).to_contain_text("taken for")
        tell(page, "I boiled the water.\nThen I did the usual thing.\nI drank the tea.")
        expect(page.locator("#story")).to_contain_text("may stand for")
        expect(page.locator("#story .flag").first).to_contain_text("not in the script")
        page.screenshot(path=screenshots / "sentences.png", full_page=True)

    def test_each_thing_typed_is_answered(self, visit: Callable[..., Page]) -> None:
        page = visit(f"script={LARGE}")
        for run in range(20):
            said = f"event {run}\n?\nevent {run + 6}\nevent 30"
            page.locator("#telling").fill(said)
            expect(page.locator("#story")).to_have_attribute("data-for", said)


class TestManyScripts:
    def test_the_list_shows_sizes_and_pictures(
        self, visit: Callable[..., Page], screenshots: Path
    ) -> None:
        page = visit("view=scripts")
        cards = page.locator("#list > li")
        assert cards.count() >= 4
        door = page.locator("#list > li", has_text="answering the doorbell").first
        expect(door).to_contain_text("10 states · 16 edges · 10 events")
        expect(door.locator(".small .node").first).to_be_visible()
        expect(page.locator("#list .small > svg")).to_have_count(cards.count())
        page.screenshot(path=screenshots / "scripts.png", full_page=True)
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
        expect(page.locator("#story .told")).to_have_count(2)


class TestLinksAndFiles:
    def test_a_link_brings_everything_back(self, visit: Callable[..., Page]) -> None:
        page = visit()
        tell(page, "hear doorbell\n?\nopen door")
        page.locator("#least").fill("8")
        expect(page.locator("#least-shown")).to_have_text("20%")
        page.get_by_label("Find an event").fill("door")
        page.locator(".node", has_text="open door").first.click()
        page.get_by_role("button", name="Zoom in").click()
        box, said = view_box(page), story(page)
        expect(page).to_have_url(re.compile("box="))
        again = visit(page.url.partition("#")[2])
        expect(again.get_by_label("Tell it yourself")).to_have_value("hear doorbell\n?\nopen door")
        expect(again.locator("#least-shown")).to_have_text("20%")
        expect(again.get_by_label("Find an event")).to_have_value("door")
        expect(again.locator("#details h3")).to_have_text("open door")
        assert view_box(again) == pytest.approx(box, abs=1)
        assert story(again) == said

    def test_a_broken_link_still_opens_the_page(self, visit: Callable[..., Page]) -> None:
        page = visit("script=gone&state=x&least=5&box=1,2&view=none&telling=%00%E2%80%AE")
        expect(page.locator("#problem")).to_contain_text("no script “gone”")
        expect(page.locator("#drawing .node").first).to_be_visible()

    def test_pictures_and_answers_are_kept(self, visit: Callable[..., Page]) -> None:
        page = visit()
        tell(page, "hear doorbell\n?\nopen door")
        assert b'class="node state filled"' in kept(page, "Save the picture as SVG")
        assert kept(page, "Save the picture as PNG").startswith(b"\x89PNG")
        found = json.loads(kept(page, "Answers as JSON"))
        assert found["items"][1]["answers"][0]["event"] == "walk to door"
        rows = list(csv.DictReader(kept(page, "Answers as CSV").decode().splitlines()))
        assert rows[0]["event"] == "hear doorbell"


class TestEverybody:
    def test_a_phone_is_wide_enough(self, visit: Callable[..., Page], screenshots: Path) -> None:
        page = visit(size=(390, 844), has_touch=True, is_mobile=True)
        for view in ("Explore", "Scripts", "Learn"):
            page.get_by_role("link", name=view, exact=True).click()
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, view
        page.get_by_role("link", name="Explore").click()
        expect(page.locator("#drawing > svg")).to_have_attribute("data-direction", "TB")
        page.locator("#drawing .node").nth(1).tap()
        expect(page.locator("#details h3")).to_have_text("hear doorbell")
        page.get_by_role("button", name="one with a gap").tap()
        expect(page.locator("#story .gap").first).to_be_visible()
        page.screenshot(path=screenshots / "phone.png", full_page=True)

    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_nobody_is_kept_out(self, visit: Callable[..., Page], theme: str) -> None:
        page = visit("script=making-tea", color_scheme=theme)
        assert serious(page) == []
        tell(page, "I boiled the water.\n?\nThen I did the usual thing.\nI drank the tea.")
        page.locator("#drawing .node").nth(2).click()
        page.get_by_label("Find an event").fill("tea")
        assert serious(page) == []
        for view in ("Scripts", "Learn"):
            page.get_by_role("link", name=view, exact=True).click()
            page.wait_for_timeout(200)
            assert serious(page) == []

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

    def test_hostile_names_are_text(
        self, visit: Callable[..., Page], server: Running, screenshots: Path
    ) -> None:
        scripts = server.ask("GET", "/api/scripts").json["scripts"]
        number = next(one["id"] for one in scripts if "hostile" in one["id"])
        page = visit(f"script={number}&least=0")
        tell(page, "\n".join(HOSTILE))
        expect(page.locator("#story .told")).to_have_count(len(HOSTILE))
        expect(page.locator("#story .told").first).to_have_text(HOSTILE[0])
        for state in range(1, len(HOSTILE) + 1):
            page.locator(f'#drawing .node[data-state="{state}"]').click()
        page.get_by_label("Find an event").fill("<script>")
        expect(page.locator(".node.hit")).to_have_count(1)
        assert "pwned" not in page.title()
        assert page.locator("#explore script, #explore img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        page.screenshot(path=screenshots / "hostile.png", full_page=True)
        page.get_by_role("link", name="Scripts", exact=True).click()
        expect(page.locator("#list > li", has_text="<b onclick").first).to_be_visible()
