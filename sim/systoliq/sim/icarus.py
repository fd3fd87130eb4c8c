"""Icarus: Verilog -> one .vvp file that vvp runs with cocotb's VPI library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from systoliq.hw.verilog import Verilog, files_of

from .process import Reporter, call
from .tools import require

__all__ = ["build", "identity", "with_shared_blocks"]

DESIGN = "design.vvp"
WAVES_MODULE = "systoliq_waves"
FLAGS = ("-Wall", "-Wno-timescale")  # the time scale comes from the command file, for all modules alike

_REGISTER = re.compile(r"^  always @\(posedge clk\)\n    (\S+ <= [^;\n]+;)\n", re.MULTILINE)


def with_shared_blocks(verilog: str) -> Verilog:
    """The emitted Verilog with one clocked block for all registers of a module that have a block of one line each.

    The result behaves the same. Icarus starts a thread for each block in each cycle, so a network runs in about 0.6 of
    the time.
    """
    modules = re.split(r"(?<=\nendmodule\n)", verilog)
    return Verilog("".join(map(_with_shared_block, modules)), files_of(verilog))


def _with_shared_block(module: str) -> str:
    registers = _REGISTER.findall(module)
    if len(registers) < 2 or not module.endswith("\nendmodule\n"):
        return module
    lines = "".join(f"    {each}\n" for each in registers)
    body = _REGISTER.sub("", module).removesuffix("endmodule\n")
    return f"{body}  always @(posedge clk) begin\n{lines}  end\nendmodule\n"


def identity() -> tuple[str, ...]:
    """Inputs of a build in addition to its sources."""
    return (require("icarus").identity, " ".join(FLAGS))


def build(folder: Path, sources: Sequence[Path], top: str, waves: bool, report: Reporter) -> None:
    """Make `folder`/design.vvp; warnings go to the reporter, and an error is a `SimulationError`."""
    icarus = require("icarus")
    settings = folder / "settings.f"
    settings.write_text("+timescale+1ns/1ps\n")
    # 2005, not cocotb's 2012: Icarus reads `always @*` of 2012 so that it does not run at time 0, and what Amaranth
    # emits then reads X (amaranth issue 1629).
    generation = "-g2012" if any(source.suffix == ".sv" for source in sources) else "-g2005"
    command = [icarus.path, generation, *FLAGS, "-f", settings, "-s", top, "-o", folder / DESIGN]
    files = list(sources)
    if waves:
        dump = folder / f"{WAVES_MODULE}.v"
        dump.write_text(_waves_module(top))
        command += ["-s", WAVES_MODULE]
        files.append(dump)
    report.stage("Icarus")
    call([*command, *files], report=report)


def _waves_module(top: str) -> str:
    return f"""module {WAVES_MODULE};
  reg [8 * 4096 - 1:0] path;
  initial if ($value$plusargs("waves=%s", path)) begin
    $dumpfile(path);
    $dumpvars(0, {top});
  end
endmodule
"""
