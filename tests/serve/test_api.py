"""The API: answers, refusals, limits, and files."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

import elision as el
from elision.ask.heard import hear, name_of
from elision.ask.score import Conformance, Flag
from elision.serve import restore
from elision.serve.guard import HEADERS
from elision.serve.lines import Said
from elision.serve.messages import Gap, ToldLine
from elision.serve.shelf import Shelf
from serving import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

    from serving import Answer, Running

DOORBELL = "/api/scripts/answering-the-doorbell"


def told(server: Running, where: str, telling: list[str | None], **more: Any) -> Answer:
    return server.ask("POST", where, {"telling": telling, **more})


def elements(svg: str) -> list[ET.Element]:
    return [*ET.fromstring(svg).iter()]  # noqa: S314 - drawn by ourselves


class TestScripts:
    def test_the_list_has_sizes(self, server: Running) -> None:
        found = {one["id"]: one for one in server.ask("GET", "/api/scripts").json["scripts"]}
        doorbell = found["answering-the-doorbell"]
        assert (doorbell["events"], doorbell["tellings"]) == (10, 0)
        assert found["making-tea"]["sentences"]
        assert not doorbell["sentences"]

    def test_the_file_is_the_script(self, server: Running, tmp_path: Path) -> None:
        answer = server.ask("GET", f"{DOORBELL}/file")
        (tmp_path / "kept.json").write_bytes(answer.body)
        assert el.load(tmp_path / "kept.json") == el.examples.doorbell()
        assert "attachment" in answer.headers["Content-Disposition"]

    def test_an_unknown_script_is_not_found(self, server: Running) -> None:
        answer = server.ask("GET", "/api/scripts/nobody")
        assert (answer.status, answer.json) == (404, {"problem": "no such script"})


class TestAnswers:
    def test_what_is_left_out_is_what_the_outline_says(self, server: Running) -> None:
        outline = el.examples.doorbell().outline()
        telling = ["hear doorbell", "open door", "close door"]
        found = told(server, f"{DOORBELL}/restore", telling, finished=True).json
        names = [step.name for step in outline.steps]
        known = [names.index(event) for event in telling]
        happened = outline.happened(known)
        for one in found["steps"]:
            if one["step"] in known:
                assert (one["unsaid"], one["lines"]) == (0.0, [known.index(one["step"])])
            else:
                assert one["unsaid"] == pytest.approx(happened[one["step"]], abs=1e-9)
        walk = names.index("walk to door")
        assert walk in found["gaps"][1]["steps"]
        assert found["gaps"][1]["something"] >= found["steps"][walk]["unsaid"] - 1e-9

    def test_an_open_place_is_filled(self, server: Running) -> None:
        telling = ["hear doorbell", None, "open door"]
        found = told(server, f"{DOORBELL}/restore", telling).json
        expected = el.examples.doorbell().fill(telling, top=5)[0]
        assert [(one["event"], one["probability"]) for one in found["lines"][1]["options"]] == [
            (one.event, pytest.approx(one.probability, rel=1e-9)) for one in expected.answers
        ]

    def test_a_strange_line_is_passed_over_and_the_nearest_named(self, server: Running) -> None:
        telling = ["hear doorbell", "then I opened that door", "close door"]
        found = told(server, f"{DOORBELL}/restore", telling).json
        strange = found["lines"][1]
        assert (strange["kind"], strange["heard"], strange["flags"]) == ("unknown", [], [])
        assert strange["near"][0] == "open door"
        assert found["lines"][2]["heard"][0]["event"] == "close door"

    def test_nothing_is_judged_before_its_time(self, server: Running) -> None:
        telling = ["close door", "hear doorbell", "sneeze"]
        begun = told(server, f"{DOORBELL}/restore", telling).json
        assert begun["judged"] is None
        assert not any(one["flags"] for one in [*begun["lines"], *begun["gaps"]])
        assert begun["gaps"][-1]["steps"] == []
        assert begun["next"]
        done = told(server, f"{DOORBELL}/restore", telling, finished=True).json
        assert done["judged"]["odd"]
        assert [flag["kind"] for flag in done["lines"][2]["flags"]] == ["unknown"]
        assert done["next"] == []

    def test_a_usual_telling_with_a_late_step_is_not_called_so_plainly(self) -> None:
        found = Conformance(("pour", "boil"), -4.0, (2.0, 2.0), 0.0, 0.06, 0.5, (), late=("boil",))
        assert restore.summary(found) == "A usual telling but for its order: boil came late."
        assert restore.summary(replace(found, late=())) == "A usual telling."

    def test_the_line_being_written_may_be_half_a_word(self, server: Running) -> None:
        telling = ["hear doorbell", "open d"]
        found = told(server, f"{DOORBELL}/restore", telling, writing=1).json
        assert found["lines"][1]["kind"] == "writing"
        assert found["lines"][1]["near"][0] == "open door"
        whole = told(server, f"{DOORBELL}/restore", ["hear doorbell", "Open door."], writing=1).json
        assert whole["lines"][1]["heard"][0]["event"] == "open door"

    def test_sentences_are_understood(self, server: Running) -> None:
        path = "/api/scripts/making-tea/restore"
        found = told(server, path, ["She boiled some water. Then she poured it into the cup."]).json
        (line,) = found["lines"]
        assert line["kind"] == "sentence"
        assert len(line["heard"]) == len(line["parts"]) == 2

    def test_what_is_written_when_all_is_said_is_no_part_of_it(self, server: Running) -> None:
        telling = ["hear doorbell", "open d", "sneeze"]
        found = told(server, f"{DOORBELL}/restore", telling, writing=1, finished=True).json
        assert [len(one["flags"]) for one in found["lines"]] == [0, 0, 1]

    @pytest.mark.parametrize("line", ["Hear Doorbell, open door", "Hear doorbell. Open door."])
    def test_events_may_come_on_one_line_in_any_case(self, server: Running, line: str) -> None:
        found = told(server, f"{DOORBELL}/restore", [line]).json["lines"][0]
        assert [one["event"] for one in found["heard"]] == ["hear doorbell", "open door"]

    def test_nothing_told_is_answered(self, server: Running) -> None:
        found = told(server, f"{DOORBELL}/restore", ["", "  "], finished=True).json
        assert [line["kind"] for line in found["lines"]] == ["blank", "blank"]
        assert found["judged"] is None
        assert found["next"][0]["event"] == "hear doorbell"

    def test_which_script_is_it(self, server: Running) -> None:
        found = told(server, "/api/identify", ["hear doorbell", "open door"]).json["matches"]
        assert found[0]["script"] == "answering-the-doorbell"
        assert found[0]["probability"] > 0.7
        assert told(server, "/api/identify", ["?", " "]).json == {"matches": []}


class TestDrawings:
    def test_an_outline_has_its_steps_and_bonds(self, server: Running) -> None:
        found = server.ask("GET", "/api/scripts/answering-the-door/outline").json
        drawn = {one.get("data-step") for one in elements(found["svg"]) if one.get("data-step")}
        noted = {
            step for one in elements(found["svg"]) for step in one.get("data-steps", "").split()
        }
        assert drawn | noted == {str(step["step"]) for step in found["steps"]}
        assert any(bond["holds"] > bond["broken"] for bond in found["bonds"])
        narrow = server.ask("GET", "/api/scripts/answering-the-door/outline?width=360").json
        assert float(elements(narrow["svg"])[0].get("width", "inf")) < 480
        assert server.ask("GET", f"{DOORBELL}/outline?width=x").status == 400

    def test_the_words_for_a_step_are_heard_as_it(self, server: Running) -> None:
        for script in server.ask("GET", "/api/scripts").json["scripts"]:
            path = f"/api/scripts/{script['id']}"
            steps = server.ask("GET", f"{path}/outline").json["steps"][:100]
            found = told(server, f"{path}/restore", [step["words"] for step in steps]).json
            heard = [[one["event"] for one in line["heard"]] for line in found["lines"]]
            assert heard == [[step["event"]] for step in steps]

    def test_an_outline_is_kept_with_the_telling(self, server: Running) -> None:
        body = {"telling": ["hear doorbell", "open door"], "theme": "light"}
        path = "/api/scripts/answering-the-door"
        svg = server.ask("POST", f"{path}/outline.svg", body).body.decode()
        assert 'class="step told"' in svg
        assert 'class="step unsaid"' in svg
        assert server.ask("POST", f"{path}/outline.png", body).body.startswith(b"\x89PNG")

    def test_a_page_of_a_telling_needs_nothing_else(self, server: Running) -> None:
        body = {"telling": ["hear doorbell", "open <b>door</b>", "close door"]}
        page = server.ask("POST", "/api/scripts/answering-the-door/telling.html", body)
        text = page.body.decode()
        assert page.headers["Content-Disposition"].startswith("attachment")
        assert "3 lines told, " in text
        assert "open &lt;b&gt;door" in text
        assert "surely walk to door and open door; probably greet visitor (" in text
        assert not re.search(r"\d more\b", text)
        assert "<script" not in text
        assert re.findall(r"(?:href|src|url)\W*[=(]", text) == []


TEA = "/api/scripts/making-tea"
NEVER = "I did not put any sugar in"


class TestComing:
    """What comes next, as the question `next` says it of the same telling."""

    BEGINNINGS = (
        ["Dunk the tea"],
        ["pour in the boiling", "Wait and see the steep"],
        ["boil", "out the tea bag", "take out the tea"],
        ["on the kettle", "xyzzy plugh", "water in cup", "a tea."],
        ["in the boiling water", "?", "put teabag in"],
        ["boil", NEVER, "Set it on the", "Wait and see the mug"],
        ["Take a cup and pour the water over it", "the tea bag."],
        ["put teabag in", "take out bag", "let it"],
    )

    @pytest.mark.parametrize("telling", BEGINNINGS, ids="; ".join)
    def test_all_that_uncertain_sentences_may_tell_counts(
        self, server: Running, scripts: dict[str, Path], telling: list[str | None]
    ) -> None:
        script = el.load(scripts["tea"])
        found = told(server, f"{TEA}/restore", telling).json
        assert "sentence" in {line["kind"] for line in found["lines"]}
        assert any(line["kind"] == "sentence" and line["options"] for line in found["lines"])
        self.agree(found, script, [None if line == "?" else line for line in telling])

    def test_a_meaning_that_was_chosen_is_sure(
        self, server: Running, scripts: dict[str, Path]
    ) -> None:
        script = el.load(scripts["tea"])
        telling: list[str | None] = ["boil", "out the tea bag"]
        offered = [
            one["event"]
            for one in told(server, f"{TEA}/restore", telling).json["lines"][1]["options"]
        ]
        assert offered[:2] == ["put bag in mug", "take out bag"]
        for event in offered[:2]:
            found = told(server, f"{TEA}/restore", ["boil", event]).json
            self.agree(found, script, ["boil", event])

    def test_a_script_of_states_weighs_what_is_open(self, server: Running) -> None:
        found = told(server, f"{DOORBELL}/restore", ["hear doorbell", "?"]).json
        self.agree(found, el.examples.doorbell(), ["hear doorbell", None])

    def test_a_line_that_tells_several_things_is_heard_as_python_hears_it(
        self, server: Running, scripts: dict[str, Path]
    ) -> None:
        line = "fill the kettle and then put it"
        (found,) = told(server, f"{TEA}/restore", [line]).json["lines"]
        heard = hear(el.load(scripts["tea"]), [line]).items
        assert [one["event"] for one in found["heard"]] == [name_of(one) for one in heard]
        assert [name_of(one) for one in heard] == ["fill", "put kettle"]
        assert len(found["parts"]) == 2

    @staticmethod
    def agree(found: dict[str, Any], script: el.Script, telling: list[str | None]) -> None:
        expected = script.next(telling, top=5, unknown="ignore")
        answers = [one for one in expected.answers if one.probability]
        assert [(one["event"], one["probability"]) for one in found["next"]] == [
            (one.event, pytest.approx(one.probability, rel=1e-9)) for one in answers
        ]
        assert found["ended"] == pytest.approx(expected.ended, rel=1e-9)


class TestDenials:
    """What a sentence says not to have happened."""

    def test_a_denied_line_is_shown_as_one_and_changes_nothing_else(self, server: Running) -> None:
        telling = ["boil the water", "put the bag in the mug", "take out the bag"]
        plain = told(server, f"{TEA}/restore", telling, finished=True).json
        (sugar,) = self.steps_of(server, "put sugar")
        assert plain["steps"][sugar]["unsaid"] > 0.1
        found = told(server, f"{TEA}/restore", [*telling, NEVER], finished=True).json
        line = found["lines"][3]
        assert (line["kind"], line["denied"]) == ("denied", ["put sugar"])
        assert (line["heard"], line["near"], line["flags"]) == ([], [], [])
        step = found["steps"].pop(sugar)
        assert (step["denied"], step["lines"], step["unsaid"]) == ([3], [], 0.0)
        assert not any(sugar in gap["steps"] for gap in found["gaps"])
        plain["steps"].pop(sugar)
        assert found["steps"] == plain["steps"]
        assert found["judged"] == plain["judged"]

    def test_it_does_not_come_next_nor_fill_a_gap(self, server: Running) -> None:
        telling = ["boil the water", "put the bag in the mug", "pour the water", "?"]
        options = []
        for denial in ([], [NEVER]):
            found = told(server, f"{TEA}/restore", [*denial, *telling], top=30).json
            answers = found["lines"][-1]["options"]
            options.append({one["event"] for one in answers if one["probability"] > 0})
        assert options[0] - options[1] == {"put sugar"}
        telling = telling[:-1]
        plain = told(server, f"{TEA}/restore", telling, top=30).json
        found = told(server, f"{TEA}/restore", [*telling, NEVER], top=30).json
        chances = {one["event"]: one["probability"] for one in plain["next"]}
        rest = 1 - chances.pop("put sugar")
        left = {one["event"]: one["probability"] for one in found["next"]}
        assert left == pytest.approx({one: p / rest for one, p in chances.items()}, rel=1e-9)
        assert found["ended"] == pytest.approx(plain["ended"] / rest, rel=1e-9)

    def test_flags_stand_on_the_line_they_are_about(self, server: Running) -> None:
        telling = ["drink the tea", "boil the water", "put the bag in the mug", "xyzzy"]
        plain = told(server, f"{TEA}/restore", telling, finished=True).json
        flags = [[flag["kind"] for flag in line["flags"]] for line in plain["lines"]]
        assert flags == [["out of order"], [], [], ["unknown"]]
        for place in range(5):
            denied = [*telling[:place], NEVER, *telling[place:]]
            found = told(server, f"{TEA}/restore", denied, finished=True).json
            lines = [[flag["kind"] for flag in line["flags"]] for line in found["lines"]]
            assert lines == [*flags[:place], [], *flags[place:]]
            (drink,) = self.steps_of(server, "drink tea")
            assert found["steps"][drink]["astray"]

    def test_of_a_sentence_that_tells_and_denies_both_are_kept(self, server: Running) -> None:
        (line,) = told(
            server, f"{TEA}/restore", ["I took out the bag, drank the tea and did not add milk"]
        ).json["lines"]
        assert line["parts"] == ["I took out the bag", "drank the tea", "did not add milk"]
        assert [one["event"] for one in line["heard"]] == ["take out bag", "drink tea"]
        assert line["denied"] == ["add milk"]
        (strange,) = told(server, f"{TEA}/restore", ["I did not dance on the moon"]).json["lines"]
        assert (strange["kind"], strange["denied"]) == ("denied", [])

    def test_what_is_missing_as_it_was_denied_is_flagged_where_it_is_said(self) -> None:
        flag = Flag("skipped", 1, "boil", 0.9, "skipped, 90%")
        found = Conformance(("pour",), -4.0, (2.0,), 0.0, 0.01, 5.0, (flag,))
        script = SimpleNamespace(telling=None, conform=lambda *_, **__: [found])
        said = [Said(0, "no boiling", "denied", None, "boil"), Said(1, "pour", "event", "pour")]
        lines = [ToldLine(one.text, one.kind, [], [], [], [], [], []) for one in said]
        gaps = [Gap(0.0, [], []) for _ in range(3)]
        judged = restore.judged(script, said, ["pour"], [None], lines, gaps, [])  # type: ignore[arg-type]
        assert [one.note for one in lines[0].flags] == [restore.UNDONE]
        assert lines[1].flags == []
        assert not any(gap.flags for gap in gaps)
        assert "is said not to have happened" in judged.summary
        assert "missing" not in judged.summary

    def test_files_say_it(self, server: Running) -> None:
        telling = ["boil the water", NEVER, "drink the tea"]
        answer = told(server, f"{TEA}/restore.csv", telling)
        rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
        (row,) = (row for row in rows if row["kind"] == "denied")
        assert (row["place"], row["text"], row["event"]) == ("2", NEVER, "put sugar")
        assert not any(row["event"] == "put sugar" for row in rows if row["kind"] == "unsaid")
        page = told(server, f"{TEA}/telling.html", telling).body.decode()
        assert re.search(r"2 lines told, \d+ steps left unsaid, 1 said not to have happened", page)
        assert f'<li class="denied"><bdi>{NEVER}</bdi></li>' in page
        svg = told(server, f"{TEA}/outline.svg", telling).body.decode()
        assert "said not done" in svg

    @staticmethod
    def steps_of(server: Running, event: str) -> list[int]:
        steps = server.ask("GET", f"{TEA}/outline").json["steps"]
        return [one["step"] for one in steps if one["event"] == event]


class TestTables:
    def test_csv_has_a_row_for_everything(self, server: Running) -> None:
        answer = told(server, f"{DOORBELL}/restore.csv", ["hear doorbell", "?", "open door"])
        rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
        assert {"event", "gap", "unsaid", "answer"} == {row["kind"] for row in rows}

    def test_no_cell_is_a_formula(self, server: Running) -> None:
        hostile = server.ask("GET", "/api/scripts").json["scripts"][2]["id"]
        answer = told(server, f"/api/scripts/{hostile}/restore.csv", ["=1+1"])
        rows = list(csv.reader(io.StringIO(answer.body.decode())))
        cells = [cell for row in rows for cell in row]
        assert "'=1+1" in cells
        assert not any(cell.startswith("=") for cell in cells)


class TestLimits:
    @pytest.mark.parametrize(
        ("body", "status"),
        [
            (b"", 400),
            (b"not json", 400),
            (b'{"telling": "hear"}', 400),
            (b'{"telling": ["\xff"]}', 400),
            (b'{"telling": [], "more": 1}', 400),
            (b'{"telling": [], "top": 0}', 400),
            (b'{"telling": [], "min_probability": NaN}', 400),
            (b"[" * 100_000, 400),
            (b'{"telling": ["' + b"x" * 300_000 + b'"]}', 413),
        ],
    )
    def test_a_bad_question_gets_one_line(self, server: Running, body: bytes, status: int) -> None:
        answer = server.ask("POST", f"{DOORBELL}/restore", body)
        assert answer.status == status
        assert "\n" not in answer.json["problem"]

    def test_too_many_lines_are_refused(self, server: Running) -> None:
        assert told(server, f"{DOORBELL}/restore", ["?"] * 101).status == 400

    def test_learned_scripts_do_not_pile_up(self) -> None:
        shelf = Shelf()
        shelf.add(el.examples.doorbell(), "kept")
        for _ in range(30):
            shelf.add(el.examples.doorbell(), "learned", learned=True)
        assert len(shelf) == 21
        assert shelf.get("kept") is not None
        assert shelf.get("learned") is None


class TestGuard:
    @pytest.mark.parametrize(
        "headers",
        [
            {"Host": "evil.example"},
            {"Host": "evil.example:80"},
            {"Host": "localhost.evil.example"},
            {"Host": "127.0.0.1@evil.example"},
            {"Host": "127.0.0.1/evil.example"},
            {"Host": ""},
            {"Host": "10.0.0.1"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "https://127.0.0.1"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ],
    )
    def test_foreign_requests_are_refused(self, server: Running, headers: dict[str, str]) -> None:
        for method, path in (("GET", "/api/scripts"), ("POST", "/api/uploads?name=a.txt")):
            assert server.ask(method, path, None, headers).status == 403
        assert server.ask("GET", "/", None, headers).status == 403

    def test_own_requests_are_not(self, server: Running) -> None:
        for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}", "[::1]"):
            headers = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
            assert server.ask("GET", "/api/scripts", None, headers).status == 200

    def test_a_link_from_elsewhere_opens_the_page_only(self, server: Running) -> None:
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert server.ask("GET", "/", None, headers).status == 200
        assert server.ask("GET", "/api/scripts", None, headers).status == 403

    @pytest.mark.parametrize("path", ["/", "/static/main.js", "/api/scripts", "/nothing"])
    def test_headers_are_strict(self, server: Running, path: str) -> None:
        headers = server.ask("GET", path).headers
        for name, value in HEADERS.items():
            assert headers[name] == value
        policy = headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "http" not in policy

    def test_no_file_outside_is_served(self, server: Running) -> None:
        for path in ("/static/../api.py", "/static/%2e%2e/api.py", "/static//etc/passwd"):
            assert server.ask("GET", path).status == 404


def test_hostile_names_stay_text_in_every_answer(server: Running) -> None:
    (one,) = [
        one for one in server.ask("GET", "/api/scripts").json["scripts"] if "hostile" in one["id"]
    ]
    path = f"/api/scripts/{one['id']}"
    assert server.ask("GET", path).json["events"] == list(HOSTILE)
    found = told(server, f"{path}/restore", [*HOSTILE]).json
    assert [line["kind"] for line in found["lines"]] == ["event"] * len(HOSTILE)
    for kind in ("telling.html", "outline.svg"):
        text = server.ask("POST", f"{path}/{kind}", {"telling": [*HOSTILE]}).body.decode()
        assert "<script>" not in text
        assert "<img" not in text
        assert "\u202e" not in text
