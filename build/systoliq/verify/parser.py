"""Parser of Verilog expressions: tokens  ->  a tree, of bounded depth."""

from __future__ import annotations

import re

from .expression import Binary, Call, Concat, Constant, Expression, Name, Signed, Ternary, Unary
from .tokens import Tokens

__all__ = ["ExpressionParser"]

_LEVELS = (
    ("||",), ("&&",), ("|",), ("^", "~^", "^~"), ("&",), ("==", "!=", "===", "!=="), ("<", "<=", ">", ">="),
    ("<<", ">>", "<<<", ">>>"), ("+", "-"), ("*",),
)  # fmt: skip
_UNARY = ("~", "!", "-", "+", "&", "|", "^", "~&", "~|", "~^")
_MOST_REPEATS = 4096  # of repetitions within one another, all together
_BITS = {"b": 1, "h": 4}  # of a digit
_DIGITS = {"b": set("01"), "d": set("0123456789"), "h": set("0123456789abcdef")}
_MOST_OPERANDS = 64
_DEEPEST = 24  # depth of nested expressions; systoliq writes up to 4


class ExpressionParser:
    """Expressions by precedence."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self._depth = 0
        self._repeats = 1

    def expression(self) -> Expression:
        """A whole expression."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.tokens.error(f"expressions may be within one another to a depth of {_DEEPEST}, and are deeper")
        found = self._ternary()
        self._depth -= 1
        return found

    def named(self, name: str) -> str:
        """`name`, which an expression refers to."""
        return name

    def _ternary(self) -> Expression:
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
        count = 1
        while self.tokens.peek() in _LEVELS[level]:
            count += 1
            if count > _MOST_OPERANDS:
                raise self.tokens.error(f"an expression has more than {_MOST_OPERANDS} operands in a row")
            left = Binary(self.tokens.next(), left, self._binary(level + 1))
        return left

    def _unary(self) -> Expression:
        if self.tokens.peek() in _UNARY:
            operator = self.tokens.next()
            if self.tokens.peek() in _UNARY:
                raise self.tokens.error("an operator follows another without a parenthesis")
            return Unary(operator, self.primary())
        return self.primary()

    def primary(self) -> Expression:
        """Parse a name, constant, concatenation, call or parenthesized expression, or the target of an assignment."""
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
        if token in ("$signed", "$unsigned"):
            self.tokens.expect(token, "(")
            operand = self.expression()
            self.tokens.expect(")")
            return Signed(operand, token == "$signed")  # noqa: S105 - a function
        name = self.tokens.name()
        if self.tokens.accept("("):
            arguments = [self.expression()]
            while self.tokens.accept(","):
                arguments.append(self.expression())
            self.tokens.expect(")")
            return Call(name, tuple(arguments))
        self.named(name)
        if not self.tokens.accept("["):
            return Name(name)
        low, width = self._index(), 1
        if self.tokens.accept(":"):
            high, bottom = low, self.tokens.number()
            if not isinstance(high, Constant) or high.value is None or high.value < bottom:
                raise self.tokens.error(f"a range of {name} does not go down from a number")
            low, width = Constant(bottom, 32, signed=True), high.value - bottom + 1
        elif self.tokens.accept("+:"):
            width = self.tokens.number()
        self.tokens.expect("]")
        return Name(name, low, width)

    def _index(self) -> Expression:
        if self.tokens.peek().isdecimal():
            return Constant(self.tokens.number(), 32, signed=True)
        return self.expression()

    def _concat(self) -> Expression:
        self.tokens.expect("{")
        if self.tokens.peek().isdecimal():  # {n{a}}
            count = self.tokens.number()
            if not 0 < count * self._repeats <= _MOST_REPEATS:
                raise self.tokens.error(f"repetitions must be 1 to {_MOST_REPEATS}, not {count * self._repeats}")
            self.tokens.expect("{")
            self._repeats *= count
            repeated = self.expression()
            self._repeats //= count
            self.tokens.expect("}", "}")
            return Concat((repeated,) * count)
        parts = [self.expression()]
        while self.tokens.accept(","):
            parts.append(self.expression())
        self.tokens.expect("}")
        return Concat(tuple(parts))

    def _constant(self) -> Constant:
        token = self.tokens.next()
        match = re.fullmatch(r"(\d{1,7})'(s?)([bdh])([0-9a-fx]+)", token)
        if not match:
            raise self.tokens.error(f"a constant was expected, not {token[:60]!r}")
        size, signed, base, digits = match.groups()
        width = int(size)
        if not width or (base == "d" and width != 32) or (base != "d" and len(digits) != -(-width // _BITS[base])):
            raise self.tokens.error(f"the constant {token[:60]} must have as many digits as its width")
        if "x" in digits:
            return Constant(None, width, bool(signed))
        if not set(digits) <= _DIGITS[base]:
            raise self.tokens.error(f"the constant {token[:60]} has a digit that its base has not")
        value = int(digits, {"b": 2, "d": 10, "h": 16}[base])
        if value >> width:
            raise self.tokens.error(f"the constant {token[:60]} does not fit its width")
        return Constant(value, width, bool(signed))

    def constant(self) -> Constant:
        """A constant without x, with an explicit width."""
        found = self._constant()
        if found.value is None:
            raise self.tokens.error("a constant is unknown (x)")
        return found
