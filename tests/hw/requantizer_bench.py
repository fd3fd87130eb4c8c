"""The requantizer's Verilog under Verilator, against the float32 formula, at the accumulators where outputs change."""

from __future__ import annotations

import numpy as np
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.formats import IntFormat
from systoliq.golden.requantization import MANTISSA_BITS, Requantization, Rounding
from systoliq.golden.rescale import requantize_float32
from systoliq.golden.thresholds import float32_steps
from systoliq.hw.delay import delay
from systoliq.hw.hierarchy import place
from systoliq.hw.requantizer import Requantizer, RequantizerConfig
from systoliq.hw.table import ConstantTable
from systoliq.hw.verilog import emit_verilog
from systoliq.sim.pipeline import PipelineResult, run_pipeline

MOST_SHIFT = 55


class ConstantRequantizer(wiring.Component):
    """A requantizer whose constants are those of a `column`, from a table as in a drain lane."""

    def __init__(self, requantization: Requantization, accumulator_bits: int) -> None:
        self.requantization = requantization
        self.requantizer = Requantizer(RequantizerConfig.of(requantization, accumulator_bits))
        names = ("multiplier", "shift", "offset")
        self.table = ConstantTable(
            {name: getattr(requantization, name) for name in names},
            {name: getattr(self.requantizer, name).shape() for name in names},
            cells="portable",
            kind="constants",
        )
        self.latency = self.table.latency + self.requantizer.latency
        super().__init__(
            {
                "acc": In(self.requantizer.acc.shape()),
                "column": In(range(max(requantization.columns, 2))),
                "y": Out(self.requantizer.y.shape()),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.requantizer = place(self.requantizer, platform)
        m.submodules.table = place(self.table, platform)
        m.d.comb += self.table.index.eq(self.column)
        for name in self.table.columns:
            m.d.comb += getattr(self.requantizer, name).eq(getattr(self.table, name))
        acc = delay(m, self.acc, self.table.latency, name="acc")
        m.d.comb += [
            self.requantizer.acc.eq(acc),
            self.requantizer.zero_point.eq(self.requantization.zero_point),
            self.y.eq(self.requantizer.y),
        ]
        return m


def points(scales, zero_point: int, output: IntFormat, lo, hi):
    """(column, accumulator) [count] at both sides of every step of every column, and at both ends; in random order."""
    steps = float32_steps(scales, zero_point, output, lo, hi)
    sides = np.concatenate([steps.start - 1, steps.start, steps.lo[None], steps.hi[None]])
    inside = (sides >= steps.lo) & (sides <= steps.hi)
    column = np.broadcast_to(np.arange(len(scales)), sides.shape)[inside]
    tried = np.unique(np.stack([column, sides[inside]]), axis=1)  # a step that is not reached stands at hi + 1
    return tuple(np.random.default_rng(len(column)).permutation(tried, axis=1))


def run_programmable(scales, zero_point: int, output: IntFormat, rounding=Rounding.NEAR_TIE) -> PipelineResult:
    """All constants are inputs that change in every cycle; every int32 accumulator is within its range."""
    block = programmable(output, rounding)
    scales = np.asarray(scales, np.float32)
    column, acc = points(scales, zero_point, output, -(1 << 31), (1 << 31) - 1)
    constants = Requantization.from_scales(scales, zero_point, output, rounding=rounding)
    return run_pipeline(
        emit_verilog(block, "requantizer"),
        "requantizer",
        inputs={
            "acc": (32, acc),
            "multiplier": (MANTISSA_BITS, np.array(constants.multiplier)[column]),
            "shift": (block.config.shift_bits, np.array(constants.shift)[column]),
            "zero_point": (output.bits + 1, np.full(len(acc), zero_point)),
        },
        output="y",
        bits=output.bits,
        expected=requantize_float32(acc, scales[column], zero_point, output),
        latency=block.latency,
    )


def programmable(output: IntFormat, rounding=Rounding.NEAR_TIE) -> Requantizer:
    """The block for any constants at run time."""
    config = RequantizerConfig(
        accumulator_bits=32,
        multiplier_bits=MANTISSA_BITS,
        min_shift=0,
        max_shift=MOST_SHIFT,
        offset_bits=1,
        output=output,
        rounding=rounding,
    )
    return Requantizer(config)


def run_constant(requantization: Requantization, scales, lo, hi, accumulator_bits: int = 32) -> PipelineResult:
    """The constants are tables; `lo` and `hi` are what the columns reach."""
    block = ConstantRequantizer(requantization, accumulator_bits)
    scales = np.asarray(scales, np.float32)
    output, zero_point = requantization.output, requantization.zero_point
    column, acc = points(scales, zero_point, output, lo, hi)
    return run_pipeline(
        emit_verilog(block, "columns"),
        "columns",
        inputs={"acc": (accumulator_bits, acc), "column": (len(block.column), column)},
        output="y",
        bits=output.bits,
        expected=requantize_float32(acc, scales[column], zero_point, output),
        latency=block.latency,
    )
