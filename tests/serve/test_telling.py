"""The telling on the page: written, restored, judged, played and shared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import elision as el
from visiting import answered, finish, kept, line, lines, serious, shoot, step, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

DOOR = "script=answering-the-door"
COMPARE = """async ([script, tellings]) => {
  const { gapContent } = await import("/static/ghosts.js");
  const { Outline } = await import("/static/outline.js");
  const nothing = () => {};
  const page = { loading: true, script: { id: script } };
  const view = new Outline({ page, remember: nothing, attempt: nothing });
  await view.load();
  const differing = [];
  let compared = 0;
  for (const [number, telling] of tellings.entries()) {
    const question = { telling, finished: number % 2 === 0 };
    const body = JSON.stringify(question);
    const found = await fetch(`/api/scripts/${script}/restore`, { method: "POST", body });
    const answer = await found.json();
    const threshold = number % 4 < 2 ? 0.5 : 0.05;
    view.mark(answer, threshold);
    const said = new Map();
    for (const gap of answer.gaps) {
      const given = { gap, answer, steps: view.steps, threshold, open: true };
      for (const part of gapContent({ ...given, onTake: nothing, onToggle: nothing }))
        for (const take of part.querySelectorAll(".take"))
          said.set(take.dataset.step, take.querySelector(".share").textContent.trim());
    }
    for (const thing of view.all()) {
      const mark = thing.mark.textContent;
      if (!mark.startsWith("unsaid")) continue;
      compared += 1;
      if (mark !== `unsaid ${said.get(thing.dataset.step)}`) differing.push([telling, mark]);
    }
  }
  return [differing, compared];
}"""
"""Shows answers as text and in the outline, and compares all numbers that both show."""

FOCUSED = "document.activeElement.id || document.activeElement.getAttribute('class')"
SCRIPTS = ["answering-the-doorbell", "making-tea", "answering-the-door", "tickets"]


class TestFirstSight:
    @pytest.mark.parametrize("script", SCRIPTS)
    def test_an_example_is_there_to_be_read_above_the_fold(
        self, visit: Callable[..., Page], script: str
    ) -> None:
        page = visit(f"script={script}", size=(1280, 720))
        first = line(page, 1)
        box = first.bounding_box()
        assert box
        assert box["y"] + box["height"] < 300
        assert len(lines(page)) >= 2
        ghost = page.locator("#lines .ghost").first
        expect(ghost).to_contain_text("something was left out here (")
        place = ghost.bounding_box()
        assert place
        assert place["y"] < 720
        expect(page.locator("#outline .step.told").first).to_be_visible()
        shoot(page, f"first-{script}")

    def test_an_example_is_not_put_into_the_link(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        assert "telling=" not in page.url
        page.get_by_role("button", name="an odd one").click()
        expect(page.locator("#verdict")).to_contain_text("An odd telling")
        expect(page).to_have_url(re.compile("telling=.*done=1"))


class TestDenials:
    def test_a_denied_step_is_said_to_be_one_in_text_and_outline(
        self, visit: Callable[..., Page]
    ) -> None:
        page = visit("script=making-tea")
        never = "I did not put any sugar in"
        tell(page, f"boil the water\n{never}\ntake out the bag", done=True)
        row = page.locator('#lines [data-line="1"]')
        expect(row.locator(".means")).to_have_text("said not to have happened: put sugar")
        expect(row).to_have_class(re.compile(r"\bdenied\b"))
        expect(row).not_to_have_class(re.compile("strange"))
        sugar = step(page, "put sugar")
        expect(sugar).to_have_class(re.compile(r"\bdenied\b"))
        expect(sugar.locator(".mark")).to_have_text("not done")
        assert (sugar.get_attribute("aria-label") or "").endswith("not done")
        sugar.click()
        expect(page.locator("#details .here")).to_contain_text("line 2 says that it did not happen")
        for more in page.locator("#lines .more").all():
            more.click()
        expect(page.locator("#lines .ghost", has_text="sugar")).to_have_count(0)
        assert serious(page, "color-contrast") == []
        shoot(page, "denied", full_page=True)

    def test_it_gets_a_line_of_its_own(self, visit: Callable[..., Page]) -> None:
        page = visit("script=making-tea")
        page.get_by_role("button", name="Write your own").click()
        answered(page, "")
        line(page, 1).fill("I took out the bag but did not add milk\ndrink the tea")
        answered(page, "I took out the bag\ndid not add milk\ndrink the tea")
        expect(page.locator("#lines .denied .means")).to_have_text(
            "said not to have happened: add milk"
        )


class TestGhosts:
    def test_a_click_puts_the_step_in(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\nopen door", done=True)
        ghost = page.locator('#lines [data-gap="1"] .ghost')
        expect(ghost).to_contain_text("surely walk to door")
        before = page.locator('#lines [data-gap="2"]').inner_text()
        ghost.get_by_role("button", name="walk to door").click()
        answered(page, "hear doorbell\nwalk to door\nopen door")
        assert lines(page) == ["hear doorbell", "walk to door", "open door"]
        expect(page.locator("#lines .ghost", has_text="walk to door")).to_have_count(0)
        expect(page.get_by_role("button", name="Go on writing")).to_be_visible()
        assert page.locator('#lines [data-gap="3"]').inner_text() == before

    def test_tab_leads_on_and_changes_nothing(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        before = lines(page)
        line(page, 1).focus()
        seen: list[str] = []
        for _ in range(40):
            page.keyboard.press("Tab")
            seen.append(page.evaluate(FOCUSED))
        assert lines(page) == before
        assert {"take", "finish", "say"} <= set(seen)
        tell(page, "hear doorbell\nopen door")
        line(page, 1).focus()
        page.keyboard.press("Tab")
        taken = page.locator("#lines .take:focus")
        expect(taken).to_contain_text("walk to door")
        page.keyboard.press("Space")
        answered(page, "hear doorbell\nwalk to door\nopen door")
        expect(line(page, 2)).to_be_focused()

    def test_tab_completes_what_was_typed(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell")
        line(page, 1).press("Enter")
        page.keyboard.type("walk")
        expect(page.get_by_role("option", name="walk to door")).to_be_visible()
        page.keyboard.press("Tab")
        answered(page, "hear doorbell\nwalk to door")

    def test_an_accepted_line_is_taken_back(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        undo = page.get_by_role("button", name="Undo")
        expect(undo).to_be_disabled()
        before = lines(page)
        page.locator("#lines .ghost .take").first.click()
        expect(page.locator("#lines textarea")).to_have_count(len(before) + 1)
        page.keyboard.press("Control+z")
        answered(page, "\n".join(before))
        assert lines(page) == before
        expect(page.get_by_role("button", name="Go on writing")).to_be_visible()
        expect(undo).to_be_disabled()
        tell(page, "hear doorbell")
        line(page, 1).press("Enter")
        page.keyboard.type("open door")
        answered(page, "hear doorbell\nopen door")
        undo.click()
        answered(page, "hear doorbell")
        assert lines(page) == ["hear doorbell"]

    def test_what_is_likely_is_never_folded_away(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\nclose door", done=True)
        ghost = page.locator('#lines [data-gap="1"] .ghost')
        expect(ghost).to_contain_text(re.compile("surely walk to door.* and open door"))
        expect(ghost).to_contain_text(re.compile("; probably greet visitor"))
        ghost.get_by_role("button", name="more").click()
        expect(ghost).to_contain_text(re.compile(r"; perhaps look through peephole \(\d+%\)"))

    def test_a_step_is_suggested_where_it_belongs(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\nopen door\ngreet visitor\nlet visitor in", done=True)
        ghost = page.locator('#lines [data-gap="4"] .ghost')
        ghost.get_by_role("button", name="close door").click()
        told = "hear doorbell\nopen door\ngreet visitor\nlet visitor in\nclose door"
        answered(page, told)
        expect(page.locator("#verdict")).to_contain_text("A usual telling")

    def test_less_or_more_is_said(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\nopen door\nclose door", done=True)
        ghosts, ticks = page.locator("#lines .ghost"), page.locator("#lines .tick")
        amber = page.locator("#outline .step.unsaid")
        usual = ghosts.count(), amber.count()
        slider = page.get_by_label("How much is said")
        said = page.locator("#said")
        expect(said).to_have_text("only what is at least 50% sure")
        slider.fill("95")
        expect(said).to_have_text("only what is at least 5% sure")
        more = ghosts.count(), amber.count()
        assert more[0] >= usual[0]
        assert more[1] > usual[1]
        slider.fill("5")
        assert ghosts.count() <= usual[0]
        assert amber.count() < usual[1]
        expect(page).to_have_url(re.compile("say=0.95"))
        slider.fill("50")
        assert (ghosts.count(), amber.count()) == usual
        tell(page, "hear doorbell\nwalk to door\nopen door\ngreet visitor\nclose door", done=True)
        opened = ghosts.count()
        ticks.first.click()
        expect(ghosts).to_have_count(opened + 1)
        expect(page.get_by_role("button", name="hide")).to_be_focused()

    def test_the_less_probable_the_paler(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\nopen door\nclose door", done=True)
        page.get_by_label("How much is said").fill("95")
        inks = page.evaluate(
            """[...document.querySelectorAll("#lines .ghost .take")].map((one) => [
              parseFloat(one.querySelector(".share").textContent.replace(/[<>]/, "")),
              Number(one.style.getPropertyValue("--ink")),
            ])"""
        )
        assert len(inks) > 1
        for (share, ink), (other, paler) in zip(sorted(inks), sorted(inks)[1:], strict=False):
            assert share == other or ink < paler

    def test_sentences_are_somebodys_own(self, visit: Callable[..., Page]) -> None:
        page = visit("script=making-tea")
        take = page.locator("#lines .ghost .take").first
        number = take.get_attribute("data-step")
        steps = page.evaluate(
            "fetch('/api/scripts/making-tea/outline').then((found) => found.json())"
        )["steps"]
        chosen = steps[int(number or 0)]
        words = chosen["words"]
        assert words in {said.rstrip(". ") for said in chosen["wording"]}
        expect(take).to_contain_text(words)
        take.click()
        expect(page.locator("#lines textarea:focus")).to_have_value(words)
        expect(page.locator(f'#outline .step[data-step="{number}"]')).to_have_class(
            "step told",
        )


class TestWriting:
    def test_nothing_is_red_before_that_is_all(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        page.get_by_role("button", name="Write your own").click()
        page.evaluate(
            """() => {
              window.red = [];
              const seen = () => {
                const odd = document.querySelectorAll("#lines .odd, #lines .flag, #lines .strange");
                const judged = document.getElementById("verdict").textContent;
                if (odd.length || judged) window.red.push(judged || odd[0].outerHTML);
              };
              new MutationObserver(seen).observe(document.getElementById("telling"), {
                subtree: true, childList: true, attributes: true, characterData: true,
              });
            }"""
        )
        field = page.locator("#lines textarea").first
        field.press_sequentially("close door", delay=5)
        page.keyboard.press("Enter")
        page.keyboard.type("hear dorbell", delay=5)
        answered(page, "close door\nhear dorbell")
        page.wait_for_timeout(700)  # a line that rests is still being written
        assert page.evaluate("window.red") == []
        finish(page)
        expect(page.locator("#verdict")).to_contain_text("An odd telling")
        expect(page.locator("#lines .line.odd").first).to_be_visible()

    def test_words_that_mean_something_else_are_kept(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\nclose window")
        expect(page.get_by_role("option", name="close door")).to_be_visible()
        expect(page.locator('[role="option"][aria-selected="true"]')).to_have_count(0)
        page.keyboard.press("Enter")
        answered(page, "hear doorbell\nclose window")
        asked = page.locator("#lines .strange")
        expect(asked).to_contain_text("Did you mean close door")
        asked.get_by_role("button", name="close door").click()
        answered(page, "hear doorbell\nclose door")

    def test_a_typing_error_is_mended(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear dorbell")
        expect(page.locator('[role="option"][aria-selected="true"]')).to_have_text("hear doorbell")
        page.keyboard.press("Enter")
        answered(page, "hear doorbell")
        nearly = page.evaluate(
            """async () => {
              const { Spelling } = await import("/static/spelling.js");
              const spelling = new Spelling(["turn on lamp", "lock door", "close curtains"]);
              return [
                ["turn in lamp", "turn on lamp"], ["look door", "lock door"],
                ["close curtians", "close curtains"], ["close certains", "close curtains"],
                ["door lock", "lock door"], ["turn-on lamp", "turn on lamp"],
              ].map(([typed, meant]) => spelling.isNearly(typed, meant));
            }"""
        )
        assert nearly == [False, False, True, True, False, True]

    def test_both_events_of_a_sentence_are_taken(self, visit: Callable[..., Page]) -> None:
        page = visit("script=making-tea")
        tell(page, "I boiled the water and turned off the kettle")
        line(page, 1).press("Enter")
        answered(page, "I boiled the water\nturned off the kettle")
        expect(page.locator("#outline .step.told")).to_have_count(2)

    def test_an_unknown_line_says_so_quietly(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\nsneeze loudly\nopen door")
        line(page, 1).focus()
        strange = page.locator("#lines .strange")
        expect(strange).to_contain_text("not known here; it is passed over")
        expect(page.locator("#lines .flag")).to_have_count(0)
        expect(strange.locator("textarea")).to_have_value("sneeze loudly")

    def test_enter_below_the_last_line_means_that_is_all(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        page.get_by_role("button", name="Write your own").click()
        line(page, 1).press("Enter")
        expect(page.get_by_role("button", name="That is all")).to_be_visible()
        tell(page, "hear doorbell")
        line(page, 1).press("Enter")
        following = page.locator("#lines .next")
        expect(following).to_contain_text("next, probably walk to door")
        page.keyboard.press("Enter")
        expect(page.locator("#verdict")).to_contain_text("telling")
        assert lines(page) == ["hear doorbell"]
        expect(page.get_by_role("button", name="Go on writing")).to_be_focused()

    def test_what_probably_comes_next_is_taken_by_a_click(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell")
        line(page, 1).press("Enter")
        page.locator("#lines .next .take").first.click()
        answered(page, "hear doorbell\nwalk to door")
        expect(line(page, 3)).to_be_focused()

    def test_events_are_offered_while_typing(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        page.get_by_role("button", name="Write your own").click()
        line(page, 1).press_sequentially("door")
        assert "open door" in page.get_by_role("option").all_inner_texts()
        shoot(page, "suggestions")
        expect(page.locator('[role="option"][aria-selected="true"]')).to_have_count(0)
        page.keyboard.press("ArrowDown")
        chosen = page.locator('[role="option"][aria-selected="true"]').inner_text()
        page.keyboard.press("Enter")
        answered(page, chosen)
        expect(line(page, 2)).to_be_focused()
        line(page, 2).press_sequentially("open")
        page.get_by_role("option", name="open door").click()
        assert lines(page) == [chosen, "open door"]

    def test_lines_are_split_joined_and_pasted(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell, open door")
        line(page, 1).blur()
        answered(page, "hear doorbell\nopen door")
        line(page, 2).focus()
        page.keyboard.press("Home")
        page.keyboard.press("Backspace")
        answered(page, "hear doorbellopen door")
        for _ in range(len("open door")):
            page.keyboard.press("Delete")
        page.keyboard.press("ArrowDown")
        answered(page, "hear doorbell")
        page.keyboard.insert_text("\nwalk to door\nopen door")
        answered(page, "hear doorbell\nwalk to door\nopen door")

    def test_writing_on_takes_the_verdict_back(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "close door\nhear doorbell", done=True)
        expect(page.locator("#verdict")).to_contain_text("odd")
        expect(page.locator("#outline .step.astray")).not_to_have_count(0)
        line(page, 2).press("End")
        page.keyboard.type("!")
        expect(page.locator("#verdict")).to_be_empty()
        expect(page.locator("#outline .step.astray")).to_have_count(0)

    def test_an_open_place_is_filled_by_a_click(self, visit: Callable[..., Page]) -> None:
        page = visit("script=answering-the-doorbell")
        tell(page, "hear doorbell\n?\nopen door")
        offered = page.locator('#lines [data-line="1"] .take')
        expect(offered.first).to_have_text("walk to door 81%")
        offered.first.click()
        answered(page, "hear doorbell\nwalk to door\nopen door")

    def test_work_is_announced_when_it_takes_long(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        page.route("**/restore", lambda route: (page.wait_for_timeout(400), route.continue_())[1])
        page.get_by_role("button", name="an odd one").click()
        expect(page.locator("#working")).to_have_text("Working …")
        expect(page.locator("#working")).to_be_empty()


class TestPlayAndShare:
    def test_the_telling_runs_through_the_outline(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        marked = "#outline .step:is(.told, .unsaid)"
        whole = page.locator(marked).count()
        page.evaluate(
            f"""() => {{
              window.seen = new Set();
              const look = () => window.seen.add(document.querySelectorAll("{marked}").length);
              new MutationObserver(look).observe(document.getElementById("outline"), {{
                subtree: true, attributes: true,
              }});
            }}"""
        )
        page.get_by_role("button", name="Play").click()
        expect(page.locator("#lines.playing")).to_be_visible()
        expect(page.get_by_role("button", name="Play")).to_be_visible()
        seen = page.evaluate("[...window.seen]")
        assert {0, whole} <= set(seen)
        assert len(seen) > 3
        assert page.locator(marked).count() == whole

    def test_a_page_is_made(self, visit: Callable[..., Page], tmp_path: Path) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\nopen door\nclose door", done=True)
        unsaid = page.locator("#outline .step.unsaid").count()
        made = kept(page, "A page (HTML)")
        assert f"3 lines told, {unsaid} step".encode() in made
        (tmp_path / "telling.html").write_bytes(made)
        shown = page.context.new_page()
        asked: list[str] = []
        shown.on("request", lambda request: asked.append(request.url))
        shown.goto((tmp_path / "telling.html").as_uri())
        expect(shown.locator("li.told")).to_have_count(3)
        expect(shown.locator("svg .step.unsaid")).to_have_count(unsaid)
        assert len(asked) == 1
        assert serious(shown) == []
        shown.close()


class TestOneAnswer:
    def test_text_and_outline_show_the_same_numbers(self, visit: Callable[..., Page]) -> None:
        page = visit(DOOR)
        tell(page, "hear doorbell\nlook through peephole\nclose door", done=True)
        page.get_by_label("How much is said").fill("95")
        takes = page.locator("#lines .ghost .take").all()
        assert takes
        for take in takes:
            number = take.get_attribute("data-step")
            share = take.locator(".share").inner_text().strip()
            box = page.locator(f'#outline .step[data-step="{number}"]')
            if box.count():
                expect(box.locator(".mark")).to_have_text(f"unsaid {share}")
            else:  # rare steps are drawn together
                expect(page.locator(f'#outline .note[data-steps~="{number}"]')).to_have_class(
                    re.compile("unsaid")
                )

    @pytest.mark.parametrize("script", ["answering-the-door", "tickets"])
    def test_they_agree_in_every_telling(
        self, visit: Callable[..., Page], scripts: dict[str, Path], script: str
    ) -> None:
        learned = el.load(scripts["door" if script == "answering-the-door" else script])
        drawn = learned.sample(100, random_state=1)
        tellings = [told[:: 1 + number % 3] or told for number, told in enumerate(drawn)]
        page = visit(f"script={script}")
        differing, compared = page.evaluate(COMPARE, [script, tellings])
        assert differing == []
        assert compared > 100
