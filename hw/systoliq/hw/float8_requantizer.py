"""The requantizer where float8 is involved: an exact sum times a float32 scale, exactly, rounded once to a result."""

from __future__ import annotations

import dataclasses

from amaranth.hdl import Cat, Const, Module, Mux, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.float8 import Float8Format
from systoliq.golden.float8_requantization import MANTISSA_BITS, Float8Requantization
from systoliq.golden.operand import Format

from .config import ArrayConfig
from .delay import delay
from .digit_product import DIGIT_BITS, DigitProduct
from .float8_rounding import Float8Rounding
from .hierarchy import place
from .integer_rounding import IntegerRounding

__all__ = ["Float8Requantizer", "Float8RequantizerConfig", "exponent_offset", "exponents_of"]

_NORMALIZING = DIGIT_BITS.bit_length()  # cycles, for each power of two that the leading digit moves by


@dataclasses.dataclass(frozen=True, kw_only=True)
class Float8RequantizerConfig:
    """Parameters of a lane: sums of ``sum_bits`` bits with ``flag_bits`` flags above them.

    Exponents lie in ``min_exponent .. max_exponent``; see `Float8Requantizer`. Sums of integers have no flags.
    """

    sum_bits: int
    flag_bits: int
    min_exponent: int
    max_exponent: int
    output: Format
    cells: str = "portable"

    @classmethod
    def of(
        cls, requantization: Float8Requantization, config: ArrayConfig, sum_bits: int | None = None
    ) -> Float8RequantizerConfig:
        """The lane that serves every column of ``requantization`` below the array of ``config``.

        ``sum_bits`` is the width of the sums with all addends; by default, the accumulator's width.
        """
        exponents = exponents_of(requantization, config)
        return cls(
            sum_bits=sum_bits or config.accumulator_bits,
            flag_bits=config.flag_bits,
            min_exponent=min(exponents),
            max_exponent=max(exponents),
            output=requantization.output,
            cells=config.cells,
        )


def exponents_of(requantization: Float8Requantization, config: ArrayConfig) -> list[int]:
    """``exponent`` of each column: the exponent field of a product of scale and sum whose leading one is bit 0."""
    offset = exponent_offset(config, requantization.output)
    return [exponent + offset for exponent in requantization.exponent]


def exponent_offset(config: ArrayConfig, output: Format) -> int:
    """Offset that `exponents_of` adds to the exponents of scales: the exponent of the sums' unit plus the bias of
    ``output``.
    """
    bias = output.bias if isinstance(output, Float8Format) else IntegerRounding.bias_of(output)
    return config.unit + bias


