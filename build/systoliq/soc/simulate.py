"""A whole system under Verilator, with its firmware."""

from __future__ import annotations

from collections.abc import Callable

from systoliq.sim.system import SystemRun, SystemSimulation

from .design import NAME, SocDesign

__all__ = ["PASSED", "simulate_system"]

PASSED = "PASS"
"""The line by which the firmware says that all is right."""


_CYCLES, _CYCLES_OF_IMAGE = 10_000_000, 100_000  # twice the cycles of picorv32 for an image
_UART_BITS = 10_000  # twice the bits that it sends


def simulate_system(
    design: SocDesign, *, progress: Callable[[str], None] | None = None, on_line: Callable[[str], None] | None = None
) -> SystemRun:
    """Run the firmware to its end; `on_line` is called with each line that it sends.

    Raises ToolError where Verilator or a compiler is missing, SimulationError where the firmware does not end.
    """
    simulation = SystemSimulation.build(design.verilog, f"{NAME}_tb", progress)
    if progress is not None:
        progress("simulation")
    limit = _CYCLES + design.images * _CYCLES_OF_IMAGE + _UART_BITS * design.config.uart_cycles
    return simulation.run(design.memory, limit=limit, on_line=on_line)
