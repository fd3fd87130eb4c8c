"""`cells="auto"`: the set of cells and the array that take the fewest cycles a row within a budget, by the model.

A single layer is a network of one stage: it has the same choices and costs as a stage of a network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from systoliq.golden import network
from systoliq.golden.formats import IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.hw.cells import LUT_CELLS, PAIR_CELLS, is_ecp5

from ...errors import InputError
from ..network.estimate import Estimate, blocks_of, estimate
from ..network.plan import StagePlan, stages_of_layer
from ..options import auto_cells
from .options import LayerOptions

if TYPE_CHECKING:
    from ...synth.targets import Target

__all__ = ["Fitted", "choices_of_layer", "fitted"]

_FILL = 0.5  # of a part's LUT sites: a fuller one is slow, and hard to route
_BITS = 8


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """Result of the selection for the hardware that was `asked` for: `cells`, a size, and its estimate."""

    asked: LayerOptions
    cells: str
    stage: StagePlan
    estimate: Estimate

    @property
    def hardware(self) -> LayerOptions:
        """The requested hardware with these choices."""
        how = self.stage.parallelism
        return self.asked.replace(rows=1, cols=how.cols, depth=how.depth, cells=self.cells, multipliers=None, luts=None)

    @property
    def blocks(self) -> int:
        """Memory blocks on the part, without the memories that its large blocks hold."""
        return blocks_of([self.estimate], cast("Target", self.asked.part))

    @property
    def text(self) -> str:
        """For people, a line."""
        how = self.stage.parallelism
        return (
            f"cells: {self.cells}, array 1 x {how.cols} x {how.depth}, {self.stage.image_cycles} cycles a row, "
            f"{self.stage.dsp} multiplier cells, about {self.estimate.lut_sites} LUT sites and {self.blocks} "
            "memory blocks"
        )


def fitted(layer: MatMulLayer, asked: LayerOptions) -> Fitted:
    """The cells of `asked.part`'s family, cols and depth with the fewest cycles a row, of those the smallest.

    The budget is `asked.multipliers` and `asked.luts`, or the part's multipliers and half of its LUT sites. What
    `asked` says of cols and depth stays. Raises InputError where nothing fits, or the model knows nothing.
    """
    auto_cells(asked.part)
    part = cast("Target", asked.part)
    if asked.rows not in (None, 1):
        raise InputError(f"rows must be 1 with cells auto, not {asked.rows}")
    dsp = part.capacity["dsp"] if asked.multipliers is None else asked.multipliers
    sites = int(_FILL * part.capacity["lut_sites"]) if asked.luts is None else asked.luts
    least: Fitted | None = None
    best: Fitted | None = None
    for found in choices_of_layer(layer, asked):
        stage = found.stage
        least = found if least is None or _size(found) < _size(least) else least
        if stage.dsp <= dsp and found.estimate.lut_sites <= sites and found.blocks <= part.capacity["ram"]:
            best = found if best is None or _rank(found) < _rank(best) else best
    if least is None:
        raise InputError(f"no array of {asked.cols or 'any'} columns and depth {asked.depth or 'any'} is modelled")
    if best is None:
        raise InputError(
            f"nothing fits {dsp} multiplier cells, {sites} LUT sites and {part.capacity['ram']} memory blocks; the "
            f"smallest is {least.text}"
        )
    return best


def choices_of_layer(layer: MatMulLayer, asked: LayerOptions) -> Iterator[Fitted]:
    """All choices of the layer with the cells of `asked.part`'s family, for cols and depth that `asked` leaves open.

    Raises InputError for layers and parts that there is no model of.
    """
    family, node = auto_cells(asked.part), _node(layer)
    for stage in _candidates(node, family, asked):
        yield _found(node, stage, asked, family)


def _node(layer: MatMulLayer) -> network.Dense:
    """The layer as a stage, with its own zero points; its tensors do not have the layer's scales."""
    formats = []
    for form in (layer.a_format, layer.b_format, layer.y_format):
        if not isinstance(form, IntFormat) or form.bits != _BITS or layer.gives_sums or layer.takes_zero_points:
            sums, late = ", and sums" * layer.gives_sums, ", and zero points at run time" * layer.takes_zero_points
            raise InputError(f"cells auto is for layers of int8 and uint8, requantized, not for {form}{sums}{late}")
        formats.append(form)
    x, y = (
        network.Tensor(name=name, shape=(1, size), format=form, scale=np.float32(1), zero_point=int(point))
        for name, size, form, point in (
            ("a", layer.k, formats[0], layer.a_zero_point),
            ("y", layer.n, formats[2], layer.y_zero_point),
        )
    )
    return network.Dense(name=layer.name or "layer", inputs=(x,), output=y, layer=layer)


def _candidates(node: network.Dense, cells: str, asked: LayerOptions) -> Iterator[StagePlan]:
    """All that the layer can be, with the family's cells and, on ECP5, pairs and lookup tables."""
    for products in ("", PAIR_CELLS, LUT_CELLS) if is_ecp5(cells) else ("",):
        for stage in stages_of_layer(node, cells, products):
            if asked.cols in (None, stage.parallelism.cols) and asked.depth in (None, stage.parallelism.depth):
                yield stage


def _found(node: network.Dense, stage: StagePlan, asked: LayerOptions, cells: str) -> Fitted:
    how = stage.parallelism
    taken = estimate(node, how, cells, lanes_in_tables=how.cells == LUT_CELLS or not is_ecp5(cells), serial=False)
    assert taken is not None  # noqa: S101 - of these families it is known
    return Fitted(asked=asked, cells=how.cells or cells, stage=stage, estimate=taken)


def _rank(found: Fitted) -> tuple[int, int, int]:
    return found.stage.image_cycles, found.estimate.lut_sites, found.stage.dsp


def _size(found: Fitted) -> tuple[int, int]:
    return found.estimate.lut_sites, found.stage.dsp
