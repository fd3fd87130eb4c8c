"""The engine at the edge: AXI4-Lite for control and tables, AXI4-Stream for A, B and Y, an interrupt."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..axi import accept, axi_stream
from ..hierarchy import place
from .axi_lite import AxiLite, axi_lite
from .config import EngineConfig
from .core import EngineCore
from .registers import COLUMN_TABLE, REGISTERS, ROW_TABLE, VERSION, Register

__all__ = ["ADDRESS_BITS", "AxiEngine", "lane_slots"]

ADDRESS_BITS = 21


def lane_slots(config: EngineConfig) -> int:
    """Lanes rounded up to a power of two: entries of the column table from one step of a lane to its next."""
    return 1 << (config.lanes - 1).bit_length()


class AxiEngine(wiring.Component):
    """`EngineCore` with ``s_axi_ctrl_*``, ``s_axis_a_*``, ``s_axis_b_*``, ``m_axis_y_*`` and ``irq``.

    The registers are those of `registers.REGISTERS`. ``m_axis_y_tdata`` holds ``lanes`` bytes in its low bits where Y
    has 8 bits and ``lanes`` 32-bit words where it is int32; ``m_axis_y_tkeep`` marks the bytes that count, which are
    always the lowest.
    """

    kind = "axi_engine"

    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        self.core = EngineCore(config)
        self.settings = {  # field name -> register of the job's settings
            (register.name, field.name): Signal(
                Shape(field.bits, field.signed), name=f"{register.name}_{field.name}".lower()
            )
            for register in REGISTERS
            if register.access == "rw"
            for field in register.fields
        }
        super().__init__(
            axi_lite("s_axi_ctrl", ADDRESS_BITS)
            | axi_stream("s_axis_a", config.rows * config.depth * 8, In)
            | axi_stream("s_axis_b", config.cols * config.depth * 8, In)
            | axi_stream("m_axis_y", config.lanes * 32, Out)
            | {"m_axis_y_tkeep": Out(config.lanes * 4), "irq": Out(1)}
        )

    def constants(self) -> dict[tuple[str, str], int]:
        """(register, field) -> value of what never changes: identification and parameters."""
        config = self.config
        return {
            ("ID", "id"): 0x5351,
            ("VERSION", "major"): VERSION[0],
            ("VERSION", "minor"): VERSION[1],
            ("ARRAY", "rows"): config.rows,
            ("ARRAY", "cols"): config.cols,
            ("ARRAY", "depth"): config.depth,
            ("ARRAY", "weight_stationary"): int(config.dataflow == "weight-stationary"),
            ("LANES", "lanes"): config.lanes,
            ("BUFFERS", "a_words_log2"): config.a_words.bit_length() - 1,
            ("BUFFERS", "b_words_log2"): config.b_words.bit_length() - 1,
            ("BUFFERS", "max_columns_log2"): config.max_columns.bit_length() - 1,
            ("BUFFERS", "max_rows_log2"): config.max_rows.bit_length() - 1,
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        core = self.core
        clear = Signal()
        m.submodules.core = place(core, platform, clear=clear)
        bus = AxiLite(ADDRESS_BITS)
        m.submodules.bus = place(bus, platform)
        for name in axi_lite("s", ADDRESS_BITS):
            port, inner = getattr(self, name.replace("s_", "s_axi_ctrl_", 1)), getattr(bus, name)
            flows_in = bus.signature.members[name].flow == wiring.In
            m.d.comb += inner.eq(port) if flows_in else port.eq(inner)

        job = core.job
        settings = self.settings
        m.d.comb += [
            job.m.eq(settings["M", "m"]),
            job.k.eq(settings["K", "k"]),
            job.n.eq(settings["N", "n"]),
            job.a_zero_point.eq(settings["ZERO_POINTS", "a"]),
            job.y_zero_point.eq(settings["ZERO_POINTS", "y"]),
        ]
        for name in ("a_unsigned", "b_unsigned", "y_unsigned", "y_int32", "row_zero_points"):
            m.d.comb += getattr(job, name).eq(settings["FORMAT", name])
        readable: dict[tuple[str, str], Value] = {key: Const(value) for key, value in self.constants().items()}
        readable |= settings
        readable |= self._status(m, bus, clear)
        self._registers(m, bus, readable)
        self._tables(m, bus)
        self._streams(m)
        return m

    def _status(self, m: Module, bus: AxiLite, clear: Signal) -> dict[tuple[str, str], Value]:
        """Commands, and what tells of their course."""
        core = self.core
        control = next(register for register in REGISTERS if register.name == "CONTROL")
        commanded = Signal()
        m.d.comb += commanded.eq(bus.write & (bus.write_address == control.offset))

        def command(name: str) -> Value:
            return commanded & bus.write_data[control.field(name).lsb]

        done = Signal()
        error = Signal(8)
        m.d.comb += [core.start.eq(command("start")), clear.eq(command("clear"))]
        with m.If(core.done):
            m.d.sync += done.eq(1)
        with m.Elif(command("acknowledge") | command("start")):
            m.d.sync += done.eq(0)
        with m.If(error == 0):
            m.d.sync += error.eq(core.error)
        with m.If(command("acknowledge") & ~core.failed):
            m.d.sync += error.eq(0)
        with m.If(clear):
            m.d.sync += [done.eq(0), error.eq(0)]

        begun = Signal()
        cycles = Signal(32)
        input_stalls = Signal(32)
        output_stalls = Signal(32)
        counting = Signal()
        over = Signal()
        with m.If(core.y.valid & core.y.ready & core.y.payload.flags.last):
            m.d.sync += over.eq(1)
        with m.If(core.done | clear):
            m.d.sync += over.eq(0)
        m.d.comb += counting.eq(
            core.busy & ~over & (begun | (core.a.valid & core.a.ready) | (core.b.valid & core.b.ready))
        )
        m.d.sync += [
            begun.eq(counting),
            cycles.eq(cycles + counting),
            input_stalls.eq(input_stalls + (counting & core.input_stall)),
            output_stalls.eq(output_stalls + (core.y.valid & ~core.y.ready)),
        ]
        with m.If(core.start & ~core.busy):
            m.d.sync += [cycles.eq(0), input_stalls.eq(0), output_stalls.eq(0)]
        m.d.comb += self.irq.eq(
            (self.settings["INTERRUPT", "on_done"] & done) | (self.settings["INTERRUPT", "on_error"] & (error != 0))
        )
        return {
            ("STATUS", "busy"): core.busy,
            ("STATUS", "done"): done,
            ("STATUS", "error"): error,
            ("BUSY_CYCLES", "cycles"): cycles,
            ("INPUT_STALLS", "cycles"): input_stalls,
            ("OUTPUT_STALLS", "cycles"): output_stalls,
        }

    def _registers(self, m: Module, bus: AxiLite, readable: dict[tuple[str, str], Value]) -> None:
        """Reads of all registers, writes of those that keep what is written (held while a job runs)."""
        in_table = Signal()
        m.d.comb += in_table.eq(bus.write_address >= ROW_TABLE.base)
        m.d.comb += bus.write_known.eq(in_table)
        with m.Switch(bus.write_address):
            for register in REGISTERS:
                with m.Case(register.offset):
                    m.d.comb += bus.write_known.eq(1)
                    with m.If(bus.write & (~self.core.busy | (register.name == "INTERRUPT"))):
                        for field in register.fields if register.access == "rw" else ():
                            kept = self.settings[register.name, field.name]
                            m.d.sync += kept.eq(bus.write_data[field.lsb : field.lsb + field.bits])
        with m.Switch(bus.read_address):
            for register in REGISTERS:
                with m.Case(register.offset):
                    m.d.comb += [bus.read_known.eq(1), bus.read_data.eq(_word(register, readable))]

    def _tables(self, m: Module, bus: AxiLite) -> None:
        """Writes into the row table and, entry by entry, into the lanes' column tables."""
        core = self.core
        in_columns = Signal()
        in_rows = Signal()
        address = bus.write_address
        m.d.comb += [
            in_columns.eq(bus.write & (address >= COLUMN_TABLE.base)),
            in_rows.eq(bus.write & (address >= ROW_TABLE.base) & (address < COLUMN_TABLE.base)),
            core.row_write.eq(in_rows),
            core.row_address.eq(((address - ROW_TABLE.base) >> 2)[: len(core.row_address)]),
            core.row_value.eq(bus.write_data[:8]),
        ]
        names = {register.offset: register.name.lower() for register in COLUMN_TABLE.words}
        word = address[:4]
        waiting = Signal(core.column_value.shape())
        lane_bits = (lane_slots(self.config) - 1).bit_length()
        lane = address[4 : 4 + lane_bits]
        m.d.comb += [
            core.column_value.eq(waiting),
            core.column_value.zero_point.eq(bus.write_data[:8]),
            core.column_address.eq((address[: len(address) - 1] >> (4 + lane_bits))[: len(core.column_address)]),
        ]
        for index in range(self.config.lanes):
            here = lane == index if lane_bits else 1
            m.d.comb += core.column_write[index].eq(in_columns & (word == 0xC) & here)
        with m.If(in_columns):
            for offset, name in names.items():
                if name != "zero_point":
                    with m.If(word == offset):
                        m.d.sync += getattr(waiting, name).eq(bus.write_data[: Value.cast(waiting[name]).shape().width])

    def _streams(self, m: Module) -> None:
        core, lanes = self.core, self.config.lanes
        for name in ("a", "b"):
            accept(m, self, f"s_axis_{name}", getattr(core, name))
        y = core.y.payload
        bytes_each = Mux(core.job.y_int32, 4, 1)
        m.d.comb += [
            self.m_axis_y_tdata.eq(
                Mux(core.job.y_int32, Value.cast(y.data), Cat(y.data[lane][:8] for lane in range(lanes)))
            ),
            self.m_axis_y_tkeep.eq((Const(1) << (y.flags.columns * bytes_each)[: (4 * lanes).bit_length()]) - 1),
            self.m_axis_y_tvalid.eq(core.y.valid),
            self.m_axis_y_tlast.eq(y.flags.last),
            core.y.ready.eq(self.m_axis_y_tready),
        ]


def _word(register: Register, readable: dict[tuple[str, str], Value]) -> Value:
    """The register's 32 bits, fields that cannot be read as zeros."""
    word: Value = Const(0, 32)
    for field in register.fields:
        if (register.name, field.name) in readable:
            word = word | (readable[register.name, field.name].as_unsigned()[: field.bits] << field.lsb)
    return word
