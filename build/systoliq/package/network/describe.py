"""The sidecar's description of a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from systoliq.golden.network import Tensor
from systoliq.hw.network.assembly import Assembly
from systoliq.sim.cosimulation.network import beat_lanes

from ...design.facts import RESET, format_facts
from ...design.network.design import NetworkDesign

__all__ = ["describe_network"]


def describe_network(design: NetworkDesign) -> dict[str, Any]:
    """Return the description for `describe`."""
    assembly = design.assembly
    streams = {**assembly.inputs, **assembly.outputs}
    return {
        "computes": f"the {len(assembly.nodes)} integer operators of {design.network.name}, each tensor as onnxruntime "
        "computes it",
        "origin": design.origin,
        "formats": {letter: format_facts(assembly.tensors[name].format) for letter, name in streams.items()},
        "parameters": {
            "stages": len(assembly.nodes),
            "multipliers": design.plan.multipliers,
            "multiplier_cells": design.plan.dsp,
        },
        **_ends(design),
        "packing": {
            **{letter: _packing(assembly, f"s_axis_{letter}_tdata", name) for letter, name in assembly.inputs.items()},
            **{letter: _packing(assembly, f"m_axis_{letter}_tdata", name) for letter, name in assembly.outputs.items()},
        },
        "reset": RESET,
        "cycle_model": {
            "image_cycles": assembly.image_cycles,
            "exact": assembly.exact,
            "meaning": "from the last beat of one image's results to that of the next, without stalls, once the "
            "pipeline is full",
            "utilization": round(design.plan.utilization, 4),
        },
        "latency": {
            "cycles": {
                letter: {"first_result": each.first, "last_result": each.last}
                for letter, each in assembly.latency.items()
            },
            "from": "the cycle in which the first beat of an image is taken, nothing else being under way; the images "
            "of all inputs begin together",
            "to": "the cycles in which the first and the last beat of its results leave, without stalls",
        },
        "plan": design.stages,
    }


def _ends(design: NetworkDesign) -> dict[str, Any]:
    """The tensors of the ports: `input` and `output`, or `inputs` and `outputs` by letter if there are several, each
    with the beats of an image and those that the port's FIFO holds.
    """
    assembly, net = design.assembly, design.network
    given = [{"graph_input": each.name, **_tensor(each.tensor)} for each in net.sources]
    made = [_tensor(each) for each in net.outputs]
    return {
        **_side("input", given, assembly, assembly.inputs, [each.waiting for each in assembly.pipeline.inputs]),
        **_side("output", made, assembly, assembly.outputs, [each.waiting for each in assembly.pipeline.outputs]),
    }


def _side(
    what: str, tensors: list[dict[str, Any]], assembly: Assembly, streams: Mapping[str, str], waiting: list[int]
) -> dict[str, Any]:
    if len(tensors) == 1:
        return {what: tensors[0]}
    ends = {
        letter: {**tensor, "image_beats": _image_beats(assembly, stream), "fifo_beats": beats}
        for tensor, (letter, stream), beats in zip(tensors, streams.items(), waiting, strict=True)
    }
    return {f"{what}s": ends}


def _image_beats(assembly: Assembly, stream: str) -> int:
    tensor = assembly.tensors[stream]
    return tensor.pixels * tensor.channels // beat_lanes(assembly, stream)


def _tensor(tensor: Tensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "shape": list(tensor.shape),
        "scale": float(tensor.scale),
        "zero_point": tensor.zero_point,
    }


def _packing(assembly: Assembly, port: str, stream: str) -> dict[str, Any]:
    tensor, lanes = assembly.tensors[stream], beat_lanes(assembly, stream)
    order = "pixels in raster order, each with its channels" if len(tensor.shape) == 4 else "elements in their order"
    return {
        "element_bits": tensor.format.bits,
        "elements_per_beat": lanes,
        "layout": f"{port}: element i of a beat at bits i * {tensor.format.bits} and up; {order}, without gaps",
    }
