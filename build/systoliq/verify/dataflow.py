"""Flow of data in a hierarchy of modules: which bits depend on data, and which of them are copies of it.

modules of a network  ->  data_flow: the control signals that depend on data, where data is computed that must only be
moved, and the modules in which data decides. The check is syntactic: a bit that an expression may read counts as read.

A bit is clean (no data), moved (a copy of a bit of data, selected by clean bits alone), or computed (any other function
of data). A condition, an index or an address that depends on data makes all bits computed that it may change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from .bits import CLEAN, Bits, carried, computed
from .cell_pins import CELL_OUTPUTS
from .cell_steps import is_ram_of_cells
from .expression import Binary, Call, Concat, Constant, Expression, Name, Signed, Ternary, Unary, UnreadableError, walk
from .modules import Assignment, Instance, Module
from .syntax import CLOCK
from .translate import is_signed
from .widths import COMPARISONS, LOGICAL, SHIFTS, function_of, width_of

__all__ = ["DataFlow", "Flow", "data_flow"]

_CONTROL = re.compile(r"(\w+__|[ms]_axis_\w+_t)(valid|ready|last)|error|rst")
_STREAM = re.compile(r"\w+__payload")
_MOVING = (
    r"window", r"skid_buffer_\d+", r"fork_\d+_of_\d+", r"fifo_\d+x\d+", r"(small_)?ram_\d+x\d+",
    r"gearbox_\d+_to_\d+_of_\d+", r"replay\w*", r"result_buffer",
)  # fmt: skip
"""Modules that must only move data, by their names without prefix."""
_OPERANDS = {"array": "a", "core": "i__payload"}  # ports of instances that must take moved data
_SUMS = ("+", "-", "*", *SHIFTS)
_RAM_CONTROL = ("write", "write_address", "read", "read_address", "show")


@dataclass
class Flow:
    """Data flow of a module: the bits of its `outputs`, and findings in it and in the instances within.

    `faults` are control signals that depend on data, and data that is computed where it must be moved; `decisions` are
    the modules in which data decides, and `logic` those in which it is compared, inverted or combined bit by bit: all
    but sums, differences, products and copies. `nets` has the bits of the nets in the module that depend on data, and
    `inner` the flows of the instances that data reaches; `bits_in` gives the bits of an expression in a context.
    """

    outputs: dict[str, Bits]
    faults: frozenset[str] = frozenset()
    decisions: frozenset[str] = frozenset()
    logic: frozenset[str] = frozenset()
    nets: Mapping[str, Bits] = field(default_factory=dict)
    inner: Mapping[str, Flow] = field(default_factory=dict)
    bits_in: Callable[[Expression, int, bool], Bits] = lambda expression, width, signed: CLEAN


def data_flow(modules: Mapping[str, Module], name: str, moves: Iterable[str] = ()) -> Flow:
    """The flow of the data at all inputs of the network `name`; the modules `moves` must only move it."""
    top = modules[name]
    data = [port for port in top.inputs if re.fullmatch(r"s_axis_a\d*_tdata", port)]
    return DataFlow(modules, name, moves).of(name, {port: Bits((1 << top.wires[port].width) - 1) for port in data})


class DataFlow:
    """Analyses of modules by the bits of their inputs; each module is analysed once for each kind of context."""

    def __init__(self, modules: Mapping[str, Module], name: str, moves: Iterable[str] = ()) -> None:
        self.modules, self._moves = modules, frozenset(moves)
        self._pipeline = f"{name}_pipeline"
        self._moving = re.compile(rf"{re.escape(name)}_(\w+_)?({'|'.join(_MOVING)})")
        self._known: dict[tuple[str, tuple[Bits, ...]], Flow] = {}

    def of(self, name: str, inputs: Mapping[str, Bits]) -> Flow:
        """The flow of the data at the `inputs` of the module `name`."""
        module = self.modules[name]
        key = (name, tuple(inputs.get(port, CLEAN) for port in sorted(module.inputs)))
        if key not in self._known:
            self._known[key] = _Analysis(self, module, inputs).result()
        return self._known[key]

    def placed(self, instance: Instance, within: str, inputs: Mapping[str, Bits]) -> Flow:
        """The same for an instance in the module `within`."""
        kind = instance.kind
        if within == self._pipeline:  # what a stage computes is data to be moved for the next one
            inputs = {port: Bits(bits.data) for port, bits in inputs.items()}
        if is_ram_of_cells(self.modules[kind]):
            return _ram(self.modules[kind], inputs)
        moves = kind in self._moves or self._moving.fullmatch(kind)
        found = self._moved(kind, inputs) if moves else self.of(kind, inputs)
        operands = _OPERANDS.get(instance.name)
        if operands is not None and inputs.get(operands, CLEAN).computed:
            fault = f"module {within}: {operands} of {instance.name} must be moved data, and is computed from it"
            return replace(found, faults=found.faults | {fault})
        return found

    def _moved(self, name: str, inputs: Mapping[str, Bits]) -> Flow:
        """The flow through a module that must only move its data, computed or not."""
        found = self.of(name, {port: Bits(bits.data) for port, bits in inputs.items()})
        faults = [
            f"module {name}: {port} must be moved data, and is computed from it"
            for port, bits in sorted(found.outputs.items())
            if bits.computed
        ]
        was_computed = any(bits.computed for bits in inputs.values())
        outputs = {port: Bits(bits.data, bits.data if was_computed else 0) for port, bits in found.outputs.items()}
        return replace(found, outputs=outputs, faults=found.faults | frozenset(faults))


class _Analysis:
    """One module in one context: a fixed point over its assignments and instances."""

    def __init__(self, flow: DataFlow, module: Module, inputs: Mapping[str, Bits]) -> None:
        self._flow, self._module = flow, module
        self._bits: dict[str, Bits] = {port: bits for port, bits in inputs.items() if bits.data}
        self._results: dict[str, Flow] = {}
        self._written = {
            each.target.name
            for each in module.clocked
            if isinstance(each.target, Name) and module.wires[each.target.name].words
        }
        self._solve()

    def _solve(self) -> None:
        readers: dict[str, list[Assignment | Instance]] = {}
        items: list[Assignment | Instance] = [
            *self._module.assignments, *self._module.clocked, *self._module.instances.values(),
        ]  # fmt: skip
        for item in items:
            for name in set(_names(item)):
                readers.setdefault(name, []).append(item)
        waiting = dict.fromkeys(item for name in self._bits for item in readers.get(name, ()))
        while waiting:
            item = next(iter(waiting))
            del waiting[item]
            for name in self._update(item):
                waiting |= dict.fromkeys(readers.get(name, ()))

    def _update(self, item: Assignment | Instance) -> Iterator[str]:
        """Yield the nets whose bits have become more."""
        if isinstance(item, Assignment):
            width = width_of(self._module, item.target)
            bits = self._value(item.value, width)
            if self._decides(item.condition) or self._decides(_address(self._module, item.target)):
                bits = computed(width)
            yield from self._give(item.target, bits)
            return
        for port, bits in self._placed(item).items():
            if bits.data:
                yield from self._give(item.ports[port], bits)

    def _give(self, target: Expression, bits: Bits) -> Iterator[str]:
        offset = 0
        for part in reversed(target.parts) if isinstance(target, Concat) else (target,):
            if not isinstance(part, Name):
                raise UnreadableError(f"module {self._module.name} assigns to what is no net")
            width = width_of(self._module, part)
            is_bit = isinstance(part.low, Constant) and not self._module.wires[part.name].words
            low = part.low.value or 0 if is_bit and isinstance(part.low, Constant) else 0
            before = self._bits.get(part.name, CLEAN)
            after = before | bits.cut(offset, width).at(low)
            if after != before:
                self._bits[part.name] = after
                yield part.name
            offset += width

    def _placed(self, instance: Instance) -> dict[str, Bits]:
        """The bits of the outputs of an instance that are connected."""
        placed = self._flow.modules.get(instance.kind)
        if placed is None:
            outputs = CELL_OUTPUTS[instance.kind]
            given = [each for port, each in instance.ports.items() if port not in outputs and each != Name(CLOCK)]
            any_data = any(self._value(each).data for each in given if not _is_clock(each))
            return {port: computed(outputs[port]) for port in instance.ports if port in outputs and any_data}
        given_bits = {
            port: self._value(each, placed.wires[port].width)
            for port, each in instance.ports.items()
            if port in placed.inputs and not _is_clock(each)
        }
        result = self._flow.placed(instance, self._module.name, given_bits)
        self._results[instance.name] = result
        return {port: bits for port, bits in result.outputs.items() if port in instance.ports}

    def result(self) -> Flow:
        """The findings."""
        module = self._module
        faults = [f"module {module.name}: {text} depends on data" for text in self._control()]
        decides = [module.name] if any(self._decided()) else []
        logic = [module.name] if any(self._combined()) else []
        for each in self._results.values():
            faults += each.faults
            decides += each.decisions
            logic += each.logic
        outputs = {port: self._bits.get(port, CLEAN) for port in module.outputs}
        found = frozenset(faults), frozenset(decides), frozenset(logic)
        return Flow(outputs, *found, self._bits, self._results, self._in)

    def _control(self) -> Iterator[str]:
        """The control signals that depend on data."""
        module = self._module
        for port in sorted(module.inputs | module.outputs):
            bits = self._bits.get(port, CLEAN).data
            if _CONTROL.fullmatch(port) and bits:
                yield port
            if _STREAM.fullmatch(port) and bits >> module.wires[port].width - 1:
                yield f"last in {port}"
        for each in module.clocked:
            if isinstance(each.target, Name) and each.target.name in self._written:
                if self._decides(each.condition):
                    yield f"the write enable of {each.target.name}"
                if self._decides(each.target.low):
                    yield f"the write address of {each.target.name}"
        for name in sorted(self._written):
            if any(self._decides(low) for low in self._addresses(name)):
                yield f"the read address of {name}"

    def _addresses(self, memory: str) -> Iterator[Expression | None]:
        for item in (*self._module.assignments, *self._module.clocked):
            for each in walk(item.value):
                if isinstance(each, Name) and each.name == memory:
                    yield each.low

    def _decided(self) -> Iterator[bool]:
        """True if data chooses, for each place where something is chosen."""
        for item in (*self._module.assignments, *self._module.clocked):
            yield self._decides(item.condition)
            for each in walk(item.value):
                match each:
                    case Ternary(condition, _, _):
                        yield self._decides(condition)
                    case Name(_, low, _):
                        yield self._decides(low)
                    case Call(_, arguments):
                        yield self._decides(arguments[-1])

    def _combined(self) -> Iterator[bool]:
        """True if data is compared, inverted or combined bit by bit, for each place where something is."""
        items: list[Assignment | Instance] = [*self._module.assignments, *self._module.clocked]
        for item in [*items, *self._module.instances.values()]:
            read: list[Expression | None] = (
                [*item.ports.values()] if isinstance(item, Instance) else [item.value, item.condition]
            )
            for expression in read:
                for each in walk(expression):
                    match each:
                        case Unary(operator, operand) if operator not in "+-":
                            yield self._decides(operand)
                        case Binary("&" | "|", left, right):
                            yield bool(self._value(left).data & self._value(right).data)
                        case Binary(operator, left, right) if operator not in _SUMS:
                            yield self._decides(left) or self._decides(right)

    def _decides(self, expression: Expression | None) -> bool:
        return expression is not None and bool(self._value(expression).data)

    # Expressions.

    def _value(self, expression: Expression, target_width: int = 0) -> Bits:
        own = width_of(self._module, expression)
        width = max(own, target_width)
        found = self._in(expression, width, is_signed(self._module, expression))
        return found.cut(0, target_width) if 0 < target_width < own else found

    def _in(self, expression: Expression, width: int, signed: bool) -> Bits:
        match expression:
            case Unary("~", operand):
                bits = self._in(operand, width, signed)
                return Bits(bits.data, bits.data)
            case Unary("+", operand):
                return self._in(operand, width, signed)
            case Unary("-", operand):
                return carried(self._in(operand, width, signed), width)
            case Unary(_, operand):
                return computed(1) if self._value(operand).data else CLEAN
            case Binary(operator, left, right) if operator in SHIFTS:
                return self._shifted(operator, self._in(left, width, signed), right, width)
            case Binary(operator, left, right) if operator in COMPARISONS + LOGICAL:
                return computed(1) if self._value(left).data | self._value(right).data else CLEAN
            case Binary(operator, left, right):
                a, b = self._in(left, width, signed), self._in(right, width, signed)
                if operator in ("&", "|"):  # a copy, or a constant, as a clean bit decides
                    return Bits(a.data | b.data, a.computed | b.computed | (a.data & b.data))
                both = Bits(a.data | b.data, a.data | b.data)
                return both if operator in ("^", "~^", "^~") else carried(both, width)
            case Ternary(condition, yes, no):
                if self._decides(condition):
                    return computed(width)
                return self._in(yes, width, signed) | self._in(no, width, signed)
        own = width_of(self._module, expression)
        bits = self._leaf(expression)
        if signed and width > own:
            above = ((1 << width) - (1 << own)) if own else 0
            sign = bits.cut(own - 1, 1)
            bits = bits | Bits(above if sign.data else 0, above if sign.computed else 0)
        return bits

    def _shifted(self, operator: str, bits: Bits, by: Expression, width: int) -> Bits:
        mask = (1 << width) - 1
        if self._decides(by):
            return computed(width)
        if not isinstance(by, Constant) or by.value is None or operator == ">>>":
            return Bits(mask if bits.data else 0, mask if bits.computed else 0)
        if operator in ("<<", "<<<"):
            by_value = min(by.value, width)
            return Bits(bits.data << by_value & mask, bits.computed << by_value & mask)
        return Bits(bits.data >> by.value, bits.computed >> by.value)

    def _leaf(self, expression: Expression) -> Bits:
        match expression:
            case Name():
                return self._name(expression)
            case Signed(operand, _):
                return self._value(operand)
            case Concat(parts):
                found, low = CLEAN, 0
                for part in reversed(parts):
                    found |= self._value(part).at(low)
                    low += width_of(self._module, part)
                return found
            case Call():
                return self._called(expression)
        return CLEAN

    def _name(self, expression: Name) -> Bits:
        bits = self._bits.get(expression.name, CLEAN)
        wire = self._module.wires[expression.name]
        if expression.low is None:
            return bits
        width = wire.width if wire.words else expression.width or 1
        if self._decides(expression.low):
            return computed(width)
        if wire.words:
            return bits
        if isinstance(expression.low, Constant):
            return bits.cut(expression.low.value or 0, width)
        mask = (1 << width) - 1
        return Bits(mask if bits.data else 0, mask if bits.computed else 0)

    def _called(self, call: Call) -> Bits:
        function = function_of(self._module, call)
        if self._decides(call.arguments[-1]):
            return computed(function.width)
        given = {
            name: self._value(argument, width)
            for (name, width), argument in zip(function.arguments, call.arguments, strict=True)
        }
        found = CLEAN
        for result in (function.otherwise, *(result for _, result in function.cases)):
            if isinstance(result, Name):
                low = result.low.value or 0 if isinstance(result.low, Constant) else 0
                found |= given[result.name].cut(low, function.width)
        return found


def _ram(module: Module, inputs: Mapping[str, Bits]) -> Flow:
    """A block RAM of vendor cells, which is taken to be one."""
    faults = [f"module {module.name}: {port} depends on data" for port in _RAM_CONTROL if inputs.get(port, CLEAN).data]
    outputs = {"read_data": inputs.get("write_data", CLEAN)}
    return Flow(outputs, frozenset(faults), nets={**inputs, **outputs})


def _address(module: Module, target: Expression) -> Expression | None:
    """The address of a word that is assigned to; None for a net."""
    return target.low if isinstance(target, Name) and module.wires[target.name].words else None


def _is_clock(expression: Expression) -> bool:
    return isinstance(expression, Name) and expression.name == CLOCK


def _names(item: Assignment | Instance) -> Iterator[str]:
    """The nets and memories that an assignment or an instance reads."""
    read: list[Expression | None] = list(item.ports.values()) if isinstance(item, Instance) else [
        item.value, item.condition, *([item.target.low] if isinstance(item.target, Name) else []),
    ]  # fmt: skip
    for expression in read:
        for each in walk(expression):
            if isinstance(each, Name):
                yield each.name
