"""Model with its network as one custom operator: host parts as they are, and the operator in place of the network.

    start, int8 [M, ...]  --SystoliqNetwork_int8_int8-->  elements and shape  --Reshape-->  end, int8 [M, ...]

The operator is self-contained: an attribute has the files of the network's description. It returns the elements and
their shape apart, as onnxruntime ends the process if an operator in Python raises an exception. With a shape that does
not fit the elements, Reshape fails instead, and `InferenceSession.run` raises an error.
"""

from __future__ import annotations

import base64
import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..design.network import NetworkDesign
from ..errors import InputError
from ..files import json_bytes
from ..generator import GENERATOR, versions
from ..onnx import Model
from ..onnx.functions import tensors_taken
from ..onnx.graph import Graph
from ..partition import Partition
from ..partition.regions import Regions
from .package import description_files, open_package

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

__all__ = ["DOMAIN", "FAILED", "MODEL_HW", "TYPES", "deployed_files", "model_hw", "operator_name", "unpacked_design"]

MODEL_HW, SIDECAR = "model_hw.onnx", "deployment.json"

DOMAIN = "ai.onnx.contrib"  # of operators in Python, by onnxruntime-extensions
TYPES = ("int8", "uint8")
"""Types of a network's input and output."""

FAILED = "systoliq hardware: standard error has the reason"
"""Name of the Reshape that fails if the hardware does."""


def deployed_files(partition: Partition, design: NetworkDesign, on: str, baud: int) -> dict[str, bytes]:
    """Return the content of each file of a deployment, by name: the model, and a sidecar about it."""
    model = model_hw(partition, design, on, baud).SerializeToString()
    sidecar: dict[str, Any] = {
        "generator": GENERATOR,
        "kind": "deployment",
        "model": partition.path.name,
        "start": partition.start,
        "end": partition.end,
        "nodes": [partition.nodes, partition.all_nodes],
        "multiply_accumulates": [partition.multiply_accumulates, partition.all_multiply_accumulates],
        "design": design.name,
        "hardware": design.hardware.facts,
        "plan": design.stages,
        "on": on,
        "versions": versions(),
        "files": {MODEL_HW: "the model whose network is one custom operator"},
    }
    return {MODEL_HW: model, SIDECAR: json_bytes(sidecar)}


def operator_name(source: str, result: str) -> str:
    """Return the custom operator's name for integers of these types."""
    return f"SystoliqNetwork_{source}_{result}"


def model_hw(partition: Partition, design: NetworkDesign, on: str, baud: int) -> ModelProto:
    """Return the whole model of `partition` with the network as one custom operator, which computes with `design`.

    `on` and `baud` are the defaults of where it runs, as in `NetworkSession`.
    """
    from onnx import helper

    regions = Regions(Graph(partition.whole, partition.path.parent))
    start, end = partition.start, partition.end
    place = regions.place(end)
    if place is None:
        raise InputError(f"{partition.path}: {end!r} must be the result of a node")
    outputs = [each.name for each in partition.whole.graph.output]
    kept = regions.ancestors(outputs, {end}) | regions.ancestors([start])
    nodes: list[NodeProto] = []
    for index, node in enumerate(regions.nodes):
        nodes += [node] if kept[index] else []
        nodes += _operator(partition, design, on, baud) if index == place else []
    taken = {name for node in nodes for name in tensors_taken(node)}
    model: ModelProto = type(partition.whole).FromString(partition.whole.SerializeToString())
    graph = model.graph
    given = Model.open(partition.path).proto  # whose batch may be open
    for field, wanted in (
        (graph.node, nodes),
        (graph.input, [each for each in given.graph.input if each.name in taken]),
        (graph.output, given.graph.output),
        (graph.value_info, []),
        (graph.initializer, [each for each in graph.initializer if each.name in taken]),
        (graph.sparse_initializer, [each for each in graph.sparse_initializer if each.values.name in taken]),
    ):
        copies = [type(each).FromString(each.SerializeToString()) for each in wanted]
        del field[:]
        field.extend(copies)
    if DOMAIN not in {each.domain for each in model.opset_import}:
        model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return model


def _operator(partition: Partition, design: NetworkDesign, on: str, baud: int) -> list[NodeProto]:
    """Return the nodes in place of the network."""
    from onnx import helper

    start, end = partition.start, partition.end
    source, result = design.network.inputs[0], design.network.outputs[0]
    elements, shape = f"{end}/hardware", f"{end}/shape"
    return [
        helper.make_node(
            operator_name(source.format.dtype.name, result.format.dtype.name), [start], [elements, shape],
            name="systoliq hardware", domain=DOMAIN, design=packed_design(design), on=on, baud=baud,
        ),
        helper.make_node("Reshape", [elements, shape], [end], name=FAILED),
    ]  # fmt: skip


def packed_design(design: NetworkDesign) -> str:
    """Return the files of the design's description in one text."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in description_files(design).items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return base64.b64encode(content.getvalue()).decode()


def unpacked_design(text: str, folder: Path) -> NetworkDesign:
    """Return the design of `packed_design`, with its files written to the empty directory `folder`."""
    try:
        with zipfile.ZipFile(io.BytesIO(base64.b64decode(text))) as archive:
            names = [Path(name).name for name in archive.namelist()]
            for name, member in zip(names, archive.namelist(), strict=True):
                (folder / name).write_bytes(archive.read(member))
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"the model's hardware must be written by systoliq deploy ({error})") from error
    return open_package(folder)
