"""The control of the masters: their registers on AXI4-Lite."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..engine.axi_lite import AxiLite, axi_lite
from ..engine.registers import Register
from ..hierarchy import place
from .map_walk import COUNTS, MapSettings
from .normalized_rows import NormalizationCommand
from .registers import (
    DMA_REGISTERS,
    LIST_ENDS,
    MAP_REGISTERS,
    OPERANDS,
    ROW_REGISTERS,
    SOFTMAX_REGISTER,
    VECTOR_REGISTERS,
    WALK_REGISTERS,
    WALK_WORDS,
    dma_registers,
)
from .row_unit import RECORD_BYTES, SOFTMAX_TABLE_BYTES
from .runs import EXTENT_BITS, WalkSettings
from .softmax_rows import SoftmaxCommand
from .vector_unit import TABLE_BYTES, VectorCommand

__all__ = ["Control"]

_USED = (DMA_REGISTERS[-1].offset).bit_length()  # bits of an address that name a register
_OF_STATUS = next(register for register in DMA_REGISTERS if register.name == "DMA_STATUS")
_KEPT = (*(register for register in DMA_REGISTERS if register.access == "rw"), *WALK_REGISTERS, *MAP_REGISTERS)
_ONE_STEP = {"rows": 1, "steps": 1, "last_extent": TABLE_BYTES - 1}  # the walk over a table
_OWN = ("done", "a_queued", "b_queued", "y_queued")  # fields of the status that are made here


class Control(wiring.Component):
    """`DMA_REGISTERS` behind an AXI4-Lite slave whose addresses begin with the first of them.

    ``a``, ``b`` and ``y`` are settings of walks. ``a_start``... start a queued walk if ``a_walks``... is 0; its
    settings must stay unchanged meanwhile, and so must ``map``, the map that A's walk covers if ``maps`` is 1. ``play``
    is 1 for a cycle. A write of 0 to one of `COUNTS`, or of an invalid address or extent of a list, is answered with an
    error and has no effect. ``status`` has an input for each field of DMA_STATUS but those made here. A list is done a
    cycle after ``playing`` ended without an error.

    With ``has_vector``, `VECTOR_REGISTERS` are there, too. ``vector_start`` is 1 for a cycle and starts the walks of
    the command ``vector``, with the rows and the last extent of A; until ``vector_busy`` has been 1 and is 0 again,
    other commands and walks are refused. With ``row_length``, `ROW_REGISTERS` are there as well: ``rows_start`` starts
    the walks of a command for rows of at most this length, and ``last_place`` is the place of a row's last byte.
    """

    def __init__(self, address_bits: int, *, has_vector: bool = False, row_length: int = 0) -> None:
        self.address_bits = address_bits
        self.has_vector = has_vector
        self.row_length = row_length
        self.kind = (
            f"row_dma_control_{row_length}" if row_length else "vector_dma_control" if has_vector else "dma_control"
        )
        self._registers = dma_registers(vector=has_vector, rows=bool(row_length))
        self._starting = (*(VECTOR_REGISTERS if has_vector else ()), *(ROW_REGISTERS if row_length else ()))
        self._kept = (*_KEPT, *self._starting)
        vector = {"vector_start": Out(1), "vector": Out(VectorCommand), "vector_busy": In(1)} if has_vector else {}
        if row_length:
            vector |= {"rows_start": Out(1), "softmax": Out(SoftmaxCommand), "last_place": Out(range(row_length))}
            vector |= {"normalization": Out(NormalizationCommand), "normalizes": Out(1)}
        status = {field.name: In(field.bits) for field in _OF_STATUS.fields if field.name not in _OWN}
        walks = {name: Out(WalkSettings) for name in OPERANDS}
        starts = {f"{name}_start": Out(1) for name in OPERANDS} | {f"{name}_walks": In(1) for name in OPERANDS}
        super().__init__(
            axi_lite("s", address_bits)
            | status
            | walks
            | starts
            | {"play": Out(1), "list_address": Out(32), "list_extent": Out(EXTENT_BITS), "halt": Out(1), "irq": Out(1)}
            | {"map": Out(MapSettings), "maps": Out(1), "forget": In(1), "queued": Out(1)}
            | vector
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus = AxiLite(self.address_bits)
        m.submodules.bus = place(bus, platform)
        for name in axi_lite("s", self.address_bits):
            port, inner = getattr(self, name), getattr(bus, name)
            flows_in = bus.signature.members[name].flow == wiring.In
            m.d.comb += inner.eq(port) if flows_in else port.eq(inner)
        kept = {register.name: _storage(register) for register in self._kept}
        occupied = Signal() if self.has_vector else None  # a walk is queued or under way
        written = self._writes(m, bus, kept, occupied)
        for name in OPERANDS:
            settings = getattr(self, name)
            for word, field, _, _ in WALK_WORDS:
                m.d.comb += getattr(settings, field).eq(kept[f"{name.upper()}_{word}"][field])
        for register in MAP_REGISTERS:
            m.d.comb += [getattr(self.map, name).eq(kept[register.name][name]) for name in kept[register.name]]
        m.d.comb += [
            self.list_address.eq(kept["LIST_ADDRESS"]["address"]),
            self.list_extent.eq(kept["LIST_EXTENT"]["extent"]),
            self.halt.eq(kept["HALT"]["halt"]),
            self.play.eq(written["LIST_CONTROL"] & bus.write_data[0]),
        ]
        own = self._state(m, bus, written)
        if occupied is not None:
            self._vector(m, bus, kept, written, own, occupied)
        if self.row_length:
            self._rows(m, kept, written)
        failed = self.list_error.any() | self.a_failed | self.b_failed | self.y_failed | self.list_failed
        on = kept["DMA_INTERRUPT"]
        m.d.sync += self.irq.eq((own["done"] & on["on_done"]) | (failed & on["on_error"]))
        self._reads(m, bus, kept, own)
        return m

    def _vector(
        self,
        m: Module,
        bus: AxiLite,
        kept: dict[str, dict[str, Signal]],
        written: dict[str, Signal],
        own: dict[str, Value],
        occupied: Signal,
    ) -> None:
        """A command of the vector unit starts all its walks at once, with one shape."""
        start, command = Signal(name="starts_vector"), kept["VECTOR"]
        start_b, start_y = Signal(name="starts_vector_b"), Signal(name="starts_vector_y")  # registers near their walks
        (register,) = VECTOR_REGISTERS
        bit = {field.name: bus.write_data[field.lsb] for field in register.fields}
        m.d.comb += [self.vector_start.eq(start), *(getattr(self.vector, name).eq(command[name]) for name in command)]
        m.d.sync += [
            start.eq(written["VECTOR"]),
            start_b.eq(written["VECTOR"] & bit["pair"]),
            start_y.eq(written["VECTOR"] & ~bit["load"]),
            occupied.eq(self.y_busy | self.a_walks | self.b_walks | own["a_queued"] | own["b_queued"]),
        ]
        with m.If(written["VECTOR"]):
            m.d.sync += self.maps.eq(0)
        shape = {"rows": kept["A_ROWS"]["rows"], "steps": 1, "last_extent": kept["A_LAST_EXTENT"]["last_extent"]}
        with m.If(start):
            for name in OPERANDS:
                settings = getattr(self, name)
                m.d.comb += [
                    getattr(settings, field).eq(Mux(self.vector.load, of_table, shape[field]))
                    for field, of_table in _ONE_STEP.items()
                ]
            m.d.comb += self.a_start.eq(1)
        with m.If(start_b):
            m.d.comb += self.b_start.eq(1)
        with m.If(start_y):
            m.d.comb += self.y_start.eq(1)

    def _rows(self, m: Module, kept: dict[str, dict[str, Signal]], written: dict[str, Signal]) -> None:
        """A command for rows starts its walks at once; B's walk is as long as the command's records."""
        start, loads, ends = Signal(name="starts_rows"), Signal(name="loads_rows"), RECORD_BYTES - 1
        extent = kept["A_LAST_EXTENT"]["last_extent"]
        for register in ROW_REGISTERS:
            of = self.softmax if register is SOFTMAX_REGISTER else self.normalization
            m.d.comb += [getattr(of, name).eq(signal) for name, signal in kept[register.name].items()]
        m.d.comb += [
            self.rows_start.eq(start),
            self.last_place.eq(extent),
            loads.eq(self.softmax.load & ~self.normalizes),
        ]
        begins = written["SOFTMAX"] | written["NORMALIZATION"]
        m.d.sync += start.eq(begins)
        with m.If(begins):
            m.d.sync += [self.maps.eq(0), self.normalizes.eq(written["NORMALIZATION"])]
        with m.If(start):
            for name in OPERANDS:
                settings = getattr(self, name)
                m.d.comb += [settings.rows.eq(kept["A_ROWS"]["rows"]), settings.steps.eq(1)]
                m.d.comb += settings.last_extent.eq(extent)
            m.d.comb += [
                self.b.row_stride.eq(0),  # each row has the same records
                self.b.rows.eq(Mux(loads, 1, kept["A_ROWS"]["rows"])),
                self.b.last_extent.eq(Mux(loads, SOFTMAX_TABLE_BYTES - 1, Cat(Const(ends, ends.bit_length()), extent))),
                self.a_start.eq(~loads),
                self.b_start.eq(loads | self.normalizes),
                self.y_start.eq(~loads),
            ]

    def _writes(
        self, m: Module, bus: AxiLite, kept: dict[str, dict[str, Signal]], occupied: Signal | None
    ) -> dict[str, Signal]:
        """Register -> whether it is written: the cycle after the bus decided it."""
        registers = self._registers
        here = {register.name: Signal(name=f"at_{register.name}".lower()) for register in registers}
        known = Signal()
        m.d.sync += known.eq(_is_one_of(bus.write_address, [register.offset for register in registers]))
        refused = self._refused(m, bus.write_data, here)
        if occupied is not None:
            refused = refused | (here["VECTOR"] & occupied) | (here["QUEUE"] & self.vector_busy)
        if self.row_length:
            long = Signal(name="rows_too_long")  # the extent of A is kept since long
            m.d.sync += long.eq(kept["A_LAST_EXTENT"]["last_extent"] >= self.row_length)
            refused = refused | (here["SOFTMAX"] & (occupied | (long & ~bus.write_data[0])))
            refused = refused | (here["NORMALIZATION"] & (occupied | long))
        m.d.comb += bus.write_known.eq(known & ~refused)
        written = {}
        for register in registers:
            strobe = written[register.name] = Signal(name=f"write_{register.name}".lower())
            m.d.sync += here[register.name].eq(bus.write_address[:_USED] == register.offset)
            m.d.sync += strobe.eq(bus.write & here[register.name])
            if register in self._kept:
                with m.If(strobe):
                    for field in register.fields:
                        m.d.sync += kept[register.name][field.name].eq(bus.write_data[field.lsb :][: field.bits])
        return written

    def _refused(self, m: Module, word: Value, here: dict[str, Signal]) -> Value:
        """True if the register ``here`` refuses ``word``, which is stable since the cycle before."""
        none: dict[tuple[int, int], Signal] = {}  # bits from a first one up: whether all are 0
        refused = []
        for register in _KEPT:
            for field in register.fields:
                if field.name in COUNTS:
                    at = (field.lsb, field.bits)
                    fault = none.setdefault(at, Signal(name=f"none_in_{field.lsb + field.bits - 1}_{field.lsb}"))
                    refused.append(here[register.name] & fault)
        for (lsb, bits), fault in none.items():
            m.d.sync += fault.eq(~word[lsb:][:bits].any())
        for name, ends in LIST_ENDS.items():
            fault = Signal(name=f"not_{name}".lower())
            m.d.sync += fault.eq(word[:2] != ends)
            refused.append(here[name] & fault)
        return Cat(refused).any()

    def _state(self, m: Module, bus: AxiLite, written: dict[str, Signal]) -> dict[str, Value]:
        """Fields of the status that are made here, and the starts of walks."""
        own: dict[str, Value] = {}
        for index, name in enumerate(OPERANDS):
            queued = own[f"{name}_queued"] = Signal(name=f"{name}_queued")
            start = getattr(self, f"{name}_start")
            m.d.comb += start.eq(queued & ~getattr(self, f"{name}_walks"))
            with m.If(start):
                m.d.sync += queued.eq(0)
            with m.If(written["QUEUE"] & bus.write_data[index]):
                m.d.sync += queued.eq(1)
            with m.If(self.forget):
                m.d.sync += queued.eq(0)
        with m.If(written["QUEUE"] & bus.write_data[OPERANDS.index("a")]):
            m.d.sync += self.maps.eq(bus.write_data[len(OPERANDS)])
        done = Signal()
        was_playing = Signal()
        m.d.comb += self.queued.eq(own["y_queued"])
        m.d.sync += was_playing.eq(self.playing)
        with m.If(was_playing & ~self.playing & ~self.list_error.any()):
            m.d.sync += done.eq(1)
        with m.If(written["LIST_CONTROL"] | self.forget):
            m.d.sync += done.eq(0)
        return own | {"done": done}

    def _reads(self, m: Module, bus: AxiLite, kept: dict[str, dict[str, Signal]], own: dict[str, Value]) -> None:
        known = Signal()
        word = Signal(32, reset_less=True)
        status = {
            field.name: own[field.name] if field.name in own else getattr(self, field.name)
            for field in _OF_STATUS.fields
        }
        with m.Switch(bus.read_address[:_USED]):
            for register in self._registers:
                if register.access == "wo":
                    continue
                values = status if register is _OF_STATUS else kept[register.name]
                with m.Case(register.offset):
                    m.d.sync += word.eq(_packed(register, values))
            with m.Default():
                m.d.sync += word.eq(0)
        m.d.sync += known.eq(_is_one_of(bus.read_address, [register.offset for register in self._registers]))
        m.d.comb += [bus.read_known.eq(known), bus.read_data.eq(word & known.replicate(32))]


def _is_one_of(address: Value, offsets: list[int]) -> Value:
    """True if ``address`` is one of ``offsets``."""
    return ~address[_USED:].any() & Cat(address[:_USED] == offset for offset in offsets).any()


def _storage(register: Register) -> dict[str, Signal]:
    """A signal for each field; a count is 1 until it is written."""
    return {
        field.name: Signal(field.bits, name=f"{register.name}_{field.name}".lower(), init=field.name in COUNTS)
        for field in register.fields
    }


def _packed(register: Register, values: Mapping[str, Value]) -> Value:
    """The register's 32 bits."""
    word: Value = Const(0, 32)
    for field in register.fields:
        word = word | (values[field.name] << field.lsb)
    return word
