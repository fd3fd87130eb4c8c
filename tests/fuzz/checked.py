"""What is wrong with the design at a point: its package's testbench where no register has an initial value, `verify`,
and random operands in a simulation, where all have theirs, against golden.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import numpy as np
from drawn_models import NotQuantizedError, fault_in_golden
from points import Point, design_of

from systoliq.design import DmaEngineDesign, EngineDesign, LayerDesign
from systoliq.design.array import ArrayDesign
from systoliq.design.design import Design
from systoliq.design.network import NetworkDesign
from systoliq.golden.float8 import Float8Format
from systoliq.package import Package, make_package
from systoliq.package.regenerate import compare_regenerated
from systoliq.signoff.power_up import without_initial_values
from systoliq.sim.engine import EngineError
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.process import SimulationError, limited
from systoliq.verify import verify_package

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "engine"))

from configurations import golden, random_jobs
from soak import run as run_jobs

__all__ = ["Refused", "fault_of"]

_SECONDS = 900  # of processor time for one testbench, at the most
_JOBS = 8


class Refused(Exception):  # noqa: N818  # it is no error
    """systoliq refuses the point, with a reason."""


def fault_of(point: Point, simulator: str) -> str | None:
    """The first thing found wrong at `point`, None where all is well; `Refused` where there is no such design."""
    try:
        design = design_of(point)
        package = make_package(design)
    except (ValueError, TypeError) as error:  # InputError and NotQuantizedError are such
        line = traceback.extract_tb(error.__traceback__)[-1].line or ""
        if not line.startswith("raise"):  # an accident, no refusal
            raise
        raise Refused(f"{type(error).__name__}: {error}") from error
    fault = _golden_fault(point) if point["kind"] == "model" else None
    if fault is None and point.get("verified", True):
        fault = _package_fault(design, package, point)
    return fault or _simulated(design, point, simulator)


def _golden_fault(point: Point) -> str | None:
    """Golden's integers against onnxruntime's."""
    try:
        return fault_in_golden(point)
    except NotQuantizedError as error:
        raise Refused(str(error)) from error


def _package_fault(design: Design, package: Package, point: Point) -> str | None:
    """Its testbench, `verify`, and what is emitted again."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "package"
        package.write(directory)
        fault = _testbench(design, directory)
        if fault is None and design.certified:
            fault = _verify(directory, exact=point.get("multiplier_bits") is None)
        if fault is None and design.kind in (LayerDesign.kind, NetworkDesign.kind):
            fault = next(iter(compare_regenerated(directory).reasons), None)
    return fault


def _testbench(design: Design, package: Path) -> str | None:
    """The package's own testbench under Icarus, where registers have no value before the reset."""
    directory = package.with_name("uninitialized")
    shutil.copytree(package, directory)
    source = directory / f"{design.name}.v"
    source.write_text(without_initial_values(source.read_text()))
    sources = sorted(path.name for path in directory.glob("*.v"))
    compiled = subprocess.run(
        ["iverilog", "-g2005", "-o", "t", *sources], cwd=directory, capture_output=True, text=True, check=False
    )
    if compiled.returncode or compiled.stderr:
        return f"testbench: iverilog: {compiled.stderr[:500]}"
    command = limited(["vvp", "-n", "t"], _SECONDS)
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        return f"testbench: did not end in {_SECONDS} s of processor time"
    return None if "PASS" in done.stdout and not done.returncode else f"testbench: {done.stdout[-500:]}"


def _verify(directory: Path, *, exact: bool) -> str | None:
    """`systoliq verify`; where multipliers were made narrower than exactness needs, it may say that, and that alone."""
    report = verify_package(directory)
    # of each kind of reason only the first are told, and then how many more there are
    meant = re.compile(r"not exact: |and \d+ more$")
    reasons = [reason for reason in report.reasons if exact or not meant.match(reason)]
    return f"verify: {'; '.join(reasons[:3])}" if reasons else None


def _simulated(design: Design, point: Point, simulator: str) -> str | None:
    """Random operands, without stalls and with; without them in the cycles of the model."""
    if isinstance(design, DmaEngineDesign):
        return _listed(design, simulator, point["seed"])
    if isinstance(design, EngineDesign):
        tally = run_jobs(design.config, simulator, seed=point["seed"], jobs=_JOBS)
        return f"jobs under {simulator}: {tally.faults[0]}" if tally.faults else None
    rng = np.random.default_rng(point["seed"] + 1)
    operands = _operands(design, point, rng)
    for stalls in (0.0, float(rng.choice([0.1, 0.5, 0.9]))):
        try:
            run = design.simulate(**operands, simulator=simulator, stalls=stalls, seed=int(rng.integers(1000)))
        except SimulationError as error:
            return f"{simulator}, stalls {stalls}: {error}"
        if not run.passed:
            return (
                f"{simulator}, stalls {stalls}: {run.report['mismatches']} mismatches, {run.report['violations'][:2]}"
            )
        modelled = run.report.get("model_cycles", run.report["cycles"])  # a network's has the time of an image alone
        if not stalls and run.report["cycles"] != modelled:
            return f"{simulator}: {run.report['cycles']} cycles, not {modelled}"
    return None


def _listed(design: DmaEngineDesign, simulator: str, seed: int) -> str | None:
    """Lists of random jobs in memory, at odd places, without stalls and with."""
    found = SimulatedDmaEngine(design.config, bus_bytes=design.bus // 8, simulator=simulator)
    rng = np.random.default_rng(seed)
    for stalls in ((0, 0, 0, 0), tuple(rng.choice([0.1, 0.5, 0.9], 4))):
        jobs = random_jobs(design.config, rng, _JOBS)
        try:
            results, _ = found.run(jobs, ragged=bool(sum(stalls)), seed=seed, stalls=stalls, limit=400_000)
        except (EngineError, SimulationError) as error:
            return f"a list under {simulator}, stalls {stalls}: {error}"
        if not all(np.array_equal(y, golden(job)) for job, y in zip(jobs, results, strict=True)):
            return f"a list under {simulator}, stalls {stalls}: results differ"
    return None


def _operands(design: Design, point: Point, rng: np.random.Generator) -> dict[str, Any]:
    if isinstance(design, ArrayDesign):
        config = design.config
        m, n = int(rng.integers(1, 3 * config.rows + 1)), int(rng.integers(1, 2 * config.cols + 1))
        k = point["k"] if design.wrap else min(point["k"], design.longest_sum)
        return {"a": _random(rng, config.a, (m, k)), "b": _random(rng, config.b, (k, n))}
    if isinstance(design, NetworkDesign):
        images = int(rng.integers(1, 5))
        return {"inputs": {x.name: _random(rng, x.format, (images, *x.shape[1:])) for x in design.network.inputs}}
    assert isinstance(design, LayerDesign)
    rows = int(rng.integers(1, 40))
    operands = {"a": _random(rng, design.layer.a_format, (rows, design.layer.k))}
    if design.layer.takes_zero_points:
        operands["a_zero_point"] = _random(rng, design.layer.a_format, (rows,))
    return operands


def _random(rng: np.random.Generator, form: Any, shape: tuple[int, ...]) -> Any:
    """Numbers of this format, whole rows of its ends among them."""
    if isinstance(form, Float8Format):
        return rng.integers(0, 256, shape).astype(np.uint8)
    numbers = rng.integers(form.min, form.max + 1, shape)
    numbers[rng.random(shape[0]) < 0.1] = form.min
    numbers[rng.random(shape[0]) < 0.1] = form.max
    return numbers.astype(form.dtype)
