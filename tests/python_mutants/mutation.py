"""Mutations of Python: small changes of an expression or a statement, found in a module's syntax tree.

Left alone: docstrings and all other text, annotations, what an error says, assertions (`strict=True` is one, and what
`frozen` and `kw_only` forbid), `__all__`, what only type checkers read.
"""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Mutation", "mutations"]

_OPERATORS = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.FloorDiv: ("//", "*"), ast.Div: ("/", "*"),
    ast.Mod: ("%", "//"), ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"), ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"), ast.BitXor: ("^", "|"), ast.Pow: ("**", "*"), ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip
_GUARDS = {"strict", "frozen", "kw_only"}
_CONDITIONS = {"If", "Elif"}  # of Amaranth


@dataclass(frozen=True, kw_only=True, order=True)
class Mutation:
    """Bytes `start` to `end` of a module's source become `new`; the first is in `line`."""

    start: int
    end: int
    line: int
    old: str
    new: str

    def applied(self, source: bytes) -> bytes:
        """The mutated source."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def mutations(source: bytes) -> list[Mutation]:
    """All of a module, in the order of their places."""
    return sorted(set(_Finder(source).of(ast.parse(source))))


class _Finder:
    """Mutations of the nodes of one source."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def of(self, node: ast.AST) -> Iterator[Mutation]:
        """Those of `node` and of all within it."""
        if _left_alone(node):
            return
        yield from self._of_one(node)
        if isinstance(node, ast.Raise):
            return
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self.of(child)

    def _of_one(self, node: ast.AST) -> Iterator[Mutation]:
        if isinstance(node, ast.BinOp):
            yield from self._operator(node.left, node.op, node.right)
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from self._operator(left, node.op, right)
        elif isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
                yield from self._operator(left, operator, right)
        elif isinstance(node, ast.UnaryOp):
            yield self._replaced(node, self._text(node.operand))
        elif isinstance(node, ast.Constant):
            yield from self._constant(node)
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            yield self._replaced(node.test, f"(not ({self._text(node.test)}))")
        elif isinstance(node, ast.AugAssign | ast.Raise) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            yield self._replaced(node, "pass")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CONDITIONS:
            for condition in node.args:
                yield self._replaced(condition, f"~({self._text(condition)}).bool()")

    def _constant(self, node: ast.Constant) -> Iterator[Mutation]:
        if isinstance(node.value, bool):
            yield self._replaced(node, str(not node.value))
        elif isinstance(node.value, int | float):
            yield self._replaced(node, f"({self._text(node)} + 1)")
            yield self._replaced(node, f"({self._text(node)} - 1)")

    def _operator(self, left: ast.expr, operator: ast.AST, right: ast.expr) -> Iterator[Mutation]:
        old, new = _OPERATORS.get(type(operator), ("", ""))
        start, end = self._end(left), self._start(right)
        found = re.search(rb"[ )]" + re.escape(old.encode()) + rb"[ \n(]", b" " + self.source[start:end] + b" ")
        if old and found:
            yield self._mutation(start + found.start(), start + found.start() + len(old), new)

    def _replaced(self, node: ast.stmt | ast.expr, new: str) -> Mutation:
        return self._mutation(self._start(node), self._end(node), new)

    def _mutation(self, start: int, end: int, new: str) -> Mutation:
        line = bisect.bisect_right(self.lines, start)
        return Mutation(start=start, end=end, line=line, old=self.source[start:end].decode(), new=new)

    def _text(self, node: ast.expr) -> str:
        return self.source[self._start(node) : self._end(node)].decode()

    def _start(self, node: ast.stmt | ast.expr) -> int:
        return self.lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.stmt | ast.expr) -> int:
        return self.lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)


def _left_alone(node: ast.AST) -> bool:
    """Whether nothing of `node` is mutated."""
    if isinstance(node, ast.JoinedStr | ast.Assert | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.keyword) and node.arg in _GUARDS:
        return True
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
