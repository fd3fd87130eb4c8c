"""Designs that are quick to synthesize."""

from __future__ import annotations

SMALL = {"rows": 1, "cols": 1, "accumulator_bits": 24}
