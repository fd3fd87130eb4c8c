"""The network 64-32-16-10 on scikit-learn's digits: trained by scikit-learn, quantized by onnxruntime."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from systoliq.design.digits import split_digits


class _Images(CalibrationDataReader):
    def __init__(self, images: np.ndarray) -> None:
        self._batches = iter([{"x": images}])

    def get_next(self):
        return next(self._batches, None)


def write_mlp(folder: Path) -> tuple[Path, Path]:
    """The int8 model and the archive of its test images with their labels, both in `folder`."""
    train_x, test_x, train_labels, test_labels = split_digits()
    model = MLPClassifier((32, 16), max_iter=200, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train_x, train_labels)
    sizes = [64, 32, 16, 10]
    nodes, held, last = [], [], "x"
    for index, ((k, n), w, b) in enumerate(zip(pairwise(sizes), model.coefs_, model.intercepts_, strict=True)):
        assert w.shape == (k, n)
        held += [
            numpy_helper.from_array(each.astype(np.float32), f"{name}{index}") for name, each in (("w", w), ("b", b))
        ]
        made = f"fc{index}"
        nodes.append(helper.make_node("Gemm", [last, f"w{index}", f"b{index}"], [made], name=made))
        last = made
        if index < 2:
            last = f"relu{index}"
            nodes.append(helper.make_node("Relu", [made], [last], name=last))
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", size]) for name, size in (("x", 64), (last, 10))
    ]
    graph = helper.make_graph(nodes, "mlp", ends[:1], ends[1:], held)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / "float.onnx"
    )
    quantize_static(
        folder / "float.onnx", folder / "mlp.onnx", _Images(train_x.astype(np.float32)), quant_format=QuantFormat.QDQ,
        activation_type=QuantType.QInt8, weight_type=QuantType.QInt8, per_channel=True,
    )  # fmt: skip
    np.savez(folder / "test.npz", inputs=test_x.astype(np.float32), labels=test_labels)
    return folder / "mlp.onnx", folder / "test.npz"
