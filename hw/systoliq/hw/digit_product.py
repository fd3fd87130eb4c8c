"""A wide magnitude times a short factor, digit by digit: in a cycle, a carry moves by at most one digit."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .delay import delay
from .hierarchy import place
from .multiplier import WideMultiplier

__all__ = ["DIGIT_BITS", "DigitProduct"]

DIGIT_BITS = 17  # unsigned bits that fit a signed operand of ECP5's multiplier


class DigitProduct(wiring.Component):
    """The digits of ``abs(number) * factor``, the lowest first: ``digits[i]`` comes ``latency + i`` cycles later.

    No reset. The magnitude is exact for the least number, too.
    """

    kind = "digit_product"

    def __init__(self, number_bits: int, factor_bits: int, *, cells: str) -> None:
        self._limbs = -(-number_bits // DIGIT_BITS)
        self._multipliers = [WideMultiplier(DIGIT_BITS + 1, factor_bits, cells=cells) for _ in range(self._limbs)]
        self._own_digits = self._limbs - 1  # digits that a partial sum of their own gives; the last sum gives the rest
        count = -(-(number_bits + factor_bits) // DIGIT_BITS)
        super().__init__(
            {
                "number": In(signed(number_bits)),
                "factor": In(unsigned(factor_bits)),
                "digits": Out(data.ArrayLayout(DIGIT_BITS, count)),
            }
        )

    @property
    def latency(self) -> int:
        """Cycles to the lowest digit: magnitude, product, sum."""
        return 1 + self._multipliers[0].latency + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        factor: Value = self.factor
        before: Value | None = None
        for i, (limb, multiplier) in enumerate(zip(self._magnitude(m), self._multipliers, strict=True)):
            m.submodules[f"multiplier_{i}"] = place(multiplier, platform)
            factor = delay(m, factor, 1, name=f"factor_{i}")
            m.d.comb += [multiplier.a.eq(Cat(limb, 0).as_signed()), multiplier.b.eq(factor)]
            # Below 2^17 times the greatest factor, for any carry.
            total = Signal(DIGIT_BITS + len(self.factor), name=f"sum_{i}", reset_less=True)
            product = multiplier.product[: len(total)]
            m.d.sync += total.eq(product if before is None else product + before[DIGIT_BITS:])
            if i < self._own_digits:
                m.d.comb += self.digits[i].eq(total[:DIGIT_BITS])
            before = total
        for i in range(self._own_digits, self.digits.shape().length):
            above = i - self._own_digits
            digit = total[above * DIGIT_BITS : (above + 1) * DIGIT_BITS]
            m.d.comb += self.digits[i].eq(delay(m, digit, above, name=f"digit_{i}"))
        return m

    def _magnitude(self, m: Module) -> list[Value]:
        """The limbs of the number's magnitude: limb i, i + 1 cycles later."""
        rest, negative = self.number.as_unsigned(), self.number[-1]
        carry: Value = negative
        limbs = []
        for i in range(self._limbs):
            limb = rest[:DIGIT_BITS]
            total = Signal(len(limb) + 1, name=f"limb_{i}", reset_less=True)
            m.d.sync += total.eq((limb ^ negative.replicate(len(limb))) + carry)
            limbs.append(total[: len(limb)])
            carry = total[-1]
            if i + 1 < self._limbs:
                rest = delay(m, rest[DIGIT_BITS:], 1, name=f"rest_{i}")
                negative = delay(m, negative, 1, name=f"negative_{i}")
        return limbs
