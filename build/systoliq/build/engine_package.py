"""What an engine puts into its package: testbench, golden vectors, and its registers for readers and for C."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from .design import EngineDesign
from .engine_stimulus import engine_stimulus
from .engine_testbench import engine_testbench
from .package_parts import TESTBENCH, Parts, npz_bytes
from .registers import c_header, markdown

__all__ = ["engine_parts"]

_VECTORS = (
    "golden vectors of the testbench: jobI_y = jobI_a x jobI_b less their zero points, plus bias; where there is a "
    "scale, times it, rounded, plus y_zero_point"
)


def engine_parts(design: EngineDesign) -> Parts:
    """Files of an engine beside its Verilog, and what the sidecar says of them."""
    name, jobs = design.name, engine_stimulus(design)
    vectors: dict[str, npt.NDArray[Any]] = {}
    for index, each in enumerate(jobs):
        arrays = {field: getattr(each.job, field) for field in ("a", "b", "a_zero_point", "b_zero_point", "bias")}
        if each.job.scale is not None:
            zero_point = each.y.dtype.type(each.job.y_zero_point)
            arrays |= {"scale": each.job.scale, "y_zero_point": zero_point}
        vectors |= {f"job{index}_{key}": array for key, array in (arrays | {"y": each.y}).items()}
    return Parts(
        files={
            f"{name}_tb.v": (TESTBENCH, engine_testbench(design, jobs).encode()),
            f"{name}_vectors.npz": (
                _VECTORS,
                npz_bytes(vectors),
            ),
            "registers.md": ("the register map", markdown().encode()),
            "systoliq_engine.h": ("the register map for C and C++", c_header().encode()),
        },
        facts={
            "vectors": {
                "jobs": [
                    {"title": each.title, "m": each.job.m, "k": each.job.k, "n": each.job.n, "cycles": each.cycles}
                    for each in jobs
                ]
            }
        },
    )
