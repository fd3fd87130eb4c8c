"""Make what tests share before the first of them starts, so that no test pays for it.

python -m tests.support.prepare

Yosys is compiled from WebAssembly, and Verilator's runtime and headers from C++ for each kind of build that tests use.
What is in the cache already is not made again.
"""

from __future__ import annotations

import sys

from systoliq.sim import build, verilator
from systoliq.sim.system import SystemSimulation
from systoliq.sim.tools import find

from . import yosys

__all__ = ["QUICK_FLAGS", "main"]

QUICK_FLAGS = ("-O0",)
"""C++ flags of unmarked tests, whose runs are short: a design compiles in half the time."""

_MODULE = "module top(input wire a, output wire y); assign y = a; endmodule\n"
_TESTBENCH = "module top; initial #1 $finish; endmodule\n"


def main() -> None:
    """Compile what is not in the cache; without Verilator and a C++ compiler only Yosys."""
    yosys.loaded()
    if not (find("verilator").found and find("c++").found):
        return
    for flags in (QUICK_FLAGS, verilator.DESIGN_FLAGS):
        verilator.BENCH_FLAGS = flags
        for waves in (False, True):
            build(_MODULE, "top", "verilator", waves=waves, progress=show)
        SystemSimulation.build({"top.v": _TESTBENCH}, "top", show)


def show(stage: str) -> None:
    """Print the name of a stage that takes time."""
    sys.stdout.write(f"{stage}\n")


if __name__ == "__main__":
    main()
