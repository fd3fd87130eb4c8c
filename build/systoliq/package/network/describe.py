"""The sidecar's description of a network."""

from __future__ import annotations

from typing import Any

from systoliq.golden.network import Tensor
from systoliq.sim.cosimulation.network import beat_lanes

from ...design.facts import RESET, format_facts
from ...design.network.design import NetworkDesign

__all__ = ["describe_network"]


def describe_network(design: NetworkDesign) -> dict[str, Any]:
    """Return the description for `describe`."""
    assembly = design.assembly
    pipeline = assembly.pipeline
    source, output = assembly.tensors[pipeline.source], assembly.tensors[pipeline.output]
    (given,) = design.network.sources
    return {
        "computes": f"the {len(assembly.nodes)} integer operators of {design.network.name}, each tensor as onnxruntime "
        "computes it",
        "origin": design.origin,
        "formats": {"a": format_facts(source.format), "y": format_facts(output.format)},
        "parameters": {
            "stages": len(assembly.nodes),
            "multipliers": design.plan.multipliers,
            "multiplier_cells": design.plan.dsp,
        },
        "input": {"graph_input": given.name, **_tensor(source)},
        "output": _tensor(design.network.outputs[0]),
        "packing": {
            "a": _packing("s_axis_a_tdata", source, pipeline.lanes),
            "y": _packing("m_axis_y_tdata", output, beat_lanes(assembly, output.name)),
        },
        "reset": RESET,
        "cycle_model": {
            "image_cycles": assembly.image_cycles,
            "exact": assembly.exact,
            "meaning": "from the last beat of one image's results to that of the next, without stalls, once the "
            "pipeline is full",
            "utilization": round(design.plan.utilization, 4),
        },
        "plan": design.stages,
    }


def _tensor(tensor: Tensor) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "shape": list(tensor.shape),
        "scale": float(tensor.scale),
        "zero_point": tensor.zero_point,
    }


def _packing(port: str, tensor: Tensor, lanes: int) -> dict[str, Any]:
    order = "pixels in raster order, each with its channels" if len(tensor.shape) == 4 else "elements in their order"
    return {
        "element_bits": tensor.format.bits,
        "elements_per_beat": lanes,
        "layout": f"{port}: element i of a beat at bits i * {tensor.format.bits} and up; {order}, without gaps",
    }
