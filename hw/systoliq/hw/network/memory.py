"""Memory: words and bits of the memories of a stage, and the memory blocks that they take."""

from __future__ import annotations

import dataclasses

from ..block_ram import in_tables
from ..cells import is_ecp5
from ..cells.ecp5_ram import WIDTHS as ECP5_WIDTHS
from ..rom import FEW
from ..rom_layout import DEEPEST, RomSize, rom_size

__all__ = ["Memory"]

_ICE40_WIDTHS = {2048: 2, 1024: 4, 512: 8, 256: 16}  # of an SB_RAM40_4K, by its depth
_ICE40_BITS = {False: 64, True: 1024}  # Yosys takes a block from this many bits on, by `constant`


@dataclasses.dataclass(frozen=True)
class Memory:
    """``count`` memories of ``words`` words of ``bits`` bits; the last ``empty`` words are never read.

    ``constant``: the memories are never written.
    """

    words: int
    bits: int
    constant: bool = False
    count: int = 1
    empty: int = 0

    def rom_size(self, cells: str) -> RomSize | None:
        """Return the size of one of the memories where `rom_layout` lays it out in the cells of ECP5; else None."""
        if not self.constant or not is_ecp5(cells) or not FEW < self.words <= DEEPEST:
            return None
        return rom_size(self.words, self.bits)

    def blocks(self, cells: str) -> int:
        """Number of memory blocks in the family of ``cells``; 0 if the memories are lookup tables."""
        if size := self.rom_size(cells):
            return self.count * size.cells
        if is_ecp5(cells):
            if self.words <= FEW if self.constant else in_tables(self.words, self.bits):
                return 0
            return self.count * self._each(ECP5_WIDTHS)
        each = self._each(_ICE40_WIDTHS)
        return self.count * each if self.words * self.bits >= each * _ICE40_BITS[self.constant] else 0

    def _each(self, widths: dict[int, int]) -> int:
        """Blocks of one memory; ``widths``: the width of a block by its depth."""
        depth = min((depth for depth in widths if depth >= self.words), default=max(widths))
        return -(-self.bits // widths[depth]) * -(-self.words // depth)
