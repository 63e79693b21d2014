"""Scripts for every domain of a corpus, into files, with progress and resuming."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from elision._files import file_names, shown_path, write_atomically
from elision._parallel import parallel
from elision._threads import batch
from elision.errors import ElisionError, InputError, counted, shown
from elision.files.script import dumps
from elision.learn import limits, outline
from elision.learn.learner import ScriptLearner, drawn
from elision.learn.observe import BatchDone
from elision.learn.scores import SCORES
from elision.learn.sem import BMM, BMMEM, SEMHMM
from elision.text.event_types import renamed
from elision.text.extract import EventExtractor
from elision.text.wording import content_words
from elision.values.observations import HeardSentence, likeliest_events
from elision.values.variants import Variants

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rich.progress import TaskID

    from elision.learn.counts import CountsModel
    from elision.learn.observe import Event, Stage
    from elision.text.hand import HandTypes
    from elision.values.corpus import Corpus
    from elision.values.script import Script

METHODS: dict[str, tuple[type[SEMHMM | ScriptLearner], dict[str, Any]]] = {
    "default": (ScriptLearner, {}),
    **{one.method: (SEMHMM, {"score": name}) for name, one in SCORES.items()},
    "bmm": (BMM, {}),
    "bmm-em": (BMMEM, {}),
}
"""Learners by the name that the command line gives them."""

DEFAULT = "default"
"""What ``elision learn`` uses unless told otherwise."""

WORDINGS = 3
"""Usual sentences of an event that are kept for a reader."""

LONGEST_NARRATIVE = 8192
"""Events in a narrative: it starts as a chain of states, and learning squares their number."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned for one domain; ``elision`` is the least, mean and largest rate.

    ``sample`` says how many of the narratives were learned from, if not all were.
    """

    domain: str
    path: Path
    narratives: int
    states: int
    edges: int
    elision: tuple[float, float, float]
    log_prob: float
    constraints: int
    violated: int
    sample: int | None = None

    def summary(self) -> dict[str, Any]:
        """The same for JSON."""
        return {**asdict(self), "path": str(self.path)}


def make_learner(method: str, **settings: Any) -> SEMHMM | ScriptLearner:
    """Make the learner of this name.

    Examples
    --------
    >>> make_learner("approx", batch_size=10)
    SEMHMM(batch_size=10, score='approx')
    """
    if method not in METHODS:
        raise InputError(f"method {method!r}, expected one of {', '.join(METHODS)}")
    kind, usual = METHODS[method]
    for name in settings:
        having = [one for one, (other, _) in METHODS.items() if name in other().get_params()]
        if method not in having:
            hint = f"use it with method {', '.join(having)}" if having else None
            raise InputError(f"{name} is no setting of method {method!r}", hint=hint)
    return kind(**{**usual, **settings})


class DomainsError(ElisionError):
    """Some domains could not be learned; the scripts of the others are written.

    Attributes
    ----------
    learned
        What was learned of the others.
    failed
        For each failing domain, what went wrong.
    """

    def __init__(self, learned: list[Learned], failed: dict[str, str]) -> None:
        self.learned, self.failed = learned, failed
        rest = "the others are learned" if learned else "no script was learned"
        super().__init__(f"{counted(len(failed), 'domain')} failed, {rest}")

    def lines(self) -> list[str]:
        """One line for each failing domain."""
        return [f"{shown_path(domain) or '-'}: {said}" for domain, said in self.failed.items()]


@dataclass(frozen=True, slots=True)
class How:
    """How domains are learned: the method, its settings, and event types made by hand."""

    method: str
    settings: Mapping[str, Any]
    types: HandTypes | None = None


def learn_domains(
    corpus: Corpus | Variants,
    output: Path,
    how: How,
    *,
    source: str = "-",
    only: str | None = None,
    title: str | None = None,
    folder: bool = False,
    jobs: int = 1,
    dask: str | None = None,
    console: Console,
) -> list[Learned]:
    """Learn and save a script for each domain, or for one ``only``.

    Narratives of raw sentences are turned into events first, and what does that is saved with the
    script. With one domain ``output`` is the script's file, with several, or if ``folder`` says so,
    a folder. ``source`` is the file that the corpus came from, which is not overwritten. A single
    domain is called by its ``title``, if there is one.

    Of several domains ``jobs`` are learned at once, or as many as there are workers on the cluster
    ``dask``; those that fail are reported when the others are learned.
    """
    make_learner(how.method, **how.settings)  # complains before anything is done
    parts = corpus.by_domain() if only is None else {only: corpus.domain(only)}
    paths = titled_paths(output, corpus.domains, tuple(parts), source, title, folder=folder)
    if len(parts) == 1 and dask is None:
        ((domain, part),) = parts.items()
        return [_learn_one(title or domain, part, paths[domain], how, console)]
    return _learn_several(parts, paths, how, jobs, dask, console)


def _learn_one(
    title: str, part: Corpus | Variants, path: Path, how: How, console: Console
) -> Learned:
    """Learn one domain, with progress that is shown."""
    _check_lengths(part)
    heard = as_events(part, types=how.types)
    learner = make_learner(how.method, **how.settings)
    with progress_bar(console) as bar:
        task = bar.add_task(shown_path(title) or "learning", total=len(heard.events), states="")

        def say(line: str) -> None:
            console.print(line, markup=False, highlight=False, soft_wrap=True)

        def observe(event: Event, model: CountsModel | None) -> None:  # noqa: ARG001
            if isinstance(event, BatchDone):
                bar.update(task, completed=event.seen, states=f"{event.states} states")

        observer = None
        if isinstance(learner, SEMHMM):
            learner.set_params(observer=observe)
        else:
            observer = _shown_on(bar, task, len(heard.events))
        script, learned = _learned(title, heard, learner, path, say, observer)
        script.save(path)
        return learned


def _learn_several(
    parts: Mapping[str, Corpus | Variants],
    paths: Mapping[str, Path],
    how: How,
    jobs: int,
    dask: str | None,
    console: Console,
) -> list[Learned]:
    """Learn domains at once, and write their scripts here as they get done."""
    work = [(domain, part, paths[domain]) for domain, part in parts.items()]
    found: dict[str, Learned] = {}
    failed: dict[str, str] = {}
    with progress_bar(console) as bar:
        task = bar.add_task("learning", total=len(parts), states="domains")
        for number, made in parallel(partial(_made, how), work, jobs=jobs, dask=dask):
            domain = work[number][0]
            for line in made.said:
                console.print(line, markup=False, highlight=False, soft_wrap=True)
            if made.learned is None:
                failed[domain] = made.problem
            else:
                write_atomically(paths[domain], made.content)
                found[domain] = made.learned
            bar.advance(task)
    learned = [found[domain] for domain in parts if domain in found]
    if failed:
        raise DomainsError(learned, {name: failed[name] for name in parts if name in failed})
    return learned


class _Made(NamedTuple):
    """What came of a domain: a script's bytes and what it is, or a line that says why not."""

    said: list[str]
    content: bytes = b""
    learned: Learned | None = None
    problem: str = ""


