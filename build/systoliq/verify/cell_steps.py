"""Vendor cells for an evaluation cycle by cycle: an instance  ->  values that it shows, each some cycles later.

A cell that multiplies shows products of its operands, perhaps with an addend. Any other cell shows a word of a table,
at the number that its inputs are: what `CELLS` says about them, for every number. A block RAM that is written to is not
read here, but taken to be one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cells import CELLS, mode_of_mac16
from .expression import Constant, Expression, Name, UnreadableError
from .modules import Instance, Module
from .syntax import CLOCK

__all__ = ["ADDERS", "RAM_INPUTS", "Shown", "is_ram_of_cells", "shown_by"]

RAM_INPUTS = frozenset({CLOCK, "write", "write_address", "write_data", "read", "read_address", "show"})
_CLOCKS = frozenset({"CLK", "CLK0", "CLKA", "CLKB"})


_Of = Callable[[Expression, int], str]  # translates an expression of a width


@dataclass(frozen=True, kw_only=True)
class Operand:
    """Bits `low` to `low + bits` of expressions with their widths, the lowest first, as a number."""

    parts: Sequence[tuple[Expression, int]]
    bits: int
    low: int = 0
    is_signed: bool = False

    def text(self, of: _Of) -> str:
        """The number in Python."""
        place, texts = 0, []
        for expression, width in self.parts:
            texts.append(f"({of(expression, width)}) << {place}")
            place += width
        number = f"({' | '.join(texts)})"
        if self.bits < place:
            number = f"({number} >> {self.low} & {(1 << self.bits) - 1})"
        return f"(({number} ^ {1 << self.bits - 1}) - {1 << self.bits - 1})" if self.is_signed else number


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A value of `bits`, and the ports `outputs` that show it, with their lowest bit and width.

    It is the word of `words` at the number `address`; or `products`, of two operands each, from a bit up, to which
    `addend` may be added. `delay`: registers behind the word or the products. There is one more behind a sum.
    """

    name: str
    bits: int
    outputs: Mapping[str, tuple[int, int]]
    words: tuple[int, ...] = ()
    address: Operand | None = None
    products: Sequence[tuple[Operand, Operand, int]] = ()
    addend: Operand | None = None
    delay: int

    def steps(self, of: _Of, words: str) -> Iterator[tuple[str, int]]:
        """Yield texts in Python, with the registers behind each; "{}" stands for the one before. `words`: a name."""
        if self.address is not None:
            yield f"{words}[{self.address.text(of)}]", self.delay
            return
        mask = (1 << self.bits // len(self.products)) - 1
        products = (f"({a.text(of)} * {b.text(of)} & {mask}) << {low}" for a, b, low in self.products)
        yield f"({' | '.join(products)})", self.delay
        if self.addend is not None:
            yield f"({{}} + {self.addend.text(of)} & {mask})", 1


@dataclass(frozen=True, kw_only=True)
class _Multiplier:
    """Ports of both operands, with the width of each; `registers`: parameters that must be on or off together."""

    ports: Sequence[Sequence[str]]
    width: int
    registers: Sequence[Sequence[str]]


def _gowin(width: int) -> _Multiplier:
    return _Multiplier(ports=(["A"], ["B"]), width=width, registers=(("AREG", "BREG"), ("PIPE_REG",), ("OUT_REG",)))


_MULTIPLIERS = {
    "MULT18X18D": _Multiplier(
        ports=[[f"{letter}{bit}" for bit in range(18)] for letter in "AB"],
        width=1,
        registers=(("REG_INPUTA_CLK", "REG_INPUTB_CLK"), ("REG_PIPELINE_CLK",), ("REG_OUTPUT_CLK",)),
    ),
    "MULT9X9": _gowin(9),
    "MULT18X18": _gowin(18),
}
_MAC16_REGISTERS = {"pair": ("TOP_8x8_MULT_REG", "BOT_8x8_MULT_REG")}  # behind the products, by mode
_ON = ("1", "CLK0")
ADDERS = {
    "CCU2C": [f"{pin}{table}" for table in range(2) for pin in "ABCD"] + ["CIN"],
    "ALU": ["I0", "I1", "I3", "CIN"],
}
"""Inputs of the cells that add."""
_ROM = "DP16KD"
_ADDRESS_BITS = 14
_FIRST = {"1": 0, "2": 1, "4": 2, "9": 3, "18": 4}  # bit of an address that counts words, by their width


def shown_by(instance: Instance) -> list[Shown]:
    """Return the values that a cell shows. Raises UnreadableError if it, or its mode, is not read."""
    for port in instance.ports.keys() & _CLOCKS:
        clock = instance.ports[port]
        if not (isinstance(clock, Name) and clock.name == CLOCK):
            raise UnreadableError(f"a {instance.kind} has another clock")
    if instance.kind in _MULTIPLIERS:
        return [_product(instance, _MULTIPLIERS[instance.kind])]
    if instance.kind == "SB_MAC16":
        return [_mac16(instance)]
    if instance.kind in ADDERS:
        words = _words_of_adder(instance.kind, tuple(sorted(instance.parameters.items())))
        return [_table(instance, "table", ADDERS[instance.kind], _outputs(instance), words, delay=0)]
    if instance.kind == _ROM:
        return [*_reads(instance)]
    raise UnreadableError(f"a {instance.kind} is not read")


def is_ram_of_cells(module: Module) -> bool:
    """True if a module has the ports of a block RAM and no memory of its own: vendor cells are in its place."""
    return module.inputs == RAM_INPUTS and module.outputs == {"read_data"} and not module.memories


def _outputs(instance: Instance, within: str = "") -> dict[str, tuple[int, int]]:
    """The connected outputs whose names begin with `within`, each with its lowest bit and width, side by side."""
    found, low = {}, 0
    for port, width in CELLS[instance.kind].outputs.items():
        if port.startswith(within):
            if port in instance.ports:
                found[port] = (low, width)
            low += width
    return found


def _product(instance: Instance, kind: _Multiplier) -> Shown:
    _values(instance, {port: np.zeros(1, object) for ports in kind.ports for port in ports})
    a, b = (
        Operand(
            parts=[(_connected(instance, port), kind.width) for port in ports],
            bits=kind.width * len(ports),
            is_signed=True,
        )
        for ports in kind.ports
    )
    return Shown(
        name="product",
        bits=a.bits + b.bits,
        outputs=_outputs(instance),
        products=[(a, b, 0)],
        delay=sum(_register(instance, names) for names in kind.registers),
    )


def _mac16(instance: Instance) -> Shown:
    _values(instance, {port: np.zeros(1, object) for port in "ABCD"})
    mode = mode_of_mac16(instance.parameters)
    width = 8 if mode == "pair" else 16
    registers = _MAC16_REGISTERS.get(mode, ("PIPELINE_16x16_MULT_REG2",))

    def operand(port: str, low: int) -> Operand:
        signed = instance.parameters[f"{port}_SIGNED"] == "1"
        return Operand(parts=[(_connected(instance, port), 16)], bits=width, low=low, is_signed=signed)

    addend = Operand(parts=[(_connected(instance, port), 16) for port in "DC"], bits=32) if mode == "sum" else None
    return Shown(
        name=mode,
        bits=32,
        outputs=_outputs(instance),
        products=[(operand("A", low), operand("B", low), 2 * low) for low in range(0, 16, width)],
        addend=addend,
        delay=_register(instance, ("A_REG", "B_REG")) + _register(instance, registers),
    )


def _register(instance: Instance, names: Sequence[str]) -> int:
    """Return 1 if the registers that these parameters name are on, 0 if they are off."""
    on = {instance.parameters.get(name) in _ON for name in names}
    if len(on) > 1:
        raise UnreadableError(f"a {instance.kind} has only one of the registers {' and '.join(names)}")
    return int(on.pop())


def _reads(instance: Instance) -> list[Shown]:
    """The ports of a memory that is never written."""
    first = _FIRST.get(instance.parameters.get("DATA_WIDTH_B", ""), 0)
    found = []
    for letter in "AB":
        if outputs := _outputs(instance, f"DO{letter}"):
            address = [f"AD{letter}{bit}" for bit in range(first, _ADDRESS_BITS)]
            numbers = np.arange(1 << len(address), dtype=object)
            values = _values(instance, {port: numbers >> place & 1 for place, port in enumerate(address)})
            delay = 2 if instance.parameters.get(f"REGMODE_{letter}") == "OUTREG" else 1
            found.append(_table(instance, letter, address, outputs, _side_by_side(values, outputs), delay=delay))
    return found


@functools.cache
def _words_of_adder(kind: str, parameters: tuple[tuple[str, str], ...]) -> tuple[int, ...]:
    instance = Instance(kind, "", {}, dict(parameters))
    numbers = np.arange(1 << len(ADDERS[kind]))
    values = _values(instance, {port: numbers >> place & 1 for place, port in enumerate(ADDERS[kind])})
    outputs = {port: (place, 1) for place, port in enumerate(CELLS[kind].outputs)}
    return _side_by_side(values, outputs)


def _side_by_side(values: Mapping[str, Any], outputs: Mapping[str, tuple[int, int]]) -> tuple[int, ...]:
    return tuple(int(word) for word in sum(values[port] << low for port, (low, _) in outputs.items()))


def _table(
    instance: Instance,
    name: str,
    operand: Sequence[str],
    outputs: Mapping[str, tuple[int, int]],
    words: tuple[int, ...],
    *,
    delay: int,
) -> Shown:
    return Shown(
        name=name,
        bits=max((low + width for low, width in outputs.values()), default=1),
        address=Operand(parts=[(_connected(instance, port), 1) for port in operand], bits=len(operand)),
        words=words,
        outputs=outputs,
        delay=delay,
    )


def _values(instance: Instance, operands: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs for these operands. All other pins must be constant, and all parameters known."""
    count = len(next(iter(operands.values())))

    def pin(name: str) -> Any:
        if name in operands:
            return operands[name]
        tied = instance.ports.get(name)
        return tied.value if isinstance(tied, Constant) and tied.value is not None else np.zeros(count, object)

    return CELLS[instance.kind].values(instance.kind, instance.parameters, pin)


def _connected(instance: Instance, port: str) -> Expression:
    if port not in instance.ports:
        raise UnreadableError(f"a {instance.kind} has nothing at {port}")
    return instance.ports[port]
