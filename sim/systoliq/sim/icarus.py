"""Icarus: Verilog -> one .vvp file that vvp runs with cocotb's VPI library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from systoliq.hw.verilog import Verilog, files_of

from .process import Reporter, call
from .tools import require

__all__ = ["build", "identity", "with_sleeping_registers"]

DESIGN = "design.vvp"
WAVES_MODULE = "systoliq_waves"
FLAGS = ("-Wall", "-Wno-timescale")  # the time scale comes from the command file, for all modules alike

_REGISTER = re.compile(
    r"^  always @\(posedge clk\)(?P<block> begin)?\n    (?P<to>\S+) <= (?P<value>[^;\\\n]+);\n(?(block)  end\n)",
    re.MULTILINE,
)
_MEMORY = re.compile(r"^  reg (?:\[[^\]]*\] )?(\w+) \[[^\]]*\];", re.MULTILINE)
_NUMBER = re.compile(r"\d*'\w+")
_NAME = re.compile(r"(?<!\$)\b[A-Za-z_]\w*")
_TOGETHER = 4
"""Registers that wake up together. Of 1, 4, 8 and all of a module, 4 took the least time on networks of many stages."""


def with_sleeping_registers(verilog: str) -> Verilog:
    """The emitted Verilog with registers that sleep: after a clock edge, they wait for a change of what they load.

    The result behaves the same, as a register that loads the same value again does not change. Without it, Icarus
    loads every register of a network in each cycle, and most stages wait for data most of the time.
    """
    modules = re.split(r"(?<=\nendmodule\n)", verilog)
    return Verilog("".join(map(_with_sleeping_registers, modules)), files_of(verilog))


def _with_sleeping_registers(module: str) -> str:
    if not module.endswith("\nendmodule\n"):
        return module
    memories = set(_MEMORY.findall(module))
    written = {name for name in memories if re.search(rf"^\s+{name}\[.* <= ", module, re.MULTILINE)}
    sleeping: list[tuple[str, list[str]]] = []

    def taken(register: re.Match[str]) -> str:
        names = dict.fromkeys(_NAME.findall(_NUMBER.sub("", register["value"])))
        changing = [name for name in names if name not in memories]
        if not changing or written & names.keys():
            return register[0]
        sleeping.append((f"{register['to']} <= {register['value']};", changing))
        return ""

    body = _REGISTER.sub(taken, module).removesuffix("endmodule\n")
    groups = (sleeping[at : at + _TOGETHER] for at in range(0, len(sleeping), _TOGETHER))
    return "".join([body, *map(_sleeping_block, groups), "endmodule\n"])


def _sleeping_block(registers: Sequence[tuple[str, list[str]]]) -> str:
    lines = "".join(f"    {assignment}\n" for assignment, _ in registers)
    names = dict.fromkeys(name for _, each in registers for name in each)
    return f"  always begin\n    @(posedge clk);\n{lines}    @({' or '.join(names)});\n  end\n"


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
