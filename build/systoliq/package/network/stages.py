"""Stages of a network: arrays of their functions, and their claims in the certificate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from amaranth.lib import wiring

from systoliq.golden import network
from systoliq.hw.network.assembly import Assembly
from systoliq.hw.network.constants import Constants
from systoliq.hw.network.operator import Arrays, digest
from systoliq.hw.network.operators import operator_of
from systoliq.hw.network.pipeline import Joint

from ...design.network.design import NetworkDesign
from ...design.once import once
from ..layer.certificate import layer_claims

__all__ = ["claims_of", "stage_arrays", "stage_claims", "whole_verdict"]


def stage_arrays(assembly: Assembly) -> Arrays:
    """Arrays of each stage's function, as STAGE/KEY: a layer's arrays, or tables, scales and zero points of its
    tensors.
    """
    return {
        f"{joint.component.kind}/{key}": array
        for joint, node, _ in _joints(assembly)
        for key, array in _arrays(joint.component, node).items()
    }


@once
def claims_of(design: NetworkDesign) -> list[dict[str, Any]]:
    """Return the certificate's claims about each stage of `design`."""
    return stage_claims(design.assembly, design.name)


def stage_claims(assembly: Assembly, name: str) -> list[dict[str, Any]]:
    """The certificate's claims about each stage of the network `name`, in order."""
    modules = {joint.name: f"{name}_{joint.component.kind}" for joint in assembly.pipeline.joints}
    modules |= {stream: f"s_axis_{letter}" for letter, stream in assembly.inputs.items()}
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
    """Return the verdict on a network by those on its stages: "exact", "tested", "differs", or "exact in part" if some
    stages, or parts of them, are exact and the rest is tested.
    """
    verdicts = {stage["verdict"] for stage in stages}
    if "differs" in verdicts:
        return "differs"
    return "exact in part" if len(verdicts) > 1 else verdicts.pop()


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


def _arrays(stage: wiring.Component, node: network.Node) -> Arrays:
    if isinstance(stage, Constants):
        return {"elements": np.array(stage.elements, node.output.format.dtype)}
    return operator_of(node).arrays(stage)


def _claims(stage: wiring.Component, node: network.Node) -> dict[str, Any]:
    """The certificate's claims about a stage: its columns, if it is a product, or its operator's claims."""
    if isinstance(stage, Constants):
        return _of_constants(stage)
    operator = operator_of(node)
    if (product := operator.product(stage)) is None:
        return operator.claims(stage)
    return layer_claims(
        product.layer,
        product.requantization,
        product.folding,
        dict(product.array),
        accumulator_bits=product.accumulator_bits,
        sum_bits=product.sum_bits,
    )


def _of_constants(stage: Constants) -> dict[str, Any]:
    elements = np.array(stage.elements)
    return {
        "verdict": "exact",
        "elements": len(elements),
        "lanes": stage.lanes,
        "results_sha256": digest(elements),
    }
