"""Pictures of outlines: how units hang together, where they stand, and what is written."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import sys
from importlib.resources import files
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import resvg_py

import elision as el
from elision.errors import InputError, UnknownEventError
from elision.learn.outline import learn_outline
from elision.show import draw, outline_picture
from elision.show.blocks import blocks, loosened
from elision.show.draw import draw_outline
from elision.show.notebook import script_html
from elision.show.outline_layout import balanced
from elision.show.outline_svg import DARK, LIGHT, style
from elision.show.outline_words import labels
from elision.show.overlay import laid_over, out_of_order
from elision.show.shapes import font
from elision.show.words import width
from elision.values.outline import Outline, Step, Unit
from elision.values.outline_reading import described, lines

SVG = "{http://www.w3.org/2000/svg}"
ROUNDED = 0.3
"""Places are rounded to a tenth of a pixel, and pieces are put together of rounded ones."""

OWN = el.read(str(files("elision") / "data" / "tellings.jsonl"))
"""The tellings that come with the package."""

WORDS = ("stir", "the", "long", "wooden", "spoon", "extraordinarily", "(in_a_pot)", "again")


def closed(before, count):
    order = np.zeros((count, count), dtype=bool)
    for a, b in before:
        order[a, b] = True
    for k in range(count):
        order |= np.outer(order[:, k], order[k])
    return order


def outline_of(units, before, *, told=0.8, title="making tea"):
    """Units as (branches of names, happens) or names; ``told`` by name or for all."""
    steps, made = [], []
    for unit in units:
        branches, happens = ([[unit]], 1.0) if isinstance(unit, str) else unit
        numbers = []
        for branch in branches:
            numbers.append(tuple(range(len(steps), len(steps) + len(branch))))
            for name in branch:
                often = told.get(name, 0.8) if isinstance(told, dict) else told
                place = len(made) / max(1, len(units) - 1)
                steps.append(Step(name, name, often, 0.9, 0.0, place))
        made.append(Unit(tuple(numbers), (1 / len(numbers),) * len(numbers), happens))
    order = closed(before, len(units))
    pairs = np.zeros(order.shape, dtype=np.int64)
    return Outline(tuple(steps), tuple(made), order, pairs, 20, title)


def chain(names, **options):
    return outline_of(names, list(itertools.pairwise(range(len(names)))), **options)


def tea():
    """Water, then leaves and cups in any order, then milk or lemon, then drinking; rarely sugar."""
    units = [
        "boil water",
        "put leaves into pot",
        "fetch cups",
        ([["add milk"], ["cut lemon", "add lemon"]], 0.9),
        ([["add sugar"]], 0.2),
        "drink",
    ]
    before = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 5), (2, 4), (4, 5)]
    return outline_of(units, before, told={"add sugar": 0.1, "fetch cups": 0.3, "drink": 1.0})


def hospital(ward="surgical ward"):
    """A choice of the ward; what is done there comes after things that are done for all."""
    units = [
        ([[ward], ["cardiology"]], 1.0),
        "lab",
        "x-ray",
        ([["operation", "stitches"], ["angiography"]], 1.0),
        ([["follow-up"]], 0.3),
        "discharge",
    ]
    before = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)]
    outline = outline_of(units, before, told={"follow-up": 0.15}, title="hospital")
    whole = Unit(((0, 4, 5, 7), (1, 6)), (0.5, 0.5), 1.0)
    return dataclasses.replace(outline, apart=(whole,))


def written(box):
    return [text.text.replace("\xa0", " ") for text in box.texts]


def random_outline(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 16))
    linked = np.triu(rng.random((count, count)) < rng.choice([0.05, 0.15, 0.3, 0.7]), 1)
    steps, units = [], []
    for number in range(count):
        happens = float(rng.choice([1.0, 0.9, 0.6, 0.3, 0.1]))
        sizes = rng.choice([1, 1, 1, 2, 5], int(rng.choice([1, 1, 1, 2, 4])))
        branches = []
        for size in sizes:
            branches.append(tuple(range(len(steps), len(steps) + int(size))))
            for _ in range(int(size)):
                name = " ".join(rng.choice(WORDS, int(rng.integers(1, 8)))) + f" {len(steps)}"
                often = float(happens * rng.random())
                again = float(rng.choice([0.0, 0.4]))
                steps.append(Step(name, name, often, 0.5, again, number / count))
        units.append(Unit(tuple(branches), (1 / len(branches),) * len(branches), happens))
    order = closed(np.argwhere(linked).tolist(), count)
    pairs = np.zeros(order.shape, dtype=np.int64)
    return Outline(tuple(steps), tuple(units), order, pairs, 10, "something")


@functools.cache
def random_drawing(seed):
    return draw_outline(random_outline(seed))


def pictured(outline, telling=None, **options):
    laid = None if telling is None else laid_over(outline, telling)
    return outline_picture.outline_picture(outline, laid, **options)


def drawn(outline, telling=None, **options):
    laid = None if telling is None else laid_over(outline, telling)
    return draw_outline(outline, laid, **options)


def parsed(text):
    return ET.fromstring(text)  # noqa: S314 - we wrote it


def box_of(picture, name):
    return next(box for box in picture.boxes if box.name == name)


def overlapping(a, b):
    return (
        a.x + ROUNDED < b.x + b.width
        and b.x + ROUNDED < a.x + a.width
        and a.y + ROUNDED < b.y + b.height
        and b.y + ROUNDED < a.y + a.height
    )


def within(a, b):
    return (
        a.x >= b.x - ROUNDED
        and a.y >= b.y - ROUNDED
        and a.x + a.width <= b.x + b.width + ROUNDED
        and a.y + a.height <= b.y + b.height + ROUNDED
    )


def points(curve, count=20):
    """Points along cubic splines."""
    found = []
    t = np.linspace(0, 1, count)[:, None]
    for at in range(0, len(curve) - 1, 3):
        a, b, c, d = np.array(curve[at : at + 4])
        found.append(
            (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
        )
    return np.concatenate(found)


def runs_through(curve, box):
    x, y = points(curve).T
    low, high = (box.x + 0.6, box.y + 0.6), (box.x + box.width - 0.6, box.y + box.height - 0.6)
    return bool(((x > low[0]) & (x < high[0]) & (y > low[1]) & (y < high[1])).any())


def check_places(picture):
    """Nothing covers anything else, no line runs through a box, and all is on the page."""
    for a, b in itertools.combinations((*picture.boxes, *picture.notes), 2):
        assert not overlapping(a, b), (a, b)
    for frame in picture.frames:
        for box in picture.boxes:
            assert within(box, frame) if box.step in frame.steps else not overlapping(box, frame)
        assert not any(overlapping(note, frame) for note in picture.notes)
    for a, b in itertools.combinations(picture.frames, 2):
        assert not overlapping(a, b) or within(a, b) or within(b, a)
    for link in picture.links:
        assert not any(runs_through(link.curve, box) for box in (*picture.boxes, *picture.notes))
        ends = set(link.before) | set(link.after)
        for frame in picture.frames:
            assert ends <= set(frame.steps) or not runs_through(link.curve, frame)
        assert all(0 <= x <= picture.width and 0 <= y <= picture.height for x, y in link.curve)
    for one in (*picture.boxes, *picture.frames, *picture.notes):
        assert min(one.x, one.y) >= 0
        assert one.x + one.width <= picture.width
        assert one.y + one.height <= picture.height
        for text in one.texts:
            size, bold = font(text.role)
            wide = width(text.text, size, bold=bold)
            start = {"start": text.x, "end": text.x - wide, "middle": text.x - wide / 2}
            assert start[text.anchor] >= 0
            assert start[text.anchor] + wide <= one.width + ROUNDED
            assert 0 < text.y <= one.height


class TestBlocks:
    def test_any_order_between_the_same_neighbours(self):
        whole = blocks(closed([(0, 1), (0, 2), (1, 3), (2, 3)], 4), range(4))
        assert [part.kind for part in whole.parts] == ["unit", "any", "unit"]
        assert whole.parts[1].units == (1, 2)

    def test_a_tangle_has_the_links_of_its_parts(self):
        whole = blocks(closed([(0, 2), (1, 2), (1, 3)], 4), range(4))
        assert whole.kind == "tangle"
        units = {(whole.parts[a].units[0], whole.parts[b].units[0]) for a, b in whole.links}
        assert units == {(0, 2), (1, 2), (1, 3)}

    def test_parts_are_all_units_once_and_everything_outside_stands_alike_to_them(self):
        def check(block):
            assert sorted(block.units) == sorted(u for p in block.parts for u in p.units)
            for part in block.parts:
                for other in set(block.units) - set(part.units):
                    assert len({(order[other, u], order[u, other]) for u in part.units}) == 1
                if part.parts:
                    check(part)

        rng = np.random.default_rng(0)
        for _ in range(200):
            count = int(rng.integers(2, 9))
            order = closed(np.argwhere(np.triu(rng.random((count, count)) < 0.35, 1)), count)
            whole = blocks(order, range(count))
            assert sorted(whole.units) == list(range(count))
            check(whole)
            loose = loosened(whole, order, np.linspace(0, 1, count))
            assert sorted(loose.units) == list(range(count))

    def test_stages_keep_the_order_and_say_where_it_is_loose(self):
        before = [(a, b) for a in range(4) for b in range(4, 8) if (a + b) % 4]
        order = closed(before, 8)
        whole = blocks(order, range(8))
        assert whole.kind == "tangle"
        stages = loosened(whole, order, np.linspace(0, 1, 8))
        assert stages.kind == "series"
        assert stages.loose
        at = {unit: k for k, part in enumerate(stages.parts) for unit in part.units}
        assert all(at[a] < at[b] for a, b in before)


class TestLabels:
    def test_never_two_alike(self):
        names = [
            "open_door",
            "open door",
            "a" * 90,
            "a" * 91,
            "b" * 500,
            "b" * 501,
            "x\x00y",
            "x y",
        ]
        found = labels(names)
        assert len(set(found)) == len(names)
        assert found[:2] == ["open_door", "open door"]

    def test_underscores_are_spaces_where_nothing_is_lost(self):
        assert labels(["open_the_door"]) == ["open the door"]

    @pytest.mark.parametrize("tail", ["one", "two"])
    def test_long_names_that_differ_at_their_end_are_told_apart_in_the_picture(self, tail):
        start = "walk slowly and carefully along the river until the old bridge comes in sight, "
        picture = pictured(chain([start + "one", start + "two"]))
        shown = " ".join(t.text for t in box_of(picture, start + tail).texts if t.role == "name")
        assert shown.endswith(tail)


class TestPlaces:
    @pytest.mark.parametrize("seed", range(8))
    def test_nothing_overlaps(self, seed):
        outline = random_outline(seed)
        check_places(random_drawing(seed).picture)
        rng = np.random.default_rng(seed)
        told = rng.permutation([step.event for step in outline.steps])[:6].tolist()
        check_places(pictured(outline, telling=told))

    def test_main_course_is_on_a_straight_line(self):
        picture = pictured(chain(["boil water", "pour", "wait", "drink"]))
        middles = [box.y + box.height / 2 for box in picture.boxes]
        np.testing.assert_allclose(middles, middles[0], rtol=0, atol=ROUNDED)
        assert [box.name for box in sorted(picture.boxes, key=lambda box: box.x)] == [
            "start",
            "boil water",
            "pour",
            "wait",
            "drink",
            "end",
        ]

    @pytest.mark.parametrize("count", [12, 30])
    def test_many_steps_fit_on_a_screen(self, count):
        picture = pictured(chain([f"do the thing number {k}" for k in range(count)]))
        assert picture.width <= 1400
        assert picture.height <= 700
        check_places(picture)

    def test_sixty_steps_are_all_drawn(self):
        picture = pictured(chain([f"do the thing number {k}" for k in range(60)]))
        assert len(picture.boxes) == 62
        assert picture.width <= 1400
        check_places(picture)

    def test_rows_are_about_equally_long(self):
        assert balanced([50.0] * 9, 10_000) == [range(9)]
        rows = balanced([50.0] * 9, 400)
        assert [len(row) for row in rows] == [5, 4]

    def test_any_order_is_a_frame_with_one_way_in_and_out(self):
        outline = tea()
        picture = pictured(outline)
        frames = {frame.kind: frame for frame in picture.frames}
        named = {kind: {outline.steps[k].name for k in frames[kind].steps} for kind in frames}
        assert named["any"] == {"put leaves into pot", "fetch cups"}
        assert named["choice"] == {"add milk", "cut lemon", "add lemon"}
        assert [t.text for t in frames["any"].texts] == ["in any order"]
        assert "or" in [text.text for text in picture.texts]
        inside = frames["any"].steps
        assert sum(link.after == inside for link in picture.links) == 1
        assert sum(link.before == inside for link in picture.links) == 1

    def test_branches_with_several_steps_are_chains(self):
        picture = pictured(tea())
        cut, add = box_of(picture, "cut lemon"), box_of(picture, "add lemon")
        assert cut.x + cut.width < add.x
        assert any(
            link.before == (cut.step,) and link.after == (add.step,) for link in picture.links
        )

    def test_few_links(self):
        for seed in range(24):
            picture = random_drawing(seed).picture
            arrows = [link for link in picture.links if link.kind != "aside"]
            assert len(arrows) <= 1.5 * len(picture.boxes)

    def test_dense_orders_become_stages_that_usually_follow(self):
        names = [f"step {k}" for k in range(12)]
        before = [(a, b) for a in range(6) for b in range(6, 12) if (a + b) % 5]
        picture = pictured(outline_of(names, before))
        assert any(link.kind == "usually" for link in picture.links)
        assert "usually then" in [key.text.text for key in picture.keys]
        check_places(picture)


class TestAgreement:
    """Words and pictures say the same."""

    def test_what_is_done_sometimes(self):
        """Also where the picture is large, and where nothing is told often."""
        several = [random_outline(seed) for seed in range(24)]
        doubtful = [([[f"think about it {k}"]], 0.4) for k in range(30)]
        for often in (0.12, 0.21, 0.34):
            told = {f"think about it {k}": often for k in range(0, 30, 3)}
            several.append(outline_of(doubtful, itertools.pairwise(range(30)), told=told, title=""))
        faint = {f"think about it {k}": (0.02, 0.1, 0.16)[k % 3] for k in range(30)}
        several.append(outline_of(doubtful, [(0, 1)], told=faint))
        for outline in several:
            drawn = {
                outline.unit_of[box.step]
                for box in pictured(outline, room=840).boxes
                if box.step is not None
            }
            sometimes = {
                unit
                for line in lines(outline)
                if line.text.startswith("sometimes")
                for unit in line.units
            }
            assert not drawn & sometimes
            assert drawn | sometimes == set(range(len(outline.units)))

    def test_large_pictures_leave_out_no_more(self):
        names = [f"walk on to the next of the many steps {k}" for k in range(40)]
        units = [name if k % 2 else ([[name]], 0.3) for k, name in enumerate(names)]
        told = dict.fromkeys(names[::2], 0.24)
        picture = pictured(outline_of(units, itertools.pairwise(range(40)), told=told))
        assert picture.counts() == (40, 40)
        assert not picture.notes

    def test_no_branch_is_noted_that_is_told_often(self):
        steps = (Step("walk", "walk", 0.9, 0.95), Step("swim", "swim", 0.3, 0.95))
        empty = np.zeros((1, 1))
        unit = Unit(((0,), (1,)), (0.95, 0.05), 1.0)
        outline = Outline(steps, (unit,), empty.astype(bool), empty.astype(np.int64), 50)
        assert not pictured(outline).notes

    def test_every_step_in_a_note_has_its_own_share(self):
        units = ["begin", ([["knock"], ["ring", "wait", "ring again"]], 0.4), "enter"]
        told = {"knock": 0.18, "ring": 0.06, "wait": 0.05, "ring again": 0.04}
        picture = pictured(outline_of(units, [(0, 1), (1, 2)], told=told))
        (note,) = picture.notes
        assert " ".join(written(note)) == "sometimes: knock 18% or ring 6% → … → ring again 4%"

    def test_how_many_steps_are_drawn_and_noted(self):
        drawing = drawn(tea())
        said = "8 steps (7 drawn, 1 in notes), learned from 20 tellings"
        assert drawing.picture.texts[1].text == said
        assert drawing.picture.counts() == (7, 8)
        assert drawing.counted().startswith("7 of 8 steps, ")
        whole = drawn(tea(), telling=["add sugar"])
        assert whole.picture.texts[1].text.startswith("8 steps, learned from 20 tellings; laid")
        assert whole.counted().startswith("8 steps, ")

    @pytest.mark.parametrize("room", [None, 300.0])
    def test_bars_of_all_boxes_are_equally_long(self, room):
        names = ["lab", "angiography", "look for the long wooden spoon"]
        one = chain(names, told=dict(zip(names, (0.4, 0.8, 0.8), strict=True)))
        for outline in (one, tea(), hospital(), *map(random_outline, range(8))):
            picture = pictured(outline, room=room)
            bars = [box.bar for box in picture.boxes if box.step is not None]
            assert len({bar.width for bar in bars}) == 1
            check_places(picture)
        assert len({box.width for box in pictured(one).boxes}) > 2

    def test_a_choice_made_before_is_said_where_it_matters(self):
        outline = hospital()
        picture = pictured(outline)
        assert "operation (80%), then stitches (80%), if surgical ward" in outline.text()
        assert "if surgical ward" in written(box_of(picture, "operation"))
        assert "if cardiology" in written(box_of(picture, "angiography"))
        for name in ("surgical ward", "lab", "stitches", "discharge"):
            assert not [text for text in written(box_of(picture, name)) if "if" in text.split()]
        (note,) = picture.notes
        assert " ".join(written(note)) == "sometimes: follow-up 15%, if surgical ward"
        assert "only if \u2068surgical ward\u2069" in box_of(picture, "stitches").tip
        assert "only if" not in box_of(picture, "lab").tip
        assert "\u2068stitches\u2069 if \u2068surgical ward\u2069" in picture.summary
        check_places(picture)

    def test_a_choice_made_before_is_said_beside_a_telling(self):
        picture = pictured(hospital(), telling=["cardiology", "lab"])
        assert written(box_of(picture, "angiography"))[1:2] == ["if cardiology"]
        assert box_of(picture, "angiography").state == "unsaid"
        assert box_of(picture, "operation").state == "faded"
        check_places(picture)

    @pytest.mark.parametrize("ward", ["w" * 300, "the ward for " * 20, "水を飲む" * 40])
    def test_long_conditions_take_few_lines(self, ward):
        for room in (None, 260.0):
            picture = pictured(hospital(ward), room=room)
            box = box_of(picture, "operation")
            assert sum(text.role == "more" for text in box.texts) <= 2
            check_places(picture)


class TestWords:
    def test_no_line_is_for_a_single_letter(self):
        for name in ("A SUBMITTED", "A PARTLYSUBMITTED"):
            box = pictured(chain([name, "wait"])).boxes[1]
            assert [text.text for text in box.texts if text.role == "name"] == [name]

    def test_every_name_is_text_or_tip(self):
        for seed in range(24):
            text = "".join(parsed(random_drawing(seed).svg).itertext())
            assert all(step.name in text for step in random_outline(seed).steps)

    def test_rare_steps_are_folded_into_a_note_at_their_place(self):
        picture = pictured(tea())
        assert "add sugar" not in [box.name for box in picture.boxes]
        (note,) = picture.notes
        assert [text.text.replace("\xa0", " ") for text in note.texts] == [
            "sometimes:",
            "add sugar 10%",
        ]
        assert box_of(picture, "fetch cups").x < note.x + note.width / 2 < box_of(picture, "end").x
        assert "add sugar" in note.tip

    def test_a_rare_step_stands_where_its_order_says_in_words_and_picture(self):
        """It is told early on in long tellings, and always after the third step."""
        steps = [Step(name, name, 0.9, 0.9, 0.0, k / 4) for k, name in enumerate("abcd")]
        steps.append(Step("rare", "rare", 0.1, 0.5, 0.0, 0.1))
        units = tuple(Unit(((k,),), (1.0,), 0.2 if k == 4 else 1.0) for k in range(5))
        pairs = np.zeros((5, 5), dtype=np.int64)
        pairs[:3, 4], pairs[4, 3] = 5, 5
        outline = Outline(tuple(steps), units, closed([(0, 1), (1, 2), (2, 3)], 5), pairs)
        assert "c (90%, otherwise unsaid)\n       sometimes: rare (10%)" in outline.text()
        assert outline_picture._between(outline, 4, [[], [0], [1], [2], [3], []]) == (4, False)

    def test_many_rare_steps_are_counted(self):
        rare = [f"look at clock {k}" for k in range(9)]
        units = ["begin", *(([[name]], 0.2) for name in rare), "finish"]
        before = [(0, k) for k in range(1, 10)] + [(k, 10) for k in range(1, 10)]
        outline = outline_of(units, before, told=dict.fromkeys(rare, 0.1))
        (note,) = pictured(outline).notes
        assert note.texts[-1].text == f"and {9 - (len(note.texts) - 2)} more"
        assert all(name in note.tip for name in rare)

    def test_notes_that_push_each_other_aside_stay_below_the_row(self):
        usual, rare = [f"do {k}" for k in range(7)], [f"look out of window {k}" for k in range(6)]
        units, order = [], []
        for k, name in enumerate(usual):
            units += [name, *([([[rare[k]]], 0.1)] if k < len(rare) else [])]
        order = list(itertools.pairwise(range(len(units))))
        picture = pictured(outline_of(units, order, told=dict.fromkeys(rare, 0.05)))
        check_places(picture)
        assert len(picture.notes) == 6
        ties = [link.curve for link in picture.links if link.kind == "aside"]
        assert any(abs(curve[0][0] - curve[-1][0]) > 10 for curve in ties)

    def test_a_rare_branch_is_said_to_be_instead(self):
        steps = (Step("walk", "walk", 0.9, 0.95), Step("swim", "swim", 0.04, 0.95))
        unit = Unit(((0,), (1,)), (0.95, 0.05), 1.0)
        empty = np.zeros((1, 1))
        outline = Outline(steps, (unit,), empty.astype(bool), empty.astype(np.int64), 50)
        picture = pictured(outline)
        assert not picture.frames
        said = " ".join(text.text for text in picture.notes[0].texts).replace("\xa0", " ")
        assert said == "sometimes: swim 4% (instead of walk)"

    def test_ink_bar_and_marks(self):
        outline = Outline(
            (
                Step("often", "often", 0.9, 0.9, 0.3),
                Step("seldom", "seldom", 0.3, 0.3),
                Step("free", "free", 0.4, 0.8),
            ),
            (Unit(((0,),), (1.0,), 1.0), Unit(((1,),), (1.0,), 0.95), Unit(((2,),), (1.0,), 0.5)),
            closed([(0, 1), (1, 2)], 3),
            np.zeros((3, 3), dtype=np.int64),
        )
        picture = pictured(outline)
        often, seldom, free = (box_of(picture, name) for name in ("often", "seldom", "free"))
        assert often.ink > free.ink > seldom.ink
        assert often.bar.share == 0.9
        assert "90%" in [text.text for text in often.texts]
        assert "↻" in [text.text for text in often.texts]
        assert "often unsaid" in [text.text for text in seldom.texts]
        assert (often.optional, seldom.optional, free.optional) == (False, False, True)
        said = [key.text.text for key in picture.keys]
        assert "perhaps not always done" in said
        assert any("often repeated" in text for text in said)
        assert "often unsaid: done, but told by fewer than half" in said

    def test_steps_all_or_none_are_in_a_dashed_frame(self):
        outline = outline_of(
            ["begin", ([["look up", "write down"]], 0.5), "finish"], [(0, 1), (1, 2)]
        )
        (frame,) = pictured(outline).frames
        assert frame.kind == "together"
        assert frame.optional

    def test_a_step_is_dashed_where_words_leave_open_that_it_was_left_out(self):
        """Mostly done, since six of ten tell it; but not surely by those who do not."""
        steps = (Step("doubtful", "doubtful", 0.6, 0.6 / 0.85), Step("sure", "sure", 0.4, 0.41))
        units = (Unit(((0,),), (1.0,), 0.85), Unit(((1,),), (1.0,), 0.98))
        outline = Outline(steps, units, closed([(0, 1)], 2), np.zeros((2, 2), dtype=np.int64))
        assert "doubtful (60%, otherwise unsaid or left out)" in outline.text()
        assert "sure (40%, otherwise unsaid)" in outline.text()
        picture = pictured(outline)
        doubtful, sure = box_of(picture, "doubtful"), box_of(picture, "sure")
        assert (doubtful.optional, sure.optional) == (True, False)

    @pytest.mark.parametrize("domain", OWN.domains)
    def test_words_and_picture_agree_on_what_is_done(self, domain):
        events = OWN.domain(domain).events
        names = sorted({event for telling in events for event in telling})
        outline = learn_outline([[names.index(e) for e in one] for one in events], names)
        words = outline.text()
        for box in pictured(outline).boxes:
            if box.step is None or len(outline.units[outline.unit_of[box.step]].steps) > 1:
                continue
            said = f"{described(outline.steps[box.step], outline.unsaid[box.step])}"
            if said not in words:  # among what is told sometimes
                continue
            assert box.optional == ("left out" in said), said
            assert not ("left out" in said and "often unsaid" in [text.text for text in box.texts])

    def test_steps_all_or_none_are_framed_by_what_their_silence_means(self):
        steps = tuple(Step(name, name, 0.4, 0.5) for name in ("up", "down"))
        for happens, sure in ((0.85, False), (0.99, True)):
            units = (Unit(((0, 1),), (1.0,), happens),)
            outline = Outline(steps, units, closed([], 1), np.zeros((1, 1), dtype=np.int64))
            assert ("or left out" in outline.text()) != sure
            assert [frame.kind for frame in pictured(outline).frames] == (
                [] if sure else ["together"]
            )

    def test_learned_from_tellings(self):
        tellings = [[0, 1, 2, 3], [0, 2, 1, 3], [0, 1, 3], [0, 2, 3]] * 6
        outline = learn_outline(tellings, ["enter", "greet", "look round", "leave"], title="visit")
        picture = pictured(outline)
        assert picture.title == "visit"
        assert [frame.kind for frame in picture.frames] == ["any"]
        assert "24 tellings" in picture.texts[1].text


class TestTelling:
    def test_states(self):
        outline = tea()
        picture = pictured(outline, telling=["boil water", "drink", "cut lemon"])
        boil, drink = box_of(picture, "boil water"), box_of(picture, "drink")
        assert (boil.state, boil.lines) == ("told", (1,))
        assert "line 1" in [text.text for text in boil.texts]
        # One of the two is enough to explain the order.
        cut = box_of(picture, "cut lemon")
        assert sorted([drink.state, cut.state]) == ["astray", "told"]
        astray = drink if drink.state == "astray" else cut
        assert "out of order" in [text.text for text in astray.texts]
        chance = outline.happened([0, 4, 7])
        unsaid = box_of(picture, "fetch cups")
        assert unsaid.state == "unsaid"
        assert f"unsaid · {chance[unsaid.step]:.0%}" in [text.text for text in unsaid.texts]
        assert box_of(picture, "add lemon").state == "unsaid"
        assert box_of(picture, "add milk").state == "faded"
        assert all(note.faded for note in picture.notes)
        keys = {key.sign for key in picture.keys}
        assert keys >= {"told", "unsaid", "astray", "faded"}
        assert "Out of order" in picture.summary

    def test_a_rare_step_that_is_told_is_drawn(self):
        picture = pictured(tea(), telling=["add sugar"])
        assert box_of(picture, "add sugar").state == "told"
        assert not picture.notes

    def test_events_without_a_step_are_named(self):
        picture = pictured(tea(), telling=["drink", "wash up"])
        assert "wash up" in " ".join(text.text for text in picture.texts)

    def test_fewest_steps_explain_a_telling_out_of_order(self):
        outline = chain([f"s{k}" for k in range(6)])
        assert out_of_order(outline, [0, 2, 3, 4, 1, 5]) == {1}
        assert out_of_order(outline, [0, 1, 2, 3, 4, 5]) == set()
        assert out_of_order(outline, []) == set()
        rng = np.random.default_rng(5)
        for seed in range(60):
            outline = random_outline(seed)
            told = rng.permutation(len(outline.steps))[:6].tolist()
            found = out_of_order(outline, told)
            assert keeps_order(outline, [step for step in told if step not in found])
            for fewer in itertools.combinations(told, max(0, len(found) - 1)):
                if len(fewer) < len(found):
                    assert not keeps_order(outline, [step for step in told if step not in fewer])

    def test_repeats_count_where_they_are_told_first(self):
        outline = chain(["stir", "pour", "drink"])
        laid = laid_over(outline, ["stir", "pour", "stir", None, "drink"])
        assert laid.states == ("told", "told", "told")
        assert laid.lines[0] == (1, 3)

    def test_what_is_denied_is_marked_and_not_unsaid(self):
        outline = chain(["stir", "pour", "drink"])
        assert laid_over(outline, ["stir", "drink"]).states[1] == "unsaid"
        places = {"places": [1, 4], "length": 5}
        laid = laid_over(outline, ["stir", "drink"], denied={"pour": [0], "drink": [2]}, **places)
        assert laid.states == ("told", "denied", "told")  # what is told, too, is told
        assert laid.lines == ((2,), (1,), (5,))
        assert laid.chance[1] == 0
        found = draw_outline(outline, laid)
        box = next(box for box in found.picture.boxes if box.name == "pour")
        assert [text.text for text in box.texts[1:]] == ["said not done", "line 1"]
        assert "said not to have happened" in {key.text.text for key in found.picture.keys}
        assert "Said not to have happened: \u2068pour\u2069." in found.picture.summary
        assert "unsaid" not in found.picture.summary
        assert "a telling of 5 lines" in found.picture.texts[-1].text
        assert 'class="step denied"' in found.svg
        check_places(found.picture)

    @pytest.mark.parametrize("telling", ["drink", [1], [["drink"]]])
    def test_no_telling(self, telling):
        with pytest.raises(InputError, match="expected a list of names of events"):
            pictured(tea(), telling=telling)


def keeps_order(outline, told):
    units = [outline.unit_of[step] for step in told]
    return not any(outline.order[b, a] for a, b in itertools.combinations(units, 2))


class TestFiles:
    def test_svg_can_be_read_by_those_who_do_not_see_it(self):
        root = parsed(drawn(tea()).svg)
        assert root.get("role") == "img"
        assert root.find(f"{SVG}title").text == "making tea"
        said = root.find(f"{SVG}desc").text
        for word in ("boil water", "in any order", "or", "drink"):
            assert word in said
        assert not root.findall(".//*[@id]")
        assert len(root.findall(".//*[@data-step]")) == 7

    @pytest.mark.parametrize(
        "name",
        ["<script>alert(1)</script>", '"><img src=x>', "]]></style><!-- -->", "a\x00b\x1b[31m",
         "turned \u202e round", "x" * 5000, "水を飲む" * 40, "$\\frac{1}{2}$ &amp;", "\u200d"],
    )  # fmt: skip
    def test_hostile_names_are_only_text(self, name):
        drawing = drawn(chain([name, "other"], title=name), telling=[name, name + "?"])
        root = parsed(drawing.svg)
        tags = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert tags == {"svg", "title", "desc", "style", "rect", "g", "path", "text"}
        assert "\u202e" not in drawing.svg
        check_places(drawing.picture)
        assert drawing.content("x.png").startswith(b"\x89PNG")

    def test_themes(self):
        outline = tea()
        light, dark = (drawn(outline, theme=theme).svg for theme in ("light", "dark"))
        assert LIGHT["paper"] in light
        assert "var(" not in light
        assert DARK["paper"] in dark
        assert LIGHT["frame"] not in dark
        auto = drawn(outline).svg
        assert "prefers-color-scheme: dark" in auto
        assert DARK["paper"] in auto
        assert set(LIGHT) == set(DARK)
        assert "{" in style("auto")

    def test_every_colour_that_is_used_is_known(self):
        for telling in (None, ["drink", "boil water"]):
            root = parsed(drawn(tea(), telling=telling).svg)
            named = {
                name.partition("-")[2]
                for element in root.iter()
                for name in (element.get("class") or "").split()
                if name.startswith(("fill-", "line-"))
            }
            assert named <= set(LIGHT)

    @pytest.mark.parametrize(
        ("suffix", "start"), [(".svg", b"<svg"), (".SVG", b"<svg"), (".png", b"\x89PNG")]
    )
    def test_files_by_suffix_same_bytes_every_time(self, tmp_path, suffix, start):
        path = tmp_path / f"tea{suffix}"
        drawing = drawn(tea(), path=path, telling=["boil water", "drink"])
        assert path.read_bytes().startswith(start)
        again = drawn(tea(), telling=["boil water", "drink"])
        assert path.read_bytes() == drawing.content(path) == again.content(f"other{suffix}")

    def test_dark_png_differs(self):
        outline = chain(["one", "two"])
        light, dark = (drawn(outline, theme=theme) for theme in ("light", "dark"))
        assert light.content("a.png") != dark.content("a.png")

    def test_empty(self):
        nothing = Outline((), (), np.zeros((0, 0), bool), np.zeros((0, 0), np.int64), 4)
        drawing = drawn(nothing)
        assert [box.name for box in drawing.picture.boxes] == ["start", "end"]
        assert "no step" in drawing.picture.texts[0].text
        assert "a" in drawn(nothing, telling=["a"]).picture.texts[0].text
        assert drawing.content("a.png").startswith(b"\x89PNG")
        check_places(drawing.picture)

    def test_one_step(self):
        drawing = drawn(chain(["wait"]))
        assert [box.name for box in drawing.picture.boxes] == ["start", "wait", "end"]
        assert repr(drawing) == "Drawing(1 steps, 2 links)"

    def test_notebooks_show_it(self):
        script = el.examples.doorbell()
        drawing = script.draw()
        assert drawing._repr_svg_() == drawing.svg
        html = script_html(script)
        assert drawing.svg in html
        assert "Script(10 states, 16 edges, 10 events)" in html
        parsed(html)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"theme": "blue"}, "theme is 'blue'"),
            ({"title": 3}, "title is 3"),
            ({"path": "picture.gif"}, "picture.gif: cannot draw a file of the kind .gif"),
            ({"path": "picture"}, r"without suffix \(name it .svg or .png\)"),
            ({"path": "picture.pdf"}, "kind .pdf .*a browser prints an .svg as PDF"),
            ({"path": "no/such/folder/a.svg"}, "cannot be written"),
        ],
    )
    def test_wrong_options(self, options, message):
        with pytest.raises(InputError, match=message):
            drawn(tea(), **options)

    def test_a_script_is_drawn_by_its_outline(self, tmp_path):
        script = el.examples.doorbell()
        drawing = script.draw(tmp_path / "a.svg", telling=["open door"])
        assert "unsaid" in drawing.svg
        assert (tmp_path / "a.svg").read_text(encoding="utf-8") == drawing.svg
        with pytest.raises(UnknownEventError, match="unknown event 'dance'"):
            script.draw(telling=["dance"])
        assert script.draw(telling=["dance"], unknown="ignore").picture.boxes[1].state == "unsaid"

    def test_a_png_is_twice_as_large_as_its_svg(self):
        drawing = drawn(tea())
        content = drawing.content("a.png")
        width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
        assert width == pytest.approx(2 * drawing.picture.width, abs=2)
        assert height == pytest.approx(2 * drawing.picture.height, abs=2)

    def test_a_png_has_letters(self):
        names = ("boil water", "         i")
        one, other = (drawn(chain([name]), title="").content("a.png") for name in names)
        assert one != other

    def test_without_resvg_a_png_says_what_to_install(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "resvg_py", None)
        path = tmp_path / "a.png"
        with pytest.raises(InputError, match=r'needs resvg-py.*pip install "elision\[draw\]"'):
            drawn(tea(), path=path)
        assert not path.exists()
        drawn(tea(), path=tmp_path / "a.svg")

    def test_without_fonts_a_png_is_refused(self, monkeypatch):
        bare = functools.partial(resvg_py.svg_to_bytes, skip_system_fonts=True)
        monkeypatch.setattr(resvg_py, "svg_to_bytes", bare)
        draw._has_letters.cache_clear()
        with pytest.raises(InputError, match="needs a font, and none is installed"):
            drawn(tea()).content("a.png")
        draw._has_letters.cache_clear()

    def test_pictures_too_large_for_a_png(self, monkeypatch):
        monkeypatch.setattr(draw, "LARGEST", 1000)
        with pytest.raises(InputError, match=r"too large for a PNG \(draw an .svg\)"):
            drawn(tea()).content("a.png")


def luminance(colour):
    channels = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_have_contrast(colours):
    for ground in ("paper", "box", "step", "frame", "told", "unsaid", "astray"):
        assert contrast(colours["ink"], colours[ground]) >= 7
        assert contrast(colours["soft"], colours[ground]) >= 4.5
    for part in ("told", "unsaid", "astray"):
        assert contrast(colours[f"{part}-line"], colours[part]) >= 4.5
        assert contrast(colours[f"{part}-line"], colours["paper"]) >= 3
    assert contrast(colours["bar"], colours["step"]) >= 3
    assert contrast(colours["outline"], colours["paper"]) >= 3
