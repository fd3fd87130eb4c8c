"""The fastest way to run a bare array under Verilator: a C++ main loop, ports driven from memory, nothing checked.

This is the limit that `systoliq bench` holds bulk cosimulation against. Verilator and compiler get the flags of a
cosimulation.
"""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from systoliq.sim import verilator
from systoliq.sim.cache import content_key, obtain
from systoliq.sim.process import Reporter, SimulationError, tail

__all__ = ["BareLoop", "LoopRun", "build_loop"]

Words = npt.NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class LoopRun:
    """Outputs of the loop: a word of all sums [bytes] and one of valid bits for each cycle with a sum."""

    sums: Words
    valid: Words
    cycles: int
    seconds: float

    @property
    def cycles_per_second(self) -> float:
        """Speed of the loop itself: files, start and reset do not count."""
        return self.cycles / self.seconds


@dataclass(frozen=True, kw_only=True)
class BareLoop:
    """A compiled loop."""

    executable: Path

    def run(self, a: Words, last: npt.NDArray[np.bool_], b: Words, *, expected: int, sums_bytes: int) -> LoopRun:
        """Send all beats, words [beats, bytes], and stop after `expected` sums of the last column."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            a.tofile(folder / "a.bin")
            last.astype(np.uint8).tofile(folder / "last.bin")
            b.tofile(folder / "b.bin")
            command = [self.executable, len(a), a.shape[1], b.shape[1], sums_bytes, expected]
            done = subprocess.run(  # what build_loop() made
                [str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise SimulationError(f"the C++ loop ended with exit status {done.returncode}:\n{tail(done.stderr)}")
            cycles, seconds, valid_bytes = done.stdout.split()
            records = np.fromfile(folder / "out.bin", np.uint8).reshape(-1, sums_bytes + int(valid_bytes))
        return LoopRun(
            sums=records[:, :sums_bytes], valid=records[:, sums_bytes:], cycles=int(cycles), seconds=float(seconds)
        )


def build_loop(array_verilog: str, top: str) -> BareLoop:
    """Compile the loop around an emitted `systoliq.hw.AxiBareArray`, or take it from the cache of builds."""

    def make(folder: Path) -> None:
        source, main = folder / f"{top}.v", folder / "main.cpp"
        source.write_text(array_verilog)
        main.write_text(_MAIN)
        verilator.make_executable(folder / "loop", [source], top, main=main, report=Reporter())

    folder, _ = obtain("loops", content_key(*verilator.identity(), top, array_verilog, _MAIN), make)
    return BareLoop(executable=folder / "loop")


_MAIN = r"""
#include "Vtop.h"
#include "verilated.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using Bytes = std::vector<unsigned char>;

static Bytes load(const char* name, size_t size) {
    Bytes bytes(size);
    FILE* file = fopen(name, "rb");
    if (!file || fread(bytes.data(), 1, size, file) != size) {
        fprintf(stderr, "%s must hold %zu bytes\n", name, size);
        exit(1);
    }
    fclose(file);
    return bytes;
}

int main(int, char** argv) {
    const size_t beats = atoll(argv[1]), a_bytes = atoll(argv[2]), b_bytes = atoll(argv[3]);
    const size_t sums_bytes = atoll(argv[4]), expected = atoll(argv[5]);
    const Bytes a = load("a.bin", beats * a_bytes), last = load("last.bin", beats), b = load("b.bin", beats * b_bytes);
    VerilatedContext context;
    Vtop top{&context};
    const size_t valid_bytes = sizeof top.sums_valid;
    Bytes out;
    out.reserve(2 * expected * (sums_bytes + valid_bytes));

    top.rst = 1;
    for (int edge = 0; edge < 6; ++edge) {
        top.clk = edge & 1;
        top.eval();
    }
    top.rst = 0;

    const auto began = std::chrono::steady_clock::now();
    size_t beat = 0, received = 0, cycles = 0;
    while (received < expected) {
        if (beat < beats) {
            memcpy(&top.s_axis_a_tdata, &a[beat * a_bytes], a_bytes);
            memcpy(&top.s_axis_b_tdata, &b[beat * b_bytes], b_bytes);
            top.s_axis_a_tlast = last[beat];
        }
        top.s_axis_a_tvalid = top.s_axis_b_tvalid = beat < beats;
        top.clk = 0;
        top.eval();
        const unsigned char* valid = reinterpret_cast<const unsigned char*>(&top.sums_valid);
        bool any = false;
        for (size_t i = 0; i < valid_bytes; ++i) any |= valid[i];
        if (any) {
            const unsigned char* sums = reinterpret_cast<const unsigned char*>(&top.sums);
            out.insert(out.end(), sums, sums + sums_bytes);
            out.insert(out.end(), valid, valid + valid_bytes);
            const size_t column = sums_bytes / 4 - 1;  // the last one; sums have 32 bits
            received += valid[column / 8] >> column % 8 & 1;
        }
        beat += beat < beats && top.s_axis_a_tready;
        top.clk = 1;
        top.eval();
        ++cycles;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    FILE* file = fopen("out.bin", "wb");
    if (!file || fwrite(out.data(), 1, out.size(), file) != out.size()) return 1;
    fclose(file);
    printf("%zu %.9f %zu\n", cycles, seconds, valid_bytes);
    return 0;
}
"""
