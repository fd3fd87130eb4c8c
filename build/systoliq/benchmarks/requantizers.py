"""Cost and exactness of each form of requantizer for a layer: the tables of docs/measurements/exactness.md.

The cells make up one drain lane: tables, bias adder, multiplier, rounding and saturation for all columns of the
layer, as Yosys counts them; "not exact" gives the number of accumulators, over all columns, with a wrong output.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from amaranth.hdl import UnusedElaboratable

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.golden.thresholds import count_differences
from systoliq.hw import Dense
from systoliq.hw.verilog import emit_verilog

from ..design import LayerOptions
from ..design.choose import AUTO, choose_requantization, reachable, smallest
from ..design.sources import open_layer
from ..progress import Stages
from ..synth.flow import synthesized
from ..synth.targets import open_target
from ..synth.yosys import cell_figures

__all__ = ["Variant", "table", "variants"]

_FULL = 24  # bits of a whole mantissa
_TARGETS = {"generic": ("cells",), "ecp5-25k": ("lut_sites", "ff", "dsp")}


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One row: a requantization by name, and how many accumulators within reach it gets wrong."""

    name: str
    requantization: Requantization | None  # None: proven not to exist
    note: str


def variants(layer: MatMulLayer) -> Iterator[Variant]:
    """All that is compared for `layer`: whole mantissas in each rounding, then the smallest that is exact."""
    for rounding in Rounding:
        plain = choose_requantization(layer, rounding.value, multiplier_bits=_FULL).requantization
        yield Variant(name=f"{rounding.value}, whole mantissas", requantization=plain, note=_exactness(layer, plain))
    best = smallest(layer)
    for rounding in Rounding:
        name, obstacles = f"{rounding.value}, smallest exact", best.obstacles(rounding)
        if obstacles:
            yield Variant(name=name, requantization=None, note=f"impossible for {len(obstacles)} of {layer.n} columns")
        else:
            found = smallest(layer, rounding).requantization
            yield Variant(name=name, requantization=found, note=_exactness(layer, found))


def _exactness(layer: MatMulLayer, requantization: Requantization) -> str:
    wrong = count_differences(requantization, layer.scale, *reachable(layer))
    return "exact" if not wrong.any() else f"not exact: {int(wrong.sum())} wrong in {int((wrong > 0).sum())} columns"


def _cells(layer: MatMulLayer, requantization: Requantization) -> list[int]:
    """The figures of `_TARGETS` for the first lane of the default array for `layer`."""
    lane = Dense(layer, requantization, LayerOptions().array_for_layer(layer)).lanes[0]
    verilog = emit_verilog(lane, "lane")
    figures = []
    for name, kinds in _TARGETS.items():
        found = cell_figures(synthesized(verilog, "lane", open_target(name)))
        figures += [int(found[kind]) for kind in kinds]
    return figures


def table(source: str) -> Iterator[str]:
    """Lines of the table of the layer that `source` names, in Markdown."""
    warnings.simplefilter("ignore", UnusedElaboratable)  # of a whole layer only a lane is synthesized
    layer, _ = open_layer(source, None)
    chosen = choose_requantization(layer, AUTO).requantization
    yield f"| {source} | multiplier bits | exactness | cells, generic | LUT sites, FF, DSP on ECP5 |"
    yield "|---|---|---|---|---|"
    stages = Stages()
    for variant in variants(layer):
        if variant.requantization is None:
            yield f"| {variant.name} | - | {variant.note} | - | - |"
            continue
        with stages.stage(f"{source}: {variant.name}"):
            generic, *ecp5 = _cells(layer, variant.requantization)
        name = f"**{variant.name}**, the choice of `auto`" if variant.requantization == chosen else variant.name
        ecp5_cells = ", ".join(map(str, ecp5))
        yield f"| {name} | {variant.requantization.multiplier_bits} | {variant.note} | {generic} | {ecp5_cells} |"
