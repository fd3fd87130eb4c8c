"""Proofs of the engine's register file, from its bus to the core's inputs, with any core behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amaranth.hdl import Assert, Assume, Cat, Const, Cover, Instance, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from systoliq.golden import E4M3FN
from systoliq.hw.delay import delay
from systoliq.hw.engine.axi_engine import AxiEngine, lane_slots
from systoliq.hw.engine.config import EngineConfig
from systoliq.hw.engine.registers import Register
from systoliq.hw.hierarchy import mark_used

from ..property import Property, SeededBug, Unbounded

__all__ = ["PROPERTIES"]

_OKAY, _SLVERR = 0, 2
_COUNTERS = ("BUSY_CYCLES", "INPUT_STALLS", "OUTPUT_STALLS")
_ALWAYS = ("INTERRUPT",)  # is written while a job is queued, too
_CONFIG = EngineConfig(rows=1, cols=3, lanes=3, a_words=4, b_words=4, max_columns=8, max_rows=4)


class _AnyCore(wiring.Component):
    """A component with the ports of ``core`` and any values at its outputs."""

    kind = "any_core"

    def __init__(self, core: wiring.Component) -> None:
        super().__init__(core.signature)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        flat: Iterator[tuple[Any, Any, Any]] = self.signature.flatten(self)
        for path, member, port in flat:
            if member.flow == wiring.Out:
                value = Value.cast(port)
                free = Signal(len(value), name="__".join(map(str, path)) + "_free")
                m.submodules += Instance("$anyseq", p_WIDTH=len(value), o_Y=free)
                m.d.comb += value.eq(free)
        return m


class RegisterFileHarness(wiring.Component):
    """`AxiEngine` with a free master and any core, compared with the documentation: the effect of each write, each
    read.

    A write takes effect in the cycle in which its answer begins; whether a job is queued is sampled two cycles before.
    """

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        top = AxiEngine(config)
        mark_used(top)
        members = top.signature.members.items()
        super().__init__({name: In(member.shape) for name, member in members if member.flow == wiring.In})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        dut = AxiEngine(self._config)
        mark_used(dut.core)
        dut.core = core = _AnyCore(dut.core)
        m.submodules.dut = dut
        m.d.comb += [getattr(dut, name).eq(getattr(self, name)) for name in self.signature.members]
        self._core_is_sane(m, dut, core)
        kept = self._check_writes(m, dut, core)
        self._check_reads(m, dut, kept)
        return m

    @staticmethod
    def _core_is_sane(m: Module, dut: AxiEngine, core: Any) -> None:
        """Results, an end and errors come from a core that was started."""
        runs = Signal()
        with m.If(dut.status.core_clear):
            m.d.sync += runs.eq(0)
        with m.Elif(core.start):
            m.d.sync += runs.eq(1)
        with m.Elif(core.done):
            m.d.sync += runs.eq(0)
        m.d.comb += Assume(runs | ~(core.y.valid | core.done | (core.error != 0)))

    def _check_writes(self, m: Module, dut: AxiEngine, core: Any) -> dict[str, Signal]:
        """Check that answers, registers and tables follow the writes; returns the registers that keep the written
        value.
        """
        address, data, whole = Signal(19), Signal(32), Signal()
        with m.If(dut.s_axi_ctrl_awvalid & dut.s_axi_ctrl_awready):
            m.d.sync += address.eq(dut.s_axi_ctrl_awaddr[2:])
        with m.If(dut.s_axi_ctrl_wvalid & dut.s_axi_ctrl_wready):
            m.d.sync += [data.eq(dut.s_axi_ctrl_wdata), whole.eq(dut.s_axi_ctrl_wstrb.all())]
        waits, begins, acts = Signal(), Signal(), Signal()
        was_queued = delay(m, dut.status.queued, 2, name="was_queued", reset_less=False)
        m.d.sync += waits.eq(dut.s_axi_ctrl_bvalid & ~dut.s_axi_ctrl_bready)
        m.d.comb += [
            begins.eq(dut.s_axi_ctrl_bvalid & ~waits),
            acts.eq(begins & (dut.s_axi_ctrl_bresp == _OKAY)),
        ]
        with m.If(begins):
            exists = (address < len(dut.map.registers)) | self._in_rows(dut, address) | self._in_columns(dut, address)
            m.d.comb += Assert(dut.s_axi_ctrl_bresp == Mux(whole & exists, _OKAY, _SLVERR))
        kept = {
            register.name: self._keep(m, register, acts & (address == register.offset >> 2), data, was_queued)
            for register in dut.map.registers
            if register.access == "rw"
        }
        for (register, field), setting in dut.settings.items():
            lsb = next(each for each in dut.map.registers if each.name == register).field(field).lsb
            m.d.comb += Assert(setting.as_unsigned() == kept[register][lsb : lsb + len(setting)])
        self._check_job(m, dut, core, kept)
        self._check_tables(m, dut, core, acts, address, data)
        m.d.comb += Cover(acts & was_queued & (address == 8))
        return kept

    @staticmethod
    def _keep(m: Module, register: Register, written: Value, data: Value, was_queued: Value) -> Signal:
        """The bits of ``register`` as they were last written while no job was queued; others are 0."""
        kept = Signal(32, name=f"kept_{register.name.lower()}")
        mask = sum(field.mask for field in register.fields)
        with m.If(written & (Const(register.name in _ALWAYS) | ~was_queued)):
            m.d.sync += kept.eq(data & mask)
        return kept

    @staticmethod
    def _check_job(m: Module, dut: AxiEngine, core: Any, kept: dict[str, Signal]) -> None:
        """Check that the core's job holds the registers' values at its load until the next; the interrupt is as
        documented.
        """
        held = Cat(value for name, value in kept.items() if name not in _ALWAYS)
        queued_before, held_before = Signal(), Signal(len(held))
        loaded, known = {name: Signal(32, name=f"loaded_{name.lower()}") for name in kept}, Signal()
        m.d.sync += [queued_before.eq(dut.status.queued), held_before.eq(held)]
        with m.If(queued_before & dut.status.queued):
            m.d.comb += Assert(held == held_before)
        with m.If(dut.status.load):
            m.d.sync += [known.eq(1), *(loaded[name].eq(kept[name]) for name in kept)]
        m.d.comb += Assert(known | ~core.start)
        fields = {"m": loaded["M"], "k": loaded["K"], "n": loaded["N"], "first_column": loaded["N"][16:]}
        if "FORMAT" in kept:
            formats = [field for register, field in dut.settings if register == "FORMAT"]
            fields |= {name: loaded["FORMAT"][bit] for bit, name in enumerate(formats)}
            fields |= {"a_zero_point": loaded["ZERO_POINTS"], "y_zero_point": loaded["ZERO_POINTS"][8:]}
            fields["first_row"] = loaded["M"][16:]
        job = {name: Value.cast(getattr(core.job, name)).as_unsigned() for name in core.job.shape().members}
        with m.If(known):
            m.d.comb += [Assert(value == fields[name][: len(value)]) for name, value in job.items()]
        m.d.comb += [Cover(core.start & (job["m"] == 3)), Cover(dut.status.queued & ~dut.status.load)]
        raised = Cat(dut.status.done, dut.status.error != 0) & kept["INTERRUPT"][:2]
        m.d.comb += Assert(dut.irq == raised.any())

    @staticmethod
    def _in_rows(dut: AxiEngine, address: Value) -> Value:
        """True if the word ``address`` is in the row table."""
        table = dut.map.row_table
        if table is None:
            return Const(0)
        first = table.base >> 2
        return (address >= first) & (address < first + dut.config.max_rows)

    @staticmethod
    def _in_columns(dut: AxiEngine, address: Value) -> Value:
        """True if the word ``address`` is in the column table."""
        config, table = dut.config, dut.map.column_table
        slots, words = lane_slots(config), table.stride >> 2
        place = address - (table.base >> 2)
        inside = (address >= table.base >> 2) & (place < config.table_words * slots * words)
        return inside & ((place // words) % slots < config.lanes)

    def _check_tables(self, m: Module, dut: AxiEngine, core: Any, acts: Value, address: Value, data: Value) -> None:
        """Tables are written by their own words, at their place, and by nothing else."""
        config, columns = dut.config, dut.map.column_table
        if dut.map.row_table is not None:
            in_rows = acts & self._in_rows(dut, address)
            m.d.comb += [Assert(core.row_write == in_rows), Cover(in_rows)]
            with m.If(in_rows):
                m.d.comb += [
                    Assert(core.row_address == address[: len(core.row_address)]),
                    Assert(core.row_value.as_unsigned() == data[:8]),
                ]
        in_columns = acts & self._in_columns(dut, address)
        words = columns.stride >> 2
        for index, word in enumerate(columns.words):
            kept, known = Signal(32, name=f"kept_{word.name.lower()}"), Signal(name=f"known_{word.name.lower()}")
            with m.If(in_columns & (address % words == index)):
                m.d.sync += [kept.eq(data), known.eq(1)]  # since the last reset
            part = Value.cast(core.column_value[word.name.lower()]).as_unsigned()
            with m.If((core.column_write != 0) & known):
                m.d.comb += Assert(part == kept[: len(part)])
        place = (address // words)[: (config.table_words * lane_slots(config) - 1).bit_length()]
        lane, entry = place % lane_slots(config), place // lane_slots(config)
        commits = in_columns & (address % words == words - 1)
        committed = Signal(config.lanes)
        at = Signal(len(core.column_address))
        m.d.sync += [committed.eq(Mux(commits, 1 << lane, 0)), at.eq(entry)]
        m.d.comb += [Assert(core.column_write == committed), Cover(core.column_write[-1] & (at != 0))]
        with m.If(committed != 0):
            m.d.comb += Assert(core.column_address == at)

    @staticmethod
    def _check_reads(m: Module, dut: AxiEngine, kept: dict[str, Signal]) -> None:
        """Check that reads return the registers' values, in the bits that they have, and that other addresses read as
        0.
        """
        address, waits = Signal(19), Signal()
        with m.If(dut.s_axi_ctrl_arvalid & dut.s_axi_ctrl_arready):
            m.d.sync += address.eq(dut.s_axi_ctrl_araddr[2:])
        m.d.sync += waits.eq(dut.s_axi_ctrl_rvalid & ~dut.s_axi_ctrl_rready)
        status = dut.status
        held = {
            **kept,
            **{register.name: _constant(dut, register) for register in dut.map.registers if register.access != "rw"},
            "STATUS": Cat(status.busy, status.done, status.queued, Const(0, 5), status.error, status.jobs),
        }
        shown = {
            register.offset >> 2: delay(m, held[register.name], 2, name=f"shown_{register.name}", reset_less=False)
            for register in dut.map.registers
            if register.name not in _COUNTERS
        }
        known = address < len(dut.map.registers)
        with m.If(dut.s_axi_ctrl_rvalid & ~waits):
            m.d.comb += Assert(dut.s_axi_ctrl_rresp == Mux(known, _OKAY, _SLVERR))
            m.d.comb += Assert(known | (dut.s_axi_ctrl_rdata == 0))
            for word, value in shown.items():
                with m.If(address == word):
                    m.d.comb += Assert(dut.s_axi_ctrl_rdata == value)
        m.d.comb += Cover(dut.s_axi_ctrl_rvalid & (address == 8) & (dut.s_axi_ctrl_rdata == 5))


def _constant(dut: AxiEngine, register: Register) -> Value:
    """The constant value of a register that is not writable, or 0 if it is write-only."""
    constants = dut.constants()
    return Const(sum(constants.get((register.name, field.name), 0) << field.lsb for field in register.fields), 32)


def _registers(kind: str, config: EngineConfig, old: str, new: str) -> Property:
    return Property(
        name=f"engine registers, {kind}",
        claim="settings and table words that were written are what the core reads and reads give, as documented; a job "
        "has the settings of its start, whatever is written while it runs",
        harness=lambda: RegisterFileHarness(config),
        method=Unbounded(cover_cycles=16),
        bug=SeededBug(module="engine.axi_engine", old=old, new=new),
    )


PROPERTIES = (
    _registers("integers", _CONFIG, "queued.eq(status.queued)", "queued.eq(0)"),
    _registers(
        "float8",
        _CONFIG.replace(a=E4M3FN, b=E4M3FN, y=E4M3FN),
        "column_write[lane].eq(of_columns[-1] & here)",
        "column_write[lane].eq(of_columns[-1])",
    ),
)
