"""Measures who imports whom inside the package, and when.

    python tools/import_graph.py [--source src] [--package elision] [--json] [--names]

An import happens when its module is loaded, only for the types (under `TYPE_CHECKING`), or late:
inside a function, when that is called. Of the late ones, those *save nothing* whose target has been
loaded by then anyway, by what the importing module and its packages import when they are loaded.

A *knot* is a set of modules that all lead to each other. Counted are knots of more than one module:
by the imports at loading (cycles in the strict sense), with those for types, and with late ones as
well. That loading `a.b` also loads the package `a` is not counted as an import of `a`, nor that `a`
lists for type checkers what stands in it.

`--names` adds which modules and functions they are. Names that are looked up by a table, as
`elision.__init__` does it, are no import statements and are not seen.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Graph = dict[str, set[str]]
LOADING, TYPES, LATE = "loading", "types", "late"


class Import(NamedTuple):
    """One module imports another: when, and in which function."""

    importer: str
    imported: str
    when: str
    function: str | None


def modules_of(source: Path, package: str) -> dict[str, Path]:
    """All modules of a package by their names; a package goes by the name of its folder."""
    found = {}
    for path in sorted((source / package).rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


class _Imports(ast.NodeVisitor):
    """Walks through a module and notes what it imports of the package."""

    def __init__(self, module: str, path: Path, known: Iterable[str]) -> None:
        self._module = module
        self._folder = module if path.name == "__init__.py" else module.rpartition(".")[0]
        self._known = set(known)
        self._functions: list[str] = []
        self._typing = False
        self.found: list[Import] = []

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Imports in here are late."""
        self._functions.append(node.name)
        self.generic_visit(node)
        self._functions.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Classes belong to the names of their methods; their bodies run on loading."""
        inside, self._functions = self._functions, []
        for child in node.body:
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                self._functions = [*inside, node.name]
                self.visit(child)
            else:
                self._functions = inside
                self.visit(child)
        self._functions = inside

    def visit_If(self, node: ast.If) -> None:
        """Imports under `TYPE_CHECKING` are for types only."""
        test = node.test
        name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
        if name != "TYPE_CHECKING":
            self.generic_visit(node)
            return
        before, self._typing = self._typing, True
        for child in node.body:
            self.visit(child)
        self._typing = before
        for child in node.orelse:
            self.visit(child)

    def visit_Import(self, node: ast.Import) -> None:
        """`import a.b` and `import a.b as c`."""
        for alias in node.names:
            self._note(alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from a import b`, where `b` may be a module or a name of `a`."""
        base = node.module or ""
        if node.level:
            parts = self._folder.split(".")
            folder = parts[: len(parts) - node.level + 1]
            base = ".".join([*folder, base] if base else folder)
        inner = [f"{base}.{alias.name}" for alias in node.names]
        for name in dict.fromkeys(name if name in self._known else base for name in inner):
            self._note(name)

    def _note(self, name: str) -> None:
        if name not in self._known or name == self._module:
            return
        when = TYPES if self._typing else LATE if self._functions else LOADING
        if when == TYPES and name.rpartition(".")[0] == self._module:
            return
        function = ".".join(self._functions) or None
        self.found.append(Import(self._module, name, when, function))


def imports_of(modules: dict[str, Path]) -> list[Import]:
    """All imports of these modules among each other."""
    found = []
    for module, path in modules.items():
        visitor = _Imports(module, path, modules)
        visitor.visit(ast.parse(path.read_text(encoding="utf-8")))
        found += visitor.found
    return found


def graph_of(modules: Iterable[str], imports: Iterable[Import], *when: str) -> Graph:
    """Who imports whom, at these times."""
    graph: Graph = {module: set() for module in modules}
    for one in imports:
        if one.when in when:
            graph[one.importer].add(one.imported)
    return graph


def reached(graph: Graph, start: str) -> set[str]:
    """What is imported by a module, by what that imports, and so on."""
    found: set[str] = set()
    left = [start]
    while left:
        for name in graph[left.pop()] - found:
            found.add(name)
            left.append(name)
    return found


