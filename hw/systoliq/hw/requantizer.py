"""The requantizer: int32 accumulator in, 8-bit (2 to 16) output out, by integer arithmetic only.

One lane of it follows the drain of the array. Multiplier, shift and offset are inputs, so that one description serves
per-column tables, constants (synthesis folds them) and run-time values.
"""

from __future__ import annotations

import dataclasses

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat
from systoliq.golden.requantization import Requantization, Rounding

from .delay import delay
from .hierarchy import place
from .multiplier import WideMultiplier
from .rounding import FRACTION_BITS, RoundingStage

__all__ = ["Requantizer", "RequantizerConfig"]

FLOAT32_BITS = 24  # significant bits of a float32


@dataclasses.dataclass(frozen=True, kw_only=True)
class RequantizerConfig:
    """What a requantizer lane must cope with.

    ``accumulator_bits`` is the width of the signed input; multipliers are unsigned, below ``2**multiplier_bits``;
    shifts lie in ``min_shift .. max_shift``; ``offset_bits`` is the width of the signed offset, used by ``FLOOR`` only.
    ``cells`` are those of `ArrayConfig`.
    """

    accumulator_bits: int
    multiplier_bits: int
    min_shift: int
    max_shift: int
    offset_bits: int
    output: IntFormat
    rounding: Rounding
    cells: str = "portable"

    @classmethod
    def of(cls, requantization: Requantization, accumulator_bits: int, *, cells: str = "portable") -> RequantizerConfig:
        """The narrowest lane that serves every column of ``requantization``."""
        widest = max(max(requantization.offset), -1 - min(requantization.offset))
        return cls(
            accumulator_bits=accumulator_bits,
            multiplier_bits=max(max(requantization.multiplier).bit_length(), 1),
            min_shift=min(requantization.shift),
            max_shift=max(requantization.shift),
            offset_bits=widest.bit_length() + 1,
            output=requantization.output,
            rounding=requantization.rounding,
            cells=cells,
        )

    @property
    def shift_bits(self) -> int:
        return max(self.max_shift.bit_length(), 1)


