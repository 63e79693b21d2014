"""Pictures of scripts: what is chosen, where it stands, and the files that are written."""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from functools import partial
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
from elision.errors import InputError, UnknownEventError
from elision.show import words
from elision.show._boxes import font
from elision.show._labels import label_box, overlapping
from elision.show.draw import draw as draw_any
from elision.show.flow import EDGES_A_STATE, MOST_STATES, flow, select
from elision.show.layout import Box, Link, layout
from elision.show.notebook import script_html
from elision.show.overlay import overlay
from elision.show.picture import WIDEST, picture
from elision.show.svg import DARK, FAINTEST, LIGHT, style, svg
from models import RTOL, events, models

draw = partial(draw_any, states=True)


def test_options_for_states_are_refused_for_outlines():
    for options in ({"min_share": 0.1}, {"direction": "TB"}):
        with pytest.raises(InputError, match="is for states"):
            draw_any(el.examples.doorbell(), **options)


def test_the_outline_is_drawn_unless_states_are_asked_for(tmp_path):
    drawing = draw_any(el.examples.doorbell(), tmp_path / "a.svg", telling=["open door"])
    assert "unsaid" in drawing.svg
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == drawing.svg
    with pytest.raises(InputError, match="dance"):
        draw_any(el.examples.doorbell(), telling=["dance"])


SVG = "{http://www.w3.org/2000/svg}"
ROUNDED = 0.15
"""Places in a picture are rounded to a tenth of a pixel."""

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "]]></style><!-- -->",
    "x" * 10_000,
    "a\x00b\x1b[31m\x85c",
    "turned \u202e round \u2066",
    "שלום עולם",
    "水を飲む" * 30,
    "👩\u200d👩\u200d👧 🎂🏽",
    "zal" + "\u0301" * 200 + "go",
    "\ufffe\uffff",
    "\u200d",
    "two\nlines\r\n\tof it",
    "$\\frac{1}{2}$ &amp; &lt;",
    "<eps>",
    "end",
    "12",
)


def parsed(text):
    return ET.fromstring(text)  # noqa: S314 - we wrote it


def script_of(model):
    transition, emission, elision = model
    return el.Script(events(emission.shape[1]), transition, emission, elision)


def chain(names, silence=0.3):
    """States one after the other, each telling one event."""
    count = len(names)
    transition = np.eye(count + 2, k=1)
    emission = np.zeros((count + 2, count))
    emission[1:-1] = np.eye(count) * (1 - silence)
    return el.Script(names, transition, emission, [0, *[silence] * count, 0])


def learned_like(size, seed):
    """A random script of the kind that learning ends with: few edges a state, smooth events."""
    rng = np.random.default_rng(seed)
    transition = np.zeros((size, size))
    for k in range(size - 1):
        targets = np.unique(np.minimum(k + 1 + rng.geometric(0.35, 3) - 1, size - 1))
        transition[k, targets] = rng.random(len(targets)) + 0.05
        if k > 0 and rng.random() < 0.15:
            transition[k, k] = 0.2
    for k in range(1, size - 1):
        if not transition[:k, k].any():
            transition[k - 1, k] = 0.3
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    emission = rng.dirichlet(np.full(20, 0.2), size) * 0.85
    elision = np.full(size, 0.15)
    emission[[0, -1]] = elision[[0, -1]] = 0
    names = [
        f"take_the_{word}_{n}" for n, word in enumerate(("pot", "kettle", "saucepan", "tea") * 5)
    ]
    return el.Script(names, transition, emission, elision)


# ------------------------------------------------------------------------------------------------
# Flow and selection
# ------------------------------------------------------------------------------------------------


@given(models(most_states=6))
def test_flow_is_the_fundamental_matrix(model):
    transition = model[0]
    fundamental = np.linalg.inv(np.eye(len(transition)) - transition)
    found = flow(script_of(model))
    np.testing.assert_allclose(found.visits, fundamental[0], rtol=RTOL)
    np.testing.assert_allclose(found.chance, fundamental[0] / np.diag(fundamental), rtol=RTOL)


