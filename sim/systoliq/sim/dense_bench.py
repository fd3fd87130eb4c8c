"""The bench of a dense layer behind AXI4-Stream names; runs inside the simulator, started by `cosimulation`."""

from __future__ import annotations

from typing import Any

import cocotb
import numpy as np

from systoliq.golden.words import as_words

from .axi_stream import Sink, Source, Stalls
from .bench import Checker, misplaced_last, run_all, run_cycles, timer
from .exchange import BenchOutcome, BenchRun

__all__ = ["dense"]


@cocotb.test
async def dense(dut: Any) -> None:
    """All runs, one after the other."""
    await run_all(dut, _run)


async def _run(dut: Any, run: BenchRun) -> BenchOutcome:
    seconds = timer()
    checker = Checker(run)
    source = Source(dut, "s_axis_a", Stalls(run.stalls[0], run.seed))
    sink = Sink(dut, "m_axis_y", Stalls(run.stalls[1], run.seed + 1), checker)
    cycles = await run_cycles(dut, run, [source], [sink], lambda: checker.complete, checker.restart)
    return BenchOutcome(
        words=as_words(checker.words, run.expected.shape[1]),
        last=np.array(checker.lasts, bool),
        valid=np.zeros((0, 0), np.uint8),
        wrong=checker.wrong,
        violations=(*sink.rule.violations, *misplaced_last(dut)),
        first_cycle=-1 if source.first is None else source.first,
        last_cycle=checker.last_cycle,
        cycles=cycles,
        seconds=seconds(),
    )
