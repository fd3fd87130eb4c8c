"""Operators of networks against onnxruntime: every operand or pair of them, windows of all kinds; QDQ and QLinear."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from systoliq.errors import InputError
from systoliq.golden import UINT8, IntFormat
from systoliq.golden.network import Addition, MaxPool, Move, Tensor, WholeAverage, WindowedAverage
from systoliq.golden.network.functions import sigmoid, tanh
from systoliq.golden.rescale import requantize_float32
from systoliq.onnx import read_network

from .operator_models import KINDS, between, codes, compare, parameters
from .oracle import write

SCALES = 12  # of parameters for each case


PAIRS = {
    operator: {
        "QDQ": between(f"f = {operator}(fa, fb)", "a", "b"),
        "QLinear": f"y = com.microsoft.QLinear{operator}(a, as, az, b, bs, bz, ys, yz)",
    }
    for operator in ("Add", "Mul")
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("operator", "form"), [(o, f) for o in PAIRS for f in PAIRS[o]])
@pytest.mark.parametrize("draws", [SCALES, pytest.param(150, marks=pytest.mark.slow)])
def test_all_pairs(draws, operator, form, kind, tmp_path):
    rng = np.random.default_rng(draws)
    a, b = (x.reshape(1, -1) for x in np.meshgrid(codes(kind), codes(kind)))
    head = f"g ({kind}[1, 65536] a, {kind}[1, 65536] b) => ({kind}[1, 65536] y)"
    for _ in range(draws):
        constants = parameters(rng, kind, "a", "b", "y")
        _, operators = compare(tmp_path, head, PAIRS[operator][form], constants, {"a": a, "b": b})
        assert operators == {f"QLinear{operator}"}


@pytest.mark.parametrize(("kind", "other"), [*itertools.product(KINDS, KINDS)])
@pytest.mark.parametrize("operator", ["Add", "Sub", "Min", "Max"])
def test_all_pairs_in_float(operator, kind, other, tmp_path):
    """Also of two types, behind a Relu or Clip, with an output of another type, and where both are the same tensor."""
    rng = np.random.default_rng(4)
    a, b = (x.reshape(1, -1) for x in np.meshgrid(codes(kind), codes(other)))
    for draw in range(SCALES):
        constants = parameters(rng, kind, "a", "y") | {"low": np.float32(-0.3), "high": np.float32(0.4)}
        constants |= parameters(rng, other, "b")
        made = kind
        if draw % 3 == 0:
            made = "uint8" if kind == "int8" else "int8"
            constants["yz"] = rng.choice(codes(made)).astype(made).reshape(())
        behind = ["f = Identity(r)", "f = Relu(r)", "f = Clip(r, low, high)"][draw % 3]
        second = "fa" if draw % 5 == 4 else "fb"
        head = f"g ({kind}[1, 65536] a, {other}[1, 65536] b) => ({made}[1, 65536] y)"
        if second == "fa":
            head = head.replace(f", {other}[1, 65536] b", "")
        body = between(f"r = {operator}(fa, {second}) {behind}", *("a" if second == "fa" else "ab"))
        inputs = {"a": a} | ({} if second == "fa" else {"b": b})
        _, operators = compare(tmp_path, head, body, constants, inputs)
        assert operator in operators or operators == {"QLinearAdd"}  # if a Relu has no effect


@pytest.mark.parametrize("constant", ["a", "b"])
def test_a_constant_of_another_type(constant, tmp_path):
    """The computed tensor is brought to the constant's type, on either side of a difference."""
    rng = np.random.default_rng(6)
    x = "b" if constant == "a" else "a"
    for operator in ("Add", "Sub"):
        constants = parameters(rng, "uint8", x, "y") | parameters(rng, "int8", constant)
        constants[constant] = rng.integers(-128, 128, (1, 256)).astype(np.int8)
        head = f"g (uint8[1, 256] {x}) => (uint8[1, 256] y)"
        body = between(f"f = {operator}(fa, fb)", "a", "b")
        _, operators = compare(tmp_path, head, body, constants, {x: codes("uint8").reshape(1, -1)})
        assert operator in operators


