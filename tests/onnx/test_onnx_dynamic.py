"""What `quantize_dynamic` makes of classifiers of digits, as SOURCE: onnxruntime's sums and real results, to the bit.

Weights are those that scikit-learn finds; activations are the test images. onnxruntime saturates inside for u8 x s8 on
machines with AVX2 but without VNNI where weights have 8 bits.
"""

from __future__ import annotations

import itertools
import json
import logging
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from systoliq.golden.dynamic import dynamic_quantize_linear
from systoliq.onnx import read_products
from systoliq.onnx.host import STATIC

from ..cli.refused import assert_refused
from ..support.kernels import saturates
from .dynamic_models import FUSED, TO_FLOAT
from .onnx_models import CONSTANTS, K, N, write

LAYERS, GEMM, OPSETS = (1, 2), (False, True), (11, 13, 17, 21)
WEIGHTS = (QuantType.QInt8, QuantType.QUInt8)
KINDS = list(itertools.product(LAYERS, GEMM, OPSETS))
OPTIONS = [
    {"per_channel": channel, "weight_type": kind, "reduce_range": reduced}
    for channel, kind, reduced in itertools.product((False, True), WEIGHTS, (False, True))
]


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable(logging.WARNING)  # the quantizer advises to preprocess
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def digits():
    """Test images [450, 64] as float32, and the weights and biases of networks by their number of layers."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier

    x, labels = load_digits(return_X_y=True)
    x, images, labels, right = train_test_split(x / 16, labels, random_state=0)
    networks = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # training may stop early
        for layers in LAYERS:
            hidden = (20,) if layers == 2 else ()
            trained = MLPClassifier(hidden, max_iter=60, random_state=0, learning_rate_init=0.01).fit(x, labels)
            assert trained.score(images, right) > 0.9
            networks[layers] = list(zip(trained.coefs_, trained.intercepts_, strict=True))
    return images.astype(np.float32), networks


def quantized(folder: Path, network, *, gemm: bool, opset: int, **options) -> Path:
    """The network between `x` and `y`, in float, and then by `quantize_dynamic`."""
    nodes, constants, name = [], {}, "x"
    for index, (w, c) in enumerate(network):
        constants |= {f"W{index}": w, f"c{index}": c}
        if index:
            nodes.append(helper.make_node("Relu", [name], [f"r{index}"]))
            name = f"r{index}"
        y = "y" if index == len(network) - 1 else f"h{index}"
        if gemm:
            nodes.append(helper.make_node("Gemm", [name, f"W{index}", f"c{index}"], [y], name=f"fc{index}"))
        else:
            nodes.append(helper.make_node("MatMul", [name, f"W{index}"], [f"p{index}"], name=f"fc{index}"))
            nodes.append(helper.make_node("Add", [f"c{index}", f"p{index}"], [y], name=f"add{index}"))
        name = y
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["M", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["M", 10])],
        [numpy_helper.from_array(value.astype(np.float32), key) for key, value in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), folder / "f.onnx")
    quantize_dynamic(folder / "f.onnx", folder / "q.onnx", **options)
    return folder / "q.onnx"


def session(model: Path | bytes, *, fused: bool = True) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if not fused:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    data = model if isinstance(model, bytes) else model.read_bytes()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def inside(path: Path, names: list[str], x: np.ndarray) -> dict[str, np.ndarray]:
    """The tensors `names` of the model for `x`."""
    model = onnx.load(path)
    kept = [output.name for output in model.graph.output]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in kept)
    return dict(zip(names, session(model.SerializeToString(), fused=False).run(names, {"x": x}), strict=True))


def same_bits(found: np.ndarray, right: np.ndarray) -> None:
    assert (found.dtype, found.shape) == (right.dtype, right.shape)
    np.testing.assert_array_equal(found.view(f"u{found.dtype.itemsize}"), right.view(f"u{right.dtype.itemsize}"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options.values())))
def test_all_that_the_quantizer_writes(options, digits, tmp_path):
    """Integers, scales and sums of every layer are those inside onnxruntime; results those of its fused graph."""
    if options["weight_type"] is QuantType.QInt8 and not options["reduce_range"] and saturates():
        pytest.skip("onnxruntime saturates products of uint8 and int8 on this processor")
    images, networks = digits
    for layers, gemm, opset in KINDS:
        path = quantized(tmp_path, networks[layers], gemm=gemm, opset=opset, **options)
        (y,) = session(path).run(["y"], {"x": images})
        products, nodes = read_products(path), onnx.load(path).graph.node
        assert len(products) == layers
        x = images
        for product in products:
            layer, host = product.layer, product.host
            node = next(node for node in nodes if node.name == product.name)
            quantizer = next(each for each in nodes if node.input[0] in each.output)
            found = dynamic_quantize_linear(x)
            seen = inside(path, [*quantizer.output, node.output[0]], images)
            sums = layer.golden(found.a, found.zero_point)
            for mine, right in zip((found.a, found.scale, found.zero_point, sums), seen.values(), strict=True):
                same_bits(np.asarray(mine), right)
            real = host.finish(sums, found.scale)
            same_bits(real, session(host.model()).run(None, {"x": x})[0])
            assert (layer.takes_zero_points, len(np.unique(sums)) > 100) == (True, True)
            assert (len(np.unique(layer.b_scale)) > 1) == options["per_channel"]
            x = np.maximum(real, 0)
        same_bits(real, y)


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize(("layers", "gemm"), [(1, True), (2, False)])
def test_through_the_verilog(layers, gemm, digits, call, tmp_path):
    """Real numbers in, real numbers out: the last layer's are the network's."""
    images, networks = digits
    path = quantized(tmp_path, networks[layers], gemm=gemm, opset=13, per_channel=True, reduce_range=True)
    x = images[:60]
    for product in read_products(path):
        np.savez(tmp_path / "x.npz", x=x)
        result = call(
            "simulate", f"{path}#{product.name}", "--input", tmp_path / "x.npz", "--output", tmp_path / "y.npz",
            "--report", tmp_path / "r.json", "--simulator", "icarus", "--rows", 2, "--depth", 4, "--stalls", 0.1,
            "--compare", "onnxruntime",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        report = json.loads((tmp_path / "r.json").read_text())
        assert (report["mismatches"], report["onnxruntime_mismatches"]) == (0, 0)
        made = np.load(tmp_path / "y.npz")
        assert (made["sums"].dtype, made["sums"].shape) == (np.int32, made["y"].shape)
        x = np.maximum(made["y"], 0)
    same_bits(made["y"], session(path).run(["y"], {"x": images[:60]})[0])


@pytest.mark.slow
@pytest.mark.simulator
def test_integers_of_any_batch(digits, call, tmp_path):
    """A of three dimensions with a zero point for every row gives the sums, which onnxruntime's node confirms."""
    images, networks = digits
    path = quantized(tmp_path, networks[1], gemm=False, opset=13, reduce_range=True)
    a = dynamic_quantize_linear(images[:30]).a.reshape(2, 15, 64)
    points = np.random.default_rng(1).integers(0, 256, (2, 15, 1)).astype(np.uint8)
    for zero_point in (points, np.uint8(7)):
        np.savez(tmp_path / "a.npz", a=a, a_zero_point=zero_point)
        result = call(
            "simulate", path, "--input", tmp_path / "a.npz", "--output", tmp_path / "y.npz", "--simulator", "icarus",
            "--compare", "onnxruntime",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        b = read_products(path)[0].layer.centered_b
        right = (a.astype(np.int64) - zero_point) @ b
        np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["y"], right.astype(np.int32), strict=True)


