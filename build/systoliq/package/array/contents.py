"""The files of an array's package."""

from __future__ import annotations

import numpy as np

from systoliq.golden.archive import npz_bytes

from ...design.array.design import ArrayDesign
from ...testbench.array.stimulus import array_stimulus
from ..file import File

__all__ = ["array_contents"]


def array_contents(design: ArrayDesign) -> dict[str, File]:
    """Return golden vectors."""
    stimulus = array_stimulus(design)
    sums = design.storable(stimulus.sums) if design.config.float8 else stimulus.sums
    vectors = {"inner": np.array(stimulus.inner), "a": stimulus.a, "b": stimulus.b, "sums": sums}
    title = "golden vectors: tile t is a[:, k], b[k] for the next inner[t] indices k, and gives sums[t]"
    return {f"{design.name}_vectors.npz": (title, npz_bytes(vectors))}
