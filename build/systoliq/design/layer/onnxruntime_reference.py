"""Results of a layer as onnxruntime has them: of the integers, and of the real numbers around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.layer import MatMulLayer

from ...onnx.host import HostPart
from ..design import Arrays
from .operands import are_real, rows_of

__all__ = ["onnxruntime_results"]


def onnxruntime_results(
    layer: MatMulLayer, host: HostPart | None, operands: dict[str, npt.NDArray[Any]], *, exact: bool = False
) -> Arrays:
    """`y` of QLinearMatMul, MatMulInteger, or QGemm where there is a bias, for `a`.

    If `a` holds real numbers, this is `sums`; `y` is the result of the layer's part of the model, if any. With `exact`,
    onnxruntime takes kernels that do not saturate.
    """
    from ...onnx.judge import onnxruntime_output, onnxruntime_run

    rows = rows_of(layer, host, **operands)
    y = rows.restore(onnxruntime_output(layer, rows.a, rows.a_zero_point, exact=exact))
    if not are_real(operands["a"]):
        return {"y": y}
    if host is None or host.model is None:
        return {"sums": y}
    return {"sums": y, "y": onnxruntime_run(host.model(), {"x": np.asarray(operands["a"])}, exact=exact)}