def test_what_is_listed_and_refused(digits, call, tmp_path):
    _, networks = digits
    path = quantized(tmp_path, networks[1], gemm=False, opset=13, reduce_range=True)
    line = " ".join(call("layers", path).stdout.splitlines()[1].split())
    assert line == "fc0_quant QOperator MatMulInteger M x 64 x 10 uint8 x int8 -> int32 per tensor by the host"
    np.savez(tmp_path / "a.npz", a=np.zeros((2, 64), np.uint8))
    simulate = ("simulate", path, "--simulator", "icarus", "--input", tmp_path)
    assert_refused(call(*simulate[:-1], tmp_path / "a.npz"), "a_zero_point must be given with a, one for all rows or")
    for x, text in (
        (np.full((2, 64), np.nan, np.float32), "x.npz: x must hold finite numbers, not nan (at [0, 0])"),
        (np.zeros((2, 63), np.float32), "x.npz: a must have the shape [M, 64] with M at least 1, not [2, 63]"),
    ):
        np.savez(tmp_path / "x.npz", x=x)
        assert_refused(call(*simulate[:-1], tmp_path / "x.npz"), text)
    options = ("--cells", "dsp48e2-pair", "--rows", 1, "--cols", 2)
    text = "a must have at most 8 bits with cells 'dsp48e2-pair', not 9 (a is a difference: uint8 less a zero point"
    assert_refused(call("emit", path, "--out", tmp_path / "out", *options), text)


