"""Shared parts of the benches inside the simulator: reset, clock, checker, and a run cycle by cycle."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from cocotb.clock import Clock

from systoliq.golden.words import to_integers

from .axi_stream import Agent, Cycles, Source, Stalls
from .exchange import BenchOutcome, BenchRun, read_runs, write_outcomes

__all__ = ["LINGER", "Checker", "misplaced_last", "run_all", "run_cycles", "timer"]

PERIOD = 10  # ns; any will do
LINGER = 40  # cycles watched after the last expected beat, for beats too many


class Checker:
    """Compares beats with the expected ones as they arrive."""

    def __init__(self, run: BenchRun) -> None:
        self._expected = to_integers(run.expected)
        self._mask = to_integers(run.mask)
        self._last = run.expected_last.tolist()
        self.wrong = 0
        self.last_cycle = -1
        self.words: list[int] = []
        self.lasts: list[bool] = []

    @property
    def complete(self) -> bool:
        """True if the expected number of beats has arrived."""
        return len(self.words) >= len(self._expected)

    def restart(self) -> None:
        """Expect the first beat again; the count of wrong beats stays."""
        self.words, self.lasts = [], []

    def __call__(self, word: int, last: bool, cycle: int) -> None:
        """Take a beat."""
        index = len(self.words)
        if index >= len(self._expected) or word < 0:
            self.wrong += 1
        else:
            self.wrong += word & self._mask[index] != self._expected[index] or last != self._last[index]
        self.words.append(word)
        self.lasts.append(last)
        self.last_cycle = cycle


async def run_cycles(
    dut: Any,
    run: BenchRun,
    sources: list[Source],
    agents: list[Agent],
    complete: Callable[[], bool],
    restart: Callable[[], None],
) -> int:
    """Execute a run cycle by cycle, including its resets; return the number of cycles after the last reset.

    `restart` is called after each reset that interrupts the run. Results before the reset were checked and are expected
    again.
    """
    cycles = Cycles(dut.clk, dut.rst, [*sources, *agents])
    await cycles.reset(3)
    words = [to_integers(run.a), to_integers(run.b)]
    lasts = [run.a_last.tolist(), []]

    def load() -> None:
        for source, beats, ends in zip(sources, words, lasts, strict=False):
            source.load(beats, ends)

    stalls = Stalls(0.5, run.seed)
    for after in run.resets.tolist():
        load()
        await cycles.run(after)
        await cycles.reset(1 + stalls.bits(2))
        restart()
    load()
    begun = cycles.cycle
    await cycles.run(run.limit, complete)
    await cycles.run(LINGER)
    return cycles.cycle - begun


def misplaced_last(dut: Any) -> tuple[str, ...]:
    """The fault, if a layer reports a tlast of A in the wrong place: the benches send none."""
    return () if str(dut.error.value) == "0" else (f"error is {dut.error.value}",)


async def run_all(
    dut: Any, carry_out: Callable[[Any, BenchRun], Awaitable[BenchOutcome]], *, clock: bool = True
) -> None:
    """Execute every run and write the outcomes; fail if the checker found a fault."""
    outcomes: list[BenchOutcome] = []
    runs = read_runs()
    if clock:
        Clock(dut.clk, PERIOD, unit="ns", impl="gpi").start()
    try:
        for run in runs:
            outcomes.append(await carry_out(dut, run))  # noqa: PERF401 - those before an error are kept
    finally:
        write_outcomes(outcomes)
    wrong = sum(outcome.wrong for outcome in outcomes)
    violations = [text for outcome in outcomes for text in outcome.violations]
    if wrong or violations:
        raise AssertionError(f"{wrong} wrong beats; {'; '.join(violations[:5]) or 'no rule broken'}")


def timer() -> Callable[[], float]:
    """Seconds since the call of this function."""
    began = time.perf_counter()
    return lambda: time.perf_counter() - began
