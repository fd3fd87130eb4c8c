"""Float networks with seeded weights, and what onnxruntime's quantizer makes of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

U8, S8 = QuantType.QUInt8, QuantType.QInt8
TYPES = {"u8s8": (U8, S8), "s8s8": (S8, S8), "u8u8": (U8, U8)}


class Builder:
    """A float model, node after node, from the input x."""

    def __init__(self, shape: Sequence[int], seed: int = 1) -> None:
        self.shape = list(shape)
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.held: list[onnx.TensorProto] = []
        self.last = "x"

    def constant(self, array: np.ndarray, name: str = "c") -> str:
        name = f"{name}{len(self.held)}"
        self.held.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: object) -> str:
        output = f"t{len(self.nodes)}"
        name = f"/{operator.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs or [self.last], [output], name=name, **attributes))
        self.last = output
        return output

    def conv(self, c: int, m: int, kernel: Sequence[int], *, groups: int = 1, **attributes: object) -> str:
        fan = c // groups * int(np.prod(kernel))
        of_each = (m, *[1] * (1 + len(kernel)))
        w = self.rng.normal(0, 1 / np.sqrt(fan), (m, c // groups, *kernel)) * self.rng.uniform(0.3, 2, of_each)
        b = self.rng.normal(0, 0.3, m)
        names = self.constant(w.astype(np.float32), "w"), self.constant(b.astype(np.float32), "b")
        return self.add("Conv", self.last, *names, kernel_shape=list(kernel), group=groups, **attributes)

    def relu(self, *, six: bool = False) -> str:
        if not six:
            return self.add("Relu")
        bounds = self.constant(np.float32(0)), self.constant(np.float32(6))
        return self.add("Clip", self.last, *bounds)

    def gemm(self, k: int, n: int, *, transposed: bool = True) -> str:
        w = self.rng.normal(0, 1 / np.sqrt(k), (n, k) if transposed else (k, n)).astype(np.float32)
        b = self.rng.normal(0, 0.3, n).astype(np.float32)
        return self.add("Gemm", self.last, self.constant(w, "w"), self.constant(b, "b"), transB=int(transposed))

    def matmul(self, k: int, n: int) -> str:
        self.add("MatMul", self.last, self.constant(self.rng.normal(0, 1, (k, n)).astype(np.float32) / k**0.5, "w"))
        return self.add("Add", self.last, self.constant(self.rng.normal(0, 0.3, n).astype(np.float32), "b"))

    def model(self, opset: int = 13) -> onnx.ModelProto:
        ends = (("x", self.shape), (self.last, None))
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends]
        graph = helper.make_graph(self.nodes, "g", infos[:1], infos[1:], self.held)
        ir = 8 if opset < 21 else 10
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)


def autoencoder(widths: Sequence[int] = (40, 16, 16, 4, 16, 40), batch: int | str = "N") -> Builder:
    """Dense layers with Relu between, as MLPerf Tiny's for anomaly detection: 640, 128 x 4, 8, 128 x 4, 640."""
    net = Builder([batch, widths[0]])
    for i, (k, n) in enumerate(itertools.pairwise(widths)):
        net.matmul(k, n) if i == 1 else net.gemm(k, n, transposed=i % 2 == 0)
        if i + 2 < len(widths):
            net.relu()
    return net


def ds_cnn(image: Sequence[int] = (13, 8), channels: int = 8, blocks: int = 2) -> Builder:
    """A convolution of 10 x 4 and separable ones, as MLPerf Tiny's keyword spotter: 49 x 10, 64 channels, 4 blocks."""
    net = Builder([1, 1, *image])
    net.conv(1, channels, (10, 4), strides=[2, 2], pads=[4, 1, 5, 1])
    net.relu()
    for _ in range(blocks):
        net.conv(channels, channels, (3, 3), groups=channels, pads=[1, 1, 1, 1])
        net.relu()
        net.conv(channels, channels, (1, 1))
        net.relu()
    net.add("GlobalAveragePool")
    net.add("Flatten")
    net.gemm(channels, 12)
    net.add("Softmax", net.last, axis=1)
    return net


# channels out and stride of MobileNetV1's separable convolutions, in units of 32 channels
MOBILENET = ((2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2), *[(16, 1)] * 5, (32, 2), (32, 1))


def mobilenet(image: int = 17, width: int = 4, blocks: Sequence[tuple[int, int]] = MOBILENET[:4]) -> Builder:
    """MobileNetV1 with Relu6: MLPerf Tiny's person detector has 96 x 96 images and a width of 8 channels."""
    net = Builder([1, 3, image, image])
    net.conv(3, width, (3, 3), strides=[2, 2], auto_pad="SAME_UPPER")
    net.relu(six=True)
    c = width
    for factor, stride in blocks:
        net.conv(c, c, (3, 3), groups=c, strides=[stride, stride], auto_pad="SAME_UPPER")
        net.relu(six=True)
        net.conv(c, factor * width, (1, 1))
        net.relu(six=True)
        c = factor * width
    net.add("GlobalAveragePool")
    net.add("Reshape", net.last, net.constant(np.array([-1, c])))
    net.gemm(c, 2)
    return net


