"""Running text, plain text of sentences, and types corrected by hand."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision as el
from elision.io import read
from elision.text.hand import HandTypes, write_types
from elision.text.prose import is_prose, said, sentences_of, tells_an_event

STORY = (
    "Yesterday was a lovely day. I took the tent out of the bag and unfolded it. I hate pegs. "
    "If it rains, we stay at home. Then I hammered the pegs into the ground. I did not use a rope."
)
LISTS = "\n\n".join(
    [
        "gather dirty clothes\nput clothes in washer\nadd some detergent\nfold the clothes",
        "collect the laundry\nload the washing machine\npour in detergent\nfold laundry neatly",
        "get the dirty laundry\nput laundry in washer\nadd the detergent\nfold clothes",
    ]
)


def happenings(text):
    """What happens in a text, sentence by sentence."""
    return [one.words for one in said(text) if one.kind == "event"]


def test_remarks_conditions_and_what_was_not_done_are_set_aside():
    assert happenings(STORY) == [
        "I took the tent out of the bag",
        "unfolded it",
        "I hammered the pegs into the ground",
    ]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("I bought the lamp. Then I hung it up.", "I hung the lamp up"),
        ("I gathered my clothes, sorted them and washed them", "washed the clothes"),
        ("put the wash in the washing machine, added soap and switched it on",
         "switched the washing machine on"),
        ("I put the wet things into the dryer and started it", "started the dryer"),
        ("I walked to the door and opened it", "opened the door"),
        ("I put soap in the bucket and filled it", "filled the bucket"),
    ],
)  # fmt: skip
def test_a_pronoun_stands_for_the_thing_that_was_just_named(text, meant):
    *_, last = said(text)
    assert last.meant == meant
    assert last.words in text


@pytest.mark.parametrize(
    "text",
    [
        "I added soap. It took an hour.",
        "We went to the lake. We filmed it.",
        "I loaded the machine and hung the clothes on the line because it was sunny",
        "I poured in detergent and switched it on",
        "I sorted the clothes and put it away",  # another number
        "I added soap and bleach and stirred it",  # which of them?
        "I started the machine. I was tired. I left it.",
        "I had an idea and tried it",
    ],
)
def test_a_pronoun_that_may_stand_for_anything_is_left_alone(text):
    *_, last = said(text)
    assert last.meant == last.words


def test_the_words_of_a_text_stay_its_own():
    text = "I put the wet things into the dryer and started it. I folded shirts and hung them up."
    told = read(io.StringIO(f"{text}\n\n" * 6))
    assert told.steps[0][1::2] == ("started it", "hung them up")
    extractor = el.EventExtractor("wordnet").fit(told)
    (kinds,) = extractor.domains_.values()
    wordings = {one.text: one.object for kind in kinds.types for one in kind.wordings}
    assert wordings["started it"] == "dryer"
    assert wordings["hung them up"] == "shirt"
    again = el.EventExtractor.from_dict(extractor.to_dict())
    assert again.predict(told) == extractor.predict(told)


@pytest.mark.parametrize(
    ("sentence", "event"),
    [
        ("I locked the door", True),
        ("I never lock the door", False),
        ("don't forget to lock the door", True),
        ("he didn't lock the door", False),
        ("I think it is late", False),
        ("the soup was cold", False),
        ("smell the soup", True),
        ("if it is cold, heat it", False),
        ("he wants to leave", True),
        ("I forgot to lock the door", False),
        ("nobody locked the door", False),
        ("I added no salt", False),
        ("I did not wait", False),
        ("rinse it until there is no soap left", True),
        ("I opened the door, not the window", True),
    ],
)
def test_what_tells_an_event(sentence, event):
    assert tells_an_event(sentence) is event


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("I washed my hair but did not dry it", ["I washed my hair", "-did not dry it"]),
        ("I didn't add soap and started it", ["-I didn't add soap", "started it"]),
        ("I could not find it so I rang", ["-I could not find it", "I rang"]),
        ("turn it off and do not touch it", ["turn it off", "-do not touch it"]),
        ("be sure not to burn it", ["be sure not to burn it"]),
    ],
)
def test_what_happens_is_cut_from_what_does_not(sentence, parts):
    marks = {"denied": "-", "event": "", "remark": "?"}
    assert [marks[one.kind] + one.words for one in said(sentence)] == parts


@given(st.text(max_size=80))
def test_any_text_can_be_cut(text):
    assert "".join("".join(sentences_of(text)).split()) == "".join(text.split())
    assert all(isinstance(part, str) for part in happenings(text))
    assert isinstance(is_prose([[text]]), bool)


def test_plain_text_is_read_as_what_it_looks_like():
    assert read(io.StringIO(LISTS)).steps[0][0] == "gather dirty clothes"
    assert read(io.StringIO(LISTS), sentences=False).events[0][0] == "gather dirty clothes"
    names = "hear bell\nopen door\n\n" * 4
    assert read(io.StringIO(names)).events == [("hear bell", "open door")] * 4
    assert read(io.StringIO(names), sentences=True).steps == [("hear bell", "open door")] * 4
    told = read(io.StringIO(f"{STORY}\n\n{STORY}"))
    assert told.steps == [tuple(happenings(STORY))] * 2


def test_lists_and_running_text_may_stand_in_one_file():
    lists = [tuple(block.split("\n")) for block in LISTS.split("\n\n")]
    mixed = f"{LISTS}\n\n{STORY}"
    assert read(io.StringIO(mixed)).steps == [*lists, tuple(happenings(STORY))]
    mostly_running = f"{STORY}\n\n" * 12 + "go in\nfind the book\nleave"
    told = read(io.StringIO(mostly_running)).steps
    assert told == [tuple(happenings(STORY))] * 12 + [("go in", "find the book", "leave")]


def test_a_record_may_hold_running_text():
    lines = json.dumps({"steps": [STORY], "day": 3}) + '\n{"steps": ["go in. leave", "go"]}\n'
    cut, listed = read(io.StringIO(lines), format="jsonl")
    assert cut.steps == tuple(happenings(STORY))
    assert cut.extra["day"] == 3
    assert listed.steps == ("go in. leave", "go")
    assert read([{"steps": ["How nice. How sad."]}]).steps == [("How nice. How sad.",)]
    assert read(io.StringIO(lines), format="jsonl", sentences=False)[0].events == (STORY,)


def test_sentences_says_what_other_files_hold():
    table = "case,activity\n1,ring the bell\n1,open it\n"
    assert read(io.StringIO(table), sentences=True).steps == [("ring the bell", "open it")]
    line = '{"steps": ["a", "b"]}\n'
    assert read(io.StringIO(line), format="jsonl", sentences=False).events == [("a", "b")]


def test_types_are_corrected_by_hand(tmp_path):
    corpus = read(io.StringIO(LISTS))
    extractor = el.EventExtractor("wordnet", rare="keep").fit(corpus)
    file = tmp_path / "types.tsv"
    write_types(corpus, extractor.labels_, file)
    assert HandTypes.read(file).labels(corpus) == extractor.labels_
    lines = file.read_text().splitlines()
    assert lines[0] == "domain\ttype\tsentence\ttimes"
    edited = []
    for line in lines[1:]:
        domain, _, sentence, times = line.split("\t")
        kind = "wash" if "wash" in sentence else "" if "fold" in sentence else "rest"
        edited.append("\t".join((domain, kind, sentence, times)))
    file.write_text("\n".join([lines[0], *edited[:-1]]) + "\n")  # and one sentence is lost
    labels = HandTypes.read(file).labels(corpus)
    assert labels[0][:2] == ["rest", "wash"]
    assert labels[0][3] is None
    taught = el.EventExtractor("wordnet").fit(corpus, labels)
    assert {kind.name for kind in taught.domains_[""].types} == {"wash", "rest"}
    assert taught.predict([["put the dirty things in the washer"]]) == [["wash"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\n1\t2\n", "the columns are 'a', 'b', expected domain, type"),
        ("type\tsentence\nx\t\n", "line 2 has no sentence"),
        ("type\tsentence\nx\ta\ny\tA\n", "line 3: the sentence 'A' has two types"),
        ("", "the columns are nothing"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path, text, message):
    file = tmp_path / "types.tsv"
    file.write_text(text)
    with pytest.raises(el.InputError, match=message):
        HandTypes.read(file)
    with pytest.raises(el.InputError, match="no sentence of these narratives"):
        HandTypes({("", "x"): "y"}).labels(read(io.StringIO(LISTS)))


def test_labels_must_fit_the_sentences():
    extractor = el.EventExtractor("wordnet")
    with pytest.raises(el.InputError, match=r"narratives\[0\]: 1 labels of 2 sentences"):
        extractor.fit([["a b", "c d"]], [["x"]])
    with pytest.raises(el.InputError, match="labels of 0 tellings, expected 1"):
        extractor.fit([["a b"]], [])
    with pytest.raises(el.InputError, match="no sentence has a label"):
        extractor.fit([["a b"]], [[None]])
    with pytest.raises(el.InputError, match="the label 3"):
        extractor.fit([["a b"]], [[3]])


def test_labels_teach_a_learned_script_to_understand_sentences(tmp_path):
    extractor = el.EventExtractor("wordnet").fit(
        [["hear the bell", "walk to the door"]] * 3, [["ring", "approach"]] * 3
    )
    assert extractor.labels_ == [["ring", "approach"]] * 3
    extractor.save(tmp_path / "extractor.json")
    again = el.EventExtractor.load(tmp_path / "extractor.json")
    assert again.domains_[""].method == "labels"
    assert again.predict([["she heard a bell"]]) == [["ring"]]
