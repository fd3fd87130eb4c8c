"""Cosimulation: the emitted Verilog runs under a simulator on real input, and every output is compared with golden.

    result = cosimulate(dense, a, simulator="icarus", stalls=(0.3, 0.5), resets=1)
    result.check()

Expected outputs come from golden's integer arithmetic on the whole of A at once; the hardware's way of cutting it into
tiles has no part in them.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from systoliq.golden.accumulate import exact_matmul
from systoliq.hw import AxiBareArray, AxiDense, BareArray, Dense, emit_verilog
from systoliq.hw.cells import models_verilog

from . import harness
from .cache import run_directory
from .layout import ArrayLayout, DenseLayout, to_words
from .plan import VARIABLE, Job, Outcome, read_outcomes, write_jobs
from .process import SimulationError
from .runner import Simulation, SimulatorName, SimulatorWarning, build

__all__ = [
    "CosimulationResult",
    "Mismatch",
    "Run",
    "array_verilog",
    "cosimulate",
    "cosimulate_array",
    "cosimulate_runs",
    "dense_verilog",
]

DENSE_TOP = "dense"
ARRAY_TOP = "array"
REPORTED = 100  # mismatches kept with their place


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mismatch:
    """One output that is not what golden says; `got` is None where it never came."""

    row: int
    column: int
    expected: int
    got: int | None

    def __str__(self) -> str:
        got = "nothing" if self.got is None else self.got
        return f"row {self.row}, column {self.column}: expected {self.expected}, got {got}"


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class CosimulationResult:
    """What a run gave.

    `y` and `expected` are [M, N] (for the bare array, the sums). `mismatches` counts the outputs that differ, and
    `details` places the first hundred of them. `violations` are other faults: a `last` in the wrong place, beats too
    many, a broken rule of the bus, a difference before a reset. `cycles` runs from the first beat of A to the last of
    Y, both included; `simulated_cycles` is all that the simulator went through, and `seconds` the time that took.
    `utilization` is useful multiply-accumulates (`macs`) per multiply-accumulate that the array could do in `cycles`.
    """

    y: npt.NDArray[np.integer]
    expected: npt.NDArray[np.integer]
    mismatches: int
    details: tuple[Mismatch, ...]
    violations: tuple[str, ...]
    cycles: int
    simulated_cycles: int
    seconds: float
    simulator: SimulatorName
    macs: int
    utilization: float
    log: Path

    @property
    def passed(self) -> bool:
        """Whether every output is right and no rule was broken."""
        return not self.mismatches and not self.violations

    def check(self) -> CosimulationResult:
        """Give this result back, or raise `SimulationError` with what was wrong."""
        if self.passed:
            return self
        faults = [*map(str, self.details[:5]), *self.violations[:5]]
        raise SimulationError(
            f"{self.mismatches} of {self.expected.size} outputs differ from golden under {self.simulator} "
            f"(log: {self.log}):\n" + "\n".join(faults)
        )


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """One run of a dense layer: its rows of A [M, K], and how it is disturbed.

    `batches` is a number of batches, as equal as can be, or their row counts; they follow each other without a pause.
    `stalls` are the probabilities of a pause in a cycle, of the source of A and of the taker of Y. After each of
    `resets` resets, at random moments, the run begins again. `bulk` moves the beats inside the simulator, an order of
    magnitude faster than by Python; it needs a run without resets, and is the default there.
    """

    a: npt.NDArray[np.integer]
    stalls: tuple[float, float] | float = 0
    seed: int = 0
    resets: int = 0
    batches: int | Sequence[int] = 1
    bulk: bool | None = None

    @property
    def probabilities(self) -> tuple[float, float]:
        """`stalls` for each side."""
        return _probabilities(self.stalls)

    @property
    def rows(self) -> list[int]:
        """The row counts of the batches."""
        m = len(self.a)
        if isinstance(self.batches, int):
            if not 1 <= self.batches <= m:
                raise ValueError(f"batches must be 1 to {m} for {m} rows, not {self.batches!r}")
            return [len(part) for part in np.array_split(np.arange(m), self.batches)]
        rows = [int(count) for count in self.batches]
        if sum(rows) != m or min(rows, default=0) < 1:
            raise ValueError(f"batches must be positive and sum to the {m} rows of a, not {list(self.batches)!r}")
        return rows

    @property
    def in_bulk(self) -> bool:
        """`bulk`, or its default."""
        if self.bulk and self.resets:
            raise ValueError(f"resets must be 0 in bulk, not {self.resets!r}")
        return not self.resets if self.bulk is None else self.bulk


def cosimulate(
    dense: Dense,
    a: npt.NDArray[np.integer],
    *,
    simulator: SimulatorName = "verilator",
    stalls: tuple[float, float] | float = 0,
    seed: int = 0,
    resets: int = 0,
    batches: int | Sequence[int] = 1,
    bulk: bool | None = None,
    waves: Path | None = None,
    verilog: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> CosimulationResult:
    """Run rows of A [M, K] through the Verilog of a layer and compare with golden; see `Run` for the disturbances.

    Parameters
    ----------
    waves
        file for a trace: `.vcd`, or `.fst` under Icarus.
    verilog
        text to simulate in place of the emitted one; its top is called `dense`.
    progress
        called with the name of each stage that takes time.
    """
    run = Run(a=a, stalls=stalls, seed=seed, resets=resets, batches=batches, bulk=bulk)
    return cosimulate_runs(dense, [run], simulator=simulator, waves=waves, verilog=verilog, progress=progress)[0]


def dense_verilog(dense: Dense) -> str:
    """The Verilog that `cosimulate` runs: the layer's, and the models of its vendor cells."""
    return emit_verilog(AxiDense(dense), DENSE_TOP) + models_verilog(dense.config.cells)


