"""Synthesizer: the interface for measuring area and frequency. The real one is `systoliq.synth`; tests bring a fast
one.
"""

from __future__ import annotations

from typing import Any, Protocol

from ..design import Design

__all__ = ["NoSynthesizer", "Synthesizer"]


class Synthesizer(Protocol):
    """Area and frequency of a design on a device; picklable, since it is sent to worker processes."""

    def identity(self) -> str:
        """Name and versions of the tools: part of every cache key."""

    def area(self, design: Design, target: str) -> dict[str, Any]:
        """`lut_sites`, `ff`, `dsp`, `ram`, and `blocks`, a mapping from kind of block to its LUT sites."""

    def frequency(self, design: Design, target: str, seeds: int) -> dict[str, Any]:
        """`fmax_mhz` over seeds 1..seeds, `fmax_mhz_per_seed`, and the areas again as place and route counts them."""


class NoSynthesizer:
    """No synthesis, and no place and route."""

    def identity(self) -> str:
        """Nothing."""
        return "none"

    def area(self, design: Design, target: str) -> dict[str, Any]:
        """Never asked for."""
        raise RuntimeError(f"no synthesizer for {design.name} on {target}")

    def frequency(self, design: Design, target: str, seeds: int) -> dict[str, Any]:
        """Never asked for."""
        raise RuntimeError(f"no synthesizer for {design.name} on {target} with {seeds} seeds")
