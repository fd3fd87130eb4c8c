"""A few designs of `make fuzz` in every test run, and that it finds and shrinks a fault."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import checked
import designs
from drawn_models import OPTIONS, NotQuantizedError, fault_in_golden, float_model
from drawn_networks import OPERATORS
from model_operators import MODEL_OPERATORS
from points import KINDS, draw_point, is_design, smaller

from systoliq.errors import InputError
from systoliq.golden.network import Addition
from systoliq.hw.cells import CELLS
from systoliq.onnx.catalogue import CATALOGUE

pytestmark = pytest.mark.simulator


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("array", 3),
        pytest.param("layer", 6, marks=pytest.mark.slow),
        pytest.param("engine", 4, marks=pytest.mark.slow),
        pytest.param("network", 5, marks=pytest.mark.slow),
        pytest.param("model", 2, marks=pytest.mark.slow),
    ],
)
def test_a_sample(kind: str, seed: int) -> None:
    """The first of the kind that is not refused."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        outcome, why = designs.verdict(point := draw_point(rng, kind), "icarus")
        assert outcome != "wrong", (json.dumps(point), why)
        if outcome == "right":
            return
    pytest.fail("20 points were refused")


@pytest.mark.slow
def test_a_design_whose_lines_come_just_in_time_is_right() -> None:
    """A pool behind an upsampling that takes 84 cycles an image instead of 80; it was once called wrong."""
    operators = ["resize", "resize", "maximum"]
    point = {"kind": "network", "seed": 2231005074, "rows": 2, "cols": 2, "signed": False, "operators": operators}
    point |= {"end": "dense", "cells": "portable", "cells_by_stage": [""] * 12, "inputs": 1, "outputs": 1}
    assert designs.verdict(point, "icarus") == ("right", "")


def test_points_are_of_the_whole_space() -> None:
    """And go through JSON as they are."""
    rng = np.random.default_rng(0)
    points = [draw_point(rng) for _ in range(2000)]
    assert points == json.loads(json.dumps(points))
    assert {point["kind"] for point in points} == set(KINDS)
    for kind in set(KINDS) - {"model"}:
        assert {point["cells"] for point in points if point["kind"] == kind} == set(CELLS)
    networks = [point for point in points if point["kind"] == "network"]
    assert {cells for point in networks for cells in point["cells_by_stage"]} == {"", *CELLS}
    assert {name for point in networks for name in point["operators"]} == set(OPERATORS)
    models = [point for point in points if point["kind"] == "model"]
    assert {name for point in models for name in point["operators"]} == set(MODEL_OPERATORS)
    assert {point["options"] for point in models} == set(OPTIONS)
    layers = [point for point in points if point["kind"] == "layer"]
    assert {point["requantizer"] for point in layers} == {"near-tie", "nearest", "floor", "auto"}
    assert {point["y"] for point in layers} >= {"sums", "run-time", "int2", "uint16", "e5m2"}
    assert {point["a"] for point in layers} >= {"int2", "uint16", "e4m3fn"}


def _model(*operators: str, **more: object) -> dict[str, object]:
    point = {"kind": "model", "seed": 7, "rows": 4, "cols": 3, "operators": [*operators], "end": "dense"}
    point |= {"inputs": 1, "outputs": 1, "options": "all operators", "cells": "portable", "verified": False}
    return point | more


def test_models_have_every_operator_of_the_catalogue_that_networks_read() -> None:
    """In QDQ form; the quantizer writes the others as operators of integers, and optimizers write two. ReduceSum is not
    drawn yet: its tests are in `tests/onnx/network/test_reduced_sums.py`.
    """
    found = set()
    for name in MODEL_OPERATORS:
        for seed in range(8):
            model, _ = float_model(_model(name, seed=seed, rows=2, cols=2))
            found |= {node.op_type for node in model.graph.node}
    read = {row.name for row in CATALOGUE if callable(row.network) and not row.name.startswith("Q")}
    assert read - found <= {"DequantizeLinear", "FastGelu", "QuickGelu", "ReduceSum"}


