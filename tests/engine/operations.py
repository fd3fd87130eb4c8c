"""Random operations: every type mix, every shape that a parameter may have, batches, edges of all sizes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from systoliq.golden import matmul_integer, qlinear_matmul
from systoliq.hw.engine.host import Plan
from systoliq.sim.engine import Engine

BATCHES = [((), ()), ((2,), ()), ((), (3,)), ((2, 3), (2, 3)), ((2, 1), (1, 3)), ((1, 2), (2, 1))]
TYPES = (np.int8, np.uint8)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Operation:
    """A QLinearMatMul (eight inputs) or MatMulInteger (four)."""

    inputs: tuple[Any, ...]

    @property
    def is_qlinear(self) -> bool:
        return len(self.inputs) == 8

    def golden(self) -> np.ndarray:
        return (qlinear_matmul if self.is_qlinear else matmul_integer)(*self.inputs)

    def plan(self, engine: Engine) -> Plan:
        return (engine.plan_qlinear_matmul if self.is_qlinear else engine.plan_matmul_integer)(*self.inputs)


def random_operation(rng: np.random.Generator, most: int, *, per_row: bool = True) -> Operation:
    """An operation whose M, K and N are 1 to `most`, small ones as likely as large ones.

    `per_row` allows parameters per row of A, which onnxruntime does not have.
    """
    m, k, n = (int(most ** rng.random() + 0.5) for _ in range(3))
    own_a, own_b = BATCHES[rng.integers(len(BATCHES))] if m * k * n < 3000 and rng.random() < 0.4 else ((), ())
    a_type, b_type, y_type = (TYPES[i] for i in rng.integers(0, 2, 3))
    a, b = values(rng, a_type, (*own_a, m, k)), values(rng, b_type, (*own_b, k, n))
    if not own_a and not own_b and rng.random() < 0.1:
        a = a[0]
    elif not own_a and not own_b and rng.random() < 0.1:
        b = b[:, 0]

    def shape(operand: np.ndarray, axis: int) -> tuple[int, ...]:
        if operand.ndim == 1 or (axis == -2 and not per_row) or rng.random() < 0.4:
            return [(), (1,)][rng.integers(2)]
        if operand.ndim == 2 and rng.random() < 0.7:
            return (operand.shape[axis],)
        return (*operand.shape[:-1], 1) if axis == -2 else (*operand.shape[:-2], 1, operand.shape[-1])

    a_zero_point, b_zero_point = values(rng, a_type, shape(a, -2)), values(rng, b_type, shape(b, -1))
    if rng.random() < 0.3:
        return Operation(inputs=(a, b, a_zero_point, b_zero_point))
    few = rng.uniform(0.005, 0.05, 3)
    kind = [np.float32, np.float16][rng.random() < 0.2]
    a_scale = rng.choice(few, shape(a, -2)).astype(kind)
    b_scale = (rng.uniform if rng.random() < 0.5 else lambda low, high, size: rng.choice(few, size))(
        0.005, 0.05, shape(b, -1)
    ).astype(kind)
    y_scale = np.asarray(0.02**2 * 60 * np.sqrt(k) * rng.choice([0.1, 1, 4]), kind)
    y_zero_point = values(rng, y_type, [(), (1,)][rng.integers(2)])
    return Operation(
        inputs=(a, a_scale, a_zero_point, b, np.asarray(b_scale, kind), b_zero_point, y_scale, y_zero_point)
    )


def values(rng: np.random.Generator, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def check(engine, operations, seed):
    """Half of the operations without stalls, which must take the model's cycles; all must equal golden."""
    rng = np.random.default_rng(seed)
    stalls = [tuple(rng.uniform(0, 0.6, 3)) if i % 2 else (0.0, 0.0, 0.0) for i in range(len(operations))]
    plans = [operation.plan(engine) for operation in operations]
    results = engine.run(plans, stalls=stalls, seed=seed)
    for operation, result, these in zip(operations, results, stalls, strict=True):
        expected = operation.golden()
        assert result.y.dtype == expected.dtype
        np.testing.assert_array_equal(result.y, expected)
        for report in result.reports:
            if these == (0.0, 0.0, 0.0):
                assert report.cycles == report.model_cycles, report
                assert not report.output_stalls, report
            else:
                assert report.cycles >= report.model_cycles, report
    return results


def onnxruntime_result(operator, y_type, inputs, domain=""):
    """The output of onnxruntime's one-node model; skips the test if onnx or onnxruntime is missing."""
    from tests.golden.in_onnxruntime import run

    return run(operator, y_type, *inputs, domain=domain)
