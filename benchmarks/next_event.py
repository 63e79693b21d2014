"""The next event of event logs: the telling model against n-grams, Alergia, an HMM and an LSTM.

    python benchmarks/next_event.py FILE... [--seed 0] [--max-cases N]

Prints one JSON object. Of each log 30 % of the cases are kept to test on; the next event is asked
after every beginning of them, the end included. The telling model is the one that
`elision.ScriptLearner` learns. What the peers choose, they choose by the log-loss on a fifth of the
training cases, and then learn from all of them: n-grams their order, Alergia its epsilon and the
share of bigrams that it is smoothed with, the hidden Markov model (hmmlearn, 30 states) that share
alone, the LSTM the number of epochs. The vocabulary is that of the whole log, ties go against the
right answer, and no probability counts as less than 1e-6.
The LSTM needs jax: ``pip install 'elision[bench]'``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import elision as el
from elision.bench.judging import Outcome, judge
from elision.learn.baselines import NGram
from elision.learn.telling import learn_telling
from networks import BATCH, EMBEDDING, HIDDEN, Network, best_epochs, shapes_of, width_of

TEST_SHARE = 0.3
HELD_OUT_SHARE = 0.2
"""Of the training cases, to choose by."""

ORDERS = (2, 3, 4, 5, 6)
EPSILONS = (0.005, 0.05, 0.5, 1.0)
SMOOTHING = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)

STATES = 30
MOST_EM_STEPS = 60
"""Of the hidden Markov model."""

Cases = list[tuple[int, ...]]
Chances = NDArray[np.float64]
Answerer = Callable[[Cases], Chances]
"""Gives a row for each beginning of each case: the chances of all events and the end."""


class Log(NamedTuple):
    """A split event log, with events as numbers."""

    events: tuple[str, ...]
    train: Cases
    test: Cases
    rest: Cases
    """Training cases that are not held out."""
    held_out: Cases


def read_log(path: str, seed: int, max_cases: int | None) -> Log:
    """Read a log and split it by case."""
    told = el.read(path).events
    rng = np.random.default_rng(seed)
    mixed = [told[k] for k in rng.permutation(len(told)).tolist()][:max_cases]
    events = tuple(sorted({event for one in mixed for event in one}))
    number = {event: o for o, event in enumerate(events)}
    cases = [tuple(number[event] for event in one) for one in mixed]
    test = round(TEST_SHARE * len(cases))
    train = cases[test:]
    held_out = round(HELD_OUT_SHARE * len(train))
    if not (test and held_out and held_out < len(train)):
        raise el.InputError(f"{len(cases)} cases, expected at least five", where=path)
    return Log(events, train, cases[:test], train[held_out:], train[:held_out])


def judged(answerer: Answerer, cases: Cases, size: int) -> Outcome:
    """Ask for what follows every beginning."""
    following = [symbol for one in cases for symbol in (*one, size)]
    return judge(answerer(cases), np.array(following, np.int64))


def each_once(after: Callable[[tuple[int, ...]], Chances]) -> Answerer:
    """An answerer out of a function of one beginning; beginnings that recur are asked once."""

    def answer(cases: Cases) -> Chances:
        begun = [one[:place] for one in cases for place in range(len(one) + 1)]
        row = {beginning: k for k, beginning in enumerate(dict.fromkeys(begun))}
        found = np.array([after(beginning) for beginning in row])
        return np.asarray(found[[row[beginning] for beginning in begun]])

    return answer


def by_telling(log: Log) -> Answerer:
    model = learn_telling(log.train, log.events)
    return each_once(lambda told: np.exp(model.next_log_probs(np.array(told, np.int64))))


def by_n_gram(cases: Cases, size: int, order: int) -> Answerer:
    names = [str(o) for o in range(size)]
    peer = NGram(events=names, order=order)
    peer.fit([[names[o] for o in one] for one in cases])
    return each_once(lambda told: peer.predict_next([[names[o] for o in told]])[0])


class Chain(NamedTuple):
    """A Markov chain: of each state the next state and its probability, by symbol."""

    start: Any
    steps: dict[Any, dict[int, tuple[Any, float]]]
    size: int

    def after(self, told: tuple[int, ...]) -> Chances:
        """Probability of each next symbol, or zeros where the chain has lost its way."""
        row = np.zeros(self.size + 1)
        state = self.start
        for symbol in told:
            if symbol not in self.steps[state]:
                return row
            state = self.steps[state][symbol][0]
        for symbol, (_, probability) in self.steps[state].items():
            row[symbol] = probability
        return row / row.sum() if row.any() else row


def alergia(cases: Cases, size: int, epsilon: float) -> Chain:
    from aalpy.learning_algs import run_Alergia

    data = [["start", *one, size] for one in cases]
    learned = run_Alergia(data, automaton_type="mc", eps=epsilon, print_info=False)
    steps = {
        state.state_id: {
            target.output: (target.state_id, probability)
            for target, probability in state.transitions
        }
        for state in learned.states
    }
    return Chain(learned.initial_state.state_id, steps, size)


def mixed(chain: Chances, bigrams: Chances, share: float) -> Chances:
    """The chain's rows mixed with bigrams; where it has lost its way, they answer alone."""
    lost = ~chain.any(axis=1, keepdims=True)
    return np.where(lost, bigrams, (1 - share) * chain + share * bigrams)


