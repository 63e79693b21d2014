"""The page without a script of one's own: the example, its tellings, learning from a file."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

import elision as el
from serving import Running
from visiting import answered, lines, serious, shoot, shoot_everywhere, step, tell, visits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Locator, Page

LONG = 60_000
"""Milliseconds in which a worker has started and learned from a few tellings, on a busy machine."""

TABLE = "Vorgang;Schritt;Wann\n" + "".join(
    f"{number};{step};2024-01-01 10:0{place}\n"
    for number in range(12)
    for place, step in enumerate(["klingeln", "gehen", "öffnen", "grüßen"][number % 2 :])
)


@pytest.fixture(scope="session")
def example() -> Iterator[Running]:
    """A server that was given nothing."""
    with Running([]) as running:
        yield running


@pytest.fixture
def visit_example(browser: Browser, example: Running) -> Iterator[Callable[..., Page]]:
    with visits(browser, example) as open_page:
        yield open_page


def rows(page: Page) -> Locator:
    return page.locator(".matrix tbody tr:not(.space)")


def choose_file(page: Page, path: Path) -> None:
    page.get_by_label("Drop a file anywhere").set_input_files(path)


class TestTheTellings:
    def test_nothing_given_shows_an_example_with_its_tellings(
        self, visit_example: Callable[..., Page]
    ) -> None:
        page = visit_example()
        expect(page.locator("#name")).to_have_text("answering the doorbell")
        expect(page.locator("#own")).to_contain_text("built-in example")
        expect(page.locator("#tellings .count")).to_have_text("20 tellings, 19 variants.")
        assert serious(page) == []
        shoot_everywhere(page, "example")
        page.locator("#tellings").scroll_into_view_if_needed()
        shoot_everywhere(page, "matrix")

    def test_cells_say_what_the_outline_says_and_a_click_loads_the_row(
        self, visit_example: Callable[..., Page]
    ) -> None:
        page = visit_example()
        told = ["hear doorbell", "open door", "greet visitor"]
        text = re.compile(f"^{', '.join(told)}$")
        row = rows(page).filter(has=page.locator("bdi", has_text=text))
        outline = el.examples.learned_doorbell().outline()
        names = [step.name for step in outline.steps]
        happened = outline.happened([names.index(one) for one in told])
        cells = row.locator("td").all()
        assert len(cells) == len(names) + 2
        shown: dict[str, str] = {}
        for name, chance, cell in zip(names, happened, cells, strict=False):
            label = shown[name] = cell.get_attribute("aria-label") or ""
            if name in told:
                assert label == "told"
            elif chance < 0.05:
                assert label == "absent"
            else:
                share = ">99%" if chance >= 0.995 else f"{chance:.0%}"
                assert label == f"unsaid, {share}"
        row.get_by_role("button").click()
        answered(page, "\n".join(told))
        assert lines(page) == told
        unsaid = [
            name
            for name, chance in zip(names, happened, strict=True)
            if chance > 0.5 and name not in told
        ]
        assert "walk to door" in unsaid
        for name in unsaid:
            expect(step(page, name)).to_contain_text(shown[name].replace(",", ""))

    def test_tellings_are_filtered_sorted_and_thinned(
        self, visit_example: Callable[..., Page]
    ) -> None:
        page = visit_example()
        count = page.locator("#tellings .count")
        tools = page.get_by_role("group", name="Which tellings")
        page.locator(".matrix thead").get_by_role("button", name="take parcel").click()
        expect(count).to_have_text("7 of 20 tellings, 7 of 19 variants.")
        tools.get_by_label("which is").select_option("left unsaid")
        expect(count).to_contain_text(re.compile("^[0-6] of 20"))
        tools.get_by_role("button", name="Show all").click()
        expect(count).to_have_text("20 tellings, 19 variants.")
        tools.get_by_label("Gap after").select_option("hear doorbell")
        tools.get_by_label("and before").select_option("open door")
        expect(count).to_have_text("3 of 20 tellings, 3 of 19 variants.")
        expect(rows(page)).to_have_count(3)
        tools.get_by_role("button", name="Show all").click()
        tools.get_by_label("Words").fill("PEEPHOLE sign")
        expect(rows(page)).to_have_count(1)
        tools.get_by_role("button", name="Show all").click()
        tools.get_by_label("Steps").fill("50")
        expect(page.locator(".matrix thead th button")).to_have_count(5)
        tools.get_by_label("Paths").fill("10")
        expect(rows(page)).to_have_count(1)
        expect(rows(page)).to_contain_text("2×")
        tools.get_by_role("button", name="Show all").click()
        expect(count).to_have_text("20 tellings, 19 variants.")
        tools.get_by_label("Sort by").select_option("oddness")
        expect(rows(page).first).not_to_contain_text("2×")  # the most frequent one is usual
        odd = [
            float(text) for text in page.locator(".matrix td.number:last-child").all_inner_texts()
        ]
        assert odd == sorted(odd, reverse=True)
        rows(page).first.get_by_role("button").focus()
        page.keyboard.press("ArrowDown")
        second = page.locator('[data-at="1"] bdi').inner_text()
        page.keyboard.press("Enter")
        answered(page, second.replace(", ", "\n"))

    def test_a_link_brings_back_which_tellings_are_shown(
        self, visit_example: Callable[..., Page]
    ) -> None:
        page = visit_example()
        tools = page.get_by_role("group", name="Which tellings")
        page.locator(".matrix thead").get_by_role("button", name="take parcel").click()
        tools.get_by_label("Sort by").select_option("length")
        expect(page.locator("#tellings .count")).to_contain_text("7 of 20 tellings")
        page.wait_for_url(re.compile("rows=.*length"))
        again = visit_example(page.url.partition("#")[2])
        expect(again.locator("#tellings .count")).to_contain_text("7 of 20 tellings")
        tools = again.get_by_role("group", name="Which tellings")
        expect(tools.get_by_label("Sort by")).to_have_value("length")
        tools.get_by_role("button", name="Show all").click()
        expect(again.locator("#tellings .count")).to_have_text("20 tellings, 19 variants.")
        for forged in (
            '{"step":"nowhere","gap":{"after":1}}',
            "[",
            "null",
            '{"sort":"constructor"}',
        ):
            odd = visit_example(f"rows={quote(forged)}")
            expect(odd.locator("#tellings .count")).to_have_text("20 tellings, 19 variants.")

    def test_a_step_that_is_chosen_elsewhere_filters(
        self, visit_example: Callable[..., Page]
    ) -> None:
        page = visit_example()
        expect(rows(page)).to_have_count(19)
        page.evaluate(
            """() => {
              const say = (name, detail) =>
                document.dispatchEvent(new CustomEvent(`elision:${name}`, { detail }));
              say("step-chosen", { name: "take parcel" });
            }"""
        )
        count = page.locator("#tellings .count")
        expect(count).to_have_text("7 of 20 tellings, 7 of 19 variants.")
        page.evaluate(
            """() => document.dispatchEvent(new CustomEvent("elision:edge-chosen", {
              detail: { after: "open door", before: "close door" },
            }))"""
        )
        expect(count).to_contain_text("6 of 20 tellings")

    def test_many_variants_are_shown_a_few_at_a_time(
        self, visit_example: Callable[..., Page], tmp_path: Path
    ) -> None:
        events = [*el.examples.doorbell().events]
        chance = random.Random(0)
        told = {tuple(chance.sample(events, chance.randint(3, 9))): None for _ in range(700)}
        lines = [json.dumps({"events": one}) for one in told]
        (tmp_path / "many.jsonl").write_text("\n".join(lines))
        page = visit_example("view=learn")
        choose_file(page, tmp_path / "many.jsonl")
        page.get_by_role("button", name="Show them beside").click(timeout=LONG)
        count = page.locator("#tellings .count")
        expect(count).to_contain_text(f"{len(told)} tellings, {len(told)} variants.", timeout=LONG)
        window = page.get_by_role("region", name="Tellings against steps")
        window.evaluate("one => { one.scrollTop = one.scrollHeight; }")
        last = page.locator(f'[data-at="{len(told) - 1}"]')
        expect(last).to_be_visible()
        assert rows(page).count() < 100
        last.focus()
        page.keyboard.press("ArrowUp")
        expect(page.locator(f'[data-at="{len(told) - 2}"]')).to_be_focused()


class TestLearning:
    def test_the_columns_of_a_table_are_chosen_and_the_script_explored(
        self, visit_example: Callable[..., Page], tmp_path: Path
    ) -> None:
        (tmp_path / "log.csv").write_text(TABLE, encoding="utf-8")
        page = visit_example()
        tell(page, "hear doorbell\nopen door")
        page.locator("#own input").set_input_files(tmp_path / "log.csv")
        case = page.get_by_label("Which telling it belongs to")
        expect(case).to_be_focused(timeout=LONG)
        expect(page.locator("#looked .wrong")).to_contain_text("Which column")
        expect(page.get_by_role("button", name="Learn from")).to_have_count(0)
        case.select_option("Vorgang")
        page.get_by_label("What happened").select_option("Schritt")
        expect(page.locator("#looked .first li").first).to_have_text("klingeln", timeout=LONG)
        assert serious(page) == []
        shoot_everywhere(page, "columns")
        page.get_by_role("button", name="Learn from these 12 tellings").click()
        explore = page.get_by_role("button", name="Explore it")
        expect(explore).to_be_focused(timeout=LONG)
        expect(explore).to_be_in_viewport()
        with page.expect_download() as waiting:
            page.locator("#learned").get_by_role("link", name="Save as a file").click()
        assert el.load(waiting.value.path()).about["narratives"] == 12
        explore.click()
        expect(page.locator("#name")).to_have_text("log")
        expect(page.locator("#tellings .count")).to_have_text("12 tellings, 2 variants.")
        assert set(lines(page)) <= set(el.load(waiting.value.path()).events)  # not the old telling

    def test_sentences_are_recognised_and_names_given_by_hand(
        self, visit_example: Callable[..., Page], tmp_path: Path
    ) -> None:
        labelled = el.read(Path(el.__file__).with_name("data") / "tellings.jsonl")
        told = [one.steps or () for one in labelled.domain("making tea")]
        (tmp_path / "tea.txt").write_text("\n\n".join(map("\n".join, told)))
        page = visit_example("view=learn")
        choose_file(page, tmp_path / "tea.txt")
        kind = page.get_by_role("group", name="These seem to be sentences")
        expect(kind).to_be_visible(timeout=LONG)
        expect(kind.get_by_label("sentences:")).to_be_checked()
        page.get_by_role("button", name="Learn from these 30 tellings").click()
        # What another page of this server learned last may still be shown.
        expect(page.locator("#learned")).to_contain_text("tea", timeout=LONG)
        names = page.locator("#learned details")
        expect(names).to_be_visible()
        summary = names.locator("summary")
        found = re.fullmatch(r"Rename or merge the (\d+) events", summary.text_content() or "")
        assert found is not None
        first = int(found[1])
        summary.click()
        shoot(page, "names")
        fields = names.get_by_role("textbox")
        fields.nth(1).fill(fields.nth(0).input_value())
        fields.nth(2).fill("something of my own")
        expect(names).to_contain_text("2 renamed; 1 merged")
        assert serious(page) == []
        page.get_by_role("button", name="Learn again with these names").click()
        expect(page.locator("#learned summary")).to_contain_text(f"the {first - 1} ", timeout=LONG)
        page.get_by_role("button", name="Explore it").click()
        expect(page.locator("#name")).to_have_text("tea (2)")
        expect(page.locator("#tellings .matrix thead")).to_contain_text("something of my own")

    def test_what_was_recognised_can_be_corrected(
        self, visit_example: Callable[..., Page], tmp_path: Path
    ) -> None:
        (tmp_path / "wordy.txt").write_text("ring at the door\nwait for an answer\n")
        page = visit_example("view=learn")
        choose_file(page, tmp_path / "wordy.txt")
        expect(page.get_by_label("sentences:")).to_be_checked(timeout=LONG)
        page.get_by_label("events:").check()
        expect(page.get_by_role("group", name="Taken for events")).to_be_visible(timeout=LONG)
        expect(page.get_by_label("events:")).to_be_focused()

    def test_stop_survives_a_reload(
        self, visit_example: Callable[..., Page], tmp_path: Path
    ) -> None:
        rng = random.Random(0)  # all different, so that each costs its time
        steps = [f"step {number}" for number in range(40)]
        told = [rng.sample(steps, 20) for _ in range(3000)]
        (tmp_path / "long.txt").write_text("\n\n".join(map("\n".join, told)) + "\n")
        page = visit_example("view=learn")
        choose_file(page, tmp_path / "long.txt")
        page.get_by_role("button", name="Learn from").click(timeout=LONG)
        expect(page.locator("#stage")).to_contain_text("steps and their order", timeout=LONG)
        expect(page.locator("#chart")).to_contain_text("seconds")
        shoot_everywhere(page, "progress")
        page.reload()
        expect(page.locator("#stage")).to_contain_text("long, 3000 tellings:")
        page.get_by_role("button", name="Stop").click()
        expect(page.locator("#stage")).to_have_text("Stopped.")
        expect(page.get_by_role("button", name="Stop")).to_be_hidden()
        expect(page.locator("#learned li")).to_have_count(0)

    def test_what_fails_is_said_once(
        self, visit_example: Callable[..., Page], tmp_path: Path
    ) -> None:
        (tmp_path / "bad.jsonl").write_text('{"events": 3}\n')
        page = visit_example("view=learn")
        choose_file(page, tmp_path / "bad.jsonl")
        said = page.get_by_text("bad line 1")
        expect(said).to_be_in_viewport(timeout=LONG)
        expect(said).to_have_count(1)

    def test_a_dropped_script_is_opened_and_told_apart(
        self, visit_example: Callable[..., Page], tmp_path: Path
    ) -> None:
        path = tmp_path / "again.json"
        el.examples.learned_doorbell().save(path)
        page = visit_example()
        page.evaluate(
            """text => {
              const data = new DataTransfer();
              data.items.add(new File([text], "again.json"));
              const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true });
              document.getElementById("name").dispatchEvent(drop);
            }""",
            path.read_text(encoding="utf-8"),
        )
        expect(page.locator("#name")).to_have_text("answering the doorbell (2)", timeout=LONG)
        page.get_by_role("link", name="Scripts", exact=True).click()
        expect(page.locator("#list > li", has_text="doorbell (2)")).to_contain_text("again")
        expect(page.locator("#list > li").first).to_contain_text("built-in example")
