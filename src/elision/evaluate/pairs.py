"""Whether sentences that people would tell apart are kept apart, and paraphrases put together.

    python -m elision.evaluate.pairs FILE...

Each line of a file is an activity with two tellings of the same steps by different people
(``tellings``) and the numbers of steps that are easily confused (``apart``): the same verb with
another object or direction, or opposites. A pair of the same step is right if both sentences get
one type, a pair of confused steps (once in each telling, crosswise) if they do not.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from elision.errors import ElisionError, InputError
from elision.text.extract import EventExtractor

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Pair", "judged", "judged_alone", "table"]


class Pair(NamedTuple):
    """Two sentences of an activity, whether they tell one event, and whether they got one type."""

    activity: str
    first: str
    second: str
    same: bool
    together: bool

    @property
    def right(self) -> bool:
        """Whether the extractor agrees."""
        return self.same == self.together


def judged(
    activity: str,
    tellings: Sequence[Sequence[str]],
    apart: Sequence[Sequence[int]],
    extractor: EventExtractor,
) -> list[Pair]:
    """Judge the pairs of one activity by the types that are found in its two tellings.

    Examples
    --------
    >>> tellings = [["open the door", "shut the door"], ["open the door", "close the door"]]
    >>> found = judged("door", tellings, [[0, 1]], EventExtractor("wordnet", rare="keep"))
    >>> [(pair.first, pair.second, pair.same) for pair in found][0]
    ('open the door', 'open the door', True)
    """
    first, second = (list(steps) for steps in tellings)
    one, two = extractor.fit([first, second]).labels_
    pairs = [
        Pair(activity, a, b, same=True, together=x == y)
        for a, b, x, y in zip(first, second, one, two, strict=True)
    ]
    for i, j in apart:
        pairs.append(Pair(activity, first[i], second[j], same=False, together=one[i] == two[j]))
        pairs.append(Pair(activity, first[j], second[i], same=False, together=one[j] == two[i]))
    return pairs


def judged_alone(
    activity: str,
    tellings: Sequence[Sequence[str]],
    apart: Sequence[Sequence[int]],
    extractor: EventExtractor,
) -> list[Pair]:
    """Judge the same pairs by words alone: the steps of one telling teach, the other is mapped.

    Each sentence of the second telling is mapped by itself, so neither its place nor what stands
    around it has a say.

    Examples
    --------
    >>> tellings = [["open the door", "shut the door"], ["open the door", "close the door"]]
    >>> found = judged_alone("door", tellings, [[0, 1]], EventExtractor("wordnet"))
    >>> [pair.together for pair in found]
    [True, True, False, False]
    """
    first, second = (list(steps) for steps in tellings)
    steps = list(map(str, range(len(first))))
    (found,) = extractor.fit([first], [steps]).predict([second])
    pairs = [
        Pair(activity, a, b, same=True, together=step == kind)
        for a, b, step, kind in zip(first, second, steps, found, strict=True)
    ]
    for i, j in apart:
        pairs.append(Pair(activity, first[i], second[j], same=False, together=found[j] == steps[i]))
        pairs.append(Pair(activity, first[j], second[i], same=False, together=found[i] == steps[j]))
    return pairs


def table(pairs: Sequence[Pair]) -> str:
    """Return how many pairs of either kind are right.

    Examples
    --------
    >>> print(table([Pair("door", "open it", "shut it", same=False, together=False)]))
    | pairs | right | of | share |
    |---|---|---|---|
    | kept apart | 1 | 1 | 100.0 % |
    | all | 1 | 1 | 100.0 % |
    """
    lines = ["| pairs | right | of | share |", "|---|---|---|---|"]
    kinds = {
        "one type": [pair.right for pair in pairs if pair.same],
        "kept apart": [pair.right for pair in pairs if not pair.same],
        "all": [pair.right for pair in pairs],
    }
    for name, right in kinds.items():
        if right:
            share = f"{100 * sum(right) / len(right):.1f} %"
            lines.append(f"| {name} | {sum(right)} | {len(right)} | {share} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of some files, and the pairs that are wrong."""
    parser = argparse.ArgumentParser(prog="python -m elision.evaluate.pairs", description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE", help="activities, one a line")
    parser.add_argument("--alone", action="store_true", help="by words alone: see judged_alone")
    parser.add_argument("--wrong", action="store_true", help="also list the pairs that are wrong")
    options = parser.parse_args(arguments)
    extractor = EventExtractor(rare="keep")
    judge = judged_alone if options.alone else judged
    pairs: list[Pair] = []
    try:
        for file in options.files:
            try:
                lines = [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
            except (OSError, ValueError) as error:
                raise InputError(f"no activities: {error}", where=file) from None
            for one in lines:
                pairs += judge(one["activity"], one["tellings"], one["apart"], extractor)
    except ElisionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(table(pairs) + "\n")
    if options.wrong:
        for pair in pairs:
            if not pair.right:
                meant = "one type" if pair.same else "kept apart"
                sys.stdout.write(f"{pair.activity}: {pair.first!r}, {pair.second!r}: {meant}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
