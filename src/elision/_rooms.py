"""Doors of rooms: what stands in them is imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def door(room: str, names: Mapping[str, str] = MappingProxyType({})) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package: its modules, and ``names`` that stand in them.

    With it ``from elision import kernels`` costs nothing until ``kernels.passes`` is used, so that
    modules can say at their top whom they know, and yet be loaded quickly.

    Examples
    --------
    >>> find = door("elision.values", {"Script": "script"})
    >>> find("Script").__module__
    'elision.values.script'
    """

    def find(name: str) -> Any:
        module = f"{room}.{names.get(name, name)}"
        if name.startswith("__") or find_spec(module) is None:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        found = import_module(module)
        return getattr(found, name) if name in names else found

    return find
