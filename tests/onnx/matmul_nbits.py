"""Whether MatMulNBits has bits that hardware could equal: its results by kernel, and with rows together or alone.

python -m tests.onnx.matmul_nbits
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
from onnx.numpy_helper import from_array

__all__ = ["main"]

_ROWS, _K, _COLUMNS, _BLOCK = 16, 256, 64, 32


def results(a, packed, scales, accuracy_level):
    """onnxruntime's Y [M, N] of one MatMulNBits with 4 bits, in one thread."""
    node = make_node(
        "MatMulNBits", ["a", "b", "scales"], ["y"], domain="com.microsoft",
        K=_K, N=_COLUMNS, bits=4, block_size=_BLOCK, accuracy_level=accuracy_level,
    )  # fmt: skip
    graph = make_graph(
        [node],
        "blocks",
        [make_tensor_value_info("a", TensorProto.FLOAT, [None, _K])],
        [make_tensor_value_info("y", TensorProto.FLOAT, [None, _COLUMNS])],
        [from_array(packed, "b"), from_array(scales.reshape(-1), "scales")],
    )
    model = make_model(graph, opset_imports=[make_opsetid("", 17), make_opsetid("com.microsoft", 1)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"a": a})[0]


def main() -> None:
    """Print how many results differ."""
    rng = np.random.default_rng(0)
    blocks = rng.integers(0, 16, (_COLUMNS, _K // _BLOCK, _BLOCK), dtype=np.uint8)
    packed = blocks[..., ::2] | blocks[..., 1::2] << 4
    scales = rng.uniform(0.005, 0.02, blocks.shape[:2]).astype(np.float32)
    a = rng.normal(0, 1, (_ROWS, _K)).astype(np.float32)
    weights = (blocks.astype(float) - 8) * scales[..., None].astype(float)
    exact = a.astype(float) @ weights.reshape(_COLUMNS, _K).T
    unit = np.abs(exact).max() / 127
    float_a, int8_a = (results(a, packed, scales, level) for level in (1, 4))
    sys.stdout.write(f"{exact.size} results; accuracy levels 1 and 4 differ in {np.sum(float_a != int8_a)}\n")
    sys.stdout.write(f"rounded to int8, they differ in {np.sum(np.rint(float_a / unit) != np.rint(int8_a / unit))}\n")
    for level, together in ((1, float_a), (4, int8_a)):
        alone = np.concatenate([results(row, packed, scales, level) for row in np.split(a, _ROWS)])
        wrong = np.sum(np.rint(together / unit) != np.rint(exact / unit))
        sys.stdout.write(
            f"accuracy level {level}: {np.sum(alone != together)} differ if each row is computed alone; "
            f"rounded to int8, {wrong} differ from the exact sums\n"
        )


if __name__ == "__main__":
    main()
