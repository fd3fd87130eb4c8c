"""Stand-ins for the tests: a small layer, and a fast synthesizer that notes each point it was asked about."""

from __future__ import annotations

import shutil
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from systoliq.explore import Exploration, Run, explore
from systoliq.explore.grid.evaluate import run_task
from systoliq.golden.layer import MatMulLayer


@dataclass(frozen=True)
class FakeSynthesizer:
    """`calls` gets a file for each call that was begun; a call takes `seconds`."""

    calls: str
    seconds: float = 0.0

    def identity(self) -> str:
        return "fake 1"

    def area(self, design: Any, target: str) -> dict[str, Any]:
        self._called("area")
        bits = design.requantization.multiplier_bits if design.kind == "layer" else 24
        lut_sites = 100 + 80 * design.macs_per_cycle + 20 * bits
        figures = {"lut_sites": lut_sites, "ff": 2 * lut_sites, "dsp": design.macs_per_cycle, "ram": 0}
        return {**figures, "blocks": {"array": lut_sites - 60, "lane": 60}}

    def frequency(self, design: Any, target: str, seeds: int) -> dict[str, Any]:
        self._called("frequency")
        speeds = [200.0 - design.macs_per_cycle - seed for seed in range(seeds)]
        return {"fmax_mhz": speeds[seeds // 2], "fmax_mhz_per_seed": speeds, "critical_path": "<a> & b"}

    def _called(self, what: str) -> None:
        Path(self.calls).mkdir(exist_ok=True)
        (Path(self.calls) / f"{what}-{uuid.uuid4()}").touch()
        time.sleep(self.seconds)


def explored(source: object, calls: Path, **options: Any) -> Exploration:
    """`explore` with a `FakeSynthesizer`; options are fields of `Run`, parameters, or axes."""
    options = {"synthesizer": FakeSynthesizer(str(calls)), **options}
    run = {name: options.pop(name) for name in Run.__dataclass_fields__ if name in options}
    asked = {name: options.pop(name) for name in ("data", "workload", "require", "objective") if name in options}
    space = options.pop("space", {}) | options
    return explore(source, space, **asked, run=Run(**run))


class InProcess:
    """An executor without processes."""

    def run(self, tasks: Any) -> Any:
        for index, task in enumerate(tasks):
            yield index, run_task(task)

    def close(self) -> None:
        pass


def in_browser(report: Path) -> str:
    """The page as a browser shows it; its console must stay empty."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium: apt-get install chromium")
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-logging=stderr",
        f"--user-data-dir={report.parent.parent / 'profile'}", "--virtual-time-budget=5000", "--dump-dom",
        f"file://{report}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout


def small_layer() -> MatMulLayer:
    generator = np.random.default_rng(3)
    return MatMulLayer(
        name="small",
        b=generator.integers(-127, 128, (12, 4)).astype(np.int8),
        a_scale=0.05,
        a_zero_point=np.int8(-3),
        b_scale=np.array([0.011, 0.013, 0.02, 0.0097], np.float32),
        b_zero_point=np.int8(0),
        y_scale=0.17,
        y_zero_point=np.int8(5),
        bias=generator.integers(-500, 500, 4).astype(np.int32),
    )


@dataclass(frozen=True)
class FakePlacer:
    """Place and route of plans: a file in `calls` for each call that was begun, `seconds` each; MHz by the cycles."""

    calls: str
    seconds: float = 0.0
    fails_at: int = 0

    def identity(self) -> str:
        return "fake placer"

    def frequency(self, design: Any, target: str, seeds: int) -> dict[str, Any]:
        Path(self.calls).mkdir(exist_ok=True)
        if len(list(Path(self.calls).iterdir())) + 1 == self.fails_at:
            raise KeyboardInterrupt
        (Path(self.calls) / f"plan-{uuid.uuid4()}").touch()
        time.sleep(self.seconds)
        cycles = design.plan.image_cycles
        return {"lut_sites": 10_000 - cycles, "dsp": design.plan.dsp, "ram": 1, "fmax_mhz": 150.0 + cycles % 7}


def wait_for(condition, seconds: float = 600.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
