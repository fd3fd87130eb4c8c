"""Models of the fuzzer: operators of ONNX drawn at random, quantized by onnxruntime as drawn, and read again."""

from __future__ import annotations

import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnxruntime.capi.onnxruntime_pybind11_state import RuntimeException
from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

from systoliq.design.network import NetworkDesign
from systoliq.golden.network import (
    Convolution,
    Dense,
    LayerNormalization,
    Multiplication,
    ResidualSum,
    Table,
    WholeAverage,
)
from systoliq.onnx import read_network

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from drawn_networks import design_of_network
from model_operators import CHANNELS, MODEL_OPERATORS, Drawn
from tests.onnx.network.networks import Batches
from tests.onnx.network.oracle import ONE_IN, by_node

__all__ = [
    "OPTIONS",
    "NotQuantizedError",
    "draw_model",
    "fault_in_golden",
    "float_model",
    "model_design",
    "quantized_model",
]

_MOST_OPERATORS = 3
_IMAGES = 16
S8, U8, S4 = QuantType.QInt8, QuantType.QUInt8, QuantType.QInt4
OPTIONS: dict[str, dict[str, Any]] = {
    "s8s8 by channel": {"per_channel": True},
    "s8s8 by tensor": {},
    "u8s8": {"activation_type": U8, "reduce_range": True, "per_channel": True},
    "u8u8": {"activation_type": U8, "weight_type": U8},
    "QOperator": {"quant_format": QuantFormat.QOperator, "per_channel": True},
    "QOperator, u8u8": {"quant_format": QuantFormat.QOperator, "activation_type": U8, "weight_type": U8},
    "symmetric": {"per_channel": True, "extra_options": {"ActivationSymmetric": True}},
    "weights with Q": {"extra_options": {"AddQDQPairToWeight": True}},
    "all operators": {"every": True, "per_channel": True},
    "all operators, u8s8": {"every": True, "activation_type": U8, "reduce_range": True},
    "two types": {"every": True, "mixed": True, "reduce_range": True},
    "int4 weights": {"weight_type": S4, "per_channel": True},
}
"""How onnxruntime's quantizer is called; `every`: it quantizes every operator; `mixed`: some tensors are uint8.

With uint8 by int8, `reduce_range` keeps sums of two products within int16, where onnxruntime saturates without VNNI.
"""

# Golden rounds once where onnxruntime computes these in float32: docs/networks.md has how often an integer differs.
_NEAR_TIES = (Convolution, Dense, LayerNormalization, Multiplication, ResidualSum, Table, WholeAverage)


class NotQuantizedError(ValueError):
    """onnxruntime cannot quantize or run the model that was drawn."""


def draw_model(rng: np.random.Generator) -> dict[str, Any]:
    """Operators, an end, inputs and outputs, and how the quantizer is called."""
    count = int(rng.integers(1, _MOST_OPERATORS + 1))
    return {
        "rows": int(rng.integers(2, 5)),
        "cols": int(rng.integers(2, 5)),
        "operators": [str(name) for name in rng.choice(list(MODEL_OPERATORS), count)],
        "end": str(rng.choice(["", "average", "dense"])),
        "inputs": int(rng.integers(1, 3)),
        "outputs": int(rng.integers(1, 3)),
        "options": str(rng.choice(list(OPTIONS))),
        "cells": "portable",  # vendor cells are drawn with networks
        "verified": bool(rng.random() < 0.05),
    }


def float_model(point: dict[str, Any]) -> tuple[onnx.ModelProto, dict[str, list[int]]]:
    """The model at `point` before it is quantized, and its inputs' shapes."""
    net = Drawn(point)
    net.conv2(CHANNELS)
    if point["inputs"] > 1:
        first = net.last
        net.inputs["z"] = [1, CHANNELS, net.rows, net.cols]
        net.last = "z"
        net.conv2(CHANNELS, 1)
        net.add("Add", first, net.last)
    side = net.last
    for operator in point["operators"]:
        MODEL_OPERATORS[operator](net)
    if point["end"]:
        net.add("GlobalAveragePool")
        net.add("Flatten")
    if point["end"] == "dense":
        net.gemm(CHANNELS, 3)
    ends = [net.last]
    if point["outputs"] > 1:
        net.last = side
        net.conv2(2, 1)
        ends.append(net.last)
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in net.inputs.items()]
    made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in dict.fromkeys(ends)]
    graph = helper.make_graph(net.nodes, "g", infos, made, net.held)
    opset = 21 if point["options"] == "int4 weights" else 20
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), net.inputs


def model_images(shapes: dict[str, list[int]], count: int, seed: int) -> dict[str, np.ndarray]:
    """Random inputs, `count` of each."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0, 1, (count, *shape[1:])).astype(np.float32) for name, shape in shapes.items()}


def quantized_model(point: dict[str, Any], folder: Path) -> tuple[Path, dict[str, list[int]]]:
    """The file of the quantized model at `point`, and its inputs' shapes."""
    model, shapes = float_model(point)
    source, path = folder / "float.onnx", folder / "quantized.onnx"
    onnx.save(model, source)
    batches = model_images(shapes, 8, point["seed"])
    given = [{name: x[at : at + 1] for name, x in batches.items()} for at in range(8)]
    options: dict[str, Any] = {"activation_type": S8, "weight_type": S8} | OPTIONS[point["options"]]
    mixed = options.pop("mixed", False)
    if options.pop("every", False):
        options["op_types_to_quantize"] = sorted({node.op_type for node in model.graph.node})
    if mixed:
        rng = np.random.default_rng(point["seed"])
        names = [name for node in model.graph.node for name in node.output if rng.random() < 0.3]
        overrides = {name: [{"quant_type": U8}] for name in names}
        options["extra_options"] = {"TensorQuantOverrides": overrides}
    logging.disable(logging.WARNING)  # the quantizer advises to preprocess
    try:
        quantize_static(source, path, Batches(given), **options)
    except Exception as error:  # of whatever kind it raises
        raise NotQuantizedError(f"onnxruntime cannot quantize: {error}") from error
    finally:
        logging.disable(logging.NOTSET)
    return path, shapes


def model_design(point: dict[str, Any]) -> NetworkDesign:
    """The design at `point`; an InputError where the model is no network."""
    with tempfile.TemporaryDirectory() as folder:
        path, _ = quantized_model(point, Path(folder))
        return design_of_network(read_network(path), point)


def fault_in_golden(point: dict[str, Any]) -> str | None:
    """The first node whose integers differ from onnxruntime's, beyond what docs/networks.md says of it."""
    with tempfile.TemporaryDirectory() as folder:
        path, shapes = quantized_model(point, Path(folder))
        network = read_network(path)
        images = model_images(shapes, _IMAGES, point["seed"])
        try:
            found = by_node(path, network, images)
        except RuntimeException as error:
            raise NotQuantizedError(f"onnxruntime cannot run the model: {error}") from error
    for each in found:
        most = max(1, each.compared // ONE_IN) if isinstance(each.node, _NEAR_TIES) else 0
        if each.wrong > most or each.furthest > 1:
            text = f"{each.wrong} of {each.compared} integers of {each.node.name} differ from onnxruntime's"
            return f"{text}, by at most {each.furthest}"
    return None
