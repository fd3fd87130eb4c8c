"""Networks against onnxruntime: every integer tensor that both have, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper

from systoliq.golden.network import Network, Node

ONE_IN = 10_000
"""Of how many integers at most one may differ from onnxruntime's, by one.

Golden rounds the exact value once. onnxruntime computes averages, LayerNormalization, functions and some scales in
float32; where such a value is so close to a tie that float32 rounds it to the other side, the integers differ by one.
The most that was measured on random inputs is 9 in a million (docs/measurements/networks.md). All else is equal.
"""
INTEGRAL = ("QuantizeLinear", "QGemm", "QLinear")
CHOOSING = ("MaxPool", "Resize", "Concat", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Identity")


def session(model: onnx.ModelProto, fused: Path | None = None) -> onnxruntime.InferenceSession:
    """Of onnxruntime with its fusions, also those of int8 activations; the fused graph goes to `fused`."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    if fused is not None:
        options.optimized_model_filepath = str(fused)
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def seen(path: Path, network: Network) -> tuple[onnx.ModelProto, list[str]]:
    """The model with the integer tensors of `network` that it names as outputs too, and their names.

    A QuantizeLinear's output, or that of an operator on integers, may leave the graph without changing what is fused.
    """
    model = onnx.load(path)
    made: set[str] = set()
    for node in model.graph.node:  # in their order
        if node.op_type.startswith(INTEGRAL) or (node.op_type in CHOOSING and made & set(node.input)):
            made |= set(node.output)
    have = {info.name for info in model.graph.output}
    tensors = {t.name: t for t in (*network.inputs, *(node.output for node in network.nodes)) if t.name in made | have}
    for name, tensor in tensors.items():
        if name not in have:
            kind = helper.np_dtype_to_tensor_dtype(tensor.format.dtype)
            model.graph.output.append(helper.make_tensor_value_info(name, kind, None))
    return model, list(tensors)


def _batch_by_batch(
    run: onnxruntime.InferenceSession, names: list[str], inputs: Mapping[str, np.ndarray]
) -> list[np.ndarray]:
    """The tensors `names` for all of `inputs`, in batches of the size that the model has."""
    count = len(next(iter(inputs.values())))
    sizes = [info.shape[0] for info in run.get_inputs() if info.shape]
    step = next((size for size in sizes if isinstance(size, int)), count)
    parts = [
        run.run(names, {name: array[start : start + step] for name, array in inputs.items()})
        for start in range(0, count, step)
    ]
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def check(path: Path, network: Network, inputs: Mapping[str, np.ndarray]) -> tuple[int, set[str]]:
    """Compare every integer tensor for `inputs`, batch by batch; how many integers, and what operators ran."""
    model, names = seen(path, network)
    fused = path.with_suffix(".fused.onnx")
    run = session(model, fused)
    golden = network.golden(inputs)
    compared = 0
    for name, expected in zip(names, _batch_by_batch(run, names, inputs), strict=True):
        found = golden[name]
        if expected.ndim < found.ndim:  # the model has no batch before it
            expected = expected.reshape(len(found), -1, *expected.shape[1:])
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), name
        np.testing.assert_array_equal(found, expected, err_msg=name)
        compared += found.size
    return compared, {node.op_type for node in onnx.load(fused).graph.node}


def check_ends(path: Path, network: Network, inputs: Mapping[str, np.ndarray]) -> int:
    """Compare the model's own real outputs, without any others added: those behind a DequantizeLinear; how many."""
    run = session(onnx.load(path))
    golden = network.golden(inputs)
    ends = {tensor.name: tensor for tensor in network.outputs}
    dequantizers = [node for node in onnx.load(path).graph.node if node.op_type == "DequantizeLinear"]
    integers = {node.output[0]: ends[node.input[0]] for node in dequantizers if node.input[0] in ends}
    names = [info.name for info in run.get_outputs() if info.name in integers]
    compared = 0
    for name, found in zip(names, _batch_by_batch(run, names, inputs) if names else [], strict=True):
        tensor = integers[name]
        np.testing.assert_array_equal(tensor.dequantize(golden[tensor.name]), found)
        compared += found.size
    return compared


def write(path: Path, text: str, constants: Mapping[str, Any], *, opset: int = 17, ir: int = 8) -> Path:
    """A model of one graph in ONNX's text form, with those of `constants` that it names."""
    head = f'<ir_version: {ir}, opset_import: ["": {opset}, "com.microsoft": 1]>'
    model = onnx.parser.parse_model(f"{head} {text}")
    used = {name for node in model.graph.node for name in node.input}
    held = (onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items() if k in used)
    model.graph.initializer.extend(held)
    onnx.save(model, path)
    return path


@dataclass(frozen=True, kw_only=True)
class NodeFound:
    """What golden's `node` gives for onnxruntime's integers: how many were compared, how many are others, and by how
    much at most.
    """

    node: Node
    compared: int
    wrong: int
    furthest: int


def by_node(path: Path, network: Network, inputs: Mapping[str, np.ndarray]) -> list[NodeFound]:
    """Compare each node whose inputs and output the model names with onnxruntime, so that no difference goes on.

    Moves that the model does not name are made by golden.
    """
    model, names = seen(path, network)
    known = {**inputs, **dict(zip(names, _batch_by_batch(session(model), names, inputs), strict=True))}
    found = []
    for node in network.nodes:
        given = [
            known[x.name].reshape(-1, *x.shape[1:]) if x.value is None else np.asarray(x.value) for x in node.inputs
        ]
        made = node.apply(*given)
        wanted = known.setdefault(node.output.name, made).reshape(made.shape)
        apart = np.abs(made.astype(np.int64) - wanted)
        if node.output.name in names:
            found.append(
                NodeFound(node=node, compared=made.size, wrong=int((apart > 0).sum()), furthest=int(apart.max()))
            )
    return found
