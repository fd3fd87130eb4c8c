"""Nodes of layers, and models that are read."""

from __future__ import annotations

import numpy as np

from .onnx_models import CONSTANTS, K

DQ_A = "x = DequantizeLinear(xq, a_s, a_z)"
DQ_W = "w = DequantizeLinear(W, w_s, w_z)"
Q_Y = "yq = QuantizeLinear(y, y_s, y_z)"
DQ_BIAS = "c = DequantizeLinear(bias, bias_s, bias_z)"
MATMUL, GEMM = "[fc] y = MatMul(x, w)", "[fc] y = Gemm(x, w, c)"
EXACT = (np.array([3, -5, 0, 1000, -77]) * CONSTANTS["bias_s"]).astype(np.float32)  # whole multiples, in float
W, WT = CONSTANTS["W"], CONSTANTS["Wt"]
S8 = {"a_z": np.int8(-11), "y_z": np.int8(9)}
U8_W = {"W": (W.astype(np.int16) + 64).astype(np.uint8), "w_z": np.uint8(60)}
PER_CHANNEL = {"b_scale": CONSTANTS["w_sn"]}
BIASED = {"bias": CONSTANTS["bias"]}


def nodes(*lines: str) -> str:
    return "\n".join(lines)


QLINEAR = "[fc] yq = QLinearMatMul(xq, a_s, a_z, W, w_s, w_z, y_s, y_z)"
QGEMM = "[fc] yq = com.microsoft.QGemm(xq, a_s, a_z, W, w_s, w_z, bias, y_s, y_z)"
# Nodes, changes of the constants or the opset, what of the layer differs from CONSTANTS, what onnxruntime fuses it to.
TAKEN = {
    "QLinearMatMul": (QLINEAR, {}, {}, "QLinearMatMul"),
    "QLinearMatMul, opset 10": (QLINEAR, {"opset": 10, "ir": 5}, {}, "QLinearMatMul"),
    "QLinearMatMul, opset 21": (QLINEAR, {"opset": 21, "ir": 10}, {}, "QLinearMatMul"),
    "QLinearMatMul, int8": (QLINEAR, S8, {"a_zero_point": -11, "y_zero_point": 9}, "QLinearMatMul"),
    "QLinearMatMul, uint8 weights": (QLINEAR, U8_W, {"b": U8_W["W"], "b_zero_point": [60] * 5}, "QLinearMatMul"),
    "QLinearMatMul, per channel": (QLINEAR.replace("w_s, w_z", "w_sn, w_zn"), {}, PER_CHANNEL, "QLinearMatMul"),
    "QLinearMatMul, elements of one": (QLINEAR, {"a_s": CONSTANTS["a_s"].reshape(1)}, {}, "QLinearMatMul"),
    "QLinearMatMul, weights moved": (
        nodes("v = Transpose<perm = [1, 0]>(Wt)", "r = Reshape(v, shape)", QLINEAR.replace("W,", "r,")),
        {"shape": np.array([K, -1])}, {}, "QLinearMatMul",
    ),
    "QLinearMatMul, types that onnxruntime lacks": (
        QLINEAR, {"y_z": np.int8(4)} | U8_W, {"b": U8_W["W"], "b_zero_point": [60] * 5, "y_zero_point": 4}, None,
    ),
    "QLinearMatMul, Constant nodes": (
        nodes("s = Constant<value_float: float = 0.03>()", "z = Constant<value = uint8 {117}>()",
              QLINEAR.replace("a_s, a_z", "s, z")),
        {}, {}, "QLinearMatMul",
    ),
    "QGemm": (QGEMM, {}, BIASED, "QGemm"),
    "QGemm without a bias": (QGEMM.replace("bias,", ","), {}, {}, "QGemm"),
    "QGemm, transB": (QGEMM.replace("QGemm(", "QGemm<transB = 1>(").replace("W,", "Wt,"), {}, BIASED, "QGemm"),
    "QGemm, per channel": (QGEMM.replace("w_s, w_z", "w_sn, w_zn"), {}, BIASED | PER_CHANNEL, "QGemm"),
    "Gemm": (nodes(DQ_A, DQ_W, DQ_BIAS, GEMM, Q_Y), {}, BIASED, "QGemm"),
    "Gemm, opset 10": (nodes(DQ_A, DQ_W, DQ_BIAS, GEMM, Q_Y), {"opset": 10, "ir": 5}, BIASED, "QGemm"),
    "Gemm, opset 21": (nodes(DQ_A, DQ_W, DQ_BIAS, GEMM, Q_Y), {"opset": 21, "ir": 10}, BIASED, "QGemm"),
    "Gemm, int8": (
        nodes(DQ_A, DQ_W, DQ_BIAS, GEMM, Q_Y), S8, BIASED | {"a_zero_point": -11, "y_zero_point": 9}, "QGemm"
    ),
    "Gemm without a bias": (nodes(DQ_A, DQ_W, "[fc] y = Gemm(x, w)", Q_Y), {}, {}, "QGemm"),
    "Gemm, transB": (
        nodes(DQ_A, DQ_W.replace("W", "Wt"), DQ_BIAS, "[fc] y = Gemm<transB = 1>(x, w, c)", Q_Y), {}, BIASED, "QGemm",
    ),
    "Gemm, transB, per channel": (
        nodes(DQ_A, "w = DequantizeLinear<axis = 0>(Wt, w_sn, w_zn)",
              "c = DequantizeLinear<axis = 0>(bias, bias_sn, bias_zn)", "[fc] y = Gemm<transB = 1>(x, w, c)", Q_Y),
        {"bias_zn": np.zeros(5, np.int32)}, BIASED | PER_CHANNEL, "QGemm",
    ),
    "Gemm, com.microsoft": (
        nodes(DQ_A, DQ_W, DQ_BIAS, GEMM, Q_Y)
        .replace("= Deq", "= com.microsoft.Deq").replace("= Qua", "= com.microsoft.Qua"),
        {}, BIASED, "QGemm",
    ),
    "Gemm, zero points left out": (
        nodes("x = DequantizeLinear(xq, a_s)", "w = DequantizeLinear(W, w_s)", "c = DequantizeLinear(bias, bias_s)",
              GEMM, "yq = QuantizeLinear(y, y_s)"),
        {}, BIASED | {"a_zero_point": 0, "y_zero_point": 0}, None,
    ),
    "Gemm, a bias of whole multiples": (
        nodes(DQ_A, DQ_W, "[fc] y = Gemm(x, w, exact)", Q_Y), {"exact": EXACT}, {"bias": [3, -5, 0, 1000, -77]}, "QGemm"
    ),
    "MatMul": (nodes(DQ_A, DQ_W, MATMUL, Q_Y), {}, {}, "QLinearMatMul"),
    "MatMul, per channel": (
        nodes(DQ_A, "w = DequantizeLinear<axis = -1>(W, w_sn, w_zn)", MATMUL, Q_Y), {}, PER_CHANNEL, "QLinearMatMul"
    ),
    "MatMul, weights transposed behind DQ": (
        nodes(DQ_A, "v = DequantizeLinear<axis = 0>(Wt, w_sn, w_zn)", "w = Transpose<perm = [1, 0]>(v)", MATMUL, Q_Y),
        {}, PER_CHANNEL, "QLinearMatMul",
    ),
    "MatMul, weights transposed before DQ": (
        nodes(DQ_A, "v = Transpose(Wt)", "w = DequantizeLinear(v, w_s, w_z)", MATMUL, Q_Y), {}, {}, "QLinearMatMul",
    ),
    "MatMul, float weights behind Q": (
        nodes(DQ_A, "v = QuantizeLinear<axis = 1>(Wf, w_sn, w_zn)", "w = DequantizeLinear<axis = 1>(v, w_sn, w_zn)",
              MATMUL, Q_Y),
        {"Wf": W * CONSTANTS["w_sn"] + np.float32(0.001)}, PER_CHANNEL, "QLinearMatMul",
    ),
    "MatMul, A and Y moved": (
        nodes(DQ_A, DQ_W, "f = Flatten(x)", "[fc] h = MatMul(f, w)", "y = Identity(h)", Q_Y), {}, {}, None
    ),
    "MatMul, a Relu without effect": (
        nodes(DQ_A, DQ_W, "[fc] h = MatMul(x, w)", "y = Relu(h)", Q_Y), {"y_z": np.uint8(0)}, {"y_zero_point": 0},
        "QLinearMatMul",
    ),
    "MatMul + Add of int32": (
        nodes(DQ_A, DQ_W, DQ_BIAS, "[fc] h = MatMul(x, w)", "y = Add(c, h)", Q_Y), {}, BIASED, "QGemm"
    ),
    "MatMul + Add of float": (
        nodes(DQ_A, DQ_W, "[fc] h = MatMul(x, w)", "y = Add(h, exact)", Q_Y),
        {"exact": EXACT}, {"bias": [3, -5, 0, 1000, -77]}, "QGemm",
    ),
    "MatMul, then Q, then Add": (
        nodes(DQ_A, DQ_W, MATMUL, "q = QuantizeLinear(y, y_s, y_z)", "d = DequantizeLinear(q, y_s, y_z)",
              "e = Add(d, other)", "yq = QuantizeLinear(e, y_s, y_z)"),
        {"other": np.zeros(5, np.float32)}, {}, "QLinearMatMul",
    ),
}  # fmt: skip
