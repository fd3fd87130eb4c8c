"""Proofs of the whole requantizer with all of its registers, from accumulator or product to output."""

from __future__ import annotations

import struct

from amaranth.hdl import Assume, Cover, Module, Shape, Value, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import INT8, IntFormat
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.hw.delay import delay
from systoliq.hw.hierarchy import place
from systoliq.hw.requantizer import Requantizer, RequantizerConfig

from ..property import FromAnyState, Property, SeededBug

__all__ = ["PROPERTIES"]

_PRODUCT_BITS = 57  # 32 of the accumulator, one of its rounding, 24 of the multiplier


def _saturated(real: str, output: IntFormat) -> str:
    """The output for the binary32 ``real``: clip, round, add the zero point, as the float32 formula does."""
    wide = output.bits + 2

    def limit(value: int) -> str:
        of_zero_point = f"(bvsub (_ bv{value % (1 << wide)} {wide}) ((_ sign_extend 1) {{zero_point_then}}))"
        return f"((_ to_fp 8 24) RNE {of_zero_point})"

    clipped = f"(fp.min (fp.max {real} {limit(output.min)}) {limit(output.max)})"
    total = f"(bvadd ((_ fp.to_sbv {wide}) RNE {clipped}) ((_ sign_extend 1) {{zero_point_then}}))"
    return f"(= {{y}} ((_ extract {output.bits - 1} 0) {total}))"


class _Harness(wiring.Component):
    """A requantizer with free inputs, and these as they were when the result of now was asked for."""

    def __init__(self, config: RequantizerConfig, dut: Requantizer, shapes: dict[str, Shape]) -> None:
        self.config = config
        self.dut = dut
        self.latency = self.dut.latency
        self._inputs = shapes | {"zero_point": signed(config.output.bits + 1)}
        ports = {name: In(shape) for name, shape in self._inputs.items()}
        ports |= {f"{name}_then": Out(shape) for name, shape in self._inputs.items()}
        super().__init__(ports | {"y": Out(self.dut.y.shape())})

    def connect(self, m: Module) -> None:
        """Drive the zero point, which is steady, and show each input as it was ``latency`` cycles ago."""
        output, dut = self.config.output, self.dut
        m.submodules.dut = place(dut, None)
        m.d.comb += [
            dut.zero_point.eq(self.zero_point),
            Assume((self.zero_point >= output.min) & (self.zero_point <= output.max)),
            self.y.eq(dut.y),
        ]
        before = delay(m, self.zero_point, 1, name="zero_point_before")
        m.d.comb += Assume(Value.cast(self.zero_point) == before)
        for name in self._inputs:
            past = delay(m, getattr(self, name), dut.latency, name=f"past_{name}")
            m.d.comb += getattr(self, f"{name}_then").eq(past)
        for extreme in (output.min, output.max):
            m.d.comb += Cover(self.y == extreme)
        m.d.comb += Cover((self.y > output.min) & (self.y < output.max))


class ProductHarness(_Harness):
    """The requantizer with its product left free: a multiplier of 1, and an accumulator as wide as any product.

    Everything behind the multiplication is the requantizer's own; the rounding of the accumulator before it, which
    `AccumulatorHarness` proves, is switched off.
    """

    def __init__(self, rounding: Rounding, output: IntFormat, shifts: range) -> None:
        config = RequantizerConfig(
            accumulator_bits=_PRODUCT_BITS,
            multiplier_bits=1,
            min_shift=shifts[0],
            max_shift=shifts[-1],
            offset_bits=1,
            output=output,
            rounding=rounding,
        )
        dut = Requantizer(config)
        dut._to_float32 = None
        super().__init__(config, dut, {"product": signed(_PRODUCT_BITS), "shift": unsigned(config.shift_bits)})
        # binary32 for near-tie; for nearest a format that holds every product exactly
        sizes = "8 24" if rounding is Rounding.NEAR_TIE else "15 113"
        bits = config.shift_bits
        exponent, mantissa = map(int, sizes.split())
        bias = (1 << exponent - 1) - 1
        shift = f"((_ zero_extend {exponent - bits}) {'(ite {shift_then} #b1 #b0)' if bits == 1 else '{shift_then}'})"
        power = f"(fp #b0 (bvsub (_ bv{bias} {exponent}) {shift}) (_ bv0 {mantissa - 1}))"
        real = f"(fp.mul RNE ((_ to_fp {sizes}) RNE {{product_then}}) {power})"
        if rounding is not Rounding.NEAR_TIE:
            real = f"(fp.roundToIntegral RNE {real})"
            real = f"((_ to_fp 8 24) RTZ {real})"  # exact where it is not saturated anyway
        self.formulas = (_saturated(real, output),)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self.connect(m)
        m.d.comb += [
            self.dut.acc.eq(self.product),
            self.dut.multiplier.eq(1),
            self.dut.shift.eq(self.shift),
            Assume((self.shift >= self.config.min_shift) & (self.shift <= self.config.max_shift)),
        ]
        return m


