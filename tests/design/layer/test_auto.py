"""`cells="auto"`: the fewest cycles a row within the budget, what it takes as Yosys counts it, clear errors."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from systoliq.api import LayerDesign, LayerOptions, MatMulLayer
from systoliq.design.layer.auto import fitted
from systoliq.errors import InputError
from systoliq.golden import IntFormat
from systoliq.synth.flow import synthesized
from systoliq.synth.targets import open_target
from systoliq.synth.yosys import cell_figures

ECP5, UP5K = open_target("ecp5-85k"), open_target("ice40-up5k")


def layer(k=32, n=12, **changes):
    rng = np.random.default_rng(k * n)
    fields = {
        "name": "small",
        "b": rng.integers(-127, 128, (k, n)).astype(np.int8),
        "b_scale": np.float32(0.01),
        "b_zero_point": np.int8(0),
        "a_scale": np.float32(0.1),
        "a_zero_point": np.uint8(12),
        "y_scale": np.float32(0.7),
        "y_zero_point": np.int8(3),
    }
    return MatMulLayer(**(fields | changes))


def auto(part=ECP5, **asked):
    return LayerOptions(cells="auto", part=part, **asked)


INT4 = layer(b_format=IntFormat.parse("int4"), b=np.ones((32, 12), np.int8))
BUDGETS = [(20, 2000), (0, 2500), (100, 1200), (12, 9000), (156, 40000)]


@pytest.mark.parametrize(("multipliers", "luts"), BUDGETS)
def test_no_array_within_the_budget_is_quicker(multipliers, luts):
    """Against each alternative as a design of its own: cycles by its cycle model."""
    given = layer()
    found = fitted(given, auto(multipliers=multipliers, luts=luts))
    chosen = found.hardware
    assert (found.stage.dsp <= multipliers, found.estimate.lut_sites <= luts) == (True, True)
    design = LayerDesign(given, chosen)
    assert design.dense.schedule.tile_cycles * design.dense.schedule.column_tiles == found.stage.image_cycles
    assert design.config.cells == chosen.cells
    for cols, depth in ((1, 1), (2, 8), (4, 4), (6, 8), (12, 2), (12, 32)):
        try:
            other = fitted(given, auto(multipliers=multipliers, luts=luts, cols=cols, depth=depth))
        except InputError:
            continue
        assert other.stage.image_cycles >= found.stage.image_cycles, (cols, depth)


def test_pairs_if_multipliers_are_few_and_tables_if_there_are_none():
    cells = {each: fitted(layer(), auto(multipliers=each, luts=2500)).hardware.cells for each in (100, 26, 0)}
    assert cells == {100: "ecp5", 26: "ecp5-pair", 0: "ecp5-lut"}


def test_a_design_says_what_was_chosen():
    design = LayerDesign(layer(), auto(multipliers=20, luts=2000))
    assert design.cells == design.config.cells
    assert design.choices[0].startswith(f"cells: {design.cells}, array 1 x {design.config.cols} x ")


@pytest.mark.sampled(99)
@pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="the extra synth is not installed")
@pytest.mark.parametrize(("part", "asked"), [
    (ECP5, {"multipliers": 16, "luts": 800}), (ECP5, {"multipliers": 3, "luts": 800}),
    (ECP5, {"multipliers": 100, "luts": 2500}),
    (ECP5, {"multipliers": 26, "luts": 2500}), (ECP5, {"multipliers": 0, "luts": 2500}), (UP5K, {}),
])  # fmt: skip
def test_what_it_takes(part, asked):
    given = layer(k=8, n=4) if asked.get("luts") == 800 else layer()  # a quarter of the time
    design = LayerDesign(given, auto(part, **asked))
    found = fitted(given, auto(part, **asked))
    figures = cell_figures(synthesized(design.verilog, design.name, part))
    if part is UP5K:  # two products share a cell where depth is more than 1, which plans do not count on
        assert figures["dsp"] <= found.stage.dsp
    else:
        assert figures["dsp"] == found.stage.dsp
    assert abs(figures["lut_sites"] / found.estimate.lut_sites - 1) < 0.3


@pytest.mark.parametrize(
    ("given", "asked", "message"),
    [
        (layer(), {"part": None}, "cells auto needs a target .*, not no target"),
        (layer(), {"part": open_target("xilinx-xcup")}, "cells auto needs a target .*, not xilinx-xcup"),
        (layer(), {"luts": 50}, "nothing fits 156 multiplier cells, 50 LUT sites .* the smallest is cells: "),
        (layer(), {"rows": 2}, "rows must be 1 with cells auto, not 2"),
        (layer(), {"depth": 5}, "no array of any columns and depth 5 is modelled"),
        (
            layer(b_format=IntFormat.parse("int4"), b=np.ones((32, 12), np.int8)),
            {},
            "cells auto is for layers of int8 and uint8",
        ),
    ],
)
def test_what_cannot_be(given, asked, message):
    with pytest.raises(InputError, match=message):
        LayerDesign(given, auto(**asked))