@given(models(most_states=6), st.floats(0.0, 1.0))
def test_hidden_states_are_summed_out(model, min_share):
    script = script_of(model)
    chosen = select(script, min_share=min_share)
    shown = list(chosen.states)
    hidden = [k for k in range(script.size) if k not in shown]
    T = model[0]
    through = np.linalg.inv(np.eye(len(hidden)) - T[np.ix_(hidden, hidden)])
    exact = T[np.ix_(shown, shown)] + T[np.ix_(shown, hidden)] @ through @ T[np.ix_(hidden, shown)]
    np.testing.assert_allclose(exact[:-1].sum(axis=1), 1, rtol=RTOL)
    for one in chosen.passages:
        expected = exact[shown.index(one.source), shown.index(one.target)]
        np.testing.assert_allclose(one.probability, expected, rtol=1e-9)
        np.testing.assert_allclose(one.flow, chosen.flow.visits[one.source] * expected, rtol=1e-9)
    assert chosen.hidden_states == len(hidden)


@given(models(most_states=6), st.one_of(st.none(), st.floats(0.0, 1.0)))
def test_every_shown_state_has_a_way_in_and_out(model, min_share):
    chosen = select(script_of(model), min_share=min_share)
    onward = [(one.source, one.target) for one in chosen.passages if one.source != one.target]
    assert {target for _, target in onward} == set(chosen.states[1:])
    assert {source for source, _ in onward} == set(chosen.states[:-1])
    assert all(source < target for source, target in onward)


@given(models(most_states=5))
def test_nothing_is_hidden_at_zero(model):
    script = script_of(model)
    chosen = select(script, min_share=0)
    edges = {(one.source, one.target) for one in chosen.passages}
    assert edges == set(zip(*np.nonzero(script.transition), strict=True))
    assert chosen.hidden_states == chosen.hidden_edges == 0