class FloorHarness(_Harness):
    """The floor form with product and offset left free; its specification is 64-bit integer arithmetic."""

    def __init__(self, output: IntFormat, shifts: range) -> None:
        config = RequantizerConfig(
            accumulator_bits=_PRODUCT_BITS,
            multiplier_bits=1,
            min_shift=shifts[0],
            max_shift=shifts[-1],
            offset_bits=_PRODUCT_BITS,
            output=output,
            rounding=Rounding.FLOOR,
        )
        signals = {"product": signed(_PRODUCT_BITS), "offset": signed(_PRODUCT_BITS)}
        super().__init__(config, Requantizer(config), signals | {"shift": unsigned(config.shift_bits)})

        def wide(name: str, kind: str) -> str:
            return f"((_ {kind}_extend {64 - getattr(self, name).shape().width}) {{{name}}})"

        product, offset = wide("product_then", "sign"), wide("offset_then", "sign")
        shifted = f"(bvashr (bvadd {product} {offset}) {wide('shift_then', 'zero')})"
        least, most = (f"(_ bv{value % (1 << 64)} 64)" for value in (output.min, output.max))
        total = f"(bvadd {shifted} {wide('zero_point_then', 'sign')})"
        saturated = f"(ite (bvslt {total} {least}) {least} (ite (bvsgt {total} {most}) {most} {total}))"
        self.formulas = (f"(= {{y}} ((_ extract {output.bits - 1} 0) {saturated}))",)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self.connect(m)
        m.d.comb += [
            self.dut.acc.eq(self.product),
            self.dut.multiplier.eq(1),
            self.dut.offset.eq(self.offset),
            self.dut.shift.eq(self.shift),
            Assume((self.shift >= self.config.min_shift) & (self.shift <= self.config.max_shift)),
        ]
        return m


class ScaleHarness(_Harness):
    """The requantizer at one float32 scale, for every accumulator and zero point: the normative formula itself."""

    def __init__(self, scale: float, accumulator_bits: int, output: IntFormat) -> None:
        (word,) = struct.unpack("<I", struct.pack("<f", scale))
        (exact,) = struct.unpack("<f", struct.pack("<f", scale))
        self.requantization = Requantization.from_scales(exact, 0, output)
        config = RequantizerConfig.of(self.requantization, accumulator_bits)
        super().__init__(config, Requantizer(config), {"acc": signed(accumulator_bits)})
        number = f"((_ to_fp 8 24) (_ bv{word} 32))"
        self.formulas = (_saturated(f"(fp.mul RNE ((_ to_fp 8 24) RNE {{acc_then}}) {number})", output),)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self.connect(m)
        m.d.comb += [
            self.dut.acc.eq(self.acc),
            self.dut.multiplier.eq(self.requantization.multiplier[0]),
            self.dut.shift.eq(self.requantization.shift[0]),
        ]
        return m


def _product(rounding: Rounding, output: IntFormat, shifts: range, bug: SeededBug, *, quick: bool = False) -> Property:
    return Property(
        name=f"requantizer {rounding.value}, {output.name}, shifts {shifts[0]} to {shifts[-1]}",
        claim="every 57-bit product, shift and zero point gives what IEEE 754 gives: multiply, clip, round, add",
        harness=lambda: ProductHarness(rounding, output, shifts),
        method=FromAnyState(),
        bug=bug,
        quick=quick,
    )


def _scale(scale: float, accumulator_bits: int, output: IntFormat, *, quick: bool = False) -> Property:
    return Property(
        name=f"requantizer at scale {scale:g}, {accumulator_bits}-bit accumulator, {output.name}",
        claim="every accumulator and zero point gives rint(clip(float32(acc) * scale)) + zero point, product included",
        harness=lambda: ScaleHarness(scale, accumulator_bits, output),
        method=FromAnyState(),
        bug=SeededBug(
            module="rounding",
            old='Mux(tie, odd, half), decided, name="up_register"',
            new='Mux(tie, odd, half), 0, name="up_register"',
        ),
        quick=quick,
    )


_DROPPED = SeededBug(
    module="rounding", old="fraction = below(half_place)", new="fraction = Const((1 << half_place) - 1, half_place)"
)
_CLAMP = SeededBug(
    module="requantizer", old="floor_bits = config.output.bits + 1", new="floor_bits = config.output.bits"
)
UINT8, INT4, INT16 = IntFormat.parse("uint8"), IntFormat.parse("int4"), IntFormat.parse("int16")

PROPERTIES = (
    _product(Rounding.NEAR_TIE, INT8, range(30, 32), _CLAMP, quick=True),
    _product(Rounding.NEAR_TIE, INT8, range(56), _DROPPED),
    _product(Rounding.NEAR_TIE, UINT8, range(56), _DROPPED),
    _product(Rounding.NEAREST, INT8, range(56), _DROPPED),
    Property(
        name="requantizer floor, int8, shifts 0 to 55",
        claim="every 57-bit product, offset, shift and zero point gives saturate(((product + offset) >> shift) + zero)",
        harness=lambda: FloorHarness(INT8, range(56)),
        method=FromAnyState(),
        bug=SeededBug(
            module="requantizer", old="Mux(beyond, negative, total[-1])", new="Mux(beyond, ~negative, total[-1])"
        ),
        quick=True,
    ),
    _scale(2.0**-7, 20, INT8, quick=True),
    _scale(0.0037, 32, INT8),
)
