"""Simulation of runs: the design is built, alone or in its harness, and the benches carry the runs out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from .. import harness
from ..cache import run_directory
from ..exchange import VARIABLE, BenchOutcome, BenchRun, read_outcomes, write_runs
from ..icarus import with_sleeping_registers
from ..process import SimulationError
from ..runner import Simulation, SimulatorName, SimulatorWarning, build

__all__ = ["simulate"]


def simulate(
    verilog: str,
    ports: harness.Ports,
    top: str,
    runs: Sequence[tuple[BenchRun, bool]],
    simulator: SimulatorName,
    *,
    waves: Path | None,
    progress: Callable[[str], None] | None,
    taps: Sequence[harness.Tap] = (),
) -> tuple[list[BenchOutcome], Path]:
    """Outcomes of runs, in their order, and the log: those driven by Python come first, then those in bulk.

    The second element of a pair selects a run in bulk; the files of `taps` are then the last run's. `top` is the
    design's module; its bench is `<top>_bench`.
    """
    outcomes: dict[int, BenchOutcome] = {}
    log = Path()
    for bulk in (False, True):
        chosen = [index for index, (_, in_bulk) in enumerate(runs) if in_bulk is bulk]
        if not chosen:
            continue
        simulation = _build(verilog, ports, top, simulator, bulk, waves is not None, progress, taps)
        folder = run_directory()
        write_runs(folder, [runs[index][0] for index in chosen])
        if progress is not None:
            progress(f"simulation under {simulator}")
        module = "systoliq.sim.bulk_bench" if bulk else f"systoliq.sim.{top}_bench"
        seed = runs[chosen[0]][0].seed
        results = simulation.run(module, env={VARIABLE: str(folder)}, waves=waves, seed=seed, directory=folder)
        log = results.log
        found = read_outcomes(folder)
        if found is None or len(found) != len(chosen):
            results.check()
            raise SimulationError(f"the bench left no outcome; log: {results.log}")
        outcomes.update(zip(chosen, found, strict=True))
    return [outcomes[index] for index in range(len(runs))], log


def _build(
    verilog: str,
    ports: harness.Ports,
    top: str,
    simulator: SimulatorName,
    bulk: bool,
    waves: bool,
    progress: Callable[[str], None] | None,
    taps: Sequence[harness.Tap],
) -> Simulation:
    if simulator == "icarus":
        verilog = with_sleeping_registers(verilog)
    if bulk:
        verilog += harness.harness_verilog(top, ports, own_clock=simulator == "icarus", taps=taps)
    with warnings.catch_warnings():
        # Yosys writes `!vector` and shifts wider than their target; the lint of the emitted Verilog is its own test.
        warnings.simplefilter("ignore", SimulatorWarning)
        return build(verilog, harness.TOP if bulk else top, simulator, waves=waves, progress=progress)
