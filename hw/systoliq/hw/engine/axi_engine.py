"""The engine at the edge: AXI4-Lite for control and tables, AXI4-Stream for A, B and Y, an interrupt."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Array, Cat, Const, Module, Mux, ResetSignal, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..axi import accept, axi_stream
from ..float8_requantizer import exponent_offset
from ..hierarchy import place
from .axi_lite import AxiLite, axi_lite
from .config import EngineConfig, JobShape
from .core import EngineCore
from .counters import Counters
from .float8_registers import FORMAT_NUMBERS, map_of
from .intake import BEGIN_LATENCY
from .registers import COLUMN_TABLE, REGISTERS, ROW_TABLE, Register
from .status import Status
from .table_word import ADDRESS_BITS, TableWord
from .y_packer import YPacker

__all__ = ["ADDRESS_BITS", "AxiEngine", "lane_slots"]

_COLUMNS_BIT, _ROWS_BIT = (table.base.bit_length() - 1 for table in (COLUMN_TABLE, ROW_TABLE))  # of an address
_REGISTER_BITS = (4 * len(REGISTERS) - 1).bit_length()  # of an address that name a register
_JOB_S = ("M", "K", "N", "FORMAT", "ZERO_POINTS")  # registers that a queued job keeps


def lane_slots(config: EngineConfig) -> int:
    """Lanes rounded up to a power of two: entries of the column table from one step of a lane to its next."""
    return 1 << (config.lanes - 1).bit_length()


class AxiEngine(wiring.Component):
    """`EngineCore` with ``s_axi_ctrl_*``, ``s_axis_a_*``, ``s_axis_b_*``, ``m_axis_y_*`` and ``irq``.

    ``map`` has its registers: `registers.REGISTERS` or, of float8, `float8_registers.FLOAT8_MAP`. ``m_axis_y_tdata``
    holds ``lanes`` * 4 bytes of Y without gaps: every beat is full but a job's last, in which ``m_axis_y_tkeep`` marks
    the bytes that count, always the lowest.

    After an error CONTROL.clear empties the engine. A beat of Y that is offered stays until it is taken, and a frame of
    Y that has begun gets one more beat with ``tlast``: to recover, write clear, keep the receiver of Y running until
    STATUS.busy is 0, then stop the transfers. ``rst`` drops everything at once.

    With ``table_stream``, ``table`` takes words for the tables, one a cycle, and ``table_refused`` is 1 in the cycle
    after one whose address is in no table. AXI4-Lite has priority.
    """

    kind = "axi_engine"

    def __init__(self, config: EngineConfig, *, table_stream: bool = False) -> None:
        self.config = config
        self.table_stream = table_stream
        self.map = map_of(config)
        self.core = EngineCore(config)
        self.packer = YPacker(config.lanes)
        self.status = Status()
        self.settings = {  # field name -> register of the job's settings
            (register.name, field.name): Signal(
                Shape(field.bits, field.signed), name=f"{register.name}_{field.name}".lower()
            )
            for register in self.map.registers
            if register.access == "rw"
            for field in register.fields
        }
        super().__init__(
            axi_lite("s_axi_ctrl", ADDRESS_BITS)
            | axi_stream("s_axis_a", config.rows * config.depth * 8, In)
            | axi_stream("s_axis_b", config.cols * config.depth * 8, In)
            | axi_stream("m_axis_y", config.lanes * 32, Out)
            | {"m_axis_y_tkeep": Out(config.lanes * 4), "irq": Out(1)}
            | ({"table": In(stream.Signature(TableWord)), "table_refused": Out(1)} if table_stream else {})
        )

    def constants(self) -> dict[tuple[str, str], int]:
        """(register, field) -> value of what never changes: identification and parameters."""
        config, (major, minor) = self.config, self.map.version
        constants = {
            ("ID", "id"): self.map.identification,
            ("VERSION", "major"): major,
            ("VERSION", "minor"): minor,
            ("ARRAY", "rows"): config.rows,
            ("ARRAY", "cols"): config.cols,
            ("ARRAY", "depth"): config.depth,
            ("ARRAY", "weight_stationary"): int(config.dataflow == "weight-stationary"),
            ("LANES", "lanes"): config.lanes,
            ("BUFFERS", "a_words_log2"): config.a_words.bit_length() - 1,
            ("BUFFERS", "b_words_log2"): config.b_words.bit_length() - 1,
            ("BUFFERS", "max_columns_log2"): config.max_columns.bit_length() - 1,
        }
        if config.float8 is None:
            return constants | {("BUFFERS", "max_rows_log2"): config.max_rows.bit_length() - 1}
        constants |= {("FORMATS", name): FORMAT_NUMBERS[form] for name, form in zip("aby", config.float8, strict=True)}
        offset = exponent_offset(config.array, config.float8[2])
        return constants | {("EXPONENT_OFFSET", "offset"): offset & 0xFFFFFFFF}

    def cycles(self, shape: JobShape) -> int:
        """Cycle model: BUSY_CYCLES of an unstalled job, from the first word of A or B taken to the last beat of Y."""
        last_columns = (shape.n - 1) % self.config.lanes + 1
        packing = self.packer.latency + self.packer.extra(shape.m * shape.n, last_columns)
        return self.core.cycles(shape) + packing

    def queue_cycles(self, shapes: Sequence[JobShape]) -> int:
        """Cycle model: BUSY_CYCLES of jobs; each is queued, and its words wait, well before the one before it ends."""
        *others, last = shapes
        return sum(map(self.turn, others)) + self.cycles(last)

    def turn(self, shape: JobShape) -> int:
        """Cycle model: cycles from the first tile of a job of ``shape`` to that of the next, if queued in time."""
        return self.core.free_after(shape) + Status.handover + BEGIN_LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        core, settings = self.core, self.settings
        bus = AxiLite(ADDRESS_BITS)
        m.submodules.bus = place(bus, platform)
        for name in axi_lite("s", ADDRESS_BITS):
            port, inner = getattr(self, name.replace("s_", "s_axi_ctrl_", 1)), getattr(bus, name)
            flows_in = bus.signature.members[name].flow == wiring.In
            m.d.comb += inner.eq(port) if flows_in else port.eq(inner)
        status = self.status
        m.submodules.status = place(status, platform)
        m.submodules.core = place(core, platform, clear=status.core_clear)

        job = Signal.like(core.job, name="job", reset_less=True)
        queued = self._job_settings()
        m.d.comb += [
            core.offer.eq(status.offer),
            *(core.next[name].eq(queued[name]) for name in core.next.shape().members),
            core.job.eq(job),
            core.closes.eq(status.closes | ResetSignal()),
        ]
        with m.If(status.load):
            m.d.sync += [job[name].eq(setting) for name, setting in queued.items()]
        self._streams(m, platform, status)
        readable: dict[tuple[str, str], Value] = {key: Const(value) for key, value in self.constants().items()}
        readable |= settings
        strobes = self._decode(m, bus, status)
        readable |= self._status(m, bus, strobes, status)
        readable |= self._counters(m, platform, status)
        self._settings(m, bus, strobes)
        self._tables(m, bus, strobes)
        self._reads(m, bus, readable)
        return m

    def _job_settings(self) -> dict[str, Value]:
        """Field of the core's job -> the setting that it is."""
        settings = self.settings
        job: dict[str, Value] = {name: settings[name.upper(), name] for name in ("m", "k", "n")}
        job["first_column"] = settings["N", "first_entry"]
        if self.config.float8:
            return job
        job |= {f"{name}_zero_point": settings["ZERO_POINTS", name] for name in ("a", "y")}
        job |= {field: setting for (register, field), setting in settings.items() if register == "FORMAT"}
        return job | {"first_row": settings["M", "first_entry"]}

    def _decode(self, m: Module, bus: AxiLite, status: Status) -> dict[str, Signal]:
        """For each register, or table word, by name: 1 if ``bus.write_data`` is written to it in this cycle.

        That is the cycle after ``bus.write``. Writes of settings are ignored while a job is queued. ``queued`` is
        sampled two cycles late, which makes no difference: it changes two cycles after a command, and writes are at
        least four cycles apart.
        """
        address = bus.write_address
        in_registers = Signal()
        in_tables = [Signal(name=name) for name, _ in zip(("in_columns", "in_rows"), self.map.tables, strict=False)]
        queued = Signal()
        m.d.sync += [
            queued.eq(status.queued),
            in_registers.eq(_in_registers(address)),
            *(inside.eq(found) for inside, found in zip(in_tables, self._in_tables(address), strict=True)),
        ]
        m.d.comb += bus.write_known.eq(Cat(in_registers, *in_tables).any())
        here = {
            register.name: in_registers & (address[2:_REGISTER_BITS] == register.offset >> 2)
            for register in self.map.registers
            if register.access != "ro"
        } | self._of_entries(address, in_tables)
        strobes = {}
        for name, goes_there in here.items():
            strobes[name] = Signal(name=f"write_{name}".lower())
            kept = queued & (name in _JOB_S)
            m.d.sync += strobes[name].eq(bus.write & goes_there & ~kept)
        return strobes

    def _in_tables(self, address: Value) -> list[Value]:
        """For each table: 1 if ``address`` is in one of its entries."""
        config, lane_at = self.config, self._word_bits
        entry_at = lane_at + self._lane_bits
        found = [
            address[_COLUMNS_BIT]
            & _below(address[lane_at:entry_at], config.lanes)
            & _below(address[entry_at:_COLUMNS_BIT], config.table_words)
        ]
        if self.map.row_table is not None:
            below = _below(address[2:_ROWS_BIT], config.max_rows)
            found.append(~address[_COLUMNS_BIT] & address[_ROWS_BIT] & below)
        return found

    def _of_entries(self, address: Value, in_tables: Sequence[Value]) -> dict[str, Value]:
        """Table and word of an entry -> 1 if it is at ``address``, which is in these tables."""
        return {
            f"{table.name}_{word.name}": inside & (address[2 : (table.stride - 1).bit_length()] == word.offset >> 2)
            for table, inside in zip(self.map.tables, in_tables, strict=True)
            for word in table.words
        }

    def _status(
        self, m: Module, bus: AxiLite, strobes: dict[str, Signal], status: Status
    ) -> dict[tuple[str, str], Value]:
        """Commands, and what reports their course."""
        core, settings = self.core, self.settings
        control = next(register for register in self.map.registers if register.name == "CONTROL")
        m.d.comb += [
            status.write.eq(strobes[control.name]),
            *(getattr(status, field.name).eq(bus.write_data[field.lsb]) for field in control.fields),
            core.start.eq(status.core_start),
            status.core_done.eq(core.done),
            status.core_error.eq(core.error),
            self.irq.eq(
                (settings["INTERRUPT", "on_done"] & status.done)
                | (settings["INTERRUPT", "on_error"] & (status.error != 0))
            ),
        ]
        return {("STATUS", name): getattr(status, name) for name in ("busy", "done", "queued", "error", "jobs")}

    def _counters(self, m: Module, platform: object, status: Status) -> dict[tuple[str, str], Value]:
        core = self.core
        counters = Counters()
        m.submodules.counters = place(counters, platform)
        m.d.comb += [
            counters.start.eq(status.first),
            counters.clear.eq(status.core_clear),
            counters.taken.eq((core.a.valid & core.a.ready) | (core.b.valid & core.b.ready)),
            counters.ended.eq(self.m_axis_y_tvalid & self.m_axis_y_tready & self.m_axis_y_tlast & ~status.more),
            counters.input_stall.eq(core.input_stall),
            counters.output_stall.eq(self.m_axis_y_tvalid & ~self.m_axis_y_tready),
        ]
        return {
            ("BUSY_CYCLES", "cycles"): counters.cycles,
            ("INPUT_STALLS", "cycles"): counters.input_stalls,
            ("OUTPUT_STALLS", "cycles"): counters.output_stalls,
        }

    def _settings(self, m: Module, bus: AxiLite, strobes: dict[str, Signal]) -> None:
        """Writes of the registers that keep the written value."""
        for register in self.map.registers:
            if register.access == "rw":
                with m.If(strobes[register.name]):
                    for field in register.fields:
                        kept = self.settings[register.name, field.name]
                        m.d.sync += kept.eq(bus.write_data[field.lsb : field.lsb + field.bits])

    def _reads(self, m: Module, bus: AxiLite, readable: dict[tuple[str, str], Value]) -> None:
        """Reads of all registers: of each quarter of them one in the cycle after the address, then one of the four."""
        known = Signal()
        words = [Signal(32, name=f"word_{quarter}", reset_less=True) for quarter in range(4)]
        m.d.sync += known.eq(_in_registers(bus.read_address))
        *low, middle, high = bus.read_address[2:_REGISTER_BITS]
        values = [_word(register, readable) for register in self.map.registers]
        for bit in low:
            values = [Mux(bit, odd, even) for even, odd in zip(values[::2], values[1::2], strict=True)]
        m.d.sync += [word.eq(value) for word, value in zip(words, values, strict=True)]
        m.d.comb += [
            bus.read_known.eq(known),
            bus.read_data.eq(Array(words)[Cat(middle, high)] & known.replicate(32)),
        ]

    @property
    def _lane_bits(self) -> int:
        """Bits of an address in the column table that name the lane; those above name the entry of its table."""
        return (lane_slots(self.config) - 1).bit_length()

    @property
    def _word_bits(self) -> int:
        """Bits of an address in the column table that name the word of an entry; those above name the entry."""
        return (self.map.column_table.stride - 1).bit_length()

    def _tables(self, m: Module, bus: AxiLite, strobes: dict[str, Signal]) -> None:
        """Writes into the row table and, entry by entry, into the lanes' column tables, a cycle later."""
        core, table, lane_at = self.core, self.map.column_table, self._word_bits
        entry_at = lane_at + self._lane_bits
        address, word, column_address = bus.write_address, bus.write_data, bus.write_address[entry_at:]
        if self.table_stream:
            address, word, strobes = self._either(m, bus, strobes)
            column_address = Signal.like(address[entry_at:], name="column_address", reset_less=True)
            m.d.sync += column_address.eq(address[entry_at:])
        of_columns = [strobes[f"{table.name}_{register.name}"] for register in table.words]
        column_write = Signal(self.config.lanes)
        column_value = Signal(core.column_value.shape(), reset_less=True)
        if (rows := self.map.row_table) is not None:
            m.d.comb += [
                core.row_write.eq(strobes[f"{rows.name}_{rows.words[-1].name}"]),
                core.row_address.eq(address[2:]),
                core.row_value.eq(word[:8]),
            ]
        m.d.comb += [
            core.column_write.eq(column_write),
            core.column_address.eq(column_address),
            core.column_value.eq(column_value),
        ]
        for lane in range(self.config.lanes):
            here = address[lane_at:entry_at] == lane if self._lane_bits else Const(1, 1)
            m.d.sync += column_write[lane].eq(of_columns[-1] & here)
        for register, strobe in zip(table.words, of_columns, strict=True):
            with m.If(strobe):
                part = Value.cast(column_value[register.name.lower()])
                m.d.sync += part.eq(word[: len(part)])

    def _either(self, m: Module, bus: AxiLite, strobes: dict[str, Signal]) -> tuple[Signal, Signal, dict[str, Signal]]:
        """Address, word and strobes of a write into a table, from the bus or, where it writes none, the stream."""
        stream_address, offered = self.table.payload.address, self.table.payload.word
        in_tables = self._in_tables(stream_address)
        of_stream = self._of_entries(stream_address, in_tables)
        by_bus, takes = Signal(name="table_by_bus"), Signal(name="table_takes")
        at = Signal(ADDRESS_BITS, name="table_address", reset_less=True)
        word = Signal(32, name="table_word", reset_less=True)
        m.d.comb += [
            by_bus.eq(Cat(strobes[name] for name in of_stream).any()),
            self.table.ready.eq(~by_bus),
            takes.eq(self.table.valid & ~by_bus),
        ]
        m.d.sync += [
            at.eq(Mux(by_bus, bus.write_address, stream_address)),
            word.eq(Mux(by_bus, bus.write_data, offered)),
            self.table_refused.eq(takes & ~Cat(in_tables).any()),
        ]
        chosen = {name: Signal(name=f"table_{name}".lower()) for name in of_stream}
        for name, found in of_stream.items():
            m.d.sync += chosen[name].eq(strobes[name] | (takes & found))
        return at, word, chosen

    def _streams(self, m: Module, platform: object, status: Status) -> None:
        core, packer = self.core, self.packer
        for name in ("a", "b"):
            accept(m, self, f"s_axis_{name}", getattr(core, name))
        m.submodules.packer = place(packer, platform)
        results, beat = core.y.payload, packer.o.payload
        wide = Signal()  # of the job whose results are in the packer: another one may run
        if not self.config.float8:
            with m.If(packer.idle):
                m.d.sync += wide.eq(core.job.y_int32)
        m.d.comb += [
            packer.wide.eq(wide),
            packer.abort.eq(status.core_clear),
            status.drained.eq(packer.idle),
            packer.i.valid.eq(core.y.valid),
            core.y.ready.eq(packer.i.ready),
            packer.i.payload.data.eq(Cat(_in_a_word(each) for each in results.data)),
            packer.i.payload.columns.eq(results.flags.columns),
            packer.i.payload.last.eq(results.flags.last),
            self.m_axis_y_tdata.eq(beat.data),
            self.m_axis_y_tkeep.eq(beat.keep),
            self.m_axis_y_tvalid.eq(packer.o.valid),
            self.m_axis_y_tlast.eq(beat.last),
            packer.o.ready.eq(self.m_axis_y_tready),
        ]


def _in_a_word(result: Value) -> Value:
    """``result`` in the low bits of 32."""
    return Cat(result, Const(0, 32 - len(result)))


def _in_registers(address: Value) -> Value:
    """True if the address is a register's: registers are consecutive from 0."""
    return _below(address[2:], len(REGISTERS))


def _below(value: Value, bound: int) -> Value:
    """True if ``value`` < ``bound``; without a comparator if ``bound`` is a power of two."""
    if bound & (bound - 1):
        return value < bound
    return ~value[(bound - 1).bit_length() :].any()


def _word(register: Register, readable: dict[tuple[str, str], Value]) -> Value:
    """The register's 32 bits, fields that cannot be read as zeros."""
    word: Value = Const(0, 32)
    for field in register.fields:
        if (register.name, field.name) in readable:
            word = word | (readable[register.name, field.name].as_unsigned()[: field.bits] << field.lsb)
    return word
