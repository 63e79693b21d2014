"""`elision demo` and `elision learn`, in this process."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from pathlib import Path

import pytest

import elision as el
from commands import files, write
from elision.cli.learning import Method, _command

TELLINGS = el.examples.doorbell_tellings()
APPROX = ("--method", "approx")
"""Quick, where the method does not matter."""


# A new user


def test_the_demo(elision):
    status, out, err = elision("demo")
    assert (status, err) == (0, "")
    assert "20 tellings" in out
    assert "What they have in common:" in out
    assert "from 20 tellings\n 1  hear doorbell" in out
    assert "Script(" not in out
    assert "\n    walk to door" in out
    status, out, err = elision("demo", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["unsaid"][1][0]["event"] == "walk to door"
    assert elision("demo", "-o", "bell.json")[0] == 0
    assert el.load("bell.json").about["domain"] == "answering the doorbell"


COMMANDS = [
    *("demo", "learn", "events", "outline", "repair", "fill", "missing", "between", "next"),
    "follow",
    *("score", "order", "sample", "compare", "identify", "draw", "export", "serve", "bench"),
]


def test_help_names_every_command_by_use(elision):
    status, out, err = elision()
    assert (status, err) == (2, "")
    table = out[out.index("Commands") :].splitlines()
    shown = [line.split()[1] for line in table if line.startswith("│ ") and line[2] != " "]
    assert shown == COMMANDS
    assert elision("--version") == (0, f"elision {el.__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(elision, command):
    for option in ("--help", "-h"):
        status, text, err = elision(command, option)
        assert (status, err) == (0, "")
        assert f"Example: elision {command}" in text
        assert "--json" in text or command == "serve"


@pytest.mark.parametrize("method", list(Method))
def test_learn(elision, method):
    write("stories.jsonl", TELLINGS, "answering the doorbell")
    status, out, err = elision("learn", "stories.jsonl", "-o", "bell.json", "--method", method)
    assert (status, err) == (0, "")
    assert "answering the doorbell" in out
    assert "bell.json" in out
    first = Path("bell.json").read_bytes()
    status, out, err = elision(
        "learn", "stories.jsonl", "-o", "bell.json", "--method", method, "--json"
    )
    assert (status, err) == (0, "")
    (one,) = json.loads(out)
    script = el.load("bell.json")
    assert (script.telling is not None) == (method is Method.DEFAULT)
    assert (one["states"], one["narratives"]) == (script.size - 2, 20)
    assert one["log_prob"] == pytest.approx(script.log_probs(TELLINGS).mean())
    assert one["elision"][0] <= one["elision"][1] <= one["elision"][2]
    assert Path("bell.json").read_bytes() == first
    assert files() == ["bell.json", "stories.jsonl"]


def test_options_reach_the_learner(elision):
    write("stories.jsonl", TELLINGS * 4)
    elision("learn", "stories.jsonl", "-o", "usual.json", "--method", "approx")
    usual = el.load("usual.json")
    for options in (
        ("--batch-size", 20),
        ("-r", 20),
        ("--state-cost", 20),
        ("--edge-cost", 20),
        ("--seed", 7),
    ):
        elision("learn", "stories.jsonl", "-o", "other.json", "--method", "approx", *options)
        assert el.load("other.json") != usual
    constrained = ("--constraint-cost", 2, "--method", "sem", "--exhaustive", "--paper-plan")
    status, out, _ = elision("learn", "stories.jsonl", "-o", "other.json", *constrained)
    assert status == 0
    assert "violated" in out
    assert el.load("other.json").about["score"] == "exact"


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_and_gzip(elision, packed):
    content = write(Path("stories.jsonl"), TELLINGS).read_bytes()
    elision("learn", "stories.jsonl", "-o", "file.json", *APPROX)
    if packed:
        content = gzip.compress(content)
        Path("stories.jsonl.gz").write_bytes(content)
        assert elision("learn", "stories.jsonl.gz", "-o", "packed.json", *APPROX)[0] == 0
        assert Path("packed.json").read_bytes() == Path("file.json").read_bytes()
    assert elision("learn", "-", "-o", "piped.json", *APPROX, stdin=content)[0] == 0
    assert Path("piped.json").read_bytes() == Path("file.json").read_bytes()


# Unusual narratives


@pytest.mark.parametrize(
    "narratives",
    [
        [["ring", "open"]],
        [["ring"]] * 10,
        [[], []],
        [[], ["ring"]],
        [["a" * 10_000, "b" * 10_000], ["b" * 10_000]],
        [["שלום", "مرحبا", "👩‍👩‍👧‍👦", "\u202eabc"], ["שלום", "[/bold]", ":smile:", "\x1b[31m\n"]],
        [["ring"] * 50],
    ],
    ids=["one", "one event", "empty", "one empty", "long names", "any script", "repeated"],
)
def test_unusual_narratives(elision, narratives):
    write("stories.jsonl", narratives)
    for method in Method:
        status, out, err = elision(
            "learn", "stories.jsonl", "-o", "s.json", "--json", "--method", method
        )
        assert (status, err) == (0, "")
        assert json.loads(out)[0]["narratives"] == len(narratives)
        assert set(el.load("s.json").events) == {e for told in narratives for e in told}


TABLE = """Vorgang;Schritt;Wann
1;klingeln;2024-01-01 10:00
2;öffnen;2024-01-01 11:05
2;klingeln;2024-01-01 11:00
1;öffnen;2024-01-01 10:05
"""
NAMED = ("--case", "Vorgang", "--activity", "Schritt", "--encoding", "cp1252")


def test_columns_and_encoding_can_be_named(elision, refused):
    Path("log.csv").write_text(TABLE, encoding="cp1252")
    learn = ("learn", "log.csv", "-o", "s.json", *APPROX)
    assert "such as --encoding cp1252 or --encoding utf-16)" in refused(*learn)
    assert "(name it with --case)" in refused(*learn, "--encoding", "cp1252")
    assert elision(*learn, *NAMED, "--time", "Wann")[0] == 0
    script = el.load("s.json")
    assert script.log_prob(["klingeln", "öffnen"]) > script.log_prob(["öffnen", "klingeln"])
    assert elision(*learn, *NAMED, "--time", "")[0] == 0  # the order of the rows
    script = el.load("s.json")
    assert script.log_prob(["öffnen", "klingeln"]) > -3
    assert "lifecycle='some'" in refused(*learn, *NAMED, "--lifecycle", "some")


def test_the_domain_may_be_a_column(elision):
    rows = ["kind;case;activity", "a;1;ring", "b;2;open", "a;3;ring"]
    Path("log.csv").write_text("\n".join(rows))
    status, out, _ = elision(
        "learn", "log.csv", "-o", "folder", *APPROX, "--domain-column", "kind", "--json"
    )
    assert status == 0
    assert [(one["domain"], one["narratives"]) for one in json.loads(out)] == [("a", 2), ("b", 1)]


def test_a_narrative_can_be_too_long(refused, elision):
    write("stories.jsonl", [["a"], [f"e{k % 8}" for k in range(100_000)]])
    err = refused("learn", "stories.jsonl", "-o", "script.json")
    assert "narratives[1] (id '1'): 100000 events, expected at most 8192" in err
    assert files() == ["stories.jsonl"]


def test_no_memory(refused, monkeypatch):
    def fit(*_, **__):
        raise MemoryError("Unable to allocate 74.5 GiB")

    monkeypatch.setattr(el.ScriptLearner, "fit", fit)
    write("stories.jsonl", TELLINGS)
    assert "not enough memory: Unable" in refused("learn", "stories.jsonl", "-o", "script.json")


# Bad input


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "stories.jsonl: the file is empty"),
        (b"\n\n", "no narratives"),
        (b'{"events": ["a"]\n', "stories.jsonl line 1: not valid JSON"),
        (b'{"events": ["a"]}\n{"events": ["a", 7]}\n', "line 2, field 'events': events[1] is 7"),
        (b'{"events": "a"}\n', "is not a list of strings"),
        (b'{"events": ["a"], "domain": 3}\n', "field 'domain'"),
        (b"\xff\xfe", "is not utf-8 text"),
        (b"\x1f\x8b broken", "broken gzip"),
        (None, "there is no such file"),
    ],
)
def test_bad_narratives(refused, content, problem):
    if content is not None:
        Path("stories.jsonl").write_bytes(content)
        assert problem.replace("stories.jsonl", "stdin") in refused(
            "learn", "-", "-o", "script.json", "--format", "jsonl", stdin=content
        )
    assert problem in refused("learn", "stories.jsonl", "-o", "script.json")
    assert not Path("script.json").exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("-r", "0"), "'--batch-size'"),
        (("--batch-size", "-3"), "'--batch-size'"),
        (("-r", "2.5"), "'--batch-size'"),
        (("--state-cost", "nan"), "'--state-cost': nan is not a number from 0"),
        (("--state-cost", "-1"), "'--state-cost': -1.0"),
        (("--edge-cost", "inf"), "'--edge-cost': inf"),
        (("--edge-cost", "much"), "'--edge-cost'"),
        (("--constraint-cost", "-0.5"), "'--constraint-cost': -0.5"),
        (("--seed", "-1"), "'--seed'"),
        (("--seed", "4294967296"), "'--seed'"),
        (("--method", "magic"), "'marginal', 'sem', 'approx', 'bmm', 'bmm-em'"),
        (("--format", "docx"), "format='docx'; expected one of jsonl"),
        (("--domain", "bel"), "did you mean 'bell'?"),
        (("-o", "-"), "expected a file or folder"),
        (("--nonsense",), "--nonsense"),
        (("another.jsonl",), "another.jsonl"),
    ],
)
def test_bad_options(refused, options, problem):
    write("stories.jsonl", TELLINGS, "bell")
    assert problem in refused("learn", "stories.jsonl", "-o", "script.json", *options)
    assert files() == ["stories.jsonl"]


def test_bad_usage(refused):
    write("stories.jsonl", TELLINGS)
    assert "'learn'" in refused("lern")
    assert "'narratives'" in refused("learn").lower()
    assert "(see elision learn --help)" in refused("learn", "stories.jsonl")


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("missing/script.json", "no folder 'missing' to write to"),
        ("stories.jsonl/script.json", "no folder 'stories.jsonl' to write to"),
        ("stories.jsonl", "the narratives are in this file"),
        ("link.jsonl", "the narratives are in this file"),
        ("folder", "folder/bell.json: cannot be written: there is something other than a file"),
        ("/dev/full", "/dev/full: cannot be written: there is something other than a file"),
        ("/proc/script.json", "cannot be written"),
        ("a\n\x1b[31m/script.json", "no folder"),
        ("x" * 300, "cannot be written: File name too long"),
    ],
)
def test_bad_output(refused, output, problem):
    write("stories.jsonl", TELLINGS, "bell")
    before = Path("stories.jsonl").read_bytes()
    Path("link.jsonl").symlink_to("stories.jsonl")
    Path("folder/bell.json").mkdir(parents=True)
    assert problem in refused("learn", "stories.jsonl", "-o", output)
    assert Path("stories.jsonl").read_bytes() == before
    assert files() == ["folder", "folder/bell.json", "link.jsonl", "stories.jsonl"]
    assert not Path("/dev/full.progress").exists()


def test_several_domains_do_not_go_into_a_file(elision, refused):
    write("stories.jsonl", TELLINGS[:6], "bell")
    with Path("stories.jsonl").open("a") as file:
        file.write('{"domain": "tea", "events": ["boil", "pour"]}\n' * 3)
    err = refused("learn", "stories.jsonl", "-o", "x.json")
    assert "2 domains came and the output is named as a file, expected a folder" in err
    assert "name a folder, or one domain with --domain" in err
    assert files() == ["stories.jsonl"]
    Path("lib").mkdir()
    Path("lib/old.json").write_text("{}")
    status, _, err = elision("learn", "stories.jsonl", *APPROX, "-o", "lib")
    assert (status, err.splitlines()[-1]) == (0, "lib had these already, and they stay: old.json")
    assert files() == ["lib", "lib/bell.json", "lib/old.json", "lib/tea.json", "stories.jsonl"]
    assert "already" not in elision("learn", "stories.jsonl", *APPROX, "-o", "new")[2]


@pytest.mark.parametrize("options", [(), APPROX])
def test_a_script_of_a_file_without_domain_can_have_a_title(elision, refused, options):
    rows = [f"{n},{event}" for n, told in enumerate(TELLINGS) for event in told]
    Path("log.csv").write_text("\n".join(["case,activity", *rows]))
    learn = ("learn", "log.csv", "--time", "", *options, "--title", "at the door")
    status, out, _ = elision(*learn, "-o", "s.json")
    assert status == 0
    assert "at the door" in out
    script = el.load("s.json")
    assert script.about["domain"] == script.outline().title == "at the door"
    assert "at the door" in elision("identify", "s.json", "hear doorbell", "open door")[1]
    Path("two.jsonl").write_text(
        '{"domain": "x", "events": ["a"]}\n{"domain": "y", "events": ["b"]}'
    )
    said = "a title came for 2 domains, expected one domain (name one with --domain"
    assert said in refused("learn", "two.jsonl", "-o", "lib", *options, "--title", "t")
    assert "lib" not in files()
    Path("shelf").mkdir()
    assert elision(*learn, "-o", "shelf")[0] == 0
    assert "shelf/at-the-door.json" in files()
    domain = ("--domain", "x", "--title", "letters")
    assert elision("learn", "two.jsonl", "-o", "x.json", *options, *domain)[0] == 0
    assert el.load("x.json").about["domain"] == "letters"


def test_a_table_without_times_is_said_to_be_in_the_order_of_its_rows(elision):
    rows = "1,a,x\n1,b,y\n2,a,z\n2,b,x\n"
    Path("log.csv").write_text(f"case,activity,note\n{rows}")
    said = "no time column found: events of a case are taken in the order of the rows"
    learn = ("learn", "log.csv", *APPROX, "-o", "s.json")
    assert elision(*learn)[2].count(said) == 1
    assert said not in elision(*learn, "--time", "")[2]
    Path("log.csv").write_text("case,activity,created_at\n1,a,2024-01-02\n1,b,2024-01-01\n")
    assert said not in elision(*learn)[2]


@pytest.mark.parametrize(
    ("option", "setting"),
    [
        (("-r", "3"), "batch_size"),
        (("--state-cost", "2"), "state_cost"),
        (("--edge-cost", "2"), "edge_cost"),
        (("--constraint-cost", "2"), "constraint_cost"),
        (("--exhaustive",), "exhaustive"),
        (("--paper-plan",), "plan"),
    ],
)
def test_settings_of_a_search_are_none_of_the_default(refused, option, setting):
    write("stories.jsonl", {"a": TELLINGS, "b": TELLINGS})
    err = refused("learn", "stories.jsonl", "-o", "folder", *option)
    assert f"{setting} is no setting of method 'default' (use it with method marginal, " in err
    assert files() == ["stories.jsonl"]


def test_bad_output_of_several_domains(refused):
    write("stories.jsonl", {"a": TELLINGS, "b": TELLINGS})
    assert "2 domains came" in refused("learn", "stories.jsonl", "-o", "stories.jsonl")
    assert "cannot be written" in refused("learn", "stories.jsonl", "-o", "stories.jsonl/folder")
    assert "cannot be written" in refused("learn", "stories.jsonl", "-o", "x" * 300)
    assert "cannot be written" in refused("learn", "stories.jsonl", "-o", "/proc/folder")


def test_a_link_is_followed(elision):
    write("stories.jsonl", TELLINGS)
    Path("far").mkdir()
    Path("link.json").symlink_to("far/script.json")
    assert elision("learn", "stories.jsonl", "-o", "link.json", *APPROX)[0] == 0
    assert Path("link.json").is_symlink()
    assert files() == ["far", "far/script.json", "link.json", "stories.jsonl"]


# Several domains


def test_names_of_files(elision):
    names = {
        "a/b": "a-b",
        "a b": "a-b-2",
        "A?B": "A-B-3",
        "a-b-2": "a-b-2-2",
        "..": "script",
        "../../etc/passwd": "etc-passwd",
        "": "script-2",
        "/": "script-3",
        ".hidden": "hidden",
        "c\0d\n": "c-d",
        "[red]": "red",
        "שלום": "שלום",
        "x" * 300: "x" * 100,
        "x" * 299: "x" * 100 + "-2",
        "水" * 300: "水" * 66,
    }
    write("stories.jsonl", dict.fromkeys(names, TELLINGS[:3]))
    learn = ("learn", "stories.jsonl", *APPROX, "-o")
    status, out, err = elision(*learn, "new/folder", "--json")
    assert (status, err) == (0, "")
    learned = {one["domain"]: one["path"] for one in json.loads(out)}
    assert learned == {domain: f"new/folder/{name}.json" for domain, name in names.items()}
    expected = sorted(["folder", *(f"folder/{name}.json" for name in names.values())])
    assert files("new") == expected
    assert elision(*learn, "new/folder")[0] == 0

    status, out, err = elision(*learn, "new/folder", "--domain", "a b", "--json")
    assert json.loads(out)[0]["path"] == "new/folder/a-b-2.json"
    assert elision(*learn, "one.json", "--domain", "")[0] == 0
    assert el.load("one.json").about["narratives"] == 3


def test_each_domain_is_learned_for_itself(elision):
    write("both.jsonl", {"a": TELLINGS, "b": TELLINGS[:7]})
    write("b.jsonl", TELLINGS[:7], "b")
    elision("learn", "both.jsonl", "-o", "folder", *APPROX)
    elision("learn", "b.jsonl", "-o", "b.json", *APPROX)
    assert Path("folder/b.json").read_bytes() == Path("b.json").read_bytes()


def test_a_setting_of_other_methods(refused):
    write("stories.jsonl", TELLINGS)
    err = refused("learn", "stories.jsonl", "-o", "script.json", "--edge-cost", "1")
    assert "edge_cost is no setting of method 'default' (use it with method marginal, sem" in err
    assert files() == ["stories.jsonl"]


def test_names_cannot_steer_the_terminal(elision):
    write("stories.jsonl", {"\x1b[31m\u202ered\n": TELLINGS[:2], "[/] :smile: \\": TELLINGS[:2]})
    status, out, err = elision("learn", "stories.jsonl", "-o", "folder", *APPROX)
    assert (status, err, out.count("\n")) == (0, "", 3)
    assert "\\x1b[31m\\u202ered\\n " in out
    assert "[/] :smile: \\ " in out


def test_names_that_standard_output_cannot_write(elision, monkeypatch):
    write("stories.jsonl", TELLINGS[:2], "水")
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        learn = ("learn", "stories.jsonl", "-o", os.fsdecode(b"\xff.json"))
        status, _, err = elision(*learn, *APPROX)
        shown = stdout.buffer.getvalue()
    assert (status, err) == (0, "")
    assert rb"\u6c34" in shown
    assert rb"\udcff.json" in shown


@pytest.mark.parametrize(
    ("called", "said"),
    [
        ("elision", "elision"),
        (".venv/bin/elision", ".venv/bin/elision"),
        ("{here}/.venv/bin/elision", ".venv/bin/elision"),
        ("/usr/bin/elision", "elision"),
    ],
)
def test_the_next_command_can_be_typed_as_it_is_shown(monkeypatch, tmp_path, called, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [called.format(here=tmp_path), "demo"])
    assert _command() == said


def test_a_slash_at_the_end_means_a_folder(elision):
    write("one.jsonl", TELLINGS)
    status, out, err = elision("learn", "one.jsonl", "-o", "help/", "--title", "at the door")
    assert (status, err) == (0, "")
    assert [*map(str, Path("help").iterdir())] == ["help/at-the-door.json"]
    assert elision("learn", "one.jsonl", "-o", "deep/er.json/")[0] == 0
    assert Path("deep/er.json/script.json").is_file()
    status, out, err = elision("learn", "one.jsonl", "-o", "one.jsonl/")
    assert (status, out) == (2, "")
    assert err == "elision: one.jsonl: this is a file, expected a folder\n"


def test_events_too_rare_for_a_step_are_counted(elision):
    write("rare.jsonl", [*TELLINGS * 2, [*TELLINGS[0], "sneeze"], ["cough", *TELLINGS[1]]])
    status, _, err = elision("learn", "rare.jsonl", "-o", "rare.json")
    said = (
        "too rarely told to be steps of the outline (by fewer than 5% of the tellings, or by one)"
    )
    assert (status, err) == (0, f"{said}: 2 of 12 events\n")
    write("usual.jsonl", TELLINGS)
    assert elision("learn", "usual.jsonl", "-o", "usual.json")[2] == ""


def test_a_script_is_no_list_of_narratives(elision):
    write("usual.jsonl", TELLINGS)
    assert elision("learn", "usual.jsonl", "-o", "usual.json")[0] == 0
    Path("other.json").write_text('{"a": 1, "b": [2]}')
    for path, what in (("usual.json", "a script of Elision's"), ("other.json", "one object")):
        status, out, err = elision("learn", path, "-o", "new.json")
        assert (status, out) == (2, "")
        said = f"elision: {path}: {what} is not a list of narratives (write a list of objects, "
        assert err == f"{said}or one object a line with --format jsonl)\n"