SUMS = "[sums] i = MatMulInteger(xq, W, {}, w_z)"
AT_RUN_TIME = {
    "of another operator": ("z = ReduceMax<keepdims = 0>(xq)", "z", {}),
    "per row, constant": ("", "z", {"z": np.arange(4, dtype=np.uint8), "rows": "4"}),
    "per row, of the graph": ("z = ReduceMax<axes = [1], keepdims = 1>(xq)", "z", {}),
}


@pytest.mark.parametrize(("before", "point", "changes"), AT_RUN_TIME.values(), ids=AT_RUN_TIME)
def test_other_zero_points_come_with_a(before, point, changes, call, tmp_path):
    path = write(tmp_path / "m.onnx", "\n".join([before, SUMS.format(point), "yq = Cast<to = 2>(i)"]), **changes)
    (product,) = read_products(path)
    assert (product.layer.takes_zero_points, product.layer.b_scale, product.host.idle) == (True, None, True)
    a = np.random.default_rng(1).integers(0, 256, (4, K)).astype(np.uint8)
    points = a.max(axis=1)
    right = (a.astype(int) - points[:, None]) @ CONSTANTS["W"].astype(int)
    np.testing.assert_array_equal(product.layer.golden(a, points), right)
    assert right.shape == (4, N)
    np.savez(tmp_path / "x.npz", x=a.astype(np.float32))
    refused = call("simulate", path, "--input", tmp_path / "x.npz")
    assert_refused(refused, "a must have the type uint8, not float32: --quantize takes real numbers")


DYNAMIC = "r = Cast<to = 1>(xq)\n a, s, p = DynamicQuantizeLinear(r)\n i = MatMulInteger(a, W, p, w_z)\n"
BEHIND = {
    "no Cast": ("y = Identity(i)", False, []),
    "a Cast alone": ("y = Cast<to = 1>(i)", True, []),
    "scales one by one": ("f = Cast<to = 1>(i)\n g = Mul(s, f)\n y = Mul(g, w_sn)", True, ["Mul s", "Mul c"]),
    "both scales, the bias on the left": (
        "f = Cast<to = 1>(i)\n t = Mul(w_sn, s)\n g = Mul(t, f)\n y = Add(real, g)", True, ["Mul sc", "Add c"]),
    "then another operator": ("f = Cast<to = 1>(i)\n g = Mul(f, w_s)\n y = Relu(g)", True, ["Mul c"]),
    "a result for two": ("f = Cast<to = 1>(i)\n g = Mul(f, w_s)\n h = Mul(g, s)\n y = Mul(g, h)", True, ["Mul c"]),
    "a square": ("f = Cast<to = 1>(i)\n y = Mul(f, f)", True, []),
    "a scale that is added": ("f = Cast<to = 1>(i)\n y = Add(f, s)", True, []),
    "a constant per row": ("f = Cast<to = 1>(i)\n y = Add(f, column)", True, []),
    "to double": ("d = Cast<to = 11>(i)\n y = Cast<to = 1>(d)", False, []),
}  # fmt: skip


