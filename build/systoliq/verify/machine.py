"""An evaluator of modules, cycle by cycle: modules  ->  Machine, whose `step` is one period of the clock.

The hierarchy is flattened and translated to one function of Python. Every assignment to a net is a statement of it, in
an order in which each value is known before it is used. It shares nothing with the simulators that systoliq tests with.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .cell_pins import CELL_OUTPUTS
from .cell_steps import RAM_INPUTS, is_ram_of_cells, shown_by
from .expression import Expression, Name, UnreadableError
from .modules import Assignment, Instance, Module
from .pieces import Piece, parts_of
from .statements import LoopError, ordered, used
from .syntax import CLOCK
from .translate import Translator
from .widths import width_of

__all__ = ["Machine", "UntranslatableError"]

_MOST_NODES = 200_000  # statements of a flattened network


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
    writes: dict[str, list[str]] = field(default_factory=dict)  # variable of the memory: statements
    missing: dict[str, str] = field(default_factory=dict)  # variable: why nothing gives it


class Machine:
    """The module `top` of these. `inputs` and `outputs` are its ports, but for the clock.

    Bits that the text leaves unknown are `unknown`, 0 or 1. A block RAM that is made of cells is taken to be one:
    `assumed` has the names of these modules. Nets within, which `observed` names by their instance ("a.b.") and name,
    are shown after the outputs. What neither these nor the outputs depend on is left out, also from the state.
    """

    _more_inputs: Sequence[str] = ()  # beside the ports

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
        self._tables: dict[tuple[int, ...], str] = {}  # of cells, with their variables
        self.assumed: set[str] = set()
        module = modules[top]
        ports = sorted(module.inputs - {CLOCK})
        self.inputs = [*ports, *self._more_inputs]
        self.outputs = sorted(module.outputs)
        for name in ports:
            self._part("", name, 0, module.wires[name].width, f"i_{name}")
        self._declare("", module)
        self._define("", module)
        self._step = self._compiled(module)
        self.reset_to_power_up()

    def reset_to_power_up(self, fill: Callable[[int, int], int] | None = None) -> None:
        """Set registers and memories to their values at power-up; `fill` gives other values of registers for their
        number of bits and their value at power-up.
        """
        given = self._flat.registers.values()
        self.state: tuple[int, ...] = tuple(
            initial if fill is None else fill(bits, initial) for _, initial, bits, _ in given
        )
        for variable, (_, words) in self._flat.memories.items():
            self._space[variable][:] = words

    @property
    def state_names(self) -> list[str]:
        """The names of registers and written memories with their instances, in the order of `snapshot`."""
        registers = [name for name, _, _, _ in self._flat.registers.values()]
        return [*registers, *(name for name, _ in self._written.values())]

    def snapshot(self) -> tuple[Any, ...]:
        """The contents of registers and of memories that are written."""
        return (*self.state, *(tuple(self._space[variable]) for variable in self._written))

    def step(self, *inputs: int) -> tuple[int, ...]:
        """Return the `outputs` for these `inputs`, and then let the clock rise."""
        self.state, shown = self._step(self.state, *inputs)
        return shown

    @property
    def _written(self) -> dict[str, tuple[str, list[int]]]:
        flat = self._flat
        return {variable: each for variable, each in flat.memories.items() if variable in flat.writes}

    # Flattening.

    def _variable(self) -> str:
        self._count += 1
        if self._count > _MOST_NODES:
            raise UntranslatableError(f"has more than {_MOST_NODES} statements when it is flattened")
        return f"v{self._count}"

    def _declare(self, path: str, module: Module) -> None:
        """Give each driven part of a net of this instance, and of those within, a variable."""
        for assignment in (*module.assignments, *module.clocked):
            for part, low, width in parts_of(module, assignment.target):
                if module.wires[part].words:
                    continue
                self._part(path, part, low, width)
        for name, words in module.memories.items():
            count = module.wires[name].words
            held = [0] * count
            for at, word in words.items() if isinstance(words, dict) else enumerate(np.asarray(words).tolist()):
                held[at] = int(word)
            variable, width = self._part(path, name, 0, 0), module.wires[name].width
            held = [self._initial(variable, word, width) for word in held]
            self._flat.memories[variable] = (f"{path}{name}", held)
        for instance in module.instances.values():
            if instance.kind in CELL_OUTPUTS:
                for port in instance.ports.keys() & CELL_OUTPUTS[instance.kind].keys():
                    for part, low, width in parts_of(module, instance.ports[port]):
                        self._part(path, part, low, width)
                continue
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
                    for part, low, width in parts_of(module, target):
                        self._part(path, part, low, width)

    def _part(self, path: str, name: str, low: int, width: int, variable: str = "") -> str:
        """Give some bits of a net a variable, by default a new one."""
        variable = variable or self._variable()
        self._flat.parts.setdefault((path, name), []).append((low, width, variable))
        return variable

    def _initial(self, variable: str, value: int, width: int) -> int:
        """The integer that a register or a word of a memory holds at power-up."""
        return value

    def _overlaps(self, path: str, name: str, low: int, width: int) -> Iterator[Piece]:
        """The pieces of variables that some bits of a net consist of."""
        covered, end = 0, low + width
        for at, size, variable in self._flat.parts.get((path, name), ()):
            first, last = max(at, low), min(at + size, end)
            if first < last:
                covered += last - first
                yield Piece(variable, first - at, last - first, size, first - low)
        if covered != width:
            raise UntranslatableError(f"{path}{name} is not driven in all bits")

    def _net(self, path: str, name: str, low: int, width: int) -> str:
        """The text of some bits of a net."""
        texts = [(self._piece(piece), piece.place) for piece in self._overlaps(path, name, low, width)]
        if len(texts) == 1 and not texts[0][1]:
            return texts[0][0]
        return f"({' | '.join(f'{text} << {place}' if place else text for text, place in texts)})"

    def _piece(self, piece: Piece) -> str:
        """The text of a piece."""
        text = f"{piece.variable} >> {piece.low}" if piece.low else piece.variable
        if piece.low + piece.width < piece.size:
            return f"({text} & {(1 << piece.width) - 1})"
        return f"({text})" if piece.low else text

    def _translator(self, path: str, module: Module, scale: int = 1) -> Translator:
        """Translates expressions of an instance; a bit of a value takes `scale` bits of an integer."""
        return Translator(
            module,
            lambda name, low, width: self._net(path, name, low, width),
            lambda name, address: self._word(path, module, name, address),
            self._unknown,
        )

    def _word(self, path: str, module: Module, name: str, address: str) -> str:
        ((_, _, variable),) = self._flat.parts[path, name]
        words = module.wires[name].words
        return f"{variable}[{address}]" if not words & (words - 1) else f"{variable}[min({address}, {words - 1})]"

    def _scale(self, variables: Sequence[str]) -> int:
        """How many bits of an integer a bit of a value takes that goes to `variables`."""
        return 1

    def _define(self, path: str, module: Module) -> None:
        """Add the statements of this instance and of those within."""
        for assignment in module.assignments:
            self._flat.statements |= self._given(path, module, assignment.target, self._value(path, module, assignment))
        for assignment in module.clocked:
            self._clocked(path, module, assignment)
        for instance in module.instances.values():
            (self._define_cell if instance.kind in CELL_OUTPUTS else self._place)(path, module, instance)

    def _value(self, path: str, module: Module, assignment: Assignment) -> Callable[[int], str]:
        """The text of what is assigned, at a scale."""
        width = width_of(module, assignment.target)
        return lambda scale: self._translator(path, module, scale).text(assignment.value, width)

    def _place(self, path: str, module: Module, instance: Instance) -> None:
        """Add the statements of an instance, and of its connections."""
        placed = self._modules[instance.kind]
        inner = f"{path}{instance.name}."
        for port, connection in instance.ports.items():
            width = placed.wires[port].width
            if port in placed.outputs:
                output = functools.partial(self._output, inner, port, width)
                self._flat.statements |= self._given(path, module, connection, output)
            elif port != CLOCK:
                ((_, _, variable),) = self._flat.parts[inner, port]
                translator = self._translator(path, module, self._scale([variable]))
                self._flat.statements[variable] = translator.text(connection, width)
        if is_ram_of_cells(placed):
            self._define_ram(inner, placed)
        else:
            self._define(inner, placed)

    def _output(self, path: str, port: str, width: int, scale: int) -> str:
        """The text of an output of the instance `path`."""
        return self._net(path, port, 0, width)

    def _define_ram(self, path: str, module: Module) -> None:
        """Add a memory that shows a word two cycles after it is read."""
        words, read = self._variable(), self._variable()
        bits = module.wires["read_data"].width
        self._flat.memories[words] = (f"{path}memory", [0] * (1 << module.wires["read_address"].width))
        given = {port: self._flat.parts[path, port][0][2] for port in (*RAM_INPUTS - {CLOCK}, "read_data")}
        shown = given["read_data"]
        text = f"{words}[{given['read_address']}] if {given['read']} else {read}"
        self._flat.registers[read] = (f"{path}read", 0, bits, text)
        self._flat.registers[shown] = (f"{path}read_data", 0, bits, f"{read} if {given['show']} else {shown}")
        self._flat.writes[words] = [f"if {given['write']}: {words}[{given['write_address']}] = {given['write_data']}"]

    def _define_cell(self, path: str, module: Module, instance: Instance) -> None:
        """Add the tables, products and registers of a cell, if it is read."""
        try:
            values = shown_by(instance)
        except UnreadableError as error:
            for port in instance.ports.keys() & CELL_OUTPUTS[instance.kind].keys():
                for part in parts_of(module, instance.ports[port]):
                    self._flat.missing[self._driven(path, *part)] = f"has a cell in {module.name}: {error}"
            return
        plain = self._translator(path, module)
        for shown in values:
            name = f"{path}{instance.name}.{shown.name}"
            if shown.words and shown.words not in self._tables:
                self._tables[shown.words] = self._variable()
                self._flat.memories[self._tables[shown.words]] = (name, list(shown.words))
            variable, before = self._variable(), ""
            for step, (text, registers) in enumerate(shown.steps(plain.text, self._tables.get(shown.words, ""))):
                text = text.format(before)
                for after in range(registers):
                    self._flat.registers[variable] = (f"{name}_{step}_{after}", 0, shown.bits, text)
                    text, variable = variable, self._variable()
                before = text
            self._flat.statements[variable] = before
            for port, (low, width) in shown.outputs.items():
                bits = functools.partial(self._of_cell, f"({variable} >> {low} & {(1 << width) - 1})")
                self._flat.statements |= self._given(path, module, instance.ports[port], bits)

    def _of_cell(self, text: str, scale: int) -> str:
        """The text of bits of a cell, at a scale: those that are computed from data say nothing."""
        return text if scale == 1 else "0"

    def _given(self, path: str, module: Module, target: Expression, value: Callable[[int], str]) -> dict[str, str]:
        """The variables of the parts of `target`, with the text of each one's bits of a `value` at a scale."""
        parts = [(self._driven(path, *part), part[2]) for part in parts_of(module, target)]
        scale = self._scale([variable for variable, _ in parts])
        text = value(scale)
        if len(parts) == 1:
            return {parts[0][0]: text}
        whole = self._variable()
        self._flat.statements[whole] = text
        found, offset = {}, 0
        for variable, width in parts:
            found[variable] = self._share(whole, offset, width, scale, variable)
            offset += width
        return found

    def _share(self, whole: str, offset: int, width: int, scale: int, variable: str) -> str:
        """The text of some bits of the variable `whole`, for another one."""
        return f"({whole} >> {offset} & {(1 << width) - 1})"

    def _driven(self, path: str, name: str, low: int, width: int) -> str:
        return next(v for at, size, v in self._flat.parts[path, name] if (at, size) == (low, width))

    def _clocked(self, path: str, module: Module, assignment: Assignment) -> None:
        target = assignment.target
        plain = self._translator(path, module)
        condition = None if assignment.condition is None else plain.text(assignment.condition)
        if isinstance(target, Name) and module.wires[target.name].words:
            ((_, _, memory),) = self._flat.parts[path, target.name]
            value = self._value(path, module, assignment)(self._scale([memory]))
            address = plain.text(target.low) if target.low is not None else "0"
            words = module.wires[target.name].words
            write = f"if {condition} and (a := {address}) < {words}: {memory}[a] = {value}"
            self._flat.writes.setdefault(memory, []).append(write)
            return
        given = self._given(path, module, target, self._value(path, module, assignment))
        for (variable, of), (name, low, size) in zip(given.items(), parts_of(module, target), strict=True):
            text = of if condition is None else f"{of} if {condition} else {variable}"
            initial = self._initial(variable, module.initial.get(name, 0) >> low & (1 << size) - 1, size)
            self._flat.registers[variable] = (f"{path}{name}", initial, size, text)

    # Compiling.

    def _kept(self) -> list[str]:
        """Variables that are kept though nothing that is shown depends on them."""
        return []

    def _keep_needed(self, shown: Sequence[str]) -> None:
        """Leave out what the texts `shown` do not depend on."""
        flat = self._flat
        waiting, needed = list(set().union(*map(used, shown))), set()
        while waiting:
            variable = waiting.pop()
            if variable in needed:
                continue
            needed.add(variable)
            texts = [*flat.writes.get(variable, ())]
            texts += [flat.statements[variable]] if variable in flat.statements else []
            texts += [flat.registers[variable][3]] if variable in flat.registers else []
            waiting += set().union(*map(used, texts))
        for variable, reason in flat.missing.items():
            if variable in needed:
                raise UntranslatableError(reason)
        for kept in (flat.statements, flat.registers, flat.memories, flat.writes):
            for variable in kept.keys() - needed:
                del kept[variable]

    def _compiled(self, module: Module) -> _Step:
        flat = self._flat
        shown = [self._shown("", name, module.wires[name].width) for name in self.outputs]
        for path, name in self._observed:
            parts = flat.parts.get((path, name), ())
            shown.append(self._shown(path, name, sum(width for _, width, _ in parts)))
        self._keep_needed([*shown, *self._kept()])
        nexts = [text for _, _, _, text in flat.registers.values()]
        writes = [write for writes in flat.writes.values() for write in writes]
        try:
            statements, final = ordered(flat.statements, [*nexts, *writes, *shown])
        except LoopError as error:
            raise UntranslatableError("has a loop of logic") from error
        self.statements = len(statements) + len(flat.registers)  # that a step evaluates
        lines = [f"def step(state, {', '.join(f'i_{name}' for name in self.inputs)}):"]
        if flat.registers:
            lines.append(f"    ({', '.join(flat.registers)},) = state")
        lines += [f"    {variable} = {text}" for variable, text in statements.items()]
        lines.append(f"    following = ({', '.join(map(final, nexts))}{',' if nexts else ''})")
        lines.append(f"    shown = ({', '.join(map(final, shown))},)")
        lines += [f"    {final(write)}" for write in writes]
        lines.append("    return following, shown")
        self._space: dict[str, Any] = {variable: list(words) for variable, (_, words) in flat.memories.items()}
        self._space |= self._helpers()
        try:
            exec(compile("\n".join(lines), "<package>", "exec"), self._space)  # noqa: S102 - text that is made above
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise UntranslatableError(f"is too deep to translate ({type(error).__name__})") from error
        found: _Step = self._space["step"]
        return found

    def _helpers(self) -> dict[str, Callable[..., int]]:
        """Functions that texts call."""
        return {}

    def _shown(self, path: str, name: str, width: int) -> str:
        """The text of a net that is shown."""
        return self._net(path, name, 0, width)
