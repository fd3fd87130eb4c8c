"""Stages of a network: what each computes, as arrays, and as its certificate says it."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.lib import wiring

from systoliq.golden import network
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.hw.network.addition import SumOfTables
from systoliq.hw.network.assembly import Assembly
from systoliq.hw.network.concatenation import Concatenation
from systoliq.hw.network.constants import Constants
from systoliq.hw.network.convolution import Convolution
from systoliq.hw.network.depthwise import Depthwise
from systoliq.hw.network.lookup import Lookup
from systoliq.hw.network.maximum import Maximum
from systoliq.hw.network.pairwise import Pairwise
from systoliq.hw.network.pipeline import Joint
from systoliq.hw.network.repeated import Repeated
from systoliq.hw.network.sliding import Sliding
from systoliq.hw.network.upsampling import Upsampling

from ..choose import sum_bits
from ..layer.certificate import layer_claims

__all__ = ["stage_arrays", "stage_claims", "whole_verdict"]

Arrays = dict[str, npt.NDArray[Any]]
_INPUT = "s_axis_a"


def stage_arrays(assembly: Assembly) -> Arrays:
    """What each stage computes, as STAGE/KEY: a layer's arrays, or tables, scales and zero points of its tensors."""
    return {
        f"{joint.component.kind}/{key}": array
        for joint, node, index in _joints(assembly)
        for key, array in _arrays(joint.component, node, index).items()
    }


def stage_claims(assembly: Assembly, name: str) -> list[dict[str, Any]]:
    """What the certificate of the network `name` says of each stage, in order."""
    modules = {joint.name: f"{name}_{joint.component.kind}" for joint in assembly.pipeline.joints}
    modules[assembly.pipeline.source] = _INPUT
    return [
        {
            "node": node.name,
            "operator": type(node).__name__ if index is None else "Constant",
            **({} if index is None else {"input": index}),
            "module": modules[joint.name],
            "takes": [modules[stream] for stream in joint.inputs],
            **_claims(joint.component, node),
        }
        for joint, node, index in _joints(assembly)
    ]


def whole_verdict(stages: Iterable[Mapping[str, Any]]) -> str:
    """The verdict on a network by those on its stages: "exact", "exact in part" (the rest is tested) or "differs"."""
    verdicts = {stage["verdict"] for stage in stages}
    if "differs" in verdicts:
        return "differs"
    return "exact in part" if "tested" in verdicts else "exact"


def _joints(assembly: Assembly) -> Iterator[tuple[Joint, network.Node, int | None]]:
    """Each joint with its node, and for a constant of that which input it is."""
    by_output = {node.output.name: (node, None) for node in assembly.nodes}
    by_constant = {
        f"{node.name}: constant {index}": (node, index)
        for node in assembly.nodes
        for index, tensor in enumerate(node.inputs)
        if tensor.value is not None
    }
    for joint in assembly.pipeline.joints:
        yield joint, *(by_output | by_constant)[joint.name]


def _arrays(stage: wiring.Component, node: network.Node, index: int | None) -> Arrays:
    if isinstance(stage, Constants):
        return {"elements": np.array(stage.elements, node.output.format.dtype)}
    if isinstance(node, network.Convolution | network.Dense):
        return _layer_of(stage).arrays()
    if isinstance(stage, Upsampling):
        return {}
    if isinstance(node, network.Concatenation):
        return _of_inputs(node)
    tensors = dict(zip("ab", node.inputs, strict=False)) | {"y": node.output}
    arrays = {key: array for letter, tensor in tensors.items() for key, array in _tensor(letter, tensor).items()}
    if isinstance(node, network.Addition):
        arrays["exchanged"] = np.array(node.exchanged)
    if isinstance(node, network.Table):
        arrays["entries"] = node.entries
    return arrays


def _of_inputs(node: network.Concatenation) -> Arrays:
    arrays: Arrays = {"channels": np.array([tensor.channels for tensor in node.inputs])}
    for index, (tensor, entries) in enumerate(zip(node.inputs, _entries(node), strict=True)):
        arrays[f"entries_{index}"] = entries
        arrays[f"zero_point_{index}"] = np.array(tensor.zero_point, tensor.format.dtype)
    return arrays


def _entries(node: network.Concatenation) -> list[npt.NDArray[Any]]:
    """The results for all codes of each input, the least first."""
    return [
        tensor.codes.astype(node.output.format.dtype) if entries is None else entries
        for tensor, entries in zip(node.inputs, node.tables, strict=True)
    ]


