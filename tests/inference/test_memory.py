"""Whole models on the DMA engine: products from memory to memory, equal to onnxruntime bit for bit."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from systoliq.api import EngineConfig, EngineSession, InputError, SimulationError, compile_onnx
from systoliq.hw.dma.commands import CommandList
from systoliq.hw.engine.host import Map
from systoliq.sim.dma_exchange import Turn
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.engine.memory import EngineMemory

from ..onnx.network.networks import Builder, images
from ..onnx.network.oracle import write
from .models import bert_tiny, bert_tiny_dynamic, mobilenet_v2, quantized

CONFIG = EngineConfig(rows=4, cols=4, depth=2, lanes=2)
FLAT = EngineConfig(rows=3, cols=4, depth=1, lanes=4, a_words=64, b_words=128, max_columns=8)
pytestmark = pytest.mark.simulator


def run(path, feed, config=CONFIG, bus=64, **options):
    """The session after a run in which nothing differs anywhere."""
    session = EngineSession(path, config, bus=bus, **options)
    session.run(None, feed)
    report = session.report.check()
    for step in report.steps:
        assert step.cycles > 0
        assert set(step.beats) == {"a", "b", "list", "y"}
        assert step.beats["list"] * bus // 8 >= step.bytes["list"]
    return session


@pytest.mark.sampled(99)
@pytest.mark.parametrize("config", [CONFIG, FLAT], ids=["depth 2", "depth 1"])
@pytest.mark.parametrize("types", ["s8s8", "u8u8"])
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_mobilenet_v2(form, types, config, tmp_path):
    """All products, the depthwise ones and the average of the image too; the memory pauses at random."""
    net = mobilenet_v2()
    path = quantized(tmp_path, net, form=form, types=types)
    report = run(path, {"x": images(net.shape, 1, 3)}, config, stalls=0.2).report
    assert [step.operator for step in report.steps] == ["QLinearConv"] * 12
    assert not report.host


@pytest.mark.parametrize(
    ("config", "bus"),
    [
        pytest.param(FLAT, 64, id="B row by row", marks=pytest.mark.slow),
        pytest.param(CONFIG, 32, id="B tiled", marks=pytest.mark.slow),
        pytest.param(FLAT, 128, id="a wide bus", marks=pytest.mark.slow),
    ],
)
def test_bert_tiny(config, bus, tmp_path):
    """Products of attention too: B is computed, and laid out as words of the engine, or row by row."""
    net = bert_tiny()
    report = run(quantized(tmp_path, net, opset=17), {"x": images(net.shape, 1, 3)}, config, bus).report
    assert [step.operator for step in report.steps] == ["QLinearMatMul"] * 16
    assert not report.host


@pytest.mark.parametrize("attention", [pytest.param(False, marks=pytest.mark.slow), True])
def test_bert_tiny_by_dynamic_quantization(attention, tmp_path):
    """Zero points that the host finds go into the lists; where attention is quantized too, those of B as well."""
    path = bert_tiny_dynamic(tmp_path, layers=1 if attention else 2, attention=attention)
    report = run(path, {"x": images(bert_tiny().shape, 1, 3)}, CONFIG, stalls=0.1).report
    assert {step.operator for step in report.steps} <= {"MatMulIntegerToFloat", "DynamicQuantizeMatMul"}
    assert len(report.steps) == (8 if attention else 12)


def test_convolutions_in_groups(tmp_path):
    net = Builder([1, 6, 7, 9])
    net.conv(6, 9, (3, 2), groups=3, strides=[2, 1], pads=[1, 0, 2, 1], dilations=[2, 1])
    net.relu()
    net.conv(9, 4, (1, 1))
    (first, _) = run(quantized(tmp_path, net), {"x": images(net.shape, 1, 3)}).report.steps
    assert first.shapes == ((3 * 9, 12, 3),) * 3
    assert first.jobs == 2, "two groups take as many beats of A as one, and the array is as fast"


def test_a_job_has_the_groups_that_take_the_fewest_cycles(tmp_path):
    """Depthwise, of 7 channels with a multiplier of 2: jobs of 4 and 3 groups; the next one takes Y in place.

    Two groups fill the columns; a beat of A holds the channels of four; the array would be slower with eight.
    """
    net = Builder([1, 3, 6, 5])
    net.conv(3, 7, (1, 1))
    net.conv(7, 14, (3, 3), groups=7, pads=[1, 1, 1, 1])
    net.conv(14, 4, (1, 1))
    path = quantized(tmp_path, net)
    _, depthwise, _ = run(path, {"x": images(net.shape, 1, 3)}).report.steps
    assert (depthwise.jobs, depthwise.shapes) == (2, ((30, 9, 2),) * 7)
    program = compile_onnx(path, CONFIG, bus=64).program
    assert [product.a_from is None for product in program.products] == [True, False, False]


REFUSED = """g (uint8[1, 4, 6] x) => (uint8[1, 4, 6] y) {
    p = QLinearMatMul (x, s, z, w, s, z, s, z)
    q = QLinearMatMul (p, t, z, w, s, z, s, z)
    y = QLinearMatMul (q, s, z, w, s, z, s, z) }"""


def test_a_product_that_cannot_be_compiled_leaves_the_others(tmp_path):
    """Its negative scale cannot be in a list; the host computes it between two products of the engine."""
    rng = np.random.default_rng(1)
    constants = {"w": rng.integers(0, 30, (6, 6)).astype(np.uint8), "z": np.uint8(7)}
    constants |= {"s": np.float32(0.1), "t": np.float32(-0.1)}
    path = write(tmp_path / "model.onnx", REFUSED, constants)
    report = run(path, {"x": rng.integers(0, 256, (1, 4, 6)).astype(np.uint8)}).report
    assert len(report.steps) == 2
    assert report.host == {"q": ("QLinearMatMul", "its scales must be positive and finite")}


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 0)) for seed in range(20)])
def test_random_convolutions_one_behind_the_other(seed, tmp_path):
    """Kernels, strides, dilations, pads, groups, channels and images at random; each takes the one before it."""
    rng = np.random.default_rng(seed)
    c, groups = int(rng.integers(1, 7)), 1
    size = rng.integers(5, 12, 2)
    net = Builder(["N", c, *map(int, size)])
    chained = 0
    for _ in range(3):
        kernel, strides = rng.integers(1, 4, 2), rng.integers(1, 3, 2)
        dilations, pads = rng.integers(1, 3, 2), rng.integers(0, 3, 4)
        spans = (kernel - 1) * dilations + 1
        after = (size + pads[:2] + pads[2:] - spans) // strides + 1
        if np.any(size + pads[:2] + pads[2:] < spans):
            continue
        groups = int(rng.choice([g for g in (1, 2, 3) if c % g == 0]))
        out = groups * int(rng.integers(2, 6))
        options = {"strides": strides, "dilations": dilations, "pads": pads}
        net.conv(c, out, tuple(map(int, kernel)), groups=groups, **{n: list(map(int, v)) for n, v in options.items()})
        if rng.random() < 0.5:
            net.relu()
        c, size, chained = out, after, chained + 1
    path = quantized(tmp_path, net, types=["s8s8", "u8u8"][seed // 2 % 2], form=["QDQ", "QOperator"][seed // 4 % 2])
    config = [CONFIG, FLAT][seed % 2] if seed < 12 else FLAT.replace(b_words=8)  # of which B fits no buffer
    report = run(path, {"x": images(net.shape, 1 + seed % 2, 3)}, config, stalls=0.1 * (seed % 3)).report
    assert len(report.steps) == chained


CONV_INTEGER = """g (uint8[2, 3, 5, 5] x, uint8 z, uint8 v) => (int32[N, M, H, W] y) {
    y = ConvInteger<pads = [1, 1, 1, 1], auto_pad = "NOTSET">(x, w, z, v) }"""


@pytest.mark.sampled(99)
@pytest.mark.parametrize("zeros", [(7, 130), (0, 0), (255, 255)])
def test_zero_points_that_are_inputs(zeros, tmp_path):
    rng = np.random.default_rng(3)
    w = rng.integers(0, 256, (5, 3, 3, 3)).astype(np.uint8)
    path = write(tmp_path / "model.onnx", CONV_INTEGER, {"w": w})
    z, v = (np.uint8(each) for each in zeros)
    run(path, {"x": rng.integers(0, 256, (2, 3, 5, 5)).astype(np.uint8), "z": z, "v": v})


@pytest.mark.slow  # test_graphs.py has a B for each batch
@pytest.mark.parametrize(
    "shapes", [((3, 2, 6), (6, 5)), ((2, 3, 4, 6), (3, 6, 5)), ((6,), (6, 5)), ((4, 6), (3, 6, 2))]
)
def test_batches(shapes, tmp_path):
    """A and B both come as inputs, B for one batch or for many."""
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes)
    path = matmul(tmp_path, a.shape, b.shape)
    run(path, {"a": a, "b": b}, FLAT, simulator="icarus")


def matmul(folder, a, b, **constants):
    """The file of a QLinearMatMul of inputs of these shapes."""
    constants = {"s": np.float32(0.02), "t": np.float32(0.5), "z": np.int8(3)} | constants
    y = np.matmul(np.zeros(a), np.zeros(b)).shape
    graph = helper.make_graph(
        [
            helper.make_node(
                "QLinearMatMul", ["a", "s", "z", "b", "u" if "u" in constants else "s", "z", "t", "z"], ["y"]
            )
        ],
        "g",
        [helper.make_tensor_value_info(name, onnx.TensorProto.INT8, shape) for name, shape in (("a", a), ("b", b))],
        [helper.make_tensor_value_info("y", onnx.TensorProto.INT8, y)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    return folder / "m.onnx"


def test_any_batch_is_compiled_for_itself(tmp_path):
    net = Builder(["N", 6])
    net.gemm(6, 5)
    net.relu()
    net.gemm(5, 3)
    path = quantized(tmp_path, net)
    session = EngineSession(path, CONFIG, only=["/gemm2"], bus=64)
    for rows in (1, 9):
        session.run(None, {"x": images(net.shape, rows, 3)})
        (step,) = session.report.check().steps
        assert step.shapes == ((rows, 5, 3),)


def test_a_product_that_cannot_be_compiled_stays_with_the_host(tmp_path):
    scales = np.array([0.02, -0.02, 0.02, -0.03, 0.5], np.float32)
    path = matmul(tmp_path, (2, 6), (6, 5), u=scales)
    with pytest.raises(InputError, match="its scales must be positive and finite"):
        EngineSession(path, CONFIG, bus=64).run(None, {"a": np.zeros((2, 6), np.int8), "b": np.zeros((6, 5), np.int8)})


def test_a_wrong_bit_is_found(tmp_path, monkeypatch):
    real = EngineMemory.play

    def wrong(self, *place, **options):
        played = real(self, *place, **options)
        data = bytearray(played.data[0])
        data[0] ^= 64
        monkeypatch.setattr(EngineMemory, "play", real)
        return type(played)(data=(bytes(data),), cycles=1, busy_cycles=1, beats=played.beats)

    net = Builder([1, 6])
    net.gemm(6, 5)
    path = quantized(tmp_path, net)
    session = EngineSession(path, CONFIG, bus=64)
    monkeypatch.setattr(EngineMemory, "play", wrong)
    session.run(None, {"x": images(net.shape, 1, 3)})
    with pytest.raises(SimulationError, match="QGemm '/gemm0': 1 of 5 outputs differ from golden"):
        session.report.check()


def test_no_simulator_is_left_where_the_host_fails(tmp_path, monkeypatch):
    """An exception, of Ctrl-C too, in the middle of a run."""
    net = Builder([1, 6])
    net.gemm(6, 5)
    net.relu()
    net.gemm(5, 3)
    session = EngineSession(quantized(tmp_path, net), CONFIG, bus=64)

    def interrupted(self, *place, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(EngineMemory, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.run(None, {"x": images(net.shape, 1, 3)})
    assert not [thread for thread in threading.enumerate() if thread.name == "engine memory"]


def test_a_list_that_is_left_alone_ends():
    """Who waits for a list goes away in the middle of it: the simulator ends by itself, long before its limit."""
    stuck, status = CommandList(), Map.of(CONFIG).register("STATUS")
    stuck.wait(status.offset, status.field("busy").mask, status.field("busy").mask, 0)
    image = stuck.data + bytes(64)
    with EngineMemory(SimulatedDmaEngine(CONFIG, bus_bytes=8), image) as memory:
        work = memory._engine.work(b"", 0, len(stuck.data), limit=1 << 40)
        memory._send(Turn(work=work, writes=[], reads=[]))
    assert not memory._thread.is_alive()


def test_a_list_that_never_ends_is_reported():
    stuck, status = CommandList(), Map.of(CONFIG).register("STATUS")
    stuck.wait(status.offset, status.field("busy").mask, status.field("busy").mask, 0)
    with (
        pytest.raises(SimulationError, match="0 of 1 jobs ended in time"),
        EngineMemory(SimulatedDmaEngine(CONFIG, bus_bytes=8), stuck.data + bytes(64)) as memory,
    ):
        memory.play(0, len(stuck.data), jobs=1, writes=[], reads=[], limit=5000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bus": 60}, "bus must be one of 32, 64, 128 bits, not 60"),
        ({"bus": 256}, "bus must be one of 32, 64, 128 bits, not 256"),
        ({"config": CONFIG.replace(dataflow="weight-stationary")}, "dataflow must be output-stationary"),
        ({"stalls": 1.0}, "stalls must be at least 0 and below 1, not 1.0"),
    ],
)
def test_wrong_options(options, message, tmp_path):
    net = Builder([1, 6])
    net.gemm(6, 5)
    path = quantized(tmp_path, net)
    with pytest.raises(ValueError, match=message):
        run(path, {"x": images(net.shape, 1, 3)}, **options)


@pytest.mark.slow
def test_under_icarus(tmp_path):
    net = Builder([1, 3, 6, 6])
    net.conv(3, 4, (3, 3))
    run(quantized(tmp_path, net), {"x": images(net.shape, 1, 3)}, simulator="icarus", stalls=0.1)


@pytest.mark.slow
def test_resnet8(shared: Path):
    """MLPerf Tiny's model as published: every convolution and the dense layer, every tensor between them."""
    path = shared / "data" / "mlperf_resnet8_qdq.onnx"
    x = np.random.default_rng(5).uniform(0, 255, (1, 32, 32, 3)).astype(np.float32)
    report = run(path, {"input_1": x}, EngineConfig(rows=16, cols=16), 128).report
    assert [step.operator for step in report.steps] == ["QLinearConv"] * 11, "with the average and the dense layer"
    assert report.multiply_accumulates == 12501632 + 8 * 8 * 64
    assert not report.host
