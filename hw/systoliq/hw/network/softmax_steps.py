"""Steps of a softmax: the sum of exponentials in float32, and the division of one by their sum, both a bit at a time.

A stage of a network makes them of its constants; the engine's vector unit of the settings of a command.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from ..delay import delay
from ..float32 import FLOAT32_BITS

__all__ = ["ADD_CYCLES", "LEVEL_CYCLES", "exponential_sum", "rounded_quotient"]

ADD_CYCLES = 5
"""Cycles of an addition of float32."""
LEVEL_CYCLES = 2
"""Cycles from the last bit of a quotient to its level."""
_APART = ("far", "near")  # exponents less the sum's, and the other way round
_FAR = 31  # places by which an exponential is moved to the right at most: more than it has bits


def _at_most(distance: Signal) -> Value:
    """`distance`, or `_FAR` if it is greater."""
    low = _FAR.bit_length()
    beyond = distance[low:-1].any() if len(distance) > low + 1 else Const(0, 1)
    return distance[: min(low, len(distance) - 1)] | beyond.replicate(low)


def exponential_sum(
    m: Module, words: tuple[Value, Value], comes: Value, first: Value, *, exponent_bits: int
) -> tuple[Signal, Signal]:
    """Add up exponentials as float32, mantissa and exponent in ``words``, when one comes and a cycle later; return the
    mantissa and the exponent of the sum.

    At least `ADD_CYCLES` lie between two of them, and one less from the last to the sum.
    """
    bits = FLOAT32_BITS
    coming, word = words
    mantissa, exponent = word[:bits], word[bits : bits + exponent_bits]
    total = Signal(bits, name="total", reset_less=True)
    scale = Signal(exponent_bits, name="total_exponent")  # known before a row, for which it is a place to move by

    # The one of the smaller exponent is moved to the right, by all of its bits at most. The first of a row is added
    # to nothing, which may be moved by anything.
    far, near = (Signal(signed(exponent_bits + 1), name=name, reset_less=True) for name in _APART)
    larger = Signal(name="larger")  # the exponential is
    comes_exponent = coming[bits : bits + exponent_bits]
    m.d.sync += [far.eq(comes_exponent - scale), near.eq(scale - comes_exponent)]
    first = delay(m, first, 1, name="first_then")
    m.d.comb += larger.eq(first | near[-1])
    distance = Signal(_FAR.bit_length(), name="distance", reset_less=True)
    great, small = Signal(bits, name="great", reset_less=True), Signal(bits, name="small", reset_less=True)
    common = Signal(exponent_bits, name="common", reset_less=True)
    m.d.sync += [
        great.eq(Mux(larger, mantissa, total)),
        small.eq(Mux(first, 0, Mux(larger, total, mantissa))),
        common.eq(Mux(larger, exponent, scale)),
        distance.eq(Mux(near[-1], _at_most(far), _at_most(near))),
    ]
    moved = Cat(Const(0, _FAR), small) >> distance
    kept, below = Signal(bits + 1, name="kept", reset_less=True), Signal(_FAR - 1, name="cut", reset_less=True)
    m.d.sync += Cat(below, kept).eq(moved)

    added, lost = Signal(bits + 2, name="added", reset_less=True), Signal(name="lost", reset_less=True)
    m.d.sync += [added.eq((delay(m, great, 1, name="great_then") << 1) + kept), lost.eq(below.any())]
    carry = added[-1]
    cut = Mux(carry, added[2:], added[1:-1])
    up = Mux(carry, added[1] & (added[2] | added[0] | lost), added[0] & (added[1] | lost))
    rounded = Signal(bits + 1)
    m.d.comb += rounded.eq(cut + up)
    longer = carry | rounded[-1]  # with the latter, all bits below are 0
    common = delay(m, common, 2, name="common_then")
    with m.If(delay(m, comes, ADD_CYCLES - 1, name="added_now", reset_less=False)):
        m.d.sync += [
            total.eq(Cat(rounded[: bits - 1], rounded[bits - 1] | rounded[bits])),
            scale.eq(Mux(longer, common + 1, common)),
        ]
    return total, scale


def rounded_quotient(
    m: Module, numerator: Value, comes: Value, total: Value, *, below: int, quotient_bits: int, clears: bool = False
) -> Signal:
    """Divide ``numerator``, whose bits from ``below`` on are whole, by the ``total`` that is there when it comes: a bit
    a cycle, ``quotient_bits`` and one of half a level. Return the quotient rounded half to even, `LEVEL_CYCLES` later.

    With ``clears``, fewer bits may be asked for: the quotient of ``n`` bits is there after n + 1 cycles.
    """
    bits = len(total)
    divisor = Signal(bits, name="divisor", reset_less=True)
    rest = Signal(below + bits + 1, name="rest", reset_less=True)
    quotient = Signal(quotient_bits + 1, name="quotient", reset_less=True)
    top = rest[below:]
    difference = Signal(signed(bits + 2), name="difference")
    fits = Signal(name="fits")
    m.d.comb += [difference.eq(top - divisor), fits.eq(~difference[-1])]
    m.d.sync += [
        rest.eq(Cat(Const(0, 1), rest[:below], Mux(fits, difference[:bits], top[:bits]))),
        quotient.eq(Cat(fits, quotient)),
    ]
    with m.If(comes):
        m.d.sync += [rest.eq(numerator), divisor.eq(total), *([quotient.eq(0)] if clears else [])]
    halves = delay(m, quotient, 1, name="halves")
    more = delay(m, rest.any(), 1, name="more")
    level = Signal(quotient_bits + 1, name="level", reset_less=True)
    m.d.sync += level.eq(halves[1:] + (halves[0] & (halves[1] | more)))
    return level
