"""The network of the preset digits-cnn: trained in numpy, written as ONNX, quantized by systoliq.

    python examples/train_digits_cnn.py [DIR]

DIR (out/examples/digits_cnn) gets digits_cnn_float.onnx and digits_cnn.onnx; those in the package were made so. It also
gets digits.npz, 100 test images with their labels, for `systoliq build`. Needs `pip install 'systoliq[demo]'`, that is
scikit-learn, onnx and onnxruntime. Training takes a few seconds.

Scales are powers of two, so that rescaling is a shift and takes no multiplier: that is what makes the network fit the
smallest parts. systoliq takes any scales.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from systoliq.design.digits import split_digits
from systoliq.onnx.judge import onnxruntime_run
from systoliq.quantize.calibration import Samples
from systoliq.quantize.float_model import open_float_model
from systoliq.quantize.quantizer import quantize_model

CHANNELS = (1, 4, 8)
CLASSES, CORNERS = 10, 4 * 4  # pixels of the second convolution's results
STRIDES = (1, 2)
EPOCHS, BATCH, RATE, DECAY, SEED = 40, 32, 4e-3, 1e-2, 0


def windows(x: np.ndarray, stride: int) -> np.ndarray:
    """The 3 x 3 windows of images [M, H, W, C], zeros around them: [M, H / stride, W / stride, 9 * C]."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    found = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))[:, ::stride, ::stride]
    return found.reshape(*found.shape[:3], -1)


def unwindows(gradient: np.ndarray, channels: int, stride: int) -> np.ndarray:
    """The sum of all that `windows` made of each element: its gradient [M, H, W, C]."""
    m, rows, columns, _ = gradient.shape
    parts = gradient.reshape(m, rows, columns, channels, 3, 3)
    total = np.zeros((m, rows * stride + 2, columns * stride + 2, channels))
    for y in range(3):
        for x in range(3):
            total[:, y : y + rows * stride : stride, x : x + columns * stride : stride] += parts[..., y, x]
    return total[:, 1:-1, 1:-1]


class Network:
    """Conv, Relu, Conv, Relu, Gemm. `parameters`: weights [K, N] and bias [N] of each product."""

    def __init__(self, generator: np.random.Generator) -> None:
        sizes = [(9 * c, n) for c, n in pairwise(CHANNELS)]
        sizes.append((CORNERS * CHANNELS[-1], CLASSES))
        self.parameters = [
            array for k, n in sizes for array in (generator.normal(0, np.sqrt(2 / k), (k, n)), np.zeros(n))
        ]

    def scores(self, images: np.ndarray) -> np.ndarray:
        """[M, 10] for images [M, 8, 8, 1] of 0 to 1. What each product took and gave is kept for `gradients`."""
        *convolutions, weights, bias = self.parameters
        self._kept = []
        x = images
        for index, stride in enumerate(STRIDES):
            given = windows(x, stride)
            x = np.maximum(given @ convolutions[2 * index] + convolutions[2 * index + 1], 0)
            self._kept.append((given, x))
        self._flat = x.reshape(len(x), -1)
        return self._flat @ weights + bias

    def gradients(self, of_scores: np.ndarray) -> list[np.ndarray]:
        """Of the loss by each of `parameters`, for the images of the last `scores`."""
        found = [self._flat.T @ of_scores, of_scores.sum(0)]
        flowing = (of_scores @ self.parameters[-2].T).reshape(self._kept[-1][1].shape)
        for index in reversed(range(len(STRIDES))):
            given, made = self._kept[index]
            flowing = flowing * (made > 0)
            found[:0] = [np.tensordot(given, flowing, ([0, 1, 2], [0, 1, 2])), flowing.sum((0, 1, 2))]
            flowing = unwindows(flowing @ self.parameters[2 * index].T, CHANNELS[index], STRIDES[index])
        return found


def train(images: np.ndarray, labels: np.ndarray) -> Network:
    """Adam with decaying weights and a rate that falls as a cosine; the loss is the cross entropy."""
    generator = np.random.default_rng(SEED)
    network = Network(generator)
    means = [np.zeros_like(each) for each in network.parameters]
    squares = [np.zeros_like(each) for each in network.parameters]
    steps = EPOCHS * (len(images) // BATCH)
    for step in range(1, steps + 1):
        if step % (len(images) // BATCH) == 1:
            order = iter(generator.permutation(len(images)))
        chosen = [next(order) for _ in range(BATCH)]
        scores = network.scores(images[chosen])
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        shares[np.arange(BATCH), labels[chosen]] -= 1
        rate = RATE * (1 + np.cos(np.pi * step / steps)) / 2
        for each, gradient, mean, square in zip(
            network.parameters, network.gradients(shares / BATCH), means, squares, strict=True
        ):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            each -= rate * (mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8) + DECAY * each)
    return network


def float_model(network: Network) -> onnx.ModelProto:
    """The network for images [M, 1, 8, 8] of 0 to 16, as scikit-learn has them."""
    first, first_bias, second, second_bias, last, last_bias = network.parameters
    kernels = [
        each.T.reshape(n, c, 3, 3) for each, (c, n) in zip((first / 16, second), pairwise(CHANNELS), strict=True)
    ]
    rows = last.reshape(CORNERS, CHANNELS[-1], CLASSES).transpose(2, 1, 0).reshape(CLASSES, -1)  # channels first
    constants = {
        "conv1.weight": kernels[0], "conv1.bias": first_bias,
        "conv2.weight": kernels[1], "conv2.bias": second_bias,
        "fc.weight": rows, "fc.bias": last_bias,
    }  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["conv1"], "conv1", pads=[1] * 4),
        helper.make_node("Relu", ["conv1"], ["relu1"], "relu1"),
        helper.make_node(
            "Conv", ["relu1", "conv2.weight", "conv2.bias"], ["conv2"], "conv2", pads=[1] * 4, strides=[2, 2]
        ),
        helper.make_node("Relu", ["conv2"], ["relu2"], "relu2"),
        helper.make_node("Flatten", ["relu2"], ["flat"], "flatten"),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["scores"], "fc", transB=1),
    ]
    ends = (("image", ["M", 1, 8, 8]), ("scores", ["M", CLASSES]))
    given, made = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends)
    held = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "digits_cnn", [given], [made], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def main() -> None:
    """Train, write both models and images to build the float one with, and say how well both do."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/examples/digits_cnn")
    folder.mkdir(parents=True, exist_ok=True)
    train_x, test_x, train_labels, test_labels = split_digits()
    network = train(train_x.reshape(-1, 8, 8, 1) / 16, train_labels)
    files = folder / "digits_cnn_float.onnx", folder / "digits_cnn.onnx"
    onnx.save(float_model(network), files[0])
    some = test_x[:100].reshape(-1, 1, 8, 8).astype(np.float32)
    np.savez(folder / "digits.npz", image=some, labels=test_labels[:100])
    images = {"image": train_x.reshape(-1, 1, 8, 8).astype(np.float32)}
    samples = Samples(inputs=images, labels=train_labels, path=Path("the training images"))
    files[1].write_bytes(quantize_model(open_float_model(files[0]), samples, power_of_two=True).content)
    for path in files:
        scores = onnxruntime_run(path.read_bytes(), {"image": test_x.reshape(-1, 1, 8, 8).astype(np.float32)})
        right = np.mean(scores.argmax(axis=1) == test_labels)
        print(f"{path.name}: {path.stat().st_size} bytes, accuracy {right:.4f} of {len(test_labels)} test images")


if __name__ == "__main__":
    main()
