"""An evaluator of modules, cycle by cycle: modules  ->  Machine, whose `step` is one period of the clock.

The hierarchy is flattened and translated to one function of Python. Every assignment to a net is a statement of it, in
an order in which each value is known before it is used. It shares nothing with the simulators that systoliq tests with.
"""

from __future__ import annotations

import graphlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .cell_pins import CELL_OUTPUTS
from .expression import Concat, Constant, Expression, Name, UnreadableError
from .modules import Module
from .syntax import CLOCK
from .translate import Translator
from .widths import width_of

__all__ = ["Machine", "UntranslatableError", "is_ram_of_cells"]

_MOST_NODES = 200_000  # statements of a flattened network
_RAM_INPUTS = frozenset({CLOCK, "write", "write_address", "write_data", "read", "read_address", "show"})


_Step = Callable[..., tuple[tuple[int, ...], tuple[int, ...]]]


class UntranslatableError(UnreadableError):
    """The modules are readable, but the evaluator cannot translate them."""


@dataclass
class _Flat:
    """The flattened hierarchy: parts of nets with their variables, statements, registers and memories."""

    parts: dict[tuple[str, str], list[tuple[int, int, str]]] = field(default_factory=dict)  # low, width, variable
    statements: dict[str, str] = field(default_factory=dict)  # variable: text
    registers: dict[str, tuple[str, int, int, str]] = field(
        default_factory=dict
    )  # variable: name, initial, width, next
    memories: dict[str, tuple[str, list[int]]] = field(default_factory=dict)  # variable: name, words
    writes: list[str] = field(default_factory=list)