def loaded_with(loading: Graph, module: str) -> set[str]:
    """What has been loaded when a module has: also its packages, and all that they import."""
    parts = module.split(".")
    packages = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    return set(packages).union(*(reached(loading, package) for package in packages))


def knots(graph: Graph) -> list[list[str]]:
    """Sets of more than one module that all lead to each other, the largest first."""
    below = {module: reached(graph, module) for module in graph}
    found: set[tuple[str, ...]] = set()
    for module, reachable in below.items():
        knot = {other for other in reachable if module in below[other]}
        if len(knot) > 1:
            found.add(tuple(sorted(knot)))
    return sorted((list(knot) for knot in found), key=lambda knot: (-len(knot), knot))


def rooms_of(modules: Iterable[str]) -> dict[str, int]:
    """How many modules each folder has; those of the package itself are in the room `(root)`."""
    rooms: Counter[str] = Counter()
    for module in modules:
        parts = module.split(".")
        rooms["/".join(parts[1:-1]) or "(root)"] += 1
    return dict(sorted(rooms.items(), key=lambda room: (-room[1], room[0])))


def measure(source: Path, package: str) -> dict[str, Any]:
    """All measures of a package, with the names behind them."""
    modules = modules_of(source, package)
    imports = imports_of(modules)
    loading = graph_of(modules, imports, LOADING)
    loaded = {module: loaded_with(loading, module) for module in modules}
    late: dict[str, list[str]] = defaultdict(list)
    useless: dict[str, list[str]] = defaultdict(list)
    for one in imports:
        if one.when == LATE:
            where = f"{one.importer}:{one.function}"
            late[where].append(one.imported)
            if one.imported in loaded[one.importer]:
                useless[where].append(one.imported)
    plain = {module for module, path in modules.items() if path.name != "__init__.py"}
    return {
        "modules": len(plain),
        "imports": {when: sum(one.when == when for one in imports) for when in (LOADING, TYPES)},
        "late": dict(late),
        "late that save nothing": dict(useless),
        "knots at loading": knots(loading),
        "knots with types": knots(graph_of(modules, imports, LOADING, TYPES)),
        "knots with types and late": knots(graph_of(modules, imports, LOADING, TYPES, LATE)),
        "rooms": rooms_of(plain),
    }


def rows_of(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The rows of the printed table."""
    yield "modules", str(found["modules"])
    for when, number in found["imports"].items():
        yield f"imports, {when}", str(number)
    for kind in ("late", "late that save nothing"):
        statements = sum(map(len, found[kind].values()))
        yield f"functions with {kind}", f"{len(found[kind])} ({statements} imports)"
    for kind in ("loading", "types", "types and late"):
        key = "knots at loading" if kind == "loading" else f"knots with {kind}"
        sizes = [len(knot) for knot in found[key]]
        yield key, f"{len(sizes)}" + (f" (modules: {', '.join(map(str, sizes))})" if sizes else "")
    for room, number in found["rooms"].items():
        yield f"modules in {room}", str(number)


def main() -> None:
    """Print the measures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    root = Path(__file__).parents[1]
    parser.add_argument("--source", type=Path, default=root / "src", help="folder of the package")
    parser.add_argument("--package", default="elision")
    parser.add_argument("--json", action="store_true", help="everything, as JSON")
    parser.add_argument("--names", action="store_true", help="which modules and functions")
    options = parser.parse_args()
    if not (options.source / options.package / "__init__.py").is_file():
        parser.error(f"{options.source} has no package {options.package}")
    found = measure(options.source, options.package)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    rows = list(rows_of(found))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:{width}}  {value}")
    if options.names:
        for kind in ("late", "late that save nothing"):
            print(f"\nfunctions with {kind}")
            for where, targets in sorted(found[kind].items()):
                print(f"  {where}: {', '.join(targets)}")
        for key in ("knots at loading", "knots with types", "knots with types and late"):
            for knot in found[key]:
                print(f"\n{key}\n  {', '.join(knot)}")


if __name__ == "__main__":
    main()
