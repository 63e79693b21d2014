"""Short names of corpora in tables and reports."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def corpus_names(paths: Iterable[str]) -> dict[str, str]:
    """A name for each file: as short as tells them apart.

    Usually that is the name without what follows the dot; files of the same name get as much of
    their path as is needed, and a number if even that is the same.

    Examples
    --------
    >>> corpus_names(["old/tea.jsonl", "new/tea.jsonl", "cake.csv"])
    {'old/tea.jsonl': 'old/tea.jsonl', 'new/tea.jsonl': 'new/tea.jsonl', 'cake.csv': 'cake'}
    """
    paths = list(dict.fromkeys(paths))
    names = {path: PurePath(path).stem for path in paths}
    for length in range(1, 1 + max((len(PurePath(path).parts) for path in paths), default=0)):
        same = Counter(names.values())
        names |= {
            path: "/".join(PurePath(path).parts[-length:])
            for path in paths
            if same[names[path]] > 1
        }
    seen: Counter[str] = Counter()
    for path, name in names.items():
        seen[name] += 1
        if seen[name] > 1:
            names[path] = f"{name} ({seen[name]})"
    return names
