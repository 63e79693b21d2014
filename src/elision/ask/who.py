"""Who answers a question: the one place that decides.

What is asked about tellings goes to the telling model, where a script has one; what happened in
silence to the outline that it was made from. A script with neither answers everything itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elision.ask.declared import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from elision.values.script import Script


def who(script: Script, question: str) -> Callable[..., Any]:
    """Return what answers a question put to a script.

    Examples
    --------
    >>> import elision as el
    >>> who(el.examples.doorbell(), "fill").__module__
    'elision.ask.fill'
    >>> learned = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
    >>> who(learned, "fill").__module__, who(learned, "between").__module__
    ('elision.ask.telling.gaps', 'elision.ask.outlined')
    """
    by_script, by_telling, by_outline = QUESTIONS[question]
    chosen = by_telling if script.telling is not None else None
    if chosen is None and script.made_from is not None:
        chosen = by_outline
    module, name = (chosen or by_script).split(":")
    answerer: Callable[..., Any] = getattr(import_module(f"elision.ask.{module}"), name)
    return answerer
