"""The bench of a bulk run: starts the harness (see `harness`) and waits for its end; runs inside the simulator.

Beats and pauses are in files in the working directory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cocotb
import numpy as np
import numpy.typing as npt
from cocotb.triggers import FallingEdge, RisingEdge

from .bench import LINGER, misplaced_last, run_all, timer
from .exchange import PATTERN_CYCLES, BenchOutcome, BenchRun, Flags, Words

__all__ = ["bulk"]


@cocotb.test
async def bulk(dut: Any) -> None:
    """All runs, one after the other."""
    await run_all(dut, _run, clock=not cocotb.SIM_NAME.lower().startswith("icarus"))


async def _run(dut: Any, run: BenchRun) -> BenchOutcome:
    seconds = timer()
    dense = run.mask.size > 0
    _write_beats("a", run.a, run.a_last)
    if not dense:
        _write_beats("b", run.b, np.zeros(len(run.b), bool))
    # A layer stalls at A and Y, a bare array at A and B.
    names = ("a", "out") if dense else ("a", "b")
    rng = np.random.default_rng(run.seed)
    for name, probability in zip(names, run.stalls.tolist(), strict=True):
        np.packbits(rng.random(PATTERN_CYCLES) < probability).tofile(f"{name}_pauses.bin")
    stalled = [index for index, name in enumerate(("a", "b", "out")) if name in names and run.stalls[names.index(name)]]

    await FallingEdge(dut.clk)
    dut.run.value = 0
    dut.rst.value = 1
    dut.expected.value = len(run.expected)
    dut.limit.value = run.limit
    dut.linger.value = LINGER
    dut.stalled.value = sum(1 << index for index in stalled)
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    dut.run.value = 1
    await RisingEdge(dut.done)
    await FallingEdge(dut.clk)

    flag_bytes = len(dut.out_flags) // 8
    words, flags = _read_results(run.expected.shape[1], flag_bytes)
    last = flags[:, 0] != 0 if dense else np.zeros(0, bool)
    broken = dut.broken.value.to_unsigned()
    violations = (f"m_axis_y: {broken} beats changed before they were taken",) if broken else ()
    first, final, cycles = (_signed(dut, name) for name in ("first_cycle", "last_cycle", "cycle"))
    return BenchOutcome(
        words=words,
        last=last,
        valid=np.zeros((0, 0), np.uint8) if dense else flags,
        wrong=_wrong(run, words, last) if dense else 0,
        violations=violations + misplaced_last(dut),
        first_cycle=first,
        last_cycle=final,
        cycles=cycles,
        seconds=seconds(),
    )


def _write_beats(name: str, words: Words, last: Flags) -> None:
    np.concatenate([last.astype(np.uint8)[:, None], words[:, ::-1]], axis=1).tofile(f"{name}.bin")


def _read_results(word_bytes: int, flag_bytes: int) -> tuple[Words, Words]:
    padded = -(-word_bytes // 4) * 4
    records = np.fromfile(Path("out.bin"), np.uint8).reshape(-1, padded + flag_bytes)
    return records[:, :word_bytes], records[:, padded:]


def _signed(dut: Any, name: str) -> int:
    value: int = getattr(dut, name).value.to_signed()
    return value


def _wrong(run: BenchRun, words: npt.NDArray[np.uint8], last: Flags) -> int:
    """Beats that are not as expected; a missing one is not counted, the host sees it."""
    count = min(len(words), len(run.expected))
    differs = ((words[:count] & run.mask[:count]) != run.expected[:count]).any(axis=1)
    return int((differs | (last[:count] != run.expected_last[:count])).sum()) + max(len(words) - count, 0)
