"""The files of a network's package."""

from __future__ import annotations

from systoliq.golden.archive import npz_bytes
from systoliq.golden.network import network_arrays

from ...design.network.design import NetworkDesign
from ...files import json_bytes
from ...testbench.network.stimulus import network_stimulus
from ..file import File
from .report import network_report
from .stages import stage_arrays

__all__ = ["network_contents"]


def network_contents(design: NetworkDesign) -> dict[str, File]:
    """Return golden vectors of every tensor, the network, its stages, the plan, and a page that shows it."""
    name = design.name
    vectors = npz_bytes(network_stimulus(design).tensors)
    stages = npz_bytes(stage_arrays(design.assembly))
    network = npz_bytes(network_arrays(design.network))
    return {
        f"{name}_vectors.npz": ("golden vectors: every integer tensor by its name in ONNX", vectors),
        f"{name}_network.npz": ("the network itself, from which verify writes the package again", network),
        f"{name}_stages.npz": ("what each stage computes: weights, scales, tables; verify reads it", stages),
        f"{name}_plan.json": ("each stage's cols and depth, for --plan", json_bytes(design.stages)),
        "report.html": ("the network as a pipeline, stage by stage", network_report(design).encode()),
    }
