"""The system's form for FuseSoC: a core description, CAPI2 with the flow API."""

from __future__ import annotations

from collections.abc import Sequence

from ..board.description import Board
from ..package.forms.block import VENDOR, VERSION
from .board import stem

__all__ = ["SYSTEMS", "soc_core"]

SYSTEMS = "systems"
"""FuseSoC's library of whole systems."""


def soc_core(name: str, memory: str, verilog: Sequence[str], board: Board) -> str:
    """The text of the core `systoliq:systems:NAME`.

    `verilog` are the files of the system, which reads `memory` from the tool's working directory.
    """
    core, pins = f"{VENDOR}:{SYSTEMS}:{name}", stem(board.name)
    place = ", ".join(f'"{option}"' if option.isdecimal() else option for option in board.place)
    sources = ", ".join(f"{file}: {{file_type: verilogSource-2005}}" for file in verilog)
    return f"""\
CAPI=2:
# fusesoc --cores-root . run --target sim {core}    (sim_verilator, {pins})
# The testbench prints the UART's output: PASS, or FAIL and the differences. Written by systoliq.
name: {core}:{VERSION}
description: a RISC-V, memory, a UART and a systoliq engine on one AXI4 bus
filesets:
  rtl:
    files: [{sources}]
  memory:  # read from the tool's working directory; `make firmware` writes a new one
    files:
      - {memory}: {{file_type: user, copyto: {memory}}}
  testbench:
    files: [{name}_tb.v: {{file_type: verilogSource-2005}}]
  {pins}:
    files: [{name}_{pins}.v: {{file_type: verilogSource-2005}}, {pins}.lpf: {{file_type: LPF}}]
targets:
  default:
    filesets: [rtl, memory]
  sim:
    description: the whole system under Icarus Verilog, slowly
    flow: sim
    flow_options: {{tool: icarus, iverilog_options: [-g2005], vvp_options: [-N]}}
    filesets: [rtl, memory, testbench]
    toplevel: "{name}_tb"
  sim_verilator:
    description: the whole system under Verilator 5
    flow: sim
    flow_options: {{tool: verilator, mode: binary, verilator_options: [--timing, -Wno-fatal, -O3]}}
    filesets: [rtl, memory, testbench]
    toplevel: "{name}_tb"
  {pins}:
    description: a bitstream for the {board.title}, by Yosys and nextpnr
    flow: trellis
    flow_options: {{nextpnr_options: [{place}]}}
    filesets: [rtl, memory, {pins}]
    toplevel: "{name}_{pins}"
"""
