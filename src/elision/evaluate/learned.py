"""What is learned for a measurement: a script, from events or from sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision import text
from elision.pipeline.learning import make_learner

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
    extractor = None
    if not train.has_events:
        extractor = text.extract.EventExtractor()
        train = extractor.fit_transform(train)
    learner = make_learner(method, events=events, random_state=seed).fit(train.events)
    found = learner.script_
    return found if extractor is None else found.annotated(extractor=extractor.to_dict())