@given(models(most_states=6), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_a_higher_threshold_shows_no_more_states(model, one, other):
    script = script_of(model)
    low, high = sorted((one, other))
    assert set(select(script, min_share=high).states) <= set(select(script, min_share=low).states)


@pytest.mark.parametrize("seed", range(3))
def test_large_scripts_are_cut_to_what_can_be_read(seed):
    script = learned_like(70, seed)
    found = picture(script)
    assert len(found.nodes) <= MOST_STATES + 2
    assert len(found.edges) <= EDGES_A_STATE * len(found.nodes) + 1
    assert found.width <= WIDEST + 1
    assert found.hidden_states == script.size - len(found.nodes) > 0
    assert f"{found.hidden_states} rare states" in svg(found)


def test_usual_states_are_not_hidden_as_rare():
    found = picture(chain([f"step {n}" for n in range(30)]))
    assert found.hidden_states == 0
    crowd = svg(picture(chain([f"step {n}" for n in range(100)])))
    assert "60 states and 61 edges hidden" in crowd
    assert "rare" not in crowd


def test_states_too_rare_for_floating_point_keep_their_ways():
    size = 202
    transition = np.zeros((size, size))
    for k in range(size - 1):
        transition[k, k + 1], transition[k, -1] = 1e-3, 1 - 1e-3
    transition[size - 2] = 0
    transition[size - 2, -1] = 1
    emission = np.zeros((size, 1))
    emission[1:-1] = 1
    script = el.Script(["a"], transition, emission, np.zeros(size))
    chosen = select(script, min_share=0)
    assert len(chosen.passages) == np.count_nonzero(transition)


@pytest.mark.parametrize("min_share", [-0.1, 1.5, float("nan"), "much", None])
def test_min_share_is_checked(min_share):
    script = el.examples.doorbell()
    if min_share is None:
        assert select(script).hidden_states == 0
        return
    with pytest.raises(InputError, match=r"min_share is .*expected a number from 0 to 1"):
        draw(script, min_share=min_share)


# ------------------------------------------------------------------------------------------------
# Layout
# ------------------------------------------------------------------------------------------------


@st.composite
def graphs(draw):
    """Sizes and links of a graph without circles, the first box before all, the last after all."""
    count = draw(st.integers(2, 14))
    random = draw(st.randoms(use_true_random=False))
    links = {}
    for k in range(1, count):
        links[random.randrange(k), k] = random.random()
    for k in range(count - 1):
        links[k, random.randrange(k + 1, count)] = random.random()
    for _ in range(draw(st.integers(0, 2 * count))):
        j, k = sorted(random.sample(range(count), 2))
        links[j, k] = random.random()
    sizes = [(random.uniform(30, 130), random.uniform(20, 120)) for _ in range(count)]
    loops = [k for k in range(1, count - 1) if random.random() < 0.2]
    return sizes, [Link(j, k, weight) for (j, k), weight in sorted(links.items())], loops


def points_along(curve, each=9):
    for start in range(0, len(curve) - 1, 3):
        a, b, c, d = (np.array(point) for point in curve[start : start + 4])
        for t in np.linspace(0, 1, each):
            s = 1 - t
            yield s**3 * a + 3 * s * s * t * b + 3 * s * t * t * c + t**3 * d


def distance_to_border(point, box):
    x, y = point
    sides = (
        abs(x - box.x) if box.y - ROUNDED <= y <= box.y + box.height + ROUNDED else np.inf,
        abs(x - box.x - box.width)
        if box.y - ROUNDED <= y <= box.y + box.height + ROUNDED
        else np.inf,
        abs(y - box.y) if box.x - ROUNDED <= x <= box.x + box.width + ROUNDED else np.inf,
        abs(y - box.y - box.height)
        if box.x - ROUNDED <= x <= box.x + box.width + ROUNDED
        else np.inf,
    )
    return min(sides)


def inside(point, box, slack=ROUNDED):
    x, y = point
    return (
        box.x + slack < x < box.x + box.width - slack
        and box.y + slack < y < box.y + box.height - slack
    )


@settings(max_examples=150)
@given(graphs(), st.integers(1, 8), st.booleans(), st.sampled_from([150.0, 700.0]))
def test_layout_keeps_boxes_apart_and_lines_off_them(graph, columns, down, breadth):
    sizes, links, loops = graph
    found = layout(sizes, links, loops=loops, columns=columns, down=down, breadth=breadth)
    assert [(round(w, 6), round(h, 6)) for _, _, w, h in found.boxes] == [
        (round(w, 6), round(h, 6)) for w, h in sizes
    ]
    for k, box in enumerate(found.boxes):
        assert box.x >= -1e-6
        assert box.y >= -1e-6
        assert box.x + box.width <= found.width + 1e-6
        assert box.y + box.height <= found.height + 1e-6
        assert not any(overlapping(box, other) for other in found.boxes[:k])
    for link, curve in zip(links, found.curves, strict=True):
        assert len(curve) % 3 == 1
        assert distance_to_border(curve[0], found.boxes[link.source]) < 1e-6
        assert distance_to_border(curve[-1], found.boxes[link.target]) < 1e-6
        for point in points_along(curve):
            assert not any(inside(point, box) for box in found.boxes)
    for k in loops:
        assert distance_to_border(found.loops[k][0], found.boxes[k]) < 1e-6
        assert distance_to_border(found.loops[k][-1], found.boxes[k]) < 1e-6


@settings(max_examples=100)
@given(graphs(), st.integers(1, 30), st.booleans())
def test_links_never_go_back(graph, columns, down):
    sizes, links, _ = graph
    found = layout(sizes, links, columns=columns, down=down)
    axis = 1 if down else 0
    for link in links:
        source, target = found.boxes[link.source], found.boxes[link.target]
        ahead = target[axis] + target[axis + 2] / 2 - source[axis] - source[axis + 2] / 2
        beside = target[1 - axis] - source[1 - axis]
        assert ahead > 1e-6 or (abs(ahead) <= 1e-6 and beside > 0)


def test_enough_columns_keep_a_chain_in_one_line():
    links = [Link(k, k + 1, 1.0) for k in range(5)]
    found = layout([(50, 20)] * 6, links, columns=4)
    assert len({box.y for box in found.boxes}) == 1
    assert found.height == 20


# ------------------------------------------------------------------------------------------------
# Pictures
# ------------------------------------------------------------------------------------------------


def box_of(node):
    return Box(node.x, node.y, node.width, node.height)


def text_box(text, corner=(0.0, 0.0)):
    size, bold = font(text.role)
    wide = words.width(text.text, size, bold=bold)
    left = {"start": 0.0, "middle": -wide / 2, "end": -wide}[text.anchor]
    return Box(corner[0] + text.x + left, corner[1] + text.y - size * 0.75, wide, size * 0.75)


def check_picture(found):
    boxes = {node.state: box_of(node) for node in found.nodes}
    page = Box(0, 0, found.width, found.height)
    for state, box in boxes.items():
        assert not any(overlapping(box, other) for k, other in boxes.items() if k < state)
    for node in found.nodes:
        check_texts(node)
    for edge in found.edges:
        assert {edge.source, edge.target} <= set(boxes)
        assert distance_to_border(edge.curve[0], boxes[edge.source]) < ROUNDED
        assert distance_to_border(edge.curve[-1], boxes[edge.target]) < ROUNDED
        assert 0 < edge.probability <= 1
    labels = [label_box(edge.label) for edge in found.edges if edge.label]
    for number, label in enumerate(labels):
        assert not any(overlapping(label, other) for other in labels[:number])
        assert not any(overlapping(label, box) for box in boxes.values())
    keys = [Box(key.x, key.y, key.width, key.height) for key in found.keys]
    keys += [text_box(key.text) for key in found.keys]
    for number, part in enumerate(keys + [text_box(text) for text in found.texts]):
        assert not any(overlapping(part, box) for box in boxes.values())
        assert not any(overlapping(part, other) for other in keys[:number])
    for part in [*boxes.values(), *labels, *keys]:
        assert page.x <= part.x
        assert page.y <= part.y
        assert part.x + part.width <= page.width
        assert part.y + part.height <= page.height


def check_texts(node):
    frame = Box(0, 0, node.width, node.height)
    lines = [text_box(text) for text in node.texts]
    for number, line in enumerate(lines):
        assert line.x >= -1e-9
        assert line.y >= 0
        assert line.x + line.width <= frame.width + 1e-9, node.texts[number].text
        assert line.y + line.height <= frame.height
        assert not any(overlapping(line, other) for other in lines[:number])
    for bar in node.bars:
        part = Box(bar.x, bar.y, bar.width, bar.height)
        assert not any(overlapping(part, line) for line in lines)
        assert 0 <= bar.share <= 1


@settings(max_examples=150)
@given(models(most_states=7), st.sampled_from(["LR", "TB"]), st.sampled_from([None, 0.0, 0.2]))
def test_nothing_overlaps(model, direction, min_share):
    check_picture(
        picture(script_of(model), direction=direction, min_share=min_share, title="a " * 60)
    )


@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("size", [20, 45])
def test_nothing_overlaps_in_large_pictures(size, direction):
    script = learned_like(size, 1)
    check_picture(picture(script, direction=direction))
    check_picture(picture(script, direction=direction, min_share=0))


@pytest.mark.parametrize("direction", ["LR", "TB"])
def test_nothing_overlaps_with_hostile_names(direction):
    check_picture(picture(chain(HOSTILE), direction=direction, title=HOSTILE[3]))


def test_a_script_of_nothing_is_drawn():
    empty = el.Script([], [[0, 1], [0, 0]], np.zeros((2, 0)), [0, 0])
    silent = el.Script([], np.eye(3, k=1), np.zeros((3, 0)), [0, 1, 0])
    for script, states in ((empty, 0), (silent, 1)):
        found = picture(script)
        check_picture(found)
        assert len(found.nodes) == states + 2
        parsed(svg(found))


def test_boxes_say_what_states_tell():
    script = el.Script.build(
        states={
            "bring": {"carry": 0.5, "lift": 0.2, "push": 0.15, "pull": 0.01, None: 0.14},
            "stop": "stop",
        },
        edges={"start": {"bring": 1}, "bring": {"bring": 0.25, "stop": 0.75}, "stop": {"end": 1}},
    )
    bring, stop = picture(script).nodes[1:-1]
    said = [(text.text, text.role) for text in bring.texts]
    assert said[0] == ("bring", "name")
    assert ("carry", "event") in said
    assert ("50%", "percent") in said
    assert ("+ 1 more", "more") in said
    assert ("silent", "silent") in said
    assert ("14%", "silent") in said
    assert [name for name, _ in bring.events] == ["carry", "lift", "push"]
    assert bring.more == 1
    assert bring.visits == pytest.approx(4 / 3)
    assert bring.chance == 1
    # A state named after its event does not say it twice, and one never silent does not say so.
    assert [text.text for text in stop.texts] == ["stop", "100%"]
    loop = next(edge for edge in picture(script).edges if edge.source == edge.target)
    assert loop.label.text == "25%"
    assert loop.flow == pytest.approx(1 / 3)


def test_thickness_grows_with_flow():
    found = picture(el.examples.doorbell())
    ranked = sorted(found.edges, key=lambda edge: edge.flow)
    assert [edge.thickness for edge in ranked] == sorted(edge.thickness for edge in ranked)
    assert ranked[0].thickness < ranked[-1].thickness


def test_gaps_of_an_outline_are_the_elision():
    for silence in (0.1, 0.3, 0.8):
        root = parsed(draw(chain(["a", "b"], silence)).svg)
        boxes = root.findall(f".//{SVG}g[@data-state='1']/{SVG}rect")
        dash, gap = map(float, boxes[0].get("stroke-dasharray").split())
        assert gap / (dash + gap) == pytest.approx(silence, abs=0.01)
    root = parsed(draw(chain(["a", "b"], 0.0)).svg)
    assert not any(
        "stroke-dasharray" in node.attrib
        for node in root.findall(f".//{SVG}g[@data-state]/{SVG}rect")
    )


def test_a_picture_is_json():
    found = picture(learned_like(20, 3), telling=None).to_dict()
    again = json.loads(json.dumps(found))
    assert len(again["nodes"]) == len(found["nodes"])
    assert again["edges"][0]["curve"][0] == list(found["edges"][0]["curve"][0])


@pytest.mark.parametrize("options", [{"direction": "RL"}, {"theme": "blue"}, {"title": 3}])
def test_options_are_checked(options):
    with pytest.raises(InputError, match=next(iter(options))):
        draw(el.examples.doorbell(), **options)


# ------------------------------------------------------------------------------------------------
# A telling laid over
# ------------------------------------------------------------------------------------------------


def test_a_telling_is_laid_over():
    script = el.examples.doorbell()
    found = picture(script, telling=["hear doorbell", None, "open door", "take parcel"])
    check_picture(found)
    parts = {node.name: node.part for node in found.nodes if node.part}
    assert parts == {
        "hear doorbell": "told",
        "walk to door": "filled",
        "open door": "told",
        "take parcel": "told",
        "close door": "silent",
    }
    notes = {node.name: node.texts[-1].text for node in found.nodes if node.part}
    assert notes["hear doorbell"] == "told (1)"
    assert notes["walk to door"] == "fills gap (2)"
    assert notes["close door"] == "left unsaid"
    taken = sorted((edge.source, edge.target) for edge in found.edges if edge.taken)
    steps = [0, *(k for k, name in enumerate(script.states) if name in parts), script.size - 1]
    assert taken == list(pairwise(steps))
    assert {"told", "silent", "filled"} <= {key.sign for key in found.keys}


@given(models(most_states=5, most_events=3), st.integers(0, 2**32 - 1))
def test_the_path_is_shown_whole_whatever_the_threshold(model, seed):
    script = script_of(model)
    rng = random.Random(seed)
    state, telling = 0, []
    while state != script.size - 1:
        state = rng.choices(range(script.size), script.transition[state])[0]
        told = rng.choices(
            [*script.events, None], [*script.emission[state], script.elision[state] + 1e-300]
        )[0]
        telling += [told] if told else []
    path = overlay(script, telling)
    found = picture(script, telling=telling, min_share=1.0)
    shown = {(edge.source, edge.target) for edge in found.edges if edge.taken}
    assert set(path.edges) == shown
    told = sorted(place for role in path.roles.values() for place in role.places)
    assert told == [*range(1, len(telling) + 1)]
    check_picture(found)


def test_a_loop_tells_several_events():
    script = el.Script.build(
        states={"stir": {"stir": 0.9, None: 0.1}},
        edges={"start": {"stir": 1}, "stir": {"stir": 0.5, "end": 0.5}},
    )
    node = picture(script, telling=["stir"] * 3).nodes[1]
    assert node.places == (1, 2, 3)
    assert node.texts[-1].text == "told (1–3)"


def test_an_uncertain_event_is_the_likeliest_one():
    script = el.examples.doorbell()
    heard = {"take parcel": 0.4, "sign for parcel": 0.1, "dance": 0.5}
    path = overlay(script, ["open door", heard], unknown="ignore")
    told = {script.states[k]: role for k, role in path.roles.items() if role.part == "told"}
    assert [script.events[o] for o in told["take parcel"].events] == ["take parcel"]


def test_tellings_that_cannot_be_laid_over():
    script = el.examples.doorbell()
    with pytest.raises(InputError, match="cannot tell this narrative"):
        draw(script, telling=["close door", "hear doorbell"])
    with pytest.raises(UnknownEventError, match="unknown event 'dance'"):
        draw(script, telling=["dance"])
    assert draw(script, telling=["dance"], unknown="ignore").picture.nodes[1].part == "silent"


# ------------------------------------------------------------------------------------------------
# Words
# ------------------------------------------------------------------------------------------------


@given(st.text(st.characters(codec="utf-8")))
def test_clean_names_are_harmless(name):
    text = words.cleaned(name)
    assert text
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text)
    parsed(f"<a>{text.replace('&', '').replace('<', '').replace('>', '')}</a>")
    assert words.cleaned(text) == text


