"""The outline below the telling, which stays where it is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from playwright.sync_api import expect

import elision as el
from elision.serve.outlines import outlined
from elision.serve.shelf import Held
from visiting import answered, line, step, tell, view_box

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from elision.serve.messages import Outlined

DOOR = "script=answering-the-door"
PLACES = """[...document.querySelectorAll("#outline .step > rect, #outline .link path")].map(
  (one) => ["x", "y", "width", "height", "d"].map((name) => one.getAttribute(name)).join())"""


GIVEN = """async (outline) => {
  const { showStep } = await import("/static/details.js");
  const names = outline.steps.map((step) => step.name);
  const gone = [];
  return ["operation", "lab"].map((name) => {
    showStep(outline, names.indexOf(name), null, (step) => gone.push(names[step]));
    const text = document.getElementById("details").innerText;
    for (const row of document.querySelectorAll("#details button"))
      if (row.innerText.includes("surgical ward")) row.click();
    return [text, gone.splice(0)];
  });
}"""


def treatments() -> Outlined:
    """A ward is chosen; what is done there comes after things that are done for everybody."""
    rng = np.random.default_rng(1)
    ways = (("surgical ward", "operation"), ("cardiology", "angiography"))
    cases = []
    for number in range(150):
        (ward, treatment), tests = ways[number % 2], rng.permutation(["lab", "x-ray"]).tolist()
        case = ["triage", ward, *tests, treatment, "discharge"]
        cases.append([event for event in case if rng.random() > 0.1])
    script = el.ScriptLearner().fit(cases).script_
    return outlined(Held("ward", "ward", script))


class TestOutline:
    def test_a_step_says_which_way_a_choice_went_before_it(
        self, visit: Callable[..., Page]
    ) -> None:
        found = treatments()
        given = {step.name: step.given for step in found.steps}
        names = [step.name for step in found.steps]
        assert {name for name, step in given.items() if step is not None} == {
            "operation",
            "angiography",
        }
        assert given["operation"] == names.index("surgical ward")
        page = visit(DOOR)
        (operation, gone), (lab, _) = page.evaluate(GIVEN, json.loads(msgspec.json.encode(found)))
        assert "Done if" in operation
        assert "surgical ward" in gone
        assert "Done if" not in lab

    def test_nothing_moves_while_one_writes(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        places, view = page.evaluate(PLACES), view_box(page)
        tell(page, "take parcel\nsign for parcel\nhear doorbell")
        assert page.evaluate(PLACES) == places
        tell(page, "hear doorbell\nsay goodbye\nclose door", done=True)
        assert (page.evaluate(PLACES), view_box(page)) == (places, view)
        expect(step(page, "say goodbye")).to_have_class("step told")
        expect(step(page, "say goodbye").locator(".mark")).to_have_text("line 2")
        expect(step(page, "walk to door")).to_have_class("step unsaid")

    def test_what_is_still_to_come_is_not_unsaid(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "walk to door")
        expect(step(page, "hear doorbell")).to_have_class("step unsaid")
        expect(step(page, "close door")).to_have_class("step")

    def test_a_step_and_an_arrow_tell_all_about_themselves(
        self, visit: Callable[..., Page]
    ) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\nopen door", done=True)
        step(page, "walk to door").hover()
        details = page.locator("#details")
        expect(details.locator("h3")).to_have_text("walk to door")
        expect(details).to_contain_text(re.compile(r"Told in \d+% of tellings, done about >?\d+%"))
        expect(details).to_contain_text(re.compile(r"not told; \d+% sure that it was done"))
        page.locator('#lines [data-gap="1"] .take').first.press("Enter")
        answered(page, "hear doorbell\nwalk to door\nopen door")
        expect(details).to_contain_text("In this telling: line 2")  # and not as it was before
        step(page, "open door").click()
        page.mouse.move(5, 5)
        expect(details.locator("h3")).to_have_text("open door")
        details.get_by_role("button", name="look through peephole").click()
        expect(details.locator("h3")).to_have_text("look through peephole")
        page.locator('#outline .link[data-before=""] .reach').dispatch_event("click")
        expect(details).to_contain_text("Most tellings begin with hear doorbell")
        page.locator('#outline .link[data-before="0"] .reach').dispatch_event("click")
        expect(details).to_contain_text(re.compile(r"hear doorbell, then walk to door: \d+ of \d+"))

    def test_the_panel_starts_at_its_top(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR, size=(1280, 500))
        step(page, "open door").click()
        page.evaluate("document.getElementById('details').scrollTop = 60")
        step(page, "close door").click()
        assert page.evaluate("document.getElementById('details').scrollTop") == 0

    @pytest.mark.parametrize("script", ["answering-the-door", "forty-steps"])
    def test_zoom_pan_and_fit(self, visit: Callable[..., Page], script: str) -> None:
        page = visit(f"script={script}")
        whole = view_box(page)
        assert whole[:2] == [0, 0]
        place = page.locator("#outline")
        place.scroll_into_view_if_needed()
        page.wait_for_timeout(500)  # the wheel zooms when the page has come to rest
        box = place.bounding_box()
        assert box
        x, y = box["x"] + box["width"] / 2, box["y"] + 40
        page.mouse.move(x, y)
        page.mouse.wheel(0, -200)
        page.wait_for_function(
            "wide => document.querySelector('#outline > svg').viewBox.baseVal.width < wide",
            arg=whole[2],
        )
        zoomed = view_box(page)
        page.mouse.down()
        page.mouse.move(x - 80, y + 20, steps=4)
        page.mouse.up()
        dragged = view_box(page)
        assert dragged[0] > zoomed[0]
        assert dragged[2] == zoomed[2]
        page.get_by_role("button", name="Fit").click()
        assert view_box(page) == whole
        page.get_by_role("button", name="Zoom out").click()
        assert view_box(page) == whole
        page.mouse.wheel(0, 200)
        page.wait_for_timeout(100)
        assert view_box(page) == whole

    def test_two_fingers_zoom(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR, size=(390, 844), has_touch=True, is_mobile=True)
        whole = view_box(page)
        page.evaluate(
            """() => {
              const place = document.querySelector("#outline > svg");
              const box = place.getBoundingClientRect();
              const send = (kind, pointerId, x) => place.dispatchEvent(
                new PointerEvent(kind, {
                  pointerId, bubbles: true, pointerType: "touch",
                  clientX: box.x + x, clientY: box.y + 60,
                }));
              send("pointerdown", 1, 100);
              send("pointerdown", 2, 160);
              send("pointermove", 2, 260);
              send("pointerup", 1, 100);
              send("pointerup", 2, 260);
            }"""
        )
        assert view_box(page)[2] < whole[2] / 1.5

    def test_everything_by_keyboard(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        page.get_by_role("button", name="Save the picture as PNG").focus()
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight")
        expect(page.locator("#details h3")).to_have_text("walk to door")
        page.keyboard.press("Enter")
        expect(step(page, "walk to door")).to_have_class(re.compile("chosen"))
        whole = view_box(page)
        page.keyboard.press("+")
        assert view_box(page)[2] < whole[2]
        page.keyboard.press("0")
        assert view_box(page) == whole
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # the first step of the details
        expect(page.locator("#details h3")).to_have_text("hear doorbell")
        page.get_by_role("link", name="Skip to the telling").focus()
        page.keyboard.press("Enter")
        expect(line(page, 1)).to_be_focused()

    def test_search_finds_steps(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        search = page.get_by_label("Find a step")
        search.fill("visitor")
        expect(page.locator("#found")).to_have_text("2 steps are told like this.")
        expect(page.locator(".step.hit")).to_have_count(2)
        search.press("Enter")
        expect(page.locator("#details h3")).to_have_text("greet visitor")
        search.fill("nowhere")
        expect(page.locator("#found")).to_have_text("No step is told like this.")
