"""Families of parts, one file each: all that `synth`, `bitstream` and plans need to know of a part, as data."""

from __future__ import annotations

from collections.abc import Mapping

from .ecp5 import ECP5
from .family import Family, Packing, Placement
from .gatemate import GATEMATE
from .generic import GENERIC
from .gowin import GOWIN
from .ice40 import ICE40
from .machxo3 import MACHXO3
from .nexus import NEXUS
from .xilinx import XILINX

__all__ = ["FAMILIES", "Family", "Packing", "Placement"]

FAMILIES: Mapping[str, Family] = {
    family.name: family for family in (ECP5, ICE40, GOWIN, NEXUS, GATEMATE, MACHXO3, XILINX, GENERIC)
}
"""All families, by the name in `Target.family`."""
