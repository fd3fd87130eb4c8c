"""Operators that pick or repeat elements by constants, and reorders: onnxruntime's integers, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.errors import InputError
from systoliq.golden.network import Chain, Move
from systoliq.onnx import read_network

from .oracle import check, write

HEAD = "g (int8[N, 8, 4, 6] x) => (int8[N, C, H, W] y)"
CONSTANTS = {
    "zero": [0], "one": [1], "two": [2], "three": [3], "five": [5], "last": [-1], "far": [1 << 40], "low": [-(1 << 40)],
    "both": [2, 3], "starts": [1, 2], "ends": [3, 5], "sizes": [3, 5], "some": [7, 0, -1, 3],
    "split": [0, 2, 4, 4, 6], "whole": [0, 8, 4, 6], "times": [1, 2, 1, 3], "batches": [2, 1, 1, 1], "more": [5, 4, 6],
    "row": [0, 8, 4, 1, 6], "rows": [1, 1, 1, 2, 1], "double": [0, 8, 8, 6], "square": [4, 4],
}  # fmt: skip
CONSTANTS = {name: np.int64(value) for name, value in CONSTANTS.items()}
CONSTANTS |= {"codes": np.zeros((4, 2), np.int8), "s": np.float32(0.25), "s2": np.float32(0.3), "z": np.int8(3)}
FORMS = {
    "channels": "f = Slice(fx, one, five, one)",
    "channels to the end": "f = Slice(fx, two, far, one)",
    "every second row": "f = Slice(fx, zero, far, two, two)",
    "columns backwards": "f = Slice(fx, last, low, three, last)",
    "rows and columns": "f = Slice(fx, starts, ends, both)",
    "all of them": "f = Slice(fx, zero, far, one)",
    "gathered channels": "f = Gather<axis = 1>(fx, some)",
    "depth to space": "f = DepthToSpace<blocksize = 2>(fx)",
    "depth to space, CRD": 'f = DepthToSpace<blocksize = 2, mode = "CRD">(fx)',
    "space to depth": "f = SpaceToDepth<blocksize = 2>(fx)",
    "tiled channels and columns": "f = Tile(fx, times)",
    "repeated rows, as Keras writes them": "r = Reshape(fx, row) t = Tile(r, rows) f = Reshape(t, double)",
    "an expanded column": "c = Slice(fx, zero, one, three) f = Expand(c, square)",
    "turned": "f = Transpose<perm = [0, 1, 3, 2]>(fx)",
    "shuffled channels": "r = Reshape(fx, split) t = Transpose<perm = [0, 2, 1, 3, 4]>(r) f = Reshape(t, whole)",
    "the first of two": "f, other = Split<axis = 1>(fx, sizes)",
    "the second of two": "other, f = Split<axis = 1>(fx, sizes)",
    "halves the other way round": "left, right = Split<axis = 1>(fx) f = Concat<axis = 1>(right, left)",
}
DEQUANTIZED = "fx = DequantizeLinear(x, s, z)"
QUANTIZED = "y = QuantizeLinear(f, s, z)"


def network_of(path, form, *, requantized=False):
    last = "y = QuantizeLinear(f, s2, z)" if requantized else QUANTIZED
    write(path, f"{HEAD} {{ {DEQUANTIZED} {FORMS[form]} {last} }}", CONSTANTS)
    return read_network(path)


@pytest.mark.parametrize("requantized", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_onnxruntime_s_integers(form, requantized, tmp_path):
    net = network_of(tmp_path / "m.onnx", form, requantized=requantized)
    x = np.random.default_rng(1).integers(-128, 128, (3, 8, 4, 6)).astype(np.int8)
    compared, _ = check(tmp_path / "m.onnx", net, {"x": x})
    assert compared > 0


def test_a_reorder_is_one_memory(tmp_path):
    moves = [node for node in network_of(tmp_path / "m.onnx", "shuffled channels").nodes if isinstance(node, Move)]
    assert [type(node.movement) for node in moves] == [Chain]


REFUSED = {
    "starts that are no constants": (
        "f = Slice(fx, v, far, one)",
        "starts must be constant, not from the graph's input 'v'",
    ),
    "the batch": ("f = Slice(fx, one, far, zero)", "it must keep the batch"),
    "nothing": ("f = Slice(fx, two, two, one)", "it must leave something of axis 1"),
    "steps of 0": ("f = Slice(fx, zero, far, one, zero)", "steps must not be 0"),
    "an axis that is not there": ("f = Slice(fx, zero, far, five)", "an axis must be one of the 4 dimensions, not 5"),
    "an embedding": (
        "c = DequantizeLinear(codes, s, z) f = Gather(c, v)",
        "its input 'c' must be computed, not be a constant",
    ),
    "indices out of range": ("f = Gather<axis = 2>(fx, some)", "indices must be -4 to 3"),
    "a batch several times": ("f = Tile(fx, batches)", "it must keep the batch"),
    "repeats of fewer dimensions": ("f = Tile(fx, both)", "repeats must be 4 positive numbers, one for each dimension"),
    "a shape that does not broadcast": ("f = Expand(fx, more)", "shape must broadcast with [1, 8, 4, 6]"),
    "sizes of other channels": ("f, o = Split<axis = 1>(fx, both)", "split must be 2 positive sizes that make 8"),
    "blocks that do not fit": ("f = SpaceToDepth<blocksize = 4>(fx)", "blocksize must divide the 4 rows and 6 columns"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what, tmp_path):
    body, reason = REFUSED[what]
    head = "g (int8[N, 8, 4, 6] x, int64[1] v) => (int8[N, C, H, W] y)"
    path = write(tmp_path / "m.onnx", f"{head} {{ {DEQUANTIZED} {body} {QUANTIZED} }}", CONSTANTS)
    with pytest.raises(InputError) as error:
        read_network(path)
    assert reason in str(error.value)
