"""Where a small fault can be put into Python source, and which: the drawing board of `mutate.py`.

A fault replaces the text of one expression or statement and leaves all else as it is, so that
lines keep their numbers. Left alone are texts, annotations, decorators, what is raised, what is
imported, and what prints a value for people.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.Pow: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.LShift: ">>",
    ast.RShift: "<<",
}
OTHERS = {
    **{one: other for pair in [("min", "max"), ("any", "all")] for one, other in [pair, pair[::-1]]},
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "floor": "ceil",
    "ceil": "floor",
    "triu": "tril",
}
SHOWN = {"__str__", "__repr__", "_repr_html_"}


@dataclass(frozen=True)
class Mutant:
    """A fault: bytes ``start`` to ``end`` of a module replaced by ``after``."""

    module: str
    line: int
    kind: str
    start: int
    end: int
    before: str
    after: str
    text: str
    """The line it stands in."""

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.before!r} -> {self.after!r} in {self.text!r}"

    def put_into(self, content: bytes) -> bytes:
        """Return the module with the fault."""
        if content[self.start : self.end].decode() != self.before:
            raise ValueError(f"{self.module} has changed")
        return content[: self.start] + self.after.encode() + content[self.end :]

    def row(self) -> dict[str, str | int]:
        """As it stands in files."""
        return {
            "module": self.module,
            "line": self.line,
            "start": self.start,
            "kind": self.kind,
            "before": self.before,
            "after": self.after,
            "text": self.text,
        }


def mutants_of(module: str, content: str) -> Iterator[Mutant]:
    """All faults that can be put into a module.

    Examples
    --------
    >>> [one.after for one in mutants_of("m.py", "def f(x):\\n    return x < 3\\n")]
    ['None', 'x <= 3', 'x >= 3', '4', '2']
    """
    lines = content.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    whole = b"".join(lines)
    for node, kind, after in _faults(ast.parse(content), whole, starts):
        start, end = _span(node, starts)
        before = whole[start:end].decode()
        text = lines[node.lineno - 1].decode().strip()
        if after != before:
            yield Mutant(module, node.lineno, kind, start, end, before, after, text)


def _span(node: ast.expr | ast.stmt, starts: list[int]) -> tuple[int, int]:
    if node.end_lineno is None or node.end_col_offset is None:
        raise ValueError("source without ends")
    return (
        starts[node.lineno - 1] + node.col_offset,
        starts[node.end_lineno - 1] + node.end_col_offset,
    )


Fault = tuple["ast.expr | ast.stmt", str, str]


def _faults(tree: ast.AST, whole: bytes, starts: list[int]) -> Iterator[Fault]:
    """Faults of every node that is worth one, with the text that goes in its place."""

    def text(node: ast.expr | ast.stmt) -> str:
        start, end = _span(node, starts)
        return whole[start:end].decode()

    def between(left: ast.expr, right: ast.expr) -> str:
        return whole[_span(left, starts)[1] : _span(right, starts)[0]].decode()

    for node in _worthwhile(tree):
        if isinstance(node, ast.Compare):
            yield from _compared(node, text)
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
            gap = _swapped(between(node.left, node.right), OPERATIONS[type(node.op)])
            if gap is not None:
                yield node, "arithmetic", text(node.left) + gap + text(node.right)
        elif isinstance(node, ast.AugAssign):
            yield node, "dropped", "pass"
            if type(node.op) in OPERATIONS:
                after = f"{text(node.target)} {OPERATIONS[type(node.op)]}= {text(node.value)}"
                yield node, "arithmetic", after
        elif isinstance(node, ast.BoolOp):
            word = "or" if isinstance(node.op, ast.And) else "and"
            yield node, "logic", f"({f' {word} '.join(f'({text(one)})' for one in node.values)})"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            yield node, "sign", f"({text(node.operand)})"
        elif isinstance(node, ast.Constant):
            yield from _constant(node)
        elif isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in OTHERS:
                yield node, "other", text(node)[: -len(name)] + OTHERS[name]
        elif isinstance(node, ast.IfExp):
            yield node, "logic", f"({text(node.orelse)} if {text(node.test)} else {text(node.body)})"
        elif isinstance(node, ast.Return) and node.value is not None:
            yield node.value, "returned", "None"
        elif isinstance(node, ast.Continue | ast.Break) or _acts(node):
            yield node, "dropped", "pass"


def _compared(node: ast.Compare, text: Callable[[ast.expr], str]) -> Iterator[Fault]:
    operands = [node.left, *node.comparators]
    for place, operator in enumerate(node.ops):
        for other in COMPARISONS[type(operator)]:
            parts = [text(operands[0])]
            for number, operand in enumerate(operands[1:]):
                sign = other if number == place else _sign(node.ops[number])
                parts.append(f" {sign} {text(operand)}")
            yield node, "comparison", "".join(parts)


def _sign(operator: ast.cmpop) -> str:
    return ast.unparse(ast.Compare(ast.Name("x"), [operator], [ast.Name("y")]))[2:-2]


def _swapped(gap: str, other: str) -> str | None:
    """What stands between two operands with another operator; None if it is not that alone."""
    sign = gap.strip(" ()\n")
    return gap.replace(sign, other) if sign and gap.count(sign) == 1 else None


def _constant(node: ast.Constant) -> Iterator[Fault]:
    value = node.value
    if isinstance(value, bool):
        yield node, "constant", str(not value)
    elif isinstance(value, int | float):
        yield node, "constant", repr(value + 1)
        yield node, "constant", f"({value - 1!r})" if value < 1 else repr(value - 1)


def _acts(node: ast.AST) -> bool:
    """Whether a statement does something that others may not miss at once."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)


def _worthwhile(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that may have a fault, in their order."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "bases", "type_params"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or _left_alone(node):
                continue
            yield node
            yield from _worthwhile(node)


def _left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.FunctionDef):
        return node.name in SHOWN
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return node.value.id == "Literal"
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "errstate"
    return isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr)