def _made(how: How, work: tuple[str, Corpus | Variants, Path]) -> _Made:
    """Learn a domain and write nothing, as a worker does."""
    domain, part, path = work
    said: list[str] = []
    try:
        _check_lengths(part)
        heard = as_events(part, types=how.types)
        learner = make_learner(how.method, **how.settings)
        script, learned = _learned(domain, heard, learner, path, said.append)
        return _Made(said, dumps(script), learned)
    except Exception as error:  # noqa: BLE001 - one domain must not stop the others
        known = isinstance(error, InputError)
        problem = str(error) if known else f"{type(error).__name__}: {error}"
        return _Made(said, problem=" ".join(problem.split())[:300])


def _learned(
    title: str,
    heard: Told,
    learner: SEMHMM | ScriptLearner,
    path: Path,
    say: Callable[[str], object],
    observer: Callable[[Stage], object] | None = None,
) -> tuple[Script, Learned]:
    """Learn a script; give it as it is saved, and what is said of it."""
    where = f"{shown_path(title)}: " if title else ""
    lines = _dropped(heard)
    if isinstance(learner, SEMHMM):
        lines += limits.of_search(learner, heard.events)
    else:
        lines += limits.of_default(drawn(heard.events, 0))
    for line in lines:
        say(where + line)
    if isinstance(learner, SEMHMM):
        learner.fit(heard.events)
    else:
        fit_default(learner, heard, title, observer)
    for line in _rare(learner.script_):
        say(where + line)
    return _described(title, heard, learner, path)


def fit_default(
    learner: ScriptLearner,
    heard: Told,
    title: str,
    observer: Callable[[Stage], object] | None = None,
) -> ScriptLearner:
    """Learn from what was told, for the command line and the page alike."""
    learner.set_params(title=title, wording=heard.wording, observer=observer)
    return learner.fit(heard.events, heard=heard.heard, words=heard.words)


