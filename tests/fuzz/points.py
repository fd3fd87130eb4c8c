"""Points of the whole parameter space: drawn at random with corners on purpose, made smaller, turned into designs.

A point is a plain mapping, which JSON can show and take back.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from systoliq.design import ArrayOptions, DmaEngineDesign, EngineDesign, LayerDesign, LayerOptions
from systoliq.design.array import ArrayDesign
from systoliq.design.choose import REQUANTIZERS
from systoliq.design.design import Design
from systoliq.golden import Float8Format, IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.hw.cells import CELLS
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.config import DATAFLOWS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "engine"))

from configurations import draw as draw_engine
from drawn_models import draw_model, model_design
from drawn_networks import draw_network, network_design

__all__ = ["KINDS", "Point", "design_of", "draw_point", "is_design", "smaller"]

Point = dict[str, Any]
KINDS = ("layer", "array", "engine", "network", "model")

_FLOAT8 = ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")
_MOST_PRODUCTS = 48
_MOST_CELL_PRODUCTS = 12  # Icarus takes its time with the models of cells
_MOST_ENGINE_PRODUCTS = 16
_BITS = (2, 3, 4, 5, 7, 8, 8, 8, 8, 9, 12, 15, 16)
# what each number may shrink to, and what else is simplest
_LEAST = {"k": 1, "n": 1, "rows": 1, "cols": 1, "depth": 1, "lanes": 1}
_SIMPLEST = {
    "cells": "portable",
    "requantizer": "near-tie",
    "multiplier_bits": None,
    "accumulator_bits": None,
    "bias": False,
    "by_column": False,
    "wrap": False,
    "scale": "usual",
    "dataflow": DATAFLOWS[0],
    "bus": 0,
    "a": "int8",
    "b": "int8",
    "y": "int8",
    "end": "",
    "signed": True,
    "inputs": 1,
    "outputs": 1,
    "options": "s8s8 by tensor",
    "verified": False,
}


def draw_point(rng: np.random.Generator, kind: str | None = None) -> Point:
    """A point of this kind, or of any; it may be one that systoliq refuses."""
    kind = kind or str(rng.choice(KINDS, p=(0.4, 0.2, 0.15, 0.15, 0.1)))
    return {"kind": kind, "seed": int(rng.integers(1 << 32)), **_DRAWN[kind](rng)}


def _size(rng: np.random.Generator, most: int) -> int:
    """1 to `most`, small ones as likely as large ones."""
    return int((most + 1) ** rng.random())


def _shape(rng: np.random.Generator) -> Point:
    """Cells, and rows, cols and depth of an array of them that a simulation is quick with."""
    cells = str(rng.choice(CELLS))
    most = _MOST_PRODUCTS if cells == "portable" else _MOST_CELL_PRODUCTS
    while True:
        rows, cols, depth = (_size(rng, 12) for _ in range(3))
        if rows * cols * depth <= most:
            return {"rows": rows, "cols": cols, "depth": depth, "cells": cells}


def _format(rng: np.random.Generator, float8: bool) -> str:
    if float8:
        return str(rng.choice(_FLOAT8))
    return f"{'u' * int(rng.random() < 0.4)}int{rng.choice(_BITS)}"


def _draw_layer(rng: np.random.Generator) -> Point:
    point = _shape(rng)
    float8 = rng.random() < 0.15
    point |= {name: _format(rng, float8) for name in ("a", "b", "y")}
    point |= {"k": _size(rng, 40), "n": _size(rng, 20)}
    point |= {"cols": min(point["cols"], point["n"]), "depth": min(point["depth"], point["k"])}
    sums = not float8 and rng.random() < 0.2
    if sums:
        point["y"] = "run-time" if rng.random() < 0.4 else "sums"
    return point | {
        "requantizer": "near-tie" if sums or float8 else str(rng.choice(REQUANTIZERS)),
        "multiplier_bits": int(rng.integers(4, 31)) if not sums and not float8 and rng.random() < 0.2 else None,
        "accumulator_bits": "auto" if rng.random() < 0.4 and not float8 else None,
        "bias": bool(rng.random() < 0.7) and not float8,
        "by_column": bool(rng.random() < 0.6),
        "wrap": bool(rng.random() < 0.15) and not float8,
        "scale": str(rng.choice(["usual", "usual", "usual", "small", "large", "power of two", "odd"])),
    }


def _draw_array(rng: np.random.Generator) -> Point:
    a, b = _format(rng, False), _format(rng, False)
    least = IntFormat.parse(a).bits + IntFormat.parse(b).bits + (a[0] == b[0] == "u")
    return _shape(rng) | {
        "a": a,
        "b": b,
        "accumulator_bits": min(48, least + int(rng.integers(0, 20))),
        "wrap": bool(rng.random() < 0.3),
        "k": _size(rng, 30),
    }


def _draw_engine(rng: np.random.Generator) -> Point:
    cells = str(rng.choice(CELLS))
    while True:
        config = draw_engine(rng, str(rng.choice(DATAFLOWS)), cells)
        if config.rows * config.cols * config.depth <= _MOST_ENGINE_PRODUCTS:
            break
    names = ("rows", "cols", "depth", "lanes", "a_words", "b_words", "max_columns", "max_rows", "dataflow", "cells")
    return {name: getattr(config, name) for name in names} | {"bus": int(rng.choice([0, 32, 64, 128]))}


_DRAWN = {
    "layer": _draw_layer,
    "array": _draw_array,
    "engine": _draw_engine,
    "network": draw_network,
    "model": draw_model,
}


def smaller(point: Point) -> Iterator[Point]:
    """Points that differ from `point` in one thing, which is smaller or simpler: the boldest steps first."""
    for name, value in point.items():
        if (
            name in _SIMPLEST
            and value != _SIMPLEST[name]
            and not (name == "accumulator_bits" and point["kind"] == "array")
        ):
            yield point | {name: _SIMPLEST[name]}
        if name in _LEAST and value > _LEAST[name]:
            for less in sorted({_LEAST[name], value // 2, value - 1}):
                yield point | {name: less}
        if name == "operators":
            yield from (point | {name: value[:at] + value[at + 1 :]} for at in range(len(value)))
        if name == "cells_by_stage":
            yield from (point | {name: [*value[:at], "", *value[at + 1 :]]} for at, each in enumerate(value) if each)


def design_of(point: Point) -> Design:
    """The design at `point`; a ValueError or TypeError where systoliq, or onnxruntime's quantizer, refuses it."""
    kind = point["kind"]
    if kind == "network":
        return network_design(point)
    if kind == "model":
        return model_design(point)
    size = {name: point[name] for name in ("rows", "cols", "depth", "cells")}
    if kind == "engine":
        names = ("lanes", "a_words", "b_words", "max_columns", "max_rows", "dataflow")
        config = EngineConfig(**size, **{name: point[name] for name in names})
        return DmaEngineDesign(config, bus=point["bus"]) if point["bus"] else EngineDesign(config)
    if kind == "array":
        a, b = IntFormat.parse(point["a"]), IntFormat.parse(point["b"])
        operands = {"a_bits": a.bits, "a_signed": a.signed, "b_bits": b.bits, "b_signed": b.signed}
        bits = point["accumulator_bits"]
        return ArrayDesign(ArrayOptions(**size, **operands, accumulator_bits=bits, wrap=point["wrap"]))
    asked = {name: point[name] for name in ("requantizer", "multiplier_bits", "accumulator_bits", "wrap")}
    return LayerDesign(_layer(point), LayerOptions(**size, **asked))


