"""The engine: shapes, types, zero points and scales at run time, on one piece of hardware.

    python examples/engine.py

Runs three operations on the simulated Verilog of one engine and compares them with the golden operators. The first
build under Verilator takes half a minute; later runs take it from the cache.
"""

from __future__ import annotations

import numpy as np

from systoliq.api import Engine, EngineConfig, matmul_integer, qlinear_matmul

rng = np.random.default_rng(0)
engine = Engine(EngineConfig(rows=4, cols=4, lanes=2))


def report(name: str, y: np.ndarray, expected: np.ndarray) -> None:
    """A line on what an operation gave, and what its jobs took."""
    cycles = sum(job.cycles for job in engine.reports)
    model = sum(job.model_cycles for job in engine.reports)
    wrong = np.count_nonzero(y != expected)
    print(f"{name}: {wrong} of {y.size} outputs differ; {len(engine.reports)} jobs, {cycles} cycles (model: {model})")


a = rng.integers(0, 256, (10, 40)).astype(np.uint8)
b = rng.integers(-128, 128, (40, 7)).astype(np.int8)
report("MatMulInteger", engine.matmul_integer(a, b, np.uint8(128)), matmul_integer(a, b, np.uint8(128)))

scales = rng.uniform(0.001, 0.02, 7).astype(np.float32)  # one for each column
inputs = (a, np.float32(0.1), np.uint8(128), b, scales, np.zeros(7, np.int8), np.float32(0.5), np.int8(-3))
report("QLinearMatMul", engine.qlinear_matmul(*inputs), qlinear_matmul(*inputs))

batch = rng.integers(-128, 128, (3, 5, 40)).astype(np.int8)  # three matrices, the same B: rows of one job
report("a batch", engine.matmul_integer(batch, b), matmul_integer(batch, b))
