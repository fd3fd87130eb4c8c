"""Widths of expressions by Verilog's rules, before their context extends them."""

from __future__ import annotations

from .expression import Binary, Call, Concat, Constant, Expression, Name, Signed, Ternary, Unary, UnreadableError
from .modules import Function, Module

__all__ = ["COMPARISONS", "LOGICAL", "SHIFTS", "function_of", "width_of"]

COMPARISONS = ("==", "!=", "===", "!==", "<", "<=", ">", ">=")
LOGICAL = ("&&", "||")
SHIFTS = ("<<", ">>", "<<<", ">>>")


def width_of(module: Module, expression: Expression) -> int:
    """Bits of an expression in `module`."""
    match expression:
        case Constant():
            return expression.width
        case Name():
            if expression.name not in module.wires:
                raise UnreadableError(f"module {module.name} has no net {expression.name}")
            wire = module.wires[expression.name]
            return wire.width if wire.words or expression.width is None else expression.width
        case Concat():
            return sum(width_of(module, part) for part in expression.parts)
        case Signed():
            return width_of(module, expression.operand)
        case Call():
            return function_of(module, expression).width
        case Ternary():
            return max(width_of(module, expression.yes), width_of(module, expression.no))
        case Unary():
            return width_of(module, expression.operand) if expression.operator in "~-+" else 1
        case Binary(operator, left, right):
            if operator in COMPARISONS + LOGICAL:
                return 1
            if operator in SHIFTS:
                return width_of(module, left)
            return max(width_of(module, left), width_of(module, right))


def function_of(module: Module, call: Call) -> Function:
    """The function that is called."""
    function = module.functions.get(call.function)
    if function is None or len(function.arguments) != len(call.arguments):
        raise UnreadableError(f"module {module.name} has no function {call.function} of {len(call.arguments)}")
    return function
