"""The catalogue: a row for each operator of ONNX and com.microsoft about which systoliq knows anything.

A row holds the roles of the inputs, how the operator multiplies, and what reads it: as a layer, as part of a network,
on the engine. Everything else follows from these; a new operator is one more row, and its name in the documentation.
"""

from __future__ import annotations

from .dense import dequantized, rescaled
from .network.activations import dequantize_linear, quantize_linear
from .network.functions import (
    FUNCTIONS,
    FUSED_BIAS,
    OF_MICROSOFT,
    batch_normalization,
    function,
    prelu,
    qlinear_function,
)
from .network.moves import concat, dropout, move, qlinear_concat, resize, split
from .network.pads import pad
from .network.pairs import add, div, extremum, mul, qlinear_add, qlinear_mul, sub
from .network.picks import PICKS
from .network.pools import (
    average_pool,
    global_average_pool,
    global_max_pool,
    max_pool,
    qlinear_average_pool,
    qlinear_global_average_pool,
    reduce_max,
    reduce_mean,
    reduce_sum,
)
from .network.rowwise import instance_normalization, layer_normalization, qlinear_softmax, softmax
from .network.sums import conv, dense, dense_operator, qlinear_conv
from .network.transposed import conv_transpose
from .node import MOVES, RECURRENT
from .operator import Operator, Operators, Work
from .summed import dynamic_quantize_matmul, matmul_integer, matmul_integer_to_float

__all__ = ["CATALOGUE"]

_MICROSOFT = "com.microsoft"

_A = ("a", "a_scale", "a_zero_point")
_B = ("b", "b_scale", "b_zero_point")
_Y = ("y_scale", "y_zero_point")
_SUMS = ("a", "b", "a_zero_point", "b_zero_point")
_SUMS_TO_FLOAT = ("a", "b", "a_scale", "b_scale", "a_zero_point", "b_zero_point", "bias")
_FLOAT = ("a", "b", "bias")

_NOT_READ = (
    "of the operators of com.microsoft only QGemm, QLinearMatMul, DynamicQuantizeMatMul and MatMulIntegerToFloat are "
    "read"
)
_ONLY = "only MatMul and Gemm may stand between DequantizeLinear and QuantizeLinear"
_FLOAT_WEIGHTS = "weights are quantized in blocks and the product is computed in float"
_ATTENTION = (
    "attention must be MatMul, Softmax and MatMul with quantizers between them, not one node of real numbers: export "
    "the model with opset 22 or lower, and quantize it before an optimizer fuses attention"
)
_MASKED = (
    "elements cannot be replaced under a condition, such as an attention mask's: export the model for sequences of one "
    "length, without a mask, or with a mask that is added, of 0 and a negative number as large as the scores"
)
_RECURRENT = (
    "a recurrent layer keeps a state from one step to the next, which networks do not have: build the part without it "
    "by systoliq partition, or train convolutions over time (TCN) instead"
)
_SQUARES = "the mean of squares is not computed: train and export the model with LayerNormalization"
_ROTATED = (
    "a rotation by positions must be Split, Concat, Mul and Add with constants, not one node: export the model with "
    "opset 22 or lower, and quantize it before an optimizer fuses them"
)
_FUSED_MASK = "a mask and its Softmax must be two nodes: quantize the model before an optimizer fuses them"
_FUSED_NORM = "an addition and its normalization must be two nodes: quantize the model before an optimizer fuses them"
_DYNAMIC = (
    "scales and zero points must be constant in a network, not found at run time: quantize statically, or take "
    "one product as FILE.onnx#NODE"
)

_QUANTIZERS = (
    Operator("QuantizeLinear", inputs=("x", *_Y), network=quantize_linear, by_row=True),
    Operator(
        "QuantizeLinear",
        _MICROSOFT,
        like="QuantizeLinear",
        inputs=("x", *_Y),
        least=2,
        network=quantize_linear,
        by_row=True,
    ),
    Operator("DequantizeLinear", inputs=_A, network=dequantize_linear, by_row=True),
    Operator(
        "DequantizeLinear",
        _MICROSOFT,
        like="DequantizeLinear",
        inputs=_A,
        least=2,
        network=dequantize_linear,
        by_row=True,
    ),
    Operator("DynamicQuantizeLinear", inputs=("x",), network=_DYNAMIC),
)