def by_alergia(log: Log) -> tuple[Answerer, dict[str, Any]]:
    size = len(log.events)
    bigrams = by_n_gram(log.rest, size, 2)(log.held_out)
    tried = []
    for epsilon in EPSILONS:
        rows = each_once(alergia(log.rest, size, epsilon).after)(log.held_out)
        for share in SMOOTHING:
            found = mixed(rows, bigrams, share)
            loss = judged(lambda _, found=found: found, log.held_out, size).log_loss  # type: ignore[misc]
            tried.append((loss, epsilon, share))
    _, epsilon, share = min(tried)
    chain = alergia(log.train, size, epsilon)
    by_chain, by_bigrams = each_once(chain.after), by_n_gram(log.train, size, 2)
    chosen = {"epsilon": epsilon, "share_of_bigrams": share, "states": len(chain.steps)}
    return lambda cases: mixed(by_chain(cases), by_bigrams(cases), share), chosen


def hidden_markov(cases: Cases, size: int, seed: int) -> Answerer:
    """An HMM whose last symbol is the end, learned by EM; what it has never seen has no chance."""
    from hmmlearn.hmm import CategoricalHMM

    model = CategoricalHMM(
        STATES,
        n_features=size + 1,
        n_iter=MOST_EM_STEPS,
        tol=1.0,
        random_state=seed,
        implementation="scaling",
    )
    lines = [(*one, size) for one in cases]
    model.fit(np.concatenate(lines)[:, None], list(map(len, lines)))

    def answer(cases: Cases) -> Chances:
        known: dict[tuple[int, ...], Chances] = {(): model.startprob_}

        def states(told: tuple[int, ...]) -> Chances:
            """Of the state that tells next."""
            if told not in known:
                here = states(told[:-1]) * model.emissionprob_[:, told[-1]]
                total = here.sum()
                here = here / total if total else np.full(STATES, 1 / STATES)
                known[told] = here @ model.transmat_
            return known[told]

        return each_once(lambda told: states(told) @ model.emissionprob_)(cases)

    return answer


def by_hidden_markov(log: Log, seed: int) -> tuple[Answerer, dict[str, Any]]:
    size = len(log.events)
    bigrams = by_n_gram(log.rest, size, 2)(log.held_out)
    rows = hidden_markov(log.rest, size, seed)(log.held_out)

    def loss(share: float) -> float:
        return judged(lambda _: mixed(rows, bigrams, share), log.held_out, size).log_loss

    share = min(SMOOTHING, key=loss)
    by_states, by_bigrams = hidden_markov(log.train, size, seed), by_n_gram(log.train, size, 2)
    chosen = {"states": STATES, "share_of_bigrams": share}
    return lambda cases: mixed(by_states(cases), by_bigrams(cases), share), chosen


