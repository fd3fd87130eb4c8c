"""A Cast to float32 before the first QuantizeLinear: the host's, and part of golden."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.network import NetworkDesign
from systoliq.errors import InputError
from systoliq.golden.network import load_network, network_arrays
from systoliq.onnx import Model, read_network
from systoliq.onnx.network import Fate

from .oracle import check, check_ends, write

CONSTANTS = {
    "s": np.float32(0.7), "t": np.float32(0.9), "n": np.float32(255), "z": np.int8(-9),
    "w": np.arange(-18, 18, dtype=np.int8).reshape(4, 3, 3, 1),
}  # fmt: skip
BEHIND = """fa = DequantizeLinear(a, s, z) fw = DequantizeLinear(w, s, z)
    h = Conv(fa, fw) b = QuantizeLinear(h, t, z) y = DequantizeLinear(b, t, z)"""
IMAGE, LAST = (3, 6, 5), (6, 5, 3)

# type and shape of the input, nodes before the integers a
CASES = {
    "uint8": ("uint8", IMAGE, "f = Cast<to = 1>(x) a = QuantizeLinear(f, s, z)"),
    "int8": ("int8", IMAGE, "f = Cast<to = 1>(x) a = QuantizeLinear(f, s, z)"),
    "int32": ("int32", IMAGE, "f = Cast<to = 1>(x) a = QuantizeLinear(f, s, z)"),
    "float": ("float", IMAGE, "f = Cast<to = 1>(x) a = QuantizeLinear(f, s, z)"),
    "double": ("double", IMAGE, "f = Cast<to = 1>(x) a = QuantizeLinear(f, s, z)"),
    "float16": ("float16", IMAGE, "f = Cast<to = 1>(x) a = QuantizeLinear(f, s, z)"),
    "moved before": (
        "uint8", LAST, "t0 = Transpose<perm = [0, 3, 1, 2]>(x) f = Cast<to = 1>(t0) a = QuantizeLinear(f, s, z)"
    ),
    "moved behind": (
        "uint8", LAST, "f = Cast<to = 1>(x) t0 = Transpose<perm = [0, 3, 1, 2]>(f) a = QuantizeLinear(t0, s, z)"
    ),
}  # fmt: skip
TYPES = {"float": np.float32, "double": np.float64}


def model(tmp_path, kind, shape, before):
    sizes = ", ".join(map(str, shape))
    text = f"g ({kind}[2, {sizes}] x) => (float[2, 4, 4, 5] y) {{ {before} {BEHIND} }}"
    return write(tmp_path / "model.onnx", text, CONSTANTS)


def numbers(kind, shape, count=20):
    rng = np.random.default_rng(4)
    if kind.startswith(("uint", "int")):
        info = np.iinfo(kind)
        return rng.integers(max(info.min, -200), min(info.max, 255) + 1, (count, *shape)).astype(kind)
    return rng.normal(0, 90, (count, *shape)).astype(TYPES.get(kind, kind))


@pytest.mark.parametrize(("kind", "shape", "before"), CASES.values(), ids=CASES)
def test_casts(kind, shape, before, tmp_path):
    path = model(tmp_path, kind, shape, before)
    network, x = read_network(path), numbers(kind, shape)
    compared, operators = check(path, network, {"x": x})
    assert compared == 20 * (90 + 80)
    assert "QLinearConv" in operators
    assert check_ends(path, network, {"x": x}) == 20 * 80
    (source,) = network.sources
    assert (source.name, source.tensor.name) == ("x", "a")


def test_the_host_does_more(tmp_path):
    """Then the network is read, and its integers must be given."""
    path = model(tmp_path, "uint8", IMAGE, "i = Cast<to = 1>(x) f = Div(i, n) a = QuantizeLinear(f, s, z)")
    reading = Model.open(path).reading
    assert [verdict.operator for verdict in reading.verdicts if verdict.fate is Fate.HOST][:2] == ["Cast", "Div"]
    with pytest.raises(ValueError, match="a must be given: more than moves and a QuantizeLinear follow x"):
        reading.network.golden({"x": numbers("uint8", IMAGE)})


def test_integers_that_are_counted_elsewhere_stay_integers(tmp_path):
    """The input is no longer the host's alone: the Cast is refused by name."""
    both = "a = com.microsoft.QLinearAdd(x, s, z, p, s, z, s, z)"
    path = model(tmp_path, "int8", IMAGE, f"u = Cast<to = 1>(x) p = QuantizeLinear(u, s, z) {both}")
    with pytest.raises(InputError, match="Cast 'u': the operator Cast is not supported"):
        read_network(path)


def test_the_type_is_checked(tmp_path):
    network = read_network(model(tmp_path, *CASES["uint8"]))
    for wrong in ("int8", "float32"):
        with pytest.raises(TypeError, match=f"x must hold uint8, not {wrong}"):
            network.golden({"x": numbers("uint8", IMAGE).astype(wrong)})
    real = read_network(model(tmp_path, *CASES["float"]))
    with pytest.raises(TypeError, match="x must hold real numbers, not uint8"):
        real.golden({"x": numbers("uint8", IMAGE)})


def test_a_network_file_has_it(tmp_path):
    network = read_network(model(tmp_path, *CASES["moved before"]))
    np.savez(tmp_path / "network.npz", **network_arrays(network))
    again = load_network(tmp_path / "network.npz")
    assert again.sources[0].movements == network.sources[0].movements
    x = numbers("uint8", LAST)
    np.testing.assert_array_equal(again.golden({"x": x})["b"], network.golden({"x": x})["b"])


@pytest.mark.slow
@pytest.mark.simulator
def test_pixels_through_verilog(tmp_path):
    design = NetworkDesign(read_network(model(tmp_path, *CASES["uint8"])))
    np.savez(tmp_path / "x.npz", x=numbers("uint8", IMAGE, 2))
    assert design.simulate(**design.read_operands(tmp_path / "x.npz")).passed
    np.savez(tmp_path / "x.npz", x=numbers("int8", IMAGE, 2))
    with pytest.raises(InputError, match="x.npz: x must hold uint8, not int8"):
        design.read_operands(tmp_path / "x.npz")
