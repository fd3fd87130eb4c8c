"""Files of a partition's directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..files import json_bytes
from ..generator import GENERATOR

if TYPE_CHECKING:
    from .search import Partition

__all__ = ["AFTER", "BEFORE", "NETWORK", "SIDECAR", "WHOLE", "partition_files"]

BEFORE, NETWORK, AFTER, WHOLE = "before.onnx", "network.onnx", "after.onnx", "whole.onnx"
SIDECAR = "partition.json"


def partition_files(partition: Partition) -> dict[str, bytes]:
    """The content of each file, by name: the models, and a sidecar that says how they belong together."""
    models = {
        BEFORE: partition.before, NETWORK: partition.network, AFTER: partition.after, WHOLE: partition.whole,
    }  # fmt: skip
    files = {name: model.SerializeToString() for name, model in models.items() if model is not None}
    sidecar: dict[str, Any] = {
        "generator": GENERATOR,
        "kind": "partition",
        "model": partition.path.name,
        "start": partition.start,
        "end": partition.end,
        "boundary": list(partition.boundary),
        "before": partition.before is not None,
        "after": partition.after is not None,
        "nodes": [partition.nodes, partition.all_nodes],
        "multiply_accumulates": [partition.multiply_accumulates, partition.all_multiply_accumulates],
        "causes": [
            {"node": each.node, "reason": each.reason, "multiply_accumulates": each.multiply_accumulates}
            for each in partition.causes
        ],
        "files": dict.fromkeys(sorted(files), "model"),
    }
    return files | {SIDECAR: json_bytes(sidecar)}