@given(st.text(st.characters(codec="utf-8"), max_size=80), st.floats(40, 200), st.integers(1, 3))
def test_lines_fit(name, room, lines):
    text = words.cleaned(name)
    found = words.wrapped(text, room, 12.0, lines=lines)
    assert 1 <= len(found) <= lines
    assert all(words.width(line, 12.0) <= room for line in found)
    whole = "".join(found).replace(" ", "")
    if not whole.endswith(words.ELLIPSIS):
        assert whole == text.replace(" ", "")
    else:
        assert text.replace(" ", "").startswith(whole[:-1])


def test_a_share_is_not_broken_where_its_space_can_be():
    text = "W Valideren aanvraag\N{NO-BREAK SPACE}16%"
    assert words.wrapped(text, 90, 12.0, lines=4)[-2:] == ["aanvraag", "16%"]
    assert words.wrapped(text, 140, 12.0, lines=4)[-1] == "aanvraag\N{NO-BREAK SPACE}16%"


def test_widths_are_not_below_those_of_a_wide_font():
    pytest.importorskip("matplotlib")
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    letters = [chr(code) for code in range(32, 127)]
    rng = random.Random(0)
    samples = letters + ["".join(rng.choices(letters, k=12)) for _ in range(50)]
    for weight in ("normal", "bold"):
        wide = FontProperties(family="DejaVu Sans", weight=weight, size=100)
        for text in samples:
            actual = text_to_path.get_text_width_height_descent(text.replace("$", "0"), wide, False)
            assert words.width(text, 100, bold=weight == "bold") >= actual[0] * 0.97, text


