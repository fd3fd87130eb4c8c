"""Operators of ONNX for the fuzzer: each follows an image of 4 channels in a float model and leaves one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from onnx import helper

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.zoo.architectures import Net

__all__ = ["CHANNELS", "MODEL_OPERATORS", "Drawn"]

CHANNELS = 4
"""Of the image between any two operators."""

_LARGEST = 6  # rows or columns


class Drawn(Net):
    """A float model on images of 4 channels: each method of an operator takes the last tensor and leaves the next."""

    def __init__(self, point: dict[str, Any]) -> None:
        super().__init__(2, point["rows"], point["cols"], seed=point["seed"])
        self.rows, self.cols = point["rows"], point["cols"]
        self.inputs: dict[str, list[int]] = {"x": self.shape}

    def numbers(self, *shape: int, low: float = 0.4, high: float = 1.6) -> str:
        """A float32 constant."""
        return self.constant(self.rng.uniform(low, high, shape).astype(np.float32))

    def integers(self, *values: int) -> str:
        """A constant of int64."""
        return self.constant(np.array(values, np.int64))

    def chance(self, *choices: Any) -> Any:
        """One of the choices."""
        return choices[int(self.rng.integers(len(choices)))]

    def image(self, shape: tuple[int, int]) -> None:
        """The last tensor has these rows and columns now."""
        self.rows, self.cols = shape

    def branch(self) -> str:
        """Another tensor of the shape of the last one, made of it."""
        x = self.last
        other = self.chance(lambda: self.add("Sigmoid"), lambda: self.conv2(CHANNELS, 1).last)()
        self.last = x
        return other

    def weights(self, *shape: int) -> str:
        """Random weights, whose sums have the spread of the input."""
        fan = max(1, int(np.prod(shape[1:])))
        return self.constant((self.rng.normal(0, 1, shape) / np.sqrt(fan)).astype(np.float32), "w")


def _conv(net: Drawn) -> None:
    groups, size = net.chance(1, 1, 2, 4), net.chance(1, 3)
    dilation = net.chance(1, 2)
    stride = net.chance(1, 1, 2) if min(net.rows, net.cols) > 2 else 1
    net.conv2(CHANNELS, size, stride=stride, groups=groups, dilation=dilation)
    net.image(((net.rows - 1) // stride + 1, (net.cols - 1) // stride + 1))
    net.chance(lambda: None, net.relu, lambda: net.relu(six=True), net.norm, lambda: net.norm().relu2())()


def _conv_transpose(net: Drawn) -> None:
    if max(net.rows, net.cols) > _LARGEST // 2:
        return _pool(net)
    groups, size = net.chance(1, 2), net.chance(2, 3)
    w, bias = net.weights(CHANNELS, CHANNELS // groups, size, size), net.numbers(CHANNELS, low=-0.3, high=0.3)
    given = net.chance((w,), (w, bias))
    net.add("ConvTranspose", net.last, *given, strides=[2, 2], kernel_shape=[size] * 2, group=groups)
    return net.image((2 * net.rows + size - 2, 2 * net.cols + size - 2))


def _two(operator: str) -> Callable[[Drawn], None]:
    def made(net: Drawn) -> None:
        x, other = net.last, net.branch()
        net.add(operator, *net.chance((x, other), (other, x)))

    return made


def _with_constant(net: Drawn) -> None:
    operator, shape = net.chance("Add", "Sub", "Mul", "Div"), net.chance((), (1, CHANNELS, 1, 1))
    net.add(operator, net.last, net.numbers(*shape))


def _pool(net: Drawn, operator: str = "MaxPool") -> None:
    size = net.chance(*range(1, min(net.rows, net.cols, 3) + 1))
    stride, pad = net.chance(1, size), net.chance(0, size // 2)
    more = {"count_include_pad": net.chance(0, 1)} if operator == "AveragePool" else {}
    net.add(operator, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[pad] * 4, **more)
    net.image(((net.rows + 2 * pad - size) // stride + 1, (net.cols + 2 * pad - size) // stride + 1))


def _average_pool(net: Drawn) -> None:
    _pool(net, "AveragePool")


def _gate(operator: str) -> Callable[[Drawn], None]:
    """The image times what an average or maximum of it says."""

    def made(net: Drawn) -> None:
        x = net.last
        axes = (net.integers(2, 3),) if operator.startswith("Reduce") else ()
        net.add(operator, x, *axes)
        net.conv2(CHANNELS, 1)
        net.add(net.chance("Sigmoid", "HardSigmoid"))
        net.add("Mul", x, net.last)

    return made


def _function(operator: str) -> Callable[[Drawn], None]:
    def made(net: Drawn) -> None:
        if operator == "Sqrt":
            net.add("Abs")
        if operator == "Reciprocal":
            net.add("Sigmoid")
        if operator in ("Exp", "Pow"):
            net.add("Tanh")
        given = (net.constant(np.float32(net.chance(2, 3))),) if operator == "Pow" else ()
        if operator == "Clip":
            given = net.constant(np.float32(-0.4)), net.constant(np.float32(0.7))
        net.add(operator, net.last, *given)

    return made


def _prelu(net: Drawn) -> None:
    net.add("PRelu", net.last, net.numbers(*net.chance((1,), (CHANNELS, 1, 1)), low=0.05, high=0.5))


def _layer_normalization(net: Drawn) -> None:
    net.add("Transpose", perm=[0, 2, 3, 1])
    net.add("LayerNormalization", net.last, net.numbers(CHANNELS), net.numbers(CHANNELS, low=-0.3, high=0.3), axis=-1)
    net.add("Transpose", perm=[0, 3, 1, 2])


def _instance_normalization(net: Drawn) -> None:
    if net.rows * net.cols < 2:
        return
    ones, zeros = (net.constant(np.full(CHANNELS, number, np.float32)) for number in (1.0, 0.0))
    net.add("InstanceNormalization", net.last, ones, zeros)


def _group_normalization(net: Drawn) -> None:
    groups = net.chance(1, 2)
    ones, zeros = (net.constant(np.full(groups, number, np.float32)) for number in (1.0, 0.0))
    net.add("Reshape", net.last, net.integers(0, groups, -1))
    net.add("InstanceNormalization", net.last, ones, zeros)
    net.add("Reshape", net.last, net.integers(1, CHANNELS, net.rows, net.cols))
    net.add("Mul", net.last, net.numbers(CHANNELS, 1, 1))
    net.add("Add", net.last, net.numbers(CHANNELS, 1, 1, low=-0.3, high=0.3))


def _softmax(net: Drawn) -> None:
    net.add("Softmax", axis=net.chance(1, 2, 3))


def _tokens(net: Drawn) -> None:
    """The pixels as tokens."""
    net.add("Reshape", net.last, net.integers(1, CHANNELS, net.rows * net.cols))
    net.add("Transpose", perm=[0, 2, 1])


def _pixels(net: Drawn) -> None:
    """The tokens as pixels."""
    net.add("Transpose", perm=[0, 2, 1])
    net.add("Reshape", net.last, net.integers(1, CHANNELS, net.rows, net.cols))


def _perceptron(net: Drawn) -> None:
    _tokens(net)
    net.add("MatMul", net.last, net.weights(CHANNELS, CHANNELS))
    net.add("Add", net.last, net.numbers(CHANNELS, low=-0.3, high=0.3))
    _pixels(net)


def _attention(net: Drawn) -> None:
    _tokens(net)
    x = net.last
    q, k, v = (net.add("MatMul", x, net.weights(CHANNELS, CHANNELS)) for _ in range(3))
    net.add("MatMul", q, net.add("Transpose", k, perm=[0, 2, 1]))
    net.add("Softmax", axis=-1)
    net.add("MatMul", net.last, v)
    _pixels(net)


def _resize(net: Drawn) -> None:
    mode = net.chance("nearest", "linear")
    down, across = (net.chance(1, 2) if size <= _LARGEST // 2 else 1 for size in (net.rows, net.cols))
    nearest = {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
    scales = net.constant(np.array([1, 1, down, across], np.float32))
    net.add("Resize", net.last, "", scales, mode=mode, **(nearest if mode == "nearest" else {}))
    net.image((net.rows * down, net.cols * across))


def _pad(net: Drawn) -> None:
    mode = net.chance("constant", "reflect", "edge")
    if min(net.rows, net.cols) < 2:
        mode = "edge"
    net.add("Pad", net.last, net.integers(0, 0, 1, 1, 0, 0, 1, 0), mode=mode)
    net.conv(CHANNELS, CHANNELS, (3, 2))


def _split(net: Drawn) -> None:
    sizes = net.chance((1, 3), (2, 2))
    outputs = [f"s{len(net.nodes)}_{part}" for part in (0, 1)]
    given = [net.last, net.integers(*sizes)]
    net.nodes.append(helper.make_node("Split", given, outputs, name=f"/split{len(net.nodes)}", axis=1))
    net.last = outputs[0]
    net.add(net.chance("Relu", "LeakyRelu"))
    net.add("Concat", *net.chance((net.last, outputs[1]), (outputs[1], net.last)), axis=1)


def _concat(net: Drawn) -> None:
    x, axis = net.last, net.chance(1, 2, 3)
    net.add("Concat", x, net.branch(), axis=axis)
    if axis == 1:
        net.channels = 2 * CHANNELS
        net.conv2(CHANNELS, 1)
    else:
        by = (2, 1) if axis == 2 else (1, 2)
        net.image((net.rows * by[0], net.cols * by[1]))
        _smaller(net)


def _smaller(net: Drawn) -> None:
    """At most the largest image."""
    keep = min(net.rows, _LARGEST), min(net.cols, _LARGEST)
    if keep != (net.rows, net.cols):
        net.add("Slice", net.last, net.integers(0, 0), net.integers(*keep), net.integers(2, 3))
        net.image(keep)


def _slice(net: Drawn) -> None:
    x = net.last
    if net.rows < 2:
        return
    net.add("Slice", x, net.integers(1), net.integers(net.rows), net.integers(2), net.integers(1))
    net.image((net.rows - 1, net.cols))


def _gather(net: Drawn) -> None:
    order = net.rng.permutation(CHANNELS)
    net.add("Gather", net.last, net.integers(*order), axis=1)


def _tile(net: Drawn) -> None:
    net.add("Tile", net.last, net.integers(1, 1, 1, 2))
    net.image((net.rows, 2 * net.cols))
    _smaller(net)


def _expand(net: Drawn) -> None:
    rows, cols = net.rows, net.cols
    net.add("GlobalAveragePool")
    net.add("Expand", net.last, net.integers(1, CHANNELS, rows, cols))


def _depth_to_space(net: Drawn) -> None:
    net.conv2(4 * CHANNELS, 1)
    net.add("DepthToSpace", blocksize=2, mode=net.chance("DCR", "CRD"))
    net.channels = CHANNELS
    net.image((2 * net.rows, 2 * net.cols))
    _smaller(net)


def _space_to_depth(net: Drawn) -> None:
    if net.rows % 2 or net.cols % 2:
        return
    net.add("SpaceToDepth", blocksize=2)
    net.channels = 4 * CHANNELS
    net.conv2(CHANNELS, 1)
    net.image((net.rows // 2, net.cols // 2))


def _shuffle(net: Drawn) -> None:
    net.add("Reshape", net.last, net.integers(1, 2, 2, net.rows, net.cols))
    net.add("Transpose", perm=[0, 2, 1, 3, 4])
    net.add("Reshape", net.last, net.integers(1, CHANNELS, net.rows, net.cols))


def _turn(net: Drawn) -> None:
    net.add("Transpose", perm=[0, 1, 3, 2])
    net.image((net.cols, net.rows))


def _squeeze(net: Drawn) -> None:
    """And back."""
    net.add("Unsqueeze", net.last, net.integers(2))
    net.add("Squeeze", net.last, net.integers(2))


FUNCTION_OPERATORS = (
    "Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "ThresholdedRelu", "Elu", "Selu",
    "Softplus", "Softsign", "Mish", "Gelu", "Erf", "Exp", "Pow", "Abs", "Neg", "Sqrt", "Reciprocal", "Floor", "Ceil",
    "Round", "Sign", "Identity", "Dropout",
)  # fmt: skip
MODEL_OPERATORS: dict[str, Callable[[Drawn], None]] = {
    "Conv": _conv, "ConvTranspose": _conv_transpose, "MatMul": _perceptron, "attention": _attention,
    **{name: _two(name) for name in ("Add", "Sub", "Mul", "Min", "Max")}, "constant": _with_constant,
    "MaxPool": _pool, "AveragePool": _average_pool,
    **{name: _gate(name) for name in ("GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "ReduceMax")},
    **{name: _function(name) for name in FUNCTION_OPERATORS}, "PRelu": _prelu,
    "BatchNormalization": lambda net: net.norm() and None, "LayerNormalization": _layer_normalization,
    "InstanceNormalization": _instance_normalization, "GroupNormalization": _group_normalization,
    "Softmax": _softmax, "Resize": _resize, "Pad": _pad, "Split": _split, "Concat": _concat, "Slice": _slice,
    "Gather": _gather, "Tile": _tile, "Expand": _expand, "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth, "Reshape": _shuffle, "Transpose": _turn, "Unsqueeze": _squeeze,
}  # fmt: skip
"""What may follow an image of 4 channels."""
