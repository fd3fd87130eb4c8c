"""Layer operators: sums of products, each requantized in a lane.

`ProductOperator`: products of all channels, or of a group's, by `Convolution`.
`LaneOperator`: products of each channel alone, by `Depthwise`.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from systoliq.golden.formats import signed_bits
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.limits import ARRAY_MULTIPLIERS, ARRAY_SIDE
from systoliq.golden.requantization import Requantization
from systoliq.golden.unscaled import Unscaled

from ..block_ram import SMALL
from ..cells import LUT_CELLS, PAIR_CELLS, is_ecp5
from ..config import ArrayConfig
from ..dense import Dense
from ..folding import fold
from ..requantizer import serial_pace
from ..rom import FEW
from ..schedule import Schedule
from .convolution import Convolution
from .depthwise import Depthwise
from .image import ImageWindow
from .memory import Memory
from .operator import Arrays, BuiltProduct, N_co
from .parallelism import Parallelism
from .recipe import Recipe
from .sliding import Sliding
from .window_buffer import WindowBuffer
from .window_operator import ROW, WindowOperator

__all__ = ["LaneOperator", "LayerOperator", "ProductOperator"]

_ECP5_FLIGHT, _ICE40_FLIGHT = 19, 14  # about the cycles from a tile's last beat to its first result
_PRODUCT_FLIGHT, _FEW_BITS = 6, 4  # more of them if requantizers multiply with more bits than these
_SERIAL_FLIGHT = 3  # more than the pace of serial requantizers
_WEIGHTS_FLIGHT, _PAIR_FLIGHT = 2, 3  # more of them if weights are in memory blocks, and if products are pairs


class LayerOperator(WindowOperator[N_co]):
    """A window operator whose outputs are requantized sums of products."""

    @property
    def layer(self) -> MatMulLayer | None:
        found: MatMulLayer = self.node.layer  # type: ignore[attr-defined]
        return found

    @cached_property
    def requantizer_factors(self) -> tuple[int, int]:
        """Bits of sums, at most 32, and of the mantissas of scales."""
        layer: Any = self.node.layer.canonical  # type: ignore[attr-defined]
        lows, highs = layer.accumulator_range()
        mantissas = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format).multiplier_bits
        return min(signed_bits(int(lows.min()), int(highs.max())), 32), mantissas

    def lane_memories(self, lanes: int, entries: int, results: int, empty: int = 0) -> Iterator[Memory]:
        """Yield the memories of requantizing lanes: ``results`` that wait, and the constants of ``entries`` columns,
        ``empty`` of them unused.
        """
        bits = self.node.output.format.bits
        yield Memory(1 << (results - 1).bit_length(), bits, count=lanes - 1)
        yield Memory(1 << (results - 1).bit_length(), bits + 2)
        if entries > 1 and self.layer is not None:
            yield Memory(entries, self._constant_bits, constant=True, count=lanes, empty=empty)

    @cached_property
    def _constant_bits(self) -> int:
        """Bits that differ among the constants of columns."""
        layer: Any = self.node.layer.canonical  # type: ignore[attr-defined]
        folding = fold(layer, self.weight_bits)
        found = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
        columns = [folding.bias, found.multiplier, found.shift, found.offset]
        columns += [folding.residual] * self.needs_row_sums
        arrays = [np.asarray(column, np.int64).ravel() for column in columns]
        return sum(int(np.bitwise_or.reduce(array ^ array[0])).bit_count() for array in arrays)

    @abstractmethod
    def schedule(self, parallelism: Parallelism) -> Schedule:
        """Return the tiles of the product."""

    def paced(self, parallelism: Parallelism, cells: str) -> Schedule:
        """Return the tiles of the product, with the pace of their lanes."""
        schedule = self.schedule(parallelism)
        chosen = parallelism.lane_cells or (LUT_CELLS if is_ecp5(cells) else cells)
        pace = serial_pace(self.requantizer_factors[1], self.lane_pace(parallelism), chosen)
        return dataclasses.replace(schedule, pace=pace)

    def lane_pace(self, parallelism: Parallelism) -> int:
        return 1 if self.needs_row_sums else self.schedule(parallelism).spare_pace

    def flight(self, schedule: Schedule, cells: str) -> int:
        """Return about how many cycles pass from a tile's last beat to its first result."""
        _, mantissas = self.requantizer_factors
        product = max(_PRODUCT_FLIGHT, schedule.pace + _SERIAL_FLIGHT) * (mantissas > _FEW_BITS)
        return (_ECP5_FLIGHT if is_ecp5(cells) else _ICE40_FLIGHT) + product


