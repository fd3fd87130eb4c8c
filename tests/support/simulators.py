"""Simulators by mark."""

from __future__ import annotations

import pytest

__all__ = ["icarus_first"]

icarus_first = pytest.mark.parametrize(
    "simulator",
    [
        pytest.param("icarus", marks=pytest.mark.simulator),
        pytest.param("verilator", marks=[pytest.mark.simulator, pytest.mark.slow]),
    ],
    indirect=True,
)
"""Icarus always, Verilator in slow tests: it compiles a design for longer than Icarus runs it."""