SHAPES = [((4, 3, 3), (4, 1, 1)), ((4, 3, 3), ()), ((4, 3, 3), (3,)), ((4, 3, 3), (1, 4, 3, 1)), ((12,), (12,)),
          ((4, 3, 3), (4, 3, 3)), ((4, 1, 1), (1, 4, 1, 1)), ((1, 3, 3), (1, 1, 1))]  # fmt: skip


def order_matters(rng) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Parameters of an Add, and the pairs for which the formula gives another result with a and b exchanged."""
    a, b = (x.reshape(1, -1) for x in np.meshgrid(codes("uint8"), codes("uint8")))
    while True:
        given = parameters(rng, "uint8", "a", "b", "y")
        *inputs, output = (
            Tensor(name=x, shape=a.shape, format=UINT8, scale=given[f"{x}s"], zero_point=int(given[f"{x}z"]))
            for x in "aby"
        )
        plain = Addition(name="n", inputs=tuple(inputs), output=output)
        exchanged = Addition(name="n", inputs=tuple(inputs), output=output, exchanged=True)
        places = np.flatnonzero(plain.apply(a, b) != exchanged.apply(a, b))
        if places.size:
            return given, a[0, places], b[0, places]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("constant", ["a", "b"])
@pytest.mark.parametrize(("shape", "other"), SHAPES, ids=str)
def test_which_operand_of_an_add_comes_first(shape, other, constant, tmp_path):
    """On the pairs where it matters: onnxruntime exchanges operands where it repeats elements of the first."""
    rng = np.random.default_rng(4)
    for body in PAIRS["Add"].values():
        for _ in range(8):
            constants, *pairs = order_matters(rng)
            held, given = pairs if constant == "a" else pairs[::-1]
            values = np.resize(given[held == held[0]], (1, *shape))
            constants[constant] = np.full(other, held[0], np.uint8)
            x = "b" if constant == "a" else "a"
            dims = ", ".join(map(str, values.shape))
            head = f"g (uint8[{dims}] {x}) => (uint8[{dims}] y)"
            compare(tmp_path, head, body, constants, {x: values})


FUNCTIONS = {
    "Relu": "f = Relu(fa)",
    "Clip": "f = Clip(fa, low, high)",
    "LeakyRelu": "f = LeakyRelu<alpha = 0.13>(fa)",
    "Sigmoid": "f = Sigmoid(fa)",
    "Tanh": "f = Tanh(fa)",
    "HardSigmoid": "f = HardSigmoid<alpha = 0.3>(fa)",
    "HardSwish": "f = HardSwish(fa)",
    "ThresholdedRelu": "f = ThresholdedRelu<alpha = 0.4>(fa)",
    "PRelu": "f = PRelu(fa, high)",
    "Elu": "f = Elu<alpha = 0.7>(fa)",
    "Gelu by tanh": 'f = Gelu<approximate = "tanh">(fa)',
    "Gelu of com.microsoft": "f = com.microsoft.Gelu(fa)",
    "FastGelu": "f = com.microsoft.FastGelu(fa)",
    "QuickGelu": "f = com.microsoft.QuickGelu<alpha = 1.3>(fa)",
    "Pow 2": "f = Pow(fa, two)",
    "Pow 3": "f = Pow(fa, three)",
    "Pow 1.3": "f = Pow(fa, high)",
    **{name: f"f = {name}(fa)" for name in ("Selu", "Softplus", "Softsign", "Mish", "Gelu", "Erf", "Exp")},
    **{name: f"f = {name}(fa)" for name in ("Abs", "Neg", "Sqrt", "Reciprocal", "Floor", "Ceil", "Round", "Sign")},
    **{f"{name} first": f"f = {name}(high, fa)" for name in ("Add", "Sub", "Mul", "Div")},
    **{f"{name} second": f"f = {name}(fa, high)" for name in ("Add", "Sub", "Mul", "Div")},
    "two": "t = Relu(fa) f = Sigmoid(t)",
    "hard swish": "t = Add(fa, three) u = Clip(t, zero, six) f = Div(u, six)",
    "none": "f = Identity(fa)",
}  # fmt: skip
NUMBERS = {
    "low": np.float32(-1), "high": np.float32(1.3), "zero": np.float32(0), "three": np.float32([3]),
    "six": np.float32(6), "two": np.float32(2),
}  # fmt: skip
FUNCTION_BODIES = {name: between(inside, "a") for name, inside in FUNCTIONS.items()} | {
    "QLinearSigmoid": "y = com.microsoft.QLinearSigmoid(a, as, az, ys, yz)",
    "QLinearLeakyRelu": "y = com.microsoft.QLinearLeakyRelu<alpha = 0.2>(a, as, az, ys, yz)",
}


def compare_function(name, kind, rng, tmp_path, *, draws):
    """All integers, at scales of several `draws`."""
    head = f"g ({kind}[1, 256] a) => ({kind}[1, 256] y)"
    for draw in range(draws):
        constants = parameters(rng, kind, "a", "y") | NUMBERS
        if draw % 2 and any(part in name for part in ("Sigmoid", "Tanh", "two")):
            constants["ys"] = np.float32(rng.uniform(1, 1.1) / 256)
        opset = {"opset": 20, "ir": 9} if name.split()[0] in ("Gelu", "Mish") else {}
        compare(tmp_path, head, FUNCTION_BODIES[name], constants, {"a": codes(kind).reshape(1, 256)}, **opset)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTION_BODIES)
def test_functions_of_every_integer(name, kind, tmp_path):
    compare_function(name, kind, np.random.default_rng(6), tmp_path, draws=2 * SCALES)


def test_each_function_once(tmp_path):
    for index, name in enumerate(FUNCTION_BODIES):
        compare_function(name, KINDS[index % len(KINDS)], np.random.default_rng(index), tmp_path, draws=2)


@pytest.mark.parametrize(
    ("inside", "refusal"),
    [
        ("f = Pow(fa, fa)", "Pow 'f': its exponent must be constant"),
        ("f = Clip(fa, yes)", "Clip 'f': min of Clip 'f' must be of integers of .*, not of bool"),
        ("f = Dropout(fa, slope, slope)", "Dropout 'f': training_mode must be of bool, not of float32"),
        ('f = Gelu<approximate = "some">(fa)', "Gelu 'f': approximate must be none or tanh, not 'some'"),
    ],
)
def test_functions_with_other_parameters_are_refused(inside, refusal, tmp_path):
    constants = parameters(np.random.default_rng(6), "uint8", "a", "y")
    constants |= {"slope": np.float32(0.1), "yes": np.array(True)}
    text = f"g (uint8[1, 2] a) => (uint8[1, 2] y) {{ {between(inside, 'a')} }}"
    with pytest.raises(InputError, match=refusal):
        read_network(write(tmp_path / "m.onnx", text, constants, opset=20, ir=9))


def scales_that_tell(exact: np.ndarray, kernel: np.ndarray) -> Iterator[np.float32]:
    """Scales of a result for which a last bit decides between two integers: `exact` and `kernel` differ in it."""
    for low, high in np.sort(np.stack([exact, kernel], axis=1)[(exact != kernel) & (exact > 0)], axis=1):
        for step in range(40, 200, 20):
            scale = np.float32(high / np.float32(step + 0.5))
            if np.rint(low / scale) != np.rint(high / scale):
                yield scale


@pytest.mark.parametrize("name", ["Sigmoid", "Tanh"])
def test_the_last_bit_of_a_function(name, tmp_path):
    """Where onnxruntime's polynomials and the true function differ in the last bit, and that decides."""
    rng = np.random.default_rng(6)
    head = "g (uint8[1, 256] a) => (uint8[1, 256] y)"
    told = 0
    for scale in 2.0 ** rng.uniform(-7, -5, 6).astype(np.float32):
        x = (codes("uint8").astype(np.int32) - 20).astype(np.float32) * scale
        true = np.tanh(x.astype(float)) if name == "Tanh" else 1 / (1 + np.exp(-x.astype(float)))
        near = {"Sigmoid": sigmoid, "Tanh": tanh}[name](x)
        for result in list(scales_that_tell(true.astype(np.float32), near))[:8]:
            constants = {"as": scale, "az": np.uint8(20), "ys": result, "yz": np.uint8(0)}
            compare(tmp_path, head, FUNCTION_BODIES[name], constants, {"a": codes("uint8").reshape(1, 256)})
            told += 1
    assert told >= 20


