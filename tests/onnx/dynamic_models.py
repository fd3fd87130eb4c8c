"""Models of dynamic quantization."""

from __future__ import annotations

TO_FLOAT = "f = com.microsoft.MatMulIntegerToFloat({})\n yq = Cast<to = 2>(f)"
Q_X = "r = Cast<to = 1>(xq)\n a = QuantizeLinear(r, a_s, a_z)\n"
DYNAMIC_X = "r = Cast<to = 1>(xq)\n a, s, p = DynamicQuantizeLinear(r)\n"
FUSED = {  # and whether zero points come with A, whether real numbers are known to, and the steps
    "static": (Q_X + TO_FLOAT.format("a, W, a_s, w_sn, a_z, w_zn, real"), False, True, ["Mul", "Add"]),
    "dynamic": (DYNAMIC_X + TO_FLOAT.format("a, W, s, w_sn, p, w_zn, real"), True, True, ["Mul", "Add"]),
    "no bias, no zero point of b": (DYNAMIC_X + TO_FLOAT.format("a, W, s, w_s, p"), True, True, ["Mul"]),
    "another scale": (DYNAMIC_X + TO_FLOAT.format("a, W, a_s, w_s, p"), True, False, ["Mul"]),
    "of no quantizer": (TO_FLOAT.format("xq, W, a_s, w_s, a_z, , real"), False, False, ["Mul", "Add"]),
}
