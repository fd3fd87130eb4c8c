"""EngineSession: whole models on the engine's RTL, equal to onnxruntime bit for bit, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.api import EngineConfig, EngineSession, InputError, SimulationError
from systoliq.inference.steps import EngineStep
from systoliq.sim.engine import Engine

from ..onnx.network.networks import Builder, images
from ..onnx.network.oracle import write
from .models import bert_tiny, bert_tiny_dynamic, mobilenet_v2, quantized

CONFIG = EngineConfig(rows=4, cols=4, depth=2, lanes=2)
ON_ENGINE = {"QLinearConv", "QGemm", "QLinearMatMul"}


def run(path, shape, **options):
    """The session after a run of one seeded input, nothing different anywhere."""
    session = EngineSession(path, CONFIG, **options)
    session.run(None, {"x": images(shape, 1, 3)})
    assert session.report.check().passed
    return session


@pytest.mark.slow  # test_memory.py has it by lists
@pytest.mark.simulator
@pytest.mark.parametrize("types", ["s8s8", "u8u8"])
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_mobilenet_v2(form, types, tmp_path):
    """All products but the depthwise ones, which the host does, by name."""
    net = mobilenet_v2()
    report = run(quantized(tmp_path, net, form=form, types=types), net.shape, stalls=0.3).report
    assert [step.operator for step in report.steps] == ["QLinearConv"] * 7 + ["QGemm"]
    assert {operator for operator, _ in report.host.values()} == {"QLinearConv"}
    assert len(report.host) == 3
    assert all("depthwise" in why for _, why in report.host.values())
    assert report.steps[0].shapes == ((64, 27, 8),)
    assert all(step.cycles == step.model_cycles or step.utilization for step in report.steps)


@pytest.mark.simulator
@pytest.mark.slow
def test_bert_tiny(tmp_path):
    """Products of attention too, whose operands are both computed; LayerNorm, softmax and GELU in onnxruntime."""
    net = bert_tiny()
    report = run(quantized(tmp_path, net, opset=17), net.shape).report
    assert [step.operator for step in report.steps] == ["QLinearMatMul"] * 16
    assert report.multiply_accumulates == 2 * 8 * (4 * 16 * 16 + 2 * 8 * 16 + 2 * 64 * 16)
    assert not report.host
    assert all(step.cycles == step.model_cycles for step in report.steps)


@pytest.mark.slow  # test_memory.py has it by lists
@pytest.mark.simulator
def test_bert_tiny_by_dynamic_quantization(tmp_path):
    report = run(bert_tiny_dynamic(tmp_path), bert_tiny().shape).report
    assert {step.operator for step in report.steps} == {"MatMulIntegerToFloat", "DynamicQuantizeMatMul"}
    assert len(report.steps) == 12
    assert all(why.startswith("onnxruntime left it in float: its first input ") for _, why in report.host.values())
    assert len(report.host) == 4


@pytest.mark.slow  # test_memory.py has them by lists
@pytest.mark.simulator
def test_convolutions_in_groups(tmp_path):
    net = Builder([1, 6, 7, 9])
    net.conv(6, 9, (3, 2), groups=3, strides=[2, 1], pads=[1, 0, 2, 1], dilations=[2, 1])
    net.relu()
    net.conv(9, 4, (1, 1))
    steps = run(quantized(tmp_path, net), net.shape).report.steps
    assert steps[0].shapes == ((3 * 9, 12, 3),) * 3


CONV_INTEGER = """g (uint8[2, 3, 5, 5] x) => (int32[N, M, H, W] y) {
    y = ConvInteger<pads = [1, 1, 1, 1], auto_pad = "NOTSET">(x, w, z, v) }"""


@pytest.mark.simulator
def test_conv_integer(tmp_path):
    rng = np.random.default_rng(3)
    w = rng.integers(0, 256, (5, 3, 3, 3)).astype(np.uint8)
    constants = {"w": w, "z": np.uint8(7), "v": np.uint8(130)}
    path = write(tmp_path / "model.onnx", CONV_INTEGER, constants)
    session = EngineSession(path, CONFIG)
    (y,) = session.run(["y"], {"x": rng.integers(0, 256, (2, 3, 5, 5)).astype(np.uint8)})
    assert session.report.check().steps[0].shapes == ((50, 27, 5),)
    assert (y.dtype, y.shape) == (np.int32, (2, 5, 5, 5))


@pytest.mark.slow
@pytest.mark.simulator
def test_resnet8(shared):
    """MLPerf Tiny's model as published: every convolution and the dense layer, every tensor between them."""
    session = EngineSession(shared / "data" / "mlperf_resnet8_qdq.onnx", EngineConfig(rows=16, cols=16))
    x = np.random.default_rng(5).uniform(0, 255, (1, 32, 32, 3)).astype(np.float32)
    session.run(None, {"input_1": x})
    report = session.report.check()
    assert [step.operator for step in report.steps] == ["QLinearConv"] * 9 + ["QGemm"]
    assert report.multiply_accumulates == 12501632
    assert not report.host


