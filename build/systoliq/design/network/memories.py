"""Memories of a stage, from its node and parallelism, before anything is built."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from systoliq.golden import network
from systoliq.golden.network.tensor import BYTE
from systoliq.hw.block_ram import SMALL
from systoliq.hw.cells import is_ecp5
from systoliq.hw.cells.ecp5_ram import WIDTHS as ECP5_WIDTHS
from systoliq.hw.network import rate
from systoliq.hw.network.joins import constant_elements, single_pixel
from systoliq.hw.network.rate import Parallelism
from systoliq.hw.network.window_buffer import WindowBuffer
from systoliq.hw.rom import FEW

from .plan import PAIR_CELLS

__all__ = ["Memory", "memories_of", "scales_vary", "weight_bits", "window_memory"]

_ICE40_WIDTHS = {2048: 2, 1024: 4, 512: 8, 256: 16}  # of an SB_RAM40_4K, by its depth
_ICE40_BITS = {False: 64, True: 1024}  # from which on Yosys takes a block: of what is written, of what is constant
_SHIFT_BITS, _RESIDUAL_BITS = 6, 9  # of a column's constants, beside bias and multiplier
_ECP5_FLIGHT, _ICE40_FLIGHT, _PRODUCT_FLIGHT = 19, 14, 6  # cycles from a tile's last beat to its first result, about;
# the last more where requantizers multiply with more than _FEW_BITS
_WEIGHTS_FLIGHT, _PAIR_FLIGHT = 2, 3  # more where weights are in memory blocks, and where products are pairs
_FEW_BITS = 4


@dataclasses.dataclass(frozen=True)
class Memory:
    """`count` memories of so many `words` of so many `bits`; `constant`: never written. The last `empty` of the words
    say nothing.
    """

    words: int
    bits: int
    constant: bool = False
    count: int = 1
    empty: int = 0

    def blocks(self, cells: str) -> int:
        """Memory blocks of the family that they take; 0 where they lie in lookup tables."""
        if is_ecp5(cells):
            if self.words <= (FEW if self.constant else SMALL):
                return 0
            return self.count * self._each(ECP5_WIDTHS)
        each = self._each(_ICE40_WIDTHS)
        return self.count * each if self.words * self.bits >= each * _ICE40_BITS[self.constant] else 0

    def _each(self, widths: dict[int, int]) -> int:
        """Blocks of one of them, whose width by their depth is `widths`."""
        depth = min((depth for depth in widths if depth >= self.words), default=max(widths))
        return -(-self.bits // widths[depth]) * -(-self.words // depth)


def memories_of(node: network.Node, parallelism: Parallelism, waiting: Sequence[int], cells: str) -> Iterator[Memory]:
    """Those of the stage of `node`, and of the FIFOs before it where so many beats are `waiting` before each input."""
    lanes = rate.lanes(node, parallelism)
    if window := window_memory(node, parallelism):
        yield window
    if rate.is_product(node):
        yield from _of_product(node, parallelism, cells)
    elif isinstance(node, network.Convolution | network.WholeAverage):
        channels, pixels = rate.windows_of(node).channels // lanes, _pixels(node)
        yield Memory(channels * pixels, weight_bits(node) * lanes, constant=True)
        yield from _of_lanes(node, lanes, channels, 2 + -(-_flight(node, cells) // pixels))
    elif isinstance(node, network.Addition | network.Multiplication | network.Table | network.Concatenation):
        yield from _tables(node, lanes)
        yield Memory(16, 8 * lanes + 1)
    yield from _replayed(node, lanes)
    for index, tensor in enumerate(node.inputs):
        if tensor.value is not None:
            yield Memory(len(constant_elements(node, index, parallelism)) // lanes, 8 * lanes, constant=True)
    yield from (Memory(beats, 8 * lanes) for beats in waiting if beats)


def weight_bits(node: network.Node) -> int:
    """Bits of a weight, of one that is no layer's those of a byte."""
    bits: int = node.layer.b_format.bits if isinstance(node, network.Convolution | network.Dense) else BYTE
    return bits


def scales_vary(node: network.Node) -> bool:
    """Whether the columns of a layer have scales of their own."""
    if not isinstance(node, network.Convolution | network.Dense):
        return False
    scale = node.layer.scale
    return bool((scale != scale.flat[0]).any())


