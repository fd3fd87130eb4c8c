"""Operand buffer: a ring of operand words that can be read while it fills and read again until released."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..block_ram import BlockRam
from ..credit import Credit
from ..delay import delay
from ..hierarchy import place

__all__ = ["OperandBuffer"]


class OperandBuffer(wiring.Component):
    """Holds words in the order in which they came; they can be read again until they are released, the oldest first.

    ``look`` fetches the word at ``address``, which counts the words that came, modulo ``depth`` (a power of two);
    ``word`` shows it `BlockRam.latency` cycles later. ``read``, only with ``look``, may be known later in the cycle:
    the word counts as read, and with ``fresh`` it is the next of the words that were never read. ``release`` gives up
    the oldest word, which must have been read by then. A word that is ``put`` can be read ``latency`` cycles later, and
    its place be used again two cycles after its release.

    A cycle ahead, ``room`` says that a word may be put if none is put now, ``more`` the same if one is, and ``coming``
    that there will be a word that was never read: who waits for them keeps them in a register.
    """

    latency = 1

    def __init__(self, shape: object, *, depth: int, cells: str, kind: str) -> None:
        self.depth = depth
        self.ram = BlockRam(shape, depth=depth, cells=cells)
        self.kind = kind
        super().__init__(
            {
                "room": Out(1),
                "more": Out(1),
                "put": In(1),
                "i": In(shape),
                "coming": Out(1),
                "look": In(1),
                "read": In(1),
                "fresh": In(1),
                "address": In(range(depth)),
                "release": In(1),
                "word": Out(shape),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ram = self.ram
        m.submodules.ram = place(ram, platform)
        newest = Signal(range(self.depth))
        released = delay(m, self.release, 1, name="released", reset_less=False)
        room = Credit(m, self.depth, name="room", full=True, give=released, take=self.put)
        unread = Credit(m, self.depth, name="unread", full=False, give=self.put, take=self.read & self.fresh)
        m.d.comb += [
            self.room.eq(room.kept),
            self.more.eq(room.left),
            self.coming.eq(unread.next),
            ram.write.eq(self.put),
            ram.write_address.eq(newest),
            ram.write_data.eq(self.i),
            ram.read.eq(self.look),
            ram.read_address.eq(self.address),
            self.word.eq(ram.read_data),
        ]
        with m.If(self.put):
            m.d.sync += newest.eq(newest + 1)
        return m
