"""Checks of the options of a simulation, of any kind of design."""

from __future__ import annotations

from pathlib import Path

from systoliq.sim.choice import SimulatorChoice

from ..errors import InputError

__all__ = ["check_run"]

_WAVES = {"auto": (".vcd", ".fst"), "verilator": (".vcd",), "icarus": (".vcd", ".fst")}


def check_run(simulator: SimulatorChoice, stalls: float, waves: Path | None) -> None:
    """Raise InputError if `stalls` is no probability of a pause, or `waves` no trace that the simulator writes."""
    if not 0 <= stalls < 1:
        raise InputError(f"stalls must be at least 0 and below 1, not {stalls!r}")
    if waves is not None and waves.suffix not in _WAVES[simulator]:
        under = "" if simulator == "auto" else f" under {simulator}"
        raise InputError(f"waves must end in {' or '.join(_WAVES[simulator])}{under}, not {waves.name!r}")
