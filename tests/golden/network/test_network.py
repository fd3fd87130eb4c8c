"""Networks and their tensors in themselves: contracts, inputs, streams; operators are tested against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8, IntFormat, MatMulLayer
from systoliq.golden.network import (
    Addition,
    Concatenation,
    Convolution,
    Dense,
    MaxPool,
    Move,
    Multiplication,
    Nearest,
    Network,
    Reshape,
    Source,
    Table,
    Tensor,
    Transpose,
    WholeAverage,
    Window,
    WindowedAverage,
)


def tensor(name, *shape, fmt=UINT8, scale=0.5, zero_point=3, **more) -> Tensor:
    return Tensor(name=name, shape=shape, format=fmt, scale=np.float32(scale), zero_point=zero_point, **more)


def layer(k, n) -> MatMulLayer:
    rng = np.random.default_rng(1)
    b = rng.integers(-128, 128, (k, n)).astype(np.int8)
    return MatMulLayer(
        b=b, b_scale=0.01, b_zero_point=np.int8(2), a_scale=0.5, a_zero_point=3, a_format=UINT8,
        y_scale=0.7, y_zero_point=np.uint8(9),
    )  # fmt: skip


def test_convolution_is_the_sum_over_its_window():
    """By a loop over every output, with Python's integers."""
    x, y = tensor("x", 1, 4, 5, 6), tensor("y", 1, 6, 3, 2, zero_point=9)
    window = Window(kernel=(3, 2), strides=(2, 3), pads=(1, 0, 1, 1))
    node = Convolution(name="c", inputs=(x,), output=y, window=window, groups=2, layer=layer(12, 6))
    values = np.random.default_rng(2).integers(0, 256, (2, 4, 5, 6)).astype(np.uint8)
    sums = node.sums(values)
    for n, m, row, column in np.ndindex(2, 6, 3, 2):
        total = 0
        for i, j, c in np.ndindex(3, 2, 2):
            r, s = 2 * row + i - 1, 3 * column + j
            inside = 0 <= r < 5 and 0 <= s < 6
            pixel = int(values[n, m // 3 * 2 + c, r, s]) if inside else 3
            total += (pixel - 3) * (int(node.layer.b[(i * 2 + j) * 2 + c, m]) - 2)
        assert sums[n, row, column, m] == total
    halves = [
        node.group(g).accumulate(values[0, 2 * g : 2 * g + 2, 1:4, 0:2].transpose(1, 2, 0).ravel()) for g in (0, 1)
    ]
    np.testing.assert_array_equal(np.concatenate(halves), sums[0, 1, 0])
    assert node.multiply_accumulates == 36 * 12


def test_whole_average_in_integers():
    x, y = tensor("x", 1, 2, 7, 5, scale=0.013), tensor("y", 1, 2, 1, 1, scale=0.004, zero_point=200)
    node = WholeAverage(name="p", inputs=(x,), output=y)
    values = np.random.default_rng(2).integers(0, 256, (5000, 2, 7, 5)).astype(np.uint8) // 3
    np.testing.assert_array_equal(node.requantization.apply(node.sums(values)), node.apply(values))


def test_streams():
    x = tensor("x", 1, 3, 2, 2)
    values = np.arange(12).reshape(1, 3, 2, 2)
    assert (x.pixels, x.channels) == (4, 3)
    np.testing.assert_array_equal(x.raster(values)[0], [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]])
    flat = Move(name="f", inputs=(x,), output=tensor("y", 1, 12), movement=Reshape((12,)))
    streamed = x.raster(values).reshape(-1)
    np.testing.assert_array_equal(streamed[flat.order.reshape(-1)], values.reshape(-1))
    assert [(t.pixels, t.channels) for t in (flat.output, tensor("y", 2, 5, 7), tensor("y", 8))] == [
        (1, 12),
        (5, 7),
        (1, 1),
    ]
    turned = Move(name="t", inputs=(x,), output=tensor("y", 1, 2, 2, 3), movement=Transpose((0, 2, 3, 1)))
    expected = turned.output.raster(turned.apply(values))[0]
    np.testing.assert_array_equal(streamed[turned.order], expected)
    larger = Move(name="n", inputs=(x,), output=tensor("y", 1, 3, 3, 2), movement=Nearest((0, 0, 1), (1, 0)))
    np.testing.assert_array_equal(streamed[larger.order], larger.output.raster(larger.apply(values))[0])


X, Y = tensor("x", 1, 4), tensor("y", 1, 4)
IMAGE = tensor("image", 1, 4, 5, 5)


def _network(**changes) -> Network:
    move = Move(name="m", inputs=(X,), output=Y, movement=Reshape((4,)))
    source = Source(name="real", shape=(1, 2, 2), movements=(Reshape((4,)),), tensor=X)
    return Network(**{"name": "n", "sources": (source,), "nodes": (move,), "outputs": (Y,), **changes})


def test_inputs_of_a_network():
    network = _network()
    real = np.array([[[-0.3, 0.25], [np.nan, 1e9]]], np.float32)
    for given in ({"real": real}, {"x": np.array([[2, 3, 0, 255]], np.uint8)}):
        found = network.golden(given)
        assert list(found) == ["x", "y"]
        np.testing.assert_array_equal(found["y"], [[2, 3, 0, 255]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": (1, 3)}, r"source 'real' must be moved to the shape \[1, 4\], not \[1, 3\]"),
        ({"shape": ()}, r"source 'real' must have a shape of positive integers, .*, not \[\]"),
        ({"shape": (1, 0)}, r"source 'real' must have a shape of positive integers, .*, not \[1, 0\]"),
        ({"shape": (1, None)}, "must have a shape of positive integers"),
        ({"shape": (1, 1 << 40)}, "must have a shape of positive integers, of at most"),
        ({"movements": (Nearest(rows=(0,) * (1 << 16), columns=(0,) * (1 << 16)),), "shape": (1, 1, 1, 1)}, "at most"),
        ({"movements": (Reshape((5,)),)}, "cannot reshape"),
    ],
)
def test_a_source_is_moved_to_its_tensor(changes, message):
    fields = {"name": "real", "shape": (1, 4), "movements": (), "tensor": X}
    with pytest.raises(ValueError, match=message):
        Source(**fields | changes)


def test_several_inputs_have_one_batch():
    sources = tuple(
        Source(name=f"real_{name}", shape=(1, 4), movements=(), tensor=tensor(name, 1, 4)) for name in ("p", "q")
    )
    join = Addition(name="a", inputs=tuple(source.tensor for source in sources), output=Y)
    network = _network(sources=sources, nodes=(join,))
    given = {name: np.zeros((batch, 4), np.uint8) for name, batch in (("p", 2), ("q", 3))}
    with pytest.raises(ValueError, match=r"all inputs must have the same batch, not \[2, 3\]"):
        network.golden(given)
    assert network.golden({**given, "q": given["p"]})["y"].shape == (2, 4)


def test_narrow_inputs_are_within_their_format():
    narrow = tensor("x", 1, 4, fmt=IntFormat(4, signed=False))
    source = Source(name="real", shape=(1, 4), movements=(), tensor=narrow)
    output = tensor("y", 1, 4, fmt=IntFormat(4, signed=False))
    move = Move(name="m", inputs=(narrow,), output=output, movement=Reshape((4,)))
    network = _network(sources=(source,), nodes=(move,), outputs=(output,))
    assert network.golden({"x": np.array([[0, 15, 3, 4]], np.uint8)})["y"].tolist() == [[0, 15, 3, 4]]
    with pytest.raises(ValueError, match=r"x must hold uint4 \(0 to 15\), not 16"):
        network.golden({"x": np.array([[0, 16, 3, 4]], np.uint8)})


def test_streams_go_back():
    for shape in ((1, 3, 2, 5), (1, 6, 7), (1, 9)):
        x = tensor("x", *shape)
        values = np.arange(2 * np.prod(shape)).reshape(2, *shape[1:])
        np.testing.assert_array_equal(x.unraster(x.raster(values)), values)


def test_forks_of_a_network():
    first, second = (tensor(name, 1, 4) for name in ("p", "q"))
    nodes = [Move(name=t.name, inputs=(X,), output=t, movement=Reshape((4,))) for t in (first, second)]
    join = Addition(name="a", inputs=(first, second), output=Y)
    network = _network(nodes=(*nodes, join))
    assert [node.name for node in network.consumers("x")] == ["p", "q"]
    assert network.consumers("q") == (join,)
    assert network.consumers("y") == ()
    np.testing.assert_array_equal(network.golden({"x": np.array([[3, 4, 0, 255]], np.uint8)})["y"], [[3, 5, 0, 255]])


INPUTS = {
    "nothing": ({}, ValueError, "inputs must hold real or x, and has only nothing"),
    "another": ({"x": np.zeros((1, 4), np.uint8), "z": 1}, ValueError, "inputs must be among real, x, not z"),
    "type": ({"x": np.zeros((1, 4), np.int8)}, TypeError, "x must be of uint8, not of int8"),
    "shape": ({"x": np.zeros((1, 5), np.uint8)}, ValueError, r"x must have the shape \['batch', 4\], not \[1, 5\]"),
    "type of the other": ({"x": np.zeros((1, 4), np.uint16)}, TypeError, "x must be of uint8, not of uint16"),
    "real type": ({"real": np.zeros((1, 2, 2), int)}, TypeError, "real must hold real numbers, not int64"),
    "real shape": ({"real": np.zeros((1, 2, 3))}, ValueError, r"real must have the shape \['batch', 2, 2\], not \["),
}


@pytest.mark.parametrize(("inputs", "kind", "text"), INPUTS.values(), ids=INPUTS)
def test_inputs_that_do_not_fit(inputs, kind, text):
    with pytest.raises(kind, match=text):
        _network().golden(inputs)


WRONG = {
    "name": (lambda: tensor("", 1), "the name of a tensor must be a str that is not empty"),
    "size": (lambda: tensor("x", 1, 0), r"tensor 'x' must have dimensions of at least 1, not \[1, 0\]"),
    "format": (lambda: tensor("x", 1, fmt=IntFormat(16, signed=True)), "must be of int8 or uint8, not of int16"),
    "scale": (lambda: tensor("x", 1, scale=0), "tensor 'x' must have a positive, finite scale, not 0.0"),
    "zero point": (lambda: tensor("x", 1, zero_point=-1), "tensor 'x' must have a zero point in uint8, not -1"),
    "value": (lambda: tensor("x", 2, value=np.zeros(3, np.uint8)), r"a value of uint8 \[2\], not uint8 \[3\]"),
    "value's range": (
        lambda: tensor("x", 2, fmt=IntFormat(4, signed=False), value=np.uint8([15, 16])),
        "tensor 'x' must have a value in 0 to 15",
    ),
    "kernel": (lambda: Window(kernel=(0, 1)), r"kernel must be 2 numbers of at least 1, not \[0, 1\]"),
    "strides": (
        lambda: Window(kernel=(1, 1), strides=(1, 0)), r"strides must be 2 numbers of at least 1, not \[1, 0\]"
    ),
    "dilations": (
        lambda: Window(kernel=(1, 1), dilations=(0, 1)), r"dilations must be 2 numbers of at least 1, not \[0, 1\]"
    ),
    "pads": (
        lambda: Window(kernel=(1, 1), pads=(0, 1, -1, 0)), r"pads must be 4 numbers of at least 0, not \[0, 1, -1, 0\]"
    ),
    "auto_pad": (lambda: Window.of((3, 3), kernel=(1, 1), auto_pad="SAME"), "auto_pad must be one of NOTSET, "),
    "window": (lambda: Window(kernel=(3, 3)).positions((2, 5)), r"a window of \[3, 3\] must fit an image of \[2, 5\]"),
    "channels": (
        lambda: Convolution(
            name="c", inputs=(IMAGE,), output=Y, window=Window(kernel=(1, 1)), groups=3, layer=layer(4, 3)
        ),
        "4 input channels must be a multiple of 3 groups",
    ),
    "weights": (
        lambda: Convolution(name="c", inputs=(IMAGE,), output=Y, window=Window(kernel=(2, 1)), layer=layer(4, 3)),
        "the weights must have 2 x 1 x 4 rows for 4 channels in 1 groups, not 4",
    ),
    "no image": (
        lambda: Convolution(name="c", inputs=(X,), output=Y, window=Window(kernel=(2, 1)), layer=layer(4, 3)),
        r"'x' must have the shape \[batch, channels, rows, columns\], not \[1, 4\]",
    ),
    "rank": (
        lambda: Dense(name="d", inputs=(tensor("x", 1, 2, 3, 4),), output=tensor("y", 1, 2, 3, 4), layer=layer(4, 4)),
        r"not \[1, 2, 3, 4\]",
    ),
    "sum's shape": (
        lambda: Addition(name="a", inputs=(X, tensor("b", 3, 4)), output=tensor("y", 1, 4)),
        r"the output of 'a' must have the shape \[3, 4\], not \[1, 4\]",
    ),
    "zero points": (
        lambda: Dense(name="d", inputs=(X,), output=Y, layer=layer(4, 4)),
        "the layer must have the zero points of input and output, 3 and 3, not 3 and 9",
    ),
    "rows": (lambda: Dense(name="d", inputs=(X,), output=Y, layer=layer(5, 4)), r"have the shape \[batch, 5\] or"),
    "columns": (
        lambda: Dense(name="d", inputs=(X,), output=Y, layer=layer(4, 5)),
        r"the output of 'd' must have the shape \[1, 5\], not \[1, 4\]",
    ),
    "formats": (
        lambda: Addition(name="a", inputs=(X, tensor("b", 1, 4, fmt=INT8)), output=Y),
        "inputs and output must be all of int8 or all of uint8, not of uint8, int8, uint8",
    ),
    "ratios": (
        lambda: Addition(name="a", inputs=(X, tensor("b", 1, 4, scale=1e38)), output=tensor("y", 1, 4, scale=1e-38)),
        "the scales of 'x' and 'b' must be finite in units of the output's",
    ),
    "sums beyond int32": (
        lambda: Addition(name="a", inputs=(X, tensor("b", 1, 4, scale=1e8)), output=tensor("y", 1, 4, scale=1)),
        r"the results of 'a' must stay below 2\^31 in units of the output's scale, .*, and may be 2\.5",
    ),
    "products beyond int32": (
        lambda: Multiplication(name="m", inputs=(X, tensor("b", 1, 4, scale=1e6)), output=tensor("y", 1, 4, scale=1)),
        r"the results of 'm' must stay below 2\^31 in units of the output's scale",
    ),
    "counts": (
        lambda: Move(name="m", inputs=(X,), output=tensor("y", 1, 4, scale=2), movement=Reshape((4,))),
        "'x' and 'y' must have the same format, scale and zero point, not uint8, 0.5, 3 and uint8, 2, 3",
    ),
    "batch moves": (lambda: Transpose((1, 0)), r"an order of dimensions with the batch, 0, first, not \[1, 0\]"),
    "pool's scale": (
        lambda: MaxPool(
            name="p", inputs=(IMAGE,), output=tensor("y", 1, 4, 5, 5, scale=0.7), window=Window(kernel=(1, 1))
        ),
        "'image' and 'y' must have the same format, scale and zero point, not uint8, 0.5, 3 and uint8, 0.7, 3",
    ),
    "pool": (
        lambda: MaxPool(name="p", inputs=(IMAGE,), output=Y, window=Window(kernel=(5, 5))),
        r"the output of 'p' must have the shape \[1, 4, 1, 1\], not \[1, 4\]",
    ),
    "average": (
        lambda: WindowedAverage(name="p", inputs=(X,), output=Y, window=Window(kernel=(5, 5))),
        r"'x' must have the shape \[batch, channels, rows, columns\]",
    ),
    "table": (
        lambda: Table(name="t", inputs=(X,), output=Y, entries=np.zeros(256, np.int8)),
        r"entries must be 256 of uint8, not \[256\] of int8",
    ),
    "an axis of other lengths": (
        lambda: Concatenation(
            name="c", inputs=(tensor("x", 1, 2, 3), tensor("b", 1, 3, 3)), output=tensor("y", 1, 2, 6), axis=2
        ),
        r"inputs must have the same shapes but for axis 2, not \[\[1, 2, 3\], \[1, 3, 3\]\]",
    ),
    "formats of a dense layer": (
        lambda: Dense(name="d", inputs=(tensor("x", 1, 4, fmt=INT8),), output=Y, layer=layer(4, 4)),
        "the layer must have the formats of input and output",
    ),
    "formats of a convolution": (
        lambda: Convolution(
            name="c", inputs=(IMAGE,), output=tensor("y", 1, 3, 5, 5, fmt=INT8), window=Window(kernel=(1, 1)),
            layer=layer(4, 3),
        ),
        "the layer must have the formats of input and output",
    ),
    "a product's scale": (
        lambda: Multiplication(
            name="m", inputs=(X, tensor("b", 1, 4, scale=1e38)), output=tensor("y", 1, 4, scale=1e-38)
        ),
        "the product of the scales of 'x' and 'b' must be finite in the output's",
    ),
    "bytes": (
        lambda: Concatenation(name="c", inputs=(tensor("x", 1, 4, fmt=IntFormat(4, signed=False)),), output=Y, axis=1),
        "'x' must be of int8 or uint8 at 'c', not of uint4",
    ),
    "a value out of range": (
        lambda: tensor("x", 2, fmt=IntFormat(4, signed=False), value=np.array([3, 16], np.uint8)),
        "a value in 0 to 15",
    ),
    "axis": (lambda: Concatenation(name="c", inputs=(X, X), output=Y, axis=0), "axis must be 1 to 1, not 0"),
    "order": (
        lambda: _network(nodes=(Move(name="m", inputs=(Y,), output=X, movement=Reshape((4,))),)),
        "'y' must be made before node 'm', and is not",
    ),
    "twice": (
        lambda: _network(nodes=(Move(name="m", inputs=(X,), output=X, movement=Reshape((4,))),)),
        "'x' must be made by one node, not by 'm' again",
    ),
    "no name": (
        lambda: _network(nodes=(Move(name="", inputs=(X,), output=X, movement=Reshape((4,))),)),
        "the name of a node must be a str that is not empty, not ''",
    ),
    "output": (lambda: _network(nodes=()), "output 'y' must be made by a node, and is not"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "text"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_together(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_nodes_and_tensors_are_themselves_alone():
    """Two of the same contents are two: they are keys of plans."""
    x, y = tensor("x", 1, 4), tensor("y", 1, 4)
    nodes = [Move(name="m", inputs=(x,), output=y, movement=Reshape((4,))) for _ in range(2)]
    assert len({*nodes}) == 2
    assert nodes[0] != nodes[1]
    assert tensor("x", 1, 4) != x
    with pytest.raises(AttributeError):
        nodes[0].name = "n"


def test_windows_in_words():
    assert str(Window(kernel=(3, 3))) == "3 x 3"
    assert str(Window(kernel=(3, 2), strides=(2, 2))) == "3 x 2 / 2"
    assert str(Window(kernel=(1, 2), strides=(1, 2), dilations=(3, 1))) == "1 x 2 / 1 x 2, 3 x 1 apart"


def test_a_window_that_is_not_described():
    """Its strides and dilations are 1, and it has no padding."""
    assert Window.of((5, 4), kernel=(3, 2)) == Window(kernel=(3, 2))
    assert Window.of((6, 6), kernel=(3, 3), strides=(2, 2)).pads == (0, 0, 0, 0)  # what is left over is left out
    assert Window(kernel=(3, 2)) == Window(kernel=(3, 2), strides=(1, 1), dilations=(1, 1), pads=(0, 0, 0, 0))


def test_a_window_keeps_numbers_whatever_they_came_in():
    window = Window(kernel=[np.int64(3), 2], strides=[1, 2], pads=[0, 1, 0, 1])
    assert window == Window(kernel=(3, 2), strides=(1, 2), pads=(0, 1, 0, 1))
    assert hash(window) == hash(Window(kernel=(3, 2), strides=(1, 2), pads=(0, 1, 0, 1)))
