"""Operations of the engine, which nodes of a model ask for: MatMulInteger or QLinearMatMul, with a bias or without."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden import combined_scale, matmul_integer, qlinear_matmul, requantize_float32
from systoliq.golden.accumulate import wrap_int32
from systoliq.golden.formats import IntFormat
from systoliq.golden.network import Window
from systoliq.golden.operators import QLinearInputs
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import Plan, plan_matmul_integer, plan_qlinear_matmul

__all__ = ["Array", "Asked", "Image", "Inputs", "Operation", "Rescaling"]

Array = npt.NDArray[Any]
Inputs = Mapping[str, Any]
"""Inputs of a node by role, as `onnx.operator` has them; None for omitted inputs."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rescaling:
    """Parameters of QLinearMatMul that MatMulInteger lacks: scales, and Y's zero point, which has Y's type."""

    a_scale: Array
    b_scale: Array
    y_scale: Array
    y_zero_point: Array

    @classmethod
    def of(cls, inputs: Inputs) -> Rescaling | None:
        """The parameters among the `inputs` of a node; None for an operator that gives int32 sums."""
        if "y_scale" not in inputs:
            return None
        return cls(**{name: inputs[name] for name in ("a_scale", "b_scale", "y_scale", "y_zero_point")})


@dataclass(frozen=True, kw_only=True, eq=False)
class Operation:
    """A [..., M, K] times B [..., K, N], rescaled or int32 sums; `bias` is int32 [N], and None is 0 everywhere."""

    a: Array
    b: Array
    a_zero_point: Array | None = None
    b_zero_point: Array | None = None
    bias: Array | None = None
    rescaling: Rescaling | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """M, K and N as one product has them: batches of A are rows."""
        k = self.a.shape[-1]
        return self.a.size // max(k, 1), k, self.b.shape[-1]

    @property
    def bytes_of_y(self) -> int:
        """Bytes of an element."""
        return 4 if self.rescaling is None else 1

    @property
    def multiply_accumulates(self) -> int:
        """K for every output."""
        m, k, n = self.shape
        return m * k * n

    def plan(self, config: EngineConfig) -> Plan:
        """The engine's jobs."""
        operands = self.a, self.b, self.a_zero_point, self.b_zero_point
        if self.rescaling is None:
            return plan_matmul_integer(config, *operands, bias=self.bias)
        return plan_qlinear_matmul(config, self._qlinear_inputs(self.rescaling), bias=self.bias)

    def _qlinear_inputs(self, by: Rescaling) -> QLinearInputs:
        a_zero_point, b_zero_point = self._zero_points
        return QLinearInputs(
            self.a, by.a_scale, a_zero_point, self.b, by.b_scale, b_zero_point, by.y_scale, by.y_zero_point
        )

    def golden(self) -> Array:
        """Y as it must be."""
        operands = self.a, self.b, self.a_zero_point, self.b_zero_point
        by = self.rescaling
        if by is not None and self.bias is None:
            return qlinear_matmul(*self._qlinear_inputs(by))
        sums: Array = matmul_integer(*operands)
        if self.bias is not None:
            sums = wrap_int32(sums.astype(np.int64) + self.bias)
        if by is None:
            return sums
        scale = combined_scale(by.a_scale, by.b_scale, by.y_scale.reshape(()))
        zero_point = by.y_zero_point
        return requantize_float32(sums, scale, int(zero_point.reshape(())), IntFormat.of(zero_point.dtype))

    @property
    def _zero_points(self) -> tuple[Array, Array]:
        """Zero points of A and B; 0 by default."""
        given = ((self.a_zero_point, self.a.dtype), (self.b_zero_point, self.b.dtype))
        a, b = (np.zeros((), dtype) if zero_point is None else zero_point for zero_point, dtype in given)
        return a, b


@dataclass(frozen=True, kw_only=True, eq=False)
class Image:
    """Inputs of a convolution: `pixels` [images, rows, columns, channels] under a `window`, with `kernels` [N, channels
    of a group, rows, columns].

    Its operations are the groups, in order.
    """

    pixels: Array
    window: Window
    kernels: Array

    @property
    def is_depthwise(self) -> bool:
        """True for groups of one channel."""
        return bool(self.kernels.shape[1] == 1 < self.pixels.shape[-1])


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """The request of a node: `operations`, and `finish`, which makes its output from their results.

    `before` and `after` describe, ready for JSON, how operands follow from the node's inputs and its output from
    results. The operands A of a convolution are the windows of `image`.
    """

    operations: tuple[Operation, ...]
    finish: Callable[[Sequence[Array]], Array]
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    image: Image | None = None

    @classmethod
    def of(cls, operation: Operation, *, transposed: str = "") -> Asked:
        """One operation, whose result is the node's; `transposed` are the operands that are the inputs turned."""
        before = {name: "input, transposed" if name in transposed else "input" for name in ("a", "b")}
        return cls(
            operations=(operation,), finish=lambda results: results[0], before=before, after={"output": "the result"}
        )

    def golden(self) -> Array:
        """The node's output as it must be."""
        return self.finish([operation.golden() for operation in self.operations])