# ------------------------------------------------------------------------------------------------
# SVG
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_hostile_names_stay_text(theme):
    script = chain(HOSTILE)
    telling = list(HOSTILE[:5])
    drawing = draw(script, telling=telling, title=HOSTILE[0] + "\u202e", theme=theme)
    root = parsed(drawing.svg)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "g", "rect", "path", "text", "title", "style"}
    for element in root.iter():
        assert not any(name.startswith("on") or name in ("id", "href") for name in element.attrib)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", drawing.svg)
    assert "x" * 10_000 in "".join(title.text for title in root.iter(f"{SVG}title"))
    longest = max((text.text for text in root.iter(f"{SVG}text")), key=len)
    assert len(longest) < 200
    assert longest.count("x") < 60


def test_elements_carry_what_a_page_needs():
    script = el.examples.doorbell()
    found = picture(script, telling=["hear doorbell", "open door"])
    root = parsed(svg(found))
    assert root.get("role") == "img"
    assert "walk to door" in root.get("aria-label")
    nodes = {node.get("data-state"): node for node in root.iter() if node.get("data-state")}
    assert sorted(map(int, nodes)) == list(range(script.size))
    edges = root.findall(f"./{SVG}g[@class='edges']/{SVG}g")
    assert len(edges) == len(found.edges)
    for edge in [*edges, *root.findall(f"./{SVG}g[@class='labels']/{SVG}g")]:
        source, target = int(edge.get("data-source")), int(edge.get("data-target"))
        probability = script.transition[source, target]
        assert float(edge.get("data-probability")) == pytest.approx(probability, rel=1e-5)
        assert 0 < float(edge.get("data-flow")) <= 1
    for element in [*nodes.values(), *edges]:
        assert element.find(f"{SVG}title").text
    classes = Counter(name for node in nodes.values() for name in node.get("class").split())
    assert classes["told"] == 2
    assert classes["silent"] == 3
    assert sum("taken" in edge.get("class").split() for edge in edges) == 6


