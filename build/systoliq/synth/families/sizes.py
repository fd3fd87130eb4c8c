"""Sizes: LUT sites and memory blocks of the parts of a network's stage on a family, fitted to netlists of Yosys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["LargeBlocks", "MemoryBlocks", "Sizes"]


@dataclass(frozen=True, kw_only=True)
class LargeBlocks:
    """Large memory blocks of a part.

    Parameters
    ----------
    count
        number of them on the smallest part of the family.
    words, bits
        of one.
    least
        number of ordinary blocks that a memory must take for a large one to be worth it.
    """

    count: int
    words: int
    bits: int
    least: int

    def holds(self, words: int, bits: int, blocks: int) -> bool:
        """Return whether a memory of `words` and `bits`, in `blocks` ordinary blocks, is to be in a large one."""
        return words <= self.words and bits <= self.bits and blocks >= self.least


@dataclass(frozen=True, kw_only=True)
class MemoryBlocks:
    """Memory blocks that Yosys infers.

    Parameters
    ----------
    widths
        bits of a word of one block, by its number of words.
    stacked
        True if Yosys takes shallower blocks, one after the other, where these are fewer; False if every block is as
        deep as the memory, or as deep as a block can be.
    constant_bits, written_bits
        bits from which Yosys takes a block, for each block: of memories that are never written, and of others.
    """

    widths: Mapping[int, int]
    constant_bits: int
    written_bits: int
    stacked: bool = True

    def of(self, words: int, bits: int, *, constant: bool) -> int:
        """Return the number of blocks of one memory; 0 if Yosys puts the memory into lookup tables."""
        deep = min((depth for depth in self.widths if depth >= words), default=max(self.widths))
        depths = self.widths if self.stacked else [deep]
        blocks = min(-(-bits // self.widths[depth]) * -(-words // depth) for depth in depths)
        least = self.constant_bits if constant else self.written_bits
        return blocks if words * bits >= blocks * least else 0


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """LUT sites of the parts of a stage in one family.

    Parameters
    ----------
    cells
        sets of cells that the sites were fitted for.
    memories
        what Yosys infers; None if all memory blocks are instantiated by name.
    large
        large memory blocks beside these; None if the parts have none.
    common
        factor for the parts that cost about the same in all families (see `design.network.estimate`).
    plain_product
        a product of 8 x 8 bits of plain logic, beyond adding it to the others.
    pair_product, pair_narrow
        a product that has half a multiplier cell; the same if one operand has at most 4 bits.
    lut_product
        a product of 8 x 8 bits in lookup tables.
    sequence
        the sequencer and the flow control of products.
    replay, few_replay
        the replay of A for the tiles of columns, in memory blocks and in lookup tables.
    window
        a window buffer before products.
    lane_sum_bit, shift_sum_bit
        a requantizer without its product, for each bit of sums; the same if it only shifts, or nearly so.
    lane_bit, varying_bit
        the requantizer's product, for each bit of its factors, multiplied; the same if columns have factors of their
        own.
    digit_bit, serial
        a serial requantizer's product, for each bit of its sums and of the factor in a cycle, multiplied; and the rest
        of it.
    plain_bit
        what such a bit takes in addition if the product is plain logic.
    row_sums
        the sums of rows of A, for weights that need more than 8 bits without their zero point, and their products
        unless these are plain logic.
    constant_bit, written_bit, joined_bit
        a bit of 16 constant words; of words that are written; and a bit that joins two memories of written words.
    registers
        registers for each LUT site of a stage's products, sums, requantizers, rows (Softmax, LayerNormalization), FIFOs
        and others; empty if they are not estimated.
    """

    cells: tuple[str, ...]
    memories: MemoryBlocks | None = None
    large: LargeBlocks | None = None
    common: float = 1
    plain_product: float = 0
    pair_product: float = 0
    pair_narrow: float = 0
    lut_product: float = 0
    sequence: float = 0
    replay: float = 0
    few_replay: float = 0
    window: float = 0
    lane_sum_bit: float = 0
    shift_sum_bit: float = 0
    lane_bit: float = 0
    varying_bit: float = 0
    digit_bit: float = 0
    serial: float = 0
    plain_bit: float = 0
    row_sums: float = 0
    constant_bit: float = 0
    written_bit: float = 0
    joined_bit: float = 0
    registers: Mapping[str, float] = field(default_factory=dict)
