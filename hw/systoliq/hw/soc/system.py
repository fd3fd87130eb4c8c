"""The system: processor, memory, peripherals and the DMA engine, on one bus."""

from __future__ import annotations

from amaranth.hdl import Module, ResetSignal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..dma.dma_engine import DmaEngine
from ..hierarchy import place
from .axi_ram import AxiRam
from .config import SocConfig
from .cpu import Cpu
from .cpu_bridge import CpuBridge
from .peripherals import Peripherals
from .ports import join
from .read_arbiter import ReadArbiter
from .registers import LEDS
from .throttle import CHANNELS, Throttle
from .write_arbiter import WriteArbiter

__all__ = ["CONTENTS", "STALL_BITS", "Soc"]

CONTENTS = "firmware"
"""Name of the file with what memory holds at first, without its suffix."""
_READERS = (("bridge", "m"), ("engine", "m_axi_a"), ("engine", "m_axi_b"), ("engine", "m_axi_list"))
_WRITERS = (("bridge", "m"), ("engine", "m_axi_y"))
STALL_BITS = (len(_READERS) + 1) * len(CHANNELS["read"]) + (len(_WRITERS) + 1) * len(CHANNELS["write"])
"""Channels that can be held back: the channels of each master, and of the memory."""


class Soc(wiring.Component):
    """``tx`` is a UART's output, ``leds`` are what firmware sets, ``trap`` says that the processor has given up.

    ::

        picorv32 -> CpuBridge -+-> peripherals (UART, LEDs)
                               +-> s_axi_ctrl of the engine
                               +-> reads, writes -> ReadArbiter, WriteArbiter -> AxiRam
        engine: m_axi_a, m_axi_b, m_axi_list, m_axi_y -^

    A throttled one has ``stalls``, a bit for each channel of each master and of the memory.
    """

    kind = "soc"

    def __init__(self, config: SocConfig) -> None:
        self.config = config
        stalls = {"stalls": In(STALL_BITS)} if config.throttled else {}
        super().__init__({"tx": Out(1, init=1), "leds": Out(LEDS), "trap": Out(1)} | stalls)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, bus = self.config, self.config.bus_bytes
        cpu, bridge, peripherals = Cpu(), CpuBridge(bus), Peripherals(config.uart_cycles)
        engine = DmaEngine(config.engine, bus_bytes=bus)
        ram = AxiRam(bus, config.ram_bytes, contents=CONTENTS)
        reads, writes = ReadArbiter(len(_READERS), bus), WriteArbiter(len(_WRITERS), bus)
        blocks = {
            "cpu": cpu, "bridge": bridge, "peripherals": peripherals, "engine": engine, "ram": ram, "reads": reads,
            "writes": writes,
        }  # fmt: skip
        for name, block in blocks.items():
            m.submodules[name] = place(block, platform)
        join(m, cpu, "m", bridge, "s")
        join(m, bridge, "p", peripherals, "s")
        join(m, bridge, "e", engine, "s_axi_ctrl")
        links = [
            *(("read", blocks[block], port, reads, f"s{index}") for index, (block, port) in enumerate(_READERS)),
            ("read", reads, "m", ram, "s"),
            *(("write", blocks[block], port, writes, f"s{index}") for index, (block, port) in enumerate(_WRITERS)),
            ("write", writes, "m", ram, "s"),
        ]
        held = 0  # bits of ``stalls`` that are taken
        for number, (access, master, port, slave, slave_port) in enumerate(links):
            channels = CHANNELS[access]
            if config.throttled:
                throttle = Throttle(access, bus)
                m.submodules[f"throttle_{number}"] = place(throttle, platform)
                m.d.comb += throttle.stalls.eq(self.stalls[held : held + len(channels)])
                held += len(channels)
                join(m, throttle, "m", slave, slave_port, channels)
                slave, slave_port = throttle, "s"
            join(m, master, port, slave, slave_port, channels)
        m.d.comb += [
            cpu.resetn.eq(~ResetSignal()),
            peripherals.fault.eq(bridge.fault),
            self.tx.eq(peripherals.tx),
            self.leds.eq(peripherals.leds),
            self.trap.eq(cpu.trap),
        ]
        return m
