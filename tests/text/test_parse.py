"""The parser by rules: accuracy on labelled sentences, constructions, and text of any kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision.text.parse import Clause, _dictionary, parse, split

LABELLED = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "sentences.jsonl").read_text().splitlines()
]
# What was asked of the parser on the half that the rules were not written on.
LEAST = {"verb": 0.98, "object": 0.93, "both": 0.92, "particle": 0.95, "split": 0.9}


def shares(half: str) -> dict[str, float]:
    """Share of the sentences of one half that are read as labelled."""
    labels = [label for label in LABELLED if label["half"] == half]
    assert len(labels) == 150
    right: dict[str, list[bool]] = {name: [] for name in LEAST}
    for label in labels:
        clause = parse(label["sentence"])
        for name in ("verb", "object", "particle"):
            right[name].append(getattr(clause, name) == label[name])
        right["both"].append(right["verb"][-1] and right["object"][-1])
        parts = split(label["sentence"])
        right["split"].append(parts == label["split"] if "split" in label else len(parts) == 1)
    return {name: sum(values) / len(values) for name, values in right.items()}


@pytest.mark.parametrize("half", ["tune", "kept"])
def test_labelled_sentences(half: str) -> None:
    found = shares(half)
    assert all(found[name] >= LEAST[name] for name in LEAST), found


# sentence | verb | object | particle
CONSTRUCTIONS = """
Walk to the door. | walk | door |
John walked to the door | walk | door |
she is hearing the bell | hear | bell |
cake in oven | | cake |
when the water boils, add pasta | add | pasta |
when the water boils add pasta | add | pasta |
after lunch we took a walk | take | walk |
once the timer beeps take out the pizza | take | pizza | out
in a large bowl, whisk the eggs | whisk | egg |
to open the jar, twist the lid | twist | lid |
using a fork, mash the bananas | mash | banana |
at the right time walk to the stop | walk | stop |
first, open the box | open | box |
2. Sharpen the pencil. | sharpen | pencil |
step 1: open the box | open | box |
the next step is to peel the carrots | peel | carrot |
all you have to do is press the button | press | button |
it's time to go to bed | go | bed |
let's go home | go | home |
tell dentist why you are there | tell | dentist |
tell the driver your address | tell | address |
don't forget to lock the door | lock | door |
he doesn't want to eat his vegetables | eat | vegetable |
did you lock the door? | lock | door |
we are about to board the plane | board | plane |
the kids are done eating | eat | |
the dishes have to be washed | wash | dish |
he's gone to the store | go | store |
she's been watering the lawn | water | lawn |
my dad's car broke down | break | | down
finish painting the fence | paint | fence |
start by washing the lettuce | wash | lettuce |
keep the door open | keep | door |
go and fetch the ball | fetch | ball |
go to check the mail | check | mail |
go to work | go | work |
go see a movie | see | movie |
go to the pharmacy to pick up the pills | go | pharmacy |
stop by the bakery | stop | bakery |
make sure the heater is off | make | heater |
make sure all the lights are turned off | turn | light | off
make sure not to touch the wire | touch | wire |
be careful not to spill the milk | spill | milk |
let the cat sniff your hand | sniff | hand |
let it cool | cool | |
allow to dry | dry | |
have the mechanic check the brakes | check | brake |
get your hair cut | cut | hair |
get ready to leave the house | leave | house |
get dressed for work | dress | work |
I want you to close the window | close | window |
watch the kids play | watch | kid |
check if the water is hot | check | water |
wait until the bus arrives | wait | bus |
wait ten minutes | wait | |
wake up at 7 am | wake | | up
say "cheese" | say | |
drink a glass of orange juice | drink | juice |
put on your pair of shoes | put | shoe | on
garnish with 1 tbsp chopped parsley | garnish | parsley |
push the shopping cart | push | cart |
empty the trash can | empty | can |
open a can of beans | open | bean |
visit my parents' house | visit | house |
clean the kids' room and my parents' house | clean | room |
say 'cheese' to the camera | say | camera |
park in front of the bank | park | bank |
take the dog home | take | dog |
wear jeans | wear | jeans |
pour yourself a cup of tea | pour | tea |
give it to the clerk | give | clerk |
wash, peel and chop the carrots | wash | carrot |
sit and eat lunch | sit | |
mix the eggs and flour together | mix | egg | together
take the cover off the pool | take | cover | off
put the lid on the jar | put | lid |
put the cap back on | put | cap | back
turn of the hose | turn | hose | off
eat lunch w/ friends | eat | lunch |
text my friend | text | friend |
re-inflate the tube | inflate | tube |
double check the address | check | address |
recieve the package | receive | package |
clsoe the window | close | window |
water plants | water | plant |
water boils | boil | |
dog barks at the mailman | bark | mailman |
Bill paid the fine | pay | fine |
mom and I baked cookies | bake | cookie |
the bride and groom cut the cake | cut | cake |
waiter go to the manager | go | manager |
dirty clothes in hamper | | clothes |
keys in pocket | | key |
off to school | | school |
"""


@pytest.mark.parametrize("line", CONSTRUCTIONS.strip().splitlines())
def test_construction(line: str) -> None:
    sentence, verb, noun, particle = (part.strip() for part in line.split("|"))
    clause = parse(sentence)
    assert (clause.verb, clause.object, clause.particle) == (verb, noun, particle)


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("Park the car and get out.", ["Park the car", "get out"]),
        ("stand up, stretch, and walk over", ["stand up", "stretch", "walk over"]),
        ("He stood up and left", ["He stood up", "left"]),
        ("stir it, then, after a while, serve", ["stir it", "serve"]),
        ("Remove the cake. Let it cool!", ["Remove the cake", "Let it cool"]),
        ("add salt & pepper", ["add salt & pepper"]),
        ("grab your keys and wallet", ["grab your keys and wallet"]),
        ("put the needle and thread away", ["put the needle and thread away"]),
        ("find a spot to sit and eat", ["find a spot to sit and eat"]),
        ("go ahead and press start", ["go ahead and press start"]),
        ("", []),
    ],
)
def test_split(sentence: str, parts: list[str]) -> None:
    assert split(sentence) == parts


def test_the_text_is_the_clause_as_written() -> None:
    assert parse("Then, Open the Door (slowly), and wait.").text == "Open the Door"


HOSTILE = [
    "",
    " \t\n",
    "...!?",
    "-",
    "'",
    "\"'\"'",
    "((((",
    "(only an aside)",
    "\x00\x01",
    "🚪🏃",
    "open the 🚪",
    "打开门",
    "открой дверь",
    "افتح الباب",
    "İSTANBUL'a git",
    "²½",
    "x" * 10_000,
    "open " * 2_000,
    "want to " * 1_250,
    "cup of " * 1_428,
    "in a bowl, " * 909,
    "and " * 2_500,
    "make sure that " * 666,
    "let the dog " * 833,
    "(" * 10_000,
    "'" * 10_000,
    "n't" * 3_333,
    "a-" * 5_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_is_read(text: str) -> None:
    clause = parse(text)
    parts = split(text)
    assert clause.text in text
    assert all(part in text for part in parts)


def test_nothing_is_read_from_nothing() -> None:
    assert parse("?!") == Clause("", "", "", "")


WORDS = """the a to of and , . then when is was not it them put turn get let make sure have want go
open water walk light cut up off on in back home door cup cake dirty 7 minutes 's n't ' ( )"""


@given(st.text() | st.lists(st.sampled_from(WORDS.split()), max_size=40).map(" ".join))
def test_text_of_any_kind(text: str) -> None:
    clause = parse(text)
    assert clause.text in text
    assert clause.particle == clause.particle.lower()
    assert not clause.particle or clause.verb
    assert all(part and part in text for part in split(text))


def test_words_are_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = ("open the door", "wash your hands", "open the door")
    before = [parse(sentence) for sentence in sentences]
    monkeypatch.setattr("elision.text._words._REMEMBERED", 3)
    _dictionary.cache_clear()
    assert [parse(sentence) for sentence in sentences] == before
    assert len(_dictionary()._known) <= 3
