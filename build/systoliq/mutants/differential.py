"""Two versions of a design in one simulation of random traffic: the cycle in which they first differ."""

from __future__ import annotations

import re
from pathlib import Path

from systoliq.sim.process import limited
from systoliq.subprocesses import run_child

from .environment import Port, environment, modules_of, ports_of

__all__ = ["first_difference"]

_BENCH = """\
module differential;
  reg clk = 1'b0;
  always #1 clk = !clk;
  reg [31:0] mode = 32'd0;  // of the traffic, for 256 cycles: how often what is valid, ready or marked, and what data
  reg rst = 1'b1;
  integer cycle = 0;
<<declarations>>
  systoliq_original original (<<original>>);
  systoliq_mutant mutant (<<mutant>>);
  wire same = <<same>>;

  function offered(input [1:0] often);
    offered = often == 2'd3 || ($urandom & 32'd3) <= {30'd0, often};
  endfunction

  always @(posedge clk) begin
    cycle <= cycle + 1;
    if (cycle % 256 == 0) mode <= $urandom;
    rst <= cycle < 2 || (mode[1:0] == 2'd0 && ($urandom & (mode[2] ? 32'd15 : 32'd127)) == 32'd0);
<<traffic>>
    if (!same) begin
      $display("DIFFERENT %0d", cycle);
      $finish;
    end else if (cycle == <<cycles>>) begin
      $display("SAME");
      $finish;
    end
  end
endmodule
"""


def first_difference(
    original: str, mutant: str, top: str, folder: Path, *, models: str = "", cycles: int, seconds: float
) -> int | None:
    """Return the first of `cycles` cycles in which a user could see a difference; None if there is none within
    `seconds` of processor time.

    Both arguments are complete Verilog texts, except for the `models` of vendor cells. The traffic includes resets.
    `folder` receives files, and must have those that the Verilog reads.
    """
    ports = ports_of(original, top)
    bench = _bench(ports, cycles)
    texts = [
        _renamed(text, prefix)
        + environment(text, top, f"systoliq_{name}").replace(f"  {top} within", f"  {prefix}{top} within")
        for text, prefix, name in ((original, "", "original"), (mutant, "mutant_", "mutant"))
    ]
    (folder / "differential.v").write_text("\n".join([*texts, models, bench]))
    compile_it = ["iverilog", "-g2005", "-s", "differential", "-o", "d", "differential.v"]
    if run_child(compile_it, cwd=folder).returncode:
        return None
    command = limited(["vvp", "-n", "d"], seconds)
    done = run_child(command, cwd=folder)
    found = re.search(r"^DIFFERENT (\d+)", done.stdout, re.M)
    return int(found[1]) if found else None


def _renamed(text: str, prefix: str) -> str:
    """`text` with `prefix` before the names of its modules."""
    names = "|".join(sorted(map(re.escape, modules_of(text)), key=len, reverse=True))
    return re.sub(rf"(?m)^(module |\s+)({names})(?=\(| (?:#\(.*\) )?\w+ \()", rf"\g<1>{prefix}\g<2>", text)


def _bench(ports: list[Port], cycles: int) -> str:
    given = [port for port in ports if port.is_input and port.name not in ("clk", "rst")]
    seen = [port for port in ports if not port.is_input]
    declarations = [f"  reg {port.range}{port.name} = 0;" for port in given]
    declarations += [f"  wire {port.range}{port.name}_{side};" for port in seen for side in "om"]
    sides = {
        side: ", ".join(
            [".clk(clk), .rst(rst)", *(f".{port.name}({port.name})" for port in given)]
            + [f".{port.name}({port.name}_{side})" for port in seen]
        )
        for side in "om"
    }
    text = _BENCH
    for name, value in {
        "declarations": "\n".join(declarations),
        "original": sides["o"],
        "mutant": sides["m"],
        "same": " && ".join(f"{port.name}_o === {port.name}_m" for port in seen),
        "traffic": "\n".join(_traffic(port, at) for at, port in enumerate(given)),
        "cycles": str(cycles),
    }.items():
        text = text.replace(f"<<{name}>>", value)
    return text


def _traffic(port: Port, at: int) -> str:
    """The next value of an input: a handshake as often as the mode says, data of one of four kinds."""
    often = 3 + 2 * at % 24
    if port.width == 1:
        return f"    {port.name} <= offered(mode[{often}+:2]);"
    words = -(-port.width // 32)
    word = "$urandom"
    kinds = (word, f"{word} & {word} & {word}", f"{word} | {word} | {word}", f"{{4{{{word} & 32'd1 ? 8'h7f : 8'h80}}}}")
    cases = [f"      {kind}: {port.name} <= {{{', '.join([f'{data}'] * words)}}};" for kind, data in enumerate(kinds)]
    return "\n".join(["    case (mode[28:27])", *cases, "    endcase"])
