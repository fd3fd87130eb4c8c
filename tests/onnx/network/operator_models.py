"""Models of one operator, and their comparison with onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from systoliq.onnx import read_network

from .oracle import check, write

KINDS = ("uint8", "int8")


def codes(kind: str) -> np.ndarray:
    return np.arange(256).astype(np.uint8).view(np.int8).copy() if kind == "int8" else np.arange(256).astype(np.uint8)


def parameters(rng, kind: str, *names: str) -> dict[str, Any]:
    """A scale and a zero point for each of `names`; in every second draw they make ties common."""
    found = {}
    simple = rng.integers(2) == 0
    common = np.float32(2.0 ** (rng.integers(-7, -3) if simple else rng.uniform(-8, -4)))
    for name in names:
        ratio = np.float32(rng.integers(1, 40) / rng.integers(1, 80)) if simple else 2.0 ** rng.uniform(-2, 2)
        found |= {f"{name}s": np.float32(common * ratio), f"{name}z": rng.choice(codes(kind)).astype(kind).reshape(())}
    return found


def compare(tmp_path: Path, head: str, body: str, constants: dict, inputs: dict, **options) -> tuple[Any, set[str]]:
    """The network of `head { body }`, compared on all of `inputs`, and the operators that ran."""
    path = write(tmp_path / "model.onnx", f"{head} {{ {body} }}", constants, **options)
    network = read_network(path)
    compared, operators = check(path, network, inputs)
    assert compared > 0
    return network, operators


def between(inside: str, *operands: str) -> str:
    """`inside`, from fa, fb, ... to f, between DequantizeLinear and QuantizeLinear."""
    before = [f"f{x} = DequantizeLinear({x}, {x}s, {x}z)" for x in operands]
    return " ".join([*before, inside, "y = QuantizeLinear(f, ys, yz)"])
