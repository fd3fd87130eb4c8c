"""Random nodes of networks, and a bench that runs blocks between streams, cycle by cycle."""

from __future__ import annotations

import itertools
import random

import numpy as np
from amaranth.hdl import Signal, Value

from systoliq.golden import INT8, UINT8, MatMulLayer
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
    RealPair,
    Reshape,
    ResidualSum,
    Softmax,
    Table,
    Tensor,
    Transpose,
    WholeAverage,
    Window,
    WindowedAverage,
)
from systoliq.golden.network.moves import moved_shape
from systoliq.golden.requantization import Requantization
from systoliq.hw.network.operators import operator_of
from systoliq.hw.network.stages import stage_of
from systoliq.hw.timeline import Timeline

from ..bench import simulate


def requantize(layer):
    """The whole mantissas, exact for all sums."""
    return Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)


def tensor(name, shape, rng, form=None):
    form = form or rng.choice([INT8, UINT8])
    point = rng.choice([form.min, form.max, rng.randint(form.min, form.max)])
    return Tensor(name=name, shape=shape, format=form, scale=np.float32(rng.uniform(0.01, 0.05)), zero_point=point)


def layer_of(x, y, k, n, rng, *, b_points="any"):
    """Random weights between tensors `x` and `y`; zero points per channel, alike or 0, as `b_points` says."""
    make = np.random.default_rng(rng.getrandbits(32))
    form = rng.choice([INT8, INT8, UINT8])
    points = {"any": make.integers(form.min, form.max + 1, n), "one": np.full(n, form.min + 131), "none": np.zeros(n)}
    return MatMulLayer(
        b=make.integers(form.min, form.max + 1, (k, n)).astype(form.dtype),
        b_zero_point=points[b_points].astype(form.dtype), b_scale=make.uniform(0.002, 0.02, n).astype(np.float32),
        a_scale=x.scale, a_zero_point=np.array(x.zero_point, x.format.dtype),
        y_scale=np.float32(y.scale * np.sqrt(k) * 20), y_zero_point=np.array(y.zero_point, y.format.dtype),
        bias=make.integers(-3000, 3000, n).astype(np.int32),
    )  # fmt: skip


def window_of(rng, image, *, largest=4):
    """A random window that fits `image`: strides and pads beyond the kernel, whole images."""
    while True:
        kernel = [rng.choice([1, size, rng.randint(1, largest)]) for size in image]
        window = Window(
            kernel=[min(each, largest) for each in kernel],
            strides=[rng.choice([1, 1, 2, rng.randint(1, 5)]) for _ in image],
            dilations=[rng.choice([1, 1, rng.randint(1, 3)]) for _ in image],
            pads=[rng.choice([0, 0, 1, rng.randint(0, 4)]) for _ in range(4)],
        )
        extents = [size + window.pads[axis] + window.pads[axis + 2] for axis, size in enumerate(image)]
        if all(span <= extent for span, extent in zip(window.spans, extents, strict=True)):
            return window


CORNERS = {
    "one pixel": ((1, 1), Window(kernel=(1, 1))),
    "one line": ((1, 7), Window(kernel=(1, 3), pads=(0, 1, 0, 1))),
    "one column": ((6, 1), Window(kernel=(3, 1), strides=(2, 1), pads=(1, 0, 0, 0))),
    "the whole image": ((3, 4), Window(kernel=(3, 4))),
    "stride beyond the kernel": ((6, 5), Window(kernel=(1, 2), strides=(5, 3))),
    "pads beyond the kernel": ((2, 3), Window(kernel=(2, 2), pads=(3, 3, 2, 4))),
    "dilated": ((7, 6), Window(kernel=(3, 2), dilations=(2, 4), pads=(1, 0, 0, 1))),
    "pixels that nobody sees": ((6, 6), Window(kernel=(2, 2), strides=(4, 4))),
}


def image_of(rng, *, most=6):
    return tuple(rng.choice([1, rng.randint(1, most), rng.randint(1, most)]) for _ in range(2))