class Requantizer(wiring.Component):
    """``y = saturate(round(acc * multiplier / 2**shift) + zero_point)``, one result a cycle, no stall, no reset.

    Inputs are sampled every cycle and ``y`` shows their result ``latency`` cycles later. The arithmetic is two's
    complement throughout and equals `systoliq.golden.requantization.Requantization.apply` for every input.
    """

    kind = "requantizer"

    def __init__(self, config: RequantizerConfig) -> None:
        self.config = config
        y_shape = signed(config.output.bits) if config.output.signed else unsigned(config.output.bits)
        self._rounds_accumulator = config.rounding is Rounding.NEAR_TIE and config.accumulator_bits > FLOAT32_BITS + 1
        factor_bits = config.accumulator_bits + self._rounds_accumulator  # the largest accumulators round up to a power
        self._multiplier = WideMultiplier(factor_bits, config.multiplier_bits, cells=config.cells)
        super().__init__(
            {
                "acc": In(signed(config.accumulator_bits)),
                "multiplier": In(unsigned(config.multiplier_bits)),
                "shift": In(unsigned(config.shift_bits)),
                "offset": In(signed(config.offset_bits)),
                "zero_point": In(signed(config.output.bits + 1)),
                "y": Out(y_shape),
            }
        )

    @property
    def latency(self) -> int:
        """Input, [round to 24 bits,] product, [offset,] [shift,] clamp, [rounding (2),] add, saturate: one each."""
        config = self.config
        rounds = config.rounding is not Rounding.FLOOR
        shifts = config.min_shift != config.max_shift
        return 1 + self._rounds_accumulator + self._multiplier.latency + (not rounds) + shifts + 1 + 2 * rounds + 2

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self.config
        stage = 0

        def register(value: Value, name: str) -> Signal:
            held = Signal(value.shape(), name=name, reset_less=True)
            m.d.sync += held.eq(value)
            return held

        acc = register(self.acc, "acc_1")
        stage += 1
        if self._rounds_accumulator:
            acc = register(_round_to_float32(m, acc), "acc_24")
            stage += 1
        m.submodules.multiplier = place(self._multiplier, platform)
        m.d.comb += [self._multiplier.a.eq(acc), self._multiplier.b.eq(delay(m, self.multiplier, stage, name="factor"))]
        product = self._multiplier.product
        stage += self._multiplier.latency
        if config.rounding is Rounding.FLOOR:
            product = register(product + delay(m, self.offset, stage, name="offset"), "product_offset")
            stage += 1

        aligned, point, sticky = self._align(m, product, delay(m, self.shift, stage, name="shift"))
        if config.min_shift != config.max_shift:
            aligned, sticky = register(aligned, "aligned"), register(sticky, "sticky")
            stage += 1

        # The integer part, clamped to a range in which every value saturates whatever the zero point adds.
        floor_bits = config.output.bits + 3
        floor = Signal(signed(floor_bits))
        integer = aligned[point:].as_signed()
        if len(integer) <= floor_bits:
            m.d.comb += floor.eq(integer)
        else:
            excess = integer[floor_bits - 1 :]
            fits = excess.all() | ~excess.any()
            m.d.comb += floor.eq(Mux(fits, integer, Cat((~integer[-1]).replicate(floor_bits - 1), integer[-1])))
        floor = register(floor, "floor_1")
        fraction = register(aligned[point - FRACTION_BITS : point], "fraction")
        sticky = register(sticky | aligned[: point - FRACTION_BITS].any(), "sticky_1")
        stage += 1

        zero_point = delay(m, self.zero_point, stage, name="zero_point").as_signed()
        total = floor + zero_point
        if config.rounding is not Rounding.FLOOR:
            rounding = RoundingStage(config.rounding, floor_bits, registered=True)
            m.submodules.rounding = place(rounding, platform)
            m.d.comb += [rounding.floor.eq(floor), rounding.fraction.eq(fraction), rounding.sticky.eq(sticky)]
            up = register(rounding.up, "up")
            total = delay(m, total, 2, name="floor_zero_point").as_signed() + up
        total = register(total, "total")

        # Outside the range of y where the bits from y's sign upwards are not alike (unsigned: those above y not zero).
        output = config.output
        excess = total[output.bits - output.signed :]
        outside = excess.any() & ~excess.all() if output.signed else excess.any()
        below, above = Const(output.min, output.bits), Const(output.max, output.bits)
        y = Mux(outside, Mux(total[-1], below, above), total[: output.bits])
        m.d.comb += self.y.eq(register(y, "y_register"))
        return m

    def _align(self, m: Module, product: Value, shift: Value) -> tuple[Value, int, Value]:
        """(value, index of its binary point, whether a set bit fell off): ``product`` shifted to a common point."""
        least, most = self.config.min_shift, self.config.max_shift
        pad = max(FRACTION_BITS - least, 0)
        value = Cat(Const(0, pad), product).as_signed() if pad else product
        lost = Const(0, 1)
        if least != most:
            extra = Signal(range(most - least + 1))
            m.d.comb += extra.eq(shift - least)
            for i in range(len(extra)):
                moved = Signal(signed(len(value)), name=f"shifted_{1 << i}")
                dropped = Signal(name=f"dropped_{1 << i}")
                m.d.comb += moved.eq(Mux(extra[i], value >> (1 << i), value))
                m.d.comb += dropped.eq(lost | (extra[i] & value[: 1 << i].any()))
                value, lost = moved, dropped
        return value, least + pad, lost


def _round_to_float32(m: Module, acc: Value) -> Value:
    """``acc`` rounded to 24 significant bits, half to even: what float32(acc) is.

    Two's complement: the leading bit is found on ``acc`` xor sign. For a negative power of two that is one place too
    low, where finer rounding changes nothing, since the number is a multiple of both units.
    """
    extra = len(acc) - 1 - FLOAT32_BITS  # bits that may have to go
    leading = Signal(unsigned(len(acc) - 1))
    m.d.comb += leading.eq(Mux(acc[-1], ~acc, acc))
    rounded = Signal(signed(len(acc) + 1))
    m.d.comb += rounded.eq(acc)
    for drop in range(1, extra + 1):
        kept = acc[drop:].as_signed()
        up = acc[drop - 1] & (acc[drop] | acc[: drop - 1].any())
        with m.If(leading[FLOAT32_BITS - 1 + drop :] == 1):
            m.d.comb += rounded.eq(Cat(Const(0, drop), kept + up).as_signed())
    return rounded
