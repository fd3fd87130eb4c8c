"""Gather: elements of a stream picked by constant indices, block by block, in any order and any number of times."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Array, Cat, Module, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden.network import Move

from ..block_ram import SMALL, BlockRam
from ..counter import count
from ..credit import Credit
from ..delay import delay
from ..fifo import Fifo
from ..hierarchy import place
from ..result_buffer import y_beat
from ..rom import Rom
from ..timeline import Steps, Timeline
from .credit_pipeline import credit_pipeline, credit_pipeline_timed

__all__ = ["HANDOVER", "Gather", "address_bits", "block_of", "slots_of", "smallest_block"]


def smallest_block(order: npt.NDArray[np.int64], elements: int, lanes: int) -> tuple[int, npt.NDArray[np.int64]]:
    """Return the smallest block of an image of ``elements``, and the indices in it that ``order`` picks of each block.

    ``order`` picks of the whole image. A block is a whole number of beats of ``lanes`` elements, on both sides.
    """
    for blocks in range(math.gcd(elements, order.size) // lanes, 0, -1):
        block, picked = elements // blocks, order.size // blocks
        if elements % blocks or order.size % blocks or block % lanes or picked % lanes:
            continue
        within = order.reshape(blocks, picked) - block * np.arange(blocks)[:, np.newaxis]
        if (within == within[0]).all() and within[0].min() >= 0 and within[0].max() < block:
            return block, within[0]
    raise ValueError(f"lanes must divide the {elements} elements of an image and the {order.size} picked, not {lanes}")


HANDOVER = 2
"""Cycles that pass for each block whose memory is read in the time in which another one is filled."""
_WORDS = 256  # up to which there is room for more than two blocks


@functools.cache
def block_of(node: Move, lanes: int) -> tuple[int, npt.NDArray[np.int64]]:
    """Return `smallest_block` of what ``node`` picks of an image, in raster order."""
    (x,) = node.inputs
    return smallest_block(node.order.reshape(-1), x.pixels * x.channels, lanes)


def address_bits(block: int, picked: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Return the bits of a beat's place in a block, and of an element's in the beat.

    ``picked`` [beats, lanes] are indices in a block of ``block`` elements. Where each of their beats is a beat of the
    block, the elements' places need no bits.
    """
    lanes = picked.shape[1]
    whole = (picked % lanes == np.arange(lanes)).all() and (picked // lanes == picked[:, :1] // lanes).all()
    return (block // lanes - 1).bit_length(), 0 if whole else (lanes - 1).bit_length()


def slots_of(beats: int) -> int:
    """Blocks of ``beats`` that the memory has room for, a power of two."""
    return max(2, min(8, _WORDS >> (beats - 1).bit_length()))


class Gather(wiring.Component):
    """Gives ``indices`` of each block of ``block`` elements of ``i``, once the block is whole.

    Streams are images in beats of ``lanes`` elements of ``shape``; ``last`` comes with the last beat of a block that
    came with it. A block comes while others leave, a beat a cycle on either side; where the memory has room for only
    two (``slots``), up to ``HANDOVER`` cycles pass between blocks. The first beat of a block leaves at most ``latency``
    cycles after its last one came.

    Where each beat of ``o`` is one of ``i``, blocks lie in one memory; else each lane has a copy.
    """

    namespace = True

    def __init__(self, shape: Shape, *, lanes: int, block: int, indices: Sequence[int], cells: str, kind: str) -> None:
        if block % lanes or len(indices) % lanes or not len(indices):
            raise ValueError(f"lanes must divide the block of {block} elements and the {len(indices)} picked of it")
        if not all(0 <= index < block for index in indices):
            raise ValueError(f"indices must be 0 to {block - 1}")
        self.lanes, self.kind = lanes, kind
        self.beats = (block // lanes, len(indices) // lanes)
        beat = y_beat(shape, lanes)
        picked = np.array(indices, np.int64).reshape(-1, lanes)
        self._place_bits, self._lane_bits = address_bits(block, picked)
        self._address_bits = self._place_bits + self._lane_bits
        banks = 1 if not self._lane_bits else lanes
        self.slots = slots_of(self.beats[0])
        depth = self.slots << self._place_bits
        self.rams = [
            BlockRam(lanes * shape.width, depth=depth, cells=cells, registered=depth > SMALL) for _ in range(banks)
        ]
        self.rom: Rom | None = None
        if self._address_bits:
            codes = (picked % lanes << self._place_bits | picked // lanes) % (1 << self._address_bits)
            words = [
                sum(int(code) << self._address_bits * bank for bank, code in enumerate(row[:banks])) for row in codes
            ]
            self.rom = Rom(words, self._address_bits * banks, cells=cells, kind=f"{kind}_indices")
        self.fifo = Fifo(beat, depth=16, cells=cells)
        super().__init__({"i": In(stream.Signature(beat)), "o": Out(stream.Signature(beat))})

    @property
    def latency(self) -> int:
        """See above."""
        return 2 + self._read_latency + self.rams[0].latency + self.fifo.ram.latency

    @property
    def _read_latency(self) -> int:
        return self.rom.latency if self.rom else 0

    def timed(self, line: Timeline, taken: Steps) -> Steps:
        """Return the beats that leave."""
        given, made = self.beats
        blocks = len(taken) // given
        entered = line.steps(blocks * made)
        entered.after_some(taken, 1, (np.arange(len(entered)) // made + 1) * given - 1)
        block = np.arange(len(taken)) // given - self.slots
        taken.after_some(entered, self._read_latency + 1, np.where(block < 0, -1, (block + 1) * made - 1))
        return credit_pipeline_timed(line, entered, self.fifo, latency=self._read_latency + self.rams[0].latency)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        filled = Signal()
        done = Signal()
        complete = Credit(m, self.slots, name="complete", full=False, give=filled, take=done)
        freed = delay(m, done, self._read_latency, name="freed", reset_less=False)  # once its last word is read
        room = Credit(m, self.slots, name="room", full=True, give=freed, take=filled)
        ends = self._write(m, room, filled)

        offered = stream.Signature(0).create(path=("offered",))
        m.d.comb += offered.valid.eq(complete.any)
        result = Signal.like(Value.cast(self.fifo.i.payload))
        latency = self._read_latency + self.rams[0].latency
        enters = credit_pipeline(m, platform, [offered], self.fifo, result, latency=latency)
        beat = count(m, self.beats[1], when=enters, name="beat")
        slot = Signal(range(self.slots), name="read_slot")
        m.d.comb += done.eq(enters & beat.last)
        with m.If(done):
            m.d.sync += slot.eq(slot + 1)
        m.d.comb += result[-1].eq(delay(m, Array(ends)[slot] & beat.last, latency, name="last"))
        m.d.comb += result[:-1].eq(self._read(m, platform, beat.value, enters, slot))
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        return m

    def _write(self, m: Module, room: Credit, filled: Signal) -> list[Signal]:
        """Put blocks into one slot after the other; return for each slot whether an image ended with its block."""
        comes = Signal()
        put = count(m, self.beats[0], when=comes, name="put")
        slot = Signal(range(self.slots), name="write_slot")
        ends = [Signal(name=f"ends_{index}", reset_less=True) for index in range(self.slots)]
        m.d.comb += [
            self.i.ready.eq(room.any),
            comes.eq(self.i.valid & room.any),
            filled.eq(comes & put.last),
        ]
        with m.If(filled):
            m.d.sync += [slot.eq(slot + 1), Array(ends)[slot].eq(self.i.payload.last)]
        for ram in self.rams:
            m.d.comb += [
                ram.write.eq(comes),
                ram.write_address.eq(Cat(put.value[: self._place_bits], slot)),
                ram.write_data.eq(Value.cast(self.i.payload.data)),
            ]
        return ends

    def _read(self, m: Module, platform: object, beat: Signal, enters: Signal, slot: Signal) -> Value:
        """The picked elements of a beat that enters, some cycles later."""
        where: Value = Signal(0)
        if self.rom:
            m.submodules.indices = place(self.rom, platform)
            m.d.comb += self.rom.address.eq(beat)
            where = self.rom.word
        reads = delay(m, enters, self._read_latency, name="reads", reset_less=False)
        slot_then = delay(m, slot, self._read_latency, name="slot")
        made = []
        for bank, ram in enumerate(self.rams):
            m.submodules[f"ram_{bank}"] = place(ram, platform)
            address = where[bank * self._address_bits : (bank + 1) * self._address_bits]
            m.d.comb += [
                ram.read.eq(reads),
                ram.read_address.eq(Cat(address[: self._place_bits], slot_then)),
            ]
            if not self._lane_bits:
                return ram.read_data
            lane = delay(m, address[self._place_bits :], ram.latency, name=f"lane_{bank}")
            made.append(Value.cast(ram.read_data).word_select(lane, len(ram.read_data) // self.lanes))
        return Cat(*made)
