"""Questions in sentences, to a script that was learned from some."""

from __future__ import annotations

import pytest

import elision as el
from elision.ask.heard import hear
from elision.ask.sentences import taken_for
from elision.text.prose import said

TELLINGS = [["hear the bell", "walk to the door", "open the door"]] * 6


@pytest.fixture(scope="module")
def script():
    extractor = el.EventExtractor("wordnet")
    events = extractor.fit_transform(TELLINGS)
    learned = el.SEMHMM(score="marginal", random_state=0).fit(events).script_
    return learned.annotated(extractor=extractor.to_dict())


def test_a_sentence_stands_for_its_events(script):
    heard = hear(script, ["he heard the bell", None, "he opened the door"])
    assert heard.positions == [0, 1, 2]
    first, gap, last = heard.items
    assert gap is None
    assert set(first) <= set(script.events)
    assert max(first, key=first.get) != max(last, key=last.get)


def test_every_question_takes_sentences(script):
    asked = ["he heard the bell", None, "he opened the door"]
    (filling,) = script.fill(asked, top=1)
    walk = script.events[[("walk" in event) for event in script.events].index(True)]
    assert filling.answers[0].event == walk
    assert filling.position == 1
    assert script.fill(asked, joint=True).answers[0].events == (walk,)
    (both,) = script.fill_many([asked], top=1)
    assert both == [filling]
    assert len(script.between(["he heard the bell", "he opened the door"]).told) == 2
    assert script.next(["he heard the bell"]).answers[0].event == walk
    assert script.align(asked).steps
    assert script.posterior(asked).told.shape[0] == 3
    assert [one.position for one in script.resolve(asked)] == [0, 1, 2]
    assert script.sample(1, random_state=0, given=asked)[0][1] in script.events


def test_questions_about_fit_and_order_take_sentences(script):
    told = ["he heard the bell", "he opened the door"]
    heard = [max(one, key=one.get) for one in hear(script, told).items]
    assert list(script.score(told, samples=10).told) == heard
    assert [one.told for one in script.conform([told], samples=10)] == [tuple(heard)]
    assert list(script.order(told[::-1]).events) == heard
    assert script.score(["xyzzy"], samples=10).flags[0].kind == "unknown"
    assert script.compare(script, samples=10) is not None
    assert "svg" in script.draw(telling=told).svg


def test_a_sentence_that_stands_for_nothing_is_said_to_be_unknown(script):
    told = ["he heard the bell", "xyzzy", None]
    unknown = "event 1: unknown sentence 'xyzzy'; nearest: "
    for ask in (script.fill, script.next, script.align, script.posterior, script.between):
        with pytest.raises(el.UnknownEventError, match=unknown):
            ask(told)
    heard = hear(script, told, unknown="ignore")
    assert heard.positions == [0, 2]
    assert list(heard.ignored) == [(1, "xyzzy")]
    assert script.fill(told, unknown="ignore")[0].position == 2
    assert script.align(told[:2], unknown="ignore").spurious == (1,)


def test_each_sentence_is_shown_with_what_it_is_taken_for(script):
    told = ["he heard the bell", None, script.events[0], "xyzzy"]
    first, last = taken_for(script, told)
    assert (first.position, first.sentence) == (0, told[0])
    assert first.event == max(hear(script, told[:1]).items[0].items(), key=lambda one: one[1])[0]
    assert 0.5 < first.share <= 1
    assert last[:5] == (3, "xyzzy", None, 0.0, False)


def test_what_did_not_happen_is_not_told(script):
    denied = "I did not open the door"
    first = "he heard the bell"
    for ask in (script.next, script.posterior):
        assert str(ask([first, denied])) == str(ask([first]))
    assert script.order([first, denied]).events == script.order([first]).events
    assert script.fill([first, denied, None])[0].answers == script.fill([first, None])[0].answers
    for unknown in ("ignore", "error"):
        heard = hear(script, [first, denied], unknown=unknown)
        assert heard.positions == [0]
        assert list(heard.ignored) == []
        assert heard.denied == {event for event in script.events if "open" in event}
    (taken,) = taken_for(script, [denied])
    assert taken[:5] == (0, denied, None, 0.0, True)
    assert script.score([first, denied], samples=10) == script.score([first], samples=10)
    follow = script.follow()
    follow.tell_all([first, denied])
    assert (follow.now().unknown, len(follow.told)) == ((), 1)


def test_of_a_sentence_only_what_happened_is_told(script):
    first, last = taken_for(script, ["he heard the bell but did not open the door"])
    assert first.event == taken_for(script, ["he heard the bell"])[0].event
    assert last[:5] == (0, "did not open the door", None, 0.0, True)


