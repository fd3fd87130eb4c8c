"""A vision transformer for images of 32 x 32: patches and a class token, normalized before attention and perceptron."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

__all__ = ["vit"]

SIZE, COLORS, CLASSES = 32, 3, 10


class _Graph:
    """Nodes and constants; each method adds a node, and returns its output's name."""

    def __init__(self, width: int, tokens: int, heads: int, seed: int) -> None:
        self.width, self.tokens, self.heads = width, tokens, heads
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}

    def add(self, kind: str, name: str, *inputs: str, **attributes: object) -> str:
        """A node of one output, of its own name."""
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def constant(self, name: str, value: object, kind: type = np.float32) -> str:
        """A constant."""
        self.constants[name] = np.asarray(value, kind)
        return name

    def product(self, x: str, name: str, k: int, n: int, gain: float = 1.0) -> str:
        """The product with weights, and a bias."""
        weight = self.constant(f"{name}.weight", self.rng.normal(0, gain / np.sqrt(k), (k, n)))
        bias = self.constant(f"{name}.bias", self.rng.normal(0, 0.1, n))
        return self.add("Add", f"{name}.sum", self.add("MatMul", name, x, weight), bias)

    def normalized(self, x: str, name: str) -> str:
        """A LayerNormalization."""
        gain = self.constant(f"{name}.gain", self.rng.normal(1, 0.1, self.width))
        return self.add(
            "LayerNormalization", name, x, gain, self.constant(f"{name}.shift", self.rng.normal(0, 0.1, self.width)),
            axis=-1,
        )  # fmt: skip

    def of_heads(self, x: str, name: str, *axes: int) -> str:
        """The heads of a product before its tokens."""
        shape = self.constant(f"{name}.shape", [1, self.tokens, self.heads, self.width // self.heads], np.int64)
        split = self.add("Reshape", f"{name}.split", self.product(x, name, self.width, self.width, 1.5), shape)
        return self.add("Transpose", f"{name}.heads", split, perm=axes)

    def layer(self, x: str, at: int) -> str:
        """Attention and a perceptron, each added to what came."""
        given = self.normalized(x, f"{at}.first")
        query, value = (self.of_heads(given, f"{at}.{name}", 0, 2, 1, 3) for name in ("query", "value"))
        key = self.of_heads(given, f"{at}.key", 0, 2, 3, 1)
        scale = self.constant(f"{at}.scale", (self.width // self.heads) ** -0.5)
        products = self.add("Mul", f"{at}.scaled", self.add("MatMul", f"{at}.products", query, key), scale)
        mix = self.add("MatMul", f"{at}.mix", self.add("Softmax", f"{at}.shares", products, axis=-1), value)
        shape = self.constant(f"{at}.joined.shape", [1, self.tokens, self.width], np.int64)
        joined = self.add(
            "Reshape", f"{at}.joined", self.add("Transpose", f"{at}.turned", mix, perm=[0, 2, 1, 3]), shape
        )
        x = self.add("Add", f"{at}.attended", x, self.product(joined, f"{at}.merge", self.width, self.width))
        wide = self.product(self.normalized(x, f"{at}.second"), f"{at}.widen", self.width, 2 * self.width)
        narrow = self.product(self.add("Gelu", f"{at}.gelu", wide), f"{at}.narrow", 2 * self.width, self.width)
        return self.add("Add", f"{at}.out", x, narrow)


def vit(patch: int = 8, *, layers: int = 1, width: int = 32, heads: int = 4, seed: int = 0) -> onnx.ModelProto:
    """The float model with random weights: (32 / patch)^2 tokens and the class token."""
    patches = (SIZE // patch) ** 2
    graph = _Graph(width, patches + 1, heads, seed)
    rng, constant, add = graph.rng, graph.constant, graph.add
    weight = constant("embed.weight", rng.normal(0, 1 / patch, (width, COLORS, patch, patch)))
    pixels = add("Conv", "embed", "image", weight, strides=[patch, patch])
    flat = add("Reshape", "flat", pixels, constant("flat.shape", [1, width, patches], np.int64))
    token = constant("class", rng.normal(0, 1, (1, 1, width)))
    whole = add("Concat", "whole", token, add("Transpose", "tokens", flat, perm=[0, 2, 1]), axis=1)
    x = add("Add", "placed", whole, constant("position", rng.normal(0, 0.5, (1, patches + 1, width))))
    for at in range(layers):
        x = graph.layer(x, at)
    chosen = add("Gather", "chosen", graph.normalized(x, "norm"), constant("first", 0, np.int64), axis=1)
    scores = graph.product(chosen, "head", width, CLASSES)
    ends = (("image", [1, COLORS, SIZE, SIZE]), (scores, [1, CLASSES]))
    given, made = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends)
    held = [numpy_helper.from_array(value, name) for name, value in graph.constants.items()]
    whole_graph = helper.make_graph(graph.nodes, "vit", [given], [made], held)
    return helper.make_model(whole_graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
