"""Block RAM: one port writes, one port reads, with the output register that makes it fast.

The one place where a target's memory cells make a difference, as `multiplier` and `mac` are for its multipliers.
"""

from __future__ import annotations

from amaranth.hdl import Module, Shape, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .cells import is_ecp5
from .cells.ecp5_ram import WIDTHS, dp16kd
from .hierarchy import place

__all__ = ["SMALL", "BlockRam", "in_tables"]

SMALL = 32
"""Words that memory in lookup tables holds better."""


_NARROW = 16  # bits of a word of up to twice as many words that lookup tables hold better, too


def in_tables(depth: int, width: int) -> bool:
    """Return whether ``depth`` words of ``width`` bits lie in lookup tables of ECP5."""
    return depth <= SMALL or (depth <= 2 * SMALL and width <= _NARROW)


def _ports(shape: object, depth: int) -> dict[str, wiring.Member]:
    address = range(depth)
    write = {"write": In(1), "write_address": In(address), "write_data": In(shape)}
    return write | {"read": In(1), "read_address": In(address), "show": In(1, init=1), "read_data": Out(shape)}


class BlockRam(wiring.Component):
    """``depth`` words of ``shape``, undefined until they are written.

    ``write`` puts ``write_data`` at ``write_address``; it can be read from the next cycle on. ``read_data`` shows the
    word at ``read_address`` ``latency`` cycles after ``read``, until the same time after the next ``read``. Where the
    latency is 2, the word gets to ``read_data`` only in a cycle of ``show``, which is 1 if left open. A word that
    is read in the cycle in which it is written is undefined. No reset.

    ``portable`` is a memory and a register, which synthesis puts into the memory cells where they have one. For
    ``ecp5``, where it does not, the cells are DP16KD, each a slice of every word. ``ice40`` does without the register,
    and so does memory that is not ``registered``: of few words, in lookup tables.
    """

    moves_bits = True

    def __init__(self, shape: object, *, depth: int, cells: str, registered: bool = True) -> None:
        self.depth = depth
        self.width = Shape.cast(shape).width
        self.latency = self.latency_of(cells) if registered else 1
        self._distributed = is_ecp5(cells) and (in_tables(depth, self.width) or not registered)
        self._cells = is_ecp5(cells) and not self._distributed and depth <= max(WIDTHS)
        self.kind = f"ram_{depth}x{self.width}" if registered else f"small_ram_{depth}x{self.width}"
        super().__init__(_ports(shape, depth))

    @staticmethod
    def latency_of(cells: str) -> int:
        """Cycles from ``read`` to the word."""
        return 1 if cells == "ice40" else 2

    def elaborate(self, platform: object) -> Module:
        m = Module()
        data, shown = Value.cast(self.write_data), Value.cast(self.read_data)
        if self._cells:
            width = WIDTHS[max(1 << (self.depth - 1).bit_length(), min(WIDTHS))]
            for low in range(0, self.width, width):
                part = _Slice(min(width, self.width - low), self.depth)
                m.submodules[f"slice_{low}"] = place(part, platform)
                m.d.comb += [
                    part.write.eq(self.write),
                    part.write_address.eq(self.write_address),
                    part.write_data.eq(data[low : low + width]),
                    part.read.eq(self.read),
                    part.read_address.eq(self.read_address),
                    part.show.eq(self.show),
                    shown[low : low + width].eq(part.read_data),
                ]
            return m
        # Without the first Yosys builds logic for words that are read while they are written.
        attributes = {"no_rw_check": 1} | ({"ram_style": "distributed"} if self._distributed else {})
        memory = Memory(shape=unsigned(self.width), depth=self.depth, init=[], attrs=attributes)
        m.submodules.memory = memory
        write = memory.write_port()
        read = memory.read_port()
        m.d.comb += [
            write.en.eq(self.write),
            write.addr.eq(self.write_address),
            write.data.eq(data),
            read.en.eq(self.read),
            read.addr.eq(self.read_address),
        ]
        if self.latency == 1:
            m.d.comb += shown.eq(read.data)
            return m
        word = Signal(self.width, reset_less=True)
        with m.If(self.show):
            m.d.sync += word.eq(read.data)
        m.d.comb += shown.eq(word)
        return m


class _Slice(wiring.Component):
    """A DP16KD's part of a `BlockRam`."""

    def __init__(self, width: int, depth: int) -> None:
        self.kind = f"ram_slice_{depth}x{width}"
        super().__init__(_ports(width, depth))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word = dp16kd(
            m,
            write=self.write,
            write_address=self.write_address,
            data=self.write_data,
            read=self.read,
            read_address=self.read_address,
            show=self.show,
        )
        m.d.comb += self.read_data.eq(word)
        return m
