"""Verilog expressions, translated to Python: an expression in a module  ->  text of Python that gives its value.

Values are integers, not negative. Widths and signs follow Verilog's rules, as in `evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable

from .expression import Binary, Call, Concat, Constant, Expression, Name, Signed, Ternary, Unary, UnreadableError
from .modules import Module
from .widths import COMPARISONS, SHIFTS, function_of, width_of

__all__ = ["Translator", "is_signed"]

_ARITHMETIC = ("+", "-", "*", "&", "|", "^", "~^", "^~")
_COMPARED = {"===": "==", "!==": "!="}


def is_signed(module: Module, expression: Expression) -> bool:
    """True if an expression is signed by itself."""
    match expression:
        case Constant() | Signed():
            return expression.signed
        case Name():
            return expression.width is None and module.wires[expression.name].signed
        case Ternary():
            return is_signed(module, expression.yes) and is_signed(module, expression.no)
        case Unary():
            return expression.operator in "~-+" and is_signed(module, expression.operand)
        case Binary(operator, left, right) if operator in _ARITHMETIC:
            return is_signed(module, left) and is_signed(module, right)
        case Binary(operator, left, _) if operator in SHIFTS:
            return is_signed(module, left)
    return False


class Translator:
    """Translates expressions of `module`.

    `net` returns the text of some bits of a net (name, low, width), and `memory` the text of a word (name, text of the
    address). Bits that are unknown (x) are `unknown`, 0 or 1.
    """

    def __init__(
        self, module: Module, net: Callable[[str, int, int], str], memory: Callable[[str, str], str], unknown: int
    ) -> None:
        self._module = module
        self._net = net
        self._memory = memory
        self._unknown = unknown
        self._bound = 0
        self._scale = 1  # bits of an integer that stand for a bit of a value
        self._plain = self  # translates conditions and addresses

    def text(self, expression: Expression, target_width: int = 0) -> str:
        """The value in the larger of the expression's own width and the target's width, cut to the target's."""
        own = width_of(self._module, expression)
        text = self.in_context(expression, max(own, target_width), is_signed(self._module, expression))
        return f"({text} & {self._mask(target_width)})" if 0 < target_width < own else text

    def _mask(self, width: int) -> int:
        return (1 << width * self._scale) - 1

    def _signed(self, text: str, width: int) -> str:
        sign = 1 << (width - 1)
        return f"(({text} ^ {sign}) - {sign})"

    def in_context(self, expression: Expression, width: int, signed: bool) -> str:
        """The value in a context of `width` bits, `signed` or not."""
        mask = (1 << width) - 1
        match expression:
            case Unary("~", operand):
                return f"({self.in_context(operand, width, signed)} ^ {mask})"
            case Unary("-", operand):
                return f"(-{self.in_context(operand, width, signed)} & {mask})"
            case Unary("+", operand):
                return self.in_context(operand, width, signed)
            case Unary(operator, operand):
                return self._reduced(operator, operand)
            case Binary(operator, left, right) if operator in SHIFTS:
                return self._shifted(operator, self.in_context(left, width, signed), self.text(right), width, signed)
            case Binary(operator, left, right) if operator in COMPARISONS:
                return self._compared(operator, left, right)
            case Binary("&&" | "||" as operator, left, right):
                word = "and" if operator == "&&" else "or"
                return f"(1 if {self.text(left)} {word} {self.text(right)} else 0)"
            case Binary(operator, left, right):
                return self._calculated(
                    operator, self.in_context(left, width, signed), self.in_context(right, width, signed), mask
                )
            case Ternary(condition, yes, no):
                chosen = self.in_context(yes, width, signed), self.in_context(no, width, signed)
                return f"({chosen[0]} if {self.text(condition)} else {chosen[1]})"
        own = width_of(self._module, expression)
        text = self._leaf(expression)
        return f"({self._signed(text, own)} & {mask})" if signed and width > own else text

    def _reduced(self, operator: str, operand: Expression) -> str:
        text, whole = self.text(operand), (1 << width_of(self._module, operand)) - 1
        negated = operator in ("!", "~&", "~|", "~^")
        if operator in ("|", "~|", "!"):
            return f"(0 if {text} else 1)" if negated else f"(1 if {text} else 0)"
        if operator in ("&", "~&"):
            return f"(1 if {text} {'!=' if negated else '=='} {whole} else 0)"
        return f"({text}.bit_count() & 1 ^ {int(negated)})"

    def _shifted(self, operator: str, value: str, by: str, width: int, signed: bool) -> str:
        if operator in ("<<", "<<<"):
            return f"({value} << min({by}, {width}) & {(1 << width) - 1})"
        if operator == ">>>" and signed:
            return f"({self._signed(value, width)} >> {by} & {(1 << width) - 1})"
        return f"({value} >> {by})"

    def _compared(self, operator: str, left: Expression, right: Expression) -> str:
        width = max(width_of(self._module, left), width_of(self._module, right))
        signed = is_signed(self._module, left) and is_signed(self._module, right)
        a, b = self.in_context(left, width, signed), self.in_context(right, width, signed)
        if signed and operator[0] in "<>":
            a, b = self._signed(a, width), self._signed(b, width)
        return f"(1 if {a} {_COMPARED.get(operator, operator)} {b} else 0)"

    @staticmethod
    def _calculated(operator: str, a: str, b: str, mask: int) -> str:
        if operator in ("&", "|", "^"):
            return f"({a} {operator} {b})"
        if operator in ("~^", "^~"):
            return f"({a} ^ {b} ^ {mask})"
        return f"({a} {operator} {b} & {mask})"

    def _leaf(self, expression: Expression) -> str:
        match expression:
            case Constant():
                filled = (1 << expression.width) - 1 if self._unknown else 0
                return str(filled if expression.value is None else expression.value)
            case Name():
                return self._name(expression)
            case Signed():
                return self.text(expression.operand)
            case Concat():
                return self._joined(expression)
            case Call():
                return self._called(expression)
        raise UnreadableError(f"module {self._module.name} has an expression that cannot be translated")

    def _name(self, expression: Name) -> str:
        wire = self._module.wires[expression.name]
        if wire.words and expression.low is not None:
            return self._memory(expression.name, self._plain.text(expression.low))
        if expression.low is None:
            return self._net(expression.name, 0, wire.width)
        width = expression.width or 1
        if isinstance(expression.low, Constant):
            return self._net(expression.name, expression.low.value or 0, width)
        whole = self._net(expression.name, 0, wire.width)
        by = self._plain.text(expression.low)
        return f"({whole} >> {by}{f' * {self._scale}' if self._scale > 1 else ''} & {self._mask(width)})"

    def _joined(self, expression: Concat) -> str:
        texts, low = [], 0
        for part in reversed(expression.parts):
            text = self.text(part)
            if text != "0":
                texts.append(f"{text} << {low * self._scale}" if low else text)
            low += width_of(self._module, part)
        return f"({' | '.join(reversed(texts))})" if texts else "0"

    def _called(self, call: Call) -> str:
        """A function: the first case whose pattern the last argument matches."""
        function = function_of(self._module, call)
        arguments = {
            name: (width, argument) for (name, width), argument in zip(function.arguments, call.arguments, strict=True)
        }
        self._bound += 1
        select = f"s{self._bound}"
        bound = f"({select} := {self._plain.text(call.arguments[-1], function.arguments[-1][1])})"
        text = self._result(arguments, function.otherwise)
        for pattern, result in reversed(function.cases):
            care = int(pattern.replace("0", "1").replace("?", "0"), 2)
            value = int(pattern.replace("?", "0"), 2)
            matches = f"{select} & {care} == {value}" if care != value or care & (care - 1) else f"{select} & {care}"
            text = f"({self._result(arguments, result)} if {matches} else {text})"
        return f"({bound}, {text})[1]"

    def _result(self, arguments: dict[str, tuple[int, Expression]], result: Expression) -> str:
        if isinstance(result, Constant):
            return self._leaf(result)
        if not isinstance(result, Name):
            raise UnreadableError(f"module {self._module.name} has a function that is no multiplexer")
        width, argument = arguments[result.name]
        low = 0 if not isinstance(result.low, Constant) else result.low.value or 0
        return self._part(argument, width, low, result.width or width)

    def _part(self, expression: Expression, whole: int, low: int, width: int) -> str:
        """Bits `low` and up of an expression in a context of `whole` bits."""
        if isinstance(expression, Concat):
            at = 0
            for each in reversed(expression.parts):
                size = width_of(self._module, each)
                if at <= low and low + width <= at + size:
                    return self._part(each, size, low - at, width)
                at += size
        if isinstance(expression, Name) and isinstance(expression.low, Constant | None):
            wire = self._module.wires[expression.name]
            base = 0 if expression.low is None else expression.low.value or 0
            if not wire.words and low + width <= width_of(self._module, expression):
                return self._net(expression.name, base + low, width)
        text = self.text(expression, whole)
        return text if (low, width) == (0, whole) else f"({text} >> {low * self._scale} & {self._mask(width)})"
