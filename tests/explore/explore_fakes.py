"""A fast synthesizer for the tests: figures from the design's size, and a file for each point it was asked about."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class FakeSynthesizer:
    """`calls` gets a file for each call that was begun; a call takes `seconds`."""

    calls: str
    seconds: float = 0.0

    def identity(self) -> str:
        return "fake 1"

    def area(self, design: Any, target: str) -> dict[str, Any]:
        self._called("area")
        config = design.dense.config
        lut_sites = 100 + 10 * config.macs_per_cycle * config.a.bits + 20 * design.requantization.multiplier_bits
        figures = {"lut_sites": lut_sites, "ff": 2 * lut_sites, "dsp": config.macs_per_cycle, "ram": 0}
        return {**figures, "blocks": {"array": lut_sites - 60, "lane": 60}}

    def frequency(self, design: Any, target: str, seeds: int) -> dict[str, Any]:
        self._called("frequency")
        speeds = [200.0 - design.dense.config.macs_per_cycle - seed for seed in range(seeds)]
        return {"fmax_mhz": speeds[seeds // 2], "fmax_mhz_per_seed": speeds, "critical_path": "<a> & b"}

    def _called(self, what: str) -> None:
        Path(self.calls).mkdir(exist_ok=True)
        (Path(self.calls) / f"{what}-{uuid.uuid4()}").touch()
        time.sleep(self.seconds)
