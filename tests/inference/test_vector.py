"""Models on a DMA engine with a vector unit: functions and additions between products without the host."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.api import EngineConfig, EngineSession, InputError, compile_onnx
from systoliq.inference.program.cycles import run_cycles
from systoliq.inference.program.product import bytes_of_rows
from systoliq.inference.program.vector import VectorInMemory
from systoliq.inference.steps import HostStep
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.engine.memory import EngineMemory

from ..onnx.network.networks import Builder, images
from ..onnx.network.oracle import write
from .c_program import run_example
from .models import mobilenet_v2, quantized
from .residual_models import residual

CONFIG = EngineConfig(rows=4, cols=4, depth=2, lanes=2, vector=True)
_FLOAT_EDGES = {"QuantizeLinear", "DequantizeLinear", "Transpose"}
pytestmark = pytest.mark.simulator


def pooled() -> Builder:
    """Convolutions with maxima of windows, and both halves of the channels in another order."""
    net = Builder([1, 3, 9, 9])
    start = net.conv(3, 4, (3, 3), pads=[1, 1, 1, 1])
    net.conv(4, 4, (1, 1))
    net.add("Concat", net.last, start, axis=1)
    net.add("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    net.conv(8, 8, (1, 1))
    whole, (axis, low, middle, high) = net.last, (net.constant(np.array([each], np.int64)) for each in (1, 0, 4, 8))
    first, second = net.add("Slice", whole, low, middle, axis), net.add("Slice", whole, middle, high, axis)
    net.add("Concat", second, first, axis=1)
    net.conv(8, 5, (1, 1))
    return net


def one_list(program, run, tensors, stalls=0.1):
    """The bytes of Y of the last step, after one list that runs all steps behind the first operand; and its cycles."""
    first, last = (program.steps[number - 1] for number in (run.steps[0], run.steps[-1]))
    (operation,) = first.operations
    given = np.ascontiguousarray(tensors[first.sketch.step.node.input[0]])
    y = last.y if isinstance(last, VectorInMemory) else last.operations[0].y
    with EngineMemory(SimulatedDmaEngine(CONFIG, bus_bytes=8), program.memory, stalls=stalls) as memory:
        played = memory.play(
            run.address, run.size, jobs=run.jobs, limit=200_000, reads=[(y.address, y.stride * y.rows)],
            writes=[(operation.a.address, bytes_of_rows(operation.sketch.a, given))],
        )  # fmt: skip
    found = np.frombuffer(played.data[0], np.uint8).reshape(y.rows, y.stride)
    return found[:, : y.row_bytes].tobytes(), played.cycles


def of_host(steps):
    return {node.op_type for step in steps if isinstance(step, HostStep) for node in step.nodes}


@pytest.mark.sampled(99)
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
@pytest.mark.parametrize("types", ["u8u8", "s8s8"])
def test_a_residual_network_needs_the_host_at_its_float_edges_only(form, types, tmp_path):
    net = residual()
    path = quantized(tmp_path, net, form=form, types=types, opset=14)
    program = compile_onnx(path, CONFIG, bus=64).program
    assert of_host(program.steps) <= _FLOAT_EDGES
    assert isinstance(program.steps[0], HostStep)
    assert [isinstance(step, HostStep) for step in program.steps[1:-1]] == [False] * (len(program.steps) - 2)
    assert [sorted(step.sources) for step in program.vectors] == [["a"], ["a"], ["a", "b"]], "all in place"
    assert [product.a_from is None for product in program.products] == [True, False, False, False]
    session = EngineSession(path, CONFIG, bus=64, stalls=0.2)
    session.run(None, {"x": images(net.shape, 1, 3)})
    report = session.report.check()
    assert [bool(step.shapes) for step in report.steps].count(False) == 3
    (run,) = program.runs
    assert run.steps == tuple(range(2, len(program.steps)))
    assert (
        one_list(program, run, session.tensors)[0]
        == session.tensors[program.products[-1].sketch.step.node.output[0]].tobytes()
    )


def test_constant_operands_and_functions_of_several_nodes(tmp_path):
    """A bias by columns is an addition of a constant tensor; Gelu of ten nodes is one table."""
    net = Builder([1, 6, 12])
    net.matmul(12, 16)
    half = net.add("Mul", net.last, net.constant(np.float32(0.5)))
    net.add("Mul", net.nodes[-1].input[0], net.constant(np.float32(0.5**0.5)))
    net.add("Erf")
    net.add("Add", net.last, net.constant(np.float32(1)))
    net.add("Mul", half, net.last)
    net.add("MatMul", net.last, net.constant(net.rng.normal(0, 0.3, (16, 5)).astype(np.float32)))
    path = quantized(tmp_path, net, opset=17)
    compiled = compile_onnx(path, CONFIG, bus=64)
    program = compiled.program
    assert of_host(program.steps) <= _FLOAT_EDGES
    assert not program.host
    assert [step.operator for step in program.vectors] == [
        "QLinearAdd",
        "QLinearMul QLinearMul Erf QLinearAdd QLinearMul",
    ]
    assert [buffer.kept for buffer in program.vectors[0].operands.values()] == [False, True]
    assert not any(step.filled for step in program.vectors)
    assert len(program.runs) == 1
    feed = {"x": images(net.shape, 1, 3)}
    session = EngineSession(path, CONFIG, bus=64, stalls=0.2)
    session.run(None, feed)
    session.report.check()
    compiled.write(tmp_path / "out")
    tensors = run_example(compiled, tmp_path / "out", feed, ["-std=c99", "-Wall", "-Wextra", "-Werror"])
    for name, array in compiled.division.expected(feed).items():
        np.testing.assert_array_equal(tensors[name], array, err_msg=name)


@pytest.mark.slow
def test_maxima_and_moves_are_in_the_one_list(tmp_path):
    net = pooled()
    path = quantized(tmp_path, net, types="u8u8")
    program = compile_onnx(path, CONFIG, bus=64).program
    assert of_host(program.steps) <= _FLOAT_EDGES
    assert [step.operator for step in program.vectors][:2] == ["QLinearConcat", "NhwcMaxPool"]
    assert not any(step.needs_host for step in program.vectors)
    session = EngineSession(path, CONFIG, bus=64, stalls=0.2)
    session.run(None, {"x": images(net.shape, 1, 3)})
    session.report.check()
    (run,) = program.runs
    assert run.steps == tuple(range(2, len(program.steps)))
    wanted = session.tensors[program.products[-1].sketch.step.node.output[0]].tobytes()
    found, cycles = one_list(program, run, session.tensors, stalls=0.0)
    assert found == wanted
    (model,) = run_cycles(program)
    assert abs(model.cycles - cycles) < 0.02 * cycles  # tests/engine/test_list_cycles.py has the bound of any list


SIGMOID = """g (uint8[1, 4, 6] x) => (uint8[1, 4, 6] y) {
    p = QLinearMatMul (x, s, z, w, s, z, s, z)
    y = com.microsoft.QLinearSigmoid (p, s, z, t, z) }"""


@pytest.mark.slow
def test_one_list_that_ends_with_a_step_of_the_unit(tmp_path):
    rng = np.random.default_rng(1)
    constants = {"w": rng.integers(0, 30, (6, 6)).astype(np.uint8), "z": np.uint8(7)}
    constants |= {"s": np.float32(0.1), "t": np.float32(0.004)}
    path = write(tmp_path / "model.onnx", SIGMOID, constants)
    program = compile_onnx(path, CONFIG, bus=64).program
    session = EngineSession(path, CONFIG, bus=64)
    feed = {"x": rng.integers(0, 256, (1, 4, 6)).astype(np.uint8)}
    session.run(None, feed)
    session.report.check()
    (run,), (step,) = program.runs, program.vectors
    assert (run.steps, run.jobs) == ((1, 2), 1)
    found, _ = one_list(program, run, session.tensors | feed)
    assert found == session.tensors[step.sketch.step.output].tobytes()


def test_a_unit_needs_a_memory(tmp_path):
    path = quantized(tmp_path, residual(), types="u8u8", opset=14)
    with pytest.raises(InputError, match="vector requires bus: the vector unit reads and writes memory"):
        EngineSession(path, CONFIG)


def test_without_the_unit_the_host_has_them(tmp_path):
    path = quantized(tmp_path, residual(), types="u8u8", opset=14)
    program = compile_onnx(path, CONFIG.replace(vector=False), bus=64).program
    assert not program.vectors
    assert {"QLinearAdd", "QLinearSigmoid"} <= of_host(program.steps)


def test_the_files_name_steps_of_the_unit(tmp_path):
    path = quantized(tmp_path, residual(), types="u8u8", opset=14)
    compiled = compile_onnx(path, CONFIG, bus=64)
    assert "vector unit: QLinearAdd" in compiled.files["program.txt"].decode()
    assert compiled.program.totals()["vector_steps"] == 3
    for step in compiled.program.vectors:
        assert isinstance(step, VectorInMemory)
        for table in (table for tables in step.tables for table in tables):
            at = table.address - compiled.program.image_address
            assert len(np.frombuffer(compiled.program.image[at : at + table.size], "<i4")) == 256


@pytest.mark.slow
def test_the_example_in_c_runs_the_model(tmp_path):
    net = residual()
    compiled = compile_onnx(quantized(tmp_path, net, types="u8u8", opset=14), CONFIG, bus=64)
    compiled.write(tmp_path / "out")
    feed = {"x": images(net.shape, 1, 3)}
    tensors = run_example(compiled, tmp_path / "out", feed, ["-std=c99", "-Wall", "-Wextra", "-Werror"])
    for name, array in compiled.division.expected(feed).items():
        np.testing.assert_array_equal(tensors[name], array, err_msg=name)


BROADCAST = """g (uint8[1, 4, 6] x, uint8[1, 1, 6] v) => (uint8[1, 8, 6] y) {
    p = QLinearMatMul (x, s, z, w, s, z, s, z)
    q = com.microsoft.QLinearAdd (p, s, z, v, s, z, s, z)
    r = com.microsoft.QLinearSigmoid (q, s, z, t, z)
    m = com.microsoft.QLinearMul (r, t, z, q, s, z, s, z)
    n = Resize <mode = "linear"> (m, , f)
    y = QLinearMatMul (n, s, z, w, s, z, s, z) }"""


def test_broadcasting_and_a_product_of_one_tensor_are_the_units_and_the_rest_stays_with_the_host_by_name(tmp_path):
    rng = np.random.default_rng(1)
    constants = {"w": rng.integers(0, 9, (6, 6)).astype(np.uint8), "z": np.uint8(7), "s": np.float32(0.1)}
    constants |= {"t": np.float32(0.004), "f": np.array([1, 2, 1], np.float32)}
    path = write(tmp_path / "model.onnx", BROADCAST, constants)
    program = compile_onnx(path, CONFIG, bus=64).program
    assert [step.operator for step in program.vectors] == ["QLinearAdd", "QLinearSigmoid QLinearMul"]
    assert [(each.rows, each.row_bytes) for each in program.vectors[0].sketch.work.commands] == [(4, 6)]
    assert program.host == {"n": ("Resize", "its elements are not elements of its inputs")}
    feed = {
        "x": rng.integers(0, 256, (1, 4, 6)).astype(np.uint8),
        "v": rng.integers(0, 256, (1, 1, 6)).astype(np.uint8),
    }
    session = EngineSession(path, CONFIG, bus=64)
    session.run(None, feed)
    session.report.check()


PRODUCT = """g (uint8[1, 5, 6] x) => (uint8[1, 5, 6] y) {
    p = QLinearMatMul (x, s, z, w, s, z, s, z)
    q = QLinearMatMul (p, s, z, w, s, z, t, u)
    m = com.microsoft.QLinearMul (p, s, z, q, t, u, r, v)
    y = QLinearMatMul (m, r, v, w, s, z, s, z) }"""


def test_a_product_of_two_tensors_is_in_the_one_list(tmp_path):
    rng = np.random.default_rng(1)
    constants = {"w": rng.integers(0, 15, (6, 6)).astype(np.uint8), "z": np.uint8(7), "s": np.float32(0.1)}
    constants |= {"t": np.float32(0.3), "u": np.uint8(120), "r": np.float32(2.6), "v": np.uint8(101)}
    path = write(tmp_path / "model.onnx", PRODUCT, constants)
    program = compile_onnx(path, CONFIG, bus=64).program
    assert [step.operator for step in program.vectors] == ["QLinearMul"]
    assert not program.host
    assert len(program.runs) == 1
    session = EngineSession(path, CONFIG, bus=64, stalls=0.2)
    session.run(None, {"x": rng.integers(0, 256, (1, 5, 6)).astype(np.uint8)})
    session.report.check()
    assert len(np.unique(session.tensors["m"])) > 10, "few are saturated"


@pytest.mark.slow
def test_mobilenet_v2(tmp_path):
    """Its residual sum is the unit's, and no convolution stays with the host."""
    net = mobilenet_v2()
    session = EngineSession(quantized(tmp_path, net), CONFIG, bus=64, stalls=0.1)
    session.run(None, {"x": images(net.shape, 1, 3)})
    report = session.report.check()
    assert [step.operator for step in report.steps].count("QLinearConv") == 12
    assert "QLinearAdd" in [step.operator for step in report.steps]
    assert not report.host
