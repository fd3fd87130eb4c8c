"""Simulation of a pipeline that never stalls, millions of inputs in seconds: Verilator with a main program in C++.

For blocks that take new inputs in every cycle and answer a fixed number of cycles later, such as the requantizer; no
Python runs while the simulation does.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.hw.verilog import files_of

from . import verilator
from .cache import content_key, obtain, run_directory
from .process import Reporter, SimulationError, call

__all__ = ["PipelineResult", "run_pipeline"]

_FORMAT = "1"  # of a cached build
_REPORTED = 20  # mismatches that are kept with their inputs


@dataclasses.dataclass(frozen=True, kw_only=True)
class PipelineResult:
    """Result of a run: `checked` outputs, how many were wrong, and the first of those with their inputs."""

    checked: int
    mismatches: int
    details: tuple[str, ...]
    seconds: float

    def check(self) -> PipelineResult:
        """Return this result, or raise `SimulationError` with the first errors."""
        if self.mismatches:
            found = "\n".join(self.details)
            raise SimulationError(f"{self.mismatches} of {self.checked} outputs differ:\n{found}")
        return self


def run_pipeline(
    verilog: str,
    top: str,
    *,
    inputs: Mapping[str, tuple[int, npt.NDArray[Any]]],
    output: str,
    bits: int,
    expected: npt.NDArray[Any],
    latency: int,
) -> PipelineResult:
    """Drive module `top` with `inputs` (by port, its bits and integers [count]), one of each a cycle.

    Its `output` of `bits` bits is compared with `expected` [count] modulo 2^bits, `latency` cycles after the inputs. No
    port has more than 64 bits; the clock is `clk`.

    Raises ToolError where Verilator or a compiler is missing, SimulationError where they refuse.
    """
    if not inputs or any(len(values) != len(expected) for _, values in inputs.values()):
        raise ValueError(f"inputs must be at least one array of the length of expected, {len(expected)}")
    main = _main({name: width for name, (width, _) in inputs.items()}, output, bits, latency)
    key = content_key(_FORMAT, *verilator.identity(), top, verilog, main)

    def make(folder: Path) -> None:
        source, program = folder / f"{top}.v", folder / "main.cpp"
        source.write_text(verilog)
        program.write_text(main)
        verilator.make_executable(folder / verilator.EXECUTABLE, [source], top, main=program, report=Reporter())

    folder, _ = obtain("pipelines", key, make)
    work = run_directory()
    records = np.stack(
        [np.asarray(values, np.int64) for values in (*(values for _, values in inputs.values()), expected)], axis=1
    )
    vectors = work / "vectors.bin"
    records.tofile(vectors)
    started = time.monotonic()
    report = Reporter()
    memories = {work / name: content for name, content in files_of(verilog).items()}  # read where the simulation runs
    for file, content in memories.items():
        file.write_bytes(content)
    call([folder / verilator.EXECUTABLE, vectors], report=report, folder=work)
    seconds = time.monotonic() - started
    for file in (vectors, *memories):
        file.unlink()
    *said, counts = report.messages[0].splitlines()
    checked, mismatches = map(int, counts.split())
    return PipelineResult(checked=checked, mismatches=mismatches, details=tuple(said), seconds=seconds)


def _main(widths: Mapping[str, int], output: str, bits: int, latency: int) -> str:
    drive = "\n".join(
        f"      top.{name} = (uint64_t)record[{index}] & {hex((1 << width) - 1)}ull;"
        for index, (name, width) in enumerate(widths.items())
    )
    named = " ".join(f"{name} %lld," for name in widths)
    values = ", ".join(f"(long long)record[{index}]" for index in range(len(widths)))
    return _MAIN.format(
        fields=len(widths) + 1,
        drive=drive,
        output=output,
        mask=hex((1 << bits) - 1),
        latency=latency,
        named=named,
        values=values,
        reported=_REPORTED,
    )


_MAIN = """\
#include "Vtop.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <vector>

double sc_time_stamp() {{ return 0; }}

int main(int argc, char** argv) {{
  const size_t fields = {fields}, latency = {latency};
  const uint64_t mask = {mask};
  std::vector<int64_t> data;
  FILE* file = fopen(argv[1], "rb");
  if (!file) return 2;
  fseek(file, 0, SEEK_END);
  data.resize(ftell(file) / sizeof(int64_t));
  rewind(file);
  if (fread(data.data(), sizeof(int64_t), data.size(), file) != data.size()) return 2;
  fclose(file);
  VerilatedContext context;
  Vtop top(&context);
  const size_t count = data.size() / fields;
  size_t checked = 0, wrong = 0;
  for (size_t edge = 0; checked < count; ++edge) {{
    if (edge < count) {{
      const int64_t* record = &data[edge * fields];
{drive}
    }}
    top.clk = 0;
    top.eval();
    top.clk = 1;
    top.eval();
    if (edge + 1 >= latency) {{
      const int64_t* record = &data[checked * fields];
      const uint64_t found = (uint64_t)top.{output} & mask, wanted = (uint64_t)record[fields - 1] & mask;
      if (found != wanted && wrong++ < {reported})
        printf("{named} expected %llu, got %llu\\n", {values}, (unsigned long long)wanted, (unsigned long long)found);
      ++checked;
    }}
  }}
  printf("%zu %zu\\n", checked, wrong);
  return 0;
}}
"""
