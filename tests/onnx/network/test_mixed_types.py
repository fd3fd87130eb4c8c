"""Products of int8 and uint8, and constants of functions behind a DequantizeLinear, against onnxruntime."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from systoliq.errors import InputError
from systoliq.golden.network import Multiplication, Table
from systoliq.onnx import read_network

from .operator_models import KINDS, between, codes, parameters
from .oracle import by_node, check, write

MIXES = [mix for mix in itertools.product(KINDS, KINDS, KINDS) if len(set(mix)) > 1]
CLIPS = ("f = Identity(r)", "f = Relu(r)", "f = Clip(r, low, high)")


@pytest.mark.parametrize(("kind", "other", "made"), MIXES)
def test_all_pairs_of_a_product(kind, other, made, tmp_path):
    """onnxruntime multiplies in float32: next to a tie, few of the integers differ, by one."""
    rng = np.random.default_rng(3)
    a, b = (x.reshape(1, -1) for x in np.meshgrid(codes(kind), codes(other)))
    head = f"g ({kind}[1, 65536] a, {other}[1, 65536] b) => ({made}[1, 65536] y)"
    compared = wrong = 0
    for draw in range(9):
        constants = parameters(rng, kind, "a") | parameters(rng, other, "b") | parameters(rng, made, "y")
        constants |= {"ys": constants["as"] * constants["bs"] * np.float32(rng.uniform(20, 300))} if draw % 2 else {}
        constants |= {"low": np.float32(-0.3), "high": np.float32(0.4)}
        body = between(f"r = Mul(fa, fb) {CLIPS[draw % 3]}", "a", "b")
        path = write(tmp_path / "model.onnx", f"{head} {{ {body} }}", constants)
        network = read_network(path)
        assert any(isinstance(node, Multiplication) for node in network.nodes)
        (found,) = [each for each in by_node(path, network, {"a": a, "b": b}) if each.node.output.name == "y"]
        assert found.compared == 65536
        assert found.furthest <= 1
        compared, wrong = compared + found.compared, wrong + found.wrong
    assert wrong * 20_000 < compared


@pytest.mark.parametrize("operands", ["fa, fb", "fb, fa"])
@pytest.mark.parametrize(("kind", "other", "made"), MIXES)
def test_a_constant_factor(kind, other, made, operands, tmp_path):
    """It keeps its type: the other factor is brought to that one."""
    rng = np.random.default_rng(5)
    constants = parameters(rng, kind, "a") | parameters(rng, other, "b") | parameters(rng, made, "y")
    constants |= {"ys": constants["as"] * constants["bs"] * np.float32(97.3), "b": codes(other).reshape(1, -1, 1)}
    head = f"g ({kind}[1, 256, 256] a) => ({made}[1, 256, 256] y)"
    body = between(f"f = Mul({operands})", "a", "b")
    path = write(tmp_path / "model.onnx", f"{head} {{ {body} }}", constants)
    network = read_network(path)
    (product,) = [node for node in network.nodes if isinstance(node, Multiplication)]
    assert sum(isinstance(node, Table) for node in network.nodes) == (kind != other) + (made != other)
    assert [x.format.name for x in product.inputs if x.value is not None] == [other]
    a = np.broadcast_to(codes(kind), (1, 256, 256))
    (found,) = [each for each in by_node(path, network, {"a": a}) if each.node.output.name == "y"]
    assert found.compared == 65536
    assert found.furthest <= 1
    assert found.wrong <= 4  # near ties


def test_products_that_are_often_ties_are_refused(tmp_path):
    """Half of all products are ties, and float32 rounds to even before it adds the zero point, which is odd."""
    constants = {"as": 0.5, "bs": 0.5, "ys": 0.5, "az": np.int8(0), "bz": np.uint8(0), "yz": np.int8(1)}
    constants |= {name: np.float32(each) for name, each in constants.items() if name.endswith("s")}
    head = "g (int8[1, 256] a, uint8[1, 256] b) => (int8[1, 256] y)"
    path = write(tmp_path / "model.onnx", f"{head} {{ {between('f = Mul(fa, fb)', 'a', 'b')} }}", constants)
    with pytest.raises(InputError, match="Mul 'f' in float32, because its types differ .* at most 1 in 1000 products"):
        read_network(path)


FUNCTIONS = {
    "PRelu by channel": ("PRelu", (4, 1, 1)),
    "PRelu of one slope": ("PRelu", (1,)),
    "Pow": ("Pow", ()),
    "Div": ("Div", ()),
    "Div by channel": ("Div", (4, 1, 1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_quantized_constant_of_a_function(name, tmp_path):
    """As onnxruntime's quantizer writes it if it quantizes every operator."""
    operator, shape = FUNCTIONS[name]
    rng = np.random.default_rng(1)
    constants = parameters(rng, "int8", "a", "y") | {"c": rng.integers(20, 90, shape).astype(np.int8)}
    constants |= {"cs": np.float32(0.03), "cz": np.int8(3 if operator != "Pow" else int(constants["c"]) - 100)}
    constants |= {"az": np.int8(-128)}  # real numbers that have every power
    a = np.resize(codes("int8"), (1, 4, 16, 16))
    head = "g (int8[1, 4, 16, 16] a) => (int8[1, 4, 16, 16] y)"
    body = between(f"fc = DequantizeLinear(c, cs, cz) f = {operator}(fa, fc)", "a")
    path = write(tmp_path / "model.onnx", f"{head} {{ {body} }}", constants)
    network = read_network(path)
    assert not any(isinstance(node, Multiplication) for node in network.nodes)
    assert len(shape) == 3 or isinstance(network.nodes[0], Table)
    compared, _ = check(path, network, {"a": a})
    assert compared == a.size