def is_design(point: Point) -> bool:
    """Whether the point is a design."""
    try:
        design_of(point)
    except (TypeError, ValueError):
        return False
    return True


def _layer(point: Point) -> MatMulLayer:
    """The layer at `point`: weights, bias, zero points and scales from its seed."""
    rng = np.random.default_rng(point["seed"])
    k, n = point["k"], point["n"]
    float8 = point["a"].startswith("e")
    columns = n if point["by_column"] else 1
    if float8:
        a, b, y = (Float8Format.parse(point[name]) for name in ("a", "b", "y"))
        codes = np.arange(256, dtype=np.uint8)
        decoded = b.decode(codes)
        codes = codes[~decoded.nan & (decoded.infinity == 0)]
        scales = (2.0 ** rng.uniform(-4, 4, columns)).astype(np.float32)
        return MatMulLayer(
            b=rng.choice(codes, (k, n)), a_format=a, b_format=b, y_format=y, a_zero_point=0, b_zero_point=0,
            y_zero_point=0, a_scale=np.float32(0.5), b_scale=scales, y_scale=np.float32(1),
        )  # fmt: skip
    a, b = IntFormat.parse(point["a"]), IntFormat.parse(point["b"])
    fields: dict[str, Any] = {
        "b": _within(rng, b, (k, n)),
        "b_zero_point": _within(rng, b, columns) if rng.random() < 0.5 else np.zeros(columns, b.dtype),
        "a_format": a,
        "b_format": b,
    }
    if point["bias"]:
        fields["bias"] = rng.integers(-(1 << 12), 1 << 12, n).astype(np.int32)
    if point["y"] == "run-time":
        return MatMulLayer(**fields)
    fields["a_zero_point"] = int(_within(rng, a, ()))
    if point["y"] == "sums":
        return MatMulLayer(**fields)
    y = IntFormat.parse(point["y"])
    # so that results fill the output's range, or are far below or above it
    spread = np.sqrt(k) * (1 << a.bits) * (1 << b.bits) / 8
    wanted = {"small": -9.0, "large": 6.0}.get(point["scale"], 0.0)
    scale = 2.0 ** (wanted + rng.uniform(-1, 1, columns)) * (1 << y.bits) / spread
    if point["scale"] == "power of two":
        scale = 2.0 ** np.rint(np.log2(scale))
    if point["scale"] == "odd":
        scale = scale * rng.choice([-1.0, 1.0], columns)
    return MatMulLayer(
        **fields,
        a_scale=np.float32(1),
        b_scale=scale.astype(np.float32),
        y_scale=np.float32(1),
        y_zero_point=int(_within(rng, y, ())),
        y_format=y,
    )


def _within(rng: np.random.Generator, form: IntFormat, shape: Any) -> Any:
    """Numbers of this format, its ends more often than others."""
    numbers = rng.integers(form.min, form.max + 1, shape)
    ends = rng.choice([form.min, form.max], shape)
    return np.where(rng.random(shape) < 0.1, ends, numbers).astype(form.dtype)