_MATRIX = (
    Operator("MatMul", inputs=("a", "b"), work=Work.MATRIX, layer=dequantized, network=dense, by_row=True),
    Operator("Gemm", inputs=_FLOAT, work=Work.MATRIX, layer=dequantized, network=dense, by_row=True),
    Operator(
        "QLinearMatMul", inputs=(*_A, *_B, *_Y), work=Work.MATRIX,
        layer=rescaled, network=dense_operator, engine=True, by_row=True,
    ),
    Operator(  # as onnxruntime's quantizer writes float8
        "QLinearMatMul", _MICROSOFT, like="QLinearMatMul", inputs=(*_A, *_B, *_Y), least=8, work=Work.MATRIX,
        layer=rescaled, network=dense_operator, engine=True, by_row=True,
    ),
    Operator(
        "QGemm", _MICROSOFT, like="Gemm", inputs=(*_A, *_B, "bias", *_Y), least=6, work=Work.MATRIX,
        layer=rescaled, network=dense_operator, engine=True, by_row=True,
    ),
    Operator("MatMulInteger", inputs=_SUMS, work=Work.MATRIX, layer=matmul_integer, network=_DYNAMIC, engine=True),
    Operator(
        "MatMulIntegerToFloat", _MICROSOFT, inputs=_SUMS_TO_FLOAT, least=4, work=Work.MATRIX,
        layer=matmul_integer_to_float, network=_DYNAMIC, engine=True,
    ),
    Operator(
        "DynamicQuantizeMatMul", _MICROSOFT, inputs=("x", *_B, "bias"), least=3, work=Work.MATRIX,
        layer=dynamic_quantize_matmul, network=_DYNAMIC, engine=True,
    ),
    Operator("MatMulInteger16", _MICROSOFT, inputs=("a", "b"), work=Work.MATRIX, layer=_NOT_READ),
    Operator("FusedMatMul", _MICROSOFT, inputs=("a", "b"), work=Work.MATRIX, layer=_ONLY),
    Operator("TransposeMatMul", _MICROSOFT, inputs=("a", "b"), work=Work.MATRIX, layer=_ONLY),
    Operator("FusedGemm", _MICROSOFT, inputs=_FLOAT, work=Work.MATRIX, layer=_ONLY),
    Operator("MatMulNBits", _MICROSOFT, work=Work.OTHER, layer=_FLOAT_WEIGHTS),
    Operator("MatMulBnb4", _MICROSOFT, work=Work.OTHER, layer=_FLOAT_WEIGHTS),
    Operator("MatMulFpQ4", _MICROSOFT, work=Work.OTHER, layer=_FLOAT_WEIGHTS),
)  # fmt: skip

_CONVOLUTIONS = (
    Operator("Conv", inputs=_FLOAT, work=Work.CONVOLUTION, network=conv),
    Operator("FusedConv", _MICROSOFT, like="Conv", inputs=_FLOAT, work=Work.CONVOLUTION),
    Operator("QLinearConv", inputs=(*_A, *_B, *_Y, "bias"), work=Work.CONVOLUTION, network=qlinear_conv, engine=True),
    Operator(
        "QLinearConv",
        _MICROSOFT,
        like="QLinearConv",
        inputs=(*_A, *_B, *_Y, "bias"),
        least=8,
        work=Work.CONVOLUTION,
        engine=True,
    ),
    Operator("ConvInteger", inputs=_SUMS, work=Work.CONVOLUTION, network=_DYNAMIC, engine=True),
    Operator("ConvIntegerToFloat", _MICROSOFT, inputs=("a", "b"), work=Work.CONVOLUTION, network=_DYNAMIC),
    Operator("ConvTranspose", work=Work.OTHER, network=conv_transpose),
    Operator("DeformConv", work=Work.OTHER),
)

_PAIRS = (
    Operator("Add", network=add, by_row=True),
    Operator("Sub", network=sub, by_row=True),
    Operator("Mul", network=mul, by_row=True),
    Operator("Div", network=div, by_row=True),
    Operator("Min", network=extremum),
    Operator("Max", network=extremum),
    Operator("QLinearAdd", _MICROSOFT, like="Add", inputs=(*_A, *_B, *_Y), least=7, network=qlinear_add, by_row=True),
    Operator("QLinearMul", _MICROSOFT, like="Mul", inputs=(*_A, *_B, *_Y), least=7, network=qlinear_mul, by_row=True),
)

