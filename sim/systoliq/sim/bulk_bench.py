"""The bench of a bulk run: starts the harness (see `harness`) and waits for its end; runs inside the simulator.

Beats and pauses are files in the working directory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cocotb
import numpy as np
import numpy.typing as npt
from cocotb.triggers import FallingEdge, RisingEdge

from .bench import LINGER, misplaced_last, run_all, timer
from .plan import PATTERN_CYCLES, Flags, Job, Outcome, Words

__all__ = ["bulk"]


@cocotb.test
async def bulk(dut: Any) -> None:
    """All jobs of the plan, one after the other."""
    await run_all(dut, _run, clock=not cocotb.SIM_NAME.lower().startswith("icarus"))


async def _run(dut: Any, job: Job) -> Outcome:
    seconds = timer()
    dense = job.mask.size > 0
    _write_beats("a", job.a, job.a_last)
    if not dense:
        _write_beats("b", job.b, np.zeros(len(job.b), bool))
    # The stalls of a layer are those of A and Y, those of a bare array those of A and B.
    names = ("a", "out") if dense else ("a", "b")
    rng = np.random.default_rng(job.seed)
    for name, probability in zip(names, job.stalls.tolist(), strict=True):
        np.packbits(rng.random(PATTERN_CYCLES) < probability).tofile(f"{name}_pauses.bin")
    stalled = [index for index, name in enumerate(("a", "b", "out")) if name in names and job.stalls[names.index(name)]]

    await FallingEdge(dut.clk)
    dut.run.value = 0
    dut.rst.value = 1
    dut.expected.value = len(job.expected)
    dut.limit.value = job.limit
    dut.linger.value = LINGER
    dut.stalled.value = sum(1 << index for index in stalled)
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    dut.run.value = 1
    await RisingEdge(dut.done)
    await FallingEdge(dut.clk)

    flag_bytes = len(dut.out_flags) // 8
    words, flags = _read_results(job.expected.shape[1], flag_bytes)
    last = flags[:, 0] != 0 if dense else np.zeros(0, bool)
    broken = dut.broken.value.to_unsigned()
    violations = (f"m_axis_y: {broken} beats changed before they were taken",) if broken else ()
    first, final, cycles = (_signed(dut, name) for name in ("first_cycle", "last_cycle", "cycle"))
    return Outcome(
        words=words,
        last=last,
        valid=np.zeros((0, 0), np.uint8) if dense else flags,
        wrong=_wrong(job, words, last) if dense else 0,
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


def _wrong(job: Job, words: npt.NDArray[np.uint8], last: Flags) -> int:
    """Beats that are not as expected; a missing one is not counted, the host sees it."""
    count = min(len(words), len(job.expected))
    differs = ((words[:count] & job.mask[:count]) != job.expected[:count]).any(axis=1)
    return int((differs | (last[:count] != job.expected_last[:count])).sum()) + max(len(words) - count, 0)
