"""Models of networks that are refused, with the reasons."""

from __future__ import annotations

from typing import Any

import numpy as np

CONSTANTS: dict[str, Any] = {
    "s": np.float32(0.1), "z": np.uint8(3), "i": np.int8(0), "h": np.uint16(3), "many": np.full(4, 0.1, np.float32),
    "zeros": np.full(4, 3, np.uint8), "w": np.ones((4, 4, 1, 1), np.int8), "line": np.ones((4, 4, 1), np.int8),
    "wide": np.ones((4, 4, 7, 1), np.int8), "d": np.ones((4, 4), np.int8), "real": np.ones(4, np.float32),
    "sizes": np.array([1, 4, 10, 10]), "flat": np.array([4, -1]), "two": np.float32(2), "minus": np.float32(-1),
    "negative": np.float32(-0.1), "short": np.ones((4, 4), np.int16), "j": np.int16(0),
    "gates": np.ones((1, 12, 4), np.float32), "axes": np.array([1]),
    "bias": np.array([1, 2, 3, 0.05], np.float32), "far": np.array([1, 1, 1, 3e38], np.float32),
}  # fmt: skip
IMAGE = "uint8[1, 4, 5, 5]"
ROW = "uint8[1, 4]"
Q = "y = QuantizeLinear(f, s, z)"
A = "fa = DequantizeLinear(a, s, z)"
W = "fw = DequantizeLinear(w, s, i)"
D = "fd = DequantizeLinear(d, s, i)"
GRU = "k = Transpose<perm = [1, 0, 2]>(x) t = GRU<hidden_size = 4>(k, gates, gates) e = Squeeze(t, axes)"
LAST = "fb = DequantizeLinear(b, s, z) g = MatMul(fb, fd) y = QuantizeLinear(g, s, z)"
RESIZE = (
    'Resize<mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric">(fa, , , sizes)'
)
BODY = """y = If<then_branch = t () => (uint8[1, 4] p) { p = Identity(a) },
    else_branch = e () => (uint8[1, 4] q) { q = Identity(a) }>(c)"""