def pools(rng, count: int, kind: str) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Heads, attributes, constants and inputs of random pools."""
    for _ in range(count):
        high, wide = rng.integers(3, 9, 2)
        kernel, strides = rng.integers(1, 4, 2), rng.integers(1, 4, 2)
        pads = [int(rng.integers(0, size)) for size in (*kernel, *kernel)]
        ceil = int(rng.integers(2))
        attributes = f"kernel_shape = {list(map(int, kernel))}, strides = {list(map(int, strides))}, pads = {pads}, "
        attributes += f"ceil_mode = {ceil}"
        x = rng.choice(codes(kind), (1, 3, high, wide))
        head = f"g ({kind}[1, 3, {high}, {wide}] a) => ({kind}[n, c, h, w] y)"
        yield head, attributes, parameters(rng, kind, "a", "y"), {"a": x}


@pytest.mark.parametrize("kind", KINDS)
def test_max_pool(kind, tmp_path):
    for head, attributes, constants, inputs in pools(np.random.default_rng(1), SCALES, kind):
        bodies = (
            between(f"f = MaxPool<{attributes}>(fa)", "a"),
            between(f"f = MaxPool<{attributes}>(fa)", "a").replace("ys, yz", "as, az"),
            f"y = MaxPool<{attributes}>(a)",
        )
        for body in bodies:
            network, _ = compare(tmp_path, head, body, constants, inputs)
            assert isinstance(network.nodes[0], MaxPool)


@pytest.mark.parametrize("kind", KINDS)
def test_global_max_pool(kind, tmp_path):
    rng = np.random.default_rng(4)
    for high, wide in ((1, 1), (2, 3), (7, 7)):
        head = f"g ({kind}[1, 60, {high}, {wide}] a) => ({kind}[1, 60, 1, 1] y)"
        inputs = {"a": rng.choice(codes(kind), (1, 60, high, wide))}
        for own in ("ys, yz", "as, az"):
            body = between("f = GlobalMaxPool(fa)", "a").replace("ys, yz", own)
            network, _ = compare(tmp_path, head, body, parameters(rng, kind, "a", "y"), inputs)
            assert network.nodes[0].window.kernel == (high, wide)


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ("60, 3, 5", "2, 3"),
        ("3, 5, 60", "1, 2"),  # channels last
        ("60, 7", "-1"),
        ("7, 60", "1"),
        ("5, 4, 6", "1"),
        ("5, 4, 6", "2"),
        ("5, 4, 6", "1, 3"),
        ("5, 4, 6", "1, 2, 3"),
    ],
)
def test_reduce_max(shape, axes, keepdims, tmp_path):
    rng = np.random.default_rng(5)
    sizes = [int(each) for each in shape.split(", ")]
    made = np.max(np.zeros((1, *sizes)), axis=tuple(int(each) for each in axes.split(", ")), keepdims=bool(keepdims))
    head = f"g (int8[1, {shape}] a) => (int8[{', '.join(map(str, made.shape))}] y)"
    inputs = {"a": rng.choice(codes("int8"), (1, *sizes))}
    for own in ("ys, yz", "as, az"):
        body = between(f"f = ReduceMax<axes = [{axes}], keepdims = {keepdims}>(fa)", "a").replace("ys, yz", own)
        network, _ = compare(tmp_path, head, body, parameters(rng, "int8", "a", "y"), inputs)
        assert any(isinstance(node, MaxPool) for node in network.nodes)


@pytest.mark.parametrize(
    ("inside", "refusal"),
    [
        ("f = Dropout(fa)", None),
        ("f = Dropout(fa, ratio)", None),
        ("f = Dropout(fa, ratio, no)", None),
        ("f = Dropout(fa, ratio, yes)", "Dropout 'f': training_mode must be false, not true"),
        ("f, mask = Dropout(fa)", "Dropout 'f': it must have one output, not also the mask 'mask'"),
    ],
)
def test_dropout(inside, refusal, tmp_path):
    rng = np.random.default_rng(4)
    constants = parameters(rng, "uint8", "a", "y")
    constants |= {"ratio": np.float32(0.5), "no": np.array(False), "yes": np.array(True)}
    constants = {name: value for name, value in constants.items() if name[1:] in ("s", "z") or name in inside}
    head, inputs = "g (uint8[1, 60] a) => (uint8[1, 60] y)", {"a": rng.choice(codes("uint8"), (1, 60))}
    if refusal is None:
        compare(tmp_path, head, between(inside, "a"), constants, inputs)
    else:
        path = write(tmp_path / "m.onnx", f"{head} {{ {between(inside, 'a')} }}", constants)
        with pytest.raises(InputError, match=refusal):
            read_network(path)


@pytest.mark.parametrize("kind", KINDS)
def test_windowed_average(kind, tmp_path):
    windowed = 0
    for head, attributes, constants, inputs in pools(np.random.default_rng(2), 2 * SCALES, kind):
        padded = "" if "ceil_mode = 1" in attributes else ", count_include_pad = 1"
        for counted, own in itertools.product(("", padded), ("ys, yz", "as, az")):
            body = between(f"f = AveragePool<{attributes}{counted}>(fa)", "a").replace("ys, yz", own)
            network, operators = compare(tmp_path, head, body, constants, inputs)
            assert operators == {"QLinearAveragePool"}
            windowed += isinstance(network.nodes[0], WindowedAverage)
        body = f"y = com.microsoft.QLinearAveragePool<{attributes}>(a, as, az, ys, yz)"
        compare(tmp_path, head, body, constants, inputs)
    assert windowed > SCALES


@pytest.mark.parametrize("kind", KINDS)
def test_whole_average(kind, tmp_path):
    """Sums at random, and those of 16 pixels around the steps of the result."""
    rng = np.random.default_rng(3)
    for _ in range(SCALES):
        high, wide = rng.integers(2, 9, 2)
        inputs = {"a": rng.choice(codes(kind), (1, 60, high, wide))}
        head = f"g ({kind}[1, 60, {high}, {wide}] a) => ({kind}[1, 60, 1, 1] y)"
        for body in (
            between("f = GlobalAveragePool(fa)", "a"),
            between(f"f = AveragePool<kernel_shape = [{high}, {wide}]>(fa)", "a"),
            "y = com.microsoft.QLinearGlobalAveragePool<channels_last = 0>(a, as, az, ys, yz)",
        ):
            network, _ = compare(tmp_path, head, body, parameters(rng, kind, "a", "y"), inputs)
            assert isinstance(network.nodes[0], WholeAverage)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keepdims", [0, 1])
def test_mean_of_rows_and_columns(kind, keepdims, tmp_path):
    """Random images, and every sum that the pixels can have; scales that leave no tie, as they mostly come."""
    rng = np.random.default_rng(7)
    for high, wide in ((2, 2), (1, 3), (7, 7), (8, 8)):
        every = np.broadcast_to(every_sum(kind, high * wide), (1, 255 * high * wide + 1, high * wide, 1))
        channels = np.concatenate([rng.choice(codes(kind), (1, 500, high * wide, 1)), every], axis=1)
        inputs = {"a": np.ascontiguousarray(channels.reshape(1, -1, high, wide))}
        shape = f"1, {inputs['a'].shape[1]}"
        head = f"g ({kind}[{shape}, {high}, {wide}] a) => ({kind}[{shape}{', 1, 1' * keepdims}] y)"
        for axes in ("2, 3", "-1, -2"):
            body = between(f"f = ReduceMean<axes = [{axes}], keepdims = {keepdims}>(fa)", "a")
            given = parameters(rng, kind, "a", "y")
            given |= {name: np.float32(2.0 ** rng.uniform(-7, -4)) for name in ("as", "ys")}
            network, _ = compare(tmp_path, head, body, given, inputs)
            assert isinstance(network.nodes[0], WholeAverage)


@pytest.mark.parametrize("axes", ["1", "2", "3", "1, 3", "1, 2, 3"])
def test_mean_along_other_dimensions(axes, tmp_path):
    rng = np.random.default_rng(7)
    inputs = {"a": rng.choice(codes("int8"), (1, 6, 5, 7))}
    for kept in (0, 1):
        made = np.mean(inputs["a"], axis=tuple(map(int, axes.split(", "))), keepdims=bool(kept))
        head = f"g (int8[1, 6, 5, 7] a) => (int8[{', '.join(map(str, made.shape))}] y)"
        given = parameters(rng, "int8", "a", "y")
        given |= {name: np.float32(2.0 ** rng.uniform(-7, -4)) for name in ("as", "ys")}
        body = between(f"f = ReduceMean<axes = [{axes}], keepdims = {kept}>(fa)", "a")
        compare(tmp_path, head, body, given, inputs)


@pytest.mark.parametrize(
    ("inside", "refusal"),
    [
        (
            "f = ReduceMean<axes = [2, 3]>(fa)",
            r"the scales around ReduceMean .* must leave few means of 4 pixels half-way",
        ),
        ("f = ReduceMean<axes = [0, 2]>(fa)", r"must reduce dimensions other than the first, .*, not .* \[0, 2\]"),
        ("f = ReduceMean(fa)", "must reduce dimensions other than the first, .*, not all dimensions"),
    ],
)
def test_other_means_are_refused(inside, refusal, tmp_path):
    point = np.uint8(3)
    scales = {"as": np.float32(0.1), "az": point, "ys": np.float32(0.1), "yz": point}
    path = write(
        tmp_path / "m.onnx", f"g (uint8[1, 3, 2, 2] a) => (uint8[1, 3, 1, 1] y) {{ {between(inside, 'a')} }}", scales
    )
    with pytest.raises(InputError, match=refusal):
        read_network(path)


def every_sum(kind: str, pixels: int) -> np.ndarray:
    """Images [1, sums, pixels, 1], one for each sum that so many pixels can have."""
    low = int(codes(kind).min())
    sums = np.arange(255 * pixels + 1)[:, None]
    image = sums // pixels + (np.arange(pixels) < sums % pixels) + low
    return image.astype(kind).reshape(1, -1, pixels, 1)


def order_of_scales_matters(rng, kind: str, pixels: int) -> dict[str, Any]:
    """Parameters for which dividing by the scale of y and by the number of pixels apart gives another result."""
    sums = np.arange(-255 * pixels, 255 * pixels + 1)
    while True:
        given = parameters(rng, kind, "a", "y")
        count = np.float32(pixels)
        results = [
            requantize_float32(sums, scale, int(given["yz"]), IntFormat.parse(kind))
            for scale in (given["as"] / (given["ys"] * count), given["as"] / given["ys"] / count)
        ]
        if np.any(results[0] != results[1]):
            return given


@pytest.mark.parametrize("kind", KINDS)
def test_whole_average_of_every_sum(kind, tmp_path):
    rng = np.random.default_rng(3)
    for pixels in (9, 25, 49, 63):
        x = every_sum(kind, pixels)
        head = f"g ({kind}[1, {x.shape[1]}, {pixels}, 1] a) => ({kind}[n, c, h, w] y)"
        body = between("f = GlobalAveragePool(fa)", "a")
        for draw in (parameters(rng, kind, "a", "y"), *(order_of_scales_matters(rng, kind, pixels) for _ in range(3))):
            compare(tmp_path, head, body, draw, {"a": x})


@pytest.mark.parametrize("kind", KINDS)
def test_concat(kind, tmp_path):
    rng = np.random.default_rng(4)
    head = f"g ({kind}[1, 256, 2] a, {kind}[1, 256, 3] b) => ({kind}[1, 256, 5] y)"
    a = np.stack([codes(kind)] * 2, axis=1)[None]
    b = np.stack([codes(kind)] * 3, axis=1)[None]
    for body in (
        between("f = Concat<axis = 2>(fa, fb)", "a", "b"),
        between("f = Concat<axis = -1>(fa, fb)", "a", "b").replace("bs, bz", "as, az").replace("ys, yz", "as, az"),
        "y = com.microsoft.QLinearConcat<axis = 2>(ys, yz, a, as, az, b, bs, bz)",
        "y = Concat<axis = 2>(a, b)",
    ):
        for _ in range(SCALES // 2):
            compare(tmp_path, head, body, parameters(rng, kind, "a", "b", "y"), {"a": a, "b": b})


MODES = list(itertools.product(
    ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"),
    ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
))  # fmt: skip


@pytest.mark.parametrize(("place", "rounding"), MODES)
def test_resize(place, rounding, tmp_path):
    """By scales whose places float32 holds, and to sizes; from odd and even images."""
    rng = np.random.default_rng(5)
    attributes = f'mode = "nearest", coordinate_transformation_mode = "{place}", nearest_mode = "{rounding}"'
    for high, wide in ((5, 8), (6, 7)):
        x = rng.integers(0, 256, (1, 2, high, wide)).astype(np.uint8)
        head = f"g (uint8[1, 2, {high}, {wide}] a) => (uint8[n, c, h, w] y)"
        for scales in ((2, 4), (1, 0.5), (0.25, 2), (8, 1)):
            constants = parameters(rng, "uint8", "a") | {"c": np.array([1, 1, *scales], np.float32)}
            body = between(f"f = Resize<{attributes}>(fa, , c)", "a").replace("ys, yz", "as, az")
            compare(tmp_path, head, body, constants, {"a": x})
        sizes = {"c": np.array([1, 2, 4 * high, wide])}
        network, _ = compare(tmp_path, head, f"y = Resize<{attributes}>(a, , , c)", sizes, {"a": x})
        assert isinstance(network.nodes[0], Move)


MOVES = {
    "Reshape": ("[2, 3, 4]", "f = Reshape(fa, c)", np.array([0, -1, 2])),
    "Flatten": ("[2, 3, 4]", "f = Flatten(fa)", None),
    "Transpose": ("[2, 3, 4]", "f = Transpose<perm = [0, 2, 1]>(fa)", None),
    "Squeeze": ("[2, 3, 1]", "f = Squeeze(fa, c)", np.array([-1])),
    "Squeeze all": ("[2, 1, 3, 1]", "f = Squeeze(fa)", None),
    "Unsqueeze": ("[2, 3]", "f = Unsqueeze(fa, c)", np.array([1, -1])),
    "Identity": ("[2, 3]", "f = Identity(fa)", None),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("shape", "inside", "constant"), MOVES.values(), ids=MOVES)
def test_moves(shape, inside, constant, kind, tmp_path):
    rng = np.random.default_rng(7)
    x = rng.choice(codes(kind), tuple(map(int, shape[1:-1].split(","))))
    head = f"g ({kind}{shape} a) => ({kind}[n] y)"
    constants = parameters(rng, kind, "a", "y") | {"c": constant}
    requantized = between(inside, "a")
    moved = requantized.replace("ys, yz", "as, az")
    for body in (requantized, moved, inside.replace("f =", "y =").replace("fa", "a")):
        compare(tmp_path, head, body, constants, {"a": x})


@pytest.mark.parametrize("kind", KINDS)
def test_real_inputs_next_to_every_step(kind, tmp_path):
    """QuantizeLinear of numbers at, and by one and two last places beside, halves of the scale; and of no numbers."""
    rng = np.random.default_rng(8)
    body = "a = QuantizeLinear(x, as, az) fa = DequantizeLinear(a, as, az) f = Neg(fa) y = QuantizeLinear(f, ys, yz)"
    for _ in range(SCALES):
        constants = parameters(rng, kind, "a", "y")
        ties = ((np.arange(-300, 301) + 0.5) * float(constants["as"])).astype(np.float32)
        beside = [(ties.view(np.int32) + step).view(np.float32) for step in (-2, -1, 0, 1, 2)]
        x = np.concatenate([*beside, np.array([np.nan, np.inf, -np.inf, 3e38, 1e-45, -0.0], np.float32)]).reshape(1, -1)
        head = f"g (float[1, {x.size}] x) => ({kind}[n, c] y)"
        compare(tmp_path, head, body, constants, {"x": x})
