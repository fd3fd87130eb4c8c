"""Nodes that are refused, with the reasons."""

from __future__ import annotations

import numpy as np
import onnx

from .onnx_models import CONSTANTS
from .onnx_nodes import DQ_A, DQ_BIAS, DQ_W, GEMM, MATMUL, Q_Y, QGEMM, QLINEAR, nodes

FLOAT4 = onnx.helper.make_tensor("v", onnx.TensorProto.FLOAT4E2M1, [12, 5], [1.0] * 60)
# Nodes, changes of the constants, and what the error must say after "FILE: ".
NODES = {
    "float": (nodes("x = Cast<to = 1>(xq)", "w = Cast<to = 1>(W)", MATMUL, Q_Y), {},
        "its input 'x' must come from a DequantizeLinear, not from Cast 'x'; b must come from a DequantizeLinear, not"),
    "float weights": (nodes(DQ_A, "[fc] y = MatMul(x, Wf)", Q_Y), {"Wf": np.ones((12, 5), np.float32)},
        "MatMul 'fc': b must come from a DequantizeLinear, not from the initializer 'Wf'"),
    "weights that are no constant": (
        nodes(DQ_A, "t = Transpose(xq)", "w = DequantizeLinear(t, a_s, a_z)", MATMUL, Q_Y), {},
        "MatMul 'fc': b must be constant, not from Transpose 't'"),
    "weights on the left": (
        nodes("w = DequantizeLinear(Wt, w_s, w_z)", "x = DequantizeLinear(xq, a_s, a_z)", "t = Transpose(x)",
              "[fc] y = MatMul(w, t)", Q_Y), {}, "MatMul 'fc': b must be constant, not from the graph's input 'xq'"),
    "a scale that is no constant": (
        nodes("s = Cast<to = 1>(xq)", QLINEAR.replace("a_s", "s")), {}, "a_scale must be constant, not from Cast 's'"),
    "a result for two": (nodes(DQ_A, DQ_W, MATMUL, Q_Y, "r = Relu(y)"), {},
        "QuantizeLinear 'yq': MatMul 'fc' must go to this node alone, not also to Relu 'r'"),
    "a Relu that has an effect": (nodes(DQ_A, DQ_W, "[fc] h = MatMul(x, w)", "y = Relu(h)", Q_Y), {},
        "Relu 'y' must be without effect before QuantizeLinear 'yq', whose zero point must then be 0, not 131"),
    "two biases": (nodes(DQ_A, DQ_W, DQ_BIAS, "[fc] h = Gemm(x, w, c)", "y = Add(h, c)", Q_Y), {},
        "Gemm 'fc': one bias must be added, not 'c' and then 'c'"),
    "an addend that is no constant": (
        nodes(DQ_A, DQ_W, "[fc] h = MatMul(x, w)", "o = Relu(x)", "y = Add(h, o)", Q_Y), {},
        "MatMul 'fc': the bias must be constant, not from Relu 'o'"),
    "a float bias beyond int32": (nodes(DQ_A, DQ_W, "[fc] y = Gemm(x, w, f)", Q_Y),
        {"f": np.full(5, 1e9, np.float32)}, "the bias must fit int32 in units of a_scale * b_scale"),
    "a bias of 8 bits": (
        nodes(DQ_A, DQ_W, "c = DequantizeLinear(b8, w_s, w_z)", "[fc] h = MatMul(x, w)", "y = Add(h, c)", Q_Y),
        {"b8": np.full(5, 2, np.int8)}, "MatMul 'fc': the bias must be whole multiples"),
    "a bias with a zero point": (nodes(DQ_A, DQ_W, "c = DequantizeLinear(bias, other, one)", GEMM, Q_Y),
        {"one": np.int32(1), "other": np.float32(0.01)}, "Gemm 'fc': the bias must be whole multiples"),
    "a bias of the wrong shape": (nodes(DQ_A, DQ_W, "[fc] y = Gemm(x, w, f)", Q_Y), {"f": np.ones((5, 1), np.float32)},
        "the bias must have the shape [5] or be one value, not the shape [5, 1]"),
    "transA": (nodes(DQ_A, DQ_W, "[fc] y = Gemm<transA = 1>(x, w)", Q_Y), {}, "Gemm 'fc': transA must be 0"),
    "alpha": (nodes(DQ_A, DQ_W, "[fc] y = Gemm<alpha = 0.5>(x, w)", Q_Y), {}, "alpha must be 1, not 0.5"),
    "beta": (nodes(DQ_A, DQ_W, DQ_BIAS, "[fc] y = Gemm<beta = 2.0>(x, w, c)", Q_Y), {}, "beta must be 1, not 2"),
    "alpha of QGemm": (QGEMM.replace("QGemm(", "QGemm<alpha = 2.0>("), {}, "QGemm 'fc': alpha must be 1, not 2"),
    "QGemm in float": (nodes(QGEMM.replace(", y_s, y_z", "").replace("yq", "y"), Q_Y), {},
        "QGemm 'fc': y_scale and y_zero_point must be given"),
    "scales along K": (nodes(DQ_A, "w = DequantizeLinear<axis = 0>(W, s, z)", MATMUL, Q_Y),
        {"s": np.ones(12, np.float32), "z": np.zeros(12, np.int8)}, "b must have a scale per column of [K, N], not"),
    "scales of A": (nodes("x = DequantizeLinear(xq, s, z)", DQ_W, MATMUL, Q_Y),
        {"s": np.ones(12, np.float32), "z": np.zeros(12, np.uint8)}, "a must have one scale and zero point"),
    "scales of the wrong number": (nodes(DQ_A, "w = DequantizeLinear(W, s, z)", MATMUL, Q_Y),
        {"s": np.ones(7, np.float32), "z": np.zeros(7, np.int8)}, "along axis 1 of [12, 5]"),
    "scales in blocks": (nodes(DQ_A, "w = DequantizeLinear<axis = 0, block_size = 6>(W, s)", MATMUL, Q_Y),
        {"s": np.ones((2, 5), np.float32), "opset": 21, "ir": 10},
        "MatMul 'fc': DequantizeLinear 'w' must have one scale or one per channel, not one per block of 6"),
    "scales of float16": (nodes("x = DequantizeLinear(xq, s, a_z)", DQ_W, MATMUL, Q_Y),
        {"s": np.float16(1), "opset": 19, "ir": 9}, "a's scale must be float32 in DequantizeLinear 'x', not float16"),
    "a negative scale in QDQ form of 16 bits": (nodes("x = DequantizeLinear(xq, s, a_z)", DQ_W, MATMUL, Q_Y),
        {"s": np.float32(-1), "a_z": np.uint16(0), "opset": 21, "ir": 10},
        "MatMul 'fc': a's scale must be positive and finite unless a, b and y have 8 bits, as onnxruntime fuses such"),
    "a scale of 0 where the result stays float": (
        nodes("x = DequantizeLinear(xq, s, a_z)", DQ_W, MATMUL, "yq = Cast<to = 2>(y)"), {"s": np.float32(0)},
        "MatMul 'fc': a's scale must be positive and finite unless a, b and y have 8 bits"),
    "a negative scale behind a Relu": (nodes(DQ_A, DQ_W, MATMUL, "r = Relu(y)", "yq = QuantizeLinear(r, s, z)"),
        {"s": np.float32(-1), "z": np.uint8(0), "y_z": np.uint8(0)},
        "MatMul 'fc': y's scale must be positive and finite behind Relu 'r', not -1.0"),
    "a bias in units of infinity": (nodes("x = DequantizeLinear(xq, s, a_z)", DQ_W, DQ_BIAS.replace("bias_s", "s"),
        GEMM, Q_Y), {"s": np.float32(np.inf)}, "Gemm 'fc': the bias must be whole multiples of a_scale * b_scale"),
    "an infinite scale": (QLINEAR.replace("w_s", "s"), {"s": np.float32([1, np.inf, 1, 1, 1])},
        "QLinearMatMul 'fc': a_scale * b_scale / y_scale must be finite in float32, not inf (column 1), beside"),
    "weights of three dimensions": (QLINEAR.replace("W,", "W3,"), {"W3": CONSTANTS["W"][np.newaxis]},
        "QLinearMatMul 'fc': b must have the shape [K, N]"),
    "zero points of the wrong number": (nodes("[fc] i = MatMulInteger(xq, W, a_z, z)", "yq = Cast<to = 2>(i)"),
        {"z": np.zeros(7, np.int8)}, "MatMulInteger 'fc': b_zero_point must be a scalar, [5] or [1, 5] for b with"),
    "float4": (nodes("w4 = Constant<value = placeholder>()", DQ_A, "w = DequantizeLinear(w4, w_s)", MATMUL, Q_Y),
        {"placeholder": FLOAT4}, "b must be of integers of 2, 4, 8 or 16 bits, one of the four float8 types"),
    "inside an If": (
        nodes("go = Constant<value = bool {1}>()", "yq = If (go) <then_branch = t () => (uint8[M, 5] q) {",
              "[fc] q = QLinearMatMul(xq, a_s, a_z, W, w_s, w_z, y_s, y_z) },",
              "else_branch = e () => (uint8[M, 5] r) { r = Identity(xq) }>"), {},
        "If 'yq': the operator If is not supported"),
    "no product": ("yq = Abs(xq)", {"opset": 14},
        "cannot be taken as a network: Abs 'yq': its input 'xq' must come from a DequantizeLinear"),
}  # fmt: skip
