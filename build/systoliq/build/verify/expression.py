"""Verilog expressions, from tokens to a tree; `evaluate` gives them values."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = [
    "Binary", "Call", "Concat", "Constant", "Expression", "ExpressionParser", "Name", "Signed", "Ternary", "Tokens",
    "Unary", "UnreadableError",
]  # fmt: skip


class UnreadableError(ValueError):
    """The Verilog is not what systoliq emits: it has a form that does not occur there, or a part is missing."""


@dataclass(frozen=True, eq=False)
class Constant:
    """`value` is None where a bit of it is x."""

    value: int | None
    width: int
    signed: bool


@dataclass(frozen=True, eq=False)
class Name:
    """A net, or bits `low` and up of it: `width` of them, all where it is None; a word where it names a memory."""

    name: str
    low: Expression | None = None
    width: int | None = None


@dataclass(frozen=True, eq=False)
class Unary:
    """Negation or reduction."""

    operator: str
    operand: Expression


@dataclass(frozen=True, eq=False)
class Binary:
    """Arithmetic, comparison, shift or logic."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Ternary:
    """`condition ? yes : no`."""

    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, eq=False)
class Concat:
    """Parts, the most significant first."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class Signed:
    """`$signed(operand)` or `$unsigned(operand)`."""

    operand: Expression
    signed: bool


@dataclass(frozen=True, eq=False)
class Call:
    """A function of the module."""

    function: str
    arguments: tuple[Expression, ...]


Expression = Constant | Name | Unary | Binary | Ternary | Concat | Signed | Call

_LEVELS = (
    ("||",), ("&&",), ("|",), ("^", "~^", "^~"), ("&",), ("==", "!=", "===", "!=="), ("<", "<=", ">", ">="),
    ("<<", ">>", "<<<", ">>>"), ("+", "-"), ("*",),
)  # fmt: skip
_UNARY = ("~", "!", "-", "+", "&", "|", "^", "~&", "~|", "~^")
_MOST_REPEATS = 4096


class Tokens:
    """The words of a file, one after the other."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def at_end(self) -> bool:
        """Whether none is left."""
        return self._at >= len(self._tokens)

    def peek(self) -> str:
        """The next one, which stays."""
        if self.at_end:
            raise UnreadableError("the file ends in the middle of a module")
        return self._tokens[self._at]

    def next(self) -> str:
        """The next one."""
        token = self.peek()
        self._at += 1
        return token

    def accept(self, token: str) -> bool:
        """Take the next one if it is `token`."""
        found = self.peek() == token
        self._at += found
        return found

    def expect(self, *tokens: str) -> None:
        """Take these."""
        for token in tokens:
            if (found := self.next()) != token:
                raise UnreadableError(f"{token!r} was expected near {self._near()}, not {found!r}")

    def name(self) -> str:
        """Take an identifier."""
        token = self.next()
        if not re.match(r"[A-Za-z_\\$]", token):
            raise UnreadableError(f"a name was expected near {self._near()}, not {token!r}")
        return token.removeprefix("\\")

    def number(self) -> int:
        """Take a plain number."""
        token = self.next()
        if not token.isdecimal():
            raise UnreadableError(f"a number was expected near {self._near()}, not {token!r}")
        return int(token)

    def _near(self) -> str:
        return repr(" ".join(self._tokens[max(self._at - 6, 0) : self._at + 3]))


class ExpressionParser:
    """Expressions by precedence."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens

    def expression(self) -> Expression:
        """A whole expression."""
        condition = self._binary(0)
        if not self.tokens.accept("?"):
            return condition
        yes = self.expression()
        self.tokens.expect(":")
        return Ternary(condition, yes, self.expression())

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self.tokens.peek() in _LEVELS[level]:
            left = Binary(self.tokens.next(), left, self._binary(level + 1))
        return left

    def _unary(self) -> Expression:
        if self.tokens.peek() in _UNARY:
            return Unary(self.tokens.next(), self._unary())
        return self.primary()

    def primary(self) -> Expression:
        """A name, constant, concatenation, call or what stands in parentheses; also what is assigned to."""
        token = self.tokens.peek()
        if token == "(":  # noqa: S105 - a parenthesis
            self.tokens.next()
            inner = self.expression()
            self.tokens.expect(")")
            return inner
        if token == "{":  # noqa: S105 - a brace
            return self._concat()
        if token[0].isdecimal() or token[0] == "'":
            return self._constant()
        name = self.tokens.name()
        if self.tokens.accept("("):
            arguments = [self.expression()]
            while self.tokens.accept(","):
                arguments.append(self.expression())
            self.tokens.expect(")")
            if name in ("$signed", "$unsigned"):
                return Signed(arguments[0], name == "$signed")
            return Call(name, tuple(arguments))
        if not self.tokens.accept("["):
            return Name(name)
        low, width = self.expression(), 1
        if self.tokens.accept(":"):
            high, bottom = low, self.tokens.number()
            if not isinstance(high, Constant) or high.value is None:
                raise UnreadableError(f"a range of {name} begins with no number")
            low, width = Constant(bottom, 32, signed=True), high.value - bottom + 1
        elif self.tokens.accept("+:"):
            width = self.tokens.number()
        self.tokens.expect("]")
        return Name(name, low, width)

    def _concat(self) -> Expression:
        self.tokens.expect("{")
        parts = [self.expression()]
        if self.tokens.accept("{"):  # {n{a}}
            repeated, count = self.expression(), parts[0]
            self.tokens.expect("}", "}")
            if not isinstance(count, Constant) or count.value is None or count.value > _MOST_REPEATS:
                raise UnreadableError("a repetition has no plain count")
            return Concat((repeated,) * count.value)
        while self.tokens.accept(","):
            parts.append(self.expression())
        self.tokens.expect("}")
        return Concat(tuple(parts))

    def _constant(self) -> Constant:
        token = self.tokens.next()
        if token.isdecimal():
            return Constant(int(token), 32, signed=True)
        match = re.fullmatch(r"(\d+)'(s?)([bdh])([0-9a-fA-FxXzZ?_]+)", token)
        if not match:
            raise UnreadableError(f"a constant was expected, not {token!r}")
        size, signed, base, digits = match.groups()
        width = int(size)
        if set(digits) & set("xXzZ?"):
            return Constant(None, width, bool(signed))
        value = int(digits, {"b": 2, "d": 10, "h": 16}[base])
        if value >> width:
            raise UnreadableError(f"the constant {token} does not fit its width")
        return Constant(value, width, bool(signed))

    def constant(self) -> int:
        """A constant without x, as an unsigned number."""
        found = self._constant()
        if found.value is None:
            raise UnreadableError("a constant is unknown (x)")
        return found.value
