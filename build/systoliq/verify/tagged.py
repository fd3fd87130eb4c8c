"""An evaluator of modules in which each bit of data is a tag: where data goes, for all data at once.

modules, Flow of their data  ->  TaggedMachine

A bit that depends on data is an integer of `tag_bits` bits, the same in every place to which the bit is moved. A
constant bit in its place is 0, or all ones. Bits that are computed from data are 0: nothing is said about them. All
other bits are evaluated as in a Machine.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from .bits import CLEAN, Bits
from .dataflow import Flow
from .expression import Binary, Call, Concat, Constant, Expression, Name, Signed, Ternary, Unary
from .machine import Machine, UntranslatableError
from .modules import Module
from .pieces import Piece
from .statements import on_cycles, used
from .translate import Translator
from .widths import SHIFTS, width_of

__all__ = ["TaggedMachine"]

_MOVING = (Name, Concat, Signed, Call)  # what copies bits, if conditions and indices do not depend on data


class TaggedMachine(Machine):
    """The module `top`, through which data flows as `flow` says.

    The data bits of the net PORT that an instance PATH gives are replaced by the input NAME, for each of `fresh`
    {(PATH, PORT): NAME}. Inputs and nets that depend on data are tags, `tag_bits` for each bit. The state has all
    registers that depend on no data, but for those that are a function of the last inputs and need not be shown.
    """

    def __init__(
        self,
        modules: Mapping[str, Module],
        top: str,
        flow: Flow,
        *,
        tag_bits: int,
        fresh: Mapping[tuple[str, str], str],
        observed: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._tag_bits, self._fresh = tag_bits, fresh
        self._more_inputs = list(fresh.values())
        self._flows: dict[str, Flow] = {"": flow}
        self._tagged: set[str] = set()
        self.ones = (1 << tag_bits) - 1
        super().__init__(modules, top, observed=observed)

    def _kept(self) -> list[str]:
        """All that does not depend on data and depends on its own past, such as a counter."""
        flat = self._flat
        texts = flat.statements | {variable: text for variable, (_, _, _, text) in flat.registers.items()}
        needs = {variable: used(text) for variable, text in texts.items()}
        needs |= {memory: {memory}.union(*map(used, writes)) for memory, writes in flat.writes.items()}
        return sorted(on_cycles(needs) & flat.registers.keys() - self._tagged)

    def is_tagged(self, path: str, name: str) -> bool:
        """Return True if a net depends on data."""
        return bool(self._bits(path, name).data)

    def _helpers(self) -> dict[str, Callable[..., int]]:
        return {"spread": functools.cache(self.spread), "extended": self._extended}

    def spread(self, value: int) -> int:
        """Return constant bits as tags."""
        return sum(self.ones << at * self._tag_bits for at in range(value.bit_length()) if value >> at & 1)

    def _extended(self, value: int, width: int, more: int) -> int:
        """A value of `width` bits with `more` copies of its sign above."""
        sign = value >> (width - 1) * self._tag_bits
        return value | sum(sign << at * self._tag_bits for at in range(width, width + more))

    def _flow(self, path: str) -> Flow:
        if path not in self._flows:
            before, _, instance = path[:-1].rpartition(".")
            inner = self._flow(f"{before}." if before else "").inner
            self._flows[path] = inner.get(instance, Flow({}))
        return self._flows[path]

    def _bits(self, path: str, name: str) -> Bits:
        return self._flow(path).nets.get(name, CLEAN)

    # Variables that hold tags.

    def _part(self, path: str, name: str, low: int, width: int, variable: str = "") -> str:
        variable = super()._part(path, name, low, width, variable)
        bits = self._bits(path, name)
        if (bits.cut(low, width) if width else bits).data:
            self._tagged.add(variable)
        return variable

    def _initial(self, variable: str, value: int, width: int) -> int:
        return self.spread(value) if variable in self._tagged else value

    def _scale(self, variables: Sequence[str]) -> int:
        return self._tag_bits if self._tagged.intersection(variables) else 1

    def _piece(self, piece: Piece) -> str:
        if piece.variable not in self._tagged:
            return super()._piece(piece)
        bits = (f"({piece.variable} >> {(piece.low + at) * self._tag_bits} & 1)" for at in range(piece.width))
        return f"({' | '.join(f'{bit} << {at}' if at else bit for at, bit in enumerate(bits))})"

    def _share(self, whole: str, offset: int, width: int, scale: int, variable: str) -> str:
        if scale > 1:
            self._tagged.add(whole)
            piece = Piece(whole, offset, width, offset + width + 1, 0)
            return self._tags(piece) if variable in self._tagged else self._piece(piece)
        return super()._share(whole, offset, width, scale, variable)

    def _tags(self, piece: Piece) -> str:
        """The text of a piece as tags."""
        if piece.variable not in self._tagged:
            return _as_tags(super()._piece(piece), piece.width, self.ones)
        text = f"{piece.variable} >> {piece.low * self._tag_bits}" if piece.low else piece.variable
        return f"({text} & {(1 << piece.width * self._tag_bits) - 1})"

    def _tagged_net(self, path: str, name: str, low: int, width: int) -> str:
        pieces = ((self._tags(piece), piece.place * self._tag_bits) for piece in self._overlaps(path, name, low, width))
        return f"({' | '.join(f'{text} << {place}' if place else text for text, place in pieces)})"

    def _shown(self, path: str, name: str, width: int) -> str:
        return (self._tagged_net if self.is_tagged(path, name) else self._net)(path, name, 0, width)

    def _output(self, path: str, port: str, width: int, scale: int) -> str:
        fresh = self._fresh.get((path, port))
        if scale == 1:
            return self._net(path, port, 0, width)
        if fresh is None:
            return self._tagged_net(path, port, 0, width)
        data = self._bits(path, port).data.bit_length()
        above = self._tagged_net(path, port, data, width - data)
        return f"({above} << {data * self._tag_bits} | i_{fresh})"

    def _translator(self, path: str, module: Module, scale: int = 1) -> Translator:
        plain = super()._translator(path, module)
        if scale == 1:
            return plain

        def word(name: str, address: str) -> str:
            ((_, _, variable),) = self._flat.parts[path, name]
            text = self._word(path, module, name, address)
            return text if variable in self._tagged else _as_tags(text, module.wires[name].width, self.ones)

        net = functools.partial(self._tagged_net, path)
        return _Tags(module, net, word, plain, self._flow(path).bits_in, self._tag_bits)


class _Tags(Translator):
    """Translates expressions to tags, of `tag_bits` bits for each bit; `plain` translates what has no data."""

    def __init__(
        self,
        module: Module,
        net: Callable[[str, int, int], str],
        memory: Callable[[str, str], str],
        plain: Translator,
        bits_in: Callable[[Expression, int, bool], Bits],
        tag_bits: int,
    ) -> None:
        super().__init__(module, net, memory, 0)
        self._scale, self._plain, self._bits_in = tag_bits, plain, bits_in

    def _leaf(self, expression: Expression) -> str:
        if isinstance(expression, Constant):  # the result of a function
            return _as_tags(super()._leaf(expression), expression.width, (1 << self._scale) - 1)
        return super()._leaf(expression)

    def in_context(self, expression: Expression, width: int, signed: bool) -> str:
        bits = self._bits_in(expression, width, signed)
        if not bits.data:
            return _as_tags(self._plain.in_context(expression, width, signed), width, (1 << self._scale) - 1)
        if bits.computed == (1 << width) - 1:
            return "0"
        match expression:
            case Unary("+", operand):
                return self.in_context(operand, width, signed)
            case Binary(operator, left, right) if operator in "&|" and bits.data != bits.computed:
                return f"({self.in_context(left, width, signed)} {operator} {self.in_context(right, width, signed)})"
            case Binary(operator, left, right) if operator in SHIFTS and bits.data != bits.computed:
                by = f"{self._scale} * {self._plain.text(right)}"
                if operator in ("<<", "<<<"):
                    return f"({self.in_context(left, width, signed)} << {by} & {self._mask(width)})"
                if operator == ">>" or not signed:
                    return f"({self.in_context(left, width, signed)} >> {by})"
            case Ternary(condition, yes, no):
                chosen = self.in_context(yes, width, signed), self.in_context(no, width, signed)
                return f"({chosen[0]} if {self._plain.text(condition)} else {chosen[1]})"
        if not isinstance(expression, _MOVING):
            if bits.data != bits.computed:
                raise UntranslatableError(f"module {self._module.name} moves data in a way that is not read")
            return _as_tags(self._plain.in_context(expression, width, signed), width, (1 << self._scale) - 1)
        own = width_of(self._module, expression)
        text = self._leaf(expression)
        return f"extended({text}, {own}, {width - own})" if signed and width > own else text


def _as_tags(text: str, width: int, ones: int) -> str:
    """The text of constant bits as tags."""
    if text == "0" or width == 0:
        return "0"
    return f"({ones} if {text} else 0)" if width == 1 else f"spread({text})"
