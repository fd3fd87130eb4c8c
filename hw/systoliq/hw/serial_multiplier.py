"""Serial multiplier: a few bits of one factor in a cycle, for products that are several cycles apart."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .cells.ecp5 import clearing_adder
from .delay import delay
from .lut_product import lut_product, lut_product_latency

__all__ = ["SERIAL_CELLS", "SerialMultiplier", "serial_cycles"]

SERIAL_CELLS = ("portable", "ecp5-lut")
"""Sets of cells with a serial form: those whose multipliers are logic, or may be."""
_ECP5 = "ecp5-lut"
_DIGIT = 2  # the fewest bits in a cycle: one alone takes as much logic


def serial_cycles(b_bits: int, pace: int) -> int:
    """Return the cycles, at most ``pace``, from a product to the next, with as few bits of ``b_bits`` in a cycle as
    that allows.
    """
    return -(-b_bits // max(-(-b_bits // pace), _DIGIT))


class SerialMultiplier(wiring.Component):
    """``product`` shows ``a * b``, ``a`` signed and ``b`` unsigned, ``latency`` cycles after ``start``, for a cycle.

    Operands are sampled with ``start``, which may come every ``pace`` cycles. A cycle multiplies some bits of ``b``,
    the lowest first, and adds the product to the rest of the sum. What was there before a ``start`` does not matter,
    so there is no reset.
    """

    def __init__(self, a_bits: int, b_bits: int, *, cells: str, pace: int) -> None:
        if cells not in SERIAL_CELLS:
            raise ValueError(f"cells must be one of {', '.join(SERIAL_CELLS)}, not {cells!r}")
        self._digits = serial_cycles(b_bits, pace)
        self._digit = -(-b_bits // self._digits)
        self._in_ecp5 = cells == _ECP5
        self.kind = f"serial_multiplier_{a_bits}x{b_bits}_{self._digit}"
        super().__init__(
            {
                "start": In(1),
                "a": In(signed(a_bits)),
                "b": In(unsigned(b_bits)),
                "product": Out(signed(a_bits + b_bits)),
            }
        )

    @property
    def latency(self) -> int:
        """The operands, the product of a digit, and a sum for each digit."""
        return 1 + lut_product_latency(self._digit) + self._digits

    def elaborate(self, platform: object) -> Module:
        m = Module()
        size = self._digit
        a = Signal.like(self.a, name="a_held", reset_less=True)
        rest = Signal(size * self._digits, name="b_rest", reset_less=True)
        m.d.sync += [a.eq(Mux(self.start, self.a, a)), rest.eq(Mux(self.start, self.b, rest >> size))]
        term = self._digit_product(m, a, rest[:size])
        first = delay(m, self.start, 1 + lut_product_latency(size), name="first")

        total = Signal(signed(len(a) + size), name="total", reset_less=True)
        above = Cat(total[size:], total[-1].replicate(size))
        if self._in_ecp5:
            added = clearing_adder(m, term, above, first, name="added", carry_in=None, carry_out=False)
            m.d.sync += total.eq(added)
        else:
            m.d.sync += total.eq(term + Mux(first, 0, above.as_signed()))
        found: Value = total
        if self._digits > 1:
            lower = Signal(size * (self._digits - 1), name="lower", reset_less=True)
            m.d.sync += lower.eq(Cat(lower, total[:size])[size:])
            found = Cat(lower, total)
        m.d.comb += self.product.eq(found[: len(self.product)].as_signed())
        return m

    def _digit_product(self, m: Module, a: Signal, digit: Value) -> Value:
        """``a * digit`` of `lut_product_latency` cycles ago."""
        if self._in_ecp5:
            return lut_product(m, a, digit, name="digit_product")
        terms = [Mux(digit[i], a, 0) << i for i in range(len(digit))]
        level = 0
        while level == 0 or len(terms) > 1:
            pairs = [sum(terms[i + 1 : i + 2], terms[i]) for i in range(0, len(terms), 2)]
            terms = [delay(m, pair, 1, name=f"digit_{level}_{i}").as_signed() for i, pair in enumerate(pairs)]
            level += 1
        return terms[0]
