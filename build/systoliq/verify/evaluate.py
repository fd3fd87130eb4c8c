"""Values of nets in the Verilog, as if every register were a wire.

Apart from delays, a pipeline computes what its logic computes without the registers. `Scope.value` follows a net back
to constants, memories and the nets with `given` values, through the hierarchy and by Verilog's rules of width and sign.
A net can have many values at once: an array of Python integers, one per case.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .cells import CELLS
from .expression import Binary, Call, Concat, Constant, Expression, Name, Signed, Ternary, Unary, UnreadableError
from .modules import Assignment, Function, Instance, Module
from .operators import Value, arithmetic, as_signed, bit, choose, compare, part, reduce, shift_amount, sized
from .widths import COMPARISONS, SHIFTS, function_of, width_of

__all__ = ["Scope", "Value", "as_signed"]

_ARITHMETIC = ("+", "-", "*", "&", "|", "^", "~^", "^~")
_BITWISE = ("&", "|", "^")  # these make no bits beyond their operands


_Driver = Assignment | tuple[str, str]  # or an instance and a port of it
_LEAVES = (Name, Constant, Concat, Call, Signed)


@dataclass(kw_only=True)
class _Facts:
    """Facts of a module that do not depend on values: drivers of its nets, widths and signs of its expressions."""

    drivers: dict[str, list[tuple[int, int, _Driver, int, int]]] | None = None
    widths: dict[Expression, int] = field(default_factory=dict)
    signs: dict[Expression, bool] = field(default_factory=dict)


class Scope:
    """An instance of a module; `given` overrides the drivers of its nets.

    The scopes below it share the facts of each module, which must not change meanwhile.
    """

    def __init__(
        self,
        modules: Mapping[str, Module],
        name: str,
        given: Mapping[str, Value] | None = None,
        parent: Scope | None = None,
        instance: Instance | None = None,
        facts: dict[str, _Facts] | None = None,
    ) -> None:
        if name not in modules:
            raise UnreadableError(f"there is no module {name}")
        self.modules = modules
        self.module = modules[name]
        wires = self.module.wires
        self.given = {net: sized(value, wires[net].width) for net, value in (given or {}).items() if net in wires}
        self._parent = parent
        self._instance = instance
        self._children: dict[str, Scope] = {}
        self._known: dict[object, Value] = {}
        self._all_facts: dict[str, _Facts] = {} if facts is None else facts
        own = self._all_facts.setdefault(name, _Facts())
        self._widths, self._signs = own.widths, own.signs
        if own.drivers is None:
            own.drivers = self._find_drivers()
        self._drivers = own.drivers

    def child(self, name: str, given: Mapping[str, Value] | None = None) -> Scope:
        """The instance `name` within; a new scope if nets of it are given values."""
        if name not in self.module.instances:
            raise UnreadableError(f"module {self.module.name} has no {name}")
        if given or name not in self._children:
            instance = self.module.instances[name]
            scope = Scope(self.modules, instance.kind, given, self, instance, self._all_facts)
            if given:
                return scope
            self._children[name] = scope
        return self._children[name]

    def again(self, given: Mapping[str, Value]) -> Scope:
        """The same instance with other values given."""
        return Scope(self.modules, self.module.name, given, self._parent, self._instance, self._all_facts)

    def port(self, instance: str, port: str) -> Value:
        """The expression connected to an input of an instance within."""
        placed = self.module.instances.get(instance)
        if placed is None or port not in placed.ports:
            raise UnreadableError(f"module {self.module.name} has no {instance} with a port {port}")
        return self.evaluate(placed.ports[port])

    def connected(self, instance: str, port: str) -> str:
        """The net that an output of an instance within drives."""
        placed = self.module.instances.get(instance)
        net = None if placed is None else placed.ports.get(port)
        if not isinstance(net, Name) or net.low is not None:
            raise UnreadableError(f"module {self.module.name}: {instance}.{port} drives no net of its own")
        return net.name

    def port_width(self, instance: str, port: str) -> int:
        """Bits of a port of an instance within."""
        scope = self.child(instance)
        if port not in scope.module.wires:
            raise UnreadableError(f"module {scope.module.name} has no port {port}")
        return scope.module.wires[port].width

    # Nets.

    def value(self, name: str, low: int = 0, width: int | None = None) -> Value:
        """Bits `low` and up of a net."""
        wire = self.module.wires.get(name)
        if wire is None:
            raise UnreadableError(f"module {self.module.name} has no net {name}")
        width = wire.width if width is None else width
        mask = (1 << width) - 1
        if name in self.given:
            return sized((self.given[name] >> low) & mask, width)
        if name in self.module.inputs:
            if self._parent is None or self._instance is None or name not in self._instance.ports:
                raise UnreadableError(f"nothing is known about the input {name} of module {self.module.name}")
            parent_value = self._remember(name, lambda: self._parent_port(name, wire.width))
            return sized(part(parent_value, low, width, wire.width), width)
        return self.next(name, low, width)

    def next(self, name: str, low: int, width: int) -> Value:
        """Bits `low` and up of a net's driver, even if the net is given: for a register, its next value."""
        result: Value = 0
        covered, end = 0, low + width
        for at, size, driver, offset, whole in self._drivers.get(name, ()):
            if at < end and low < at + size:
                first, last = max(at, low), min(at + size, end)
                bits = sized(part(self._driven(driver), offset + first - at, last - first, whole), width)
                result = bits << (first - low) | result if covered else bits << (first - low) if first > low else bits
                driven = (1 << last) - (1 << first)
                if covered & driven:
                    raise UnreadableError(f"module {self.module.name}: {name} is driven twice")
                covered |= driven
        if covered != ((1 << width) - 1) << low:
            raise UnreadableError(f"module {self.module.name}: {name} is not driven by what can be followed")
        return result

    def _parent_port(self, name: str, width: int) -> Value:
        assert self._parent is not None  # noqa: S101 - value() looked
        assert self._instance is not None  # noqa: S101
        return self._parent.evaluate(self._instance.ports[name], width)

    def _find_drivers(self) -> dict[str, list[tuple[int, int, _Driver, int, int]]]:
        """For each net its parts: place, width, driver, place in the driver's value, and that value's width."""
        drivers: dict[str, list[tuple[int, int, _Driver, int, int]]] = {}

        def drive(target: Expression, driver: _Driver, whole: int) -> None:
            offset = 0
            for each in reversed(target.parts) if isinstance(target, Concat) else (target,):
                if not isinstance(each, Name) or (each.low is not None and not isinstance(each.low, Constant)):
                    raise UnreadableError(f"module {self.module.name} assigns to what is no net")
                width = self._width(each)
                low = 0 if each.low is None else each.low.value
                drivers.setdefault(each.name, []).append((low or 0, width, driver, offset, whole))
                offset += width

        for assignment in self.module.followed:
            drive(assignment.target, assignment, self._width(assignment.target))
        for instance in self.module.instances.values():
            placed = self.modules.get(instance.kind)
            outputs = placed.output_widths if placed is not None else _outputs_of_cell(instance.kind)
            for port, target in instance.ports.items():
                if port in outputs:
                    drive(target, (instance.name, port), outputs[port])
        return drivers

    def _driven(self, driver: _Driver) -> Value:
        if isinstance(driver, tuple):
            instance, port = driver
            if self.module.instances[instance].kind in CELLS:
                return self._cell(instance)[port]
            return self.child(instance).value(port)
        return self._remember(driver, lambda: self.evaluate(driver.value, self._width(driver.target)))

    def _cell(self, name: str) -> Mapping[str, Value]:
        """The outputs of a vendor cell within."""
        placed = self.module.instances[name]
        cell = CELLS[placed.kind]
        pins = functools.partial(self.port, name)
        values: Mapping[str, Value] = self._remember(placed, lambda: cell.values(placed.kind, placed.parameters, pins))
        return values

    def _remember(self, key: object, find: Any) -> Value:
        if key not in self._known:
            self._known[key] = None
            try:
                self._known[key] = find()
            except BaseException:
                del self._known[key]
                raise
        elif self._known[key] is None:
            raise UnreadableError(f"module {self.module.name} has a loop")
        return self._known[key]

    # Expressions.

    def _width(self, expression: Expression) -> int:
        width = self._widths.get(expression)
        if width is None:
            width = self._widths[expression] = width_of(self.module, expression)
        return width

    def _signed(self, expression: Expression) -> bool:
        signed = self._signs.get(expression)
        if signed is None:
            signed = self._signs[expression] = self._find_signed(expression)
        return signed

    def _find_signed(self, expression: Expression) -> bool:
        match expression:
            case Constant() | Signed():
                return expression.signed
            case Name():
                return expression.width is None and self.module.wires[expression.name].signed
            case Ternary():
                return self._signed(expression.yes) and self._signed(expression.no)
            case Unary():
                return expression.operator in "~-+" and self._signed(expression.operand)
            case Binary(operator, left, right) if operator in _ARITHMETIC:
                return self._signed(left) and self._signed(right)
            case Binary(operator, left, _) if operator in SHIFTS:
                return self._signed(left)
        return False

    def evaluate(self, expression: Expression, target_width: int = 0) -> Value:
        """Return the value, in the larger of its own width and its target's."""
        own = self._width(expression)
        value = self._in(expression, max(target_width, own), self._signed(expression))
        return sized(value & ((1 << target_width) - 1), target_width) if 0 < target_width < own else value

    def _in(self, expression: Expression, width: int, signed: bool) -> Value:
        """The value in a context of `width` bits, `signed` or not."""
        mask = (1 << width) - 1
        if isinstance(expression, _LEAVES):
            own = self._width(expression)
            value = sized(self._leaf(expression), width)
            return as_signed(value, own) & mask if signed and width > own else value
        match expression:
            case Unary(operator, operand) if operator in "~-+":
                value = self._in(operand, width, signed)
                return ({"~": ~value, "-": -value, "+": value}[operator]) & mask
            case Unary(operator, operand):
                return reduce(operator, self.evaluate(operand), self._width(operand))
            case Binary(operator, left, right) if operator in SHIFTS:
                value, by = self._in(left, width, signed), shift_amount(self.evaluate(right), width)
                if operator in ("<<", "<<<"):
                    return (value << by) & mask
                return (as_signed(value, width) >> by) & mask if operator == ">>>" and signed else value >> by
            case Binary(operator, left, right) if operator in COMPARISONS:
                width = max(self._width(left), self._width(right))
                signed = self._signed(left) and self._signed(right)
                a, b = self._in(left, width, signed), self._in(right, width, signed)
                return compare(operator, *((as_signed(a, width), as_signed(b, width)) if signed else (a, b)))
            case Binary("&&", left, right):
                return bit(self.evaluate(left) != 0) & bit(self.evaluate(right) != 0)
            case Binary("||", left, right):
                return bit(self.evaluate(left) != 0) | bit(self.evaluate(right) != 0)
            case Binary(operator, left, right):
                result = arithmetic(operator, self._in(left, width, signed), self._in(right, width, signed))
                return result if operator in _BITWISE else result & mask
            case Ternary():
                condition = self.evaluate(expression.condition)
                if not isinstance(condition, np.ndarray):
                    return self._in(expression.yes if condition else expression.no, width, signed)
                yes, no = self._in(expression.yes, width, signed), self._in(expression.no, width, signed)
                return choose((condition != 0).astype(bool), yes, no, width)
        raise self._not_followed()

    def _leaf(self, expression: Expression) -> Value:
        match expression:
            case Constant():
                if expression.value is None:
                    raise UnreadableError(f"module {self.module.name}: an unknown value (x) is used")
                return expression.value
            case Name():
                return self._name(expression)
            case Signed():
                return self.evaluate(expression.operand)
            case Concat():
                whole = self._width(expression)
                first, *others = expression.parts
                value = sized(self.evaluate(first), whole)
                for each in others:
                    value = (value << self._width(each)) | sized(self.evaluate(each), whole)
                return value
            case Call():
                return self._call(expression)
        raise self._not_followed()

    def _not_followed(self) -> UnreadableError:
        return UnreadableError(f"module {self.module.name} has an expression that cannot be followed")

    def _name(self, expression: Name) -> Value:
        wire = self.module.wires[expression.name]
        if expression.low is None:
            return self.value(expression.name)
        low = self.evaluate(expression.low)
        if wire.words:
            if expression.name in self.module.held:
                raise UnreadableError(f"module {self.module.name}: the memory {expression.name} is written to")
            return self._words(expression.name, low)
        if isinstance(low, np.ndarray):
            width = expression.width or 1
            return sized((self.value(expression.name) >> shift_amount(low, wire.width)) & ((1 << width) - 1), width)
        return self.value(expression.name, low, expression.width)

    def _words(self, memory: str, address: Value) -> Value:
        words = self.module.memories[memory]
        many = isinstance(address, np.ndarray)
        try:
            if not isinstance(words, dict):
                return words[address.astype(np.intp) if many else address]
            return np.array([words[int(each)] for each in address], dtype=object) if many else words[address]
        except (KeyError, IndexError) as error:
            raise UnreadableError(f"module {self.module.name}: {memory} has no word {error}") from error

    def _call(self, call: Call) -> Value:
        function = function_of(self.module, call)
        *_, (_, select_width) = function.arguments
        select = self.evaluate(call.arguments[-1], select_width)
        inner = _Arguments(self, function, call)
        many = isinstance(select, np.ndarray)
        results: list[tuple[Any, Expression]] = []
        for pattern, result in function.cases:
            care = int(pattern.replace("0", "1").replace("?", "0"), 2)
            matches = (select & care) == int(pattern.replace("?", "0"), 2)
            if np.any(matches):
                results.append((matches.astype(bool) if many else True, result))
        if len(results) > 1 and np.any(np.sum([matches for matches, _ in results], axis=0) > 1):
            # "parallel_case" lets a tool take either
            raise UnreadableError(f"module {self.module.name}: two cases of {call.function} match the same value")
        if not many:
            return inner.evaluate(results[0][1] if results else function.otherwise)
        taken = np.any([matches for matches, _ in results], axis=0) if results else np.zeros(len(select), bool)
        value: Value = 0 if taken.all() else inner.evaluate(function.otherwise)
        for matches, result in results:
            value = choose(matches, inner.evaluate(result), value, function.width)
        return value


class _Arguments:
    """The inside of a function: its arguments are evaluated when they are used."""

    def __init__(self, scope: Scope, function: Function, call: Call) -> None:
        self._scope = scope
        self._arguments = {
            name: (width, argument) for (name, width), argument in zip(function.arguments, call.arguments, strict=True)
        }

    def evaluate(self, result: Expression) -> Value:
        if isinstance(result, Constant) and result.value is not None:
            return result.value
        if not isinstance(result, Name) or result.name not in self._arguments:
            raise UnreadableError(f"module {self._scope.module.name} has a function that is no multiplexer")
        width, argument = self._arguments[result.name]
        low = 0 if result.low is None else self._scope.evaluate(result.low)
        found = result.width or width
        return sized((self._scope.evaluate(argument, width) >> low) & ((1 << found) - 1), found)


def _outputs_of_cell(kind: str) -> Mapping[str, int]:
    return CELLS[kind].outputs if kind in CELLS else {}