# inputs, nodes and a part of the error
REFUSED = {
    "dynamic": (
        "uint8[1, C] a",
        "y = Identity(a)",
        "input 'a' must have numbers for all dimensions but the first, not [1, C]: export it with one size",
    ),
    "no shape": ("uint8 a", "y = Identity(a)", "input 'a' must have a shape with a batch first, not "),
    "float in the middle": (
        f"{ROW} a",
        f"{A} {D} t = LogSoftmax(fa) b = QuantizeLinear(t, s, z) {LAST}",
        "LogSoftmax 't': the operator LogSoftmax is not supported between integers, only behind the last Quan",
    ),
    **{
        f"attention of com.microsoft, {name}": (
            "uint8[1, 2, 4] a",
            f"{A} {D} t = com.microsoft.{name}<num_heads = 2>(fa, fa, fa) b = QuantizeLinear(t, s, z) {LAST}",
            f"{name} 't': attention must be MatMul, Softmax and MatMul with quantizers between them, not one node",
        )
        for name in ("Attention", "MultiHeadAttention", "QAttention", "GroupQueryAttention")
    },
    "a fused addition": (
        f"{ROW} a",
        f"{A} {D} t = com.microsoft.SkipLayerNormalization(fa, fa, real) b = QuantizeLinear(t, s, z) {LAST}",
        "SkipLayerNormalization 't': an addition and its normalization must be two nodes: quantize the model before",
    ),
    **{
        f"fused, {operator}": (
            f"{ROW} a",
            f"{A} {D} t = {operator}(fa, real) b = QuantizeLinear(t, s, z) {LAST}",
            f"{operator.split('.')[-1]} 't': {reason}",
        )
        for operator, reason in {
            "com.microsoft.BiasGelu": "a bias and its function must be two nodes: quantize the model before an opt",
            "com.microsoft.FastGelu": "a bias and its function must be two nodes: quantize the model before an opt",
            "com.microsoft.BiasSoftmax": "a mask and its Softmax must be two nodes: quantize the model before an opt",
            "com.microsoft.RotaryEmbedding": "a rotation by positions must be Split, Concat, Mul and Add with const",
        }.items()
    },
    "a mask": (
        f"{ROW} a",
        f"{A} {D} m = Greater(fa, two) t = Where(m, fa, two) b = QuantizeLinear(t, s, z) {LAST}",
        "Where 't': elements cannot be replaced under a condition, such as an attention mask's: export the model for",
    ),
    "a recurrent layer, not the Transpose that its tool puts before it": (
        "float[1, 3, 4] x",
        f"{GRU} b = QuantizeLinear(e, s, z) {D} {LAST}",
        "a network: GRU 't': a recurrent layer keeps a state from one step to the next, which networks do not have",
    ),
    "another domain": (
        f"{ROW} a",
        f"{D} b = com.microsoft.QLinearReduceMean(a, s, z, s, z) {LAST}",
        "QLinearReduceMean 'b': the operator QLinearReduceMean of com.microsoft is not supported in a network",
    ),
    "body": (
        f"{ROW} a",
        f"{D} c = Constant<value = bool {{1}}>() {BODY.replace('y =', 'b =')} {LAST}",
        "If 'b': the operator If is not supported",
    ),
    "float convolution": (
        "float[1, 4, 5, 5] a",
        f"{W} f = Conv(a, fw) {Q}",
        "Conv 'f': its input 'a' must come from a DequantizeLinear, not from the graph's input 'a'",
    ),
    "a bound of NaN": (
        f"{ROW} a",
        f"{A} n = Constant<value = float {{nan}}>() f = Clip(fa, n) {Q}",
        "min of Clip 'f' must be a number, not NaN: leave it out for no bound",
    ),
    "float weights": (
        f"{IMAGE} a",
        f"{A} f = Mul(fa, real) {Q}",
        "Mul 'f': the constant 'real' must stand behind a DequantizeLinear, not be real numbers",
    ),
    "relu with effect": (
        f"{IMAGE} a",
        f"{A} t = GlobalAveragePool(fa) f = Relu(t) {Q}",
        "Relu 'f' must be without effect before QuantizeLinear 'y' and behind GlobalAveragePool 't', which",
    ),
    "clip with effect": (
        f"{IMAGE} a",
        f"{A} t = GlobalAveragePool(fa) f = Clip(t, minus, two) {Q}",
        "Clip 'f' must be without effect before QuantizeLinear 'y'",
    ),
    "many ties of a clipped product": (
        f"{IMAGE} a",
        f"{A} t = Mul(fa, fa) f = Clip(t, minus, two) {Q}",
        "QuantizeLinear 'y': onnxruntime computes Mul 't' in float32, because its types differ or a Relu or Clip cuts",
    ),
    "function of a sum": (
        f"{IMAGE} a",
        f"{A} {W} t = Conv(fa, fw) f = Sigmoid(t) {Q}",
        "Sigmoid 'f': its input must be quantized first, as onnxruntime would compute both in float, not come",
    ),
    "function of a sum, the way out": (
        f"{IMAGE} a",
        f"{A} {W} t = Conv(fa, fw) f = HardSwish(t) {Q}",
        "Conv 't': put a QuantizeLinear and a DequantizeLinear between them",
    ),
    "decomposed LayerNormalization": (
        f"{IMAGE} a",
        f"{A} last = Constant<value_ints = [-1]>() m = ReduceMean(fa, last) f = Sub(fa, m) {Q}",
        "as exporters write LayerNormalization below opset 17: export with opset 17 or later",
    ),
    "transposed convolution with float weights": (
        f"{IMAGE} a",
        f"{A} f = ConvTranspose(fa, real) {Q}",
        "quantize this node, too; ConvTranspose can be quantized in the QDQ format only",
    ),
    "two uses": (
        f"{IMAGE} a",
        f"{A} {W} f = Conv(fa, fw) t = QuantizeLinear(f, s, z) y = QuantizeLinear(f, two, z)",
        "QuantizeLinear 't': Conv 'f' must go to this node alone, not also to QuantizeLinear 'y'",
    ),
    "weights computed": (
        f"{ROW} a",
        f"{A} f = Gemm(fa, fa) {Q}",
        "Gemm 'f': its first input must be computed and its second constant",
    ),
    "kernels computed": (
        f"{IMAGE} a, uint8[4, 4, 1, 1] b",
        f"{A} fb = DequantizeLinear(b, s, z) f = Conv(fa, fb) {Q}",
        "Conv 'f': the weights must be constant, not from the graph's input 'b'",
    ),
    "three dimensions": (
        "uint8[1, 4, 5, 5, 5] a",
        f"{A} fw = DequantizeLinear(line, s, i) f = Conv(fa, fw) {Q}",
        "Conv 'f': it must have 1 or 2 spatial dimensions, not an input of the shape [1, 4, 5, 5, 5]",
    ),
    "window": (
        f"{IMAGE} a",
        f"{A} fw = DequantizeLinear(wide, s, i) f = Conv(fa, fw) {Q}",
        "Conv 'f': a window of [7, 1] must fit an image of [5, 5], pads included, and does not",
    ),
    "groups": (
        f"{IMAGE} a",
        f"{A} {W} f = Conv<group = 2>(fa, fw) {Q}",
        "Conv 'f': weights for 4 channels in 2 groups must fit the input's 4 channels, and do not",
    ),
    "axis": (
        f"{IMAGE} a",
        f"{A} fw = DequantizeLinear<axis = 1>(w, many, zw) f = Conv(fa, fw) {Q}",
        "Conv 'f': the weights must have one scale or one per output channel, axis 0, not along axis 1",
    ),
    "pads": (
        f"{IMAGE} a",
        f'{A} {W} f = Conv<auto_pad = "SAME_UPPER", dilations = [2, 2]>(fa, fw) {Q}',
        "Conv 'f': auto_pad must be NOTSET or VALID beside dilations [2, 2], not SAME_UPPER",
    ),
    "bias": (
        f"{IMAGE} a",
        f"{A} {W} f = Conv(fa, fw, far) {Q}",
        "Conv 'f': the bias must fit int32 in units of a_scale * b_scale, but column 3",
    ),
    "alpha": (f"{ROW} a", f"{A} {D} f = Gemm<alpha = 2.0>(fa, fd) {Q}", "Gemm 'f': alpha must be 1, not 2"),
    "linear": (
        f"{IMAGE} a",
        'f = Resize<mode = "linear">(a, , , sizes) fy = DequantizeLinear(f, s, z) y = QuantizeLinear(fy, s, z)',
        "Resize 'f': mode must be nearest between integers, not linear: put it behind a DequantizeLinear",
    ),
    "cubic": (
        f"{IMAGE} a",
        f'{A} f = Resize<mode = "cubic">(fa, , , sizes) {Q}',
        "Resize 'f': mode must be nearest or linear, not cubic",
    ),
    "interpolated by an unknown rule": (
        f"{IMAGE} a",
        f'{A} f = Resize<mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize">(fa, , , sizes) {Q}',
        "Resize 'f': coordinate_transformation_mode must be half_pixel or pytorch_half_pixel or asymmetric or ",
    ),
    "beyond float32": (
        f"{IMAGE} a",
        f"{A} f = {RESIZE.replace(', sizes', '').replace('(fa, , ', '(fa, , far')} {Q}",
        "Resize 'f': its result must have at most 67108864 elements, not the shape [1, 4, 5, 4611686018427387904]",
    ),
    "unclear places": (
        "uint8[1, 4, 6, 6] a",
        f"{A} f = {RESIZE} {Q}",
        "Resize 'f': its scales must keep places clear of rounding in float32, and ",
    ),
    "indices": (
        f"{IMAGE} a",
        f"{A} f, j = MaxPool<kernel_shape = [2, 2]>(fa) {Q}",
        "MaxPool 'f': it must have one output, not also the indices 'j'",
    ),
    "batch reshaped": (
        "uint8[2, 2, 5, 5] a",
        f"{A} f = Reshape(fa, flat) {Q}",
        "Reshape 'f': it must keep the batch, 2, as the first dimension, not give [4, 25]",
    ),
    "batch moved": (
        "uint8[2, 4] a",
        f"{A} f = Transpose<perm = [1, 0]>(fa) {Q}",
        "Transpose 'f': perm must be an order of dimensions with the batch, 0, first, not [1, 0]",
    ),
    "sixteen bits": (
        "float[1, 4] x",
        "a = QuantizeLinear(x, s, h) f = DequantizeLinear(a, s, h) y = QuantizeLinear(f, s, z)",
        "QuantizeLinear 'a': 'a' must be of int8 or uint8, not of uint16: quantize activations to 8 bits",
    ),
    "scales": (
        f"{IMAGE} a",
        f"f = DequantizeLinear(a, many, zeros) {Q}",
        "DequantizeLinear 'f': 'a' must have one scale and zero point, not of shape [4]",
    ),
    "negative scale": (
        f"{ROW} a",
        f"f = DequantizeLinear(a, negative, z) {Q}",
        "DequantizeLinear 'f': tensor 'a' must have a positive, finite scale, not -0.1",
    ),
    "weights of 16 bits": (
        f"{ROW} a",
        f"{A} fd = DequantizeLinear(short, s, j) f = MatMul(fa, fd) {Q}",
        "MatMul 'f': the weights must be of integers of 2, 4 or 8 bits, not of int16",
    ),
    "types": (
        f"{ROW} a",
        "y = com.microsoft.QLinearMul(a, s, i, a, s, i, s, i)",
        "QLinearMul 'y': the zero point of 'a' must be of uint8, not of int8",
    ),
    "missing parameters": (
        f"{ROW} a",
        "y = com.microsoft.QLinearAdd(a, s, z, a, s, z, s)",
        "QLinearAdd 'y': y_zero_point must be given",
    ),
}
