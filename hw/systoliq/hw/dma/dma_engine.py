"""The DMA engine: lists of jobs, operands and results in memory, over AXI4."""

from __future__ import annotations

from collections.abc import Iterable

from amaranth.hdl import Cat, Module, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..engine import ADDRESS_BITS as ENGINE_ADDRESS_BITS
from ..engine import AxiEngine, EngineConfig
from ..engine.axi_lite import axi_lite
from ..hierarchy import place
from ..skid_buffer import SkidBuffer
from .assembler import Assembler
from .axi4 import axi4_read, axi4_write
from .bus import BUS_BYTES
from .control import Control
from .gearbox import Gearbox
from .list_player import ADDRESS_BITS, ListPlayer
from .lite_switch import LiteSwitch
from .map_walk import MapWalk
from .read_master import ReadMaster
from .row_unit import RowUnit
from .runs import Walk
from .transposer import Transposer
from .vector_unit import VectorUnit
from .write_master import WriteMaster

__all__ = ["DmaEngine"]

_Units = dict[str, VectorUnit | RowUnit]


class DmaEngine(wiring.Component):
    """`AxiEngine` behind masters: ``m_axi_a`` and ``m_axi_b`` read operands, ``m_axi_y`` writes results, ``m_axi_list``
    reads commands; ``s_axi_ctrl`` has the engine's registers, and the masters' registers from `registers.BASE` on.

    Matrices lie row by row, with any stride, at any address:

    * A: the walk's rows are the rows of A, and a step is ``bus_bytes`` of K; or the rows are the windows of a map of
      pixels, and a step is ``bus_bytes`` of a pixel's channels (see `MapWalk`);
    * B: a step is a tile of columns, and a row is a row of B within the tile; or, if B has the layout of the engine's
      words (``depth`` rows of B side by side, column by column), a row is one or more consecutive words;
    * Y: the rows are the rows of Y, and a step is a tile of columns.

    A list of commands writes the settings of jobs and walks, fills tables, and waits for events: see `ListPlayer`. With
    ``config.vector``, the masters of A, B and Y also serve a `VectorUnit`, while the engine rests, and with
    ``config.row_length`` a `RowUnit`.
    """

    kind = "dma_engine"

    def __init__(self, config: EngineConfig, *, bus_bytes: int = 16) -> None:
        check(config, bus_bytes)
        self.config = config
        self.bus_bytes = bus_bytes
        self.engine = AxiEngine(config.of_streams, table_stream=True)
        super().__init__(
            axi_lite("s_axi_ctrl", ADDRESS_BITS)
            | axi4_read("m_axi_a", bus_bytes)
            | axi4_read("m_axi_b", bus_bytes)
            | axi4_write("m_axi_y", bus_bytes)
            | axi4_read("m_axi_list", bus_bytes)
            | {"irq": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        engine, bus = self.engine, self.bus_bytes
        control = Control(ADDRESS_BITS - 1, has_vector=self.config.vector, row_length=self.config.row_length)
        switch, player = LiteSwitch(ADDRESS_BITS), ListPlayer(bus)
        resting = Signal(init=1)
        clear = Signal()  # at once: a burst that is offered in the cycle after a reset would be taken back
        rests_late = Signal(init=1)  # a register near the list player: nothing begins in the cycle after a rest
        m.d.comb += clear.eq(resting | ResetSignal())
        m.d.sync += rests_late.eq(resting)
        readers = {name: ReadMaster(bus, cells=self.config.cells) for name in ("a", "b", "list")}
        writer = WriteMaster(bus, cells=self.config.cells)
        m.submodules.engine = place(engine, platform)
        m.submodules.control = place(control, platform)
        m.submodules.switch = place(switch, platform)
        m.submodules.player = place(player, platform, clear=rests_late | ResetSignal())
        for name, reader in readers.items():
            m.submodules[f"read_{name}"] = place(reader, platform, clear=clear)
            _export(m, self, f"m_axi_{name}", reader, "m", axi4_read("m", bus))
        m.submodules.write_y = place(writer, platform, clear=clear)
        _export(m, self, "m_axi_y", writer, "m", axi4_write("m", bus))
        units = self._units()
        y_walks = self._walks(m, platform, control, readers, writer, clear, units)
        busy = control.queued | y_walks | ~writer.empty
        for name, unit in units.items():
            m.submodules[name] = place(unit, platform, clear=clear)
            start = getattr(control, f"{name}_start")
            m.d.comb += unit.start.eq(start)
            if isinstance(unit, VectorUnit):
                m.d.comb += unit.command.eq(control.vector)
            else:
                names = ("softmax", "normalization", "normalizes", "last_place")
                m.d.comb += [getattr(unit, name).eq(getattr(control, name)) for name in names]
            m.d.comb += unit.y_idle.eq(~y_walks & writer.empty)
            busy = busy | start | unit.busy
        if units:
            first, *others = (unit.busy for unit in units.values())
            m.d.comb += control.vector_busy.eq(first | Cat(others).any() if others else first)
        _export(m, self, "s_axi_ctrl", switch, "m0", axi_lite("m0", ADDRESS_BITS))
        _join(m, player, "m", switch, "m1", axi_lite("m", ADDRESS_BITS))
        _join(m, switch, "s0", engine, "s_axi_ctrl", axi_lite("s0", ENGINE_ADDRESS_BITS))
        _join(m, switch, "s1", control, "s", axi_lite("s1", ADDRESS_BITS - 1))
        self._operands(m, platform, readers, clear, units)
        self._results(m, platform, writer, control.halt, clear, units)
        self._list(m, control, player, readers["list"], resting)

        aborts = Signal()  # comes from everywhere, and decides much
        stopped = Signal()  # nothing is under way
        halted = Signal(3)  # for how long nothing may begin
        m.d.comb += stopped.eq(
            Cat(reader.idle for reader in readers.values()).all() & writer.idle & player.idle & halted.all()
        )
        m.d.sync += [
            halted.eq(Cat(control.halt, halted) & control.halt.replicate(3)),
            resting.eq(control.halt & (resting | stopped)),
            aborts.eq(Cat(reader.failed for reader in readers.values()).any() | writer.failed),
        ]
        m.d.comb += [reader.halt.eq(control.halt) for reader in readers.values()]
        m.d.comb += [
            writer.halt.eq(control.halt),
            player.abort.eq(aborts),
            control.a_failed.eq(readers["a"].failed),
            control.b_failed.eq(readers["b"].failed),
            control.y_failed.eq(writer.failed),
            control.list_failed.eq(readers["list"].failed),
            control.y_busy.eq(busy),
            control.resting.eq(resting & control.halt),
            control.forget.eq(resting),
            self.irq.eq(engine.irq | control.irq),
        ]
        return m

    def _units(self) -> _Units:
        """The units that the masters serve while the array rests, by name."""
        config, units = self.config, _Units()
        if config.vector:
            units["vector"] = VectorUnit(self.bus_bytes, cells=config.cells)
        if config.row_length:
            units["rows"] = RowUnit(self.bus_bytes, length=config.row_length, cells=config.cells)
        return units

    def _walks(
        self,
        m: Module,
        platform: object,
        control: Control,
        readers: dict[str, ReadMaster],
        writer: WriteMaster,
        clear: Value,
        units: _Units,
    ) -> Value:
        """Walks that make runs for the masters, and the busy signal of Y's walk.

        Each run of the vector unit's A, B and Y begins with a new word.
        """
        rows = self.config.rows
        of_a = MapWalk(group=rows, kind="walk_a")
        of_b, of_y = Walk(group=None, kind="walk_b"), Walk(group=rows, kind="walk_y")
        m.d.comb += [of_a.map.eq(control.map), of_a.maps.eq(control.maps)]
        for name, walk, runs in (("a", of_a, readers["a"].i), ("b", of_b, readers["b"].i), ("y", of_y, writer.i)):
            m.submodules[f"walk_{name}"] = place(walk, platform, clear=clear)
            m.d.comb += [
                walk.settings.eq(getattr(control, name)),
                walk.start.eq(getattr(control, f"{name}_start")),
                getattr(control, f"{name}_walks").eq(walk.busy),
            ]
            wiring.connect(m, walk.o, runs)
        for unit in units.values():
            with m.If(unit.busy):
                m.d.comb += writer.i.payload.mark.last.eq(1)
        return of_y.busy

    def _operands(
        self, m: Module, platform: object, readers: dict[str, ReadMaster], clear: Value, units: _Units
    ) -> None:
        """A through the transposer, B as it is, but for the order of its columns; or both to the vector unit."""
        config, engine = self.config, self.engine
        transposer = Transposer(config.rows, self.bus_bytes, depth=config.depth, cells=config.cells)
        columns = SkidBuffer(transposer.o.payload.shape(), kind="column_buffer")
        assembler = Assembler(self.bus_bytes, config.cols * config.depth)
        m.submodules.a_columns = place(columns, platform, clear=clear)
        wiring.connect(m, transposer.o, columns.i)
        for name, block, end in (("a", transposer, columns), ("b", assembler, assembler)):
            m.submodules[f"{name}_words"] = place(block, platform, clear=clear)
            wiring.connect(m, readers[name].o, block.i)
            for unit in units.values():
                with m.If(unit.busy):
                    m.d.comb += [block.i.valid.eq(0), readers[name].o.ready.eq(getattr(unit, name).ready)]
                m.d.comb += [
                    getattr(unit, name).payload.eq(readers[name].o.payload),
                    getattr(unit, name).valid.eq(readers[name].o.valid & unit.busy),
                ]
            m.d.comb += [
                getattr(engine, f"s_axis_{name}_tvalid").eq(end.o.valid),
                getattr(engine, f"s_axis_{name}_tlast").eq(end.o.payload.last),
                end.o.ready.eq(getattr(engine, f"s_axis_{name}_tready")),
            ]
        bits, interval, lanes = 8 * config.depth, config.interval, config.lanes
        order = [(p % interval) * lanes + p // interval for p in range(config.cols)]
        word = assembler.o.payload.data
        m.d.comb += [
            engine.s_axis_a_tdata.eq(columns.o.payload.data),
            engine.s_axis_b_tdata.eq(Cat(word[bits * column :][:bits] for column in order)),
        ]

    def _results(
        self, m: Module, platform: object, writer: WriteMaster, halt: Value, clear: Value, units: _Units
    ) -> None:
        """Y as it leaves the engine, dropped while it is cleared; or as it leaves the vector unit."""
        engine = self.engine
        gearbox = Gearbox(4 * self.config.lanes, self.bus_bytes)
        drops = Signal()
        m.d.sync += drops.eq(halt)
        m.submodules.y_gearbox = place(gearbox, platform, clear=clear | drops)  # always ready while it is cleared
        wiring.connect(m, gearbox.o, writer.words)
        gives = Signal()  # to the units, and a cycle longer: a register near the gearbox
        for unit in units.values():
            m.d.comb += unit.y.ready.eq(writer.words.ready & unit.busy)
            with m.If(unit.busy):
                m.d.comb += [writer.words.valid.eq(unit.y.valid), writer.words.payload.eq(unit.y.payload)]
        if units:
            m.d.sync += gives.eq(Cat(unit.start | unit.busy for unit in units.values()).any())
            with m.If(gives):
                m.d.comb += gearbox.o.ready.eq(0)
        m.d.comb += [
            gearbox.i.valid.eq(engine.m_axis_y_tvalid),
            gearbox.i.payload.data.eq(engine.m_axis_y_tdata),
            gearbox.i.payload.keep.eq(engine.m_axis_y_tkeep),
            gearbox.i.payload.last.eq(engine.m_axis_y_tlast),
            engine.m_axis_y_tready.eq(gearbox.i.ready),
        ]

    def _list(self, m: Module, control: Control, player: ListPlayer, reader: ReadMaster, resting: Value) -> None:
        """A list is one run."""
        asks = Signal()
        wiring.connect(m, reader.o, player.i)
        wiring.connect(m, player.table, self.engine.table)
        with m.If(control.play & ~player.busy & ~control.halt):
            m.d.sync += asks.eq(1)
        with m.Elif(reader.i.ready | resting):
            m.d.sync += asks.eq(0)
        m.d.comb += [
            reader.i.valid.eq(asks),
            reader.i.payload.address.eq(control.list_address),
            reader.i.payload.extent.eq(control.list_extent),
            player.start.eq(control.play),
            player.halt.eq(control.halt),
            player.refused.eq(self.engine.table_refused),
            control.playing.eq(player.busy),
            control.list_error.eq(player.error),
            control.words.eq(player.words),
        ]


def check(config: EngineConfig, bus_bytes: int) -> None:
    """Raise ValueError if masters of this width cannot feed the engine."""
    if bus_bytes not in BUS_BYTES:
        raise ValueError(f"bus_bytes must be one of {', '.join(map(str, BUS_BYTES))}, not {bus_bytes!r}")
    if config.dataflow != "output-stationary":
        raise ValueError(f"dataflow must be output-stationary for a DMA engine, not {config.dataflow!r}")
    if config.lanes & (config.lanes - 1):
        raise ValueError(
            f"lanes must be a power of two for a DMA engine, not {config.lanes!r}: state lanes that divide the "
            f"{config.cols} columns"
        )
    if bus_bytes % config.depth:
        raise ValueError(f"depth must divide the bus's {bus_bytes} bytes, not be {config.depth!r}")


def _export(
    m: Module, outer: wiring.Component, prefix: str, inner: wiring.Component, inner_prefix: str, members: Iterable[str]
) -> None:
    """Connect a port of ``outer`` to a port of ``inner`` with these ``members``."""
    for name in members:
        channel = name.removeprefix(inner_prefix)
        port, own = getattr(outer, prefix + channel), getattr(inner, name)
        flows_in = inner.signature.members[name].flow == In
        m.d.comb += own.eq(port) if flows_in else port.eq(own)


def _join(
    m: Module, master: wiring.Component, prefix: str, slave: wiring.Component, slave_prefix: str, members: Iterable[str]
) -> None:
    """Connect a master's port to a slave's; ``members`` are the names with the master's prefix."""
    for name in members:
        other = slave_prefix + name.removeprefix(prefix)
        one, two = getattr(master, name), getattr(slave, other)
        flows_out = master.signature.members[name].flow == Out
        m.d.comb += two.eq(one) if flows_out else one.eq(two)
