"""Models that once took the reader's time, memory or stack: each ends in a line, or is read."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from systoliq.errors import InputError
from systoliq.onnx import Model, model_file, read_onnx, read_products
from systoliq.onnx.wire import count_pieces

from ..cli.refused import assert_refused
from .network import oracle
from .onnx_models import CONSTANTS, write
from .onnx_nodes import DQ_A, DQ_W, MATMUL, Q_Y, QLINEAR, nodes

LONG = 900  # operators in a row: more than Python's stack has room for


def identities(first: str, last: str, count: int = LONG) -> str:
    names = [first, *(f"{last}_{i}" for i in range(count - 1)), last]
    return "\n".join(f"{b} = Identity({a})" for a, b in itertools.pairwise(names))


def test_a_constant_behind_900_identities(tmp_path):
    path = write(tmp_path / "m.onnx", nodes(identities("W", "v"), QLINEAR.replace("W,", "v,")))
    layer = read_onnx(path)
    np.testing.assert_array_equal(layer.b, CONSTANTS["W"])
    assert Model.open(path).reading.network is not None


@pytest.mark.parametrize("place", ["before", "behind", "in the sum"])
def test_900_identities_around_a_product(place, tmp_path):
    graph = {
        "before": nodes(identities("xq", "i"), QLINEAR.replace("xq", "i")),
        "behind": nodes(QLINEAR.replace("yq", "q"), identities("q", "yq")),
        "in the sum": nodes(DQ_A, DQ_W, "[fc] h = MatMul(x, w)", identities("h", "y"), Q_Y),
    }[place]
    path = write(tmp_path / "m.onnx", graph)
    assert read_products(path)[0].layer is not None
    reading = Model.open(path).reading
    assert (reading.network is None) == (place == "in the sum")
    if place == "in the sum":
        assert "at most 64 operators may stand between MatMul 'fc' and a QuantizeLinear" in reading.problems[0]


def test_chains_of_quantizers_of_themselves(tmp_path):
    """Each takes the one before three times: 3^60 ways lead to the first."""
    lines = ["q0 = Identity(u)", *(f"q{i + 1} = QuantizeLinear(q{i}, q{i}, q{i})" for i in range(60))]
    path = write(tmp_path / "m.onnx", nodes(*lines, QLINEAR.replace("W,", "q60,")), u=np.ones((12, 5), np.float32))
    (product,) = read_products(path)
    assert "must take float32 to integers or float8, not float32, float32 and float32" in product.reason
    assert Model.open(path).reading.network is None


def test_a_float_result_with_many_ways_from_its_input(tmp_path):
    """Every Add takes the one before twice: 2^40 ways."""
    adds = [f"s{i + 1} = Add(s{i}, s{i})" for i in range(40)]
    graph = nodes("s0 = Cast<to = 1>(xq)", *adds, "q = QuantizeLinear(s40, a_s, a_z)",
                  "x = DequantizeLinear(q, a_s, a_z)", DQ_W, MATMUL, "yq = Cast<to = 2>(y)")  # fmt: skip
    (product,) = read_products(write(tmp_path / "m.onnx", graph))
    assert product.host is not None
    part = onnx.load_from_string(product.host.model())
    assert [node.op_type[:5] for node in part.graph.node] == ["Quant", "Dequa", "Dequa", "MatMu"]


def test_a_function_of_a_million_channels(tmp_path):
    """It is the same for all: its table of 256 integers is not computed for each channel."""
    text = """g (uint8[1, 1048576, 1, 1] a) => (uint8[1, 1048576, 1, 1] y)
        { f = DequantizeLinear(a, s, z) r = Relu(f) y = QuantizeLinear(r, s, z) }"""
    path = oracle.write(tmp_path / "m.onnx", text, {"s": np.float32(0.1), "z": np.uint8(3)})
    tracemalloc.start()
    network = Model.open(path).reading.network
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert network is not None
    np.testing.assert_array_equal(network.nodes[0].entries, np.maximum(np.arange(256), 3))
    assert peak < 100 << 20


@pytest.mark.parametrize("name", ["QGemm", "MatMulIntegerToFloat", "Identity", "DequantizeLinear", "Conv"])
def test_a_node_of_another_domain_without_inputs(name, tmp_path):
    """The checker does not know these domains, so it does not count inputs."""
    path = write(tmp_path / "m.onnx", nodes(f"[fc] yq = com.microsoft.{name}()"))
    model = Model.open(path)
    assert [product.layer for product in model.products] == [None] * len(model.products)
    assert model.reading.network is None
    assert not model.reading.lone


def with_functions(path, bodies: dict[str, list[str]]) -> None:
    """A model that calls the first of the functions; each calls those that are named."""
    opset = [helper.make_opsetid("", 13), helper.make_opsetid("f", 1)]
    functions = [
        helper.make_function(
            "f", name, ["a"], ["z"],
            [helper.make_node(called, ["a" if not i else f"t{i}"], ["z" if i + 1 == len(calls) else f"t{i + 1}"],
                              domain="" if called == "Identity" else "f") for i, called in enumerate(calls)],
            opset,
        )
        for name, calls in bodies.items()
    ]  # fmt: skip
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    call = helper.make_node(next(iter(bodies)), ["x"], ["y"], domain="f")
    graph = helper.make_graph([call], "g", infos[:1], infos[1:])
    onnx.save(helper.make_model(graph, opset_imports=opset, functions=functions, ir_version=8), path)


DOUBLING = {f"d{i}": [f"d{i + 1}"] * 2 for i in range(40)} | {"d40": ["Identity"]}
FUNCTIONS = {
    "that double": (DOUBLING, f"must have at most 20000 nodes, not {2**40}"),
    "that call themselves": ({"d": ["d"]}, "must be a valid ONNX model (the function 'd' must not call itself)"),
    "that call each other": ({"d": ["e"], "e": ["Identity", "d"]}, "must not call itself)"),
    "one in the other": (
        {f"d{i}": [f"d{i + 1}"] for i in range(99)} | {"d99": ["Identity"]},
        "functions must call one another at most 64 deep",
    ),
}


@pytest.mark.parametrize(("bodies", "text"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions(bodies, text, call, tmp_path):
    with_functions(tmp_path / "m.onnx", bodies)
    assert_refused(call("layers", tmp_path / "m.onnx"), text)


def test_functions_that_fit_are_expanded(tmp_path):
    with_functions(tmp_path / "m.onnx", {"d": ["e", "e"], "e": ["Identity"]})
    assert [verdict.operator for verdict in Model.open(tmp_path / "m.onnx").reading.verdicts] == [
        "Identity",
        "Identity",
    ]


def edited(path, change) -> None:
    model = onnx.load(path)
    change(model)
    onnx.save(model, path)


def make_sparse(model: onnx.ModelProto) -> None:
    """W as a sparse initializer."""
    (tensor,) = (each for each in model.graph.initializer if each.name == "W")
    array = numpy_helper.to_array(tensor)
    model.graph.initializer.remove(tensor)
    flat = np.flatnonzero(array)
    values = numpy_helper.from_array(array.reshape(-1)[flat], "W")
    indices = numpy_helper.from_array(flat.astype(np.int64), "W_indices")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, array.shape))


def test_sparse_initializers(tmp_path):
    path = write(tmp_path / "m.onnx", QLINEAR)
    edited(path, make_sparse)
    (product,) = read_products(path)
    assert product.reason == "b must be dense, not the sparse initializer 'W'"
    assert any(
        "b must be dense, not the sparse initializer 'W'" in problem for problem in Model.open(path).reading.problems
    )


def move_outside(model: onnx.ModelProto, **entries: str) -> None:
    (tensor,) = (each for each in model.graph.initializer if each.name == "W")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)


OUTSIDE = {
    "a path that is too long": {"location": "n" * 5000},
    "a path of many folders": {"location": "n/" * 3000 + "n"},
    "outside the folder": {"location": "../w.bin"},
    "absolute": {"location": "/etc/passwd"},
    "a device": {"location": "zero"},
    "no path": {},
    "too short": {"location": "w.bin", "length": "59"},
    "too long": {"location": "w.bin", "length": "99999999999"},
    "no number": {"location": "w.bin", "offset": "x"},
    "behind its end": {"location": "w.bin", "offset": "70"},
    "a sparse giant": {"location": "giant.bin"},
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("entries", OUTSIDE.values(), ids=OUTSIDE)
def test_data_outside_the_model(entries, backwards, call, tmp_path):
    """The library looks at it in a model whose nodes come in order; `constant_of` does in all."""
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "w.bin").write_bytes(bytes(60))
    (tmp_path / "w.bin").write_bytes(bytes(60))
    (folder / "zero").symlink_to("/dev/zero")
    with (folder / "giant.bin").open("wb") as file:
        file.truncate(1 << 40)
    path = write(folder / "m.onnx", nodes(*[DQ_A, DQ_W, MATMUL, Q_Y][:: -1 if backwards else 1]))
    edited(path, lambda model: move_outside(model, **entries))
    result = call("emit", path, "--out", tmp_path / "out")
    assert_refused(result, "m.onnx: ")
    assert len(result.stderr) < 20_000
    assert not (tmp_path / "out").exists()


def test_data_of_another_size_than_their_shape(tmp_path):
    """In a model that the checker of ONNX does not read: of weights that are no constant, of 4 bits."""
    tensor = TensorProto(name="v", data_type=TensorProto.INT4, dims=[1 << 40, 5], raw_data=bytes(30))
    text = "W4 = Constant<value = placeholder>()"
    path = write(tmp_path / "m.onnx", nodes(text, DQ_A, "w = DequantizeLinear(W4, w_s)", MATMUL, Q_Y),
                 opset=21, ir=10, placeholder=helper.make_tensor("v", TensorProto.INT4, [12, 5], [1] * 60))  # fmt: skip
    edited(path, lambda model: model.graph.node[0].attribute[0].t.CopyFrom(tensor))
    with pytest.raises(InputError, match="m.onnx: "):
        read_onnx(path)


REFUSED = {
    "no columns": (QLINEAR, {"W": np.zeros((12, 0), np.int8)}, "b must have the shape [K, N] with K and N at least 1"),
    "no rows": (QLINEAR, {"W": np.zeros((0, 5), np.int8)}, "b must have the shape [K, N] with K and N at least 1"),
    "an unknown output_dtype": (
        nodes(DQ_A, DQ_W, MATMUL, "yq = QuantizeLinear<output_dtype = 99>(y, y_s)"), {"opset": 21, "ir": 10},
        "output_dtype must be a type of ONNX in QuantizeLinear 'yq', not 99",
    ),
    "weights of another type than their zero point": (
        QLINEAR.replace("w_z", "z"), {"z": np.uint8(3)}, "b's zero point must be of the type of 'W', int8, not uint8",
    ),
    "activations of another type than their zero point": (
        QLINEAR.replace("a_z", "z"), {"z": np.int8(3)}, "a's zero point must be of the type of 'xq', uint8, not int8",
    ),
    "activations of another type than their zero point, QDQ": (
        nodes(DQ_A.replace("a_z", "z"), DQ_W, MATMUL, Q_Y), {"z": np.int8(3)},
        "a's zero point must be of the type of 'xq', uint8, not int8",
    ),
    "weights of another type than their zero point, QDQ": (
        nodes(DQ_A, DQ_W.replace("w_z", "z"), MATMUL, Q_Y), {"z": np.uint8(3)},
        "b's zero point must be of the type of 'W', int8, not uint8",
    ),
    "a zero point per column beside one scale": (
        nodes(DQ_A, DQ_W.replace("w_z", "w_zn"), MATMUL, Q_Y), {},
        "b's scale and zero point must have the same shape in DequantizeLinear 'w', not [] and [5]",
    ),
    "results of another type than their zero point": (
        QLINEAR.replace("y_z", "z"), {"z": np.int8(3)}, "y's zero point must be of the type of 'yq', uint8, not int8",
    ),
    "another K": (
        QLINEAR, {"W": np.ones((7, 5), np.int8)}, "a must have K = 7 as its last dimension, as b has, not 12",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("graph", "changes", "text"), REFUSED.values(), ids=REFUSED)
def test_products_that_onnxruntime_refuses(graph, changes, text, call, tmp_path):
    path = write(tmp_path / "m.onnx", graph, **changes)
    assert_refused(call("emit", path, "--out", tmp_path / "out"), text)


def test_a_constant_without_a_value(call, tmp_path):
    path = write(tmp_path / "m.onnx", nodes("v = Constant<value = placeholder>()", QLINEAR.replace("W,", "v,")),
                 placeholder=numpy_helper.from_array(CONSTANTS["W"]))  # fmt: skip
    edited(path, lambda model: model.graph.node[0].ClearField("attribute"))
    assert_refused(call("emit", path, "--out", tmp_path / "out"), "m.onnx: ")


def test_an_operator_with_too_few_inputs(call, tmp_path):
    path = write(tmp_path / "m.onnx", "[fc] yq = com.microsoft.QGemm(xq, a_s)")
    assert_refused(call("emit", path, "--out", tmp_path / "out"), "QGemm 'fc'")


def test_a_resize_to_more_than_there_is_room_for(tmp_path):
    sizes = np.array([1, 4, 1 << 20, 1 << 20])
    graph = """f = DequantizeLinear(a, s, z) r = Resize<mode = "nearest">(f, , , sizes) y = QuantizeLinear(r, s, z)"""
    constants = {"s": np.float32(0.1), "z": np.uint8(3), "sizes": sizes}
    head = "g (uint8[1, 4, 5, 5] a) => (uint8[1, 4, N, M] y)"
    path = oracle.write(tmp_path / "m.onnx", f"{head} {{ {graph} }}", constants)
    assert "its result must have at most 67108864 elements" in Model.open(path).reading.problems[0]


def test_an_input_beyond_its_limit(tmp_path):
    path = write(tmp_path / "m.onnx", QLINEAR, rows=str(1 << 40))
    assert "input 'xq' must have at most 67108864 elements" in Model.open(path).reading.problems[0]


@pytest.mark.slow
def test_files_beyond_their_limits(call, tmp_path):
    path = tmp_path / "m.onnx"
    with path.open("wb") as file:
        file.truncate(model_file.MODEL_BYTES + 1)
    assert_refused(call("layers", path), f"must have at most {1 << 28} bytes, not {(1 << 28) + 1}")
    path.write_bytes(onnx.ModelProto(ir_version=8).SerializeToString() + b"\x42\x00" * (1 << 20))
    assert_refused(call("layers", path), f"must have at most {1 << 20} fields, and has more")
    path.unlink()
    path.mkdir()
    assert_refused(call("layers", path), "must be a regular file")


def test_pieces_are_those_of_all_messages():
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [])
    data = onnx.ModelProto(ir_version=8, graph=graph).SerializeToString()
    assert count_pieces(data, onnx.ModelProto.DESCRIPTOR, 100) == 2 + 2 + 3  # of the model, the graph and the node
    assert count_pieces(data, onnx.ModelProto.DESCRIPTOR, 3) == 4
    for cut in range(len(data)):
        assert count_pieces(data[:cut], onnx.ModelProto.DESCRIPTOR, 100) <= 7
