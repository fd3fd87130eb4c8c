"""KWT-1, the keyword transformer: 98 tokens of 40 MFCC values and a class token, normalized after each addition."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

__all__ = ["kwt"]

TOKENS, VALUES, WIDTH, HIDDEN, CLASSES = 98, 40, 64, 256, 35


def kwt(layers: int = 12, *, tokens: int = TOKENS, seed: int = 0) -> onnx.ModelProto:
    """The float model with random weights; one head, as KWT-1 has."""
    rng = np.random.default_rng(seed)
    nodes, constants = [], {}

    def add(kind, name, *inputs, **attributes):
        nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def constant(name, value):
        constants[name] = np.asarray(value, np.float32)
        return name

    def product(x, name, k, n, gain=1.0):
        weight = constant(f"{name}.weight", rng.normal(0, gain / np.sqrt(k), (k, n)))
        bias = constant(f"{name}.bias", rng.normal(0, 0.1, n))
        return add("Add", f"{name}.sum", add("MatMul", name, x, weight), bias)

    def normalized(x, name):
        gain = constant(f"{name}.gain", rng.normal(1, 0.1, WIDTH))
        return add("LayerNormalization", name, x, gain, constant(f"{name}.shift", rng.normal(0, 0.1, WIDTH)), axis=-1)

    def layer(x, at):
        query = product(x, f"{at}.query", WIDTH, WIDTH, 1 / np.sqrt(np.sqrt(WIDTH)))
        key = add(
            "Transpose",
            f"{at}.turned",
            product(x, f"{at}.key", WIDTH, WIDTH, 1 / np.sqrt(np.sqrt(WIDTH))),
            perm=[0, 2, 1],
        )
        value = product(x, f"{at}.value", WIDTH, WIDTH)
        shares = add("Softmax", f"{at}.shares", add("MatMul", f"{at}.products", query, key), axis=-1)
        merged = product(add("MatMul", f"{at}.mix", shares, value), f"{at}.merge", WIDTH, WIDTH)
        x = normalized(add("Add", f"{at}.attended", x, merged), f"{at}.first")
        wide = add("Gelu", f"{at}.gelu", product(x, f"{at}.widen", WIDTH, HIDDEN))
        narrow = product(wide, f"{at}.narrow", HIDDEN, WIDTH)
        return normalized(add("Add", f"{at}.out", x, narrow), f"{at}.second")

    token = constant("class", rng.normal(0, 1, (1, 1, WIDTH)))
    whole = add("Concat", "tokens", token, product("mfcc", "embed", VALUES, WIDTH), axis=1)
    x = add("Add", "placed", whole, constant("position", rng.normal(0, 0.5, (1, tokens + 1, WIDTH))))
    for at in range(layers):
        x = layer(x, at)
    constants["first"] = np.array(0, np.int64)
    scores = product(add("Gather", "chosen", x, "first", axis=1), "head", WIDTH, CLASSES)
    ends = (("mfcc", [1, tokens, VALUES]), (scores, [1, CLASSES]))
    given, made = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends)
    held = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "kwt", [given], [made], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