class LSTM(Network):
    """One layer; the start numbers as the end does."""

    def __init__(self, size: int, seed: int) -> None:
        shapes = {
            "embedding": (size + 1, EMBEDDING),
            **shapes_of(""),
            "to_logits": (HIDDEN, size + 1),
            "common": (size + 1,),
        }
        super().__init__(shapes, seed)
        self._size = size
        self._logits = self._jax.jit(self._all_logits)

    def _all_logits(self, weights: Any, symbols: Any) -> Any:
        """Logits after each symbol, (batch, time, events + 1)."""
        states = self._states(weights, "", weights["embedding"][symbols])
        return states @ weights["to_logits"] + weights["common"]

    def _loss(self, weights: Any, *batch: Any) -> Any:
        symbols, counted = batch
        log_chances = self._jax.nn.log_softmax(self._all_logits(weights, symbols[:, :-1]))
        given = self._numpy.take_along_axis(log_chances, symbols[:, 1:, None], axis=2)[..., 0]
        return -(given * counted).sum() / counted.sum()

    def _padded(self, cases: Cases, rows: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Start, events and end of each case, and which of them but the start count."""
        width = width_of([len(one) + 1 for one in cases])
        symbols = np.full((rows, width + 1), self._size, np.int32)
        counted = np.zeros((rows, width), np.float32)
        for k, one in enumerate(cases):
            symbols[k, 1 : len(one) + 1] = one
            counted[k, : len(one) + 1] = 1.0
        return symbols, counted

    def epoch(self, cases: Cases) -> None:
        """Go through all cases once."""
        for some in self.batches([len(one) for one in cases]):
            self.learn(*self._padded([cases[k] for k in some], BATCH))

    def answer(self, cases: Cases) -> Chances:
        """A row for each beginning of each case."""
        rows: dict[int, Chances] = {}
        order = sorted(range(len(cases)), key=lambda k: len(cases[k]))
        for start in range(0, len(order), 8 * BATCH):
            some = order[start : start + 8 * BATCH]
            symbols, _ = self._padded([cases[k] for k in some], 8 * BATCH)
            found = np.asarray(self._logits(self._weights, symbols[:, :-1]), np.float64)
            for k, logits in zip(some, found, strict=False):
                value = logits[: len(cases[k]) + 1]
                value = np.exp(value - value.max(axis=1, keepdims=True))
                rows[k] = value / value.sum(axis=1, keepdims=True)
        return np.concatenate([rows[k] for k in range(len(cases))])


def by_lstm(log: Log, seed: int) -> tuple[Answerer, dict[str, Any]]:
    size = len(log.events)
    peer = LSTM(size, seed)
    epochs = best_epochs(
        lambda: peer.epoch(log.rest),
        lambda: judged(peer.answer, log.held_out, size).log_loss,
    )
    peer.begin(seed)
    for _ in range(epochs):
        peer.epoch(log.train)
    return peer.answer, {"epochs": epochs}


def compare(log: Log, seed: int) -> dict[str, Any]:
    size = len(log.events)

    def row(learn: Callable[[], tuple[Answerer, dict[str, Any]]]) -> dict[str, Any]:
        start = time.perf_counter()
        answerer, chosen = learn()
        learned = time.perf_counter()
        outcome = judged(answerer, log.test, size)
        return {
            "accuracy": round(outcome.top1, 4),
            "log_loss": round(outcome.log_loss, 4),
            "seconds_to_learn": round(learned - start, 2),
            "seconds_to_answer": round(time.perf_counter() - learned, 2),
            **chosen,
        }

    def order_loss(order: int) -> float:
        return judged(by_n_gram(log.rest, size, order), log.held_out, size).log_loss

    n_grams = {
        order: row(lambda order=order: (by_n_gram(log.train, size, order), {}))  # type: ignore[misc]
        for order in ORDERS
    }
    chosen = min(ORDERS, key=order_loss)
    return {
        "cases": {"train": len(log.train), "test": len(log.test)},
        "events": size,
        "beginnings": sum(len(one) + 1 for one in log.test),
        "telling_model": row(lambda: (by_telling(log), {})),
        "n_gram": {**n_grams[chosen], "order": chosen},
        "alergia": row(lambda: by_alergia(log)),
        "hidden_markov": row(lambda: by_hidden_markov(log, seed)),
        "lstm": row(lambda: by_lstm(log, seed)),
        "n_grams_by_order": n_grams,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE", help="event logs")
    parser.add_argument("--seed", type=int, default=0, help="of the split and the LSTM")
    parser.add_argument("--max-cases", type=int, help="most cases of a log, by chance")
    options = parser.parse_args()
    try:
        import_module("jax")
    except ImportError:
        print("jax is missing: pip install 'elision[bench]'", file=sys.stderr)
        return 2
    try:
        logs = {file: read_log(file, options.seed, options.max_cases) for file in options.files}
    except el.ElisionError as error:
        print(error, file=sys.stderr)
        return 2
    result = {Path(file).stem: compare(log, options.seed) for file, log in logs.items()}
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
