"""Small float models with seeded weights, and archives of samples for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

POOL = "p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>"
CNN = f"""c = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w, b)  n = BatchNormalization(c, g, h, m, v)
    r = Relu(n)  {POOL}(r)
    a = GlobalAveragePool(p)  f = Flatten(a)  [fc] y = Gemm<transB = 1>(f, u, d)"""


def float_model(path: Path, nodes: str = CNN, *, ends: str = "(float[N, 1, 6, 6] x) => (float[N, 3] y)") -> Path:
    """Write a model of `nodes`; w, b, g, h, m, v, u and d are constants for an image of 6 x 6 and four channels."""
    rng = np.random.default_rng(3)
    held = {
        "w": rng.normal(0, 0.5, (4, 1, 3, 3)), "b": rng.normal(0, 0.3, 4), "g": rng.uniform(0.5, 2, 4),
        "h": rng.normal(0, 0.3, 4), "m": rng.normal(0, 0.3, 4), "v": rng.uniform(0.5, 2, 4),
        "u": rng.normal(0, 1, (3, 4)), "d": rng.normal(0, 0.2, 3),
    }  # fmt: skip
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> g {ends} {{ {nodes} }}')
    used = {name for node in model.graph.node for name in node.input}
    model.graph.initializer.extend(
        numpy_helper.from_array(array.astype(np.float32), name) for name, array in held.items() if name in used
    )
    onnx.save(model, path)
    return path


def images(count: int = 12, seed: int = 5) -> np.ndarray:
    """Seeded inputs of `CNN`."""
    return np.random.default_rng(seed).normal(0.3, 1, (count, 1, 6, 6)).astype(np.float32)
