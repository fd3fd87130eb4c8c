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
from .exchange import PATTERN_CYCLES, Beats, BenchOutcome, BenchRun, Flags, Words

__all__ = ["bulk"]


@cocotb.test
async def bulk(dut: Any) -> None:
    """All runs, one after the other."""
    await run_all(dut, _run, clock=not cocotb.SIM_NAME.lower().startswith("icarus"))


async def _run(dut: Any, run: BenchRun) -> BenchOutcome:
    seconds = timer()
    dense = run.mask.size > 0
    inputs = [Beats(run.a, run.a_last), *run.more_inputs]
    if not dense:
        inputs.append(Beats(run.b, np.zeros(len(run.b), bool)))
    expected = [Beats(run.expected, run.expected_last), *run.more_expected]
    for index, beats in enumerate(inputs):
        _write_beats(f"input_{index}", beats)
    # A layer or a network stalls at its inputs and outputs, a bare array at A and B.
    of_inputs, of_outputs = run.stalls.tolist()
    stalls = [of_inputs] * len(inputs) + [of_outputs] * len(expected) if dense else [of_inputs, of_outputs, 0.0]
    names = [f"input_{index}" for index in range(len(inputs))] + [f"output_{index}" for index in range(len(expected))]
    rng = np.random.default_rng(run.seed)
    for name, probability in zip(names, stalls, strict=True):
        np.packbits(rng.random(PATTERN_CYCLES) < probability).tofile(f"{name}_pauses.bin")

    await FallingEdge(dut.clk)
    dut.run.value = 0
    dut.rst.value = 1
    dut.expected.value = sum(len(each.words) for each in expected)
    dut.limit.value = run.limit
    dut.linger.value = LINGER
    dut.stalled.value = sum(1 << index for index, probability in enumerate(stalls) if probability)
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    dut.run.value = 1
    await RisingEdge(dut.done)
    await FallingEdge(dut.clk)

    flag_bytes = len(dut.out_flags) // 8
    words, flags = _read_results("output_0", run.expected.shape[1], flag_bytes)
    last = flags[:, 0] != 0 if dense else np.zeros(0, bool)
    more = tuple(_beats(f"output_{index}", each) for index, each in enumerate(run.more_expected, start=1))
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
        more_outputs=more,
    )


def _write_beats(name: str, beats: Beats) -> None:
    words = beats.words[:, ::-1]
    np.concatenate([beats.last.astype(np.uint8)[:, None], words], axis=1).tofile(f"{name}.bin")


def _read_results(name: str, word_bytes: int, flag_bytes: int) -> tuple[Words, Words]:
    padded = -(-word_bytes // 4) * 4
    records = np.fromfile(Path(f"{name}.bin"), np.uint8).reshape(-1, padded + flag_bytes)
    return records[:, :word_bytes], records[:, padded:]


def _beats(name: str, expected: Beats) -> Beats:
    """Results of an output, whose flag is tlast."""
    words, flags = _read_results(name, expected.words.shape[1], 4)
    return Beats(words, flags[:, 0] != 0)


def _signed(dut: Any, name: str) -> int:
    value: int = getattr(dut, name).value.to_signed()
    return value


def _wrong(run: BenchRun, words: npt.NDArray[np.uint8], last: Flags) -> int:
    """Beats that are not as expected; a missing one is not counted, the host sees it."""
    count = min(len(words), len(run.expected))
    differs = ((words[:count] & run.mask[:count]) != run.expected[:count]).any(axis=1)
    return int((differs | (last[:count] != run.expected_last[:count])).sum()) + max(len(words) - count, 0)
