"""Transformers as one list: softmax, layer normalization and products of attention on the engine, nothing on the host
but the float edges.
"""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.api import EngineConfig, EngineSession, compile_onnx
from systoliq.design.digits_vit import INT8_MODEL
from systoliq.inference.steps import HostStep

from ..onnx.network.kwt import VALUES, kwt
from ..onnx.network.networks import images
from ..onnx.network.quantized import quantized as quantized_kwt
from .joined import joined
from .models import bert_tiny, quantized

CONFIG = EngineConfig(rows=8, cols=8, lanes=4, vector=True, row_length=64)
SHAPES = {"image": (1, 1, 8, 8)}


def test_digits_vit_is_one_list():
    program = compile_onnx(INT8_MODEL, CONFIG, bus=64, shapes=SHAPES).program
    assert len(program.runs) == 1
    assert not program.host
    operators = [step.operator for step in program.of_engine]
    assert [operators.count(name) for name in ("LayerNormalization", "QLinearSoftmax", "QLinearConv")] == [5, 2, 3]
    attention = next(step for step in program.products if step.b_from)
    assert (attention.a_from, attention.b_from) == ("0.query.heads", "0.key.heads")
    host = [node.op_type for step in program.steps if isinstance(step, HostStep) for node in step.nodes]
    assert host == ["QuantizeLinear", "Transpose", "Reshape", "DequantizeLinear"]


@pytest.mark.slow  # as the transformer above
def test_kwt_is_one_list(tmp_path):
    """Its class token is a constant part of a Concat, and a Gather takes it out again."""
    path = tmp_path / "kwt.onnx"
    quantized_kwt(kwt(1, tokens=10), path)
    program = compile_onnx(path, CONFIG, bus=64).program
    assert len(program.runs) == 1
    assert not program.host
    joined = next(step for step in program.vectors if step.operator == "QLinearConcat")
    assert [joined.operands[name].kept for name in "ab"] == [True, False]


@pytest.mark.slow
def test_rows_that_are_too_long_stay_with_the_host_by_name(tmp_path):
    """And B is the host's where the array's depth gives it another layout."""
    path = quantized(tmp_path, bert_tiny(width=24, layers=1), opset=17)
    program = compile_onnx(path, CONFIG.replace(depth=2, row_length=16), bus=64).program
    reasons = dict(program.host.values())
    assert reasons == {"QuantizeLinear": "its rows must have at most row_length = 16 elements, not 24"}
    assert all(step.fills_b for step in program.products if not step.sketch.known.b)


@pytest.mark.slow
def test_digits_vit_in_rtl():
    steps, jobs, cycles, model, compared = joined(INT8_MODEL, CONFIG, 64, shapes=SHAPES, scale=8)
    assert (steps, jobs) == (42, 24)
    assert abs(cycles - model) < 0.01 * cycles
    assert compared > 1000


@pytest.mark.slow
def test_kwt_in_rtl(tmp_path):
    path = tmp_path / "kwt.onnx"
    quantized_kwt(kwt(1, tokens=10), path)
    session = EngineSession(path, CONFIG, bus=64)
    session.run(None, {"mfcc": np.random.default_rng(1).normal(size=(1, 10, VALUES)).astype(np.float32)})
    session.report.check()


@pytest.mark.slow
def test_bert_tiny_under_stalls(tmp_path):
    """Every tensor between steps equals onnxruntime's; the list is one."""
    net = bert_tiny()
    session = EngineSession(quantized(tmp_path, net, opset=17), CONFIG, bus=64, stalls=0.1)
    session.run(None, {"x": images(net.shape, 1, 3)})
    report = session.report.check()
    assert [step.operator for step in report.steps].count("LayerNormalization") == 4
    assert not report.host
