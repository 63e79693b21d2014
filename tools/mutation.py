"""Where a small fault can be put into Python source, and which: the drawing board of `mutate.py`.

A fault replaces the text of one expression or statement and leaves all else as it is, so that
lines keep their numbers. Left alone are texts, annotations, decorators, what is raised, what is
imported, and what prints a value for people; and constants with names of their own (`LIMIT = 3`,
fields of classes): they were chosen by measuring, and a test could only repeat them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
OTHERS = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
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
    """All faults that can be put into a module."""
    lines = content.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    whole = b"".join(lines)
    for node in _worthwhile(ast.parse(content)):
        for place, kind, after in _faults(node):
            start, end = _span(place, starts)
            before = whole[start:end].decode()
            text = lines[place.lineno - 1].decode().strip()
            yield Mutant(module, place.lineno, kind, start, end, before, after, text)


def _span(node: ast.expr | ast.stmt, starts: list[int]) -> tuple[int, int]:
    if node.end_lineno is None or node.end_col_offset is None:
        raise ValueError("source without ends")
    return (
        starts[node.lineno - 1] + node.col_offset,
        starts[node.end_lineno - 1] + node.end_col_offset,
    )


def _faults(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """Faults of a node: what is replaced, what kind of fault it is, and by what."""
    if isinstance(node, ast.expr):
        for kind, other in _expressions(node):
            plain = isinstance(other, ast.Name | ast.Attribute)
            yield node, kind, ast.unparse(other) if plain else f"({ast.unparse(other)})"
        if isinstance(node, ast.Constant):
            yield from ((node, "constant", after) for after in _constants(node.value))
    elif isinstance(node, ast.AugAssign):
        yield node, "dropped", "pass"
        if other_sign := OPERATIONS.get(type(node.op)):
            changed = ast.AugAssign(node.target, other_sign(), node.value)
            yield node, "arithmetic", ast.unparse(changed)
    elif isinstance(node, ast.Return) and node.value is not None:
        yield node.value, "returned", "None"
    elif isinstance(node, ast.stmt) and _acts(node):
        yield node, "dropped", "pass"


def _expressions(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """What may stand in place of an expression by mistake."""
    if isinstance(node, ast.Compare):
        for place, sign in enumerate(node.ops):
            for other in COMPARISONS[type(sign)]:
                signs = [*node.ops[:place], other(), *node.ops[place + 1 :]]
                yield "comparison", ast.Compare(node.left, signs, node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        yield "arithmetic", ast.BinOp(node.left, OPERATIONS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        word = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "logic", ast.BoolOp(word, node.values)
    elif isinstance(node, ast.IfExp):
        yield "logic", ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield "sign", node.operand
    elif isinstance(node, ast.Name) and node.id in OTHERS:
        yield "other", ast.Name(OTHERS[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in OTHERS:
        yield "other", ast.Attribute(node.value, OTHERS[node.attr])


def _constants(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield str(not value)
    elif isinstance(value, int | float):
        for other in (value + 1, value - 1):
            if other != value:  # as with 1e300
                yield repr(other) if other >= 0 else f"({other!r})"


def _acts(node: ast.stmt) -> bool:
    """Whether a statement does something that others may not miss at once."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Subscript)
    return isinstance(node, ast.Continue | ast.Break)


def _worthwhile(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that may have a fault, in their order."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or _left_alone(node):
                continue
            if isinstance(tree, ast.ClassDef) and isinstance(node, ast.AnnAssign):
                continue
            yield node
            yield from _worthwhile(node)


def _left_alone(node: ast.AST) -> bool:
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING")) | ast.Subscript(value=ast.Name("Literal")):
            return True
        case ast.Subscript(value=ast.Attribute(attr="shape")):  # of one axis, the first is the last
            return True
        case ast.Call(func=ast.Attribute(attr="errstate")) | ast.keyword(arg="strict"):
            return True
        case ast.FunctionDef(name=name):
            return name in SHOWN
        case ast.Assign(targets=[ast.Name(name)]):
            return name.isupper()
    return isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr)