def test_a_sentence_that_tells_several_events_is_heard_as_several(script):
    both = "he heard the bell and walked to the door"
    apart = ["he heard the bell", "he walked to the door"]
    heard, separate = hear(script, [both, None]), hear(script, [*apart, None])
    assert heard.positions == [0, 0, 1]
    assert [max(one, key=one.get) for one in heard.items[:2]] == [
        max(one, key=one.get) for one in separate.items[:2]
    ]
    assert [(one.position, one.sentence) for one in taken_for(script, [both])] == [
        (0, "he heard the bell"),
        (0, "walked to the door"),
    ]
    assert script.fill([both, None], top=1)[0].position == 1
    told_twice = hear(script, ["he opened the door and opened the door wide"])
    assert len(told_twice.items) == 1


def test_an_event_may_be_told_as_a_denial():
    extractor = el.EventExtractor("wordnet")
    told = [["put the cake in the oven", "do not open the oven", "take out the cake"]] * 6
    learned = el.SEMHMM(random_state=0).fit(extractor.fit_transform(told)).script_
    script = learned.annotated(extractor=extractor.to_dict())
    (one,) = taken_for(script, ["I did not open the oven"])
    assert one.event == taken_for(script, ["do not open the oven"])[0].event
    assert "open" in one.event


def test_without_an_extractor_a_sentence_is_an_unknown_event():
    script = el.examples.doorbell()
    with pytest.raises(el.UnknownEventError, match="unknown event 'he heard"):
        script.fill(["he heard the bell", None])
    assert script.fill(["he heard the bell", None], unknown="ignore")[0].position == 1


class Vague:
    """An extractor that hears "vague" as several events, none of them more probable than not."""

    WEIGHTS = {"open door": 0.4, "close door": 0.3, "hear doorbell": 0.1, "say goodbye": 0.02}  # noqa: RUF012
    domains_: dict = {}  # noqa: RUF012

    def observe(self, sentences):
        return [self.WEIGHTS if "vague" in one else {"walk to door": 0.9} for one in sentences]


@pytest.fixture
def vague(monkeypatch):
    learned = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
    monkeypatch.setattr(type(learned), "extractor", Vague())
    return learned


def test_a_weak_match_is_said_to_be_uncertain_and_what_else_it_may_be(vague):
    sure, weak = taken_for(vague, ["he walked", "something vague"])
    assert (sure.meant, sure.uncertain, sure.others) == ("walk to door (90%)", False, ())
    assert weak.uncertain
    expected = "uncertain: open door (40%), close door (30%) or hear doorbell (10%)"
    assert weak.meant == expected
    story = vague.between(["hear doorbell", "something vague", "he walked"])
    assert story.told == ("hear doorbell", "open door?", "walk to door")


def test_no_alarm_rests_on_a_weak_match(vague):
    plain = vague.follow()
    assert [one.event for one in plain.tell_all(["open door", "walk to door"]).out_of_order] == [
        "walk to door"
    ]
    follow = vague.follow()
    now = follow.tell_all(["something vague", "he walked"])
    assert follow.told == ("open door", "walk to door")
    assert now.out_of_order == ()
    assert not now.alarms
    after = vague.follow()
    assert after.tell_all(["he walked", "close door", "something vague"]).out_of_order == ()
    skipped = {one.event for one in plain.undo().alarms} | {
        one.event for one in vague.follow().finish().alarms
    }
    assert "open door" in skipped
    weakly = vague.follow()
    weakly.tell_all(["he walked", "something vague"])
    assert "open door" not in {one.event for one in weakly.finish().alarms}
    assert weakly.story() == vague.between(["he walked", "something vague"])


@pytest.fixture(scope="module")
def bath():
    told = [["wash my hair", "cook the meal", "shave my legs", "dry the floor", "leave"]] * 6
    told += [["wash my hair", "cook the meal", "dry the floor", "leave"]] * 2
    extractor = el.EventExtractor("wordnet")
    learned = el.ScriptLearner().fit(extractor.fit_transform(told)).script_
    return learned.annotated(extractor=extractor.to_dict())


def event_of(script, sentence):
    (one,) = taken_for(script, [sentence])
    return one.event


def test_each_item_of_a_list_is_an_event_if_it_is_surely_another(bath):
    for told in (
        "Wash your hair, cook, shave and dry the floor.",
        "wash your hair, cook, shave, dry the floor",
        "I washed my hair, then cooked it, shaved and dried the floor",
    ):
        events = [event_of(bath, one) for one in ("I wash", "I cook", "I shave", "I dry it")]
        assert [one.event for one in taken_for(bath, [told])] == events
    assert len(taken_for(bath, ["wash your hair, face and feet"])) == 1


def test_what_was_done_without_something_is_heard_and_that_is_denied(bath):
    wash, dry = event_of(bath, "wash my hair"), event_of(bath, "dry the floor")
    for told in (
        "Without washing my hair I dried the floor.",
        "Dry the floor without washing hair.",
    ):
        heard = hear(bath, [told])
        assert [max(one, key=one.get) for one in heard.items] == [dry]
        assert heard.denied == {wash}
    assert not hear(bath, ["don't dry the floor without washing my hair"]).denied & {wash}


