"""Sentences in, answers out: `elision events`, `learn`, `fill`, `between`, `bench`."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from typer.testing import CliRunner

import elision as el
from elision.cli.entry import app

DOMAIN = "answering the doorbell"


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    """The built-in tellings without their labels."""
    path = tmp_path_factory.mktemp("data") / "stories.jsonl"
    labelled = el.read(str(files("elision") / "data" / "tellings.jsonl"))
    bare = [el.Narrative(steps=one.steps, domain=one.domain, id=one.id) for one in labelled]
    el.Corpus(bare).to_jsonl(path)
    return path


@pytest.fixture(scope="module")
def script(sentences):
    path = sentences.with_name("doorbell.json")
    run("learn", str(sentences), "--domain", DOMAIN, "-o", str(path))
    return path


def run(*arguments, status=0):
    result = CliRunner().invoke(app, arguments)
    if isinstance(result.exception, Exception) and status == 0:
        raise result.exception
    assert result.exit_code == status
    return result.stdout


def test_a_script_learned_from_sentences_answers_sentences_it_never_saw(script):
    loaded = el.load(script)
    assert loaded.extractor is not None
    unseen = "he heard someone ring the doorbell"
    found = json.loads(run("fill", str(script), unseen, "?", "and then opened the door", "--json"))
    assert found[0]["position"] == 1
    assert len(found[0]["answers"]) == 5
    assert all(one["event"] in loaded.events for one in found[0]["answers"])
    plain = run("fill", str(script), unseen, "?", "and then opened the door", "--top", "2")
    assert plain.count("%") == 4  # of two sentences what they are taken for, and two answers
    assert f"{unseen}: " in plain
    assert plain.startswith(f"{unseen}, ?, and then opened the door\n")
    story = json.loads(run("between", str(script), unseen, "he closed the door", "--json"))
    assert len(story["unsaid"]) == len(story["told"]) + 1


def test_a_denial_is_said_to_be_one(script):
    denied = "he did not open the door"
    for question in ("next", "between", "order", "score"):
        shown = run(question, str(script), "he heard the doorbell", denied)
        assert f"{denied}: says that something did not happen, left out" in shown


def test_both_halves_of_a_sentence_are_heard(script):
    shown = run("next", str(script), "he heard the doorbell and opened the door")
    first, second = shown.splitlines()[:2]
    assert first.startswith("he heard the doorbell: ")
    assert second.startswith("opened the door: open")


def test_the_outline_shows_the_wording_of_people(script, tmp_path):
    plain, shown = run("outline", str(script)), run("outline", str(script), "--wording")
    assert '"' not in plain
    steps = el.load(script).outline().steps
    assert shown.count('"') == 2 * len(steps)
    assert f'"{steps[0].wording[0]}"' in shown
    (domain,) = el.load(script).extractor.domains_.values()
    typical = {kind.name: kind.sentences[0] for kind in domain.types}
    assert {one.event: one.wording[0] for one in steps} == {
        one.event: typical[one.event] for one in steps
    }
    codes = tmp_path / "codes.jsonl"
    one = {"events": ["12", "7"], "steps": ["boil the water", "pour it"]}
    codes.write_text((json.dumps(one) + "\n") * 6)
    run("learn", str(codes), "-o", str(tmp_path / "codes.json"))
    assert '"boil the water"' in run("outline", str(tmp_path / "codes.json"))
    assert '"' not in run("outline", str(tmp_path / "codes.json"), "--no-wording")
    el.examples.learned_doorbell().save(tmp_path / "events.json")
    result = CliRunner().invoke(app, ["outline", str(tmp_path / "events.json"), "--wording"])
    assert "no sentences are known" in str(result.exception)


def test_every_question_takes_sentences(script, tmp_path):
    told = ("he heard someone ring the doorbell", "and then opened the door")
    events = el.load(script).events
    following = json.loads(run("next", str(script), *told, "--json"))
    assert following["steps"][0]["answers"][0]["event"] in events
    assert set(json.loads(run("order", str(script), *told[::-1], "--json"))["events"]) <= set(
        events
    )
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"steps": told}) + "\n")
    scored = json.loads(run("score", str(script), "--log", str(log), "--samples", "0", "--json"))
    assert set(scored[0]["told"]) <= set(events)


def test_excluded_events_are_no_answers(script):
    best = json.loads(run("fill", str(script), "?", "open the door", "--json"))[0]["answers"][0]
    others = run("fill", str(script), "?", "open the door", "--exclude", best["event"], "--json")
    assert best["event"] not in {one["event"] for one in json.loads(others)[0]["answers"]}


def test_events_lists_types_and_writes_a_corpus(sentences, tmp_path):
    target = tmp_path / "events.jsonl"
    arguments = ("events", str(sentences), "--domain", DOMAIN, "-o", str(target))
    shown = json.loads(run(*arguments, "--json"))
    assert 10 < len(shown[DOMAIN]) < 40
    corpus = el.read(target)
    assert corpus.has_events
    assert set(corpus.vocabulary) <= {one["name"] for one in shown[DOMAIN]}
    assert "for example" in run(*arguments)


def test_a_script_of_events_does_not_guess_at_sentences(tmp_path):
    path = tmp_path / "plain.json"
    el.examples.doorbell().save(path)
    result = CliRunner().invoke(app, ["fill", str(path), "he heard a bell", "?"])
    assert isinstance(result.exception, el.UnknownEventError)
    assert "unknown event 'he heard a bell'" in str(result.exception)
    without_gap = CliRunner().invoke(app, ["fill", str(path), "open door"])
    assert "no gap" in str(without_gap.exception)


def test_an_unknown_task_is_refused(tmp_path):
    path = tmp_path / "mornings.jsonl"
    el.Corpus.of([["wake", "wash"]] * 30).to_jsonl(path)
    result = CliRunner().invoke(app, ["bench", str(path), "--task", "four"])
    assert "task 'four', expected some of one, two, three, anywhere" in str(result.exception)


def test_raw_sentences_are_benchmarked_without_a_leak(sentences):
    """Types come from training sentences alone; a changed test sentence changes only itself."""
    from elision.bench.tasks import make_text_task

    part = el.read(sentences).domain(DOMAIN)
    one = make_text_task(part, 0, extractor=el.EventExtractor("wordnet"))
    _, test = part.split(0.4, random_state=0)
    spoiled = next(iter(test))
    others = [
        el.Narrative(steps=("xyzzy", *spoiled.steps[1:]), domain=DOMAIN, id=spoiled.id)
        if narrative == spoiled
        else narrative
        for narrative in part
    ]
    two = make_text_task(el.Corpus(others), 0, extractor=el.EventExtractor("wordnet"))
    assert two.train == one.train
    assert len(two.gaps) >= len(one.gaps) - 1
    told = [
        sorted([item for item in gap if item] + [task.events[answer]])
        for task in (one, two)
        for gap, answer in zip(task.gaps, task.answers, strict=True)
    ]
    first, second = told[: len(one.gaps)], told[len(one.gaps) :]
    assert sum(telling not in first for telling in second) <= 1


def test_learning_says_how_many_sentences_are_of_no_type(sentences, elision):
    corpus = el.Corpus([*el.read(sentences).domain(DOMAIN)] * 2)
    extractor = el.EventExtractor().fit(corpus)
    dropped, every = len(extractor.dropped_), sum(len(one.steps) for one in corpus)
    assert dropped
    corpus.to_jsonl("twice.jsonl")
    status, out, err = elision("learn", "twice.jsonl", "-o", "bell.json")
    said = f"left out, as they are of no event type: {dropped} of {every} sentences"
    assert (status, err) == (0, f"{DOMAIN}: {said} (elision events shows the types)\n")
    assert said not in out


def test_drawing_says_what_each_sentence_was_taken_for(script, tmp_path):
    heard, strange = "they heard the doorbell ring", "seventeen pelicans sang"
    place = ("-o", str(tmp_path / "door.svg"))
    lines = run("draw", str(script), *place, "--telling", heard).splitlines()
    assert lines[0].startswith(f"{heard}: hear")
    options = ("--telling", heard, "--telling", strange, "--ignore-unknown")
    assert f"{strange}: unknown, left out" in run("draw", str(script), *place, *options)
    assert strange not in run("draw", str(script), *place, *options, "--json")
