"""ONNX models as SOURCE: each pattern gives the layer that onnxruntime computes.

Where onnxruntime leaves a graph in float, whose sums round on the way, its fused operators on the layer's parameters
are the reference, and the float graph may be off by one in a few outputs.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest

from systoliq.golden import MatMulLayer, qlinear_matmul
from systoliq.onnx import Model, read_onnx, read_products
from systoliq.onnx.judge import onnxruntime_output

from .onnx_models import CONSTANTS, K, run, write
from .onnx_nodes import (
    DQ_A,
    DQ_W,
    MATMUL,
    Q_Y,
    QLINEAR,
    TAKEN,
    W,
    nodes,
)

GRAIN = np.float32(0.03) * np.float32(0.011)


def check_fields(layer, expected):
    changed = {"a_zero_point": 117, "b": W, "b_scale": [CONSTANTS["w_s"]] * 5, "b_zero_point": [0] * 5} | expected
    changed = {"a_scale": CONSTANTS["a_s"], "y_scale": CONSTANTS["y_s"], "y_zero_point": 131} | changed
    for field, value in changed.items():
        np.testing.assert_array_equal(getattr(layer, field), value, err_msg=field)
    assert (layer.bias is None) == ("bias" not in expected)


@pytest.mark.parametrize(("graph", "changes", "expected", "fused"), TAKEN.values(), ids=TAKEN)
def test_a_pattern_gives_the_layer_that_onnxruntime_computes(graph, changes, expected, fused, tmp_path):
    path = write(tmp_path / "model.onnx", graph, **changes)
    layer, origin, _ = Model.open(path).layer()
    assert layer.name == "fc"
    assert "'fc'" in origin
    assert origin.endswith("of model.onnx")
    check_fields(layer, expected)
    constants = CONSTANTS | changes
    assert layer.a_format.dtype == constants["a_z"].dtype
    if (layer.a_format.name, layer.b_format.name, layer.y_format.name) == ("uint8", "uint8", "int8"):
        return  # which onnxruntime does not run
    generator = np.random.default_rng(1)
    a = generator.integers(layer.a_format.min, layer.a_format.max, (500, K), endpoint=True).astype(layer.a_format.dtype)
    (y,), operators = run(path, {"xq": a})
    assert ({"QGemm", "QLinearMatMul"} & operators) == ({fused} if fused else set())
    if fused is None:
        off = np.abs(y.astype(int) - layer.golden(a))
        assert off.max() <= 1
        assert np.count_nonzero(off) <= 5
        y = onnxruntime_output(layer, a)
    np.testing.assert_array_equal(layer.golden(a), y)


SECOND = "[second] yq = QLinearMatMul(h, y_s, y_z, V, w_s, w_z, y_s, y_z)"
SUMS = "[sums] i = MatMulInteger(xq, W, a_z, w_z)"
OTHER = "[other] f = com.microsoft.MatMulNBits<K = 12, N = 5>(x, W, w_sn)"
TWO = nodes(DQ_A, DQ_W, MATMUL, "h = QuantizeLinear(y, y_s, y_z)", SECOND, OTHER)
SQUARE = {"V": W[:5].copy()}


@pytest.mark.slow
def test_of_several_products_one_is_named(call, tmp_path):
    path = write(tmp_path / "model.onnx", TWO, **SQUARE)
    out = tmp_path / "out"
    result = call("emit", path, "--out", out)
    assert result.exit_code == 2
    reason = (
        "an output in hardware must be made by an operator other than moves, and 'xq' is an input: take it from the "
        "host's tensors"
    )
    hint = f"one layer of it alone is '{path}#fc': see systoliq layers"
    assert result.stderr == f"error: {path}: {reason}; {hint}\n"
    result = call("emit", f"{path}#third", "--out", out)
    assert result.exit_code == 2
    assert f"{path}: must have a matrix product named 'third'; it has 'fc', 'second', 'other'" in result.stderr
    assert not out.exists()
    result = call("emit", f"{path}#second", "--out", out)
    assert result.exit_code == 0, result.output
    assert (out / "second.v").is_file()
    np.testing.assert_array_equal(MatMulLayer.load(out / "second_layer.npz").b, SQUARE["V"])
    assert "QLinearMatMul 'second' (QOperator) of model.onnx" in (out / "second.json").read_text()


def test_layers_lists_supported_and_unsupported_products(call, tmp_path):
    path = write(tmp_path / "model.onnx", TWO, rows="1", **SQUARE)
    result = call("layers", path)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert " ".join(lines[1].split()) == "fc QDQ MatMul 1 x 12 x 5 uint8 x int8 -> uint8 per tensor no"
    assert lines[2].split()[:3] == ["second", "QOperator", "QLinearMatMul"]
    assert lines[3] == f"systoliq emit '{path}#fc' --out DIR"
    assert lines[4].startswith("not taken: MatMulNBits 'other' (1 x 12 x 5): weights are quantized in blocks")
    assert lines[5] == (
        "as a network: 2 stages of 6 nodes are read, 85 multiply-accumulates a batch, 100.0 % of all that are known; "
        "hardware does not take it, see the end:"
    )
    assert lines[-2].startswith("no hardware: an output in hardware must be made by an operator other than moves, and ")


@pytest.mark.parametrize("points", ["a_z, w_z", "a_z", "a_z, z", ", z", ""], ids=str)
def test_sums_of_matmul_integer(points, call, tmp_path):
    z = np.array([3, -7, 0, 127, -128], np.int8)
    product = SUMS.replace("a_z, w_z", points) if points else "[sums] i = MatMulInteger(xq, W)"
    path = write(tmp_path / "model.onnx", nodes(product, "yq = Cast<to = 2>(i)"), z=z)
    line = call("layers", path).stdout.splitlines()[1]
    assert " ".join(line.split()) == "sums QOperator MatMulInteger M x 12 x 5 uint8 x int8 -> int32 unknown no"
    layer = read_onnx(path, "sums")
    model = onnx.load(path)
    model.graph.output.append(onnx.helper.make_tensor_value_info("i", onnx.TensorProto.INT32, ["M", 5]))
    onnx.save(model, path)
    a = np.random.default_rng(2).integers(0, 256, (50, K)).astype(np.uint8)
    (_, sums), _ = run(path, {"xq": a})
    np.testing.assert_array_equal(layer.golden(a), sums, strict=True)
    np.testing.assert_array_equal(onnxruntime_output(layer, a), sums)


def test_nodes_without_names_go_by_their_output(tmp_path):
    path = write(tmp_path / "model.onnx", TWO.replace("[fc]", "").replace("[second]", "[other]"), **SQUARE)
    assert [product.name for product in read_products(path)] == ["y", "yq", "f"]
    assert read_onnx(path, "yq").name == "yq"


def test_the_module_is_named_after_the_node(tmp_path):
    path = write(tmp_path / "model.onnx", QLINEAR)
    model = onnx.load(path)
    model.graph.node[0].name = "/encoder.0/fc/MatMul"
    onnx.save(model, path)
    assert read_onnx(path, "/encoder.0/fc/MatMul").name == "encoder_0_fc_MatMul"


def test_external_data_next_to_the_model(tmp_path, monkeypatch):
    path = write(tmp_path / "model.onnx", QLINEAR)
    options = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
    onnx.save(onnx.load(path), path, **options)
    assert (tmp_path / "weights.bin").is_file()
    monkeypatch.chdir("/")
    check_fields(read_onnx(path), {})


def test_functions_of_the_model_are_inlined(tmp_path):
    path = write(tmp_path / "model.onnx", nodes(DQ_A, DQ_W, "y = MatMul(x, w)", Q_Y))
    model = onnx.load(path)
    function = onnx.parser.parse_function(
        '<opset_import: ["": 13], domain: "mine"> Dense (p, q) => (r) { r = MatMul(p, q) }'
    )
    model.functions.append(function)
    model.opset_import.append(onnx.helper.make_opsetid("mine", 1))
    node = next(node for node in model.graph.node if node.op_type == "MatMul")
    node.op_type, node.domain = "Dense", "mine"
    onnx.save(model, path)
    check_fields(read_onnx(path), {})


@pytest.mark.simulator
def test_a_model_through_its_verilog(call, tmp_path):
    path = write(tmp_path / "model.onnx", TAKEN["Gemm, transB, per channel"][0], bias_zn=np.zeros(5, np.int32))
    a = np.random.default_rng(2).integers(0, 256, (40, K)).astype(np.uint8)
    np.savez(tmp_path / "a.npz", a=a)
    arguments = ["--input", tmp_path / "a.npz", "--output", tmp_path / "y.npz", "--simulator", "icarus"]
    result = call("simulate", path, *arguments)
    assert result.exit_code == 0, result.output
    (y,), operators = run(path, {"xq": a})
    assert "QGemm" in operators
    np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["y"], y)


@pytest.mark.simulator
def test_the_last_layer_of_a_real_network(call, shared, tmp_path):
    """The Gemm 64 -> 10 of the MLPerf Tiny ResNet8, on the activations that onnxruntime feeds it.

    shared/data/resnet8_fc.npz is the same layer from another quantizer: same weights in real units, other scales.
    """
    path = shared / "data" / "mlperf_resnet8_qdq.onnx"
    (product,) = read_products(path)
    layer = product.layer
    assert product.shape == "1 x 64 x 10"
    other = np.load(shared / "data" / "resnet8_fc.npz")
    apart = layer.b * np.float64(layer.b_scale) - other["weights"] * np.float64(other["b_scale"])
    assert np.abs(apart).max() <= (layer.b_scale[0] + other["b_scale"]) / 2
    unit = np.float64(layer.a_scale) * layer.b_scale
    apart = layer.bias * unit - other["bias"] * np.float64(other["a_scale"]) * other["b_scale"]
    assert np.abs(apart).max() <= 2 * np.float64(other["a_scale"]) * other["b_scale"]

    model = onnx.load(path)  # with the quantized input and output of the layer as outputs of the network
    gemm = next(node for node in model.graph.node if node.op_type == "Gemm")
    for name in ("PPQ_Variable_181", "PPQ_Variable_193"):
        model.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT8, None))
    assert gemm.name == product.name
    onnx.save(model, tmp_path / "resnet8.onnx")
    generator = np.random.default_rng(0)
    rows = []
    for _ in range(20):
        image = generator.uniform(0, 255, (1, 32, 32, 3)).astype(np.float32)
        (_, a, y), operators = run(tmp_path / "resnet8.onnx", {"input_1": image})
        rows.append((a.reshape(-1), y.reshape(-1)))
    assert "QGemm" in operators
    a, y = (np.stack(column) for column in zip(*rows, strict=True))
    assert len(np.unique(y)) > 10
    np.testing.assert_array_equal(layer.golden(a), y)
    np.savez(tmp_path / "a.npz", a=a)
    arguments = ["--input", tmp_path / "a.npz", "--output", tmp_path / "y.npz", "--simulator", "icarus"]
    assert call("simulate", f"{path}#{product.name}", *arguments).exit_code == 0
    np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["y"], y)


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16])
def test_narrow_scales_of_qlinear_matmul_are_widened(kind, tmp_path):
    """Opset 21 has them; onnxruntime does not run them, so the operator's own golden form is the reference."""
    scales = {name: np.asarray(CONSTANTS[name]).astype(kind) for name in ("a_s", "w_s", "y_s")}
    layer = read_onnx(write(tmp_path / "model.onnx", QLINEAR, opset=21, ir=10, **scales))
    assert layer.a_scale == np.float32(scales["a_s"])
    a = np.random.default_rng(3).integers(0, 256, (100, K)).astype(np.uint8)
    given = CONSTANTS | scales
    names = ("a_s", "a_z", "W", "w_s", "w_z", "y_s", "y_z")
    np.testing.assert_array_equal(layer.golden(a), qlinear_matmul(a, *(given[name] for name in names)))
