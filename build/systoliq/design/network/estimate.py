"""Estimates of a stage, LUT sites and memory blocks, before anything is built.

Memory blocks follow from the memories that a stage has. LUT sites are those of its adders, of what brings sums to the
lanes, of small memories and of requantizers, by their bits; what is left is a fit to what Yosys made of ResNet8, of a
small network of every operator, of digits-cnn and of a network 64-32-16-10: within 25 % or 150 sites of each stage, and
mostly within a few percent (tests/design/network).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from systoliq.golden import network
from systoliq.golden.network.tensor import BYTE
from systoliq.hw.cells import LUT_CELLS, PAIR_CELLS, PLAIN_CELLS, is_ecp5
from systoliq.hw.network.memory import Memory
from systoliq.hw.network.operator import Operator
from systoliq.hw.network.operators import operator_of
from systoliq.hw.network.parallelism import Parallelism
from systoliq.hw.rom_layout import tables_of

from .plan import PLAIN_BIT_SITES, PLAIN_PRODUCT_SITES

__all__ = ["LUT_ERROR", "RAM_ERROR", "Estimate", "estimate"]

LUT_ERROR = 0.25  # of the LUT sites of a network, at the most
RAM_ERROR = 1  # memory blocks of a stage, at the most


@dataclass(frozen=True, kw_only=True)
class _Sites:
    """LUT sites of the parts of a stage in one family of cells."""

    pair_product: int  # of a product that has half a multiplier cell, beyond adding it to the others
    pair_narrow: int  # the same where one operand has 4 bits or fewer
    lut_product: int  # the same of a product in lookup tables
    sequence: int  # sequencer, flow control of products
    replay: int  # of A, for the tiles of columns: in memory blocks
    few_replay: int  # the same in lookup tables
    window: int  # a window buffer before products
    lane_sum_bit: float  # a requantizer but for its product, for each bit of sums
    shift_sum_bit: float  # the same where it only shifts, or nearly so
    lane_bit: float  # of the requantizer's product in lookup tables: bits of both factors, multiplied
    varying_bit: float  # the same where columns have factors of their own
    row_sums: int  # of A, where weights less their zero point need more than 8 bits
    constant_bit: float  # a bit of 16 constant words in lookup tables
    written_bit: float  # the same of words that are written
    joined_bit: float  # a bit that two such memories have together


_FAMILIES = {
    "ecp5": _Sites(
        pair_product=26, pair_narrow=4, lut_product=82, sequence=25, replay=120, few_replay=50, window=120,
        lane_sum_bit=13.5, shift_sum_bit=7, lane_bit=0.5, varying_bit=1.13, row_sums=150, constant_bit=1,
        written_bit=1.3, joined_bit=2.2,
    ),
    "ice40": _Sites(
        pair_product=0, pair_narrow=0, lut_product=0, sequence=90, replay=140, few_replay=80, window=130,
        lane_sum_bit=8, shift_sum_bit=7.5, lane_bit=1, varying_bit=1, row_sums=400, constant_bit=1,
        written_bit=16, joined_bit=0,
    ),
}  # fmt: skip
_OF_TREE = 2  # bits that sums of products have more than they, on average
_FEW_BITS = 4  # of a factor, which needs no multiplier
_OF_AVERAGE = 0.5  # of a lane: it has no bias, and one factor for all sums
_FIFO = 90  # its flow control
_STEPS = 100  # of a multiplication's estimate and threshold in a lane, beyond its product
_REAL_SUM = 400  # of a lane that adds in float32, beyond the product of its estimate
_PARTS = {
    "join": 30,  # of an operator element by element
    "join_lane": 30,
    "table_sum": 35,  # of two tables, rounded and saturated
    "repeater": 75,  # flow control of pixels or lines that come again
    "pool_window": 100,
    "whole_window": 340,
    "normalization": 1200,  # sums, root, inverse and products
    "softmax": 800,  # a sum in float32 and a division
}
"""LUT sites of the parts that cost the same in all families."""


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
    """The estimate of the stage of `node` in `cells`, with FIFOs for `waiting` beats before each input; None for cells
    of other families than ECP5 and iCE40.

    Requantizers of ECP5 multiply in lookup tables, or not `lanes_in_tables`; those of iCE40 where the `lane_cells` of
    `parallelism` are plain logic.
    """
    family = "ecp5" if is_ecp5(cells) else cells
    if family not in _FAMILIES:
        return None
    sites = _FAMILIES[family]
    if not lanes_in_tables:
        sites = dataclasses.replace(sites, lane_bit=0, varying_bit=0)
    if parallelism.lane_cells == PLAIN_CELLS and family == "ice40":
        each = sites.lane_bit + PLAIN_BIT_SITES
        sites = dataclasses.replace(sites, lane_bit=each, varying_bit=each)
    operator = operator_of(node)
    memories = list(operator.memories(parallelism, waiting, cells))
    count = sum(_beside_blocks(memory, cells, sites) for memory in memories)
    count += _FIFO * sum(map(bool, waiting))
    if products := operator.multipliers(parallelism):
        count += products * _product_sites(operator, parallelism.cells or cells, sites) + _sums(operator, parallelism)
    prices = _prices(operator, sites)
    count += sum(prices[part] * number for part, number in operator.parts(parallelism).items())
    return Estimate(round(count), sum(memory.blocks(cells) for memory in memories))


def _product_sites(operator: Operator[network.Node], cells: str, sites: _Sites) -> float:
    """Sites of one product, without adding it to the others.

    In lookup tables every two bits of a weight are a row of the product, and rows are added up (docs/silicon.md has
    what was measured).
    """
    a, b = operator.node.inputs[0].format.bits, operator.weight_bits
    if cells == PAIR_CELLS:
        return sites.pair_narrow if min(a, b) <= BYTE // 2 else sites.pair_product
    if cells == PLAIN_CELLS:
        return PLAIN_PRODUCT_SITES * a * b / BYTE**2
    if cells == LUT_CELLS:
        return sites.lut_product - _rows(BYTE, BYTE) + _rows(a, b)
    return 0


def _sums(operator: Operator[network.Node], parallelism: Parallelism) -> int:
    """Sites of the adders of products, of the accumulators, and of the paths from sums to lanes."""
    sum_bits, _ = operator.requantizer_factors or (2 * BYTE, 0)
    columns = operator.multipliers(parallelism) // parallelism.depth
    product_bits = operator.node.inputs[0].format.bits + operator.weight_bits
    added = columns * (parallelism.depth - 1) * (product_bits + _OF_TREE)
    return added + (2 * columns - operator.lanes(parallelism)) * sum_bits


def _rows(a: int, b: int) -> int:
    """Sites of a product of `a` by `b` bits in lookup tables, without its accumulator."""
    rows = -(-b // 2)
    return rows * (a + 3) + (rows - 1) * (a + 4)


def _prices(operator: Operator[network.Node], sites: _Sites) -> dict[str, float]:
    """Return the LUT sites of each part that `Operator.parts` may name."""
    factors = operator.requantizer_factors or (0, 0)
    requantizer = _requantizer(*factors, sites.varying_bit if operator.scales_vary else sites.lane_bit, sites)
    return {
        **_PARTS,
        "sequence": sites.sequence,
        "window": sites.window,
        "replay": sites.replay,
        "few_replay": sites.few_replay,
        "row_sums": sites.row_sums,
        "steps": _STEPS + math.prod(factors) * sites.lane_bit,
        "real_sum": _REAL_SUM + math.prod(factors) * sites.lane_bit,
        "requantizer": requantizer,
        "mean_requantizer": requantizer * _OF_AVERAGE,
    }


def _requantizer(sums: int, mantissas: int, product_bit: float, sites: _Sites) -> float:
    """Return the LUT sites of a drain lane with its requantizer."""
    if mantissas <= _FEW_BITS:
        return sums * sites.shift_sum_bit
    return sums * (sites.lane_sum_bit + mantissas * product_bit)


def _beside_blocks(memory: Memory, cells: str, sites: _Sites) -> float:
    """Number of lookup tables that hold words, and that select between memory blocks."""
    if size := memory.rom_size(cells):
        return memory.count * (size.tables * sites.constant_bit + size.muxes)
    return 0 if memory.blocks(cells) else _in_tables(memory, sites)


def _in_tables(memory: Memory, sites: _Sites) -> float:
    """Sixteen words of a bit are a table. Tables of a few words that hold the same are one."""
    if not memory.constant:
        tables = -(-memory.words // 16)
        return memory.count * memory.bits * (tables * sites.written_bit + (tables - 1) * sites.joined_bit)
    words = memory.words - memory.empty
    if words <= 1:
        return 0  # wires
    return min(memory.count * memory.bits * tables_of(words), 1 << min(words, 16)) * sites.constant_bit
