"""Following a telling over a WebSocket: answers, refusals, limits, and who may."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import elision as el
from elision.serve import sockets
from elision.serve.api import MOST_ASKED, REFUSALS
from elision.serve.following import Following
from elision.serve.shelf import Shelf
from elision.serve.sockets import PATH, Sockets, answered
from serving import HOSTILE, UPGRADE, Running, followed, large, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from websockets.sync.client import ClientConnection

DOORBELL = "?script=answering-the-doorbell"
SCRIPT = el.examples.doorbell()
TELLING = ("hear doorbell", "open door", "greet visitor", "close door")


def ask(socket: ClientConnection, message: object) -> Any:
    socket.send(message if isinstance(message, str | bytes) else json.dumps(message))
    return json.loads(socket.recv(timeout=30))


def refusal(server: Running, query: str = "", **more: Any) -> tuple[int, str]:
    """The status with which a socket is refused, and the line that says why."""
    with pytest.raises(InvalidStatus) as refused, followed(server, query, **more):
        pass
    response = refused.value.response
    return response.status_code, json.loads(response.body or b"")["problem"]


class TestAnswers:
    def test_tell_undo_and_finish(self, server: Running) -> None:
        following = Following(SCRIPT)
        with followed(server, DOORBELL) as socket:
            for event in (*TELLING, "sneeze"):
                assert ask(socket, {"tell": event}) == msgspec.to_builtins(following.tell(event))
            before = msgspec.to_builtins(following.undo())
            assert ask(socket, {"undo": True}) == before
            finished = ask(socket, {"finish": True})
            assert (finished["finished"], finished["next"]) == (True, [])
            assert finished == msgspec.to_builtins(following.finish())
            assert ask(socket, {"undo": True}) == before

    def test_without_a_script_it_says_which_it_is(self, server: Running) -> None:
        with followed(server) as socket:
            told = ask(socket, {"tell": "hear doorbell"})
            assert told["best"] in ("answering-the-doorbell", "answering-the-door")
            assert told["now"]["count"] == 1
            chances = [one["probability"] for one in told["activities"]]
            assert chances == sorted(chances, reverse=True)
            assert sum(chances) == pytest.approx(1)
        with followed(server) as socket:
            for _ in range(6):
                told = ask(socket, {"tell": "sneeze"})
            assert (told["best"], told["now"]) == (None, None)

    def test_sentences_are_understood(self, server: Running) -> None:
        with followed(server, "?script=making-tea") as socket:
            told = ask(socket, {"tell": "She boiled some water."})
            assert (told["count"], told["unknown"]) == (1, [])
        with followed(server) as socket:
            ask(socket, {"tell": "She boiled some water."})
            told = ask(socket, {"tell": "She poured the tea into a cup."})
            assert (told["best"], told["now"]["count"]) == ("making-tea", 2)

    def test_hostile_names_are_events_like_others(self, server: Running) -> None:
        listed = server.ask("GET", "/api/scripts").json["scripts"]
        (name,) = [one["id"] for one in listed if "hostile" in one["id"]]
        with followed(server, f"?script={name}") as socket:
            for count, event in enumerate(HOSTILE, start=1):
                assert ask(socket, {"tell": event})["count"] == count

    def test_the_rate_of_false_alarms_can_be_chosen(self) -> None:
        script = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
        found = [Following(script, false_alarms=rate).tell("close door") for rate in (1e-9, 0.5)]
        few, many = (sum(skip.alarm for skip in one.skipped) for one in found)
        assert few < many
        assert [one.knows_alarms for one in found] == [False, True]

    def test_two_at_once_do_not_mix(self, server: Running) -> None:
        with followed(server, DOORBELL) as one, followed(server, DOORBELL) as other:
            assert ask(one, {"tell": "hear doorbell"})["count"] == 1
            assert ask(other, {"tell": "sneeze"})["unknown"] == ["sneeze"]
            assert ask(one, {"tell": "open door"})["unknown"] == []
            assert ask(other, {"finish": True})["finished"]
            assert not ask(one, {"undo": True})["finished"]

    def test_many_at_once_get_their_own_answers(self, server: Running) -> None:
        def follow(number: int) -> None:
            told = TELLING[number % 4 :] + TELLING[: number % 4]
            alone = Following(SCRIPT if number % 2 else large())
            steps = [f"event {place}" for place in range(number % 4, 36, 5)]  # of one script only
            with followed(server, DOORBELL if number % 2 else "") as socket:
                for event in told if number % 2 else steps:
                    found = ask(socket, {"tell": event})
                    expected = msgspec.to_builtins(alone.tell(event))
                    assert (found if number % 2 else found["now"]) == expected

        with ThreadPoolExecutor(8) as pool:
            assert [*pool.map(follow, range(8))] == [None] * 8

    def test_it_is_documented(self, server: Running) -> None:
        document = server.ask("GET", "/api/openapi.json").json
        described = document["x-websockets"][PATH]
        schemas = document["components"]["schemas"]
        for side in ("takes", "gives"):
            for one in described[side]["oneOf"]:
                assert one["$ref"].removeprefix("#/components/schemas/") in schemas
        with followed(server, DOORBELL) as socket:
            assert set(schemas["Now"]["required"]) == set(ask(socket, {"tell": "open door"}))
        with followed(server) as socket:
            assert set(schemas["Guess"]["required"]) == set(ask(socket, {"tell": "open door"}))


class TestErrors:
    @pytest.mark.parametrize(
        ("message", "problem"),
        [
            ({"undo": True}, "nothing was told that could be taken back"),
            ("", "the message is not as expected"),
            ("tell", "the message is not as expected"),
            (b"\xff\x00", "the message is not as expected"),
            ("[" * 10_000, "the message is not as expected"),
            ('{"tell": "\\ud800"}', "the message is not as expected"),
            ({"tell": 1}, "the message is not as expected"),
            ({"say": "open door"}, "the message is not as expected"),
            ({"tell": "x" * 30_000}, "the message is not as expected"),
            ({"tell": "x" * 2000}, "2000 characters, expected 1000 at most"),
            ({"tell": " \n"}, "nothing was told"),
            ({}, "expected one of tell, undo and finish"),
            ({"tell": "open door", "finish": True}, "expected one of tell, undo and finish"),
        ],
    )
    def test_an_error_is_one_line_and_changes_nothing(
        self, server: Running, message: object, problem: str
    ) -> None:
        with followed(server, DOORBELL) as socket:
            found = ask(socket, message)
            assert list(found) == ["error"]
            assert found["error"]["problem"].startswith(problem)
            assert "\n" not in found["error"]["problem"]
            assert ask(socket, b'{"tell": "hear doorbell"}')["count"] == 1

    def test_what_is_finished_is_told_no_more(self, server: Running) -> None:
        with followed(server, DOORBELL) as socket:
            ask(socket, {"finish": True})
            problem = "the telling is finished (undo takes that back)"
            assert ask(socket, {"tell": "open door"}) == {"error": {"problem": problem}}

    @given(
        st.one_of(
            st.binary(),
            st.dictionaries(
                st.sampled_from(["tell", "undo", "finish", "more"]),
                st.one_of(st.text(), st.booleans(), st.none(), st.sampled_from(TELLING)),
            ).map(lambda said: json.dumps(said).encode()),
        )
    )
    def test_whatever_comes_is_answered(self, content: bytes) -> None:
        following = Following(SCRIPT)
        found = msgspec.json.decode(answered(following, content))
        assert list(found) == ["error"] or found["count"] <= 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("query", "status", "problem"),
        [
            ("?script=nobody", 404, "no such script"),
            ("?script=", 404, "no such script"),
            (f"{DOORBELL}&false_alarms=2", 400, "the share of false alarms is 2.0"),
            (f"{DOORBELL}&false_alarms=nan", 400, "the share of false alarms is nan"),
            (f"{DOORBELL}&false_alarms=few", 400, "false_alarms is 'few', expected a number"),
        ],
    )
    def test_what_cannot_be_followed(
        self, server: Running, query: str, status: int, problem: str
    ) -> None:
        found, line = refusal(server, query)
        assert (found, line.startswith(problem)) == (status, True)

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "https://127.0.0.1"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ],
    )
    def test_a_page_elsewhere_is_refused(self, server: Running, headers: dict[str, str]) -> None:
        status, problem = refusal(server, DOORBELL, additional_headers=headers)
        assert status == 403
        assert "the request comes from another" in problem

    def test_a_name_elsewhere_is_refused(self, server: Running) -> None:
        answer = server.ask("GET", PATH, None, {**UPGRADE, "Host": "evil.example"})
        assert (answer.status, answer.json) == (403, {"problem": "the Host is not this server"})
        assert answer.headers["X-Content-Type-Options"] == "nosniff"

    def test_the_own_page_is_not(self, server: Running) -> None:
        origin: Any = f"http://{server.host}:{server.port}"
        headers = {"Sec-Fetch-Site": "same-origin"}
        with followed(server, DOORBELL, origin=origin, additional_headers=headers) as socket:
            assert ask(socket, {"tell": "open door"})["count"] == 1

    def test_a_request_that_opens_no_socket(self, server: Running) -> None:
        answer = server.ask("GET", PATH)
        assert (answer.status, answer.json) == (426, {"problem": "expected a WebSocket"})
        assert answer.headers["Upgrade"] == "websocket"

    def test_no_other_path_has_a_socket(self, server: Running) -> None:
        with (
            pytest.raises(InvalidStatus, match="403"),
            connect(f"ws://{server.host}:{server.port}/api/scripts"),
        ):
            pass


class TestLimits:
    def test_messages_are_of_some_size(self, server: Running) -> None:
        with followed(server, DOORBELL) as socket:
            socket.send("x" * (MOST_ASKED + 1))
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=30)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009

    def test_tellings_are_of_some_length(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sockets, "MOST_TOLD", 2)
        following = Following(SCRIPT)
        for event in ("hear doorbell", "sneeze"):
            answered(following, json.dumps({"tell": event}))
        assert b"2 were told, more are not followed" in answered(following, '{"tell": "cough"}')
        answered(following, '{"undo": true}')
        assert b'"count":2' in answered(following, '{"tell": "open door"}')

    def test_so_many_at_once(self) -> None:
        with limited(most=1) as server:
            with followed(server):
                assert refusal(server) == (503, "1 tellings are being followed, try again later")
            until = time.monotonic() + 10
            while True:  # the first has left, which the server may hear of a little later
                try:
                    with followed(server) as socket:
                        assert ask(socket, {"tell": "open door"})["best"] == "door"
                    break
                except InvalidStatus:
                    assert time.monotonic() < until

    def test_who_says_nothing_is_left(self) -> None:
        with limited(idle=0.5) as server, followed(server) as socket:
            ask(socket, {"tell": "open door"})
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=30)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1001
            assert "nothing came for" in closed.value.rcvd.reason

    def test_an_empty_shelf_has_nothing_to_follow(self) -> None:
        with limited(scripts=0) as server:
            assert refusal(server) == (404, "no such script")


@contextmanager
def limited(scripts: int = 1, **limits: Any) -> Iterator[Any]:
    """A server of this process, with limits that tests can reach."""
    shelf = Shelf()
    for _ in range(scripts):
        shelf.add(SCRIPT, "door")
    route = WebSocketRoute(PATH, Sockets(shelf, **limits).follow)
    app: Any = Starlette(routes=[route], exception_handlers=REFUSALS)
    with served(app) as running:
        yield running


def test_ctrl_c_stops_the_server_while_somebody_follows(scripts: dict[str, Path]) -> None:
    with Running([scripts["doorbell"]]) as server, followed(server) as socket:
        ask(socket, {"tell": "open door"})
        refusal(server, "?script=nobody")
        began = time.monotonic()
        status, errors = server.stop()
        assert (status, errors.strip()) == (0, "Stopped.")
        assert time.monotonic() - began < 30
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=30)
