"""`elision follow`: from a pipe, in a terminal, as lines of JSON."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

import commands
import elision as el
from commands import PATIENCE, Terminal, refused, start
from elision.cli import following
from elision.terminal import plain

TEA = [["boil water", "pour water", "drink tea"], ["boil water", "drink tea"]] * 5
SENTENCES = [["hear the bell", "walk to the door", "open the door"]] * 6
TOO_FEW = "too few tellings to know how rare an alarm is\n"


@pytest.fixture(scope="module")
def door():
    return el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_


@pytest.fixture(scope="module")
def tea():
    return el.ScriptLearner().fit(TEA).script_


@pytest.fixture
def elision(elision, door):
    door.save("door.json")
    return elision


@pytest.fixture
def followed(elision):
    """Tell lines through a pipe."""

    def follow(*lines, scripts=("door.json",), options=()):
        text = "".join(f"{line}\n" for line in lines)
        return elision("follow", *scripts, *options, stdin=text.encode())

    return follow


@pytest.fixture
def answered(followed):
    """Tell lines through a pipe, all of which can be followed, and take JSON from another."""

    def follow(*lines, scripts=("door.json",)):
        status, out, err = followed(*lines, scripts=scripts, options=("--json",))
        assert (status, err) in ((0, ""), (0, TOO_FEW))
        return [json.loads(line) for line in out.splitlines()]

    return follow


def test_people_see_what_was_skipped_and_what_comes_next(followed, door):
    status, out, err = followed("walk to door", "hear doorbell")
    assert (status, err) == (0, "")
    first, second, summary = out.rstrip("\n").split("\n\n")
    now = door.follow().tell("walk to door")
    kind = "! skipped" if now.skipped[0].alarm else "  passed untold"
    passed = f"{now.skipped[0].passed:.0%}, done {now.skipped[0].done:.0%}"
    assert first.startswith(f"{now.progress:.0%} done\n{kind}: hear doorbell ({passed})\n")
    likely = first.split("next\n")[1].splitlines()
    name, share, bar = likely[0].rsplit(maxsplit=2)
    probability = now.next[0].probability
    assert (name.strip(), share) == ("open door", f"{probability:.0%}")
    assert len(bar) == round(20 * probability)
    assert len(likely) <= 4
    assert "! out of order: hear doorbell (usually before walk to door, " in second
    assert not any(f"{kind}: hear doorbell" in second for kind in ("skipped", "passed untold"))
    assert summary.startswith("finished: 2 events told\n")
    assert "next" not in summary


def test_the_words_are_those_of_python(followed, door):
    told = ["open door", "hear doorbell"]
    follow = door.follow()
    follow.tell_all(told)
    shown = followed(*told)[1].rstrip("\n").split("\n\n")
    for now, text in zip((follow.now(), follow.finish()), shown[1:], strict=True):
        said = [line for line in str(now).splitlines()[1:] if not line.startswith("  next: ")]
        assert text.split("\nnext\n")[0].rstrip().splitlines()[1:] == said


def test_programs_get_a_line_of_json_for_each_line(answered, door):
    lines = ["walk to door", "sneeze", "hear doorbell"]
    follow = door.follow()
    expected = [*map(follow.tell, lines), follow.finish()]
    found = answered(*lines)
    assert found == [plain(one) | {"knows_alarms": True} for one in expected]
    assert [one["count"] for one in found] == [1, 1, 2, 2]
    assert [one["finished"] for one in found] == [False, False, False, True]
    assert found[2]["unknown"] == ["sneeze"]
    assert found[2]["out_of_order"][0]["alarm"] is True


def test_undo_takes_the_last_line_back(answered):
    first, second, again, third, last = answered("hear doorbell", "sneeze", "undo", "open door")
    assert second["unknown"] == ["sneeze"]
    assert again == first
    assert [third["count"], last["count"], last["unknown"]] == [2, 2, []]


def test_undo_may_be_an_event(elision, answered):
    states = {"do": "do", "take back": {"undo": 0.5, None: 0.5}}
    edges = {"start": {"do": 1}, "do": {"take back": 1}, "take back": {"end": 1}}
    el.Script.build(states, edges).save("undo.json")
    found = answered("do", '"undo"', "undo", scripts=("undo.json",))
    assert [one["count"] for one in found] == [1, 2, 1, 1]
    assert not found[1]["unknown"]


def test_what_cannot_be_taken_back_is_said_and_the_rest_is_followed(followed):
    problem = "line 1: nothing was told that could be taken back"
    status, out, err = followed("undo", "hear doorbell")
    assert (status, err) == (2, f"elision: {problem}\n")
    assert "% done" in out.splitlines()[0]
    status, out, err = followed("undo", "hear doorbell", options=("--json",))
    assert (status, err) == (2, f"elision: {problem}\n")
    failed, *others = map(json.loads, out.splitlines())
    assert failed == {"error": {"problem": problem}}
    assert [one["count"] for one in others] == [1, 1]


def test_an_empty_line_ends_it(answered, followed):
    assert [one["count"] for one in answered("hear doorbell", " ", "open door")] == [1, 1]
    assert [one["finished"] for one in answered()] == [True]
    assert followed("")[1].startswith("finished: 0 events told\n")


@pytest.mark.parametrize("word", ["finish", "quit", "exit"])
def test_words_that_end_it(answered, followed, word):
    ended = followed("hear doorbell")
    assert followed("hear doorbell", word, "open door") == ended
    # In quotes it is an event, and to programs any line but "undo" is.
    assert f"not in the script: {word}\n" in followed(f'"{word}"')[1]
    assert [one["unknown"] for one in answered(word, "open door")] == [[word]] * 3


def test_three_dots_leave_the_telling_open(elision, answered, followed, door):
    told = ["hear doorbell", "walk to door"]
    status, out, err = followed(*told, "...", "open door")
    assert (status, err) == (0, "")
    *answers, summary = out.rstrip("\n").split("\n\n")
    assert answers == followed(*told)[1].rstrip("\n").split("\n\n")[:-1]
    assert summary == "not finished: 2 events told"
    # To programs too, which get as many lines as they sent, and none that says it is finished.
    follow = door.follow()
    expected = plain([follow.tell(one) for one in told][-1]) | {"knows_alarms": True}
    found = answered(*told, "...", "open door")
    assert found[1:] == [expected, expected]
    assert not found[-1]["finished"]
    assert [one["finished"] for one in answered("...")] == [False]
    # In quotes, or where the script has it, it is an event.
    assert "not in the script: ...\n" in followed('"..."')[1]
    el.Script.build({"do": "..."}, {"start": {"do": 1}, "do": {"end": 1}}).save("dots.json")
    assert "finished: 1 event told" in followed("...", scripts=("dots.json",))[1]


def test_help_says_how_to_end(followed):
    status, out, err = followed("help", "hear doorbell")
    assert (status, err) == (0, "")
    assert out == f"{following.HOW}\n\n{followed('hear doorbell')[1]}"
    assert "an empty line ends it" in following.HOW


def test_words_of_the_command_may_be_events(elision, answered, followed):
    el.Script.build({"do": "quit"}, {"start": {"do": 1}, "do": {"end": 1}}).save("quit.json")
    assert "finished: 2 events told" in followed("quit", "quit", scripts=("quit.json",))[1]


def test_what_the_script_does_not_know_is_noted(followed):
    status, out, err = followed("sneeze", "[red]\x1b[2J")
    assert (status, err) == (0, "")
    assert out.startswith("not in the script: sneeze\n0% done\n")
    assert "not in the script: [red]\\x1b[2J\n" in out


def test_sentences_are_heard(elision, followed):
    extractor = el.EventExtractor("wordnet")
    script = el.ScriptLearner().fit(extractor.fit_transform(SENTENCES)).script_
    script.annotated(extractor=extractor.to_dict()).save("bell.json")
    _, out, _ = followed("he heard the bell", scripts=("bell.json",))
    heard, progress = out.splitlines()[:2]
    assert heard.removeprefix("heard as: ") in script.events
    assert progress.endswith("% done")


def test_alarms_that_cannot_be_known_are_mentioned_once(elision, followed):
    el.examples.doorbell().save("built.json")
    lines = ("hear doorbell", "open door")
    assert followed(*lines, scripts=("built.json",))[2] == TOO_FEW
    _, out, err = followed(*lines, scripts=("built.json",), options=("--json",))
    assert err == TOO_FEW
    assert not any(json.loads(line)["knows_alarms"] for line in out.splitlines())
    assert followed(*lines, options=("--false-alarms", "0.01"))[2] == TOO_FEW


@pytest.mark.parametrize("rate", ["0", "1", "-0.1", "2", "nan", "inf"])
def test_a_rate_is_a_share(followed, rate):
    err = refused(followed("hear doorbell", options=("--false-alarms", rate)))
    assert "expected a share of tellings between 0 and 1" in err


def test_what_cannot_be_followed(elision, followed):
    assert "false-alarms" in refused(followed(options=("--false-alarms", "few")))
    assert "none.json" in refused(followed(scripts=("none.json",)))
    Path("empty").mkdir()
    assert "empty" in refused(followed(scripts=("empty",)))
    assert "no utf-8 text" in refused(elision("follow", "door.json", stdin=b"\xff\xfe\n"))


def test_each_answer_comes_at_once(elision):
    pipes = {"stdin": subprocess.PIPE, "text": True}
    with start("follow", "door.json", "--json", **pipes) as process:
        for count, line in enumerate(["hear doorbell", "open door"], start=1):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            assert select.select([process.stdout], [], [], PATIENCE)[0]
            assert json.loads(process.stdout.readline())["count"] == count
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, json.loads(out)["finished"], err) == (0, True, "")


def test_ctrl_c_ends_it_with_the_summary(elision):
    pipes = {"stdin": subprocess.PIPE, "text": True}
    with start("follow", "door.json", **pipes) as process:
        process.stdin.write("hear doorbell\n")
        process.stdin.flush()
        while process.stdout.readline() != "\n":
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    assert out.startswith("finished: 1 event told\n")


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_nobody_reads_it(elision, options):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        process = start("follow", "door.json", *options, stdin=subprocess.PIPE, stdout=pipe)
    with process:
        _, err = process.communicate(b"hear doorbell\nopen door\n", timeout=PATIENCE)
    assert (process.returncode, err) == (1, b"")


def test_standard_input_that_is_closed(elision):
    shell = ["sh", "-c", '"$@" <&-', "sh", *commands.COMMAND, "follow", "door.json"]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("finished: 0 events told\n")


def test_a_telling_in_a_terminal(elision):
    terminal = Terminal("follow", "door.json")
    assert "undo takes the last one back" in terminal.until("\n> ")
    terminal.press("walk t\t\n")  # completed
    assert "passed untold: hear doorbell" in terminal.until("\n> ")
    terminal.press("undo\nundo\n")
    assert "0% done" in terminal.until("\n> ")
    assert "nothing was told that could be taken back" in terminal.until("\n> ")
    terminal.press("open")
    terminal.until("open")
    time.sleep(0.5)  # between a key and the next, readline misses signals
    terminal.interrupt()  # ends it
    status, shown = terminal.ended()
    assert status == 0
    assert "finished: 0 events told" in shown
    assert "Traceback" not in shown

    again = Terminal("follow", "door.json", "--json")
    again.until("> ")
    again.press("hear doorbell\n")
    assert '"count": 1' in again.until("> ")
    again.press("\x04")  # Ctrl-D
    status, shown = again.ended()
    assert status == 0
    assert '"finished": true' in shown


def test_it_is_said_what_a_sentence_is_heard_as(followed, elision):
    told = [["boil the water", "add a teabag", "pour the water", "drink"]] * 6
    events = (extractor := el.EventExtractor("wordnet")).fit_transform(told)
    script = el.ScriptLearner().fit(events).script_
    script.annotated(extractor=extractor.to_dict()).save("tea.json")
    status, out, _ = followed("I boiled some water", "She added a teabag", scripts=["tea.json"])
    assert status == 0
    said = [line for line in out.splitlines() if line.startswith("heard as: ")]
    assert [line.split()[2] for line in said] == ["boil", "add"]