def array_verilog(array: BareArray) -> str:
    """The Verilog that `cosimulate_array` runs, likewise."""
    return emit_verilog(AxiBareArray(array), ARRAY_TOP) + models_verilog(array.config.cells)


def cosimulate_runs(
    dense: Dense,
    runs: Sequence[Run],
    *,
    simulator: SimulatorName = "verilator",
    waves: Path | None = None,
    verilog: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[CosimulationResult]:
    """As `cosimulate`, for several runs of one layer in one simulator process."""
    prepared = [_prepare(dense, run) for run in runs]
    text = dense_verilog(dense) if verilog is None else verilog
    ports = harness.Ports.of_dense(dense)
    outcomes, log = _simulate(
        text, ports, "dense", [job for _, _, job in prepared], simulator, waves=waves, progress=progress
    )
    results = []
    for (layout, expected, job), outcome in zip(prepared, outcomes, strict=True):
        y, there = layout.unpack(outcome.words)
        violations = _violations(outcome, len(job.expected))
        violations += _last_violations(outcome.last, job.expected_last)
        macs = expected.size * dense.layer.k
        cycles = _cycles(outcome)
        results.append(
            _result(y, there, expected, outcome, violations, simulator, macs, dense.config.macs_per_cycle, cycles, log)
        )
    return results


def _prepare(dense: Dense, run: Run) -> tuple[DenseLayout, npt.NDArray[np.integer], Job]:
    a = dense.layer.check_input(run.a)
    if a.ndim != 2 or not len(a):
        raise ValueError(f"a must have the shape [M, {dense.layer.k}] with M at least 1, not {list(a.shape)}")
    layout = DenseLayout(dense, run.rows)
    expected = dense.requantization.apply(dense.layer.accumulate(a))
    words, last = layout.pack(a, run.seed)
    wanted, mask = layout.expect(expected)
    stalls = run.probabilities
    unstalled = dense.cycles(layout.groups * dense.config.rows)
    job = Job(
        a=words,
        a_last=last,
        b=np.zeros((0, 0), np.uint8),
        expected=wanted,
        expected_last=layout.y_last(),
        mask=mask,
        stalls=np.array(stalls),
        resets=_resets(run.resets, unstalled, run.seed),
        seed=run.seed,
        limit=_limit(unstalled, stalls),
        bulk=run.in_bulk,
    )
    return layout, expected, job


def cosimulate_array(
    array: BareArray,
    a: npt.NDArray[np.integer],
    b: npt.NDArray[np.integer],
    *,
    simulator: SimulatorName = "verilator",
    stalls: tuple[float, float] | float = 0,
    seed: int = 0,
    resets: int = 0,
    bulk: bool | None = None,
    waves: Path | None = None,
    verilog: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> CosimulationResult:
    """Run a product of any size, A [M, K] times B [K, N], tile by tile through the Verilog of a bare array.

    The sums [M, N] are those of exact integers, modulo 2**accumulator_bits. `stalls` are those of the sources of A and
    of B: nothing can hold the sums back. The other parameters are those of `cosimulate`.
    """
    run = Run(a=a, stalls=stalls, seed=seed, resets=resets, bulk=bulk)
    config = array.config
    for name, operand, expected_format in (("a", a, config.a), ("b", b, config.b)):
        if operand.ndim != 2 or not operand.size or operand.dtype.kind not in "iu":
            raise ValueError(
                f"{name} must be a matrix of integers, not of shape {list(operand.shape)} and type {operand.dtype}"
            )
        if not expected_format.contains(operand):
            raise ValueError(
                f"{name} must be in {expected_format.name}, not {int(operand.min())} to {int(operand.max())}"
            )
    (m, k), (inner, n) = a.shape, b.shape
    if k != inner:
        raise ValueError(f"b must have K = {k} rows for a of shape {[m, k]}, not shape {[inner, n]}")
    layout = ArrayLayout(array=array, m=m, k=k, n=n)
    down, across = layout.tiles
    words_a, last, words_b = layout.pack(a, b)
    sums = exact_matmul(a.astype(np.int64), b.astype(np.int64))
    padded = np.zeros((down * config.rows, across * config.cols), np.int64)
    padded[:m, :n] = sums
    per_column = padded.reshape(down, config.rows, across, config.cols).transpose(0, 2, 1, 3).reshape(-1, config.cols)
    wanted = to_words(per_column, config.accumulator_bits, layout.sums_bytes)
    unstalled = array.cycles([layout.beats] * (down * across))
    job = Job(
        a=words_a,
        a_last=last,
        b=words_b,
        expected=wanted,
        expected_last=np.zeros(0, bool),
        mask=np.zeros((0, 0), np.uint8),
        stalls=np.array(run.probabilities),
        resets=_resets(resets, unstalled, seed),
        seed=seed,
        limit=_limit(unstalled, run.probabilities),
        bulk=run.in_bulk,
    )
    text = array_verilog(array) if verilog is None else verilog
    (outcome,), log = _simulate(
        text, harness.Ports.of_array(array), "array", [job], simulator, waves=waves, progress=progress
    )
    valid = np.unpackbits(outcome.valid, axis=1, bitorder="little")[:, : config.cols].astype(np.int64)
    y, there, surplus = layout.unpack(valid, outcome.words)
    wrap = 1 << config.accumulator_bits
    expected = (sums + wrap // 2) % wrap - wrap // 2
    violations = _violations(outcome, None)
    violations += [f"column {column} gave {int(count)} sums too many" for column, count in enumerate(surplus) if count]
    macs = m * k * n
    cycles = _cycles(outcome)
    return _result(y, there, expected, outcome, violations, simulator, macs, config.macs_per_cycle, cycles, log)


def _simulate(
    verilog: str,
    ports: harness.Ports,
    kind: str,
    jobs: list[Job],
    simulator: SimulatorName,
    *,
    waves: Path | None,
    progress: Callable[[str], None] | None,
) -> tuple[list[Outcome], Path]:
    """Build and run: the jobs driven by Python first, then those in bulk; outcomes in the order of the jobs."""
    outcomes: dict[int, Outcome] = {}
    log = Path()
    for bulk in (False, True):
        chosen = [index for index, job in enumerate(jobs) if job.bulk is bulk]
        if not chosen:
            continue
        simulation = _build(verilog, ports, kind, simulator, bulk, waves is not None, progress)
        folder = run_directory()
        write_jobs(folder, [jobs[index] for index in chosen])
        if progress is not None:
            progress(f"simulation under {simulator}")
        module = "systoliq.sim.bulk_bench" if bulk else f"systoliq.sim.{kind}_bench"
        results = simulation.run(
            module,
            env={VARIABLE: str(folder)},
            waves=waves,
            seed=jobs[chosen[0]].seed,
            directory=folder,
        )
        log = results.log
        found = read_outcomes(folder)
        if found is None or len(found) != len(chosen):
            results.check()
            raise SimulationError(f"the bench left no outcome; log: {results.log}")
        outcomes.update(zip(chosen, found, strict=True))
    return [outcomes[index] for index in range(len(jobs))], log


def _build(
    verilog: str,
    ports: harness.Ports,
    kind: str,
    simulator: SimulatorName,
    bulk: bool,
    waves: bool,
    progress: Callable[[str], None] | None,
) -> Simulation:
    text, top = verilog, kind
    if bulk:
        text, top = verilog + harness.harness_verilog(kind, ports, own_clock=simulator == "icarus"), harness.TOP
    with warnings.catch_warnings():
        # Yosys writes `!vector` and shifts wider than their target; the lint of the emitted Verilog is its own test.
        warnings.simplefilter("ignore", SimulatorWarning)
        return build(text, top, simulator, waves=waves, progress=progress)


def _probabilities(stalls: tuple[float, float] | float) -> tuple[float, float]:
    pair = stalls if isinstance(stalls, tuple) else (stalls, stalls)
    if len(pair) != 2 or not all(isinstance(value, int | float) for value in pair):
        raise TypeError(f"stalls must be a probability or a pair of them, not {stalls!r}")
    if not all(0 <= value < 1 for value in pair):
        raise ValueError(f"stalls must be at least 0 and below 1, not {stalls!r}")
    return float(pair[0]), float(pair[1])


def _resets(count: int, unstalled: int, seed: int) -> npt.NDArray[np.int64]:
    """Moments within the run, the first beats of A and the last of Y included."""
    if count < 0:
        raise ValueError(f"resets must be 0 or more, not {count!r}")
    return np.random.default_rng(seed).integers(1, unstalled, count, endpoint=True)


def _limit(unstalled: int, stalls: tuple[float, float]) -> int:
    """Cycles that no healthy run takes."""
    return int(4 * unstalled / ((1 - stalls[0]) * (1 - stalls[1]))) + 1000


def _cycles(outcome: Outcome) -> int:
    return outcome.last_cycle - outcome.first_cycle + 1 if outcome.last_cycle >= 0 else 0


def _violations(outcome: Outcome, beats: int | None) -> list[str]:
    violations = list(outcome.violations)
    if beats is not None and len(outcome.words) != beats:
        violations.append(f"{len(outcome.words)} beats came, not {beats}")
    return violations


def _last_violations(last: npt.NDArray[np.bool_], expected: npt.NDArray[np.bool_]) -> list[str]:
    count = min(len(last), len(expected))
    wrong = np.flatnonzero(last[:count] != expected[:count])
    if not wrong.size:
        return []
    return [f"last must be {int(expected[wrong[0]])} on beat {wrong[0]}, and is wrong on {wrong.size} beats"]


def _result(
    y: npt.NDArray[np.integer],
    there: npt.NDArray[np.bool_],
    expected: npt.NDArray[np.integer],
    outcome: Outcome,
    violations: list[str],
    simulator: SimulatorName,
    macs: int,
    macs_per_cycle: int,
    cycles: int,
    log: Path,
) -> CosimulationResult:
    differs = (y != expected) | ~there
    places = np.argwhere(differs)
    details = tuple(
        Mismatch(
            row=int(row),
            column=int(column),
            expected=int(expected[row, column]),
            got=int(y[row, column]) if there[row, column] else None,
        )
        for row, column in places[:REPORTED]
    )
    if outcome.wrong and not places.size and not violations:
        violations = [f"{outcome.wrong} beats were wrong before a reset"]
    return CosimulationResult(
        y=y,
        expected=expected,
        mismatches=len(places),
        details=details,
        violations=tuple(violations),
        cycles=cycles,
        simulated_cycles=outcome.cycles,
        seconds=outcome.seconds,
        simulator=simulator,
        macs=macs,
        utilization=macs / (macs_per_cycle * cycles) if cycles else 0.0,
        log=log,
    )