def window_memory(node: network.Node, parallelism: Parallelism) -> Memory | None:
    """Lines of the image, where windows need them again."""
    windows = rate.windows_of(node)
    if rate.is_product(node):
        word = windows.word(parallelism.depth)
        taps = parallelism.depth // word
    else:
        word, taps = parallelism.cols, 1
        windows = dataclasses.replace(windows, groups=windows.channels // word)
    slides = isinstance(node, network.Convolution | network.MaxPool | network.WholeAverage)
    if slides and (windows.moves or not rate.is_product(node)):
        depth = WindowBuffer.depth_of(windows, word, taps)
        return Memory(depth, node.inputs[0].format.bits * word, count=taps)
    return None


def _of_product(node: network.Node, parallelism: Parallelism, cells: str) -> Iterator[Memory]:
    """Weights of each column, rows of A that columns meet tile after tile, what lanes have."""
    schedule = rate.schedule_of(node, parallelism)
    bits = node.inputs[0].format.bits * parallelism.depth
    columns = parallelism.cols + (rate.needs_row_sums(node) and is_ecp5(cells))  # all ones, which Yosys sees
    words = schedule.column_tiles * schedule.beats
    bits_of_b = weight_bits(node) * parallelism.depth
    missing = schedule.column_tiles * parallelism.cols - schedule.n  # columns that the last tile has not
    yield Memory(words, bits_of_b, constant=True, count=columns - missing)
    yield Memory(words, bits_of_b, constant=True, count=missing, empty=schedule.beats)
    if schedule.column_tiles // rate.windows_of(node).groups > 1:
        yield Memory(2 * schedule.beats, bits + 1)
    apart = 1 << (schedule.interval - 1).bit_length()  # entries from one tile of a lane to its next
    flight = _flight(node, cells) + parallelism.depth.bit_length() - 1 + (schedule.lanes - 1) * schedule.interval
    flight += _WEIGHTS_FLIGHT * (words > FEW) + _PAIR_FLIGHT * (parallelism.cells == PAIR_CELLS)
    tiles = 1 + -(-(flight + schedule.drain_cycles) // schedule.tile_cycles)
    empty = apart - schedule.interval + missing // schedule.lanes
    yield from _of_lanes(node, schedule.lanes, schedule.column_tiles * apart, schedule.drain_cycles * tiles, empty)


def _of_lanes(node: network.Node, lanes: int, entries: int, results: int, empty: int = 0) -> Iterator[Memory]:
    """Results that wait, and the constants of many columns where each has its own."""
    bits = node.output.format.bits
    yield Memory(1 << (results - 1).bit_length(), bits, count=lanes - 1)
    yield Memory(1 << (results - 1).bit_length(), bits + 2)
    if entries > 1 and isinstance(node, network.Convolution | network.Dense):
        sums, mantissas = rate.requantizer_factors(node) or (0, 0)
        bits = sums + (mantissas + _SHIFT_BITS) * scales_vary(node) + _RESIDUAL_BITS * rate.needs_row_sums(node)
        yield Memory(entries, bits, constant=True, count=lanes, empty=empty)


def _tables(node: network.Node, lanes: int) -> Iterator[Memory]:
    """Tables of 256 entries for each lane."""
    if isinstance(node, network.Addition):
        yield Memory(256, 16, constant=True, count=2 * lanes)
    elif isinstance(node, network.Multiplication):
        yield Memory(255, rate.PRODUCT_BITS, constant=True, count=lanes)
    elif isinstance(node, network.Table):
        yield Memory(256, 8, constant=True, count=lanes)
    elif isinstance(node, network.Concatenation) and any(table is not None for table in node.tables):
        yield Memory(256 * len(node.inputs), 8, constant=True, count=lanes)


def _replayed(node: network.Node, lanes: int) -> Iterator[Memory]:
    """Lines and pixels that come again, each twice: one comes while the other leaves."""
    if isinstance(node, network.Addition | network.Multiplication) and single_pixel(node) is not None:
        yield Memory(2 * node.output.channels // lanes, 8 * lanes + 1)
    if isinstance(node, network.Move):
        x, y = node.inputs[0], node.output
        beats, bits = x.channels // lanes, x.format.bits * lanes + 1
        if y.shape[2] > x.shape[2]:
            yield Memory(2 * beats * x.shape[3], bits)
        if y.shape[3] > x.shape[3]:
            yield Memory(2 * beats, bits)


def _pixels(node: network.Node) -> int:
    """Of a window, each of which is a product."""
    kernel = rate.windows_of(node).window.kernel
    return kernel[0] * kernel[1]


def _flight(node: network.Node, cells: str) -> int:
    _, mantissas = rate.requantizer_factors(node) or (0, 0)
    return (_ECP5_FLIGHT if is_ecp5(cells) else _ICE40_FLIGHT) + (_PRODUCT_FLIGHT if mantissas > _FEW_BITS else 0)