@dataclass(frozen=True, slots=True)
class Told:
    """Narratives as events; what turned sentences into them, and usual sentences of each.

    ``sentences`` are those of each narrative, one an event, where events were found behind them;
    ``heard`` is then what each sentence by itself may tell, as new ones will be heard.
    """

    events: Sequence[tuple[str, ...]]
    extractor: EventExtractor | None = None
    wording: Mapping[str, Sequence[str]] | None = None
    sentences: list[tuple[str, ...]] | None = None
    heard: list[list[HeardSentence | None]] | None = None

    @property
    def words(self) -> list[list[tuple[str, ...]]] | None:
        """The words of each sentence, if sentences told the events."""
        if self.sentences is None:
            return None
        return [[content_words(one) for one in sentences] for sentences in self.sentences]

    def notes(self, domain: str) -> dict[str, Any]:
        """What a script that was learned from them should note."""
        named = {"domain": domain} if domain else {}
        if self.extractor is None:
            return named
        return {**named, "extractor": self.extractor.to_dict()}


def as_events(
    part: Corpus | Variants,
    names: Mapping[str, str] | None = None,
    *,
    types: HandTypes | None = None,
) -> Told:
    """Turn the narratives of one domain into events, if they are sentences.

    Where both are known, or ``types`` were made by hand, the sentences are what teaches the script
    to understand others. ``names`` gives some events another name; those that get the same name
    become one.
    """
    names = names or {}
    heard = None
    if isinstance(part, Variants):
        return Told(part)
    if types is not None:
        extractor = EventExtractor()
        mapped = extractor.fit_transform(part, types.labels(part))
    elif not part.has_events:
        extractor = EventExtractor()
        mapped = extractor.fit_transform(part)
        heard = [
            [None if one is None else _called(one, names) for one in told]
            for told in extractor.heard(part, left_out=True)
        ]
    elif all(one.steps is not None for one in part):
        extractor = EventExtractor().fit(part, part.events)
        mapped = part
    else:
        return Told(_named(part.events, names))
    events = _named(mapped.events, names)
    if names:
        _rename(extractor, names, events)
    return Told(events, extractor, _typical(extractor), mapped.steps, heard)


def _typical(extractor: EventExtractor) -> dict[str, list[str]]:
    """The sentences in the middle of each type: what is told most often may stand at its edge."""
    return {
        kind.name: list(dict.fromkeys(kind.sentences))[:WORDINGS]
        for domain in extractor.domains_.values()
        for kind in domain.types
    }


def _named(narratives: Sequence[Sequence[str]], names: Mapping[str, str]) -> list[tuple[str, ...]]:
    return [tuple(names.get(event, event) for event in one) for one in narratives]


def _called(heard: HeardSentence, names: Mapping[str, str]) -> HeardSentence:
    """Give events another name; those that get the same name become one.

    >>> _called(HeardSentence({"fill tub": 0.5, "run water": 0.3}), {"run water": "fill tub"})
    {'fill tub': 0.8}
    """
    weights: dict[str, float] = {}
    for event, share in heard.items():
        name = names.get(event, event)
        weights[name] = weights.get(name, 0.0) + share
    return HeardSentence(weights, heard.words)


def _rename(
    extractor: EventExtractor, names: Mapping[str, str], events: list[tuple[str, ...]]
) -> None:
    """Give the types of an extractor of one domain other names."""
    tellers = Counter(event for one in events for event in set(one))
    for domain, types in extractor.domains_.items():
        new = dict.fromkeys(names.get(name, name) for name in types.names)
        extractor.domains_[domain] = renamed(types, names, [tellers[name] for name in new])


def _dropped(heard: Told) -> list[str]:
    """How many sentences are of no event type, if any are."""
    if heard.extractor is None or not heard.extractor.dropped_:
        return []
    every = sum(map(len, heard.extractor.labels_))
    said = f"left out, as they are of no event type: {len(heard.extractor.dropped_)} of {every}"
    return [f"{said} sentences (elision events shows the types)"]


def _rare(script: Script) -> list[str]:
    """How many events are no steps of the outline, if any are not."""
    if script.made_from is None:
        return []
    rare = len(set(script.events).difference(script.made_from.steps_of))
    if not rare:
        return []
    least = f"by fewer than {outline.LEAST_SHARE:.0%} of the tellings, or by one"
    of = f"{rare} of {counted(len(script.events), 'event')}"
    return [f"too rarely told to be steps of the outline ({least}): {of}"]


