"""A layer from numpy arrays: model, Verilog, simulation, package with certificate.

    python examples/layer_from_arrays.py [DIR]

DIR (out/examples/fc) gets the package. Needs Icarus Verilog; takes a few seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from systoliq.api import LayerDesign, LayerOptions, MatMulLayer, verify_package, write_package

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/examples/fc")

# What to compute: the inputs of ONNX's QLinearMatMul, with an int32 bias. Zero points carry the types of A, B and Y.
rng = np.random.default_rng(0)
layer = MatMulLayer(
    name="fc",
    b=rng.integers(-127, 128, (64, 10)).astype(np.int8),
    b_scale=rng.uniform(0.01, 0.02, 10).astype(np.float32),  # one for each column; a scalar does for all
    b_zero_point=np.int8(0),
    a_scale=np.float32(0.1),
    a_zero_point=np.uint8(128),
    y_scale=np.float32(0.5),
    y_zero_point=np.int8(-3),
    bias=rng.integers(-1000, 1000, 10).astype(np.int32),
)

# How much hardware: 2 rows x 5 columns x 4 multipliers, the smallest requantizer that is exact for these weights.
design = LayerDesign(layer, LayerOptions(rows=2, cols=5, depth=4, requantizer="auto", accumulator_bits="auto"))
for choice in design.choices:
    print(choice)

a = rng.integers(0, 256, (100, 64)).astype(np.uint8)
run = design.simulate(a, simulator="icarus").check()  # raises where an output differs
print(f"{run.report['outputs']} outputs, {run.report['mismatches']} mismatches")
print(f"{run.report['cycles']} cycles, {design.cycles(len(a))} by the cycle model")

write_package(design, folder)
verified = verify_package(folder)  # reads the Verilog again, with none of the code that wrote it
verdict = "exact" if verified.passed else f"refused: {verified.reasons}"
print(
    f"{folder}: {verdict}; {verified.steps} steps of {verified.columns} columns, {verified.points} accumulators tried"
)
