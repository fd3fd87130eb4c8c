"""The product of two operands, one of them float8 at least: exactly in fixed point, or a flag that says why not."""

from __future__ import annotations

import dataclasses

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.float8 import Float8Format
from systoliq.golden.float8_matmul import flag_bits, sum_bits
from systoliq.golden.operand import Format

from ..delay import delay
from ..operand_shape import operand_shape

__all__ = ["Float8Product"]

_BEFORE_MOVING = 3  # registers: decoded operands, product, product with sign
_SIGNIFICANDS = (3, 4)  # significand bits of float8
_MOVES = 2  # powers of two that the product moves by in a cycle


@dataclasses.dataclass(frozen=True, eq=False)
class _Operand:
    """A code as significand * 2^shift, in registers; the significand of NaN and infinities is 0.

    An integer is a significand that is not shifted.
    """

    significand: Value
    shift: Value
    negative: Value
    nan: Value
    infinite: Value

    @classmethod
    def of(cls, m: Module, operand: Value, form: Format, name: str) -> _Operand:
        """``operand`` of ``form``, a cycle later."""
        if isinstance(form, Float8Format):
            return cls._of_code(m, operand, form, name)
        nothing = Const(0, 1)
        negative = operand[-1] if form.signed else nothing
        return cls(
            significand=delay(m, abs(operand), 1, name=f"{name}_significand"),
            shift=nothing,
            negative=delay(m, negative, 1, name=f"{name}_negative"),
            nan=nothing,
            infinite=nothing,
        )

    @classmethod
    def _of_code(cls, m: Module, code: Value, form: Float8Format, name: str) -> _Operand:
        mantissa, field = code[: form.mantissa_bits], code[form.mantissa_bits : 7]
        hidden = field.any()
        infinite: Value = Const(0, 1)
        if form.infinity_code is not None:
            infinite = code[:7] == form.infinity_code
        nan = code == form.nan_code if form.fnuz else code[:7] > (form.infinity_code or form.max_code)
        number = Mux(nan | infinite, 0, Cat(mantissa, hidden))[: form.significand_bits]
        parts = {"significand": number, "shift": (field - hidden)[: len(field)], "negative": code[7], "nan": nan}
        held = {key: delay(m, value, 1, name=f"{name}_{key}") for key, value in parts.items()}
        infinite = infinite if form.infinity_code is None else delay(m, infinite, 1, name=f"{name}_infinite")
        return cls(**held, infinite=infinite)


class Float8Product(wiring.Component):
    """``product`` shows ``a * b`` of ``latency`` cycles ago in units of both formats' least values. No reset.

    If a factor is NaN or infinite, ``product`` is 0 and ``flags`` hold its value. A single flag means NaN. With two
    flags, for formats with infinities, the first is set for +infinity, the second for -infinity, and both for NaN. The
    flags of a sum are therefore the OR of the flags of its products.
    """

    def __init__(self, a: Format, b: Format) -> None:
        self._formats = a, b
        self.kind = "float8_product"
        product = signed(sum_bits(a, b, 1))
        super().__init__(
            {
                "a": In(operand_shape(a)),
                "b": In(operand_shape(b)),
                "product": Out(product),
                "flags": Out(flag_bits(a, b)),
            }
        )

    @staticmethod
    def latency_of(a: Format, b: Format) -> int:
        """Cycles from operands of these formats to their product."""
        return _BEFORE_MOVING + -(-(a.max_shift + b.max_shift).bit_length() // _MOVES)

    @property
    def latency(self) -> int:
        """Cycles from the operands to their product."""
        return self.latency_of(*self._formats)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        operands = {"a": self.a, "b": self.b}
        a, b = (_Operand.of(m, operands[name], form, name) for name, form in zip("ab", self._formats, strict=True))
        negative = delay(m, a.negative ^ b.negative, 1, name="negative")
        magnitude = delay(m, _small_product(a.significand, b.significand), 1, name="magnitude")
        shift = delay(m, a.shift + b.shift, 2, name="shift")
        number = delay(m, Mux(negative, -magnitude, magnitude), 1, name="number").as_signed()
        self._move(m, number, shift)
        m.d.comb += self.flags.eq(delay(m, self._flags(a, b), self.latency - 1, name="flags"))
        return m

    def _flags(self, a: _Operand, b: _Operand) -> Value:
        nan = a.nan | b.nan
        if len(self.flags) == 1:
            return nan
        for one, other in ((a, b), (b, a)):
            nan |= one.infinite & ~other.infinite & ~other.significand.any()
        infinite, negative = a.infinite | b.infinite, a.negative ^ b.negative
        return Cat(nan | (infinite & ~negative), nan | (infinite & negative))

    def _move(self, m: Module, number: Value, shift: Value) -> None:
        """``product = number << shift``: the smallest moves first, while there are few bits to move."""
        greatest = sum(form.max_shift for form in self._formats)
        for i in range(greatest.bit_length()):
            bits = min(len(number) + (1 << i), len(self.product))
            moved = Signal(signed(bits), name=f"moved_{1 << i}")
            m.d.comb += moved.eq(Mux(shift[i], number << (1 << i), number))
            number = moved
            if i % _MOVES == _MOVES - 1 or i == greatest.bit_length() - 1:
                number = delay(m, moved, 1, name=f"number_{1 << i}").as_signed()
                shift = delay(m, shift, 1, name=f"shift_{1 << i}")
        m.d.comb += self.product.eq(number)


def _small_product(a: Value, b: Value) -> Value:
    """``a * b``, one of 3 or 4 bits, in lookup tables: of a plain product, Yosys makes a cell of 18 x 18 bits."""
    if len(b) not in _SIGNIFICANDS:
        a, b = b, a
    low, high = Mux(b[0], a, 0) + Mux(b[1], a << 1, 0), Mux(b[2], a, 0)
    if len(b) == 4:
        high += Mux(b[3], a << 1, 0)
    return (low + (high << 2))[: len(a) + len(b)]