@pytest.fixture
def small(tmp_path):
    """A model of two products, and an input."""
    net = Builder([1, 6])
    net.gemm(6, 5)
    net.relu()
    net.gemm(5, 3)
    return quantized(tmp_path, net), {"x": images(net.shape, 1, 3)}


@pytest.mark.slow  # test_memory.py finds one
@pytest.mark.simulator
def test_a_wrong_bit_is_found(small, monkeypatch):
    """One bit of the first product flips: it differs, and what follows from it differs from onnxruntime alone."""
    path, feed = small
    session = EngineSession(path, CONFIG)
    session.run(None, feed)
    assert session.report.passed
    real = Engine.run

    def wrong(self, plans, **options):
        results = real(self, plans, **options)
        if results[0].y.shape[-1] == 5:
            results[0].y[0, 0] ^= 64
        return results

    monkeypatch.setattr(Engine, "run", wrong)
    session.run(None, feed)
    first, second = session.report.steps
    assert (first.golden_mismatches, first.onnxruntime_mismatches) == (1, 1)
    assert second.golden_mismatches == 0
    assert second.onnxruntime_mismatches > 0
    assert not session.report.passed
    with pytest.raises(SimulationError, match="QGemm '/gemm0': 1 of 5 outputs differ from golden"):
        session.report.check()


@pytest.mark.simulator
def test_only_one_product_and_any_batch(tmp_path):
    net = Builder(["N", 6])
    net.gemm(6, 5)
    net.relu()
    net.gemm(5, 3)
    path = quantized(tmp_path, net)
    session = EngineSession(path, CONFIG, only=["/gemm2"])
    for rows in (1, 9):
        session.run(None, {"x": images(net.shape, rows, 3)})
        (step,) = session.report.check().steps
        assert step.shapes == ((rows, 5, 3),)
        assert session.report.host == {"/gemm0": ("QGemm", "not asked for")}
    assert [step.name for step in session._engine._division.steps if isinstance(step, EngineStep)] == ["/gemm2"]


@pytest.mark.simulator
def test_k_beyond_the_buffers(tmp_path):
    """A passes through its buffer once for each tile of columns."""
    net = Builder([1, 700])
    net.gemm(700, 3)
    (step,) = run(quantized(tmp_path, net), net.shape).report.steps
    assert -(-700 // CONFIG.depth) > CONFIG.a_words
    assert step.shapes == ((1, 700, 3),)


@pytest.mark.parametrize(
    ("feed", "message"),
    [
        ({}, "inputs must hold 'x', and have nothing"),
        ({"x": np.zeros((1, 6), np.float32), "z": 1}, "inputs must be among 'x', not 'z'"),
        ({"x": np.zeros((1, 6))}, "x must be of float32, not of float64"),
        ({"x": np.zeros((1, 7), np.float32)}, r"x must have the shape \[1, 6\], not \[1, 7\]"),
        ({"x": np.zeros(6, np.float32)}, r"x must have the shape \[1, 6\], not \[6\]"),
    ],
)
def test_wrong_inputs(small, feed, message):
    with pytest.raises(InputError, match=message):
        EngineSession(small[0], CONFIG).run(None, feed)


def test_wrong_names(small):
    path, feed = small
    with pytest.raises(InputError, match="outputs must be among .*, not 'nobody'"):
        EngineSession(path, CONFIG).run(["nobody"], feed)
    with pytest.raises(InputError, match="only must name products that the engine takes, not 'nobody'; they are"):
        EngineSession(path, CONFIG, only=["nobody"])
    with pytest.raises(RuntimeError, match="before the first run"):
        _ = EngineSession(path, CONFIG).report


def test_models_without_a_product_for_the_engine(tmp_path):
    text = "g (float[1, 6] x) => (float[1, 5] y) { y = Gemm(x, w) }"
    write(tmp_path / "float.onnx", text, {"w": np.ones((6, 5), np.float32)})
    with pytest.raises(InputError, match="must be quantized, not float: none of its nodes works on integers"):
        EngineSession(tmp_path / "float.onnx")
    depthwise = Builder([1, 4, 5, 5])
    depthwise.conv(4, 4, (3, 3), groups=4)
    with pytest.raises(InputError, match="QLinearConv '/conv0': depthwise"):
        EngineSession(quantized(tmp_path, depthwise))


def test_files_that_are_no_models(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(InputError, match="must be a valid ONNX model"):
        EngineSession(tmp_path / "model.onnx")
    text = "g (float[1, 3] x) => (float[1, 3] y) { y = Nothing(x) }"
    with pytest.raises(InputError, match="Nothing"):
        EngineSession(write(tmp_path / "unknown.onnx", text, {}))