def convolution(rng, *, depthwise=False, image=None, window=None, channels=None, b_points=None):
    image = image or image_of(rng)
    window = window or window_of(rng, image)
    channels = channels or rng.choice([1, 2, 3, 4, 6])
    channels += depthwise and channels == 1
    made = channels if depthwise else rng.choice([1, 2, 3, 4, 5, 6])
    x = tensor("x", (1, channels, *image), rng)
    y = tensor("y", (1, made, *window.positions(image)), rng)
    groups = channels if depthwise else 1
    k = window.kernel[0] * window.kernel[1] * (channels // groups)
    layer = layer_of(x, y, k, made, rng, b_points=b_points or rng.choice(["any", "one", "none"]))
    return Convolution(name="conv", inputs=(x,), output=y, window=window, groups=groups, layer=layer)


def grouped(rng):
    """Of 2 or 3 groups, or of each channel, with several outputs each."""
    groups, each, made = rng.choice([2, 3]), rng.choice([1, 1, 2, 4]), rng.choice([1, 2, 3, 4])
    made += each == made == 1
    image = image_of(rng)
    window = window_of(rng, image)
    x = tensor("x", (1, groups * each, *image), rng)
    y = tensor("y", (1, groups * made, *window.positions(image)), rng)
    k = window.kernel[0] * window.kernel[1] * each
    layer = layer_of(x, y, k, groups * made, rng, b_points=rng.choice(["any", "one", "none"]))
    return Convolution(name="conv", inputs=(x,), output=y, window=window, groups=groups, layer=layer)


def residual_fields(x, addend, y, kernel, groups, rng):
    """Layer, factors and constants of a residual sum, with as many fraction bits as fit, at most 12."""
    made = y.shape[1]
    layer = layer_of(x, y, kernel[0] * kernel[1] * (x.shape[1] // groups), made, rng).replace(bias=None)
    factors = np.array([rng.randint(0, 2000) for _ in range(made)], np.int32)
    constants = np.array([rng.randint(-(10**5), 10**5) for _ in range(made)], np.int32)
    lows, highs = layer.accumulator_range()
    room = 2**31 - 1 - 256 * 2000 - 10**5
    bits = rng.randint(0, min(12, (room // int(max(highs.max(), -lows.min(), 1))).bit_length() - 1))
    return {"layer": layer, "fraction_bits": bits, "factors": factors, "constants": constants}


def residual(rng):
    """A convolution, of one group or two, and a tensor that is added to it."""
    image, groups = image_of(rng), rng.choice([1, 2])
    window = window_of(rng, image)
    x = tensor("x", (1, groups * rng.choice([1, 2, 3]), *image), rng)
    shape = (1, groups * rng.choice([1, 2, 3]), *window.positions(image))
    addend, y = tensor("a", shape, rng), tensor("y", shape, rng)
    fields = residual_fields(x, addend, y, window.kernel, groups, rng)
    return ResidualSum(name="residual", inputs=(x, addend), output=y, window=window, groups=groups, **fields)


def maximum(rng):
    image = image_of(rng)
    window = window_of(rng, image)
    channels = rng.choice([1, 2, 3, 4])
    x = tensor("x", (1, channels, *image), rng)
    y = x.replace(name="y", shape=(1, channels, *window.positions(image)))
    return MaxPool(name="pool", inputs=(x,), output=y, window=window)


def average(rng):
    channels = rng.choice([1, 2, 3, 4])
    x = tensor("x", (1, channels, *image_of(rng)), rng)
    return WholeAverage(name="mean", inputs=(x,), output=tensor("y", (1, channels, 1, 1), rng, x.format))


def windowed_average(rng):
    """At scales of their own where no sum is close to a tie, or at equal ones."""
    return _windowed_average(rng, equal=rng.random() < 0.5, certain=True)


def real_average(rng):
    """At equal scales, of windows that have ties: the sum is one of float32 numbers."""
    return _windowed_average(rng, equal=True, certain=False)


def _windowed_average(rng, *, equal, certain):
    image = image_of(rng)
    while True:
        window = window_of(rng, image)
        shape = (1, rng.choice([1, 2, 3, 4]), *window.positions(image))
        x = tensor("x", (1, shape[1], *image), rng)
        y = x.replace(name="y", shape=shape) if equal else tensor("y", shape, rng, x.format)
        node = WindowedAverage(name="mean", inputs=(x,), output=y, window=window, counts_padding=True)
        if (node.uncertain_sum is None) == certain:
            return node


def interpolation(rng):
    """To any size: each row and column between two, with few different weights."""

    def blend(size):
        made = rng.randint(1, 6)
        places = sorted(rng.choice([0, size - 1, rng.randint(0, 4 * size - 4) / 4]) for _ in range(made))
        first = [int(place) for place in places]
        second = [min(each + 1, size - 1) for each in first]
        of_second = [0.5 if a == b else place - a for place, a, b in zip(places, first, second, strict=True)]
        return Blend(
            first=tuple(first),
            second=tuple(second),
            of_first=tuple(1 - each for each in of_second),
            of_second=tuple(of_second),
        )

    image, channels = image_of(rng), rng.choice([1, 2, 3, 4])
    rows, columns = map(blend, image)
    x = tensor("x", (1, channels, *image), rng)
    shape = (1, channels, len(rows), len(columns))
    y = x.replace(name="y", shape=shape) if rng.random() < 0.6 else tensor("y", shape, rng)
    return LinearResize(name="resize", inputs=(x,), output=y, rows=rows, columns=columns)


def dense(rng):
    rows = rng.choice([(), (rng.randint(1, 4),)])
    k, n = rng.randint(1, 12), rng.randint(1, 6)
    x, y = tensor("x", (1, *rows, k), rng), tensor("y", (1, *rows, n), rng)
    return Dense(name="fc", inputs=(x,), output=y, layer=layer_of(x, y, k, n, rng))


def table(rng):
    channels = rng.choice([1, 2, 6])
    shape = rng.choice([(1, channels, *image_of(rng)), (1, channels), (1, 3, channels)])
    x, y = tensor("x", shape, rng), tensor("y", shape, rng)
    form = y.format
    entries = np.random.default_rng(rng.getrandbits(32)).integers(form.min, form.max + 1, 256).astype(form.dtype)
    return Table(name="table", inputs=(x,), output=y, entries=entries)


def addition(rng):
    channels = rng.choice([1, 2, 6])
    shape = rng.choice([(1, channels, *image_of(rng)), (1, channels)])
    a = tensor("a", shape, rng)
    b, y = tensor("b", shape, rng, a.format), tensor("y", shape, rng, a.format)
    return Addition(name="add", inputs=(a, b), output=y, exchanged=rng.random() < 0.5)


def upsampling(rng):
    image = image_of(rng, most=4)
    times = [rng.choice([1, 2, 3]), rng.choice([2, 3])]
    picked = [tuple(i for i in range(size) for _ in range(by)) for size, by in zip(image, times, strict=True)]
    channels = rng.choice([1, 2, 6])
    x = tensor("x", (1, channels, *image), rng)
    y = x.replace(name="y", shape=(1, channels, *map(len, picked)))
    return Move(name="resize", inputs=(x,), output=y, movement=Nearest(*picked))


def gathering(rng):
    """Elements in other places: channels, rows or columns picked, or all of them in another order."""
    rows, columns = image_of(rng, most=4)
    channels = rng.choice([1, 2, 6])
    axis = rng.randint(1, 3)
    size = (channels, rows, columns)[axis - 1]
    movement = rng.choice([
        Gather(axis, tuple(rng.randrange(size) for _ in range(rng.randint(1, 5)))),
        Gather(axis, tuple(range(size)[rng.randrange(size) :])),
        Chain((Transpose((0, *rng.sample([1, 2, 3], 3))),)),
        Chain((Reshape((columns, channels, rows)), Transpose((0, 2, 1, 3)))),
    ])  # fmt: skip
    return gathering_of((1, channels, rows, columns), movement, rng)


def gathering_of(shape, movement, rng):
    """`movement` of a tensor of `shape`."""
    x = tensor("x", shape, rng)
    return Move(
        name="gather",
        inputs=(x,),
        output=x.replace(name="y", shape=moved_shape(x.shape, [movement])),
        movement=movement,
    )


def multiplication(rng):
    channels = rng.choice([1, 2, 6])
    shape = rng.choice([(1, channels, *image_of(rng)), (1, channels)])
    a = tensor("a", shape, rng)
    b, y = tensor("b", shape, rng, a.format), tensor("y", shape, rng, a.format)
    return Multiplication(name="mul", inputs=(a, b), output=y)


def real_pair(rng):
    """Of one format, with an output of any."""
    channels = rng.choice([1, 2, 6])
    shape = rng.choice([(1, channels, *image_of(rng)), (1, channels)])
    a = tensor("a", shape, rng)
    b, y = tensor("b", shape, rng, a.format), tensor("y", shape, rng)
    function = rng.choice(["difference", "minimum", "maximum"])
    return RealPair(name="pair", inputs=(a, b), output=y, function=function)


def gating(rng):
    """A sum or a product with one pixel for all of the image."""
    channels, image = rng.choice([1, 2, 6]), (rng.randint(1, 5), rng.randint(2, 5))
    of_maps, of_rows = [(1, channels, *image), (1, channels, 1, 1)], [(1, image[1], channels), (1, 1, channels)]
    shapes = rng.choice([of_maps, of_maps, of_rows])
    whole = shapes[0]
    rng.shuffle(shapes)
    a = tensor("a", shapes[0], rng)
    b, y = tensor("b", shapes[1], rng, a.format), tensor("y", whole, rng, a.format)
    return rng.choice([Addition, Multiplication])(name="gate", inputs=(a, b), output=y)


def concatenation(rng):
    """Parts of other channels, rows or columns, and of other codes, some of the output's own."""
    rest = rng.choice([(rng.choice([1, 2, 3]), *image_of(rng)), (rng.randint(1, 3), rng.randint(1, 4)), (1,)])
    axis = rng.choice([1, rng.randint(1, len(rest))])
    unit = rng.choice([1, 2, 3])
    counts = [unit * rng.randint(1, 3) for _ in range(rng.choice([1, 2, 2, 3]))]
    shapes = [(1, *rest[: axis - 1], count, *rest[axis:]) for count in counts]
    y = tensor("y", (1, *rest[: axis - 1], sum(counts), *rest[axis:]), rng)
    like = [rng.random() < 0.4 for _ in counts]
    parts = [
        y.replace(name=f"x{i}", shape=shape) if same else tensor(f"x{i}", shape, rng)
        for i, (shape, same) in enumerate(zip(shapes, like, strict=True))
    ]
    return Concatenation(name="concat", inputs=tuple(parts), output=y, axis=axis)


def softmax(rng):
    """With scales for which shares are near or far, and results few or many."""
    channels = rng.choice([1, 2, 3, 5])
    shape = rng.choice([(1, channels, 2, 2), (1, channels), (1, 3, channels)])
    x, y = tensor("x", shape, rng), tensor("y", shape, rng)
    x = x.replace(scale=np.float32(10 ** rng.uniform(-3, 0.3)))
    y = x.replace(
        name="y",
        zero_point=y.zero_point if y.format == x.format else x.format.min,
        scale=np.float32(rng.choice([1 / 256, 10 ** rng.uniform(-3, 0.2)])),
    )
    return Softmax(name="softmax", inputs=(x,), output=y)


def normalization(rng):
    """With scales for which epsilon counts, and does not."""
    channels = rng.choice([2, 3, 5, 8])
    shape = rng.choice([(1, channels, 1, 2), (1, channels), (1, 2, channels)])
    x, y = tensor("x", shape, rng), tensor("y", shape, rng)
    make = np.random.default_rng(rng.getrandbits(32))
    gain, shift = (make.normal(0, size, channels).astype(np.float32) for size in (1, 0.5))
    x = x.replace(scale=np.float32(10 ** rng.uniform(-3, 0.3)))
    epsilon = np.float32(rng.choice([1e-5, 1e-3]))
    return LayerNormalization(name="norm", inputs=(x,), output=y, gain=gain, shift=shift, epsilon=epsilon)


def product(rng):
    """Of one to three blocks, of any types."""
    blocks, rows, depth, columns = rng.randint(1, 3), rng.randint(1, 4), rng.randint(1, 5), rng.randint(1, 4)
    a, b = tensor("a", (1, blocks * rows, depth), rng), tensor("b", (1, blocks * depth, columns), rng)
    y = tensor("y", (1, blocks * rows, columns), rng)
    y = y.replace(scale=np.float32(a.scale * b.scale * np.sqrt(depth) * 40))
    return MatrixProduct(name="product", inputs=(a, b), output=y, blocks=blocks)


def separable(rng):
    return convolution(rng, depthwise=True)


NODES = (
    convolution,
    grouped,
    separable,
    residual,
    maximum,
    average,
    windowed_average,
    real_average,
    interpolation,
    dense,
    table,
    addition,
    concatenation,
    multiplication,
    real_pair,
    gating,
    upsampling,
    gathering,
    softmax,
    normalization,
    product,
)


def integers(node_tensor, images, rng):
    """Random integers of a tensor: [images, ...]."""
    form = node_tensor.format
    make = np.random.default_rng(rng.getrandbits(32))
    return make.integers(form.min, form.max + 1, (images, *node_tensor.shape[1:])).astype(form.dtype)


def words_of(node_tensor, array, lanes):
    """The beats of `array` as a stream of `lanes` elements has them: data, and above it last with an image's last."""
    beats = node_tensor.raster(array).reshape(len(array), -1, lanes)
    return [
        sum((int(element) & 255) << 8 * lane for lane, element in enumerate(beat))
        | int(index == len(image) - 1) << 8 * lanes
        for image in beats
        for index, beat in enumerate(image)
    ]


def lanes_of(port):
    return port.payload.data.shape().length


def modelled(component, given):
    """The cycles in which the beats of a stage leave, by its cycle model, if nothing stalls."""
    line = Timeline()
    left = component.timed(line, *(line.steps(len(words), start=0) for words in given.values()))
    line.solve()
    return left.cycles.tolist()


class StuckError(Exception):
    """Beats that should have come long ago."""


class Bench:
    """`component` between streams: `run` for as long as beats are missing, then `done`, then nothing may come.

    `taken` has the beats of each output as bits, `times` the cycles in which they came.
    """

    def __init__(self, component, *, seed=0):
        self.component = component
        self.rng = random.Random(seed)
        self.cycle = 0

    def simulate(self, *phases):
        """Each of `phases` a dict for `_phase`; all but the last end in a reset."""
        reset = Signal()

        async def bench(ctx):
            for index, phase in enumerate(phases):
                await self._phase(ctx, **phase)
                if index < len(phases) - 1:
                    ctx.set(reset, 1)
                    await ctx.tick()
                    ctx.set(reset, 0)

        simulate(self.component, bench, reset=reset, limit=200_000)
        return self.taken

    async def _phase(self, ctx, *, given, wanted, comes=1.0, goes=1.0, cycles=None, limit=20_000, turns=()):
        """Offer the words of `given`, by names of ports, until there are `wanted` of each output, or for `cycles`.

        Each of `turns` is a list of ports and counts: only the first port moves, until it has moved so many beats, then
        the next one, and so on from the beginning again.
        """
        turns = [Turns(each) for each in turns]
        component, rng = self.component, self.rng
        waiting = {name: list(reversed(words)) for name, words in given.items()}
        offers = dict.fromkeys(given, False)
        held = dict.fromkeys(wanted)
        self.taken = {name: [] for name in wanted}
        self.times = {name: [] for name in wanted}
        outs = [getattr(component, name) for name in wanted]
        looks = [getattr(component, name).ready for name in given]
        looks += [each for out in outs for each in (out.valid, Value.cast(out.payload))]
        spare = 20  # cycles in which nothing may come any more
        while spare if cycles is None else cycles:
            complete = all(len(self.taken[name]) >= count for name, count in wanted.items())
            spare -= complete
            cycles = None if cycles is None else cycles - 1
            for name, words in waiting.items():
                if words and not offers[name] and rng.random() < comes and all(each.may(name) for each in turns):
                    offers[name] = True
                    ctx.set(Value.cast(getattr(component, name).payload), words[-1])
                ctx.set(getattr(component, name).valid, offers[name])
            readies = [rng.random() < goes and all(each.may(name) for each in turns) for name in wanted]
            for out, ready in zip(outs, readies, strict=True):
                ctx.set(out.ready, ready)
            _, _, *values = await ctx.tick().sample(*looks)
            for name, ready in zip(given, values, strict=False):
                if offers[name] and ready:
                    offers[name] = False
                    waiting[name].pop()
                    moved(name, turns)
            shown = values[len(given) :]
            for index, (name, ready) in enumerate(zip(wanted, readies, strict=True)):
                valid, payload = shown[2 * index : 2 * index + 2]
                assert held[name] is None or (valid, payload) == (1, held[name]), "an offer was withdrawn or changed"
                held[name] = payload if valid and not ready else None
                if valid and ready:
                    self.taken[name].append(payload)
                    moved(name, turns)
                    self.times[name].append(self.cycle)
            self.cycle += 1
            if not limit:
                raise StuckError(f"{ {name: len(each) for name, each in self.taken.items()} } of {wanted} beats came")
            limit -= 1
        for name in given:
            ctx.set(getattr(component, name).valid, 0)


class Turns:
    """Ports that move one after the other, `order` with their beats."""

    def __init__(self, order):
        self.order = itertools.cycle(order)
        self.names = {name for name, _ in order}
        self.name, self.left = next(self.order)

    def may(self, name):
        return name not in self.names or name == self.name

    def moved(self, name):
        if name in self.names:
            self.left -= 1
            if not self.left:
                self.name, self.left = next(self.order)


def moved(name, turns):
    for each in turns:
        each.moved(name)


PACES = [(1.0, 1.0), (0.3, 1.0), (1.0, 0.3), (0.6, 0.7)]


def stage(node, parallelism, *, cells="portable"):
    return stage_of(node, parallelism, cells=cells, lane_cells=cells, kind="stage", requantize=requantize)


def traffic(node, built, images, rng):
    """The beats of random images for a stage of `node`, and those of golden's answer."""
    arrays = [integers(each, images, rng) for each in node.inputs]
    names = ["i"] if len(arrays) == 1 else [f"i_{index}" for index in range(len(arrays))]
    given = {
        name: words_of(each, array, lanes_of(getattr(built, name)))
        for name, each, array in zip(names, node.inputs, arrays, strict=True)
    }
    return given, words_of(node.output, node.apply(*arrays), lanes_of(built.o))


def check_stage(node, parallelism, rng, *, images=3, comes=1.0, goes=1.0):
    """The stage's beats are golden's, for images back to back."""
    built = stage(node, parallelism)
    given, expected = traffic(node, built, images, rng)
    bench = Bench(built, seed=rng.getrandbits(32))
    taken = bench.simulate({"given": given, "wanted": {"o": len(expected)}, "comes": comes, "goes": goes})
    assert taken["o"] == expected
    return bench


def check_reset(node, parallelism, rng, *, images=2):
    """After a reset in the middle of images, others come out right: twice."""
    built = stage(node, parallelism)
    phases = []
    for _ in range(2):
        given, expected = traffic(node, built, images, rng)
        cycles = rng.randint(1, 2 * images * operator_of(node).image_cycles(parallelism) + 20)
        phases.append({"given": given, "wanted": {"o": len(expected)}, "comes": 0.8, "goes": 0.6, "cycles": cycles})
    given, expected = traffic(node, built, images, rng)
    phases.append({"given": given, "wanted": {"o": len(expected)}})
    assert Bench(built, seed=rng.getrandbits(32)).simulate(*phases)["o"] == expected


def random_choice(node, rng):
    return rng.choice(list(operator_of(node).choices()))
