"""The engine with SDRAM in LiteX: a RISC-V on a ULX3S-85F starts the list of a compiled model.

    python system.py ENGINE_DIR PROGRAM_DIR --out out/system
    python system.py ENGINE_DIR PROGRAM_DIR --out out/system --simulate --input inputs.npz

ENGINE_DIR is from `systoliq emit engine --bus N`; PROGRAM_DIR is from `systoliq compile` for this engine, with the base
0x40000000 and one list. The first command writes Verilog, constraints and firmware for the board, which runs any such
program. The second one writes the same system with LiteDRAM's model of the SDRAM, in which the program and the input
are already.
docs/litex.md has all commands. Needs: pip install 'systoliq[soc]' litex litedram litex-boards
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
from image import memory, message, read_inputs, read_json, read_program
from litedram.common import PhySettings
from litedram.init import get_sdram_phy_c_header
from litedram.modules import MT48LC16M16
from litedram.phy.model import SDRAMPHYModel
from litex.build.generic_platform import Pins, Subsignal
from litex.build.lattice import LatticeECP5Platform
from litex.soc.integration.export import get_csr_header
from litex.soc.integration.soc_core import SoCCore
from litex_boards.targets.radiona_ulx3s import BaseSoC
from migen.genlib.io import CRG

from systoliq.soc.compiler import compile_firmware
from systoliq.soc.sources import firmware_files

HERE = Path(__file__).resolve().parent
ENGINE = 0x9000_0000
CLOCK_HZ = 50_000_000
OPTIONS = {
    "cpu_type": "picorv32", "integrated_rom_size": 0x4000, "integrated_rom_mode": "rwx", "l2_size": 0,
    "with_timer": False,
}  # fmt: skip
PHY = PhySettings(  # as HalfRateGENSDRPHY has them: two transfers of 16 bits a cycle
    phytype="SDRAMPHYModel", memtype="SDR", databits=16, dfi_databits=16, nphases=2, cl=2, cwl=None, rdphase=0,
    wrphase=0, read_latency=2, write_latency=0,
)  # fmt: skip


def board() -> SoCCore:
    """LiteX's system for the ULX3S-85F."""
    soc = BaseSoC("LFE5U-85F", sys_clk_freq=CLOCK_HZ, sdram_rate="1:2", with_led_chaser=False, **OPTIONS)
    soc.platform.toolchain._pnr_opts = "--placer static"  # the default one leaves too much to the router
    return soc


def model(contents: bytes) -> SoCCore:
    """The same processor and SDRAM, but a model of the SDRAM and its pins, with these contents."""
    serial = ("serial", 0, Subsignal("tx", Pins("L4")), Subsignal("rx", Pins("M1")))
    platform = LatticeECP5Platform("LFE5U-85F-6BG381C", [("clk", 0, Pins("G2")), serial], toolchain="trellis")
    soc = SoCCore(platform, CLOCK_HZ, uart_baudrate=CLOCK_HZ // 64, **OPTIONS)  # testbench.v has the 64
    soc.crg = CRG(platform.request("clk"))
    words = np.frombuffer(contents + bytes(-len(contents) % 4), "<u4").tolist()
    module = MT48LC16M16(CLOCK_HZ, "1:2")
    soc.sdrphy = SDRAMPHYModel(module, PHY, clk_freq=CLOCK_HZ, init=words)
    soc.add_sdram("sdram", phy=soc.sdrphy, module=module, l2_cache_size=0)
    return soc


def module_of(engine: Path) -> str:
    """Return the name of the LiteX module in `engine`; ends with an error if there is none."""
    found = [file.stem for file in engine.glob("*_litex.py")]
    if len(found) != 1:
        raise SystemExit(f"error: {engine} must be a package of systoliq emit engine --bus N, with NAME_litex.py")
    return found[0]


def complete(soc: SoCCore, engine: Path, module: str, *, simulation: bool) -> None:
    """Add the engine, with its masters on a port of the SDRAM; for a simulation, with models of its cells."""
    sys.path.insert(0, str(engine))
    soc.engine = import_module(module).Block(soc.platform, simulation=simulation)
    soc.engine.add_to(soc, "engine", origin=ENGINE, dram=soc.sdram.crossbar)


def headers(soc: SoCCore, bus_bits: int) -> dict[str, str]:
    """The headers of main.c: LiteX's registers, the SDRAM's start, and the engine's place and bus."""
    system = {"ENGINE": ENGINE, "BUS_BITS": bus_bits}
    registers = get_csr_header(soc.csr_regions, soc.constants, with_fields_access_functions=False)
    dram = soc.sdram.controller.settings
    start = get_sdram_phy_c_header(dram.phy, dram.timing, dram.geom)
    access = """\
#pragma once
#include <stdint.h>
static inline void csr_write_simple(uint32_t value, uint32_t at) { *(volatile uint32_t *)(uintptr_t)at = value; }
static inline uint32_t csr_read_simple(uint32_t at) { return *(volatile uint32_t *)(uintptr_t)at; }
"""
    wait = 'static inline void cdelay(int i) { while (i-- > 0) __asm__ volatile(""); }\n'
    without = re.compile(r"^#include <.*>\n", re.MULTILINE)  # LiteX's own software, of which nothing else is used
    return {
        "csr.h": access + without.sub("", registers),
        "sdram_phy.h": '#include "csr.h"\n' + wait + without.sub("", start),
        "system.h": "".join(f"#define {name} {value:#x}u\n" for name, value in system.items()),
    }


def firmware(soc: SoCCore, bus_bits: int) -> bytes:
    """The firmware, from address 0 on."""
    names = ("start.S", "engine_driver.c", "engine_lists.c")
    sources = firmware_files(ram_bytes=OPTIONS["integrated_rom_size"])
    sources |= headers(soc, bus_bits) | {"main.c": (HERE / "main.c").read_text()}
    return compile_firmware(sources, (*names, "main.c"))


def make_folder(out: Path) -> None:
    """Make the folder `out`; ends with an error if files cannot be written into it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"error: --out must be a folder that can be written, not {out}: {error.strerror}") from None
    if not os.access(out, os.W_OK):
        raise SystemExit(f"error: --out must be a folder that can be written, not {out}")


def main() -> None:
    """Write the system's files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", type=Path)
    parser.add_argument("program", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--simulate", action="store_true")
    parser.add_argument("--input", type=Path)
    given = parser.parse_args()
    if given.simulate != (given.input is not None):
        raise SystemExit("error: --simulate and --input must be given together: the simulation begins with an input")
    program = read_program(given.program)
    module = module_of(given.engine)
    sidecar = read_json(given.engine / f"{module.removesuffix('_litex')}.json", "systoliq emit engine")
    if sidecar.get("engine") != program["engine"]:
        raise SystemExit(f"error: {given.program} must be compiled for {given.engine}: systoliq compile --engine DIR")
    contents = memory(given.program, read_inputs(given.input, program)) if given.simulate else b""
    make_folder(given.out)
    soc = model(contents) if given.simulate else board()
    complete(soc, given.engine, module, simulation=given.simulate)
    soc.finalize()
    code = firmware(soc, program["engine"]["bus_bits"])
    soc.init_rom("rom", np.frombuffer(code + bytes(-len(code) % 4), "<u4").tolist(), auto_size=False)
    if given.simulate:  # for testbench.v: the task without data
        (given.out / "uart.mem").write_text(message(given.program, b"").hex(" "))
    soc.build(build_name="top", build_dir=str(given.out), run=False)  # LiteX's Builder would want its own software


if __name__ == "__main__":
    main()
