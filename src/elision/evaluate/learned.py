"""What is learned for a measurement: a script, from events or from sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision.learn.learner import ScriptLearner
from elision.pipeline.learning import Told, as_events, make_learner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.values.corpus import Corpus
    from elision.values.script import Script


def learn(train: Corpus, seed: int, method: str, *, events: Sequence[str] | None = None) -> Script:
    """Learn from the tellings of one domain; sentences are turned into events first.

    Parameters
    ----------
    train
        The tellings.
    seed
        Seed of the learner.
    method
        Its name, see `elision.pipeline.learning.METHODS`.
    events
        The vocabulary, if it is larger than what the tellings tell.

    Returns
    -------
    Script
        What can be asked; with the extractor in its notes if it was learned from sentences.
    """
    told = Told(train.events) if train.has_events else as_events(train)
    learner = make_learner(method, events=events, random_state=seed)
    if isinstance(learner, ScriptLearner):
        learner.fit(told.events, heard=told.heard, words=told.words)
    else:
        learner.fit(told.events)
    return learner.script_.annotated(**told.notes(""))