def test_same_script_same_bytes():
    script = learned_like(45, 2)
    assert draw(script).svg == draw(learned_like(45, 2)).svg
    assert draw(script, direction="TB").svg != draw(script).svg


def test_style_can_be_left_to_the_page():
    found = picture(el.examples.doorbell())
    assert style() in svg(found)
    assert "<style>" not in svg(found, styled=False)
    assert "prefers-color-scheme" in style()
    assert "var(" not in style("light") + style("dark")
    used = set(re.findall(r"var\(--elision-([a-z-]+)\)", style()))
    assert used == set(LIGHT) == set(DARK)


def luminance(colour):
    channels = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mixed(colour, ground, opacity):
    parts = [
        round(int(colour[at : at + 2], 16) * opacity + int(ground[at : at + 2], 16) * (1 - opacity))
        for at in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in parts)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_have_contrast(colours):
    for ground in ("paper", "box", "told", "silent", "filled"):
        assert contrast(colours["ink"], colours[ground]) >= 7
        assert contrast(colours["soft"], colours[ground]) >= 4.5
        assert contrast(colours["bar"], colours[ground]) >= 3
    for part in ("told", "silent", "filled"):
        assert contrast(colours[f"{part}-line"], colours[part]) >= 4.5
        assert contrast(colours[f"{part}-line"], colours["paper"]) >= 3
    assert contrast(mixed(colours["edge"], colours["paper"], FAINTEST), colours["paper"]) >= 3
    assert contrast(colours["outline"], colours["paper"]) >= 3


