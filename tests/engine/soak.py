"""Runs random jobs back to back on random engines and counts what is wrong.

python tests/engine/soak.py --seed 1 --configurations 40 --jobs 2000

Jobs are dealt out evenly; each configuration runs under Verilator, and the smaller half under Icarus too. A third of
the jobs runs without a stall and must take the cycles of the model.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from configurations import configurations, golden, random_jobs, text

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import Job
from systoliq.sim.engine import Engine, EngineError
from systoliq.sim.process import SimulationError

Draw = Callable[[EngineConfig, np.random.Generator, int], list[Job]]


@dataclasses.dataclass(kw_only=True)
class Tally:
    """What was run and what of it was wrong; `faults` say where."""

    jobs: int = 0
    outputs: int = 0
    wrong: int = 0  # outputs, those that did not come included
    off: int = 0  # jobs without stalls that did not take the model's cycles, or with stalls fewer
    violations: int = 0
    seconds: float = 0.0
    faults: list[str] = dataclasses.field(default_factory=list)

    def __add__(self, other: Tally) -> Tally:
        names = [field.name for field in dataclasses.fields(self)]
        return Tally(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def __str__(self) -> str:
        return (
            f"{self.jobs} jobs, {self.outputs} outputs, {self.wrong} wrong, {self.off} off the cycle model, "
            f"{self.violations} violations, {self.seconds:.0f} s"
        )


def stalls_of(rng: np.random.Generator, index: int) -> tuple[float, float, float]:
    """None, some on all streams, or one stream hard."""
    if index % 3 == 0:
        return 0.0, 0.0, 0.0
    if index % 3 == 1:
        a, b, y = (float(each) for each in rng.uniform(0.05, 0.6, 3))
        return a, b, y
    hard = [0.0, 0.0, 0.0]
    hard[rng.integers(3)] = 0.9
    return hard[0], hard[1], hard[2]


def run(config: EngineConfig, simulator: str, *, seed: int, jobs: int, draw: Draw = random_jobs) -> Tally:
    """Run that many jobs, as `draw` gives them, back to back in one simulator process."""
    began = time.monotonic()
    rng = np.random.default_rng(seed)
    engine = Engine(config, simulator=simulator)  # type: ignore[arg-type]
    drawn = draw(config, rng, jobs)
    work = [engine.prepare(job, stalls_of(rng, index), seed + 3 * index) for index, job in enumerate(drawn)]
    tally = Tally(jobs=jobs)
    try:
        outcomes = engine.simulate(work, seed=seed)
    except SimulationError as error:
        outcomes = []
        tally.faults.append(f"the simulation failed: {error}")
    for index, (job, each) in enumerate(zip(drawn, work, strict=True)):
        expected = golden(job)
        tally.outputs += expected.size
        if not outcomes:
            tally.wrong += expected.size
            continue
        where = f"job {index}, stalls {tuple(round(stall, 2) for stall in each.stalls)}: {text(job)}"
        tally.violations += len(outcomes[index].violations)
        try:
            y, report = engine.finish(job, each, outcomes[index])
        except (EngineError, SimulationError, ValueError) as error:
            tally.wrong += expected.size
            tally.faults.append(f"{where}: {type(error).__name__}: {error}")
            continue
        if wrong := int((y != expected).sum()):
            tally.wrong += wrong
            tally.faults.append(f"{where}: {wrong} of {expected.size} outputs wrong")
        unstalled = not any(each.stalls)
        if report.cycles < report.model_cycles or (unstalled and report.cycles != report.model_cycles):
            tally.off += 1
            tally.faults.append(f"{where}: {report.cycles} cycles, not {report.model_cycles}")
    tally.seconds = time.monotonic() - began
    return tally


def runs(seed: int, count: int, jobs: int) -> list[tuple[EngineConfig, str, int, int]]:
    """Configuration, simulator, seed and jobs of each run: all under Verilator, the smaller half under Icarus too."""
    configs = configurations(seed, count)
    by_size = sorted(range(count), key=lambda index: configs[index].rows * configs[index].cols * configs[index].depth)
    small = by_size[: -(-count // 2)]
    of_icarus = jobs // 5 // len(small)  # a fifth: it is slower
    of_verilator = -(-(jobs - of_icarus * len(small)) // count)
    plan = [(configs[index], "verilator", seed + index, of_verilator) for index in range(count)]
    return plan + [(configs[index], "icarus", seed + count + index, of_icarus) for index in small if of_icarus]


def describe(config: EngineConfig, simulator: str, seed: int, jobs: int, tally: Tally) -> str:
    """A line, and one for each of the first faults."""
    head = f"{config}\n  {simulator}, run(config, {simulator!r}, seed={seed}, jobs={jobs}): {tally}"
    return "\n    ".join([head, *tally.faults[:6]])


def _run(arguments: tuple[EngineConfig, str, int, int]) -> Tally:
    config, simulator, seed, jobs = arguments
    return run(config, simulator, seed=seed, jobs=jobs)


def main() -> int:
    """Run it all, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("seed", 1), ("configurations", 40), ("jobs", 2000), ("workers", 2)):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default {default}")
    chosen = parser.parse_args()
    began = time.monotonic()
    plan = runs(chosen.seed, chosen.configurations, chosen.jobs)
    total = Tally()
    with ProcessPoolExecutor(chosen.workers) as pool:
        for each, tally in zip(plan, pool.map(_run, plan), strict=True):
            sys.stdout.write(describe(*each, tally) + "\n")
            sys.stdout.flush()
            total += tally
    elapsed = time.monotonic() - began
    sys.stdout.write(
        f"seed {chosen.seed}: {chosen.configurations} configurations, {len(plan)} runs: {total} of work, "
        f"{elapsed:.0f} s passed\n"
    )
    return 1 if total.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
