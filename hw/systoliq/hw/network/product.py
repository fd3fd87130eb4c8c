"""Matrix product of two streams: rows of one, and blocks of the other in a memory of two halves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from amaranth.hdl import Module, Mux, Signal, Value, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from systoliq.golden import network
from systoliq.golden.formats import IntFormat, signed_bits

from ..adder_tree import adder_tree, adder_tree_latency
from ..counter import count
from ..credit import Credit
from ..delay import delay
from ..fifo import Fifo
from ..hierarchy import place
from ..operand_shape import operand_shape
from ..requantizer import Requantizer, RequantizerConfig
from ..result_buffer import y_beat
from ..timeline import Steps, Timeline
from .centred import centred_product, centred_product_latency
from .row_memory import RowMemory

__all__ = ["StreamedProduct", "product_cycles", "rows_under_way"]

_FLIGHT = 40  # no fewer cycles than from a row's first element to its last result, less the row's own cycles


def product_cycles(node: network.MatrixProduct, depth: int = 1) -> int:
    """Return the cycles from one row to the next: one for each ``depth`` multiplications, and one."""
    return node.depth // depth * node.output.channels + 1


def rows_under_way(node: network.MatrixProduct, depth: int = 1) -> int:
    """Return the rows of results that have room: enough that rows follow one another while results are on their way."""
    return 2 + -(-_FLIGHT // product_cycles(node, depth))


class StreamedProduct(wiring.Component):
    """``o`` is the product of the rows of ``i_0`` with the matrices of ``i_1``; all come in beats of one element.

    ``depth`` elements of a row are multiplied in a cycle, by as many of a column, and added up. They divide both.

    While rows are multiplied with one matrix, the next one comes. There is room for two rows of A.
    ``last`` comes with the last of a row's that ended with it.
    """

    namespace = True

    def __init__(self, node: network.MatrixProduct, *, cells: str, lane_cells: str, kind: str, depth: int = 1) -> None:
        self.node = node
        self.depth = depth
        self.kind = kind
        self.lanes = 1
        self._cells = cells
        a, b = node.inputs
        self.rows = RowMemory(a.format, length=node.depth, cells=cells, banks=depth)
        columns = b.channels
        self.matrix = RowMemory(b.format, length=node.depth * columns, cells=cells, banks=depth, run=columns)
        self.rows.kind, self.matrix.kind = f"{kind}_rows", f"{kind}_matrix"
        self.sum_bits = signed_bits(*node.sums_range)
        found = node.requantization
        self.requantization = found
        pace = node.depth // depth
        self.requantizer = Requantizer(RequantizerConfig.of(found, self.sum_bits, cells=lane_cells, pace=pace))
        self.fifo = Fifo(y_beat(operand_shape(node.output.format), 1), depth=self.results_of(node, depth), cells=cells)
        beats = [y_beat(operand_shape(each.format), 1) for each in (a, b, node.output)]
        super().__init__(
            {
                "i_0": In(stream.Signature(beats[0])),
                "i_1": In(stream.Signature(beats[1])),
                "o": Out(stream.Signature(beats[2])),
            }
        )

    @staticmethod
    def results_of(node: network.MatrixProduct, depth: int = 1) -> int:
        """Results that have room, a power of two."""
        return max(16, 1 << (rows_under_way(node, depth) * node.output.channels - 1).bit_length())

    @property
    def _flight(self) -> int:
        """Cycles from reading the last elements of a sum to its result."""
        return self._to_sum + 1 + self.requantizer.latency

    @property
    def _to_sum(self) -> int:
        """Cycles from reading elements to the sum of their products."""
        return self.matrix.latency + centred_product_latency(self._cells) + adder_tree_latency(self.depth)

    def timed(self, line: Timeline, *taken: Steps) -> Steps:
        """Return the beats that leave."""
        node, row_cycles = self.node, product_cycles(self.node, self.depth)
        columns, height = node.output.channels, node.inputs[0].pixels // node.blocks
        starts = line.steps(len(taken[0]) // node.depth, gap=row_cycles)
        over = line.following(starts, row_cycles - 1)
        matrices = line.steps(len(starts) // height)
        matrices.after_some(over, 0, (np.arange(len(matrices)) + 1) * height - 1)
        starts.after(self.rows.timed(line, taken[0], over), 0)
        row = np.arange(len(starts))
        starts.after_some(self.matrix.timed(line, taken[1], matrices), 0, np.where(row % height, -1, row // height))
        made = line.steps(len(starts) * columns)
        of_row, column = np.divmod(np.arange(len(made)), columns)
        made.after_some(starts, self._flight + (column + 1) * (node.depth // self.depth), of_row)
        left = self.fifo.timed(line, made)
        starts.after_some(left, 1, (row - rows_under_way(node, self.depth) + 1) * columns - 1)
        return left

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name in ("rows", "matrix", "requantizer", "fifo"):
            m.submodules[name] = place(getattr(self, name), platform)
        wiring.connect(m, wiring.flipped(self.i_0), self.rows.i)
        wiring.connect(m, wiring.flipped(self.i_1), self.matrix.i)
        wiring.connect(m, self.fifo.o, wiring.flipped(self.o))
        leaves = Signal()
        m.d.comb += leaves.eq(self.fifo.o.valid & self.fifo.o.ready)
        left = leaves & count(m, self.node.output.channels, when=leaves, name="gone").last
        room = rows_under_way(self.node, self.depth)
        vacant = Credit(m, room, name="vacant", full=True, give=left, take=self.rows.take)
        reads, first, last, ends = self._walk(m, vacant.any)
        self._multiply(m, platform, reads, first, last, ends)
        return m

    def _walk(self, m: Module, vacant: Value) -> tuple[Signal, Value, Value, Value]:
        """Read the elements of a row and of all columns; return whether some are read, whether they are the first
        and the last of a sum, and whether that is the last of an image.
        """
        node, rows, matrix = self.node, self.rows, self.matrix
        columns, height = node.output.channels, node.inputs[0].pixels // node.blocks
        busy, held = Signal(name="busy"), Signal(name="held")  # whether a matrix is taken
        over = Signal(name="row_over")
        k = count(m, node.depth // self.depth, when=busy, name="k")
        n = count(m, columns, when=busy & k.last, name="n")
        row = count(m, height, when=over, name="row")
        first = Signal(init=1, name="first")
        at = Signal(range(max(node.depth // self.depth * columns, 2)), name="at")
        starts = Signal(name="starts")
        m.d.comb += [
            starts.eq(~busy & rows.complete & (held | matrix.complete) & vacant),
            over.eq(busy & k.last & n.last),
            rows.take.eq(starts),
            matrix.take.eq(starts & ~held),
            rows.done.eq(over),
            matrix.done.eq(over & row.last),
            rows.read.eq(busy),
            matrix.read.eq(busy),
            rows.place.eq(k.value),
            matrix.place.eq(at),
        ]
        with m.If(starts):
            m.d.sync += [busy.eq(1), held.eq(1), at.eq(0), first.eq(1)]
        with m.If(busy):
            m.d.sync += [at.eq(Mux(k.last, n.value + 1, at + columns)), first.eq(k.last)]
        with m.If(over):
            m.d.sync += [busy.eq(0), held.eq(~row.last)]
        return busy, first, k.last, n.last & rows.ends

    def _operands(self, m: Module) -> Iterator[tuple[str, Value, IntFormat, int]]:
        """Yield the elements of both memories that were read, in the same cycle, with their format and zero point."""
        slower = max(self.matrix.latency - self.rows.latency, 0)
        for memory, tensor, late in zip((self.rows, self.matrix), self.node.inputs, (slower, 0), strict=True):
            word = Value.cast(delay(m, Value.cast(memory.element), late, name=f"{memory.kind}_late"))
            yield memory.kind, word, tensor.format, tensor.zero_point

    def _products(self, m: Module, platform: object) -> Iterator[Value]:
        """Yield the products of the elements that were read."""
        operands = list(self._operands(m))
        for index in range(self.depth):
            suffix = f"_{index}" if self.depth > 1 else ""
            pair = []
            for kind, word, form, zero_point in operands:
                element = word.word_select(index, form.bits)
                pair.append((kind + suffix, element.as_signed() if form.signed else element, zero_point))
            yield centred_product(m, pair, cells=self._cells, platform=platform, suffix=suffix)

    def _multiply(self, m: Module, platform: object, reads: Signal, first: Value, last: Value, ends: Value) -> None:
        """Add up products, and requantize sums."""
        products = list(self._products(m, platform))
        product = adder_tree(m, products, max(map(len, products)), name="product_sum")
        later = self._to_sum
        total = Signal(signed(self.sum_bits), name="total", reset_less=True)
        m.d.sync += total.eq(Mux(delay(m, first, later, name="first_product"), 0, total) + product)

        found, requantizer = self.requantization, self.requantizer
        m.d.comb += [
            requantizer.acc.eq(total),
            requantizer.multiplier.eq(found.multiplier[0]),
            requantizer.shift.eq(found.shift[0]),
            requantizer.offset.eq(found.offset[0]),
            requantizer.zero_point.eq(self.node.output.zero_point),
        ]
        result, later = reads & last, self._flight
        if "start" in requantizer.signature.members:
            result = delay(m, result, self._to_sum + 1, name="total_result", reset_less=False)
            m.d.comb += requantizer.start.eq(result)
            later = requantizer.latency
        m.d.comb += [
            self.fifo.i.valid.eq(delay(m, result, later, name="result", reset_less=False)),
            self.fifo.i.payload.data[0].eq(requantizer.y),
            self.fifo.i.payload.last.eq(delay(m, ends, self._flight, name="ends_image")),
        ]
