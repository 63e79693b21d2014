"""The tellings to begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

import elision as el
from elision.pipeline.learning import as_events
from elision.serve.describe import examples
from elision.serve.lines import understood
from elision.serve.shelf import Held
from elision.show.overlay import out_of_order
from elision.values.outline import steps_told

TELLINGS = Path(el.__file__).with_name("data") / "tellings.jsonl"


@pytest.mark.parametrize("domain", ["changing a light bulb", "making tea"])
def test_the_usual_one_keeps_to_the_order_and_nothing_is_odd_about_it(domain: str) -> None:
    spoken = (one.steps for one in el.read(TELLINGS).domain(domain))
    heard = as_events(el.Corpus(el.Narrative(None, steps, domain) for steps in spoken))
    script = el.ScriptLearner(wording=heard.wording).fit(heard.events).script_
    held = Held("it", domain, script)
    usual, gap, odd = examples(held)
    assert usual.title == "a usual one"
    told = [one.heard for one in understood(held, usual.telling)]
    outline = script.outline()
    assert not out_of_order(outline, steps_told(outline, told))
    (found,) = script.conform([told])
    assert (found.odd, found.flags, found.late) == (False, (), ())
    assert gap.telling.count("?") == 1
    assert sorted(odd.telling) == sorted(usual.telling)
    assert script.conform([[one.heard for one in understood(held, odd.telling)]])[0].odd
