"""The table of area and frequency in docs/measurements/silicon.md, measured by `systoliq bench-area`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from systoliq.golden.formats import INT8, IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Rounding
from systoliq.hw import ArrayConfig, AxiBareArray, AxiDense, BareArray, Dense
from systoliq.hw.dma.dma_engine import DmaEngine
from systoliq.hw.engine import AxiEngine, EngineConfig
from systoliq.hw.hierarchy import place
from systoliq.hw.requantizer import Requantizer, RequantizerConfig

from ..design import EngineDesign, LayerOptions
from ..design.sources import resnet8_fc_layer
from ..synth.flow import Block, DoesNotFitError, synthesize
from ..synth.report import SynthReport

__all__ = ["DESIGNS", "measure", "replace_table", "table"]

_BEGIN, _END = "<!-- table: make bench-area -->", "<!-- end of table -->"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the table: ``make`` gives the design, of ``cells``, and its MACs per cycle."""

    target: str
    cells: str
    make: Callable[[], tuple[wiring.Component, int]]


def _array(
    rows: int, cols: int, depth: int, *, target: str = "ecp5-85k", cells: str = "ecp5", a: str = "int8", b: str = "int8"
) -> Row:
    operands = IntFormat.parse(a), IntFormat.parse(b)
    config = ArrayConfig(rows=rows, cols=cols, depth=depth, a=operands[0], b=operands[1], cells=cells)
    return Row(target=target, cells=cells, make=lambda: (AxiBareArray(BareArray(config)), config.macs_per_cycle))


class _SideBySide(wiring.Component):
    """Arrays that share nothing but clock, reset and the part."""

    def __init__(self, configs: Sequence[ArrayConfig]) -> None:
        self.arrays = [AxiBareArray(BareArray(config)) for config in configs]
        for index, array in enumerate(self.arrays):
            array.kind = f"array_{index}"
            array.namespace = True
        ports = {f"array_{index}": Out(array.signature) for index, array in enumerate(self.arrays)}
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for index, array in enumerate(self.arrays):
            m.submodules[f"array_{index}"] = place(array, platform)
            wiring.connect(m, wiring.flipped(getattr(self, f"array_{index}")), array)
        return m


def _side_by_side(*arrays: tuple[tuple[int, int, int], str]) -> Row:
    """Arrays of these shapes and cells; the first one's are the row's."""
    configs = [ArrayConfig(rows=rows, cols=cols, depth=depth, cells=cells) for (rows, cols, depth), cells in arrays]
    macs = sum(config.macs_per_cycle for config in configs)
    return Row(target="ecp5-85k", cells=configs[0].cells, make=lambda: (_SideBySide(configs), macs))


def _layer(
    shape: tuple[int, int, int],
    requantizer: str,
    layer: Callable[[], MatMulLayer] = lambda: resnet8_fc_layer()[0],
    *,
    target: str = "ecp5-85k",
    cells: str = "ecp5",
) -> Row:
    """The layer on rows x cols x depth."""
    rows, cols, depth = shape

    def make() -> tuple[wiring.Component, int]:
        options = LayerOptions(rows=rows, cols=cols, depth=depth, requantizer=requantizer)
        made = layer()
        config = options.array_for_layer(made).replace(cells=cells)
        return AxiDense(Dense(made, options.requantization(made), config)), config.macs_per_cycle

    return Row(target=target, cells=cells, make=make)


def _seeded(k: int, n: int) -> MatMulLayer:
    """A layer of int8 with random weights and bias, and a scale for each column."""
    generator = np.random.default_rng(k * n)
    return MatMulLayer(
        name="seeded",
        b=generator.integers(-128, 128, (k, n)).astype(np.int8),
        bias=generator.integers(-20000, 20000, n).astype(np.int32),
        a_scale=np.float32(0.02),
        a_zero_point=np.int8(-3),
        b_scale=generator.uniform(0.005, 0.015, n).astype(np.float32),
        b_zero_point=np.int8(0),
        y_scale=np.float32(0.35),
        y_zero_point=np.int8(5),
    )


def _engine(target: str, config: EngineConfig) -> Row:
    def make() -> tuple[AxiEngine, int]:
        design = EngineDesign(config)
        return design.top, design.macs_per_cycle

    return Row(target=target, cells=config.cells, make=make)


