"""Estimates of a stage, LUT sites and memory blocks, before anything is built.

Memory blocks follow from the memories that a stage has. LUT sites are a fit to what Yosys made of ResNet8, of a small
network of every operator, and of digits-cnn: within 25 % or 150 sites of each stage (tests/design/network).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from systoliq.golden import network
from systoliq.golden.network.tensor import BYTE
from systoliq.hw.cells import is_ecp5
from systoliq.hw.network import rate
from systoliq.hw.network.rate import Parallelism
from systoliq.hw.rom import FEW

from .memories import Memory, memories_of, weight_bits, window_memory
from .plan import LUT_CELLS, PAIR_CELLS

__all__ = ["LUT_ERROR", "RAM_ERROR", "Estimate", "estimate"]

LUT_ERROR = 0.25  # of the LUT sites of a network, at the most
RAM_ERROR = 1  # memory blocks of a stage, at the most


@dataclass(frozen=True, kw_only=True)
class _Sites:
    """LUT sites of the parts of a stage in one family of cells."""

    product: int  # of bytes in a multiplier cell, with its accumulator
    wide_product: int  # the same where windows come several pixels at a time: many share an accumulator
    pair_product: int  # one of two in a cell, with its accumulator
    lut_product: int  # the same in lookup tables
    pair_narrow: int  # what one of two takes beyond `product` where one operand has 4 bits or fewer
    sequence: int  # sequencer, flow control of products
    window_bit: int  # a window buffer before products: of an address, but for two
    lane: int  # drain, requantizer but for its product, result buffer
    shift_lane: int  # the same where requantizers only shift, or nearly so
    varying_lane: int  # what a dense layer's takes more, multiplying in lookup tables, where its columns' scales differ
    lane_bit: float  # of the requantizer's product in lookup tables: bits of both factors, multiplied
    row_sums: int  # of A, where weights less their zero point need more than 8 bits
    constant_bit: float  # a bit of 16 constant words in lookup tables
    written_bit: float  # the same of words that are written


_FAMILIES = {
    "ecp5": _Sites(
        product=28, wide_product=20, pair_product=54, lut_product=108, pair_narrow=4, sequence=80, window_bit=60,
        lane=310, shift_lane=140, varying_lane=350, lane_bit=0.5, row_sums=400, constant_bit=1, written_bit=1.5,
    ),
    "ice40": _Sites(
        product=20, wide_product=20, pair_product=0, lut_product=0, pair_narrow=0, sequence=90, window_bit=40, lane=80,
        shift_lane=250, varying_lane=0, lane_bit=1, row_sums=900, constant_bit=1, written_bit=16,
    ),
}  # fmt: skip
_FEW_BITS = 4  # of a factor, which needs no multiplier
_OF_AVERAGE = 0.5  # of a lane: it has no bias, and one factor for all sums
_FIFO, _REPLAY, _POOL, _WHOLE = 90, 75, 100, 250  # flow control of each; the window of a pool, of a whole image
_JOIN, _JOIN_LANE = 30, 30  # of an operator element by element, and what each lane has
_SUM = 35  # of two tables, rounded and saturated
_STEPS = 100  # of a product's estimate and threshold


@dataclass(frozen=True)
class Estimate:
    """`lut_sites`, about; `ram`: memory blocks."""

    lut_sites: int
    ram: int


def estimate(
    node: network.Node,
    parallelism: Parallelism,
    cells: str,
    waiting: Sequence[int] = (),
    *,
    lanes_in_tables: bool = True,
) -> Estimate | None:
    """Of the stage of `node` in `cells`, with FIFOs for so many beats `waiting` before each input; None for cells of
    other families than ECP5 and iCE40.

    Requantizers of ECP5 multiply in lookup tables, or not `lanes_in_tables`.
    """
    family = "ecp5" if is_ecp5(cells) else cells
    if family not in _FAMILIES:
        return None
    sites = _FAMILIES[family]
    if not lanes_in_tables:
        sites = dataclasses.replace(sites, lane_bit=0, varying_lane=0)
    memories = list(memories_of(node, parallelism, waiting, cells))
    count = sum(_in_tables(memory, sites) for memory in memories if not memory.blocks(cells))
    count += _FIFO * sum(map(bool, waiting))
    if rate.is_wide(node, parallelism):
        sites = dataclasses.replace(sites, product=sites.wide_product)
    count += _logic(node, parallelism, sites, _product_sites(node, parallelism.cells or cells, sites))
    return Estimate(round(count), sum(memory.blocks(cells) for memory in memories))


def _product_sites(node: network.Node, cells: str, sites: _Sites) -> float:
    """Of one product with its accumulator, which is as much narrower as both operands are together.

    In lookup tables every two bits of a weight are a row of the product, and rows are added up (docs/silicon.md has
    what was measured).
    """
    a, b = node.inputs[0].format.bits, weight_bits(node)
    lost = 2 * BYTE - a - b if cells != "ice40" else 0
    if cells == PAIR_CELLS:
        narrow = min(a, b) <= BYTE // 2
        return (sites.product + sites.pair_narrow if narrow else sites.pair_product) - lost
    if cells == LUT_CELLS:
        return sites.lut_product - lost - _lut_rows(BYTE, BYTE) + _lut_rows(a, b)
    return sites.product - lost


def _lut_rows(a: int, b: int) -> int:
    """Sites of a product of so many bits in lookup tables, its accumulator left out."""
    rows = -(-b // 2)
    return rows * (a + 3) + (rows - 1) * (a + 4)


def _logic(node: network.Node, parallelism: Parallelism, sites: _Sites, product: float) -> float:
    """All but memory; a `product` takes so many sites."""
    lanes, products = rate.lanes(node, parallelism), rate.multipliers(node, parallelism)
    count = float(products * product)
    if isinstance(node, network.Convolution | network.Dense | network.WholeAverage):
        count += sites.sequence + _window(node, parallelism, sites) + lanes * _lane(node, sites)
        return count + (sites.row_sums if rate.needs_row_sums(node) else 0)
    count += _JOIN + lanes * _JOIN_LANE
    if factors := rate.requantizer_factors(node):
        count += lanes * (_STEPS + math.prod(factors) * sites.lane_bit)
    if isinstance(node, network.Addition):
        count += lanes * _SUM
    if isinstance(node, network.Move):
        count += _REPLAY * sum(
            made > given for given, made in zip(node.inputs[0].shape, node.output.shape, strict=True)
        )
    return count + (_POOL if isinstance(node, network.MaxPool) else 0)


def _window(node: network.Node, parallelism: Parallelism, sites: _Sites) -> int:
    if isinstance(node, network.WholeAverage):
        return _WHOLE
    memory = window_memory(node, parallelism)
    return sites.window_bit * max(memory.words.bit_length() - 3, 1) if memory else 0


def _lane(node: network.Node, sites: _Sites) -> float:
    """A drain lane with its requantizer."""
    sums, mantissas = rate.requantizer_factors(node) or (0, 0)
    count = sites.lane + sums * mantissas * sites.lane_bit if mantissas > _FEW_BITS else sites.shift_lane
    if isinstance(node, network.Dense) and mantissas > _FEW_BITS and node.layer.n <= FEW:
        count += sites.varying_lane * bool((node.layer.scale != node.layer.scale.flat[0]).any())
    return count * (_OF_AVERAGE if isinstance(node, network.WholeAverage) else 1)


def _in_tables(memory: Memory, sites: _Sites) -> float:
    if memory.constant and memory.words == 1:
        return 0  # wires
    each = sites.constant_bit if memory.constant else sites.written_bit
    return memory.count * memory.bits * -(-memory.words // 16) * each
