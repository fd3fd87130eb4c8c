"""The bench of a bare array; runs inside the simulator, started by `cosimulation`."""

from __future__ import annotations

from typing import Any

import cocotb
import numpy as np

from .axi_stream import Source, Stalls
from .bench import as_integers, as_words, run_all, run_cycles, timer
from .exchange import BenchOutcome, BenchRun

__all__ = ["array"]


@cocotb.test
async def array(dut: Any) -> None:
    """All runs, one after the other."""
    await run_all(dut, _run)


class SumsMonitor:
    """Reads the sums that cannot be held back, and compares each column's with the expected ones."""

    def __init__(self, dut: Any, run: BenchRun) -> None:
        self._sums, self._valid = dut.sums, dut.sums_valid
        self._columns = len(self._valid)
        self._bits = len(self._sums) // self._columns
        self._expected = [
            [word >> self._bits * column & (1 << self._bits) - 1 for word in as_integers(run.expected)]
            for column in range(self._columns)
        ]
        self.wrong = 0
        self.last_cycle = -1
        self.restart()

    @property
    def complete(self) -> bool:
        """Whether the last column gave all its sums, which it is the last to do."""
        return self._given[-1] >= len(self._expected[-1])

    def restart(self) -> None:
        """Expect the first sums again."""
        self._given = [0] * self._columns
        self.words: list[int] = []
        self.valid: list[int] = []

    def reset(self) -> None:
        """Nothing is under way here."""

    def drive(self) -> None:
        """Nothing can hold the sums back."""

    def sample(self, cycle: int) -> None:
        """Read the sums that are there."""
        valid = int(self._valid.value) if self._columns == 1 else self._valid.value.to_unsigned()
        if not valid:
            return
        data = self._sums.value
        undefined = 0
        if not data.is_resolvable:  # before the first tile, shadow registers hold what came before reset
            text = str(data)
            undefined = int("".join("0" if bit in "01" else "1" for bit in text), 2)
            data = type(data)("".join(bit if bit in "01" else "0" for bit in text))
        word = data.to_unsigned()
        self.words.append(word)
        self.valid.append(valid)
        self.last_cycle = cycle
        for column in range(self._columns):
            if valid >> column & 1:
                index, expected = self._given[column], self._expected[column]
                lane = (1 << self._bits) - 1 << self._bits * column
                found = (word & lane) >> self._bits * column
                if undefined & lane or index >= len(expected) or found != expected[index]:
                    self.wrong += 1
                self._given[column] += 1


async def _run(dut: Any, run: BenchRun) -> BenchOutcome:
    seconds = timer()
    monitor = SumsMonitor(dut, run)
    stalls = run.stalls.tolist()
    sources = [
        Source(dut, "s_axis_a", Stalls(stalls[0], run.seed)),
        Source(dut, "s_axis_b", Stalls(stalls[1], run.seed + 1), has_last=False),
    ]
    cycles = await run_cycles(dut, run, sources, [monitor], lambda: monitor.complete, monitor.restart)
    first = sources[0].first
    return BenchOutcome(
        words=as_words(monitor.words, run.expected.shape[1]),
        last=np.zeros(0, bool),
        valid=as_words(monitor.valid, -(-len(dut.sums_valid) // 8)),
        wrong=monitor.wrong,
        violations=(),
        first_cycle=-1 if first is None else first,
        last_cycle=monitor.last_cycle,
        cycles=cycles,
        seconds=seconds(),
    )
