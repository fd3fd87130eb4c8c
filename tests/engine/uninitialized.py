"""Engines whose registers have no value before reset, and shapes of jobs for them."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path

from systoliq.hw import emit_verilog
from systoliq.hw.cells import models_verilog
from systoliq.signoff.power_up import without_initial_values
from systoliq.sim.engine import Engine
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.runner import Simulation, SimulatorWarning, build

SHAPES = [  # K below rows * depth, whole tiles, and everything ragged
    (1, 1, 1),
    (2, 3, 5),
    (7, 2, 4),
    (4, 8, 6),
    (5, 9, 7),
    (6, 17, 13),
    (1, 1, 2),
    (3, 4, 12),
]


class Uninitialized(Engine):
    """An engine whose Verilog gives registers no initial values."""

    @functools.cached_property
    def simulation(self):
        verilog = without_initial_values(emit_verilog(self.hardware, "engine"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulatorWarning)  # as for the engine itself
            built = build(verilog + models_verilog(self.config.cells), "engine", self.simulator)
        return OnKeptBytes(**vars(built))


class UninitializedDma(SimulatedDmaEngine):
    """An engine with masters whose Verilog gives registers no initial values."""

    def verilog(self):
        return without_initial_values(super().verilog())


class OnKeptBytes(Simulation):
    """A simulation whose receiver ignores bytes without `tkeep`, which may be undefined."""

    def run(self, test_module, **options):
        return super().run(Path(__file__).parent / "kept_bench.py", **options)
