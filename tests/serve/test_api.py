"""The API: answers, refusals, limits, and files."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

import elision as el
from elision.serve import messages
from elision.serve.explain import explain
from elision.serve.guard import HEADERS
from elision.serve.pictures import MOST_EDGES, bounded
from elision.serve.shelf import Held, Shelf
from serving import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

    from serving import Answer, Running

DOORBELL = "/api/scripts/answering-the-doorbell"


def told(server: Running, path: str, telling: list[str | None], **more: Any) -> Answer:
    return server.ask("POST", path, {"telling": telling, **more})


def elements(svg: str) -> list[ET.Element]:
    return [*ET.fromstring(svg).iter()]  # noqa: S314 - drawn by ourselves


class TestScripts:
    def test_the_list_has_sizes(self, server: Running) -> None:
        found = {one["id"]: one for one in server.ask("GET", "/api/scripts").json["scripts"]}
        doorbell = found["answering-the-doorbell"]
        assert (doorbell["states"], doorbell["edges"], doorbell["events"]) == (10, 16, 10)
        assert found["making-tea"]["sentences"]
        assert not doorbell["sentences"]

    def test_states_have_events_and_edges(self, server: Running) -> None:
        script = el.examples.doorbell()
        states = server.ask("GET", DOORBELL).json["states"]
        assert [one["name"] for one in states] == list(script.states)
        for k, one in enumerate(states):
            after = {way["state"]: way["probability"] for way in one["after"]}
            assert after == {
                int(to): script.transition[k, to] for to in script.transition[k].nonzero()[0]
            }
            assert one["elision"] == script.elision[k]

    def test_the_file_is_the_script(self, server: Running, tmp_path: Path) -> None:
        answer = server.ask("GET", f"{DOORBELL}/file")
        (tmp_path / "kept.json").write_bytes(answer.body)
        assert el.load(tmp_path / "kept.json") == el.examples.doorbell()
        assert "attachment" in answer.headers["Content-Disposition"]

    def test_an_unknown_script_is_not_found(self, server: Running) -> None:
        answer = server.ask("GET", "/api/scripts/nobody")
        assert (answer.status, answer.json) == (404, {"problem": "no such script"})


class TestAnswers:
    def test_fill_says_what_the_script_says(self, server: Running) -> None:
        answer = told(server, f"{DOORBELL}/fill", ["hear doorbell", None, "open door"], top=2)
        expected = el.examples.doorbell().fill(["hear doorbell", None, "open door"], top=2)[0]
        (filling,) = answer.json["fillings"]
        assert filling["position"] == 1
        assert [(one["event"], one["probability"]) for one in filling["answers"]] == [
            (one.event, pytest.approx(one.probability, rel=1e-9)) for one in expected.answers
        ]

    def test_explain_agrees_with_the_questions(self, server: Running) -> None:
        script = el.examples.doorbell()
        telling = ["hear doorbell", None, "open door", "close door"]
        found = told(server, f"{DOORBELL}/explain", telling).json
        story = script.between(telling)
        for gap, expected in zip(found["unsaid"], story.unsaid, strict=True):
            assert {one["event"]: one["probability"] for one in gap["events"]} == pytest.approx(
                {one.event: one.probability for one in expected}, rel=1e-9
            )
        assert found["items"][1]["answers"][0]["event"] == "walk to door"
        assert found["log_prob"] == pytest.approx(script.log_prob(telling), rel=1e-9)
        parts = {one["state"]: one["part"] for one in found["path"]["states"]}
        assert parts[script.states.index("walk to door")] == "filled"
        assert parts[script.states.index("open door")] == "told"

    def test_a_strange_line_is_flagged_and_the_rest_still_answered(self, server: Running) -> None:
        telling = ["hear doorbell", "sneeze loudly", "open door"]
        found = told(server, f"{DOORBELL}/explain", telling).json
        strange = found["items"][1]
        assert strange["kind"] == "unknown"
        assert strange["flags"][0]["kind"] == "unknown"
        assert strange["candidates"][0]["event"] == "walk to door"
        assert found["items"][2]["state"] is not None

    def test_the_wrong_order_is_flagged(self, server: Running) -> None:
        found = told(server, f"{DOORBELL}/explain", ["close door", "hear doorbell"]).json
        flags = [flag["kind"] for item in found["items"] for flag in item["flags"]]
        assert flags
        assert {"impossible", "out of order"}.issuperset(flags)

    def test_sentences_are_understood(self, server: Running) -> None:
        path = "/api/scripts/making-tea/explain"
        found = told(server, path, ["She boiled some water. Then she poured it into the cup."]).json
        assert [item["kind"] for item in found["items"]] == ["sentence", "sentence"]
        assert all(item["event"] for item in found["items"])

    def test_events_may_come_on_one_line_in_any_case(self, server: Running) -> None:
        found = told(server, f"{DOORBELL}/explain", ["Hear Doorbell, open door"]).json
        assert [item["event"] for item in found["items"]] == ["hear doorbell", "open door"]

    def test_nothing_told_is_answered(self, server: Running) -> None:
        found = told(server, f"{DOORBELL}/explain", ["", "  "]).json
        assert found["items"] == []
        assert found["path"] == {"states": [], "edges": []}
        assert found["next"][0]["event"] == "hear doorbell"

    def test_which_script_is_it(self, server: Running) -> None:
        found = told(server, "/api/identify", ["hear doorbell", "open door"]).json["matches"]
        assert found[0]["script"] == "answering-the-doorbell"
        assert found[0]["probability"] > 0.9
        assert told(server, "/api/identify", ["?", " "]).json == {"matches": []}

    def test_a_learned_script_answers_like_its_own_methods(self) -> None:
        script = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
        held = Held("door", "door", script)
        telling = ["hear doorbell", None, "open door"]
        found = explain(held, messages.Asking([*telling]))
        expected = script.fill(telling, top=5)[0]
        assert [(one.event, one.probability) for one in found.items[1].answers] == [
            (one.event, one.probability) for one in expected.answers
        ]


class TestDrawings:
    def test_a_drawing_is_svg_with_all_states(self, server: Running) -> None:
        found = server.ask("POST", f"{DOORBELL}/drawing", {}).json
        assert len([one for one in elements(found["svg"]) if "data-state" in one.attrib]) == 12
        assert "<style" not in found["svg"]

    def test_the_threshold_hides(self, server: Running) -> None:
        found = server.ask("POST", f"{DOORBELL}/drawing", {"least": 0.3}).json
        assert found["hidden_states"] == 2
        assert found["least"] == 0.3

    def test_a_telling_is_marked_in_files(self, server: Running) -> None:
        body = {"telling": ["hear doorbell", "?", "open door"], "theme": "dark"}
        svg = server.ask("POST", f"{DOORBELL}/drawing.svg", body)
        assert svg.headers["Content-Type"].startswith("image/svg+xml")
        assert b'class="node state filled"' in svg.body
        png = server.ask("POST", f"{DOORBELL}/drawing.png", body)
        assert png.body.startswith(b"\x89PNG")

    def test_a_path_that_is_not_in_the_drawing_brings_its_own(self, server: Running) -> None:
        shown = told(server, f"{DOORBELL}/explain", ["open door"], drawing={}).json
        assert shown["drawing"] is None
        path = "/api/scripts/forty-steps/explain"
        hidden = told(server, path, ["event 3", "?", "event 30"], drawing={"least": 0.5}).json
        nodes = {one.get("data-state") for one in elements(hidden["drawing"]["svg"])}
        assert nodes.issuperset(str(one["state"]) for one in hidden["path"]["states"])
        assert told(server, path, ["event 3", "?", "event 30"]).json["drawing"] is None

    def test_too_many_edges_raise_the_threshold(self) -> None:
        tellings = [one.events for one in el.read(el.examples.doorbell_tellings())]
        many = [[f"{event} {n % 9}" for event in told] for n in range(9) for told in tellings]
        script = el.SEMHMM(score="marginal", random_state=0).fit(many).script_
        assert len(script.parameters.source) > MOST_EDGES
        least = bounded(script, 0.0)
        assert least is not None
        assert least > 0


class TestTables:
    def test_csv_has_a_row_for_everything(self, server: Running) -> None:
        answer = told(server, f"{DOORBELL}/explain.csv", ["hear doorbell", "?", "open door"])
        rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
        assert {"event", "gap", "unsaid", "answer"} == {row["kind"] for row in rows}

    def test_no_cell_is_a_formula(self, server: Running) -> None:
        hostile = server.ask("GET", "/api/scripts").json["scripts"][2]["id"]
        answer = told(server, f"/api/scripts/{hostile}/explain.csv", ["=1+1"])
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
            (b'{"telling": [], "least": NaN}', 400),
            (b"[" * 100_000, 400),
            (b'{"telling": ["' + b"x" * 300_000 + b'"]}', 413),
        ],
    )
    def test_a_bad_question_gets_one_line(self, server: Running, body: bytes, status: int) -> None:
        answer = server.ask("POST", f"{DOORBELL}/explain", body)
        assert answer.status == status
        assert "\n" not in answer.json["problem"]

    def test_a_telling_without_gap_has_nothing_to_fill(self, server: Running) -> None:
        answer = told(server, f"{DOORBELL}/fill", ["open door"])
        assert answer.status == 400
        assert "no gap" in answer.json["problem"]

    def test_too_many_lines_are_refused(self, server: Running) -> None:
        assert told(server, f"{DOORBELL}/explain", ["?"] * 101).status == 400

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
        for method, path in (("GET", "/api/scripts"), ("POST", "/api/learning?name=a.txt")):
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
    svg = server.ask("POST", f"{path}/drawing", {"telling": [*HOSTILE], "least": 0}).json["svg"]
    tags = {element.tag.rpartition("}")[2] for element in elements(svg)}
    assert tags == {"svg", "rect", "text", "g", "path", "title"}
    assert "\u202e" not in svg
    found = told(server, f"{path}/explain", [*HOSTILE]).json
    assert [item["kind"] for item in found["items"]] == ["event"] * len(HOSTILE)
