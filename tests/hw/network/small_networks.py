"""Small networks with random weights, node by node."""

from __future__ import annotations

import random

import numpy as np

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import (
    Addition,
    Blend,
    Chain,
    Concatenation,
    Convolution,
    Dense,
    Gather,
    LayerNormalization,
    LinearResize,
    MatrixProduct,
    MaxPool,
    Move,
    Multiplication,
    Nearest,
    Network,
    RealPair,
    Reshape,
    ResidualSum,
    Softmax,
    Source,
    Table,
    Transpose,
    WholeAverage,
    Window,
    WindowedAverage,
)
from systoliq.golden.network.moves import moved_shape
from systoliq.hw.network.assembly import assemble
from systoliq.hw.network.operators import operator_of

from . import stage_bench as bench


class Builder:
    """A network from the image `x` on: each method adds a node to a tensor, by default the last, and gives its own."""

    def __init__(self, shape, *, seed=0, form=INT8):
        self.rng = random.Random(f"network {seed}")
        self.x = self.last = bench.tensor("x", (1, *shape), self.rng, form)
        self.inputs = [self.x]
        self.nodes = []

    def input(self, shape):
        """Another input, called x1 and on."""
        self.last = bench.tensor(f"x{len(self.inputs)}", (1, *shape), self.rng, self.x.format)
        self.inputs.append(self.last)
        return self.last

    def _tensor(self, shape, form=None, like=None):
        name = f"t{len(self.nodes)}"
        if like is not None:
            return like.replace(name=name, shape=shape)
        return bench.tensor(name, shape, self.rng, form or self.last.format)

    def _add(self, kind, inputs, output, **fields):
        self.nodes.append(
            kind(name=f"{kind.__name__.lower()}{len(self.nodes)}", inputs=inputs, output=output, **fields)
        )
        self.last = output
        return output

    def convolution(self, made, kernel=(1, 1), *, of=None, form=None, groups=1, **window):
        x = of or self.last
        window = Window(kernel=kernel, **window)
        y = self._tensor((1, made, *window.positions(x.shape[2:])), form)
        k = kernel[0] * kernel[1] * (x.shape[1] // groups)
        layer = bench.layer_of(x, y, k, made, self.rng)
        return self._add(Convolution, (x,), y, window=window, groups=groups, layer=layer)

    def residual(self, addend, kernel=(3, 3), *, of=None, groups=1, **window):
        """A convolution of the shape of `addend`, which is added to it."""
        x, window = of or self.last, Window(kernel=kernel, **window)
        y = self._tensor(addend.shape)
        fields = bench.residual_fields(x, addend, y, kernel, groups, self.rng)
        return self._add(ResidualSum, (x, addend), y, window=window, groups=groups, **fields)

    def depthwise(self, kernel=(3, 3), *, of=None, **window):
        channels = (of or self.last).shape[1]
        return self.convolution(channels, kernel, of=of, groups=channels, **window)

    def maximum(self, kernel, *, of=None, **window):
        x, window = of or self.last, Window(kernel=kernel, **window)
        shape = (*x.shape[:2], *window.positions(x.shape[2:]))
        return self._add(MaxPool, (x,), self._tensor(shape, like=x), window=window)

    def windowed_average(self, kernel, **window):
        """With the input's scale, as quantizers write it; padding counts."""
        x, window = self.last, Window(kernel=kernel, **window)
        shape = (*x.shape[:2], *window.positions(x.shape[2:]))
        return self._add(WindowedAverage, (x,), self._tensor(shape, like=x), window=window, counts_padding=True)

    def average(self):
        x = self.last
        return self._add(WholeAverage, (x,), self._tensor((*x.shape[:2], *[1] * (len(x.shape) - 2))))

    def table(self, *, of=None, form=None):
        x = of or self.last
        y = self._tensor(x.shape, form)
        made = np.random.default_rng(self.rng.getrandbits(32))
        entries = made.integers(y.format.min, y.format.max + 1, 256).astype(y.format.dtype)
        return self._add(Table, (x,), y, entries=entries)

    def add(self, a, b):
        return self._add(Addition, (a, b), self._tensor(a.shape, a.format))

    def concat(self, *parts, axis=1):
        """One after the other, by default as channels; the first one's scale stays."""
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        return self._add(Concatenation, parts, self._tensor(tuple(shape), like=parts[0]), axis=axis)

    def multiply(self, a, b):
        return self._add(Multiplication, (a, b), self._tensor(np.broadcast_shapes(a.shape, b.shape), a.format))

    def pair(self, function, a, b):
        shape = np.broadcast_shapes(a.shape, b.shape)
        return self._add(RealPair, (a, b), self._tensor(shape, a.format), function=function)

    def resize(self, down, across, *, of=None):
        image = (of or self.last).shape[2:]
        picked = [np.repeat(range(size), by).tolist() for size, by in zip(image, (down, across), strict=True)]
        return self.nearest(*map(tuple, picked), of=of)

    def nearest(self, rows, columns, *, of=None):
        x = of or self.last
        shape = (*x.shape[:2], len(rows), len(columns))
        return self._add(Move, (x,), self._tensor(shape, like=x), movement=Nearest(rows, columns))

    def interpolated(self, down, across, *, of=None):
        """`down` times as many rows and `across` times as many columns, as half_pixel has them."""
        x = of or self.last
        rows, columns = (_half_pixel(size, by) for size, by in zip(x.shape[2:], (down, across), strict=True))
        shape = (*x.shape[:2], len(rows), len(columns))
        return self._add(LinearResize, (x,), self._tensor(shape, like=x), rows=rows, columns=columns)

    def move(self, movement, *, of=None):
        x = of or self.last
        return self._add(Move, (x,), self._tensor(moved_shape(x.shape, [movement]), like=x), movement=movement)

    def shuffle(self, groups, *, of=None):
        """The channels of each group in turn, as between grouped convolutions."""
        channels, *image = (of or self.last).shape[1:]
        split = Reshape((groups, channels // groups, *image))
        return self.move(Chain((split, Transpose((0, 2, 1, 3, 4)), Reshape((channels, *image)))), of=of)

    def flatten(self, *, of=None):
        x = of or self.last
        count = int(np.prod(x.shape[1:]))
        return self._add(Move, (x,), self._tensor((1, count), like=x), movement=Reshape((count,)))

    def transpose(self, *perm):
        x = self.last
        shape = tuple(x.shape[axis] for axis in perm)
        return self._add(Move, (x,), self._tensor(shape, like=x), movement=Transpose(perm))

    def dense(self, made):
        x = self.last
        y = self._tensor((*x.shape[:-1], made))
        return self._add(Dense, (x,), y, layer=bench.layer_of(x, y, x.shape[-1], made, self.rng))

    def softmax(self, *, of=None):
        x = of or self.last
        y = self._tensor(x.shape, like=x).replace(zero_point=x.format.min, scale=np.float32(1 / 256))
        return self._add(Softmax, (x,), y)

    def normalize(self, *, of=None):
        x = of or self.last
        made = np.random.default_rng(self.rng.getrandbits(32))
        gain, shift = (made.normal(0, size, x.channels).astype(np.float32) for size in (1, 0.5))
        y = self._tensor(x.shape).replace(scale=np.float32(1 / 32))
        return self._add(LayerNormalization, (x,), y, gain=gain, shift=shift, epsilon=np.float32(1e-5))

    def matmul(self, a, b, *, blocks=1):
        """The product of two tensors, by blocks of rows."""
        y = self._tensor((1, a.shape[1], b.shape[2]), a.format)
        y = y.replace(scale=np.float32(a.scale * b.scale * np.sqrt(a.shape[2]) * 40))
        return self._add(MatrixProduct, (a, b), y, blocks=blocks)

    def network(self, *outputs):
        """With the last tensor as its output, or with `outputs`."""
        sources = tuple(Source(name=x.name, shape=x.shape, movements=(), tensor=x) for x in self.inputs)
        return Network(name="small", sources=sources, nodes=tuple(self.nodes), outputs=outputs or (self.last,))


def residual(seed=0, form=INT8):
    """A block with a shortcut, dense after a map of several pixels."""
    net = Builder((2, 5, 4), seed=seed, form=form)
    trunk = net.convolution(4, (3, 3), pads=(1, 1, 1, 1))
    net.convolution(4, (3, 3), pads=(1, 1, 1, 1))
    net.add(net.last, trunk)
    net.maximum((2, 2), strides=(2, 2))
    net.flatten()
    net.dense(3)
    return net.network()


def separable(seed=0, form=UINT8):
    """A convolution with strides, a depthwise one, a table, the average of the whole map, dense."""
    net = Builder((3, 6, 5), seed=seed, form=form)
    net.convolution(4, (3, 2), strides=(2, 1), pads=(0, 1, 1, 0))
    net.depthwise(pads=(1, 1, 1, 1))
    net.table()
    net.average()
    net.flatten()
    net.dense(5)
    return net.network()


def forked(seed=0, form=INT8):
    """A tensor that three stages take, one of them in other codes; both ways change form."""
    net = Builder((2, 4, 4), seed=seed, form=form)
    trunk = net.table()
    deep = net.depthwise(of=trunk, pads=(1, 1, 1, 1))
    side = net.table(of=trunk)
    both = net.add(deep, side)
    net.add(both, trunk)
    net.convolution(2, form=UINT8 if form == INT8 else INT8)
    net.table()
    return net.network()


def joined(seed=0, form=INT8):
    """Branches of other depths, one in groups, multiplied and side by side, the input itself among them."""
    net = Builder((2, 5, 4), seed=seed, form=form)
    trunk = net.convolution(4, (3, 3), pads=(1, 1, 1, 1))
    gate = net.table()
    net.multiply(trunk, gate)
    deep = net.convolution(2, (3, 3), pads=(1, 1, 1, 1), groups=2)
    net.concat(deep, trunk, net.x)
    net.convolution(3)
    return net.network()


def averaged(seed=0, form=INT8):
    """Averages of windows, with pads and strides, of an odd number of pixels each."""
    net = Builder((2, 5, 4), seed=seed, form=form)
    trunk = net.convolution(4, (3, 3), pads=(1, 1, 1, 1))
    net.windowed_average((3, 3), pads=(1, 1, 1, 1))
    net.add(net.last, trunk)
    net.windowed_average((1, 3), strides=(2, 1))
    net.convolution(2)
    return net.network()


def compared(seed=0, form=UINT8):
    """Edges as the difference of a map and its maxima; the lesser and the greater of two maps."""
    net = Builder((2, 4, 4), seed=seed, form=form)
    trunk = net.convolution(4, (3, 3), pads=(1, 1, 1, 1))
    edges = net.pair("difference", net.maximum((3, 3), pads=(1, 1, 1, 1)), trunk)
    lesser = net.pair("minimum", edges, trunk)
    net.pair("maximum", lesser, net.table(of=trunk))
    return net.network()


def tiled(seed=0, form=INT8):
    """Maps below each other, one of them behind two convolutions, and the whole beside a part of itself."""
    net = Builder((2, 5, 4), seed=seed, form=form)
    trunk = net.convolution(4, (3, 3), pads=(1, 1, 1, 1))
    deep = net.convolution(4, (3, 3), pads=(1, 1, 1, 1))
    tall = net.concat(net.convolution(4, (2, 1), of=deep), trunk, net.table(of=trunk), axis=2)
    net.concat(net.move(Gather(3, (0, 2)), of=tall), tall, axis=3)
    net.convolution(2)
    return net.network()


def pooled(seed=0, form=INT8):
    """Averages of windows with ties, which are added in float32, one beside the map itself."""
    net = Builder((2, 5, 4), seed=seed, form=form)
    trunk = net.convolution(4, (3, 3), pads=(1, 1, 1, 1))
    net.windowed_average((2, 2), pads=(1, 0, 0, 1))
    net.add(net.last, trunk)
    net.windowed_average((2, 2), strides=(2, 2))
    net.convolution(2)
    return net.network()


def _half_pixel(size, by):
    places = np.clip((np.arange(by * size) + 0.5) / by - 0.5, 0, size - 1)
    first = places.astype(int)
    second = np.minimum(first + 1, size - 1)
    of_second = np.where(first == second, 0.5, places - first).tolist()
    return Blend(
        first=tuple(first.tolist()),
        second=tuple(second.tolist()),
        of_first=tuple(1 - each for each in of_second),
        of_second=tuple(of_second),
    )


def blended(seed=0, form=INT8):
    """Smaller maps by a pool, and larger ones again by linear interpolation."""
    net = Builder((2, 4, 4), seed=seed, form=form)
    trunk = net.convolution(4, (3, 3), pads=(1, 1, 1, 1))
    net.maximum((2, 2), strides=(2, 2))
    net.concat(trunk, net.interpolated(2, 2))
    net.convolution(2)
    return net.network()


def hourglass(seed=0, form=INT8):
    """Smaller maps by a pool, and larger ones again beside what they were made of."""
    net = Builder((2, 6, 4), seed=seed, form=form)
    trunk = net.convolution(4, (3, 3), pads=(1, 1, 1, 1))
    net.maximum((3, 2), strides=(3, 2))
    net.convolution(2, (3, 3), pads=(1, 1, 1, 1))
    wide = net.resize(3, 2)
    net.concat(trunk, wide)
    net.convolution(3)
    return net.network()


def gated(seed=0, form=INT8):
    """Channels, two of each, weighed by what the whole map says of them: squeeze and excite."""
    net = Builder((2, 4, 5), seed=seed, form=form)
    trunk = net.convolution(4, (3, 3), pads=(1, 1, 1, 1), groups=2)
    net.average()
    net.convolution(2)
    net.convolution(4)
    gate = net.table()
    net.multiply(trunk, gate)
    net.convolution(2)
    return net.network()


def shuffled(seed=0, form=INT8):
    """Channels split, one half convolved, and shuffled with the other; then turned, and cropped."""
    net = Builder((2, 5, 4), seed=seed, form=form)
    trunk = net.convolution(4, (3, 3), pads=(1, 1, 1, 1))
    left = net.move(Gather(1, (0, 1)))
    right = net.move(Gather(1, (2, 3)), of=trunk)
    net.concat(left, net.depthwise(of=right, pads=(1, 1, 1, 1)))
    net.shuffle(2)
    net.move(Chain((Transpose((0, 1, 3, 2)), Gather(3, (3, 2, 1)))))
    net.convolution(3, (2, 2))
    return net.network()


def headed(seed=0, form=INT8):
    """Two heads of other sizes on a trunk, which is an output, too, and is flattened in one head."""
    net = Builder((2, 4, 4), seed=seed, form=form)
    trunk = net.convolution(2, (3, 3), pads=(1, 1, 1, 1))
    large = net.table()
    net.average()
    net.flatten()
    return net.network(net.dense(3), large, trunk)


def crossed(seed=0, form=INT8):
    """Two inputs of other sizes, each weighed by the average of the other: images that wait for the whole other."""
    net = Builder((2, 6, 4), seed=seed, form=form)
    other = net.input((2, 4, 3))
    net.multiply(net.x, net.average())
    left = net.last
    net.last = net.x
    return net.network(left, net.multiply(other, net.average()))


def attention(seed=0, form=INT8):
    """Tokens that weigh one another by a softmax of their products, and are normalized."""
    net = Builder((4, 3), seed=seed, form=form)
    trunk = net.dense(3)
    keys = net.move(Chain((Transpose((0, 2, 1)),)), of=net.table(of=trunk))
    net.matmul(trunk, keys)
    net.matmul(net.softmax(), trunk)
    net.add(net.last, trunk)
    net.normalize()
    net.dense(2)
    return net.network()


NETWORKS = {
    "residual": residual,
    "separable": separable,
    "forked": forked,
    "joined": joined,
    "hourglass": hourglass,
    "gated": gated,
    "shuffled": shuffled,
    "tiled": tiled,
    "averaged": averaged,
    "compared": compared,
    "headed": headed,
    "crossed": crossed,
    "pooled": pooled,
    "attention": attention,
    "blended": blended,
}


def drawn_parallelism(net, seed):
    """A random choice for each stage."""
    rng = random.Random(f"parallelism {seed}")
    stages = [operator_of(node) for node in net.nodes if operator_of(node).is_stage]
    return {stage.node.name: rng.choice(list(stage.choices())) for stage in stages}


def assembled(net, parallelism=None, **more):
    return assemble(net, parallelism or {}, requantize=bench.requantize, **more)


def traffic(assembly, net, images, seed):
    """Words of random images for each input of the pipeline, and those that golden expects of each output."""
    rng = random.Random(f"images {seed}")
    x = {tensor.name: bench.integers(tensor, images, rng) for tensor in net.inputs}
    made = net.golden(x)
    pipeline = assembly.pipeline
    given = {
        port: bench.words_of(tensor, x[tensor.name], each.lanes)
        for port, each, tensor in zip(pipeline.input_ports, pipeline.inputs, net.inputs, strict=True)
    }
    expected = {
        port: bench.words_of(assembly.tensors[each.name], made[each.name], bench.lanes_of(getattr(pipeline, port)))
        for port, each in zip(pipeline.output_ports, pipeline.outputs, strict=True)
    }
    return given, expected