_FUNCTIONS = (
    *(Operator(name, network=function, by_row=True) for name in FUNCTIONS),
    *(Operator(name, _MICROSOFT, like="Identity", least=1, network=function, by_row=True) for name in OF_MICROSOFT),
    Operator("PRelu", network=prelu),
    Operator("BatchNormalization", network=batch_normalization),
    *(
        Operator(name, _MICROSOFT, like="Identity", inputs=(*_A, *_Y), least=4, network=qlinear_function, by_row=True)
        for name in ("QLinearSigmoid", "QLinearLeakyRelu")
    ),
    Operator("LayerNormalization", network=layer_normalization, by_row=True),
    Operator("InstanceNormalization", network=instance_normalization),
    Operator("Softmax", network=softmax, by_row=True),
    Operator(
        "QLinearSoftmax", _MICROSOFT, like="Identity", inputs=(*_A, *_Y), least=5, network=qlinear_softmax, by_row=True
    ),
)

_POOLS = (
    Operator("MaxPool", network=max_pool),
    Operator("GlobalMaxPool", network=global_max_pool),
    Operator("AveragePool", network=average_pool),
    Operator("GlobalAveragePool", network=global_average_pool),
    Operator("ReduceMax", network=reduce_max, by_row=True),
    Operator("ReduceMean", network=reduce_mean, by_row=True),
    Operator("ReduceSum", network=reduce_sum, by_row=True),
    Operator(
        "QLinearAveragePool", _MICROSOFT, like="AveragePool", inputs=(*_A, *_Y), least=4, network=qlinear_average_pool
    ),
    Operator(
        "QLinearGlobalAveragePool",
        _MICROSOFT,
        like="GlobalAveragePool",
        inputs=(*_A, *_Y),
        least=5,
        network=qlinear_global_average_pool,
    ),
)

_MOVES = (
    *(Operator(name, network=move, by_row=True) for name in MOVES),
    *(Operator(name, network=move, by_row=name not in ("DepthToSpace", "SpaceToDepth")) for name in PICKS),
    Operator("Resize", network=resize),
    Operator("Dropout", network=dropout, by_row=True),
    Operator("Pad", network=pad),
    Operator("Split", network=split, by_row=True),
    Operator("Concat", network=concat, by_row=True),
    Operator(
        "QLinearConcat", _MICROSOFT, like="Concat", inputs=_Y, repeated=_A, least=3, network=qlinear_concat, by_row=True
    ),
)

_UNCOUNTED = (
    Operator("DynamicQuantizeLSTM", _MICROSOFT, work=Work.OTHER, network=_DYNAMIC),
    Operator("Einsum", work=Work.OTHER),
    *(Operator(name, work=Work.OTHER, network=_RECURRENT) for name in RECURRENT),
    *(Operator(name, _MICROSOFT, work=Work.OTHER) for name in ("QOrderedMatMul", "MoE", "QMoE")),
    Operator("Attention", work=Work.OTHER, network=_ATTENTION),
    *(Operator(name, _MICROSOFT, work=Work.OTHER, network=_ATTENTION) for name in (
        "Attention", "MultiHeadAttention", "GroupQueryAttention", "PackedAttention", "DecoderMaskedMultiHeadAttention",
        "QAttention", "QOrderedAttention",
    )),
    *(Operator(name, _MICROSOFT, network=_FUSED_NORM) for name in (
        "SkipLayerNormalization", "EmbedLayerNormalization", "SkipSimplifiedLayerNormalization",
    )),
    Operator("BiasGelu", _MICROSOFT, network=FUSED_BIAS),
    Operator("BiasSoftmax", _MICROSOFT, network=_FUSED_MASK),
    Operator("RMSNormalization", network=_SQUARES),
    *(Operator("RotaryEmbedding", domain, network=_ROTATED) for domain in ("", _MICROSOFT)),
    Operator("Where", network=_MASKED),
    *(Operator(name, work=Work.BODIES) for name in ("If", "Loop", "Scan")),
)  # fmt: skip

CATALOGUE = Operators((*_QUANTIZERS, *_MATRIX, *_CONVOLUTIONS, *_PAIRS, *_FUNCTIONS, *_POOLS, *_MOVES, *_UNCOUNTED))
"""All operators that systoliq knows."""
