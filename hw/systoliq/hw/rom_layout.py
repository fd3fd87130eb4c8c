"""Layout of read-only memory in the DP16KD of ECP5: width and depth of the cells are chosen together.

A word is cut into strips of 36 bits, the most that a cell shows in a cycle. A strip lies in lookup tables if these are
few. Otherwise cells of different depths hold its words one after the other: 2,560 words are 2,048 in cells of 2,048 x 9
and 512 in a cell of 512 x 36. Up to 256 words that are left beyond a multiple of 512 share a cell with words of
neighbouring strips (`Strip.shared`).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

from .cells.ecp5_ram import ROM_WIDTHS

__all__ = ["DEEPEST", "WIDE", "RomSize", "Strip", "rom_size", "rom_strips", "strip_bits", "tables_of"]

DEEPEST = max(ROM_WIDTHS)
"""Words that cells hold at most, without a memory of several in the Verilog."""

WIDE = min(ROM_WIDTHS)
"""Words of a cell at its widest."""

_BITS = max(ROM_WIDTHS.values())  # a multiple of all widths
_TABLES = 200  # lookup tables that are better than a cell: an ECP5 has 400 for each


@dataclasses.dataclass(frozen=True, kw_only=True)
class RomSize:
    """``cells`` of a memory, and lookup tables: ``tables`` that hold words, ``muxes`` that choose between cells."""

    cells: int
    tables: int = 0
    muxes: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Strip:
    """Bits ``low`` to ``low + width`` of all words.

    They lie in ``depths``, the depths of cells behind each other, from address 0 on; in lookup tables if there are
    none. If ``shared`` is not 0, the strip is up to 512 / ``shared`` columns of 36 bits, and one more cell holds
    ``shared`` words of each: of column j those from address ``shared`` * j on. The ``depths`` have room for the others,
    the last of all words where these are missing.
    """

    low: int
    width: int
    depths: tuple[int, ...] = ()
    shared: int = 0

    @property
    def columns(self) -> list[tuple[int, int]]:
        """First bit and width of each column of 36 bits."""
        return [(low, min(_BITS, self.width - low)) for low in range(0, self.width, _BITS)]

    def size(self, words: int) -> RomSize:
        """Return the size of the strip with this number of words."""
        if not self.depths:
            return RomSize(cells=0, tables=self.width * tables_of(words))
        muxes = self.width * (len(self.depths) - 1 + bool(self.shared))
        if not self.shared:
            return RomSize(cells=_cells(self.depths, self.width), muxes=muxes)
        return RomSize(cells=1 + sum(_cells(self.depths, width) for _, width in self.columns), muxes=muxes)


def tables_of(words: int) -> int:
    """Return the number of lookup tables of four inputs for one bit of `words`: they are joined in pairs."""
    return 1 << (-(-words // 16) - 1).bit_length()


def strip_bits(words: int) -> int:
    """Bits that a word should have a multiple of, so that no cell is left half empty."""
    return _BITS * max(_sharers(words), 1)


def rom_size(words: int, width: int) -> RomSize:
    """Return the size of a memory of ``words`` of ``width`` bits, in as few cells as may be."""
    sizes = [strip.size(words) for strip in rom_strips(words, width)]
    return RomSize(**{name: sum(getattr(each, name) for each in sizes) for name in ("cells", "tables", "muxes")})


def rom_strips(words: int, width: int) -> Iterator[Strip]:
    """Yield the strips of a memory, the lowest bits first. Raises ValueError for more than `DEEPEST` words."""
    if words > DEEPEST:
        raise ValueError(f"words must be at most {DEEPEST}, not {words}")
    step = strip_bits(words)
    for low in range(0, width, step):
        bits = min(step, width - low)
        if bits * tables_of(words) <= _TABLES:
            yield Strip(low=low, width=bits)
            continue
        found = [Strip(low=low, width=bits, depths=_depths(words, bits))]
        if sharers := _sharers(words):
            found.append(
                Strip(low=low, width=bits, depths=_depths(words // WIDE * WIDE, _BITS), shared=WIDE // sharers)
            )
        yield min(found, key=lambda strip: strip.size(words).cells)


def _sharers(words: int) -> int:
    """Strips that may share a cell for the words beyond a multiple of 512; 0 where it would not be shared."""
    whole, rest = divmod(words, WIDE)
    sharers = WIDE >> (rest - 1).bit_length() if rest else 0
    return sharers if whole and sharers > 1 else 0


@functools.cache
def _depths(words: int, width: int) -> tuple[int, ...]:
    """Return depths of cells, in falling order, that hold `words` in the fewest cells, and with the fewest depths."""
    enough = min(depth for depth in ROM_WIDTHS if depth >= words)
    found: list[tuple[int, ...]] = [(enough,)]
    found += [(depth, *_depths(words - depth, width)) for depth in ROM_WIDTHS if depth < words <= 2 * depth]
    return min(found, key=lambda depths: (_cells(depths, width), len(depths)))


def _cells(depths: tuple[int, ...], width: int) -> int:
    return sum(-(-width // ROM_WIDTHS[depth]) for depth in depths)
