"""Scripts from packed corpora, into files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from elision.errors import InputError
from elision.learn.learner import ScriptLearner
from elision.pipeline.domains import DomainsError, tolerated
from elision.pipeline.learning import (
    LONGEST_NARRATIVE,
    Learned,
    Told,
    make_learner,
    saved,
    titled_paths,
)
from elision.scale.sampling import MOST_NARRATIVES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from elision.learn.sem import SEMHMM
    from elision.scale.packed_corpus import PackedCorpus


def learn_packed(
    corpora: Mapping[str, PackedCorpus],
    output: Path,
    *,
    only: str | None = None,
    title: str | None = None,
    folder: bool = False,
    method: str,
    settings: Mapping[str, Any],
) -> list[Learned]:
    """Learn and save a script for each packed corpus, or for the one of a domain.

    With one domain ``output`` is the script's file, with several, or if ``folder`` says so, a
    folder. A single domain is called by its ``title``, if there is one.
    """
    make_learner(method, **settings)  # complains before anything is done
    if only is not None and only not in corpora:
        known = ", ".join(map(repr, list(corpora)[:12]))
        raise InputError(f"no domain {only!r}; the domains are {known}")
    chosen = tuple(corpora) if only is None else (only,)
    paths = titled_paths(output, tuple(corpora), chosen, "-", title, folder=folder)
    found: list[Learned] = []
    failed: dict[str, str] = {}
    for domain in chosen:
        with tolerated(domain, failed, found, of=len(chosen)):
            learner = make_learner(method, **settings)
            found.append(_learned(title or domain, corpora[domain], learner, paths[domain]))
    if failed:
        raise DomainsError(found, failed, stopped=False)
    return found


def _learned(
    domain: str, corpus: PackedCorpus, learner: SEMHMM | ScriptLearner, path: Path
) -> Learned:
    if corpus.longest > LONGEST_NARRATIVE:
        raise InputError(
            f"a narrative of {corpus.longest} events, expected at most {LONGEST_NARRATIVE}",
            where=str(corpus.path),
            hint="cut it into episodes",
        )
    if isinstance(learner, ScriptLearner):
        learner.set_params(title=domain)
    learner.fit(corpus)  # type: ignore[arg-type]
    heard = Told(corpus.sample(MOST_NARRATIVES))
    learned = saved(domain, heard, learner, path)
    return replace(learned, narratives=corpus.narratives)
