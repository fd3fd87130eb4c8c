"""MLPerf Tiny's four networks as float ONNX models with seeded weights: architectures in full size, not trained.

    python examples/mlperf_tiny.py [DIR]
    systoliq build DIR/resnet8.onnx --board ulx3s-85f --data DIR/resnet8.npz --out out/resnet8 --until plan

DIR (out/examples/mlperf_tiny) gets NAME.onnx and NAME.npz, 100 random samples, of each network. Needs
`pip install 'systoliq[demo]'`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SAMPLES = 100


class Builder:
    """A float model, node after node, from the input "x" of `shape`."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape
        self.generator = np.random.default_rng(0)
        self.nodes: list[onnx.NodeProto] = []
        self.held: list[onnx.TensorProto] = []
        self.last = "x"

    def add(self, operator: str, *inputs: str, **attributes: object) -> str:
        """Add a node that reads the last tensor, and then `inputs`; return its output."""
        name = f"{operator.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, [self.last, *inputs], [name], f"/{name}", **attributes))
        self.last = name
        return name

    def weights(self, *shape: int) -> tuple[str, str]:
        """Add weights [outputs, ...] and a bias; return their names."""
        scale = np.sqrt(2 / np.prod(shape[1:]))
        arrays = self.generator.normal(0, scale, shape), self.generator.normal(0, 0.1, shape[0])
        names = f"w{len(self.nodes)}", f"b{len(self.nodes)}"
        for array, name in zip(arrays, names, strict=True):
            self.held.append(numpy_helper.from_array(array.astype(np.float32), name))
        return names

    def conv(self, inputs: int, outputs: int, rows: int, columns: int, stride: int = 1, *, groups: int = 1) -> str:
        """Add a convolution with padding as TensorFlow's "same"."""
        names = self.weights(outputs, inputs // groups, rows, columns)
        return self.add("Conv", *names, strides=[stride, stride], group=groups, auto_pad="SAME_UPPER")

    def dense(self, inputs: int, outputs: int) -> str:
        """Add a fully connected layer."""
        return self.add("Gemm", *self.weights(outputs, inputs), transB=1)

    def classify(self, channels: int, classes: int) -> onnx.ModelProto:
        """Add the mean of each channel, a fully connected layer and Softmax; return the model."""
        self.add("GlobalAveragePool")
        self.add("Flatten")
        self.dense(channels, classes)
        self.add("Softmax", axis=1)
        return self.model()

    def model(self) -> onnx.ModelProto:
        """Return the model."""
        ends = (("x", ["N", *self.shape]), (self.last, None))
        given, made = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends)
        graph = helper.make_graph(self.nodes, "mlperf_tiny", [given], [made], self.held)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def autoencoder() -> onnx.ModelProto:
    """Anomaly detection in sounds: ten fully connected layers."""
    widths: Sequence[int] = (640, 128, 128, 128, 128, 8, 128, 128, 128, 128, 640)
    net = Builder(widths[0])
    for inputs, outputs in pairwise(widths):
        if net.nodes:
            net.add("Relu")
        net.dense(inputs, outputs)
    return net.model()


def ds_cnn() -> onnx.ModelProto:
    """Keyword spotting: a convolution and four separable ones, 64 channels each."""
    net = Builder(1, 49, 10)
    net.conv(1, 64, 10, 4, 2)
    net.add("Relu")
    for _ in range(4):
        net.conv(64, 64, 3, 3, groups=64)
        net.add("Relu")
        net.conv(64, 64, 1, 1)
        net.add("Relu")
    return net.classify(64, 12)


def resnet8() -> onnx.ModelProto:
    """Image classification: three residual blocks."""
    net = Builder(3, 32, 32)
    net.conv(3, 16, 3, 3)
    trunk, channels = net.add("Relu"), 16
    for outputs, stride in ((16, 1), (32, 2), (64, 2)):
        net.conv(channels, outputs, 3, 3, stride)
        net.add("Relu")
        branch = net.conv(outputs, outputs, 3, 3)
        if stride > 1:
            net.last = trunk
            trunk = net.conv(channels, outputs, 1, 1, stride)
        net.last = branch
        net.add("Add", trunk)
        trunk, channels = net.add("Relu"), outputs
    return net.classify(64, 10)


def mobilenet() -> onnx.ModelProto:
    """Persons in images: MobileNetV1 with a quarter of its channels."""
    net = Builder(3, 96, 96)
    net.conv(3, 8, 3, 3, 2)
    net.add("Relu")
    channels = 8
    blocks = ((16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1))
    for outputs, stride in blocks:
        net.conv(channels, channels, 3, 3, stride, groups=channels)
        net.add("Relu")
        net.conv(channels, outputs, 1, 1)
        net.add("Relu")
        channels = outputs
    return net.classify(256, 2)


NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    "autoencoder": autoencoder, "ds_cnn": ds_cnn, "resnet8": resnet8, "mobilenet": mobilenet
}  # fmt: skip


def main() -> None:
    """Write each network and its samples."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/examples/mlperf_tiny")
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in NETWORKS.items():
        model = onnx.shape_inference.infer_shapes(make(), strict_mode=True)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, folder / f"{name}.onnx")
        _, *shape = (size.dim_value for size in model.graph.input[0].type.tensor_type.shape.dim)
        x = np.random.default_rng(1).normal(size=(SAMPLES, *shape)).astype(np.float32)
        np.savez(folder / f"{name}.npz", x=x)
        count = sum(int(np.prod(each.dims)) for each in model.graph.initializer)
        print(f"{folder / name}.onnx: {count} weights, input {' x '.join(map(str, shape))}")


if __name__ == "__main__":
    main()
