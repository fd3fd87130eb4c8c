"""Estimates of a stage, LUT sites, registers and memory blocks, before anything is built.

Memory blocks follow from the memories that a stage has. LUT sites are the sum of its adders, of what brings sums to the
lanes, of small memories and of requantizers, by their bits, and of padding, which a lookup table chooses for each bit
of a window. The rest is a fit to what Yosys made of ResNet8, of a small network of every operator, of digits-cnn and of
a network 64-32-16-10: within 25 % or 150 sites of each stage, and mostly within a few percent (tests/design/network).

Registers of ECP5 follow from the same parts: products in lookup tables and their sums are pipelined. They are fitted to
the netlists of DS-CNN, MobileNetV1 and the autoencoder of MLPerf Tiny, each within 8 % in all.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from systoliq.golden import network
from systoliq.golden.network.tensor import BYTE
from systoliq.hw.cells import LUT_CELLS, PAIR_CELLS, PLAIN_CELLS
from systoliq.hw.cells import family as family_of
from systoliq.hw.network.memory import Memory
from systoliq.hw.network.operator import Operator
from systoliq.hw.network.operators import operator_of
from systoliq.hw.network.parallelism import Parallelism
from systoliq.hw.requantizer import serial_pace
from systoliq.hw.rom_layout import tables_of

from ...synth.families import FAMILIES
from ...synth.families.sizes import Sizes
from ...synth.target import Target
from .plan import lane_cells

__all__ = ["LUT_ERROR", "RAM_ERROR", "REGISTER_ERROR", "Estimate", "blocks_of", "estimate", "saved_blocks"]

LUT_ERROR = 0.25  # of the LUT sites of a network, at the most
REGISTER_ERROR = 0.08  # of the registers of a network, at the most
RAM_ERROR = 1  # memory blocks of a stage, at the most


_OF_TREE = 2  # bits that sums of products have more than they, on average
_FEW_BITS = 4  # of a factor, which needs no multiplier
_OF_AVERAGE = 0.5  # of a lane: it has no bias, and one factor for all sums
_OF_SERIAL_AVERAGE = 0.05  # the same of a serial one
_FIFO = 90  # its flow control
_PLAIN_ROW_SUMS = 250  # of the products of row sums in plain logic
_STEPS = 100  # of a multiplication's estimate and threshold in a lane, beyond its product
_CELL_REGISTERS = 12  # beside a product in a multiplier cell
_REAL_SUM = 400  # of a lane that adds in float32, beyond the product of its estimate
_PARTS = {
    "join": 30,  # of an operator element by element
    "join_lane": 30,
    "addend": 160,  # a product in lookup tables, and a sum of it
    "table_sum": 35,  # of two tables, rounded and saturated
    "repeater": 75,  # flow control of pixels or lines that come again
    "padded_bit": 1,  # chooses between a pixel and padding
    "pool_window": 100,
    "whole_window": 340,
    "normalization": 1200,  # sums, root, inverse and products
    "softmax": 800,  # a sum in float32 and a division
}
"""LUT sites of the parts that cost about the same in all families: see `Sizes.common`."""
_ROWS = ("normalization", "softmax")


@dataclass(frozen=True)
class Estimate:
    """`lut_sites`, about; `ram`: memory blocks; `large`: the memory blocks of each memory that a large block of the
    part may hold instead; `registers`, about, 0 for families for which they are not estimated.
    """

    lut_sites: int
    ram: int
    large: tuple[int, ...] = ()
    registers: int = 0

    def as_json(self) -> dict[str, Any]:
        """The figures that are estimated by name, ready for JSON."""
        found = dataclasses.asdict(self) | {"large": list(self.large)}
        return {name: value for name, value in found.items() if name != "registers" or value}


def blocks_of(estimates: Iterable[Estimate], part: Target) -> int:
    """Return the memory blocks that stages take on `part`, without the memories that its large blocks hold."""
    found = list(estimates)
    return sum(each.ram for each in found) - saved_blocks((blocks for each in found for blocks in each.large), part)


def saved_blocks(large: Iterable[int], part: Target) -> int:
    """Return the memory blocks that the large blocks of `part` save; `large` are the blocks of each memory that one of
    them may hold.
    """
    return sum(sorted(large, reverse=True)[: FAMILIES[part.family].large_blocks])


def estimate(
    node: network.Node,
    parallelism: Parallelism,
    cells: str,
    waiting: Sequence[int] = (),
    *,
    family: str = "",
    lanes_in_tables: bool = True,
    serial: bool = True,
) -> Estimate | None:
    """Return the estimate of the stage of `node` in a network of `cells`, with FIFOs for `waiting` beats before each
    input, on a part of `family`, by default that of `cells`. Return None if the family has no sizes for `cells`.

    With `lanes_in_tables`, requantizers of ECP5 multiply in lookup tables, otherwise in multiplier cells. With
    `serial`, a requantizer takes several cycles for a product if it has time, as in networks but not in single layers.
    """
    family = family or family_of(cells)
    sizes = FAMILIES[family].sizes if family in FAMILIES else None
    if sizes is None or cells not in sizes.cells:
        return None
    if not lanes_in_tables:
        sizes = dataclasses.replace(sizes, lane_bit=0, varying_bit=0)
    lane = parallelism.lane_cells or lane_cells(cells)
    if lane == PLAIN_CELLS:
        plain = sizes.plain_bit
        sizes = dataclasses.replace(
            sizes,
            lane_bit=sizes.lane_bit + plain,
            varying_bit=sizes.varying_bit + plain,
            row_sums=sizes.row_sums + _PLAIN_ROW_SUMS,
        )
    operator = operator_of(node)
    memories = list(operator.memories(parallelism, waiting, cells))
    products, product_cells = operator.multipliers(parallelism), parallelism.cells or cells
    prices = _prices(operator, sizes, operator.lane_pace(parallelism) if serial else 1, lane)
    parts = {part: prices[part] * number for part, number in operator.parts(parallelism).items()}
    sites = {
        "memories": sum(_beside_blocks(memory, cells, sizes) for memory in memories),
        "fifos": sizes.common * _FIFO * sum(map(bool, waiting)),
        "products": products * _product_sites(operator, product_cells, sizes),
        "sums": _sums(operator, parallelism) if products else 0,
        "requantizers": sum(price for part, price in parts.items() if part.endswith("requantizer")),
        "rows": sum(price for part, price in parts.items() if part in _ROWS),
    }
    sites["others"] = sum(parts.values()) - sites["requantizers"] - sites["rows"]
    registers = sum(ratio * sites[name] for name, ratio in sizes.registers.items())
    if sizes.registers and product_cells != LUT_CELLS:
        registers += products * _CELL_REGISTERS
    return Estimate(
        lut_sites=round(sum(sites.values())),
        ram=sum(_blocks(memory, cells, sizes) for memory in memories),
        large=tuple(_large(memories, cells, sizes)),
        registers=round(registers),
    )


def _large(memories: Sequence[Memory], cells: str, sizes: Sizes) -> Iterator[int]:
    """Yield the memory blocks of each memory that a large block of the part may hold.

    Several written memories of a stage are instances of one module, which synthesis leaves in ordinary blocks.
    """
    for memory in memories:
        blocks = _blocks(memory, cells, sizes) // max(memory.count, 1)
        alone = memory.constant or memory.count == 1
        if alone and sizes.large is not None and sizes.large.holds(memory.words, memory.bits, blocks):
            yield from [blocks] * memory.count


def _product_sites(operator: Operator[network.Node], cells: str, sizes: Sizes) -> float:
    """Sites of one product, without adding it to the others.

    In lookup tables every two bits of a weight are a row of the product, and rows are added up (docs/silicon.md has
    what was measured).
    """
    a, b = operator.node.inputs[0].format.bits, operator.weight_bits
    if cells == PAIR_CELLS:
        return sizes.pair_narrow if min(a, b) <= BYTE // 2 else sizes.pair_product
    if cells == PLAIN_CELLS:
        return sizes.plain_product * a * b / BYTE**2
    if cells == LUT_CELLS:
        return sizes.lut_product - _rows(BYTE, BYTE) + _rows(a, b)
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


def _prices(operator: Operator[network.Node], sizes: Sizes, pace: int, lane: str) -> dict[str, float]:
    """Return the LUT sites of each part that `Operator.parts` may name; a requantizer in the cells `lane` has `pace`
    cycles for a result.
    """
    factors = operator.requantizer_factors or (0, 0)
    product_bit = sizes.varying_bit if operator.scales_vary else sizes.lane_bit
    requantizer = _requantizer(*factors, product_bit, sizes)
    cycles = serial_pace(factors[1], pace, lane)
    if cycles > 1:
        sum_bit = sizes.lane_sum_bit if operator.scales_vary else sizes.shift_sum_bit  # one scale has one shift
        requantizer = _serial_requantizer(*factors, cycles, sum_bit, sizes)
    return {
        **{part: sizes.common * price for part, price in _PARTS.items()},
        "sequence": sizes.sequence,
        "window": sizes.window,
        "replay": sizes.replay,
        "few_replay": sizes.few_replay,
        "row_sums": sizes.row_sums,
        "steps": sizes.common * _STEPS + math.prod(factors) * sizes.lane_bit,
        "real_sum": sizes.common * _REAL_SUM + math.prod(factors) * sizes.lane_bit,
        "requantizer": requantizer,
        "product_requantizer": requantizer * _OF_AVERAGE,
        "mean_requantizer": requantizer * (_OF_AVERAGE if cycles == 1 else _OF_SERIAL_AVERAGE),
    }


def _requantizer(sums: int, mantissas: int, product_bit: float, sizes: Sizes) -> float:
    """Return the LUT sites of a drain lane with its requantizer."""
    if mantissas <= _FEW_BITS:
        return sums * sizes.shift_sum_bit
    return sums * (sizes.lane_sum_bit + mantissas * product_bit)


def _serial_requantizer(sums: int, mantissas: int, cycles: int, sum_bit: float, sizes: Sizes) -> float:
    """The same of one that multiplies in some `cycles`, and takes `sum_bit` for each bit of sums beside."""
    digit = -(-mantissas // cycles)
    return sums * (sum_bit + digit * sizes.digit_bit) + mantissas + sizes.serial


def _blocks(memory: Memory, cells: str, sizes: Sizes) -> int:
    """Return the number of memory blocks: those that Yosys infers, or those that are instantiated by name."""
    if sizes.memories is None:
        return memory.blocks(cells)
    return memory.count * sizes.memories.of(memory.words, memory.bits, constant=memory.constant)


def _beside_blocks(memory: Memory, cells: str, sizes: Sizes) -> float:
    """Number of lookup tables that hold words, and that select between memory blocks."""
    if size := memory.rom_size(cells):
        return memory.count * (size.tables * sizes.constant_bit + size.muxes)
    return 0 if _blocks(memory, cells, sizes) else _in_tables(memory, sizes)


def _in_tables(memory: Memory, sizes: Sizes) -> float:
    """Sixteen words of a bit are a table. Tables of a few words that hold the same are one."""
    if not memory.constant:
        tables = -(-memory.words // 16)
        return memory.count * memory.bits * (tables * sizes.written_bit + (tables - 1) * sizes.joined_bit)
    words = memory.words - memory.empty
    if words <= 1:
        return 0  # wires
    return min(memory.count * memory.bits * tables_of(words), 1 << min(words, 16)) * sizes.constant_bit