def _layer_of(stage: wiring.Component) -> MatMulLayer:
    """The layer of a convolution or dense stage, its weights in the order in which its elements come."""
    if isinstance(stage, Convolution):
        return stage.dense.layer
    assert isinstance(stage, Sliding)  # noqa: S101 - no other stage has a layer
    assert isinstance(stage.core, Depthwise)  # noqa: S101
    return stage.core.layer


def _tensor(letter: str, tensor: network.Tensor) -> Arrays:
    return {
        f"{letter}_scale": np.array(tensor.scale, np.float32),
        f"{letter}_zero_point": np.array(tensor.zero_point, tensor.format.dtype),
    }


@functools.singledispatch
def _claims(stage: wiring.Component, node: network.Node) -> dict[str, Any]:
    """Of a stage that `verify` does not read: that it is tested."""
    return {"verdict": "tested"}


@_claims.register
def _convolution(stage: Convolution, node: network.Node) -> dict[str, Any]:
    dense = stage.dense
    assert isinstance(dense.requantization, Requantization)  # noqa: S101 - tensors of a network are integers of 8 bits
    return layer_claims(
        dense.layer,
        dense.requantization,
        dense.folding,
        {"rows": dense.config.rows, "cols": dense.config.cols, "depth": dense.config.depth},
        accumulator_bits=dense.array.config.accumulator_bits,
        sum_bits=dense.sum_bits,
    )


@_claims.register
def _sliding(stage: Sliding, node: network.Node) -> dict[str, Any]:
    core = stage.core
    if isinstance(core, Maximum):
        return {"verdict": "exact", "formats": _formats(node), "lanes": core.lanes}
    return layer_claims(
        core.layer,
        core.requantization,
        core.folding,
        {"lanes": core.lanes},
        accumulator_bits=core.config.accumulator_bits,
        sum_bits=sum_bits(core.layer),
    )


@_claims.register
def _pairwise(stage: Pairwise, node: network.Addition | network.Multiplication) -> dict[str, Any]:
    """Of the results for all pairs."""
    lane, order = stage.lanes[0], {}
    if isinstance(node, network.Addition):
        assert isinstance(lane, SumOfTables)  # noqa: S101 - which additions are made of
        results = lane.tables.apply(*np.divmod(np.arange(1 << 16), 1 << 8))
        order["exchanged"] = node.exchanged
    else:
        a, b = (np.array(tensor.codes, np.int32) - tensor.zero_point for tensor in node.inputs)
        results = node.rescaled(np.multiply.outer(a, b))
    tensors = {"a": node.inputs[0], "b": node.inputs[1], "y": node.output}
    return {
        "verdict": "exact",
        "formats": _formats(node),
        "scales": {letter: float(tensor.scale).hex() for letter, tensor in tensors.items()},
        "zero_points": {letter: tensor.zero_point for letter, tensor in tensors.items()},
        "lanes": len(stage.lanes),
        "results_sha256": _digest(results),
        **order,
    }


@_claims.register
def _concatenation(stage: Concatenation, node: network.Concatenation) -> dict[str, Any]:
    return {
        "verdict": "exact",
        "format": node.output.format.name,
        "lanes": stage.lanes,
        "inputs": [
            {"format": tensor.format.name, "beats": part.beats, "results_sha256": _digest(entries)}
            for tensor, part, entries in zip(node.inputs, stage.parts, _entries(node), strict=True)
        ],
    }


@_claims.register
def _repeated(stage: Repeated, node: network.Node) -> dict[str, Any]:
    return _claims(stage.core, node)


@_claims.register
def _lookup(stage: Lookup, node: network.Table) -> dict[str, Any]:
    return {
        "verdict": "exact",
        "formats": _formats(node),
        "lanes": stage.lanes,
        "results_sha256": _digest(node.entries),
    }


@_claims.register
def _constants(stage: Constants, node: network.Node) -> dict[str, Any]:
    elements = np.array(stage.elements)
    return {
        "verdict": "exact",
        "elements": len(elements),
        "lanes": stage.lanes,
        "results_sha256": _digest(elements),
    }


def _formats(node: network.Node) -> dict[str, str]:
    return {"a": node.inputs[0].format.name, "y": node.output.format.name}


def _digest(results: npt.NDArray[Any]) -> str:
    """SHA-256 of results as bytes: of operands from the least on, those of the second fastest."""
    return hashlib.sha256(results.astype(np.int64).astype(np.uint8).tobytes()).hexdigest()