class Float8Requantizer(wiring.Component):
    """``y`` is the result nearest to ``acc * multiplier * 2^exponent``, one result a cycle, no stall, no reset.

    ``acc`` is a word of the array (see `Mac`): a sum and its flags. ``multiplier`` is the scale's mantissa, and
    ``exponent`` is the column's value of `exponents_of`. Results are float8 codes, or integers with a common
    ``zero_point``. Inputs are sampled every cycle, and ``y`` shows their result ``latency`` cycles later, equal to
    `systoliq.golden.float8_requantization.Float8Requantization.apply`.

    The product comes in digits, the lowest first. Rounding needs all bits of the highest digit that is not 0 and of the
    digit below it; of lower digits, it needs only whether they are 0.
    """

    kind = "float8_requantizer"
    constants = ("multiplier", "exponent")

    def __init__(self, config: Float8RequantizerConfig) -> None:
        self.config = config
        self._product = DigitProduct(config.sum_bits, MANTISSA_BITS, cells=config.cells)
        self._digits: int = self._product.digits.shape().length
        least, most = config.min_exponent, config.max_exponent + self._digits * DIGIT_BITS
        field_bits = max(abs(least), abs(most)).bit_length() + 1
        self._rounding: Float8Rounding | IntegerRounding
        if isinstance(config.output, Float8Format):
            self._rounding = Float8Rounding(config.output, field_bits=field_bits, flag_bits=config.flag_bits)
        else:
            self._rounding = IntegerRounding(config.output, field_bits=field_bits, flag_bits=config.flag_bits)
        exponent_bits = max(abs(least), abs(config.max_exponent)).bit_length() + 1
        super().__init__(
            {
                "acc": In(signed(config.sum_bits + config.flag_bits)),
                "multiplier": In(unsigned(MANTISSA_BITS)),
                "exponent": In(signed(exponent_bits)),
                "y": Out(self._rounding.code.shape()),
                **({"zero_point": In(self._rounding.zero_point.shape())} if self._has_zero_point else {}),
            }
        )

    @property
    def _has_zero_point(self) -> bool:
        return isinstance(self._rounding, IntegerRounding)

    @property
    def _chosen(self) -> int:
        """Cycles to the highest digits: input, lowest digit, whether it is 0, the choice digit by digit."""
        return 1 + self._product.latency + 1 + self._digits

    @property
    def latency(self) -> int:
        """The highest digits, the leading one's place, the exponent field, rounding."""
        return self._chosen + _NORMALIZING + 1 + self._rounding.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        product, rounding = self._product, self._rounding
        m.submodules.digit_product = place(product, platform)  # the product's own signals do not use this name
        m.submodules.rounding = place(rounding, platform)
        acc = delay(m, self.acc, 1, name="acc")
        number, flags = acc[: self.config.sum_bits], acc[self.config.sum_bits :]
        m.d.comb += [
            product.number.eq(number.as_signed()),
            product.factor.eq(delay(m, self.multiplier, 1, name="factor")),
        ]

        window, more, exponent = self._choose(m)
        zero = ~window.any()
        window, place_of_one = self._normalize(m, window)
        cycles = _NORMALIZING
        exponent = delay(m, exponent, cycles, name="chosen_exponent").as_signed()
        more = delay(m, more, cycles, name="chosen_more")
        fraction_bits = len(rounding.fraction)
        above = len(window) - 1 - fraction_bits  # the leading one is the top bit
        more |= window[:above].any()
        m.d.comb += [
            rounding.field.eq(delay(m, exponent + place_of_one, 1, name="exponent_field").as_signed()),
            rounding.fraction.eq(delay(m, window[above:-1], 1, name="fraction")),
            rounding.more.eq(delay(m, more, 1, name="more")),
            rounding.zero.eq(delay(m, zero, cycles + 1, name="zero")),
            rounding.negative.eq(delay(m, number[-1], self._chosen + cycles, name="negative")),
        ]
        if self.config.flag_bits:
            m.d.comb += rounding.flags.eq(delay(m, flags, self._chosen + cycles, name="flags"))
        m.d.comb += self.y.eq(rounding.code)
        if self._has_zero_point:
            m.d.comb += rounding.zero_point.eq(self.zero_point)
        return m

    def _choose(self, m: Module) -> tuple[Value, Value, Value]:
        """Select the highest digit that is not 0, with the top of the digit below it. Returns the digits, whether a bit
        is set below them, and the exponent of the digit's bit 0. The latency is `_chosen` cycles.
        """
        below_bits = len(self._rounding.fraction)
        window: Value = Const(0, below_bits + DIGIT_BITS)
        more: Value = Const(0, 1)
        place_of_digit: Value = Const(0, 1)
        above: Value = Const(0, below_bits)  # the top of the digit before
        rest: Value = Const(0, 1)  # whether more of it is set
        before: Value = Const(0, 1)  # whether a digit before that one is not 0
        for i in range(self._digits):
            digit = delay(m, self._product.digits[i], 1, name=f"digit_{i}")
            top, low = digit[DIGIT_BITS - below_bits :], digit[: DIGIT_BITS - below_bits]
            found = delay(m, self._product.digits[i].any(), 1, name=f"found_{i}")
            window = delay(m, Mux(found, Cat(above, digit), window), 1, name=f"window_{i}")
            more = delay(m, Mux(found, rest | before, more), 1, name=f"more_{i}")
            place_of_digit = delay(m, Mux(found, i * DIGIT_BITS, place_of_digit), 1, name=f"place_{i}")
            # the part of the previous digits that the next digit needs
            before = delay(m, before | rest | above.any(), 1, name=f"before_{i}")
            above, rest = delay(m, top, 1, name=f"above_{i}"), delay(m, low.any(), 1, name=f"rest_{i}")
        exponent = delay(m, self.exponent, self._chosen, name="exponent").as_signed()
        return window, more, (exponent + place_of_digit)[: len(self._rounding.field)]

    def _normalize(self, m: Module, window: Value) -> tuple[Value, Value]:
        """``window`` with its leading one at the top, and the place in the digit where it stood."""
        moves: list[Value] = []
        for i in reversed(range(DIGIT_BITS.bit_length())):
            step = 1 << i
            empty = ~window[len(window) - step :].any()
            window = delay(m, Mux(empty, window << step, window)[: len(window)], 1, name=f"moved_{step}")
            moves = [delay(m, move, 1, name=f"move_{j}_{step}") for j, move in enumerate(moves)]
            moves.append(delay(m, empty, 1, name=f"move_{step}"))
        return window, DIGIT_BITS - 1 - Cat(*reversed(moves))