# ------------------------------------------------------------------------------------------------
# Files and notebooks
# ------------------------------------------------------------------------------------------------


def test_files_by_suffix(tmp_path):
    pytest.importorskip("matplotlib")
    script = el.examples.doorbell()
    drawing = draw(script, tmp_path / "a.SVG", telling=["hear doorbell", None])
    assert (tmp_path / "a.SVG").read_text(encoding="utf-8") == drawing.svg
    drawing.save(tmp_path / "a.png")
    drawing.save(tmp_path / "a.pdf")
    png, pdf = (tmp_path / "a.png").read_bytes(), (tmp_path / "a.pdf").read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    assert width == pytest.approx(2 * drawing.picture.width, abs=2)
    assert height == pytest.approx(2 * drawing.picture.height, abs=2)
    assert pdf.startswith(b"%PDF-")
    assert drawing.content("a.png") == png
    assert drawing.content("a.pdf") == pdf
    assert draw(script, theme="dark").content("a.png") != draw(script).content("a.png")


def test_hostile_names_as_png():
    pytest.importorskip("matplotlib")
    drawing = draw(chain(HOSTILE), title=HOSTILE[13])
    assert drawing.content("a.png").startswith(b"\x89PNG")
    assert drawing.content("a.pdf").startswith(b"%PDF")


def test_missing_matplotlib_names_the_cure(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path = tmp_path / "a.png"
    with pytest.raises(InputError, match=r'PNG needs matplotlib.*pip install "elision\[draw\]"'):
        draw(el.examples.doorbell(), path)
    assert not path.exists()
    draw(el.examples.doorbell(), tmp_path / "a.svg")


def test_pictures_too_large_for_a_png(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("elision.show.raster.LARGEST", 1000)
    drawing = draw(el.examples.doorbell())
    with pytest.raises(InputError, match=r"too large for a PNG .* raise `min_share`"):
        drawing.content("a.png")


@pytest.mark.parametrize("name", ["a.jpg", "a", ".svg.zip"])
def test_other_suffixes_are_refused(tmp_path, name):
    with pytest.raises(InputError, match=r"name it \.svg, \.png or \.pdf"):
        draw(el.examples.doorbell(), tmp_path / name)
    assert not (tmp_path / name).exists()


def test_folders_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        draw(el.examples.doorbell(), tmp_path / "none" / "a.svg")


def test_notebooks_show_drawings():
    script = el.examples.doorbell()
    drawing = draw(script)
    assert drawing._repr_svg_() == drawing.svg
    assert repr(drawing) == "Drawing(10 states, 16 edges)"
    html = script_html(script)
    assert draw_any(script).svg in html
    assert "Script(10 states, 16 edges, 10 events)" in html
    parsed(html)
