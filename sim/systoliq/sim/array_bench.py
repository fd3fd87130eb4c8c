"""The bench of a bare array, which runs inside the simulator; `cosimulation` starts it."""

from __future__ import annotations

from typing import Any

import cocotb
import numpy as np

from systoliq.golden.words import as_words, to_integers

from .axi_stream import Source, Stalls
from .bench import run_all, run_cycles, timer
from .exchange import BenchOutcome, BenchRun
from .sums import ColumnSums, SumsReader

__all__ = ["array"]


@cocotb.test
async def array(dut: Any) -> None:
    """All runs, one after the other."""
    await run_all(dut, _run)


class SumsChecker:
    """Compares each column's sums with the expected ones as they arrive."""

    def __init__(self, run: BenchRun, columns: int, bits: int) -> None:
        self._columns = columns
        words = to_integers(run.expected)
        self._expected = [[word >> bits * column & (1 << bits) - 1 for word in words] for column in range(columns)]
        self.wrong = 0
        self.last_cycle = -1
        self.restart()

    @property
    def complete(self) -> bool:
        """True if the last column, which finishes last, has delivered all of its sums."""
        return self._given[-1] >= len(self._expected[-1])

    def restart(self) -> None:
        """Expect the first sums again."""
        self._given = [0] * self._columns
        self.words: list[int] = []
        self.valid: list[int] = []

    def __call__(self, sums: ColumnSums, cycle: int) -> None:
        """Take the sums of a cycle."""
        self.words.append(sums.word)
        self.valid.append(sums.valid)
        self.last_cycle = cycle
        for column, found in sums:
            index, expected = self._given[column], self._expected[column]
            if index >= len(expected) or found != expected[index]:
                self.wrong += 1
            self._given[column] += 1


async def _run(dut: Any, run: BenchRun) -> BenchOutcome:
    seconds = timer()
    columns = len(dut.sums_valid)
    checker = SumsChecker(run, columns, len(dut.sums) // columns)
    reader = SumsReader(dut, checker)
    stalls = run.stalls.tolist()
    sources = [
        Source(dut, "s_axis_a", Stalls(stalls[0], run.seed)),
        Source(dut, "s_axis_b", Stalls(stalls[1], run.seed + 1)),
    ]
    cycles = await run_cycles(dut, run, sources, [reader], lambda: checker.complete, checker.restart)
    first = sources[0].first
    return BenchOutcome(
        words=as_words(checker.words, run.expected.shape[1]),
        last=np.zeros(0, bool),
        valid=as_words(checker.valid, -(-columns // 8)),
        wrong=checker.wrong,
        violations=(),
        first_cycle=-1 if first is None else first,
        last_cycle=checker.last_cycle,
        cycles=cycles,
        seconds=seconds(),
    )
