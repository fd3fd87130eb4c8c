"""ONNX's own operator tests for MatMulInteger and QLinearMatMul."""

import importlib

import numpy as np
import pytest

from systoliq.golden import matmul_integer, qlinear_matmul

NAMES = [
    "test_matmulinteger",
    *(
        f"test_qlinearmatmul_{rank}_{kind}_{scale}"
        for rank in ("2D", "3D")
        for kind in ("uint8", "int8")
        for scale in ("float32", "float16")
    ),
]
OPERATORS = {"MatMulInteger": matmul_integer, "QLinearMatMul": qlinear_matmul}


@pytest.fixture(scope="module")
def cases():
    node = importlib.import_module("onnx.backend.test.case.node")
    # Importing a module of cases adds them to this list; node.collect_testcases() would import all 200 modules.
    for module in ("matmulinteger", "qlinearmatmul"):
        importlib.import_module(f"{node.__name__}.{module}")
    return {case.name: case for case in node._NodeTestCases}


@pytest.mark.parametrize("name", NAMES)
def test_official(cases, name):
    case = cases[name]
    (node,) = case.model.graph.node
    assert case.data_sets
    for inputs, (expected,) in case.data_sets:
        result = OPERATORS[node.op_type](*inputs)
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)


def test_there_are_no_others(cases):
    ours = [case.name for case in cases.values() if case.model.graph.node[0].op_type in OPERATORS]
    assert sorted(ours) == sorted(NAMES)
