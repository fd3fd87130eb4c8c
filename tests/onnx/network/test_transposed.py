"""ConvTranspose against onnxruntime, which computes it in float32: random geometries, groups and scales."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from systoliq.errors import InputError
from systoliq.golden.network import Convolution, Move
from systoliq.onnx import read_network

from .oracle import check, session


def written(path, rng, *, shape, channels, kernel, groups=1, by_channel=True, bias="int32", scales=None, **attributes):
    """A ConvTranspose of `shape` to `channels`, with random weights; `scales`: of x, w and y, else random ones."""
    w_shape = (shape[1], channels // groups, *kernel)
    columns = channels // groups if by_channel else 1
    x_scale, w_scale, y_scale = scales or (rng.uniform(0.005, 0.05), rng.uniform(0.002, 0.02, columns), None)
    w_scale = np.broadcast_to(np.float32(w_scale), columns).astype(np.float32)
    terms = np.prod(w_shape) / w_shape[1] / max(1, np.prod(attributes.get("strides", [1])))
    y_scale = y_scale or float(x_scale * w_scale.mean() * 5000 * np.sqrt(max(terms, 1)) / 50)
    unit = np.tile(np.float32(x_scale) * w_scale, groups if by_channel else channels)
    biases = rng.integers(-9000, 9000, channels)
    held = {
        "xs": np.float32(x_scale), "xz": np.int8(rng.integers(-20, 20)),
        "w": rng.integers(-127, 128, w_shape).astype(np.int8),
        "ws": w_scale if by_channel else w_scale.reshape(()),
        "wz": rng.integers(-3, 3, columns).astype(np.int8).reshape(w_scale.shape if by_channel else ()),
        "ys": np.float32(y_scale), "yz": np.int8(rng.integers(-20, 20)),
        "b": biases.astype(np.int32), "bs": unit, "bz": np.zeros(channels, np.int32),
        "bf": np.float32((biases + 0.3) * unit),
    }  # fmt: skip
    bias_node = {"int32": [helper.make_node("DequantizeLinear", ["b", "bs", "bz"], ["bf"], axis=0)]}.get(bias, [])
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xf"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], axis=1),
        *bias_node,
        helper.make_node("ConvTranspose", ["xf", "wf", *(["bf"] if bias else [])], ["c"], group=groups, **attributes),
        helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["yq"]),
        helper.make_node("DequantizeLinear", ["yq", "ys", "yz"], ["y"]),
    ]  # fmt: skip
    made = {name for node in nodes for name in node.output}
    used = {name for node in nodes for name in node.input} - made
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", *shape[1:]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in held.items() if name in used],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)
    return path


def compared(path, rng, images=3):
    """Integers compared with onnxruntime, for random images."""
    network = read_network(path)
    (x,) = network.inputs
    images = rng.integers(-128, 128, (images, *x.shape[1:])).astype(np.int8)
    return check(path, network, {network.sources[0].name: x.dequantize(images)})[0], network


GEOMETRIES = {
    "2 x 2 / 2, as a U-Net has it": ((2, 2), {"strides": [2, 2]}),
    "4 x 4 / 2, pads 1": ((4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "3 x 3 / 2, output_padding": ((3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
    "3 x 3 / 2, odd size": ((3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "5 x 3 / 3 x 2, pads of their own": ((5, 3), {"strides": [3, 2], "pads": [0, 2, 3, 1]}),
    "3 x 3, stride 1": ((3, 3), {"pads": [1, 1, 1, 1]}),
    "1 x 1 / 2, pixels without a weight": ((1, 1), {"strides": [2, 2]}),
    "2 x 2 / 3": ((2, 2), {"strides": [3, 3], "output_padding": [2, 1]}),
    "3 x 3 / 2, 2 apart": ((3, 3), {"strides": [2, 2], "dilations": [2, 2]}),
    "3 x 3 / 2, 3 apart": ((3, 3), {"strides": [2, 2], "dilations": [3, 3], "pads": [2, 1, 0, 3]}),
    "more pads than a stride": ((4, 4), {"strides": [2, 2], "pads": [5, 6, 5, 4]}),
    "SAME_UPPER": ((3, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    "SAME_LOWER": ((3, 4), {"strides": [2, 3], "auto_pad": "SAME_LOWER"}),
    "SAME_UPPER, a kernel below its stride": ((2, 2), {"strides": [3, 3], "auto_pad": "SAME_UPPER"}),
    "VALID": ((3, 3), {"strides": [2, 2], "auto_pad": "VALID"}),
    "output_shape": ((3, 3), {"strides": [2, 2], "output_shape": [12, 10]}),
    "output_shape, SAME_UPPER": ((4, 4), {"strides": [2, 2], "output_shape": [13, 11], "auto_pad": "SAME_UPPER"}),
}


@pytest.mark.parametrize("name", GEOMETRIES)
def test_geometries(tmp_path, name):
    kernel, attributes = GEOMETRIES[name]
    rng = np.random.default_rng(11)
    path = written(tmp_path / "m.onnx", rng, shape=(1, 5, 6, 5), channels=4, kernel=kernel, **attributes)
    assert compared(path, rng)[0] >= 3 * 4 * 9


@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("by_channel", [True, False])
def test_groups(tmp_path, groups, by_channel):
    rng = np.random.default_rng(groups)
    form = {"shape": (1, 6, 5, 5), "channels": 12, "groups": groups, "by_channel": by_channel}
    path = written(tmp_path / "m.onnx", rng, kernel=(3, 3), strides=[2, 2], pads=[1, 1, 0, 0], **form)
    assert compared(path, rng)[0] > 3 * 12 * 81


def test_one_dimension(tmp_path):
    rng = np.random.default_rng(2)
    path = written(tmp_path / "m.onnx", rng, shape=(1, 4, 9), channels=3, kernel=(4,), strides=[2], pads=[1, 1])
    assert compared(path, rng)[0] >= 3 * 3 * 18


def test_random_scales(tmp_path):
    """A float32 sum is rarely on the other side of a tie: 5 of 1,350,000, and never further away."""
    rng = np.random.default_rng(3)
    count = wrong = 0
    for index in range(8):
        form = {"shape": (1, 16, 12, 12), "channels": 8, "kernel": (3, 3), "strides": [2, 2]}
        path = written(tmp_path / f"{index}.onnx", rng, **form)
        network = read_network(path)
        (x,), (y,) = network.inputs, network.outputs
        images = rng.integers(-128, 128, (4, *x.shape[1:])).astype(np.int8)
        golden = network.golden({x.name: images})[y.name]
        expected = session(onnx.load(path)).run(["y"], {"x": x.dequantize(images)})[0]
        away = np.abs(golden - np.rint(expected / y.scale) - y.zero_point)
        assert away.max() <= 1
        count += away.size
        wrong += np.count_nonzero(away)
    assert count >= 160_000
    assert wrong <= 3


def test_powers_of_two_are_exact(tmp_path):
    rng = np.random.default_rng(4)
    form = {"shape": (1, 8, 9, 9), "channels": 4, "kernel": (2, 2), "strides": [2, 2]}
    path = written(tmp_path / "m.onnx", rng, scales=(2**-5, 2**-6, 2**-1), **form)
    assert compared(path, rng)[0] > 4 * 3 * 300


def test_few_products_and_existing_stages(tmp_path):
    """Each phase has the products that it needs, where zeros between the pixels would cost stride^2 times as many."""
    rng = np.random.default_rng(5)
    path = written(tmp_path / "m.onnx", rng, shape=(1, 4, 8, 8), channels=2, kernel=(2, 2), strides=[2, 2])
    network = read_network(path)
    assert [type(node) for node in network.nodes] == [Convolution, Move]
    assert sum(node.multiply_accumulates for node in network.nodes) == 16 * 16 * 2 * 4


REFUSED = {
    "common ties": ({"scales": (0.1, 0.05, 0.1)}, "must leave few sums half-way between two results"),
    "a bias between units": (
        {"bias": "float"},
        "whole multiples of a_scale [*] b_scale.*; onnxruntime adds it in float32: store it as int32",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_float32_decides_is_refused(tmp_path, name):
    rng = np.random.default_rng(6)
    form, message = REFUSED[name]
    path = written(tmp_path / "m.onnx", rng, shape=(1, 3, 4, 4), channels=2, kernel=(2, 2), strides=[2, 2], **form)
    with pytest.raises(InputError, match=message):
        read_network(path)
