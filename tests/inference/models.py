"""Models shaped like MobileNetV2 and BERT-tiny, with seeded weights, as onnxruntime's quantizers write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic

from ..onnx.network.networks import Builder, quantized

__all__ = ["bert_tiny", "bert_tiny_dynamic", "mobilenet_v2", "quantized"]


def mobilenet_v2(
    image: int = 16, blocks: tuple[tuple[int, int, int], ...] = ((1, 8, 1), (6, 12, 2), (6, 12, 1))
) -> Builder:
    """Inverted residuals: expansion, channels out and stride of each block; residual sums where shapes agree."""
    net = Builder([1, 3, image, image])
    net.conv(3, 8, (3, 3), strides=[2, 2], pads=[1, 1, 1, 1])
    net.relu(six=True)
    c = 8
    for expansion, out, stride in blocks:
        start, wide = net.last, c * expansion
        if expansion > 1:
            net.conv(c, wide, (1, 1))
            net.relu(six=True)
        net.conv(wide, wide, (3, 3), groups=wide, strides=[stride, stride], pads=[1, 1, 1, 1])
        net.relu(six=True)
        net.conv(wide, out, (1, 1))
        if stride == 1 and out == c:
            net.add("Add", start, net.last)
        c = out
    net.conv(c, 24, (1, 1))
    net.relu(six=True)
    net.add("GlobalAveragePool")
    net.add("Flatten")
    net.gemm(24, 10)
    return net


def bert_tiny(tokens: int = 8, width: int = 16, heads: int = 2, layers: int = 2) -> Builder:
    """Encoder layers on embedded tokens [batch, tokens, width]: attention, LayerNorm, GELU."""
    net = Builder([1, tokens, width])
    for _ in range(layers):
        start, size = net.last, width // heads
        parts = []
        for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
            net.last = start
            net.matmul(width, width)
            net.add("Reshape", net.last, net.constant(np.array([0, tokens, heads, size])))
            parts.append(net.add("Transpose", perm=perm))
        queries, keys, values = parts
        net.add("MatMul", queries, keys)
        net.add("Mul", net.last, net.constant(np.float32(size**-0.5)))
        net.add("Softmax", axis=-1)
        net.add("MatMul", net.last, values)
        net.add("Transpose", perm=[0, 2, 1, 3])
        net.add("Reshape", net.last, net.constant(np.array([0, tokens, width])))
        net.matmul(width, width)
        middle = _normalized(net, start, width)
        net.matmul(width, 4 * width)
        half = net.add("Mul", net.last, net.constant(np.float32(0.5)))
        net.add("Mul", net.nodes[-1].input[0], net.constant(np.float32(0.5**0.5)))
        net.add("Erf")
        net.add("Add", net.last, net.constant(np.float32(1)))
        net.add("Mul", half, net.last)
        net.matmul(4 * width, width)
        _normalized(net, middle, width)
    return net


def _normalized(net: Builder, residual: str, width: int) -> str:
    net.add("Add", residual, net.last)
    ends = [net.rng.uniform(0.5, 1.5, width), net.rng.normal(0, 0.1, width)]
    return net.add("LayerNormalization", net.last, *(net.constant(each.astype(np.float32)) for each in ends), axis=-1)


def bert_tiny_dynamic(folder: Path, *, layers: int = 2, attention: bool = False) -> Path:
    """The same by dynamic quantization: MatMulInteger; of products of attention too, whose zero points are computed."""
    source, path = folder / "float.onnx", folder / "dynamic.onnx"
    onnx.save(bert_tiny(layers=layers).model(17), source)
    options = {"MatMulConstBOnly": not attention}
    quantize_dynamic(
        source, path, weight_type=QuantType.QUInt8 if attention else QuantType.QInt8, extra_options=options
    )
    return path
