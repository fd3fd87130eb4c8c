"""Engines are simulated with cocotbext-axi, which the extra `engine` installs."""

from __future__ import annotations

import re

import pytest

from systoliq.hw.engine import EngineConfig
from systoliq.sim import ToolError
from systoliq.sim import tools as sim_tools
from systoliq.sim.engine import Engine
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine

MISSING = "cocotbext-axi was not found; it is needed for simulating engines: pip install 'systoliq[engine]'"


@pytest.mark.parametrize("kind", [Engine, SimulatedDmaEngine])
def test_an_engine_without_bus_models_names_the_extra(kind, monkeypatch):
    find_spec = sim_tools.importlib.util.find_spec
    monkeypatch.setattr(
        sim_tools.importlib.util, "find_spec", lambda name: None if "cocotbext" in name else find_spec(name)
    )
    sim_tools._find.cache_clear()
    try:
        with pytest.raises(ToolError, match=f"^{re.escape(MISSING)}$"):
            _ = kind(EngineConfig()).simulation
    finally:
        sim_tools._find.cache_clear()
