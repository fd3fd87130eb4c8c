"""The files of a layer's package."""

from __future__ import annotations

from systoliq.golden.archive import npz_bytes

from ...design.layer.design import LayerDesign
from ...testbench.layer.stimulus import layer_stimulus
from ..file import File
from .describe import formula

__all__ = ["layer_contents"]


def layer_contents(design: LayerDesign) -> dict[str, File]:
    """Return golden vectors and the layer itself."""
    stimulus = layer_stimulus(design)
    vectors = {"a": stimulus.a, "y": stimulus.y}
    if stimulus.a_zero_point is not None:
        vectors["a_zero_point"] = stimulus.a_zero_point
    if stimulus.float32_mismatches:
        vectors["y_hardware"] = stimulus.expected
    return {
        f"{design.name}_vectors.npz": (f"golden vectors: a and y = {formula(design.layer)}", npz_bytes(vectors)),
        f"{design.name}_layer.npz": ("the layer, a SOURCE of systoliq", npz_bytes(design.layer.arrays())),
    }