def _shown_on(bar: Progress, task: TaskID, total: int) -> Callable[[Stage], None]:
    def observe(stage: Stage) -> None:
        bar.update(task, completed=round(stage.begins * total), states=stage.name)

    return observe


def _described(
    domain: str, heard: Told, learner: SEMHMM | ScriptLearner, path: Path
) -> tuple[Script, Learned]:
    """The script as it is saved, and what is said of it."""
    narratives = heard.events
    learned: Script = learner.script_.annotated(**heard.notes(domain))
    script = learner.script_
    rates = script.elision[1:-1]
    history = getattr(learner, "history_", ())
    last = history[-1] if history else None
    judged = narratives if heard.heard is None else [*map(likeliest_events, heard.heard)]
    with batch():
        log_probs = learned.log_probs(drawn(judged, 0))
    return learned, Learned(
        domain=domain,
        path=path,
        narratives=len(narratives),
        states=script.size - 2,
        edges=len(script.parameters.source),
        elision=(float(rates.min()), float(rates.mean()), float(rates.max()))
        if len(rates)
        else (0.0, 0.0, 0.0),
        log_prob=float(log_probs.mean()),
        constraints=last.constraints if last else 0,
        violated=last.violated if last else 0,
        sample=script.about.get("sample"),
    )


def _check_lengths(corpus: Corpus | Variants) -> None:
    if isinstance(corpus, Variants):
        if corpus.longest > LONGEST_NARRATIVE:
            problem = f"a narrative of {corpus.longest} events"
            raise InputError(
                f"{problem}, expected at most {LONGEST_NARRATIVE}", hint="cut it into episodes"
            )
        return
    for index, narrative in enumerate(corpus):
        if narrative.length > LONGEST_NARRATIVE:
            raise InputError(
                f"{narrative.length} events, expected at most {LONGEST_NARRATIVE}",
                where=f"narratives[{index}] (id {shown(narrative.id)})",
                hint="cut it into episodes",
            )


def titled_paths(
    output: Path,
    domains: tuple[str, ...],
    chosen: tuple[str, ...],
    source: str,
    title: str | None,
    *,
    folder: bool = False,
) -> dict[str, Path]:
    """Where the script of each domain goes, a single one by its title if it has one."""
    if not title:
        return output_paths(output, domains, chosen, source, folder=folder)
    if len(chosen) != 1:
        problem = f"a title came for {len(chosen)} domains, expected one domain"
        raise InputError(problem, hint="name one with --domain, or leave the title away")
    return {chosen[0]: output_paths(output, (title,), (title,), source, folder=folder)[title]}


def output_paths(
    output: Path,
    domains: tuple[str, ...],
    chosen: tuple[str, ...],
    source: str,
    *,
    folder: bool = False,
) -> dict[str, Path]:
    """Where the script of each chosen domain goes: a file can be written there.

    ``folder`` says that the output is a folder, also for one domain and whatever its name is.
    """
    where = shown_path(output)
    try:
        if len(chosen) == 1 and not folder and not output.is_dir():
            if not output.parent.is_dir():
                raise InputError(
                    f"no folder {shown_path(output.parent)!r} to write to", where=where
                )
            paths = {chosen[0]: output}
        else:
            named = output.suffix.lower() == ".json" and not folder
            if not output.is_dir() and (named or output.exists()):
                is_file = "is a file" if output.exists() else "is named as a file"
                if len(chosen) == 1:
                    raise InputError("this is a file, expected a folder", where=where)
                raise InputError(
                    f"{len(chosen)} domains came and the output {is_file}, expected a folder",
                    where=where,
                    hint="name a folder, or one domain with --domain",
                )
            output.mkdir(parents=True, exist_ok=True)
            names = file_names(domains)
            paths = {domain: output / f"{names[domain]}.json" for domain in chosen}
        for path in paths.values():
            _check_place(path, source)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=where) from None
    return paths


def _check_place(path: Path, source: str) -> None:
    if not path.exists():
        return
    if not path.is_file():
        raise InputError(
            "cannot be written: there is something other than a file", where=shown_path(path)
        )
    if source != "-" and path.samefile(source):
        raise InputError(
            "the narratives are in this file, expected another to write to", where=shown_path(path)
        )


def progress_bar(console: Console) -> Progress:
    """A bar that only a terminal shows; each task says how many states it is at."""
    seen = console.file.isatty()  # FORCE_COLOR makes it no terminal
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[states]}"),
        TimeElapsedColumn(),
        console=console if seen else Console(quiet=True),  # older rich ends with an empty line
        disable=not seen,
        transient=True,
    )
