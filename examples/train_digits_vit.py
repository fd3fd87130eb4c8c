"""The network of the preset digits-vit: a small vision transformer, trained in numpy, quantized by systoliq.

    python examples/train_digits_vit.py [DIR]

DIR (out/examples/digits_vit) gets digits_vit_float.onnx and digits_vit.onnx; those in the package were made so. Needs
`pip install 'systoliq[demo]'`, that is scikit-learn, onnx and onnxruntime. Training takes less than a minute.

An image of 8 x 8 pixels is 16 tokens of 2 x 2 pixels. Each of two layers adds to the tokens what two heads of attention
give for their normalized values, and then what a perceptron gives. The normalized mean of the tokens is classified.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from systoliq.design.digits import split_digits
from systoliq.onnx.judge import onnxruntime_run
from systoliq.quantize.calibration import Samples
from systoliq.quantize.float_model import open_float_model
from systoliq.quantize.quantizer import quantize_model

TOKENS, PIXELS, WIDTH, HEADS, HIDDEN, LAYERS, CLASSES = 16, 4, 16, 2, 32, 2, 10
SIZE = WIDTH // HEADS  # of a head
EPOCHS, BATCH, RATE, DECAY, NOISE, SEED = 60, 32, 4e-3, 5e-2, 0.15, 0
EPSILON = 1e-5


class Tensor:
    """An array with what it was made from: `backward` adds to the gradients of all of these."""

    def __init__(self, value: np.ndarray, made: tuple[tuple[Tensor, Callable[[np.ndarray], np.ndarray]], ...] = ()):
        self.value, self.gradient, self._made = value, np.zeros_like(value), made

    def backward(self, gradient: np.ndarray) -> None:
        """Add `gradient`, of the loss by this array, to the gradients of all arrays that it was made from."""
        order: dict[int, Tensor] = {}

        def visit(tensor: Tensor) -> None:
            if id(tensor) not in order:
                for source, _ in tensor._made:
                    visit(source)
                order[id(tensor)] = tensor

        visit(self)
        self.gradient = gradient
        for tensor in reversed(order.values()):
            for source, pull in tensor._made:
                pulled = pull(tensor.gradient)
                extra = pulled.ndim - source.value.ndim
                source.gradient += pulled.sum(axis=tuple(range(extra))) if extra else pulled

    def __add__(self, other: Tensor) -> Tensor:
        return Tensor(self.value + other.value, ((self, lambda g: g), (other, lambda g: g)))

    def __matmul__(self, other: Tensor) -> Tensor:
        a, b = self.value, other.value
        return Tensor(a @ b, ((self, lambda g: g @ b.swapaxes(-1, -2)), (other, lambda g: a.swapaxes(-1, -2) @ g)))

    def moved(self, *axes: int) -> Tensor:
        """With its axes in another order."""
        return Tensor(self.value.transpose(axes), ((self, lambda g: g.transpose(np.argsort(axes))),))

    def shaped(self, *shape: int) -> Tensor:
        """With another shape."""
        return Tensor(self.value.reshape(shape), ((self, lambda g: g.reshape(self.value.shape)),))

    def mean(self) -> Tensor:
        """The mean of the tokens."""
        count = self.value.shape[1]
        return Tensor(self.value.mean(axis=1), ((self, lambda g: np.repeat(g[:, None] / count, count, axis=1)),))

    def softmax(self) -> Tensor:
        """Along the last axis."""
        y = np.exp(self.value - self.value.max(axis=-1, keepdims=True))
        y /= y.sum(axis=-1, keepdims=True)
        return Tensor(y, ((self, lambda g: y * (g - (g * y).sum(axis=-1, keepdims=True))),))

    def gelu(self) -> Tensor:
        """The Gaussian error linear unit, by its approximation with a tanh."""
        x = self.value
        inner = np.tanh(0.7978845608 * (x + 0.044715 * x**3))
        slope = (1 + inner) / 2 + x / 2 * (1 - inner**2) * 0.7978845608 * (1 + 0.134145 * x**2)
        return Tensor(x * (1 + inner) / 2, ((self, lambda g: g * slope),))

    def normalized(self, gain: Tensor, shift: Tensor) -> Tensor:
        """Layer normalization along the last axis."""
        apart = self.value - self.value.mean(axis=-1, keepdims=True)
        inverse = 1 / np.sqrt((apart**2).mean(axis=-1, keepdims=True) + EPSILON)
        y = apart * inverse

        def pull(g: np.ndarray) -> np.ndarray:
            of_y = g * gain.value
            mean, along = of_y.mean(axis=-1, keepdims=True), (of_y * y).mean(axis=-1, keepdims=True)
            return inverse * (of_y - mean - y * along)

        return Tensor(y * gain.value + shift.value, ((self, pull), (gain, lambda g: g * y), (shift, lambda g: g)))


def parameters(generator: np.random.Generator) -> dict[str, Tensor]:
    """Weights by name; weights of products are [K, N]."""
    sizes = {"embed": (PIXELS, WIDTH), "classes": (WIDTH, CLASSES)}
    made = {
        "position": generator.normal(0, 0.1, (TOKENS, WIDTH)),
        "norm.gain": np.ones(WIDTH),
        "norm.shift": np.zeros(WIDTH),
    }
    for layer in range(LAYERS):
        sizes |= {f"{layer}.{name}": (WIDTH, WIDTH) for name in ("query", "key", "value", "merge")}
        sizes |= {f"{layer}.widen": (WIDTH, HIDDEN), f"{layer}.narrow": (HIDDEN, WIDTH)}
        made |= {f"{layer}.{name}.gain": np.ones(WIDTH) for name in ("first", "second")}
        made |= {f"{layer}.{name}.shift": np.zeros(WIDTH) for name in ("first", "second")}
    for name, (k, n) in sizes.items():
        made[f"{name}.weight"] = generator.normal(0, np.sqrt(1 / k), (k, n))
    made["classes.bias"] = np.zeros(CLASSES)  # other products need none: norms shift what they take
    return {name: Tensor(value) for name, value in made.items()}


def scores(held: dict[str, Tensor], images: np.ndarray) -> Tensor:
    """[M, 10] for images [M, 8, 8] of 0 to 1."""

    def product(x: Tensor, name: str) -> Tensor:
        rows = x.shaped(-1, x.value.shape[-1]) @ held[f"{name}.weight"]
        return rows.shaped(*x.value.shape[:-1], rows.value.shape[-1])

    def normalized(x: Tensor, name: str) -> Tensor:
        return x.normalized(held[f"{name}.gain"], held[f"{name}.shift"])

    def heads(x: Tensor, *axes: int) -> Tensor:
        return x.shaped(-1, TOKENS, HEADS, SIZE).moved(*axes)

    tokens = images.reshape(-1, 4, 2, 4, 2).transpose(0, 1, 3, 2, 4).reshape(-1, TOKENS, PIXELS)
    x = product(Tensor(tokens), "embed") + held["position"]
    for layer in range(LAYERS):
        given = normalized(x, f"{layer}.first")
        query = heads(product(given, f"{layer}.query"), 0, 2, 1, 3)  # scaled by 1 / sqrt(SIZE): the weights learn it
        key = heads(product(given, f"{layer}.key"), 0, 2, 3, 1)
        value = heads(product(given, f"{layer}.value"), 0, 2, 1, 3)
        mixed = ((query @ key).softmax() @ value).moved(0, 2, 1, 3).shaped(-1, TOKENS, WIDTH)
        x = x + product(mixed, f"{layer}.merge")
        x = x + product(product(normalized(x, f"{layer}.second"), f"{layer}.widen").gelu(), f"{layer}.narrow")
    return product(normalized(x, "norm").mean(), "classes") + held["classes.bias"]


def train(images: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Adam with decaying weights and a rate that rises and falls; the loss is the cross entropy. Pixels get noise."""
    generator = np.random.default_rng(SEED)
    held = parameters(generator)
    means, squares = ({name: np.zeros_like(each.value) for name, each in held.items()} for _ in range(2))
    steps = EPOCHS * (len(images) // BATCH)
    for step in range(1, steps + 1):
        if step % (len(images) // BATCH) == 1:
            order = iter(generator.permutation(len(images)))
        chosen = [next(order) for _ in range(BATCH)]
        made = scores(held, images[chosen] + generator.normal(0, NOISE, (BATCH, 8, 8)))
        shares = made.softmax().value
        shares[np.arange(BATCH), labels[chosen]] -= 1
        for each in held.values():
            each.gradient = np.zeros_like(each.value)
        made.backward(shares / BATCH)
        rate = RATE * min(step / 100, (1 + np.cos(np.pi * step / steps)) / 2)
        for name, each in held.items():
            means[name] += 0.1 * (each.gradient - means[name])
            squares[name] += 0.001 * (each.gradient**2 - squares[name])
            size = np.sqrt(squares[name] / (1 - 0.999**step)) + 1e-8
            decay = DECAY * each.value if name.endswith("weight") else 0
            each.value -= rate * (means[name] / (1 - 0.9**step) / size + decay)
    return {name: each.value for name, each in held.items()}


class Graph:
    """Nodes of the model; each method adds one, and returns its output's name."""

    def __init__(self, held: dict[str, np.ndarray]) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants = {name: value.astype(np.float32) for name, value in held.items()}

    def add(self, kind: str, name: str, *inputs: str, **attributes: object) -> str:
        """A node of one output, of its own name."""
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def shaped(self, name: str, x: str, *shape: int) -> str:
        """A Reshape."""
        self.constants[f"{name}.shape"] = np.array(shape, np.int64)
        return self.add("Reshape", name, x, f"{name}.shape")

    def product(self, x: str, name: str) -> str:
        """The product with the weights `name`."""
        return self.add("MatMul", name, x, f"{name}.weight")

    def normalized(self, x: str, name: str) -> str:
        """A LayerNormalization."""
        return self.add("LayerNormalization", name, x, f"{name}.gain", f"{name}.shift", axis=-1, epsilon=EPSILON)

    def heads(self, x: str, name: str, *axes: int) -> str:
        """The heads of `x` before its tokens."""
        return self.add(
            "Transpose", f"{name}.heads", self.shaped(f"{name}.split", x, -1, TOKENS, HEADS, SIZE), perm=axes
        )

    def layer(self, x: str, layer: int) -> str:
        """A layer of the transformer."""
        given = self.normalized(x, f"{layer}.first")
        query = self.heads(self.product(given, f"{layer}.query"), f"{layer}.query", 0, 2, 1, 3)
        key = self.heads(self.product(given, f"{layer}.key"), f"{layer}.key", 0, 2, 3, 1)
        value = self.heads(self.product(given, f"{layer}.value"), f"{layer}.value", 0, 2, 1, 3)
        shares = self.add("Softmax", f"{layer}.shares", self.add("MatMul", f"{layer}.products", query, key), axis=-1)
        mixed = self.add(
            "Transpose", f"{layer}.tokens", self.add("MatMul", f"{layer}.mix", shares, value), perm=[0, 2, 1, 3]
        )
        merged = self.product(self.shaped(f"{layer}.joined", mixed, -1, TOKENS, WIDTH), f"{layer}.merge")
        x = self.add("Add", f"{layer}.attended", x, merged)
        wide = self.product(self.normalized(x, f"{layer}.second"), f"{layer}.widen")
        narrow = self.product(self.add("Gelu", f"{layer}.gelu", wide, approximate="tanh"), f"{layer}.narrow")
        return self.add("Add", f"{layer}.out", x, narrow)


def float_model(held: dict[str, np.ndarray]) -> onnx.ModelProto:
    """The network for images [M, 1, 8, 8] of 0 to 16, as scikit-learn has them."""
    graph = Graph({name: value for name, value in held.items() if not name.startswith("embed")})
    graph.constants["embed.weight"] = np.float32(held["embed.weight"].T.reshape(WIDTH, 1, 2, 2) / 16)
    pixels = graph.add("Conv", "embed", "image", "embed.weight", strides=[2, 2])
    tokens = graph.add("Transpose", "tokens", graph.shaped("flat", pixels, -1, WIDTH, TOKENS), perm=[0, 2, 1])
    x = graph.add("Add", "placed", tokens, "position")
    for layer in range(LAYERS):
        x = graph.layer(x, layer)
    graph.constants["axes"] = np.array([1], np.int64)
    mean = graph.add("ReduceMean", "mean", graph.normalized(x, "norm"), "axes", keepdims=0)
    graph.add("Gemm", "scores", mean, "classes.weight", "classes.bias")
    ends = (("image", ["M", 1, 8, 8]), ("scores", ["M", CLASSES]))
    given, made = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends)
    constants = [numpy_helper.from_array(array, name) for name, array in graph.constants.items()]
    whole = helper.make_graph(graph.nodes, "digits_vit", [given], [made], constants)
    return helper.make_model(whole, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def main() -> None:
    """Train, write both models, and say how well they do."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out/examples/digits_vit")
    folder.mkdir(parents=True, exist_ok=True)
    train_x, test_x, train_labels, test_labels = split_digits()
    held = train(train_x.reshape(-1, 8, 8) / 16, train_labels)
    files = folder / "digits_vit_float.onnx", folder / "digits_vit.onnx"
    onnx.save(float_model(held), files[0])
    images = {"image": train_x.reshape(-1, 1, 8, 8).astype(np.float32)}
    samples = Samples(inputs=images, labels=train_labels, path=Path("the training images"))
    files[1].write_bytes(quantize_model(open_float_model(files[0]), samples, name="digits_vit").content)
    for path in files:
        found = onnxruntime_run(path.read_bytes(), {"image": test_x.reshape(-1, 1, 8, 8).astype(np.float32)})
        right = np.mean(found.argmax(axis=1) == test_labels)
        print(f"{path.name}: {path.stat().st_size} bytes, accuracy {right:.4f} of {len(test_labels)} test images")


if __name__ == "__main__":
    main()
