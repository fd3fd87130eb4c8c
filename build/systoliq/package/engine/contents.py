"""The files of an engine's package."""

from __future__ import annotations

from systoliq.golden.archive import npz_bytes
from systoliq.hw.engine.float8_registers import map_of

from ...design.design import Arrays
from ...design.engine.design import EngineDesign
from ...testbench.engine.stimulus import engine_stimulus
from ..file import File
from .register_map import c_header, markdown

__all__ = ["engine_contents"]

_VECTORS = (
    "golden vectors of the testbench: jobI_y = jobI_a x jobI_b less their zero points, plus bias; with a scale, "
    "times the scale, rounded, plus y_zero_point"
)
_FLOAT8_VECTORS = "golden vectors of the testbench: jobI_y = jobI_a x jobI_b times jobI_scale of its column, as codes"


def engine_contents(design: EngineDesign) -> dict[str, File]:
    """Return golden vectors, and the registers for readers and for C."""
    vectors: Arrays = {}
    for index, each in enumerate(engine_stimulus(design)):
        vectors |= {f"job{index}_{key}": array for key, array in each.arrays.items()}
    registers = map_of(design.config)
    return {
        f"{design.name}_vectors.npz": (_FLOAT8_VECTORS if design.config.float8 else _VECTORS, npz_bytes(vectors)),
        "registers.md": ("the register map", markdown(registers).encode()),
        "systoliq_engine.h": ("the register map for C and C++", c_header(registers).encode()),
    }
