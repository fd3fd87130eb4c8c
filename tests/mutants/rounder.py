"""Mutants of an engine's rounder, beside the original, fed with what its testbench's jobs put there.

python tests/mutants/rounder.py --count 120 --seed 1

Prints how many differ in a result that is seen, by the jobs of sums near ties, by all others, and by either; how many
of the rest are proven equivalent for all products of sums and multipliers; and the lines of those that are left.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from systoliq.design import EngineDesign
from systoliq.golden import matmul_integer
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.engine_lane import MIN_SHIFT
from systoliq.hw.engine.host.tables import column_constants
from systoliq.mutants.environment import modules_of, ports_of
from systoliq.mutants.equivalence import none_seen, same_state
from systoliq.mutants.mutation import Mutant, mutants_of
from systoliq.testbench.engine.stimulus import NEAR_TIES, EngineJob, engine_stimulus

_MODULE = "engine_round_near_tie"
_LATENCY = 12  # cycles, at the most
_COPY = """\
  wire {0}_beyond, {0}_negative, {0}_up;
  wire signed [{high}:0] {0}_floor;
  {0} i_{0} (.clk(clk), .extra(extra), .value(value), .beyond({0}_beyond), .negative({0}_negative), .up({0}_up),
    .floor({0}_floor));
  wire signed [{high}+1:0] {0}_y = {0}_beyond ? {{{{3{{{0}_negative}}}}, {{{high}{{!{0}_negative}}}}}}
                                 : {0}_floor + $signed({{1'b0, {0}_up}});
"""
_BENCH = """\
module bench;
  reg clk = 1'b0;
  reg [{extra_high}:0] extra = 0;
  reg [{value_high}:0] value = 0;
  reg [{extra_high}:0] extras [0:{last}];
  reg [{value_high}:0] values [0:{last}];
  reg [{mutants_high}:0] told = 0;
  integer k;
{copies}
  initial begin
    $readmemh("extras.hex", extras);
    $readmemh("values.hex", values);
    for (k = 0; k <= {last} + {latency}; k = k + 1) begin
      extra = k <= {last} ? extras[k] : 0;
      value = k > 0 && k <= {last} + 1 ? values[k-1] : 0;
      #1 clk = 1'b1;
      #1;
{compared}
      clk = 1'b0;
      #1;
    end
    $display("%b", told);
    $finish;
  end
endmodule
"""


def given(job: EngineJob) -> list[tuple[int, int]]:
    """Product and shift of each result of a job, as the rounder gets them."""
    if getattr(job.job, "scale", None) is None:
        return []
    j = job.job
    a_zero_point = j.a_zero_point if len(j.a_zero_point) > 1 else j.a_zero_point[0]
    sums = matmul_integer(j.a, j.b, a_zero_point, j.b_zero_point) + j.bias
    multipliers, shifts = column_constants(j.scale)
    return [
        (int(np.float32(sums[m, n])) * int(multipliers[n]), int(shifts[n]) - MIN_SHIFT)
        for m, n in np.ndindex(*sums.shape)
    ]


def differ(verilog: str, mutants: list[Mutant], inputs: list[tuple[int, int]]) -> list[bool]:
    """For each mutant whether one of `inputs` tells it from the original."""
    lines, body = verilog.splitlines(), modules_of(verilog)[_MODULE]
    width = {port.name: port.width for port in ports_of(verilog, _MODULE)}
    names = ["original", *(f"mutant_{i}" for i in range(len(mutants)))]
    bodies = [body, *(modules_of(mutant.applied(lines))[_MODULE] for mutant in mutants)]
    copies = [_COPY.format(name, high=width["floor"] - 1) for name in names]
    same = "      if ({0}_y !== original_y || {0}_beyond !== original_beyond) told[{1}] = 1'b1;"
    bench = _BENCH.format(
        extra_high=width["extra"] - 1,
        value_high=width["value"] - 1,
        last=len(inputs) - 1,
        mutants_high=len(mutants) - 1,
        latency=_LATENCY,
        copies="".join(copies),
        compared="\n".join(same.format(name, index) for index, name in enumerate(names[1:])),
    )
    renamed = [text.replace(f"module {_MODULE}(", f"module {name}(") for name, text in zip(names, bodies, strict=True)]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "bench.v").write_text("\n".join([*renamed, bench]))
        (folder / "extras.hex").write_text("".join(f"{extra:x}\n" for _, extra in inputs))
        mask = (1 << width["value"]) - 1
        (folder / "values.hex").write_text("".join(f"{value & mask:x}\n" for value, _ in inputs))
        command = ["iverilog", "-g2005", "-s", "bench", "-o", "t", "bench.v"]
        subprocess.run(command, cwd=folder, capture_output=True, check=True)
        said = subprocess.run(["vvp", "-n", "t"], cwd=folder, capture_output=True, text=True, check=True).stdout
    return [bit == "1" for bit in reversed(said.strip())]


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=120, help="mutants, of a line each; default 120")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    chosen = parser.parse_args()
    design = EngineDesign(EngineConfig(rows=1, cols=2, depth=1, lanes=2, a_words=8, b_words=8))
    verilog = str(design.verilog)
    groups = [found for found in mutants_of(verilog.splitlines()).values() if found[0].module == _MODULE]
    rng = random.Random(chosen.seed)
    mutants = [rng.choice(found) for found in rng.sample(groups, min(chosen.count, len(groups)))]
    jobs = engine_stimulus(design)
    near = [each for job in jobs if job.title == NEAR_TIES for each in given(job)]
    others = [each for job in jobs if job.title != NEAR_TIES for each in given(job)]
    by_near, by_others = (differ(verilog, mutants, inputs) for inputs in (near, others))
    told = [a or b for a, b in zip(by_near, by_others, strict=True)]
    left = [mutant for mutant, seen in zip(mutants, told, strict=True) if not seen and not _equivalent(verilog, mutant)]
    sys.stdout.write(
        f"{len(mutants)} mutants: {sum(by_others)} told by the {len(others)} results of other jobs, {sum(by_near)} by "
        f"the {len(near)} near ties, {sum(told)} by either; {len(mutants) - sum(told) - len(left)} equivalent, "
        f"{len(left)} left\n"
    )
    for mutant in left:
        sys.stdout.write(f"{mutant.line}:\n  - {mutant.before.strip()}\n  + {mutant.after.strip()}\n")


def _equivalent(verilog: str, mutant: Mutant) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        asked = (verilog, mutant, Path(folder))
        return same_state(*asked, seconds=30, whole=False) or none_seen(*asked, seconds=30, whole=False)


if __name__ == "__main__":
    main()
