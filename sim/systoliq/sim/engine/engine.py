"""The engine as a program sees it: the operators with golden's signatures, on the emitted Verilog under a simulator.

    engine = Engine(EngineConfig(rows=8, cols=8, depth=2, lanes=8))
    y = engine.qlinear_matmul(a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point)
    engine.reports  # cycles of each job

Starting a simulator costs 0.4 s; `run` takes any number of operations in one go.
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.operators import QLinearInputs
from systoliq.hw import emit_verilog
from systoliq.hw.cells import models_verilog
from systoliq.hw.engine import AxiEngine, EngineConfig, JobShape
from systoliq.hw.engine.host import (
    DriverStep,
    EnginePacking,
    Job,
    Map,
    Plan,
    plan_matmul_integer,
    plan_qlinear_matmul,
    queue_sequence,
    recovery,
    sequence,
)
from systoliq.hw.engine.status import JOBS_BITS
from systoliq.hw.hierarchy import mark_used
from systoliq.hw.packing import to_integers

from ..cache import run_directory
from ..engine_exchange import VARIABLE, JobOutcome, Work, leave_work, take_outcomes
from ..process import SimulationError
from ..runner import Simulation, SimulatorName, SimulatorWarning, build
from ..tools import require
from .errors import engine_error

__all__ = ["Engine", "JobReport", "OperationResult", "QueueReport", "Stalls"]

TOP = "engine"
BENCH = "systoliq.sim.engine_bench"
Stalls = tuple[float, float, float]
_IN_FLIGHT = 3  # jobs that may be at work when one is waited for: its own and those before it


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobReport:
    """Report of one job. `cycles` and the stalls are the engine's own counters, `model_cycles` is its cycle model.

    `seconds` is the simulator's time, tables and all.
    """

    shape: JobShape
    cycles: int
    model_cycles: int
    input_stalls: int
    output_stalls: int
    simulated_cycles: int
    seconds: float

    @property
    def utilization(self) -> float:
        """Useful multiply-accumulates per multiply-accumulate that the array could do in `cycles`."""
        config = self.shape.config
        return self.shape.macs / (self.cycles * config.macs_per_cycle)


@dataclasses.dataclass(frozen=True, kw_only=True)
class QueueReport:
    """Report of jobs that were queued: `cycles` from the first one's first word to the last one's last result."""

    shapes: tuple[JobShape, ...]
    cycles: int
    simulated_cycles: int
    seconds: float

    @property
    def utilization(self) -> float:
        """Useful multiply-accumulates per multiply-accumulate that the array could do in `cycles`."""
        config = self.shapes[0].config
        return sum(shape.macs for shape in self.shapes) / (self.cycles * config.macs_per_cycle)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class OperationResult:
    """Result of an operation, with a report of each job."""

    y: npt.NDArray[Any]
    reports: tuple[JobReport, ...]


class Engine:
    """Simulated engine with the configuration `config`, built at first use and cached.

    `reports` has the jobs of the last operation. Errors of the engine raise subclasses of `EngineError`.
    """

    def __init__(
        self,
        config: EngineConfig | None = None,
        *,
        simulator: SimulatorName = "verilator",
        progress: Callable[[str], None] | None = None,
    ) -> None:
        if not isinstance(config, EngineConfig | None):
            raise TypeError(f"config must be an EngineConfig, not {config!r}")
        self.config = config or EngineConfig()
        self.simulator = simulator
        self.reports: tuple[JobReport, ...] = ()
        self.log: Path | None = None
        self._progress = progress
        self.hardware = AxiEngine(self.config)
        mark_used(self.hardware)  # for its cycle model alone, as long as nothing runs

    def __repr__(self) -> str:
        size = f"{self.config.rows} x {self.config.cols} x {self.config.depth}"
        return f"Engine({size} {self.config.cells}, {self.config.dataflow}, {self.simulator})"

    @functools.cached_property
    def simulation(self) -> Simulation:
        """The built simulation; a `ToolError` if cocotbext-axi is not installed."""
        require("cocotbext-axi")
        with warnings.catch_warnings():
            # Yosys writes `!vector` and shifts wider than their target; lint of the emitted Verilog is its own test.
            warnings.simplefilter("ignore", SimulatorWarning)
            verilog = emit_verilog(self.hardware, TOP) + models_verilog(self.config.cells)
            return build(verilog, TOP, self.simulator, progress=self._progress)

    def matmul_integer(
        self,
        a: npt.ArrayLike,
        b: npt.ArrayLike,
        a_zero_point: npt.ArrayLike | None = None,
        b_zero_point: npt.ArrayLike | None = None,
        *,
        bias: npt.ArrayLike | None = None,
    ) -> npt.NDArray[Any]:
        """Compute `systoliq.golden.matmul_integer` in hardware; `bias` as for `qlinear_matmul`."""
        return self._single(self.plan_matmul_integer(a, b, a_zero_point, b_zero_point, bias=bias))

    def qlinear_matmul(self, *inputs: npt.ArrayLike, bias: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Compute `systoliq.golden.qlinear_matmul` of its eight `inputs` in hardware.

        With `bias`, int32 that broadcasts to the result, compute com.microsoft's QGemm: the sum wraps before rescaling.
        """
        return self._single(self.plan_qlinear_matmul(*inputs, bias=bias))

    def plan_matmul_integer(self, *inputs: npt.ArrayLike | None, bias: npt.ArrayLike | None = None) -> Plan:
        """Return the jobs of a `matmul_integer` with these arguments, for `run`."""
        return plan_matmul_integer(self.config, *inputs, bias=bias)  # type: ignore[arg-type]

    def plan_qlinear_matmul(self, *inputs: npt.ArrayLike, bias: npt.ArrayLike | None = None) -> Plan:
        """Return the jobs of a `qlinear_matmul` with these arguments, for `run`."""
        return plan_qlinear_matmul(self.config, QLinearInputs(*inputs), bias=bias)

    def run(
        self, plans: Sequence[Plan], *, stalls: Stalls | Sequence[Stalls] = (0, 0, 0), seed: int = 0
    ) -> list[OperationResult]:
        """Run operations in sequence in one simulator process; second steps share another process.

        `stalls` are the probabilities of a pause per cycle of A, B and Y, for all operations or for each one.
        """
        given = list(stalls)
        each: list[Any] = [stalls] * len(plans) if not given or not isinstance(given[0], tuple) else given
        if len(each) != len(plans):
            raise ValueError(f"stalls must be three probabilities, or three for each of {len(plans)} operations")
        jobs = [(job, these) for plan, these in zip(plans, each, strict=True) for job in plan.jobs]
        finished = iter(self.run_jobs(*zip(*jobs, strict=True), seed=seed)) if jobs else iter(())
        results = []
        for plan in plans:
            parts = [next(finished) for _ in plan.jobs]
            y = plan.assemble([part for part, _ in parts])
            results.append(OperationResult(y=y, reports=tuple(report for _, report in parts)))
        second = [(i, plan.then(results[i].y)) for i, plan in enumerate(plans) if plan.then is not None]
        more = self.run([plan for _, plan in second], stalls=[each[i] for i, _ in second], seed=seed) if second else []
        for (i, _), result in zip(second, more, strict=True):
            results[i] = OperationResult(y=result.y, reports=results[i].reports + result.reports)
        return results

    def run_jobs(
        self, jobs: Iterable[Job], stalls: Iterable[Stalls] | None = None, *, seed: int = 0
    ) -> list[tuple[npt.NDArray[Any], JobReport]]:
        """Run jobs and return Y [m, n] and the report of each; raise `EngineError` if the engine refuses one."""
        jobs = list(jobs)
        each = [(0.0, 0.0, 0.0)] * len(jobs) if stalls is None else list(stalls)
        work = [self.prepare(job, these, seed + 3 * i) for i, (job, these) in enumerate(zip(jobs, each, strict=True))]
        outcomes = self.simulate(work, seed=seed)
        return [self.finish(*each) for each in zip(jobs, work, outcomes, strict=True)]

    def run_queue(
        self, jobs: Sequence[Job], *, stalls: Stalls = (0, 0, 0), seed: int = 0
    ) -> tuple[list[npt.NDArray[Any]], QueueReport]:
        """Run jobs one behind the other, as `queue_sequence` says: Y [m, n] of each, and how all went.

        `EngineError` where the engine refuses one: it names the job.
        """
        if not jobs:
            raise ValueError("jobs must be one at least")
        work = self.prepare_queue(jobs, stalls, seed)
        (outcome,) = self.simulate([work], seed=seed)
        return self.finish_queue(jobs, work, outcome)

    def _single(self, plan: Plan) -> npt.NDArray[Any]:
        (result,) = self.run([plan])
        self.reports = result.reports
        return result.y

    def prepare(self, job: Job, stalls: Stalls = (0, 0, 0), seed: int = 0) -> Work:
        """Inputs of the bench that runs a job: the driver's steps and the words of A and B."""
        return self._work([job], sequence(job, self.config), stalls, seed)

    def prepare_queue(self, jobs: Sequence[Job], stalls: Stalls = (0, 0, 0), seed: int = 0) -> Work:
        """Inputs of the bench that runs jobs one after the other."""
        return self._work(jobs, queue_sequence(jobs, self.config), stalls, seed)

    def _work(self, jobs: Sequence[Job], steps: Sequence[DriverStep], stalls: Stalls, seed: int) -> Work:
        packing, generator = EnginePacking(self.config), np.random.default_rng(seed)
        words = [
            {"a": to_integers(packing.pack_a(job.a, generator)), "b": to_integers(packing.pack_b(job.b, generator))}
            for job in jobs
        ]
        patience = 1.0
        for probability in stalls:
            if not 0 <= probability < 1:
                raise ValueError(f"stalls must be at least 0 and below 1, not {probability!r}")
            patience /= 1 - probability
        beats = [packing.y_beats(job.m, job.n, job.y_dtype) for job in jobs]
        longest = max(
            self.hardware.cycles(self.shape(job)) + len(each["a"]) + len(each["b"]) + of_y
            for job, each, of_y in zip(jobs, words, beats, strict=True)
        )
        status = Map().register("STATUS")
        return Work(
            steps=_plain(steps),
            recovery=_plain(recovery()),
            words=words,
            error=status.field("error").mask,
            jobs=status.field("jobs").mask,
            stalls=stalls,
            seed=seed,
            limit=int(4 * patience * longest * min(len(jobs), _IN_FLIGHT)) + 1000,
        )

    def simulate(self, work: Sequence[Work], *, seed: int = 0) -> list[JobOutcome]:
        """Run prepared jobs in one simulator process; errors are reported in the result, not raised."""
        folder = run_directory()
        leave_work(folder, work)
        results = self.simulation.run(BENCH, env={VARIABLE: str(folder)}, directory=folder, seed=seed)
        self.log = results.log
        results.check()
        outcomes = take_outcomes(folder)
        if outcomes is None or len(outcomes) != len(work):
            raise SimulationError(f"the bench left no outcome; log: {results.log}")
        return outcomes

    def shape(self, job: Job) -> JobShape:
        """Shape of a job on this engine."""
        return JobShape(m=job.m, k=job.k, n=job.n, config=self.config)

    def finish(self, job: Job, work: Work, outcome: JobOutcome) -> tuple[npt.NDArray[Any], JobReport]:
        """Y [m, n] and the report of a job that ran, or the exception for what went wrong."""
        of = f"job of M = {job.m}, K = {job.k}, N = {job.n}"
        if code := Map().extract("STATUS", "error", outcome.registers.get("STATUS", 0)):
            raise engine_error(code, of)
        if outcome.timed_out or outcome.y is None:
            raise SimulationError(f"{of} gave no result within {work.limit} cycles; log: {self.log}")
        if outcome.violations:
            raise SimulationError(f"{of}: {'; '.join(outcome.violations[:5])}; log: {self.log}")
        shape = self.shape(job)
        report = JobReport(
            shape=shape,
            cycles=outcome.registers["BUSY_CYCLES"],
            model_cycles=self.hardware.cycles(shape),
            input_stalls=outcome.registers["INPUT_STALLS"],
            output_stalls=outcome.registers["OUTPUT_STALLS"],
            simulated_cycles=outcome.cycles,
            seconds=outcome.seconds,
        )
        return EnginePacking(self.config).unpack_y(outcome.y, job.m, job.n, job.y_dtype), report

    def finish_queue(
        self, jobs: Sequence[Job], work: Work, outcome: JobOutcome
    ) -> tuple[list[npt.NDArray[Any]], QueueReport]:
        """Y of each job and the report of all, or the exception for what went wrong."""
        status = outcome.registers.get("STATUS", 0)
        ended = Map().extract("STATUS", "jobs", status)
        if code := Map().extract("STATUS", "error", status):
            raise engine_error(code, f"job {ended} of {len(jobs)}")
        if outcome.timed_out or len(outcome.frames) != len(jobs) or ended != len(jobs) % (1 << JOBS_BITS):
            raise SimulationError(f"{len(outcome.frames)} of {len(jobs)} jobs gave results; log: {self.log}")
        if outcome.violations:
            raise SimulationError(f"{len(jobs)} jobs: {'; '.join(outcome.violations[:5])}; log: {self.log}")
        packing = EnginePacking(self.config)
        frames = zip(jobs, outcome.frames, strict=True)
        report = QueueReport(
            shapes=tuple(self.shape(job) for job in jobs),
            cycles=outcome.registers["BUSY_CYCLES"],
            simulated_cycles=outcome.cycles,
            seconds=outcome.seconds,
        )
        return [packing.unpack_y(frame, job.m, job.n, job.y_dtype) for job, frame in frames], report


def _plain(steps: Sequence[DriverStep]) -> list[tuple[str, str, int, int, bytes]]:
    return [(step.action, step.name, step.address, step.value, step.data) for step in steps]