@pytest.mark.parametrize(("nodes", "real", "steps"), BEHIND.values(), ids=BEHIND)
def test_nodes_after_the_sums(nodes, real, steps, tmp_path):
    constants = {"real": np.linspace(-9, 9, N, dtype=np.float32), "column": np.ones((4, 1), np.float32)}
    path = write(tmp_path / "m.onnx", DYNAMIC + nodes + "\n yq = Cast<to = 2>(y)", **constants)
    (product,) = read_products(path)
    found = [f"{step.operator} {'s' * step.scaled}{'c' * (step.constant is not None)}" for step in product.host.steps]
    assert (product.host.real, found) == (real, steps)
    x = np.random.default_rng(1).normal(0, 3, (4, K)).astype(np.float32)
    quantized_x = dynamic_quantize_linear(x)
    y = product.host.finish(product.layer.golden(quantized_x.a, quantized_x.zero_point), quantized_x.scale)
    same_bits(y, session(product.host.model()).run(None, {"x": x})[0])


@pytest.mark.parametrize("layers", LAYERS)
@pytest.mark.parametrize("per_channel", [False, True], ids=["per tensor", "per channel"])
def test_optimized_models(per_channel, layers, digits, tmp_path):
    """DynamicQuantizeMatMul, which onnxruntime makes of it all, gives the same layers and the same results."""
    images, networks = digits
    path = quantized(tmp_path, networks[layers], gemm=True, opset=13, per_channel=per_channel, reduce_range=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.optimized_model_filepath = 3, str(tmp_path / "optimized.onnx")
    (y,) = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(["y"], {"x": images})
    products = read_products(tmp_path / "optimized.onnx")
    assert [product.operator for product in products] == ["DynamicQuantizeMatMul"] * layers
    x = images
    for product, before in zip(products, read_products(path), strict=True):
        for name, array in before.layer.arrays().items():
            np.testing.assert_array_equal(product.layer.arrays()[name], array)
        found = dynamic_quantize_linear(x)
        real = product.host.finish(product.layer.golden(found.a, found.zero_point), found.scale)
        same_bits(real, session(product.host.model()).run(None, {"x": x})[0])
        x = np.maximum(real, 0)
    same_bits(real, y)


@pytest.mark.parametrize(("nodes", "at_run_time", "known", "steps"), FUSED.values(), ids=FUSED)
def test_matmul_integer_to_float(nodes, at_run_time, known, steps, tmp_path):
    path = write(tmp_path / "m.onnx", nodes, real=np.linspace(-9, 9, N, dtype=np.float32))
    (product,) = read_products(path)
    layer, host = product.layer, product.host
    assert (layer.takes_zero_points, host.model is not None) == (at_run_time, known)
    assert [step.operator for step in host.steps] == steps
    if not known:
        assert host.before == (None if at_run_time else STATIC)  # by the layer's own scale
        return
    x = np.random.default_rng(1).normal(0, 2, (4, K)).astype(np.float32)
    found = host.quantize(layer, x)
    y = host.finish(layer.golden(found.a, found.zero_point), found.scale)
    same_bits(y, session(host.model()).run(None, {"x": x})[0])


def test_a_fused_bias_that_is_no_constant(tmp_path):
    path = write(tmp_path / "m.onnx", "c = Exp(w_sn)\n" + TO_FLOAT.format("xq, W, a_s, w_s, a_z, w_z, c"))
    (product,) = read_products(path)
    assert product.reason == "the bias must be a float32 constant of shape [5], not from Exp 'c'"
