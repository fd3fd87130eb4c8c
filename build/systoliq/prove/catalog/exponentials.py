"""The addition of float32 numbers in a softmax: the sum of a row's exponentials, one after the other."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.delay import delay
from systoliq.hw.float32 import FLOAT32_BITS
from systoliq.hw.network.softmax_steps import ADD_CYCLES, exponential_sum

from ..property import FromAnyState, Property, SeededBug

__all__ = ["PROPERTIES"]

_GREATEST = 252  # exponent of an operand; with the next one, a sum may be too large for binary32


class ExponentialSumHarness(wiring.Component):
    """`exponential_sum` with one exponential, `ADD_CYCLES` after the one before at the earliest.

    A number is ``mantissa * 2^exponent``, of 24 bits, the first of which is 1 unless the exponent is 0. In the unit of
    binary32's smallest number, 2^-149, all of these are numbers in binary32.
    """

    latency = 2 * ADD_CYCLES - 1

    def __init__(self, exponent_bits: int) -> None:
        self.exponent_bits = exponent_bits
        number = {"mantissa": FLOAT32_BITS, "exponent": exponent_bits}
        super().__init__(
            {
                "word": In(FLOAT32_BITS + exponent_bits),
                "comes": In(1),
                "first": In(1),
                **{f"{name}_{part}": Out(bits) for name in ("before", "added", "sum") for part, bits in number.items()},
                "alone": Out(2),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word = delay(m, self.word, 1, name="word_then")
        total, scale = exponential_sum(m, (self.word, word), self.comes, self.first, exponent_bits=self.exponent_bits)
        earlier = [
            delay(m, self.comes, cycles, name=f"came_{cycles}", reset_less=False) for cycles in range(1, 2 * ADD_CYCLES)
        ]
        first = delay(m, self.first, ADD_CYCLES, name="past_first")
        before = delay(m, Cat(total, scale), ADD_CYCLES, name="past_sum")
        m.d.comb += [
            self.alone.eq(earlier[ADD_CYCLES - 1] & ~Cat(*earlier[ADD_CYCLES:]).any()),
            Cat(self.before_mantissa, self.before_exponent).eq(Mux(first, 0, before)),
            Cat(self.added_mantissa, self.added_exponent).eq(delay(m, self.word, ADD_CYCLES, name="past_word")),
            self.sum_mantissa.eq(total),
            self.sum_exponent.eq(scale),
        ]
        for name in ("before", "added"):
            mantissa, exponent = getattr(self, f"{name}_mantissa"), getattr(self, f"{name}_exponent")
            m.d.comb += [
                Assume(_is_normal(mantissa, exponent)),
                Assume(exponent <= min(_GREATEST, (1 << len(exponent)) - 2)),
            ]
        m.d.comb += [
            Assert(~self.alone[0] | _is_normal(total, scale)),
            Cover(
                self.alone[0] & (self.sum_exponent > self.added_exponent) & (self.added_exponent > self.before_exponent)
            ),
            Cover(self.alone[0] & (self.sum_mantissa == self.before_mantissa) & (self.added_mantissa != 0)),
        ]
        return m

    @property
    def formulas(self) -> tuple[str]:
        """IEEE 754's sum of both numbers, rounded to 24 bits."""
        before, added, total = (self._number(name) for name in ("before", "added", "sum"))
        return (f"(=> (= {{alone}} #b01) (= {total} (fp.add RNE {before} {added})))",)

    def _number(self, name: str) -> str:
        mantissa, exponent = f"{{{name}_mantissa}}", f"{{{name}_exponent}}"
        first = FLOAT32_BITS - 1
        above = f"((_ zero_extend {8 - self.exponent_bits}) {exponent})"
        biased = f"(ite (= ((_ extract {first} {first}) {mantissa}) #b1) (bvadd {above} #x01) #x00)"
        return f"(fp #b0 {biased} ((_ extract {first - 1} 0) {mantissa}))"


def _is_normal(mantissa: Value, exponent: Value) -> Value:
    return mantissa[-1] | (exponent == 0)


def _sum(exponent_bits: int) -> Property:
    return Property(
        name=f"sum of exponentials with exponents of {exponent_bits} bits",
        claim="an exponential is added to the sum of a row as IEEE 754 adds numbers in binary32, the first one to 0",
        harness=lambda: ExponentialSumHarness(exponent_bits),
        method=FromAnyState(),
        bug=SeededBug(module="network.softmax_steps", old="added[0] & (added[1] | lost))", new="added[0] & added[1])"),
    )


PROPERTIES = tuple(_sum(bits) for bits in range(4, 9))
