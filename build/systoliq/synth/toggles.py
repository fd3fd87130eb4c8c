"""Toggles of each net of a netlist of standard cells: the ports of a simulated design, replayed under Icarus.

Each gate has its own delay, so that the glitches of a sum that settles count, as far as they are longer than a gate.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from systoliq.sim.process import limited, tail
from systoliq.sim.tools import require
from systoliq.subprocesses import run_child

from ..errors import SynthesisError
from .cell_netlist import CORE, CellNetlist
from .port_trace import PortTrace
from .standard_cells import CELLS
from .tools import Command

__all__ = ["Toggles", "count_toggles"]

_SECONDS = 3600  # of processor time for the replay
_MODULES = re.compile(r"^module (\w+)\(.*?^endmodule\n", re.MULTILINE | re.DOTALL)
_REGISTER = re.compile(r"^  reg (\w+);\n", re.MULTILINE)
_AFTER = 100  # ps from the edge of the clock to new operands at the ports
_REPLAY = """\
`timescale 1ps/1ps
module replay;
  reg clk = 1'b0;
  reg [<<in>>-1:0] operands [0:<<cycles>>-1];
  reg [<<out>>-1:0] results [0:<<cycles>>-1];
  reg [<<out>>-1:0] known [0:<<cycles>>-1];
  reg [<<in>>-1:0] p_in;
  wire [<<out>>-1:0] p_out;
  integer cycle;
  <<core>> core(.p_clk_0(clk)<<ports>>);
  initial begin
    $readmemb("operands.mem", operands);
    $readmemb("results.mem", results);
    $readmemb("known.mem", known);
    p_in = operands[0];
    for (cycle = 0; cycle < <<cycles>>; cycle = cycle + 1) begin
      #<<half>>;
      if (((p_out ^ results[cycle]) & known[cycle]) !== {<<out>>{1'b0}}) begin
        $display("WRONG %0d", cycle);
        $finish;
      end
      if (cycle == <<first>> - 1) begin $dumpfile("toggles.vcd"); $dumpvars(1, core); end
      clk = 1'b1;
      #<<after>> if (cycle + 1 < <<cycles>>) p_in = operands[cycle + 1];
      #(<<half>> - <<after>>) clk = 1'b0;
    end
    $display("DONE");
    $finish;
  end
endmodule
"""


@dataclass(frozen=True, kw_only=True)
class Toggles:
    """Rises and falls of each net in `cycles` of the clock."""

    cycles: int
    edges: Mapping[str, Mapping[int, int]]

    def of(self, net: int) -> int:
        """Return the toggles of a net."""
        return self.edges["rise"].get(net, 0) + self.edges["fall"].get(net, 0)


def count_toggles(netlist: CellNetlist, trace: PortTrace, yosys: Command, content: bytes) -> Toggles:
    """Return the toggles from the first beat of operands to the last of results; `content` is the Liberty file.

    Raises
    ------
    SynthesisError
        if the netlist's outputs are not those of the trace.
    """
    operands, results = trace.cycles(of_results=False), trace.cycles(of_results=True)
    if not operands or not results:
        raise SynthesisError("the simulation must take operands and give results for energy")
    first, last = max(operands[0], 1), results[-1]
    with tempfile.TemporaryDirectory(prefix="systoliq-energy-") as place:
        folder = Path(place)
        (folder / CELLS).write_bytes(content)
        half = round(1000 * netlist.timing.longest) + 10 * _AFTER
        text = _models(netlist, yosys, folder) + netlist.verilog() + _bench(netlist, trace, half, (first, last), folder)
        (folder / "replay.v").write_text(text)
        _run(folder)
        return Toggles(cycles=last - first + 1, edges=_edges(folder / "toggles.vcd"))


def _run(folder: Path) -> None:
    icarus = require("icarus").path
    assert icarus is not None  # noqa: S101 - require() has seen to it
    build = [str(icarus), "-g2005", "-s", "replay", "-o", "t", "replay.v"]
    done = run_child(build, cwd=folder, stderr=subprocess.STDOUT)
    if done.returncode:
        raise SynthesisError(f"Icarus does not compile the netlist: {tail(done.stdout, 3)}")
    command = limited([str(icarus.with_name("vvp")), "-n", "t"], _SECONDS)
    said = run_child(command, cwd=folder, stderr=subprocess.STDOUT).stdout
    if wrong := re.search(r"^WRONG (\d+)", said, re.MULTILINE):
        raise SynthesisError(f"the netlist's outputs differ from the design's in cycle {wrong[1]} of the simulation")
    if "DONE" not in said:
        raise SynthesisError(f"the replay of the netlist did not end in {_SECONDS} s: {tail(said, 1)}")


def _models(netlist: CellNetlist, yosys: Command, folder: Path) -> str:
    """Verilog of the cells that the netlist has, each in a module that delays its outputs; registers begin at 0."""
    script = ["read_liberty -ignore_miss_func " + CELLS, "write_verilog -noattr models.v"]
    (folder / "models.ys").write_text("\n".join(script) + "\n")
    done = yosys.run("models.ys", cwd=folder)
    if done.returncode:
        raise SynthesisError(f"Yosys failed on the library's models: {tail(done.stdout + done.stderr, 1)}")
    modules = {found[1]: found[0] for found in _MODULES.finditer((folder / "models.v").read_text())}
    found = ["`timescale 1ps/1ps\n"]
    for kind, cell in sorted({instance.kind: instance.cell for instance in netlist.instances}.items()):
        outputs = [name for name, pin in cell.pins.items() if pin.output]
        inputs = [name for name, pin in cell.pins.items() if not pin.output]
        times = ", ".join(f"{edge}_{name} = 0" for name in outputs for edge in ("rise", "fall"))
        ports = ", ".join([*(f"input {name}" for name in inputs), *(f"output {name}" for name in outputs)])
        pins = ", ".join([*(f".{name}({name})" for name in inputs), *(f".{name}(at_{name})" for name in outputs)])
        lines = [f"wire at_{name}; assign #(rise_{name}, fall_{name}) {name} = at_{name};" for name in outputs]
        delayed = "\n".join([f"module delayed_{kind} #(parameter {times}) ({ports});", *lines, f"{kind} gate({pins});"])
        found += [_REGISTER.sub(r"  reg \1 = 1'b0;\n", modules[kind]), delayed, "\nendmodule\n"]
    return "".join(found)