class ProductOperator(LayerOperator[N_co]):
    """A product of all channels of a window, or of a group's, with the columns of the node's layer."""

    @property
    def groups(self) -> int:
        """Number of groups of channels, whose products the stage makes one after the other."""
        return 1

    @property
    def is_product(self) -> bool:
        return True

    @property
    def layer(self) -> MatMulLayer:
        found: MatMulLayer = self.node.layer  # type: ignore[attr-defined]
        return found

    @cached_property
    def row_sum_factors(self) -> tuple[int, int] | None:
        sum_bits, _ = self.requantizer_factors
        return fold(self.layer.canonical, self.layer.b_format.bits).row_sum_factors(sum_bits)

    def schedule(self, parallelism: Parallelism) -> Schedule:
        """Return the tiles of the product."""
        config = ArrayConfig(cols=parallelism.cols, depth=parallelism.depth)
        return Schedule(k=self.layer.k, n=self.layer.n, config=config)

    def choices(self) -> Iterator[Parallelism]:
        """Yield depths that divide the channels, then depths of several pixels of a window as in `ImageWindow.taps`,
        each with columns up to the output's. Both divide the group's number, and stay within `ArrayConfig`'s limits.
        """
        columns = self.layer.n // self.groups
        for depth in (each for each in self.windows.depths if each <= ARRAY_SIDE):
            for cols in range(1, min(columns, ARRAY_SIDE, ARRAY_MULTIPLIERS // depth) + 1):
                if self.groups > 1 and columns % cols:
                    continue
                parallelism = Parallelism(cols=cols, depth=depth)
                if self.layer.n % self.schedule(parallelism).lanes == 0:
                    yield parallelism

    def image_cycles(self, parallelism: Parallelism) -> int:
        windows, schedule = self.windows, self.schedule(parallelism)
        made = math.prod(windows.out) * schedule.column_tiles * schedule.tile_cycles
        if not windows.moves:
            return made
        taken = windows.pixels * windows.channels // windows.word(parallelism.depth)
        return max(made, taken, ROW * windows.out[0])

    def multipliers(self, parallelism: Parallelism) -> int:
        return parallelism.cols * parallelism.depth

    def lanes(self, parallelism: Parallelism) -> int:
        return self.schedule(parallelism).lanes

    def is_wide(self, parallelism: Parallelism) -> bool:
        return parallelism.depth > self.windows.word(parallelism.depth)

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield the memories for lines of the image, weights of columns, rows of A for repeated tiles, and lanes."""
        yield from super().own_memories(parallelism, cells)
        schedule = self.paced(parallelism, cells)
        words = schedule.column_tiles * schedule.beats
        bits = self.weight_bits * parallelism.depth
        missing = schedule.column_tiles * parallelism.cols - schedule.n  # columns that the last tile has not
        if Memory(words, bits, constant=True).rom_size(cells):
            yield Memory(words, bits * parallelism.cols, constant=True)  # columns share cells
        else:
            yield Memory(words, bits, constant=True, count=parallelism.cols - missing)
            yield Memory(words, bits, constant=True, count=missing, empty=schedule.beats)
        if self._replays(schedule):
            yield Memory(2 * schedule.beats, self.node.inputs[0].format.bits * parallelism.depth + 1)
        apart = 1 << (schedule.interval - 1).bit_length()  # entries from one tile of a lane to its next
        flight = (
            self.flight(schedule, cells) + parallelism.depth.bit_length() - 1 + (schedule.lanes - 1) * schedule.interval
        )
        flight += _WEIGHTS_FLIGHT * (words > FEW) + _PAIR_FLIGHT * (parallelism.cells == PAIR_CELLS)
        tiles = 1 + -(-(flight + schedule.drain_cycles) // schedule.tile_cycles)
        empty = apart - schedule.interval + missing // schedule.lanes
        entries, results = schedule.column_tiles * apart, schedule.drain_steps * tiles
        yield from self.lane_memories(schedule.lanes, entries, results, empty)

    def window_memory(self, parallelism: Parallelism) -> Memory | None:
        if not self.windows.moves:
            return None
        word = self.windows.word(parallelism.depth)
        taps = parallelism.depth // word
        times = self.schedule(parallelism).column_tiles // self.groups
        depth = WindowBuffer.depth_of(self.windows, word, taps, times)
        return Memory(depth, self.node.inputs[0].format.bits * word, count=taps)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        schedule = self.schedule(parallelism)
        replay = "replay" if 2 * schedule.beats > SMALL else "few_replay"
        return {
            "sequence": 1,
            **self.window_parts(parallelism),
            replay: int(self._replays(schedule)),
            "requantizer": schedule.lanes,
            "row_sums": int(self.needs_row_sums),
        }

    def _replays(self, schedule: Schedule) -> bool:
        """True if pixels are held for several column tiles. Windows that move are read again and again instead."""
        return not self.windows.moves and schedule.column_tiles > self.groups

    def build_dense(self, layer: MatMulLayer, recipe: Recipe, requantization: Unscaled | None = None) -> Dense:
        """Return the array, and the lanes behind it, for ``layer``, requantized by the recipe or not at all."""
        cols, depth = recipe.parallelism.cols, recipe.parallelism.depth
        if layer.k % depth:
            raise ValueError(f"depth must divide the {layer.k} elements of K, not {depth}")
        config = ArrayConfig(cols=cols, depth=depth, b=layer.b_format, cells=recipe.cells)
        found = recipe.requantize(layer) if requantization is None else requantization
        return Dense(
            layer,
            found,
            config,
            wrap=True,
            lane_cells=recipe.lane_cells,
            groups=self.groups,
            repeated=self.windows.moves,
            serial=True,
        )

    def arrays(self, stage: Convolution) -> Arrays:
        """Return the layer's arrays, with weights in the stream's order of elements."""
        return stage.dense.layer.arrays()

    def product(self, stage: Convolution) -> BuiltProduct | None:
        """Return the product of windows with all columns."""
        dense = stage.dense
        assert isinstance(dense.requantization, Requantization)  # noqa: S101 - a network's tensors are integers
        return BuiltProduct(
            dense.layer,
            dense.requantization,
            dense.folding,
            {"rows": dense.config.rows, "cols": dense.config.cols, "depth": dense.config.depth},
            dense.array.config.accumulator_bits,
            dense.sum_bits,
        )


class GroupedOperator(ProductOperator[N_co]):
    """A product for each group of channels, one after the other."""

    @property
    def groups(self) -> int:
        found: int = self.node.groups  # type: ignore[attr-defined]
        return found

    @cached_property
    def windows(self) -> ImageWindow:
        """The windows, group by group."""
        return ImageWindow.over(self.node.inputs[0], self.window, self.groups)


class LaneOperator(LayerOperator[N_co]):
    """A product of each channel of a window with a column of its own, as many channels at a time as there are lanes."""

    def schedule(self, parallelism: Parallelism) -> Schedule:
        """Return the tiles of the product, a group of channels each."""
        kernel = math.prod(self.windows.window.kernel)
        return Schedule(k=kernel, n=self.windows.channels, config=ArrayConfig(cols=parallelism.cols))

    def choices(self) -> Iterator[Parallelism]:
        """Yield the lanes that divide the channels, within `ArrayConfig`'s limit."""
        return (each for each in super().choices() if each.cols <= ARRAY_SIDE)

    def multipliers(self, parallelism: Parallelism) -> int:
        return parallelism.cols

    def lanes(self, parallelism: Parallelism) -> int:
        return self.schedule(parallelism).lanes

    def own_memories(self, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
        """Yield the memories for lines of the image, weights, and lanes."""
        yield from super().own_memories(parallelism, cells)
        schedule = self.paced(parallelism, cells)
        if self.layer is not None:  # else all weights are ones
            yield Memory(schedule.column_tiles * schedule.beats, self.weight_bits * parallelism.cols, constant=True)
        apart = 1 << (schedule.interval - 1).bit_length()  # entries from one group of a lane to its next
        groups = 2 + -(-(self.flight(schedule, cells) + schedule.drain_cycles - 1) // schedule.beats)
        entries, results = schedule.column_tiles * apart, schedule.drain_steps * groups
        yield from self.lane_memories(schedule.lanes, entries, results, apart - schedule.interval)

    def parts(self, parallelism: Parallelism) -> Mapping[str, int]:
        return {"sequence": 1, **self.window_parts(parallelism), "requantizer": self.lanes(parallelism)}

    def build_sliding(self, layer: MatMulLayer, recipe: Recipe) -> Sliding:
        """Return ``layer`` behind windows that are padded with the input's zero point."""
        core = Depthwise(
            layer,
            recipe.requantize(layer),
            lanes=recipe.lanes(self.windows.channels),
            cells=recipe.cells,
            kind="depthwise",
            lane_cells=recipe.lane_cells,
        )
        padding = self.node.inputs[0].zero_point
        return Sliding(self.windows, core, padding=padding, cells=recipe.cells, kind=recipe.kind)

    def product(self, stage: Sliding) -> BuiltProduct | None:
        """Return the product of each channel with its column."""
        core: Any = stage.core
        return BuiltProduct(
            core.layer,
            core.requantization,
            core.folding,
            {"lanes": core.lanes},
            core.config.accumulator_bits,
            core.sum_bits,
        )
