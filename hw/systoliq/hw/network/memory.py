"""Memory: words and bits of the memories of a stage, and the memory blocks that they take."""

from __future__ import annotations

import dataclasses

from ..block_ram import in_tables
from ..cells import is_ecp5
from ..cells.ecp5_ram import WIDTHS as ECP5_WIDTHS
from ..rom import FEW
from ..rom_layout import DEEPEST, RomSize, rom_size

__all__ = ["Memory"]


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
        """Return the number of memory blocks of ECP5, which `cells` instantiate by name; 0 if the memories are lookup
        tables.
        """
        if size := self.rom_size(cells):
            return self.count * size.cells
        if self.words <= FEW if self.constant else in_tables(self.words, self.bits):
            return 0
        depth = min((depth for depth in ECP5_WIDTHS if depth >= self.words), default=max(ECP5_WIDTHS))
        return self.count * -(-self.bits // ECP5_WIDTHS[depth]) * -(-self.words // depth)