def _dma_engine(config: EngineConfig, bus_bits: int) -> Row:
    """An engine behind masters."""

    def make() -> tuple[DmaEngine, int]:
        return DmaEngine(config, bus_bytes=bus_bits // 8), config.macs_per_cycle

    return Row(target="ecp5-85k", cells=config.cells, make=make)


def _requantizer(accumulator_bits: int) -> Row:
    config = RequantizerConfig(
        accumulator_bits=accumulator_bits,
        multiplier_bits=24,
        min_shift=24,
        max_shift=39,
        offset_bits=1,
        output=INT8,
        rounding=Rounding.NEAR_TIE,
        cells="ecp5",
    )
    return Row(target="ecp5-85k", cells="ecp5", make=lambda: (Requantizer(config), 1))


_ARRAYS = [
    *((4, 4, 1), (2, 4, 2), (1, 4, 4), (1, 2, 8)),
    *((8, 8, 1), (4, 8, 2), (4, 4, 4), (2, 4, 8), (1, 8, 8), (1, 2, 32)),
    *((12, 12, 1), (4, 4, 8)),  # nearly all of an ecp5-85k's 156 multipliers
]

# Engines, rows x cols [x depth] / lanes: change them here. Designs that do not fit are left out of the table. The
# multipliers that an engine takes: design.engine.largest.
_ENGINES = {
    "engine 4 x 4 / 4": ("ecp5-85k", EngineConfig(rows=4, cols=4, lanes=4, cells="ecp5")),
    "engine 8 x 8 / 4": ("ecp5-85k", EngineConfig(rows=8, cols=8, lanes=4, cells="ecp5")),
    "engine 4 x 4 x 8 / 2": ("ecp5-85k", EngineConfig(rows=4, cols=4, depth=8, lanes=2, cells="ecp5")),
    "engine 1 x 1 x 8 / 1": (
        "ice40-up5k",
        EngineConfig(
            rows=1, cols=1, depth=8, lanes=1, a_words=64, b_words=256, max_columns=64, max_rows=64, cells="ice40"
        ),
    ),
}

_ULTRASCALE = ("xilinx", "dsp48e2", "dsp48e2-pair")
_NARROW = (("int8", "int4"), ("int4", "int4"), ("int8", "int2"))

_PAIRS = ((4, 4, 1), (1, 2, 8), (4, 8, 8))  # the last takes 128 of an ecp5-85k's 156 multipliers
_WHOLE_PART = ((4, 8, 8), "ecp5-pair"), ((2, 8, 8), "ecp5-lut")  # two arrays that share nothing but the part

_SHAPES = ((4, 8, 1), (1, 4, 8), (1, 2, 16), (1, 16, 2), (1, 32, 1), (4, 8, 4))


def _by(shape: tuple[int, int, int]) -> str:
    return " x ".join(map(str, shape))


DESIGNS: dict[str, Row] = {
    **{f"array {rows} x {cols} x {depth}": _array(rows, cols, depth) for rows, cols, depth in _ARRAYS},
    "requantizer, 22-bit sums": _requantizer(22),
    "requantizer, 32-bit sums": _requantizer(32),
    **{name: _engine(target, config) for name, (target, config) in _ENGINES.items()},
    **{
        f"engine 4 x 4 / 4, masters of {bits} bits": _dma_engine(_ENGINES["engine 4 x 4 / 4"][1], bits)
        for bits in (32, 128)
    },
    "resnet8-fc 1 x 2 x 8": _layer((1, 2, 8), "near-tie"),
    "resnet8-fc 1 x 2 x 8, auto requantizer": _layer((1, 2, 8), "auto"),
    **{f"resnet8-fc {_by(shape)}": _layer(shape, "near-tie") for shape in ((1, 1, 1), (1, 2, 4), (1, 10, 8))},
    **{f"layer 128 -> 32, {_by(shape)}": _layer(shape, "near-tie", partial(_seeded, 128, 32)) for shape in _SHAPES},
    "layer 256 -> 256, 4 x 8 x 1": _layer((4, 8, 1), "near-tie", partial(_seeded, 256, 256)),
    "resnet8-fc 1 x 2 x 2, auto requantizer": _layer((1, 2, 2), "auto", target="ice40-up5k", cells="ice40"),
    "resnet8-fc 1 x 2 x 4, auto requantizer": _layer((1, 2, 4), "auto", target="ice40-up5k", cells="ice40"),
    **{
        f"array {rows} x {cols} x {depth}, ecp5-alu": _array(rows, cols, depth, cells="ecp5-alu")
        for rows, cols, depth in ((4, 4, 1), (2, 4, 2), (1, 2, 8))
    },
    **{
        f"array {rows} x {cols} x {depth}, {a} x {b}, {cells}": _array(rows, cols, depth, cells=cells, a=a, b=b)
        for rows, cols, depth in ((4, 4, 1), (1, 2, 8))
        for a, b in _NARROW
        for cells in ("ecp5", "ecp5-pair")
    },
    **{f"array {_by(shape)}, ecp5-pair": _array(*shape, cells="ecp5-pair") for shape in _PAIRS},
    "arrays " + " and ".join(f"{_by(shape)}, {cells}" for shape, cells in _WHOLE_PART): _side_by_side(*_WHOLE_PART),
    "array 4 x 4 x 1, 7 series": _array(4, 4, 1, target="xilinx-xc7", cells="xilinx"),
    **{
        f"array {rows} x {cols} x {depth}, {cells}": _array(rows, cols, depth, target="xilinx-xcup", cells=cells)
        for rows, cols, depth in ((4, 4, 1), (2, 4, 2))
        for cells in _ULTRASCALE
    },
    **{
        f"resnet8-fc 1 x 2 x 8, auto requantizer, {cells}": _layer((1, 2, 8), "auto", target="xilinx-xcup", cells=cells)
        for cells in _ULTRASCALE
    },
}
"""Rows of the table by name (rows x cols x depth)."""


def measure(names: Sequence[str], seeds: Sequence[int], say: Callable[[str], None]) -> dict[str, SynthReport]:
    """The reports of the designs called `names` that fit; `say` is called with a line for each."""
    reports = {}
    for name in names:
        row = DESIGNS[name]
        component, macs = row.make()
        module = "".join(character if character.isalnum() else "_" for character in name)
        try:
            block = Block(component=component, name=module, cells=row.cells, macs_per_cycle=macs)
            report = synthesize(block, row.target, seeds=seeds)
        except DoesNotFitError as error:
            say(f"{name}: {error}")
            continue
        say(f"{name}: {report.lut_sites} LUT sites, {report.fmax_mhz} MHz")
        reports[name] = report
    return reports


def _row(name: str, report: SynthReport) -> str:
    per_mac = "" if name.startswith("requantizer") else f"{report.lut_sites_per_mac or 0:g}"
    macs = "" if name.startswith("requantizer") else str(report.macs_per_cycle)
    figures = [name, report.target, macs, report.lut_sites, per_mac, report.ff, report.dsp, report.ram]
    if report.untimed:
        timing = ["", "", "", f"{', '.join(report.untimed)} is not timed"]
    elif report.fmax_mhz is None:
        timing = ["", "", "", "not placed"]
    else:
        path = report.critical_path
        seeds = " / ".join(f"{mhz:.0f}" for mhz in report.fmax_mhz_per_seed)
        rate = f"{report.macs_per_cycle * report.fmax_mhz / 1000:.1f}" if macs else ""
        timing = [str(report.fmax_mhz), rate, seeds, f"`{path.start}` to `{path.end}`" if path else ""]
    return "| " + " | ".join([*map(str, figures), *timing]) + " |"


def table(reports: dict[str, SynthReport]) -> str:
    """The reports as a Markdown table."""
    head = [
        "design",
        "target",
        "MACs/cycle",
        "LUT sites",
        "per MAC",
        "FF",
        "DSP",
        "RAM",
        "MHz",
        "GMAC/s",
        "seeds",
        "critical path",
    ]
    lines = ["| " + " | ".join(head) + " |", "|---" * 2 + "|--:" * 8 + "|---" * 2 + "|"]
    lines += [_row(name, report) for name, report in reports.items()]
    tools = ", ".join(sorted({tool for report in reports.values() for tool in report.tools}))
    return "\n".join(lines) + f"\n\nMeasured with {tools}.\n"


def replace_table(document: str, text: str) -> str:
    """`document` with `text` in place of its table."""
    before, _, rest = document.partition(_BEGIN)
    return f"{before}{_BEGIN}\n{text}{_END}{rest.partition(_END)[2]}"
