"""Products of pixels with a computed number for each channel: as matrix products for all pairs, or left as they are."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.api import EngineConfig, compile_onnx
from systoliq.inference.lowering import lowered
from systoliq.inference.program.gates import with_matrix_products
from systoliq.onnx import Model

from ..onnx.network.oracle import session, write

GATED = """g ({0}[1, 4, 5, 12] x, {0}[1, 1, 1, 12] v) => ({0}[1, 4, 5, 12] y) {{
    y = com.microsoft.QLinearMul ({1}, c, d) }}"""
X, V = "x, a, p", "v, b, q"


def gated(folder, kind, scales, zero_points, operands):
    """The lowered model, and an input."""
    constants = {name: np.float32(scale) for name, scale in zip("abc", scales, strict=True)}
    constants |= {name: np.dtype(kind).type(point) for name, point in zip("pqd", zero_points, strict=True)}
    path = write(folder / "model.onnx", GATED.format(kind, operands), constants)
    rng, info = np.random.default_rng(1), np.iinfo(kind)
    shapes = {"x": (1, 4, 5, 12), "v": (1, 1, 1, 12)}
    feed = {name: rng.integers(info.min, info.max + 1, shape).astype(kind) for name, shape in shapes.items()}
    return lowered(Model(path)), feed


@pytest.mark.parametrize(
    ("kind", "scales", "zero_points", "taken"),
    [
        ("int8", (0.0371, 0.0039, 0.0251), (-7, -128, 5), True),
        ("uint8", (0.0371, 0.0039, 0.0251), (120, 0, 117), True),
        ("int8", (0.5, 0.5, 1.0), (0, 0, 0), True),  # ties go to even on both ways
        ("int8", (0.5, 0.5, 1.0), (0, 0, 1), False),  # and to an odd number where it is added first
    ],
)
@pytest.mark.parametrize("operands", [f"{X}, {V}", f"{V}, {X}"])
def test_a_matrix_product_in_its_place_gives_the_same_integers(kind, scales, zero_points, taken, operands, tmp_path):
    model, feed = gated(tmp_path, kind, scales, zero_points, operands)
    found = with_matrix_products(model, feed)
    assert (found is not model) == taken
    operators = [node.op_type for node in found.model.graph.node]
    assert operators[-1] == ("QLinearMatMul" if taken else "QLinearMul")
    for _ in range(3):
        (y,), (wanted,) = (session(each.model).run(None, feed) for each in (found, model))
        np.testing.assert_array_equal(y, wanted)
        feed = {name: np.flip(each, -1) + np.dtype(kind).type(37) for name, each in feed.items()}


EXCITED = """g (int8[1, 4, 5, 12] x) => (int8[1, 4, 5, 12] y) {
    u = com.microsoft.QLinearConv <channels_last = 1> (x, s, z, k, s, z, s, z)
    m = com.microsoft.QLinearGlobalAveragePool <channels_last = 1> (u, s, z, s, z)
    g = com.microsoft.QLinearConv <channels_last = 1> (m, s, z, k, s, z, s, z)
    t = com.microsoft.QLinearMul (u, s, z, g, s, z, r, o)
    y = com.microsoft.QLinearConv <channels_last = 1> (t, r, o, k, s, z, s, z) }"""


@pytest.mark.parametrize("depth", [1, 2])
def test_squeeze_and_excitation_between_convolutions_is_one_list(depth, tmp_path):
    rng = np.random.default_rng(1)
    constants = {"k": rng.integers(-9, 9, (12, 12, 1, 1)).astype(np.int8), "z": np.int8(0), "s": np.float32(0.11)}
    constants |= {"r": np.float32(0.013), "o": np.int8(-3)}
    path = write(tmp_path / "model.onnx", EXCITED, constants)
    program = compile_onnx(path, EngineConfig(rows=4, cols=4, depth=depth, lanes=2, vector=True), bus=64).program
    assert len(program.runs) == 1
    if depth == 1:  # on the array
        product = next(step for step in program.products if step.operator != "QLinearConv")
        assert (bool(product.a_from), bool(product.b_from)) == (True, True)
    else:
        assert [step.operator for step in program.vectors][-1] == "QLinearMul"