# expansion, channels out, blocks and first stride of the bottlenecks of MobileNetV2 with 0.35 of the channels
MOBILENET_V2 = ((1, 8, 1, 1), (6, 8, 2, 2), (6, 16, 3, 2), (6, 24, 4, 2), (6, 32, 3, 1), (6, 56, 3, 2), (6, 112, 1, 1))


def mobilenet_v2(image: int = 96, bottlenecks: Sequence[tuple[int, int, int, int]] = MOBILENET_V2) -> Builder:
    """MobileNetV2-0.35 with Relu6: inverted residuals, 1280 features, 1000 classes."""
    net, c = Builder([1, 3, image, image]), 3

    def conv(m: int, kernel: int, stride: int = 1, *, depthwise: bool = False, linear: bool = False) -> None:
        groups = c if depthwise else 1
        net.conv(c, m, (kernel, kernel), groups=groups, strides=[stride, stride], auto_pad="SAME_UPPER")
        if not linear:
            net.relu(six=True)

    conv(16, 3, 2)
    c = 16
    for expansion, m, blocks, first_stride in bottlenecks:
        for block in range(blocks):
            start, narrow, stride = net.last, c, first_stride if block == 0 else 1
            if expansion > 1:
                conv(expansion * c, 1)
                c *= expansion
            conv(c, 3, stride, depthwise=True)
            conv(m, 1, linear=True)
            c = m
            if stride == 1 and narrow == c:
                net.add("Add", start, net.last)
    conv(1280, 1)
    net.add("GlobalAveragePool")
    net.add("Flatten")
    net.gemm(1280, 1000)
    return net


def branches(*, averaged: bool = True) -> Builder:
    """A fork with every kind of join, pool, move and function that quantizers write; without the average of windows
    all of it is in hardware.
    """
    net = Builder([1, 3, 8, 8])
    trunk = net.conv(3, 6, (3, 3), pads=[1, 1, 1, 1])
    net.relu()
    trunk = net.last
    net.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    net.conv(6, 6, (3, 3), pads=[2, 2, 2, 2], dilations=[2, 2], groups=2)
    net.add("LeakyRelu", alpha=0.1)
    low = net.add("Resize", net.last, "", net.constant(np.array([1, 1, 2, 2], np.float32)),
                  mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")  # fmt: skip
    net.add("Add", trunk, low)
    total = net.relu()
    net.last = trunk
    net.conv(6, 6, (1, 1))
    gate = net.add("Sigmoid")
    net.add("Mul", total, gate)
    gated = net.last
    net.add("Concat", gated, low, axis=1)
    pool = "AveragePool" if averaged else "MaxPool"
    net.add(pool, kernel_shape=[6, 6], strides=[2, 2], pads=[3, 3, 2, 2])
    net.conv(12, 4, (1, 1))
    net.add("Transpose", perm=[0, 2, 3, 1])
    net.add("Reshape", net.last, net.constant(np.array([1, 64])))
    net.gemm(64, 5, transposed=False)
    return net


NETWORKS: dict[str, Callable[[], Builder]] = {
    "autoencoder": autoencoder, "ds_cnn": ds_cnn, "mobilenet": mobilenet, "branches": branches
}  # fmt: skip
TINY: dict[str, Callable[[], Builder]] = {
    "autoencoder": lambda: autoencoder((640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640)),
    "ds_cnn": lambda: ds_cnn((49, 10), 64, 4),
    "mobilenet": lambda: mobilenet(96, 8, MOBILENET),
}
"""MLPerf Tiny's shapes, but for ResNet8's, whose published model is there; `tests.onnx.network.tiny` writes them."""
LARGER: dict[str, Callable[[], Builder]] = {"mobilenet_v2": mobilenet_v2}
"""Networks that `tests.onnx.network.tiny` also writes, too large for a part without memory beside it."""


def images(shape: Sequence[int | str], count: int, seed: int) -> np.ndarray:
    """Seeded inputs [count, ...], smooth and of other ranges each."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (count, *shape[1:])) * rng.uniform(0.3, 2.5, (count, *[1] * (len(shape) - 1)))
    return x.astype(np.float32)


class Batches(CalibrationDataReader):
    """Inputs for the calibration, by name, one batch after the other."""

    def __init__(self, batches: Iterable[dict[str, np.ndarray]]) -> None:
        self._batches = iter(batches)

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self._batches, None)


def quantized(
    folder: Path, net: Builder, *, form: str = "QDQ", types: str = "s8s8", opset: int = 13, **options: object
) -> Path:
    """The file of the quantized network; weights of 7 bits beside uint8, for processors without VNNI."""
    path = folder / "quantized.onnx"
    source = folder / "float.onnx"
    onnx.save(net.model(opset), source)
    activation, weight = TYPES[types]
    # the quantizer makes weights per channel int8, whatever it is asked for
    saturates = types == "u8s8" or (types == "u8u8" and bool(options.get("per_channel")))
    batches = Batches({"x": batch[None]} for batch in images(net.shape, 12, 5))
    quantize_static(
        source, path, batches, quant_format=QuantFormat[form], activation_type=activation,
        weight_type=weight, **{"reduce_range": saturates, **options},
    )  # fmt: skip
    return path
