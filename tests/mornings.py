"""Ten mornings, told in part: what tests of benchmarks and baselines share."""

from __future__ import annotations

import elision as el

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
