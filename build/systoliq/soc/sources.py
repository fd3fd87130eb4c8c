"""Sources of a system's firmware: the files next to this module, and headers made from the hardware's descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from systoliq.hw.soc import SocConfig
from systoliq.hw.soc.registers import ENGINE_BASE, PERIPHERALS_BASE, SOC_REGISTERS

from ..package.dma_engine.dma_register_map import dma_c_header
from ..package.engine.register_map import c_header, field_macros

__all__ = ["JOBS_ADDRESS", "LIBRARY", "PROGRAMS", "firmware_files", "firmware_sources", "soc_header"]

PROGRAMS = ("digits.c", "jobs.c")
"""Handwritten digits, by the engine and by the processor alone; a table of jobs that lies in memory."""
LIBRARY = ("start.S", "board.c", "engine_driver.c", "engine_lists.c", "product.c")
"""Files that each program is linked with."""
_HEADERS = ("board.h", "engine_driver.h", "engine_lists.h", "product.h")
JOBS_ADDRESS = 0x8000
"""Address of the table of jobs, after the program that reads it."""


def firmware_sources(config: SocConfig) -> dict[str, str]:
    """Name -> text of each file of C, of the assembler and of the linker."""
    return firmware_files(ram_bytes=config.ram_bytes) | {"soc.h": soc_header(config)}


def firmware_files(*, ram_bytes: int) -> dict[str, str]:
    """Name -> text of the files that do not depend on the system, but for a memory of `ram_bytes` from address 0 on."""
    folder = resources.files(__package__) / "firmware"
    names = (*LIBRARY, *_HEADERS, *PROGRAMS)
    texts = {name: (folder / name).read_text() for name in names}
    texts["link.ld"] = (folder / "link.ld").read_text().replace("@SIZE@", str(ram_bytes))
    return texts | {"systoliq_engine.h": c_header(), "systoliq_dma.h": dma_c_header()}


def soc_header(config: SocConfig) -> str:
    """Addresses of a system for C."""
    lines = ["/* Addresses of this system; made by `systoliq soc`. */", "#ifndef SOC_H", "#define SOC_H"]
    for register in SOC_REGISTERS:
        name = f"SOC_{register.name}"
        lines += ["", f"/* {register.doc} */", f"#define {name} 0x{PERIPHERALS_BASE + register.offset:08X}u"]
        lines += field_macros(name, register.fields)
    values: Mapping[str, str] = {
        "SOC_ENGINE": f"0x{ENGINE_BASE:08X}u",
        "SOC_BUS_BYTES": f"{config.bus_bytes}u",
        "SOC_RAM_BYTES": f"{config.ram_bytes}u",
        "SOC_CLOCK_HZ": f"{config.clock_hz}u",
        "SOC_JOBS": f"0x{JOBS_ADDRESS:08X}u",
    }
    return "\n".join([*lines, "", *(f"#define {name} {value}" for name, value in values.items()), "", "#endif", ""])