@pytest.mark.slow  # tests/onnx/network has every operator
def test_golden_of_drawn_models_is_onnxruntime_s() -> None:
    """Every operator and every option once, without RTL."""
    refused = 0
    names, options = list(MODEL_OPERATORS), list(OPTIONS)
    for number, name in enumerate(names):
        point = _model(name, seed=number, options=options[number % len(options)], outputs=1 + number % 2)
        try:
            assert fault_in_golden(point) is None, json.dumps(point)
        except (InputError, NotQuantizedError):
            refused += 1
    assert refused * 4 < len(names)


def test_an_integer_that_differs_from_onnxruntime_s_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Addition.apply
    monkeypatch.setattr(Addition, "apply", lambda *given: real(*given) ^ 1)
    why = fault_in_golden(_model("Add"))
    assert why is not None
    assert "integers of" in why


def test_a_model_that_cannot_be_quantized_is_no_design(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no such operator")

    monkeypatch.setattr("drawn_models.quantize_static", broken)
    why = "NotQuantizedError: onnxruntime cannot quantize: no such operator"
    assert not is_design(_model("Add"))
    assert designs.verdict(_model("Add"), "icarus") == ("refused", why)


@pytest.mark.slow
def test_most_points_are_designs() -> None:
    rng = np.random.default_rng(0)
    outcomes = [is_design(draw_point(rng)) for _ in range(12)]
    assert sum(outcomes) > 3


def test_points_of_float8_are_designs() -> None:
    rng = np.random.default_rng(0)
    points = [draw_point(rng, "layer") for _ in range(200)]
    assert all(is_design(point) for point in points if point["a"] in ("e4m3fn", "e5m2fnuz"))


def test_a_fault_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A fault of all arrays with at least two columns, K of at least 3 and a certain set of cells."""

    def fault_of(point: designs.Point, simulator: str) -> str | None:
        if point["kind"] != "array":
            raise checked.Refused("only arrays here")
        return "as seeded" if point["cols"] >= 2 and point["rows"] >= 3 and point["cells"] == "ecp5" else None

    monkeypatch.setattr(designs, "fault_of", fault_of)
    monkeypatch.setattr(designs, "Refused", checked.Refused)
    rng = np.random.default_rng(1)
    point = next(p for p in iter(lambda: draw_point(rng), None) if designs.verdict(p, "icarus")[0] == "wrong")
    small, why = designs.shrunk(point, "icarus")
    assert why == "as seeded"
    assert (small["rows"], small["cols"], small["depth"], small["a"], small["b"]) == (3, 2, 1, "int8", "int8")


def test_smaller_points_end() -> None:
    rng = np.random.default_rng(2)
    for kind in KINDS:
        point = draw_point(rng, kind)
        for _ in range(100):
            following = next(smaller(point), None)
            if following is None:
                break
            point = following
        assert next(smaller(point), None) is None


@pytest.mark.slow
def test_wrong_verilog_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A design whose Verilog adds where it should subtract fails its testbench."""
    from systoliq.design.design import Design

    real = Design.verilog.func
    point = {
        "kind": "array", "seed": 1, "rows": 2, "cols": 1, "depth": 1, "a": "int4", "b": "int4", "accumulator_bits": 12,
        "cells": "portable", "wrap": False, "k": 3,
    }  # fmt: skip
    assert designs.verdict(point, "icarus") == ("right", "")

    def broken(self: Design) -> str:
        text = real(self)
        found = text.replace(" * ", " + ", 1)
        assert found != text
        return type(text)(found, files=text.files)

    monkeypatch.setattr(Design, "verilog", property(broken))
    outcome, why = designs.verdict(point, "icarus")
    assert outcome == "wrong"
    assert why.startswith("testbench")
