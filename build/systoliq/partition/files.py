"""Files of a partition's directory: written from a partition, and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, need
from ..files import json_bytes, read_input
from ..generator import GENERATOR
from ..onnx.library import library
from .search import Cause, Partition

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["AFTER", "BEFORE", "NETWORK", "SIDECAR", "WHOLE", "is_partition", "partition_files", "read_partition"]

BEFORE, NETWORK, AFTER, WHOLE = "before.onnx", "network.onnx", "after.onnx", "whole.onnx"
SIDECAR = "partition.json"
_FIELDS = ("start", "end", "boundary", "before", "after", "nodes", "multiply_accumulates", "causes")


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


def is_partition(path: Path) -> bool:
    """Return whether `path` is a directory that `systoliq partition` wrote."""
    return path.is_dir() and (path / SIDECAR).is_file()


def read_partition(directory: Path) -> Partition:
    """Return the partition in `directory`, which `partition_files` wrote.

    Raises InputError for an incomplete directory, and for files that are not valid.
    """
    if not is_partition(directory):
        raise InputError(f"{directory}: must be a model or a directory of systoliq partition")
    try:
        facts = json.loads(read_input(directory / SIDECAR))
        missing = [key for key in _FIELDS if key not in facts]
        if missing:
            raise InputError(f"{directory / SIDECAR}: must be written by systoliq partition, and lacks {missing[0]!r}")
        return Partition(
            path=directory / WHOLE,
            whole=_model(directory / WHOLE),
            start=str(facts["start"]),
            end=str(facts["end"]),
            boundary=tuple(map(str, facts["boundary"])),
            before=_model(directory / BEFORE) if facts["before"] else None,
            network=_model(directory / NETWORK),
            after=_model(directory / AFTER) if facts["after"] else None,
            nodes=int(facts["nodes"][0]),
            all_nodes=int(facts["nodes"][1]),
            multiply_accumulates=int(facts["multiply_accumulates"][0]),
            all_multiply_accumulates=int(facts["multiply_accumulates"][1]),
            causes=tuple(Cause(**each) for each in facts["causes"]),
        )
    except InputError:
        raise
    except (ValueError, TypeError, LookupError) as error:
        raise InputError(f"{directory / SIDECAR}: must be written by systoliq partition ({error})") from error


def _model(path: Path) -> ModelProto:
    if not path.is_file():
        raise InputError(f"{path}: there is no such file: write the partition again by systoliq partition")
    with library(f"{path}: must be a valid ONNX model"):
        model: ModelProto = need("onnx", "onnx", "reading ONNX models", extra="onnx").load(path)
    return model