class Machine:
    """The module `top` of these. `inputs` and `outputs` are its ports, but for the clock.

    Bits that the text leaves unknown are `unknown`, 0 or 1. A block RAM that is made of cells is taken to be one:
    `assumed` has the names of these modules. Nets within, which `observed` names by their instance ("a.b.") and name,
    are shown after the outputs.
    """

    def __init__(
        self,
        modules: Mapping[str, Module],
        top: str,
        *,
        unknown: int = 0,
        observed: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._modules, self._unknown, self._observed = modules, unknown, observed
        self._flat = _Flat()
        self._count = 0
        self.assumed: set[str] = set()
        module = modules[top]
        self.inputs = sorted(module.inputs - {CLOCK})
        self.outputs = sorted(module.outputs)
        for name in self.inputs:
            self._flat.parts["", name] = [(0, module.wires[name].width, f"i_{name}")]
        self._declare("", module)
        self._define("", module)
        self._registers = list(self._flat.registers)
        self._step = self._compiled(module)
        self.reset_to_power_up()

    def reset_to_power_up(self, fill: Callable[[int], int] | None = None) -> None:
        """Set registers and memories to their values at power-up; `fill` sets other values for some bits."""
        given = self._flat.registers.values()
        self.state: tuple[int, ...] = tuple(initial if fill is None else fill(bits) for _, initial, bits, _ in given)
        for variable, (_, words) in self._flat.memories.items():
            self._space[variable][:] = words

    @property
    def statements(self) -> int:
        """How many statements a step evaluates."""
        return len(self._flat.statements) + len(self._flat.registers)

    @property
    def register_names(self) -> list[str]:
        """The names of the registers, with their instances, in the order of `state`."""
        return [name for name, _, _, _ in self._flat.registers.values()]

    def snapshot(self) -> tuple[Any, ...]:
        """The contents of registers and memories."""
        return (self.state, *(tuple(self._space[variable]) for variable in self._flat.memories))

    def step(self, *inputs: int) -> tuple[int, ...]:
        """Return the `outputs` for these `inputs`, and then let the clock rise."""
        self.state, shown = self._step(self.state, *inputs)
        return shown

    # Flattening.

    def _variable(self) -> str:
        self._count += 1
        if self._count > _MOST_NODES:
            raise UntranslatableError(f"has more than {_MOST_NODES} statements when it is flattened")
        return f"v{self._count}"

    def _declare(self, path: str, module: Module) -> None:
        """Give each driven part of a net of this instance, and of those within, a variable."""
        for assignment in (*module.assignments, *module.clocked):
            for part, low, width in _parts(module, assignment.target):
                if module.wires[part].words:
                    continue
                self._part(path, part, low, width)
        for name, words in module.memories.items():
            count = module.wires[name].words
            held = [0] * count
            for at, word in words.items() if isinstance(words, dict) else enumerate(np.asarray(words).tolist()):
                held[at] = int(word)
            self._flat.memories[self._variable()] = (f"{path}{name}", held)
            self._flat.parts[path, name] = [(0, 0, f"v{self._count}")]
        for instance in module.instances.values():
            if instance.kind in CELL_OUTPUTS:
                raise UntranslatableError(f"module {module.name} has a cell {instance.kind}")
            placed = self._modules[instance.kind]
            inner = f"{path}{instance.name}."
            for port in sorted(placed.inputs - {CLOCK}):
                self._part(inner, port, 0, placed.wires[port].width)
            if is_ram_of_cells(placed):
                self.assumed.add(placed.name)
                self._part(inner, "read_data", 0, placed.wires["read_data"].width)
            else:
                self._declare(inner, placed)
            for port, target in instance.ports.items():
                if port in placed.outputs:
                    for part, low, width in _parts(module, target):
                        self._part(path, part, low, width)

    def _part(self, path: str, name: str, low: int, width: int) -> None:
        self._flat.parts.setdefault((path, name), []).append((low, width, self._variable()))

    def _net(self, path: str, name: str, low: int, width: int) -> str:
        """The text of some bits of a net."""
        texts, covered, end = [], 0, low + width
        for at, size, variable in self._flat.parts.get((path, name), ()):
            first, last = max(at, low), min(at + size, end)
            if first >= last:
                continue
            covered += last - first
            text = variable if first == at else f"{variable} >> {first - at}"
            if last < at + size:
                text = f"({text} & {(1 << last - first) - 1})"
            elif first > at:
                text = f"({text})"
            texts.append(f"{text} << {first - low}" if first > low else text)
        if covered != width:
            raise UntranslatableError(f"{path}{name} is not driven in all bits")
        return texts[0] if len(texts) == 1 and "<<" not in texts[0] else f"({' | '.join(texts)})"

    def _translator(self, path: str, module: Module) -> Translator:
        def memory(name: str, address: str) -> str:
            ((_, _, variable),) = self._flat.parts[path, name]
            words = module.wires[name].words
            return f"{variable}[{address}]" if not words & (words - 1) else f"{variable}[min({address}, {words - 1})]"

        return Translator(module, lambda name, low, width: self._net(path, name, low, width), memory, self._unknown)

    def _define(self, path: str, module: Module) -> None:
        """Add the statements of this instance and of those within."""
        translator = self._translator(path, module)
        for assignment in module.assignments:
            width = width_of(module, assignment.target)
            self._drive(path, module, assignment.target, translator.text(assignment.value, width), width)
        for assignment in module.clocked:
            self._clocked(path, module, translator, assignment)
        for instance in module.instances.values():
            placed = self._modules[instance.kind]
            inner = f"{path}{instance.name}."
            for port, connection in instance.ports.items():
                width = placed.wires[port].width
                if port in placed.outputs:
                    self._drive(path, module, connection, self._net(inner, port, 0, width), width)
                elif port != CLOCK:
                    ((_, _, variable),) = self._flat.parts[inner, port]
                    self._flat.statements[variable] = translator.text(connection, width)
            if is_ram_of_cells(placed):
                self._define_ram(inner, placed)
            else:
                self._define(inner, placed)

    def _define_ram(self, path: str, module: Module) -> None:
        """Add a memory that shows a word two cycles after it is read."""
        words, read = self._variable(), self._variable()
        bits = module.wires["read_data"].width
        self._flat.memories[words] = (f"{path}memory", [0] * (1 << module.wires["read_address"].width))
        given = {port: self._flat.parts[path, port][0][2] for port in (*_RAM_INPUTS - {CLOCK}, "read_data")}
        shown = given["read_data"]
        text = f"{words}[{given['read_address']}] if {given['read']} else {read}"
        self._flat.registers[read] = (f"{path}read", 0, bits, text)
        self._flat.registers[shown] = (f"{path}read_data", 0, bits, f"{read} if {given['show']} else {shown}")
        self._flat.writes.append(f"if {given['write']}: {words}[{given['write_address']}] = {given['write_data']}")

    def _drive(self, path: str, module: Module, target: Expression, text: str, whole: int) -> None:
        """Add statements that give the parts of `target` their bits of a value of `whole` bits."""
        parts = list(_parts(module, target))
        if len(parts) > 1:
            value = self._variable()
            self._flat.statements[value] = text
            text = value
        offset = 0
        for name, low, width in parts:
            of = text if len(parts) == 1 else f"({text} >> {offset} & {(1 << width) - 1})"
            self._flat.statements[self._driven(path, name, low, width)] = of
            offset += width

    def _driven(self, path: str, name: str, low: int, width: int) -> str:
        return next(v for at, size, v in self._flat.parts[path, name] if (at, size) == (low, width))

    def _clocked(self, path: str, module: Module, translator: Translator, assignment: Any) -> None:
        width = width_of(module, assignment.target)
        value = translator.text(assignment.value, width)
        condition = None if assignment.condition is None else translator.text(assignment.condition)
        target = assignment.target
        if isinstance(target, Name) and module.wires[target.name].words:
            ((_, _, variable),) = self._flat.parts[path, target.name]
            address = translator.text(target.low) if target.low is not None else "0"
            words = module.wires[target.name].words
            self._flat.writes.append(f"if {condition} and (a := {address}) < {words}: {variable}[a] = {value}")
            return
        offset = 0
        for name, low, size in _parts(module, target):
            variable = self._driven(path, name, low, size)
            of = value if size == width else f"({value} >> {offset} & {(1 << size) - 1})"
            text = of if condition is None else f"{of} if {condition} else {variable}"
            initial = module.initial.get(name, 0) >> low & (1 << size) - 1
            self._flat.registers[variable] = (f"{path}{name}", initial, size, text)
            offset += size

    # Compiling.

    def _ordered(self) -> Iterator[str]:
        """The variables of statements, each after those that it needs."""
        statements = self._flat.statements
        used = {
            variable: set(re.findall(r"\bv\d+\b", text)) & statements.keys() for variable, text in statements.items()
        }
        try:
            yield from graphlib.TopologicalSorter(used).static_order()
        except graphlib.CycleError as error:
            raise UntranslatableError("has a loop of logic") from error

    def _compiled(self, module: Module) -> _Step:
        flat = self._flat
        lines = [f"def step(state, {', '.join(f'i_{name}' for name in self.inputs)}):"]
        if flat.registers:
            lines.append(f"    ({', '.join(flat.registers)},) = state")
        lines += [f"    {variable} = {flat.statements[variable]}" for variable in self._ordered()]
        nexts = [text for _, _, _, text in flat.registers.values()]
        lines.append(f"    following = ({', '.join(nexts)}{',' if nexts else ''})")
        lines += [f"    {write}" for write in flat.writes]
        shown = [self._net("", name, 0, module.wires[name].width) for name in self.outputs]
        for path, name in self._observed:
            parts = self._flat.parts.get((path, name), ())
            shown.append(self._net(path, name, 0, sum(width for _, width, _ in parts)))
        lines.append(f"    return following, ({', '.join(shown)},)")
        self._space: dict[str, Any] = {variable: list(words) for variable, (_, words) in flat.memories.items()}
        try:
            exec(compile("\n".join(lines), "<package>", "exec"), self._space)  # noqa: S102 - text that is made above
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise UntranslatableError(f"is too deep to translate ({type(error).__name__})") from error
        found: _Step = self._space["step"]
        return found


def is_ram_of_cells(module: Module) -> bool:
    """True if a module has the ports of a block RAM and no memory of its own: vendor cells are in its place."""
    return module.inputs == _RAM_INPUTS and module.outputs == {"read_data"} and not module.memories


def _parts(module: Module, target: Expression) -> Iterator[tuple[str, int, int]]:
    """The parts of the target of an assignment, the least significant first: name, low bit and width."""
    for each in reversed(target.parts) if isinstance(target, Concat) else (target,):
        if not isinstance(each, Name):
            raise UnreadableError(f"module {module.name} assigns to what is no net")
        low = each.low.value or 0 if isinstance(each.low, Constant) else 0
        yield each.name, low, width_of(module, each)
