"""Linear Resize against onnxruntime, which interpolates in float32: every way to find places, all kinds of sizes."""

from __future__ import annotations

import itertools

import numpy as np
import onnxruntime
import pytest

from systoliq.errors import InputError
from systoliq.golden.network import LinearResize, Move
from systoliq.onnx import read_network

from .oracle import check, write

PLACES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
SIZES = {  # of an image, and by which scales
    "doubled": ((8, 8), (2, 2)),
    "by powers of two": ((5, 7), (4, 2)),
    "by 8": ((6, 6), (8, 8)),
    "by fractions": ((9, 8), (1.5, 1.25)),
    "halved": ((16, 12), (0.5, 0.5)),
    "a quarter": ((8, 16), (0.25, 0.25)),
    "by 3": ((7, 9), (3, 3)),
    "one line": ((1, 5), (2, 2)),
    "one pixel": ((1, 1), (4, 3)),
    "one size smaller and one larger": ((9, 9), (0.7, 2.3)),
}


def resized(path, rng, image, how, *, mode="linear", kind=np.int8, equal=True, channels=16):
    """A Resize of `image` by the initializer `c` of `how`, its scale or sizes."""
    constants = {
        "xs": np.float32(rng.uniform(0.005, 0.05)), "xz": np.asarray(rng.integers(0, 120)).astype(kind),
        "ys": np.float32(rng.uniform(0.005, 0.05)), "yz": np.asarray(rng.integers(0, 120)).astype(kind), **how["held"],
    }  # fmt: skip
    behind = "xs, xz" if equal else "ys, yz"
    attributes = f'mode = "{mode}", coordinate_transformation_mode = "{how["places"]}"'
    graph = f"""g (float[n, {channels}, {image[0]}, {image[1]}] x) => (float[n, c, h, w] y) {{
        a = QuantizeLinear(x, xs, xz) fa = DequantizeLinear(a, xs, xz)
        f = Resize<{attributes}>(fa, {how["arguments"]})
        b = QuantizeLinear(f, {behind}) y = DequantizeLinear(b, {behind}) }}"""
    return write(path, graph, constants)


def by_scales(places, scales):
    return {"places": places, "arguments": ", c", "held": {"c": np.array([1, 1, *scales], np.float32)}}


def by_sizes(places, sizes, channels=16):
    return {"places": places, "arguments": ", , c", "held": {"c": np.array([1, channels, *sizes])}}


def compared(path, rng):
    """The integers compared with onnxruntime, for a random image."""
    network = read_network(path)
    (x,) = network.inputs
    image = rng.integers(x.format.min, x.format.max + 1, x.shape).astype(x.format.dtype)
    return check(path, network, {"x": x.dequantize(image)})[0], network


@pytest.mark.parametrize("places", PLACES)
def test_sizes_and_places(places, tmp_path):
    rng = np.random.default_rng(PLACES.index(places))
    count = 0
    for (image, scales), equal, kind in itertools.product(SIZES.values(), (True, False), (np.int8, np.uint8)):
        path = resized(tmp_path / "m.onnx", rng, image, by_scales(places, scales), equal=equal, kind=kind)
        found, network = compared(path, rng)
        assert isinstance(network.nodes[-1], LinearResize)
        count += found
    assert count > 100_000


@pytest.mark.parametrize("places", PLACES)
def test_to_sizes(places, tmp_path):
    rng = np.random.default_rng(9)
    for image, sizes in (((6, 5), (9, 7)), ((4, 4), (13, 1)), ((8, 8), (16, 16)), ((3, 7), (1, 1))):
        path = resized(tmp_path / "m.onnx", rng, image, by_sizes(places, sizes))
        assert compared(path, rng)[0] > 16 * np.prod(sizes)


def test_the_same_size_is_a_move(tmp_path):
    rng = np.random.default_rng(1)
    path = resized(tmp_path / "m.onnx", rng, (4, 4), by_scales("half_pixel", (1, 1)))
    assert [type(node) for node in read_network(path).nodes] == [Move]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"places": "half_pixel_symmetric"}, "coordinate_transformation_mode must be half_pixel or pytorch_half_pixel"),
        ({"held": {"c": np.array([1, 2, 2, 2], np.float32)}}, "it must keep batch and channels"),
    ],
)
def test_what_is_refused_is_named(how, message, tmp_path):
    rng = np.random.default_rng(1)
    path = resized(tmp_path / "m.onnx", rng, (4, 4), by_scales("half_pixel", (2, 2)) | how)
    with pytest.raises(InputError, match=message):
        read_network(path)


@pytest.mark.parametrize(("scale", "alike"), [(2, True), (3, False), (1.5, False)])
def test_integers_without_a_dequantizer_depend_on_the_optimization(scale, alike, tmp_path):
    """onnxruntime cuts fractions off. An optimized Resize behind a QLinearConv has channels last, and another kernel,
    which gives the same at powers of two only. So the reader refuses it.
    """
    rng = np.random.default_rng(1)
    graph = """g (float[1, 8, 6, 6] x) => (float[1, 8, h, w] y) {
        a = QuantizeLinear(x, s, z) b = QLinearConv(a, s, z, w, s, z, s, z)
        f = Resize<mode = "linear">(b, , c) y = DequantizeLinear(f, s, z) }"""
    kernels = (np.eye(8)[:, :, None, None] * 100).astype(np.int8)  # with both scales of 0.01 as they are
    constants = {"s": np.float32(0.01), "z": np.int8(0), "w": kernels, "c": np.array([1, 1, scale, scale], np.float32)}
    path = write(tmp_path / "m.onnx", graph, constants)
    x = rng.integers(-128, 128, (1, 8, 6, 6)).astype(np.float32) * np.float32(0.01)
    plain, optimized = (result(path, level, x) for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL"))
    assert np.array_equal(plain, optimized) is alike
    with pytest.raises(InputError, match="mode must be nearest between integers, not linear"):
        read_network(path)


def result(path, level, x):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def test_numbers_of_the_host_are_the_hosts(tmp_path):
    """Before the first QuantizeLinear."""
    graph = """g (float[1, 2, 4, 4] x) => (float[1, 2, 4, 4] y) {
        r = Resize<mode = "linear">(x, , c) a = QuantizeLinear(r, xs, xz) fa = DequantizeLinear(a, xs, xz)
        f = Resize<mode = "linear">(fa, , h) b = QuantizeLinear(f, xs, xz) y = DequantizeLinear(b, xs, xz) }"""
    constants = {"xs": np.float32(0.1), "xz": np.int8(3)}
    constants |= {"c": np.array([1, 1, 2, 2], np.float32), "h": np.array([1, 1, 0.5, 0.5], np.float32)}
    network = read_network(write(tmp_path / "m.onnx", graph, constants))
    assert [type(node) for node in network.nodes] == [LinearResize]
    assert network.inputs[0].shape == (1, 2, 8, 8)