def _bench(netlist: CellNetlist, trace: PortTrace, half: int, window: tuple[int, int], folder: Path) -> str:
    """The module that replays the trace; the values are in files of `folder`."""
    inputs, outputs = ([name for name in ports if name != "clk"] for ports in (netlist.inputs, netlist.outputs))
    first, last = window
    cycles = last + 1
    masks = {name: [trace.known(name, cycle) for cycle in range(cycles)] for name in outputs}
    for cycle in range(first):  # what precedes the first beat is a reset
        for name in outputs:
            masks[name][cycle] = "0" * len(masks[name][cycle])
    for file, names, values in (
        ("operands.mem", inputs, trace.values), ("results.mem", outputs, trace.values), ("known.mem", outputs, masks),
    ):  # fmt: skip
        rows = ("".join(values[name][cycle] for name in names) for cycle in range(cycles))
        (folder / file).write_text("".join(f"{re.sub('[^01]', '0', row)}\n" for row in rows))
    ports, sizes = "", {}
    for bus, names, bits in (("p_in", inputs, netlist.inputs), ("p_out", outputs, netlist.outputs)):
        order = [f"p_{name}_{at}" for name in names for at in reversed(range(len(bits[name])))]
        ports += "".join(f",\n    .{name}({bus}[{len(order) - 1 - place}])" for place, name in enumerate(order))
        sizes[bus.removeprefix("p_")] = len(order)
    figures = {"cycles": cycles, "core": CORE, "ports": ports, "half": half, "first": first, "after": _AFTER}
    texts = {name: str(value) for name, value in {**figures, **sizes}.items()}
    return re.sub(r"<<(\w+)>>", lambda found: texts[found[1]], _REPLAY)


def _edges(path: Path) -> dict[str, dict[int, int]]:
    """Rises and falls of each net nN in the trace, whose values at its beginning do not count."""
    with path.open(encoding="ascii") as file:
        nets: dict[str, int] = {}
        for line in file:
            words = line.split()
            if words[:1] == ["$var"] and re.fullmatch(r"n\d+", words[4]):
                nets[words[3]] = int(words[4][1:])
            if words[:1] == ["$dumpvars"]:
                break
        for line in file:
            if line.startswith("$end"):
                break
        counts = Counter(line for line in file if line[0] in "01")
    found: dict[str, dict[int, int]] = {"rise": {}, "fall": {}}
    for line, count in counts.items():
        if (net := nets.get(line[1:].rstrip("\n"))) is not None:
            found["rise" if line[0] == "1" else "fall"][net] = count
    return found
