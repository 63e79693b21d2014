"""Ten mornings, told in part, and cells of a benchmark: what the tests of `evaluate` share."""

from __future__ import annotations

import json

import elision as el
from elision.evaluate import bench

TEN = [
    ["wake", "wash", "dress", "leave"],
    ["wake", "dress", "leave"],
    ["wake", "wash", "leave"],
    ["wake", "wash", "dress", "eat", "leave"],
    ["wash", "dress", "eat", "leave"],
    ["wake", "eat", "leave"],
    ["wake", "wash", "dress"],
    ["wake", "wash", "eat", "leave"],
    ["wake", "dress", "eat", "leave"],
    ["wake", "wash", "dress", "leave"],
]
EVENTS = ("dress", "eat", "leave", "wake", "wash")


def corpus(copies=6, domain="morning"):
    return el.Corpus.of(TEN * copies, domain=domain)


def put_back(task):
    answers = iter(task.answers.tolist())
    return [
        tuple(task.events[next(answers)] if event is None else event for event in gap)
        for gap in task.gaps
    ]


def cell_of(corpus, domain, method, seed, right, batch=None):
    rank = [1] * right + [2] * (10 - right)
    return bench.Cell(
        corpus,
        domain,
        method,
        batch,
        seed,
        9,
        10,
        0.1,
        rank,
        [0.5] * 10,
        [0.6] * 10,
        [1] * 10,
        [3] * 10,
    )


def without_seconds(result):
    return json.loads(
        json.dumps(result),
        object_hook=lambda one: {key: one[key] for key in one if key != "seconds"},
    )