def test_what_something_was_done_without_does_not_speak_for_it(bath):
    (plain,) = hear(bath, ["I dried the floor"]).items
    for told in (
        "I dried the floor without a meal.",
        "I dried the floor, without any more meals",
        "Without a meal I dried the floor",
    ):
        heard = hear(bath, [told])
        assert heard.items == [plain]
        assert heard.items[0].words == plain.words
        assert not heard.denied
    (taken,) = taken_for(bath, ["I dried the floor without a meal."])
    assert taken.sentence == "I dried the floor without a meal."
    assert len(taken_for(bath, ["I dried the floor without a cloth and left"])) == 2


def test_what_is_said_not_to_have_happened_is_not_unsaid(bath):
    wash = event_of(bath, "wash my hair")
    told = ["cook the meal", "leave"]
    denied = [*told[:1], "I did not wash my hair", *told[1:]]

    def unsaid(story):
        return {step.event for gap in story.unsaid for step in gap}

    assert wash in unsaid(bath.between(told))
    assert unsaid(bath.between(denied)) == unsaid(bath.between(told)) - {wash}
    assert bath.between_many([denied])[0].unsaid == bath.between(denied).unsaid
    assert wash not in {step.state for step in bath.align(denied).steps}
    places = bath.missing(denied, min_probability=0).places
    assert wash not in {one.event for place in places for one in place}
    follow = bath.follow()
    follow.tell_all(denied)
    (skipped,) = (one for one in follow.finish().skipped if one.event == wash)
    assert skipped.done == 0


def test_what_is_said_not_to_have_happened_is_drawn_as_such(bath):
    wash = event_of(bath, "wash my hair")
    told = ["I did not wash my hair", "cook the meal and dry the floor", "leave"]

    def drawn(telling):
        return {box.name: box for box in bath.draw(telling=telling).picture.boxes}

    assert drawn(told[1:])[wash].state == "unsaid"
    boxes = drawn(told)
    assert (boxes[wash].state, boxes[wash].lines) == ("denied", (1,))
    lines = {name: box.lines for name, box in boxes.items() if box.state in ("told", "astray")}
    cook, dry = event_of(bath, "cook it"), event_of(bath, "dry it")
    assert lines == {cook: (2,), dry: (2,), "leave": (3,)}  # by the lines as they came
    assert drawn([*told, "I washed my hair"])[wash].lines == (4,)


def test_what_is_said_not_to_have_happened_fills_no_gap_and_does_not_come_next(bath):
    cook, never = event_of(bath, "cook the meal"), "I did not cook the meal"
    hair, gap = "wash my hair", [None, "dry the floor"]

    def named(answers):
        return {answer.event: answer.probability for answer in answers}

    plain = named(bath.fill([hair, *gap])[0].answers)
    left = named(bath.fill([hair, never, *gap])[0].answers)
    assert cook in plain
    assert left == pytest.approx(
        {event: p / (1 - plain[cook]) for event, p in plain.items() if event != cook}, rel=1e-9
    )
    many = bath.fill_many([[hair, *gap], [hair, never, *gap], [hair, *gap]])
    for one, expected in zip(many, [plain, left, plain], strict=True):
        assert named(one[0].answers) == pytest.approx(expected, rel=1e-9)
    joint = bath.fill([hair, never, *gap, None], joint=True).answers
    assert joint
    assert not any(cook in course.events for course in joint)
    placed = bath.fill([hair, never, "dry the floor"], anywhere=True).answers
    assert cook not in {one.event for one in placed}
    for found in (bath.next([hair, never]).steps[0], bath.follow().tell_all([hair, never])):
        following = found.answers if hasattr(found, "answers") else found.next
        assert cook not in {one.event for one in following if one.probability > 0}
        assert sum(one.probability for one in following) + found.ended == pytest.approx(1)
    assert cook in named(bath.next([hair]).answers)
    every = [f"I did not {told}" for told in ("wash", "cook", "shave", "dry the floor", "leave")]
    assert named(bath.fill([*every, None])[0].answers)  # something has to stand there


def test_a_remark_does_not_hide_the_sentence_beside_it(script):
    (alone,) = hear(script, ["She opened the door."]).items
    for remark in ("It was late.", "She was on the phone when the bell rang."):
        told = f"{remark} She opened the door."
        assert [part.kind for part in said(told)] == ["remark", "event"]
        assert hear(script, [told]).items == [alone]
    (bell,) = hear(script, ["There was a bell."]).items
    assert max(bell, key=bell.get) != max(alone, key=alone.get)
    assert hear(script, ["There was a bell. She opened the door."]).items == [bell, alone]
    assert [one.event for one in taken_for(script, ["It was late. It was cold."])] == [None]
