"""Depthwise convolutions and averages of whole images on a DMA engine, without the host between them."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.api import EngineConfig, EngineSession, compile_onnx
from systoliq.inference.lowering import lowered
from systoliq.inference.program.averages import with_convolutions
from systoliq.inference.steps import HostStep
from systoliq.onnx.runtime import Session

from ..onnx.network.networks import TINY, Builder, images
from ..onnx.network.oracle import write
from .c_program import run_example
from .models import quantized

ENGINES = [
    (EngineConfig(rows=4, cols=4, depth=2, lanes=2), 64),
    (EngineConfig(rows=3, cols=4, depth=1, lanes=4, a_words=64, b_words=128, max_columns=8), 128),
    (EngineConfig(rows=2, cols=8, depth=4, lanes=2), 32),
]
_FLOAT_EDGES = {"QuantizeLinear", "DequantizeLinear", "Transpose", "Reshape", "QLinearSoftmax"}
pytestmark = pytest.mark.simulator


def separable(c=6, size=(7, 6), out=5, pool="GlobalAveragePool"):
    """A separable convolution, an average and a classifier, like DS-CNN."""
    net = Builder([1, 2, *size])
    net.conv(2, c, (3, 2), pads=[1, 0, 1, 1])
    net.relu()
    net.conv(c, c, (3, 3), groups=c, pads=[1, 1, 1, 1], strides=[2, 1])
    net.relu()
    net.conv(c, 9, (1, 1))
    net.relu()
    net.add(pool, **({"kernel_shape": [-(-size[0] // 2), size[1]]} if pool == "AveragePool" else {}))
    net.add("Flatten")
    net.gemm(9, out)
    return net


def of_host(steps):
    return {node.op_type for step in steps if isinstance(step, HostStep) for node in step.nodes}


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["GlobalAveragePool", "AveragePool"])
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
@pytest.mark.parametrize("types", ["u8u8", "s8s8"])
def test_a_separable_network_is_one_list(types, form, pool, tmp_path):
    config, bus = ENGINES[0]
    net = separable(pool=pool)
    path = quantized(tmp_path, net, form=form, types=types)
    program = compile_onnx(path, config, bus=bus).program
    assert of_host(program.steps) <= _FLOAT_EDGES
    assert not program.host
    (run,) = program.runs
    assert run.steps == tuple(range(2, len(program.steps)))
    session = EngineSession(path, config, bus=bus, stalls=0.2)
    session.run(None, {"x": images(net.shape, 1, 3)})
    assert len(session.report.check().steps) == 5


@pytest.mark.slow  # test_memory.py has random convolutions and an average
@pytest.mark.parametrize("bus", [pytest.param(None, marks=pytest.mark.slow), 64])
def test_convolutions_over_lines(bus, tmp_path):
    """Of sequences: causal and dilated, depthwise, with strides; the average and the product behind it."""
    net = Builder([1, 2, 19])
    net.conv(2, 6, (3,), pads=[4, 0], dilations=[2])
    net.relu()
    net.conv(6, 6, (4,), groups=6, pads=[1, 1], strides=[2])
    net.relu()
    net.conv(6, 9, (1,))
    net.relu()
    net.add("GlobalAveragePool")
    net.add("Flatten")
    net.gemm(9, 5)
    path = quantized(tmp_path, net)
    config = ENGINES[0][0].replace(vector=bus is not None)
    session = EngineSession(path, config, bus=bus, stalls=0.1)
    session.run(None, {"x": images(net.shape, 1, 3)})
    assert len(session.report.check().steps) == (5 if bus else 3)  # streams leave depthwise products to the host
    if bus:
        program = compile_onnx(path, config, bus=bus).program
        assert of_host(program.steps) <= _FLOAT_EDGES
        assert len(program.runs) == 1


@pytest.mark.slow  # test_memory.py has an average
def test_only_an_average_on_the_engine(tmp_path):
    net = separable()
    path = quantized(tmp_path, net)
    session = EngineSession(path, ENGINES[0][0], bus=ENGINES[0][1], only=["/globalaveragepool6"])
    session.run(None, {"x": images(net.shape, 1, 3)})
    (step,) = session.report.check().steps
    assert step.name == "/globalaveragepool6"


@pytest.mark.parametrize("name", ["ds_cnn", pytest.param("mobilenet", marks=pytest.mark.slow)])
def test_mlperf_tiny_needs_the_host_at_its_float_edges_only(name, tmp_path):
    path = quantized(tmp_path, TINY[name](), per_channel=True)
    program = compile_onnx(path, EngineConfig(rows=8, cols=8, depth=2, lanes=8), bus=64).program
    assert [isinstance(step, HostStep) for step in program.steps].count(True) == 2
    assert of_host(program.steps) <= _FLOAT_EDGES
    assert len(program.runs) == 1


@pytest.mark.slow  # test_memory.py has random convolutions, depthwise ones and an average
@pytest.mark.parametrize("seed", range(30))
def test_random_depthwise_convolutions(seed, tmp_path):
    """Any number of channels and outputs of each, kernels, strides, dilations, pads, scales per channel."""
    rng = np.random.default_rng(seed)
    config, bus = ENGINES[seed % len(ENGINES)]
    c, size = int(rng.integers(2, 40)), rng.integers(6, 11, 2)
    kernel, strides, dilations = rng.integers(1, 4, 2), rng.integers(1, 3, 2), rng.integers(1, 3, 2)
    pads = rng.integers(0, 3, 4)
    net = Builder(["N", c, *map(int, size)])
    options = {"strides": strides, "dilations": dilations, "pads": pads}
    lists = {name: list(map(int, value)) for name, value in options.items()}
    net.conv(c, c * int(rng.integers(1, 3)), tuple(map(int, kernel)), groups=c, **lists)
    net.relu()
    path = quantized(tmp_path, net, types=str(rng.choice(["u8u8", "s8s8"])), per_channel=bool(rng.integers(2)))
    session = EngineSession(path, config, bus=bus, stalls=0.2, seed=seed)
    session.run(None, {"x": images([int(rng.integers(1, 3)), *net.shape[1:]], 1, 3)})
    (step,) = session.report.check().steps
    assert step.operator == "QLinearConv"


AVERAGE = """g (TYPE[1, 64, 3, 3] x) => (TYPE[1, 64, 1, 1] y) {
    y = com.microsoft.QLinearGlobalAveragePool (x, xs, xz, ys, yz) }"""


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_the_convolution_of_an_average_is_the_average_for_every_sum(dtype, tmp_path):
    """Both of onnxruntime, for all sums of 9 pixels, at random scales."""
    rng, info = np.random.default_rng(5), np.iinfo(dtype)
    sums = np.arange(9 * 255 + 1)
    x = np.resize(sums[:, None] // 9 + (np.arange(9) < sums[:, None] % 9), (36 * 64, 9)) + info.min
    x = x.astype(dtype).reshape(36, 64, 3, 3)
    for case in range(10):
        zeros = rng.integers(info.min, info.max + 1, 2).astype(dtype)
        scales = np.exp(rng.normal(-3, 1, 2)).astype(np.float32)
        constants = {"xs": scales[0], "ys": scales[1], "xz": zeros[0], "yz": zeros[1]}
        text = AVERAGE.replace("TYPE", np.dtype(dtype).name).replace("[1, ", "[36, ")
        model = lowered(write(tmp_path / f"{case}.onnx", text, constants))
        other = with_convolutions(model, {"x": x})
        assert [(node.op_type, node.name) for node in other.model.graph.node] == [("QLinearConv", "y")]
        (expected,) = model.session.run(["y"], {"x": x}).values()
        (found,) = Session(other.model.SerializeToString(), "", as_it_is=True).run(["y"], {"x": x}).values()
        np.testing.assert_array_equal(found, expected)


WINDOWS = """g (TYPE[16, 8, 5, 7] x) => (TYPE[16, 8, M, N] y) {
    y = com.microsoft.QLinearAveragePool <ATTRIBUTES> (x, xs, xz, ys, yz) }"""


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize(
    ("attributes", "shape"),
    [
        ("kernel_shape = [2, 3], strides = [2, 1]", (2, 5)),
        ("kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1", (5, 7)),
    ],
)
def test_averages_of_windows_are_convolutions_where_float32_cannot_decide(dtype, attributes, shape, tmp_path):
    rng, info, taken = np.random.default_rng(6), np.iinfo(dtype), 0
    x = rng.integers(info.min, info.max + 1, (16, 8, 5, 7)).astype(dtype)
    for case in range(8):
        zeros = rng.integers(info.min, info.max + 1, 2).astype(dtype)
        scales = np.exp(rng.normal(-3, 1, 2)).astype(np.float32)
        if case == 0:
            scales[:] = 0.1  # six or nine pixels: ties of halves, which the order of additions decides
        constants = {"xs": scales[0], "ys": scales[1], "xz": zeros[0], "yz": zeros[1]}
        text = WINDOWS.replace("TYPE", np.dtype(dtype).name).replace("ATTRIBUTES", attributes)
        text = text.replace("M, N", ", ".join(map(str, shape)))
        model = lowered(write(tmp_path / f"{case}.onnx", text, constants))
        other = with_convolutions(model, {"x": x}, channels_last=case % 2 == 1)
        operators = {node.op_type for node in other.model.graph.node} - {"Transpose"}
        taken += operators == {"QLinearConv"}
        if case == 0 and shape == (2, 5):
            assert operators == {"QLinearAveragePool"}
        (expected,) = model.session.run(["y"], {"x": x}).values()
        (found,) = Session(other.model.SerializeToString(), "", as_it_is=True).run(["y"], {"x": x}).values()
        np.testing.assert_array_equal(found, expected)
    assert taken >= 5


BEHIND = """g (uint8[N, C, 2, 3] x) => (uint8[M, 5] y) {
    a = com.microsoft.QLinearGlobalAveragePool (x, s, z, t, z)
    VIEWS
    y = com.microsoft.QGemm <transB = 1> (v, t, z, w, s, z, , u, z) }"""


ORDERS = {
    "flat": ((3, 4), "v = Flatten(a)", "QLinearConv"),
    "channels last": ((3, 4), "b = Transpose<perm = [0, 2, 3, 1]>(a)  v = Flatten(b)", "QLinearConv"),
    "channels for images": ((3, 3), "b = Transpose<perm = [1, 0, 2, 3]>(a)  v = Flatten(b)", "QGemm"),
    "other order": ((3, 4), "b = Reshape(a, pairs)  c = Transpose<perm = [0, 2, 1]>(b)  v = Flatten(c)", "QGemm"),
    "images in a row": ((3, 4), "v = Reshape(a, row)", "QGemm"),
}


@pytest.mark.parametrize(("shape", "views", "operator"), ORDERS.values(), ids=ORDERS)
def test_the_product_behind_an_average_is_a_convolution_if_nothing_moves(shape, views, operator, tmp_path):
    rng = np.random.default_rng(3)
    rows, k = (1, 12) if "row" in views else shape
    constants = {"s": np.float32(0.1), "t": np.float32(0.12), "u": np.float32(12), "z": np.uint8(3)}
    constants |= {"pairs": np.array([3, 2, 2])} if "pairs" in views else {}
    constants |= {"row": np.array([1, 12])} if "row" in views else {}
    constants["w"] = rng.integers(0, 256, (5, k)).astype(np.uint8)
    text = BEHIND.replace("N, C", f"{shape[0]}, {shape[1]}").replace("M", str(rows)).replace("VIEWS", views)
    model = lowered(write(tmp_path / "m.onnx", text, constants))
    x = rng.integers(0, 256, (*shape, 2, 3)).astype(np.uint8)
    other = with_convolutions(model, {"x": x})
    operators = [node.op_type for node in other.model.graph.node if node.op_type in ("QLinearConv", "QGemm")]
    assert operators == ["QLinearConv", operator]
    (found,) = Session(other.model.SerializeToString(), "", as_it_is=True).run(["y"], {"x": x}).values()
    np.testing.assert_array_equal(found, model.session.run(["y"], {"x": x})["y"])
    assert len(set(found.flat)) >= 5


@pytest.mark.slow
def test_the_example_in_c_runs_a_separable_network(tmp_path):
    net = separable(c=10)
    config, bus = ENGINES[0]
    compiled = compile_onnx(quantized(tmp_path, net, types="u8u8"), config, bus=bus)
    compiled.write(tmp_path / "out")
    feed = {"x": images(net.shape, 1, 3)}
    tensors = run_example(compiled, tmp_path / "out", feed, ["-std=c99", "-Wall", "-Wextra", "-Werror"])
    for name, array in compiled.division.expected(feed).items():
        np.testing.assert_array_equal(tensors[name], array, err_msg=name)
