"""All questions: who answers each."""

from __future__ import annotations

from typing import NamedTuple


class Answerers(NamedTuple):
    """Functions as "module:name", below `elision.ask`; all are called with the script first."""

    script: str
    telling: str | None = None
    outline: str | None = None


QUESTIONS = {
    "log_probs": Answerers("score:log_probs", "telling.ahead:log_probs"),
    "fill": Answerers("fill:fill", "telling.gaps:fill"),
    "fill_many": Answerers("fill:fill_many", "telling.gaps:fill_many"),
    "joint": Answerers("joint:fill_joint", "telling.gaps:fill_joint"),
    "anywhere": Answerers("anywhere:fill_anywhere", "telling.gaps:fill_anywhere"),
    "missing": Answerers("missing:missing", "telling.missing:missing"),
    "next": Answerers("following:following", "telling.ahead:following"),
    "resolve": Answerers("resolve:resolve", "telling.gaps:resolve"),
    "order": Answerers("order:order"),
    "tellings": Answerers("sample:tellings", "telling.ahead:tellings"),
    "conform": Answerers("score:conform", "telling.conformance:conform"),
    "evidence": Answerers("engine.evidence:evidence_of", "telling.evidence:evidence_of"),
    "gap_chances": Answerers("engine.chances:gap_chances", "telling.gaps:chances_of_gaps"),
    "anywhere_chances": Answerers(
        "engine.chances:anywhere_chances", "telling.gaps:chances_anywhere"
    ),
    "missing_chances": Answerers(
        "engine.chances:missing_chances", "telling.missing:chances_missing"
    ),
    "next_chances": Answerers("engine.chances:next_chances", "telling.ahead:chances_next"),
    "between": Answerers("between:between", outline="outlined:between"),
    "between_many": Answerers("between:between_many", outline="outlined:between_many"),
    "stories": Answerers("sample:stories"),
    "align": Answerers("align:align", outline="outlined:align"),
    "posterior": Answerers("posterior:posterior", outline="outlined:posterior"),
    "compare": Answerers("compare:compare"),
}
"""Every question: those that a telling model answers are about tellings, the rest about silence."""
