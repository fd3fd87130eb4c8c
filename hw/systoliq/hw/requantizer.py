"""The requantizer: int32 accumulator in, 8-bit (2 to 16) output out, by integer arithmetic only.

One lane of it follows the drain of the array. Multiplier, shift and offset are inputs, so that one description serves
per-column tables, constants (synthesis folds them) and run-time values.
"""

from __future__ import annotations

import dataclasses

from amaranth.hdl import Cat, Const, Module, Mux, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat, signed_bits
from systoliq.golden.requantization import Requantization, Rounding

from .delay import delay
from .float32 import FLOAT32_BITS, RoundToFloat32
from .hierarchy import place
from .multiplier import WideMultiplier
from .operand_shape import operand_shape
from .rounding import RoundingShift
from .serial_multiplier import SERIAL_CELLS, SerialMultiplier, serial_cycles

__all__ = ["Requantizer", "RequantizerConfig", "serial_pace"]

_FEW = 4  # bits of a factor that is not worth a serial form


def serial_pace(multiplier_bits: int, pace: int, cells: str) -> int:
    """Return the cycles that a serial requantizer in ``cells`` takes for a result where it has ``pace``; 1 where it is
    none.
    """
    return serial_cycles(multiplier_bits, pace) if multiplier_bits > _FEW and cells in SERIAL_CELLS else 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class RequantizerConfig:
    """Parameters of a requantizer lane.

    ``accumulator_bits`` is the width of the signed input; multipliers are unsigned, below ``2**multiplier_bits``;
    shifts lie in ``min_shift .. max_shift``; ``offset_bits`` is the width of the signed offset, used by ``FLOOR`` only.
    ``cells`` is as in `ArrayConfig`. Without ``pipelined`` registers are as few as a clock of 24 MHz allows on an iCE40
    UltraPlus. Multiplier and shift are sampled ``scale_later`` cycles after the accumulator, which must not be more
    than the rounding to float32 takes. With a ``pace`` of several cycles, accumulators come at least so far apart, and
    the product is made a few bits at a time.
    """

    accumulator_bits: int
    multiplier_bits: int
    min_shift: int
    max_shift: int
    offset_bits: int
    output: IntFormat
    rounding: Rounding
    cells: str = "portable"
    pipelined: bool = True
    scale_later: int = 0
    pace: int = 1

    @classmethod
    def of(
        cls, requantization: Requantization, accumulator_bits: int, *, cells: str = "portable", pace: int = 1
    ) -> RequantizerConfig:
        """The narrowest lane that serves every column of ``requantization``, serial where ``pace`` cycles allow it."""
        multiplier_bits = max(max(requantization.multiplier).bit_length(), 1)
        return cls(
            accumulator_bits=accumulator_bits,
            multiplier_bits=multiplier_bits,
            min_shift=min(requantization.shift),
            max_shift=max(requantization.shift),
            offset_bits=signed_bits(*requantization.offset),
            output=requantization.output,
            rounding=requantization.rounding,
            cells=cells,
            pace=serial_pace(multiplier_bits, pace, cells),
        )

    @property
    def shift_bits(self) -> int:
        """Bits of a shift."""
        return max(self.max_shift.bit_length(), 1)


