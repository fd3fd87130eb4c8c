"""The size of a layer's array where only the part is given: the most columns whose multiplier cells the part has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.hw import ArrayConfig
from systoliq.hw.cells import LUT_CELLS, PACKED_BITS, PLAIN_CELLS
from systoliq.hw.folding import fold
from systoliq.hw.multiplier import cell_size
from systoliq.hw.schedule import Schedule

from ..choose import sum_bits
from ..network.plan import cells_of_lane
from .options import LayerOptions

if TYPE_CHECKING:
    from ...synth.targets import Target

__all__ = ["largest_that_fits"]

_MOST_SUM_BITS = 32


def largest_that_fits(layer: MatMulLayer, constants: object, hardware: LayerOptions) -> tuple[LayerOptions, str | None]:
    """Return `hardware` with the most columns for which `hardware.part` has multiplier cells, and a line that says so.
    Return it unchanged, and None, if rows, cols or depth are given, if there is no part, or if the default columns
    fit.

    `constants` are those that the layer is requantized with. Layers of float8 multiply in lookup tables.
    """
    part = hardware.part
    sized = any(getattr(hardware, name) is not None for name in ("rows", "cols", "depth"))
    if sized or part is None or "dsp" not in part.capacity or layer.has_float8:
        return hardware, None
    config, room = hardware.array_for_layer(layer), part.capacity["dsp"]
    usual = config.cols
    cols = next((n for n in range(usual, 1, -1) if _cells(layer, constants, config.replace(cols=n), part) <= room), 1)
    if cols == usual:
        return hardware, None
    line = f"array: 1 x {cols} x 1, the most columns for which {part.name} has multiplier cells ({room})"
    return hardware.replace(cols=cols), line


def _cells(layer: MatMulLayer, constants: object, config: ArrayConfig, part: Target) -> int:
    """Return the number of multiplier cells of `part` that the layer's products and lanes take."""
    if config.cells == LUT_CELLS or (config.cells == PLAIN_CELLS and part.family == "ice40"):
        return 0
    folding = fold(layer.canonical, config.b.bits)
    columns = config.cols + folding.needs_row_sums
    products = -(-columns // 2) if config.cells in PACKED_BITS else columns
    products *= cell_size(*(each.bits + (not each.signed) for each in (config.a, config.b)), cells=config.cells)
    bits = min(sum_bits(layer), _MOST_SUM_BITS)
    factors = (bits, constants.multiplier_bits) if isinstance(constants, Requantization) else None
    each = cells_of_lane(factors, folding.row_sum_factors(bits), config.cells)
    return products + each * Schedule(k=layer.k, n=layer.n, config=config).lanes