class Requantizer(wiring.Component):
    """``y = saturate(round(acc * multiplier / 2**shift) + zero_point)``, one result a cycle, no stall, no reset.

    Inputs are sampled every cycle and ``y`` shows their result ``latency`` cycles later. A serial one has a ``start``,
    at least `RequantizerConfig.pace` cycles apart, and shows the results of inputs that come with it alone. The
    arithmetic is two's complement throughout and equals `systoliq.golden.requantization.Requantization.apply` for every
    input. The zero point must be within the range of ``y``, and steady.
    """

    kind = "requantizer"
    constants = ("multiplier", "shift", "offset")

    def __init__(self, config: RequantizerConfig) -> None:
        self.config = config
        y_shape = operand_shape(config.output)
        factor_bits, rounding = config.accumulator_bits, config.rounding
        self._to_float32: RoundToFloat32 | None = None
        if rounding is Rounding.NEAR_TIE and factor_bits > FLOAT32_BITS + 1:
            self._to_float32 = RoundToFloat32(factor_bits, registered=config.pipelined)
            factor_bits = len(self._to_float32.rounded)
        self._multiplier: WideMultiplier | SerialMultiplier
        if config.pace > 1:
            self._multiplier = SerialMultiplier(
                factor_bits, config.multiplier_bits, cells=config.cells, pace=config.pace
            )
        else:
            self._multiplier = WideMultiplier(
                factor_bits, config.multiplier_bits, cells=config.cells, pipelined=config.pipelined
            )
        value_bits = len(self._multiplier.product)
        if rounding is Rounding.FLOOR:
            value_bits = max(value_bits, config.offset_bits) + 1
        least, most = config.min_shift, config.max_shift
        # An integer part that floor_bits cannot hold saturates y for any zero point.
        floor_bits = config.output.bits + 1
        self._rounding = RoundingShift(
            rounding, value_bits, least=least, most=most, floor_bits=floor_bits, pipelined=config.pipelined
        )
        super().__init__(
            {
                "acc": In(signed(config.accumulator_bits)),
                "multiplier": In(unsigned(config.multiplier_bits)),
                "shift": In(unsigned(config.shift_bits)),
                "offset": In(signed(config.offset_bits)),
                "zero_point": In(signed(config.output.bits + 1)),
                "y": Out(y_shape),
                **({"start": In(1)} if config.pace > 1 else {}),
            }
        )

    @property
    def latency(self) -> int:
        """Input, [rounding to float32,] product, [offset,] rounding shift, zero point, saturation.

        Without ``pipelined``: product, [offset,] rounding shift, and a register behind the saturation.
        """
        to_float32 = self._to_float32.latency if self._to_float32 else 0
        offset = int(self.config.rounding is Rounding.FLOOR)
        ends = 3 if self.config.pipelined else 1
        return to_float32 + self._multiplier.latency + offset + self._rounding.latency + ends

    def elaborate(self, platform: object) -> Module:
        m = Module()
        output, multiplier, rounding = self.config.output, self._multiplier, self._rounding
        stage = each = int(self.config.pipelined)
        later = self.config.scale_later
        acc = delay(m, self.acc, stage, name="acc").as_signed()
        extra = delay(m, (self.shift - self.config.min_shift)[: len(rounding.extra)], stage, name="extra")
        if self._to_float32:
            m.submodules.to_float32 = place(self._to_float32, platform)
            m.d.comb += self._to_float32.number.eq(acc)
            acc = self._to_float32.rounded
            stage += self._to_float32.latency

        m.submodules.multiplier = place(multiplier, platform)
        m.d.comb += [multiplier.a.eq(acc), multiplier.b.eq(delay(m, self.multiplier, stage - later, name="factor"))]
        if isinstance(multiplier, SerialMultiplier):
            m.d.comb += multiplier.start.eq(delay(m, self.start, stage, name="start"))
        value: Value = multiplier.product
        stage += multiplier.latency
        if self.config.rounding is Rounding.FLOOR:
            offset = delay(m, self.offset, stage, name="offset").as_signed()
            value = delay(m, value + offset, 1, name="product_offset").as_signed()
            stage += 1

        m.submodules.rounding = place(rounding, platform)
        waits = stage - 1 - each - later  # behind the input
        m.d.comb += [rounding.value.eq(value), rounding.extra.eq(delay(m, extra, waits, name="extra_delayed"))]

        # Rounding up is the carry into this sum.
        with_carry = Cat(Const(1, 1), rounding.floor).as_signed() + Cat(rounding.up, self.zero_point).as_signed()
        total = delay(m, with_carry[1:], each, name="total")
        beyond = delay(m, rounding.beyond, each, name="beyond")
        negative = delay(m, rounding.negative, each, name="negative")

        # Outside the range of y where the bits from y's sign upwards are not alike (unsigned: those above y not zero).
        excess = total[output.bits - output.signed :]
        outside = beyond | (excess.any() & ~excess.all() if output.signed else excess.any())
        below, above = Const(output.min, self.y.shape()), Const(output.max, self.y.shape())
        limit = Mux(Mux(beyond, negative, total[-1]), below, above)
        y = Mux(outside, limit, total[: output.bits])[: output.bits]
        m.d.comb += self.y.eq(delay(m, y, 1, name="y_register"))
        return m
