"""The largest engine for a part: what is chosen, and that netlists take no more than the choice counts."""

from __future__ import annotations

import pytest

from systoliq.design import open_source
from systoliq.design.engine.largest import engine_cost
from systoliq.errors import InputError
from systoliq.synth.flow import synthesized
from systoliq.synth.targets import open_target
from systoliq.synth.yosys import cell_figures


def opened(part, **fields):
    target = open_target(part)
    return open_source("engine", {"cells": target.cells, "part": target, **fields})


@pytest.mark.parametrize(
    ("part", "fields", "sizes"),
    [
        ("ecp5-85k", {}, (4, 4, 8, 4)),
        ("ecp5-85k", {"bus": 64, "vector": True}, (4, 4, 8, 4)),
        ("ecp5-85k", {"bus": 64, "vector": True, "row_length": 256}, (4, 4, 8, 2)),
        ("ecp5-85k", {"bus": 32}, (4, 8, 4, 4)),  # the depth divides the bytes of the bus
        ("ecp5-45k", {"bus": 64}, (2, 4, 8, 1)),
        ("ecp5-25k", {}, (1, 2, 8, 2)),
        ("ecp5-25k", {"bus": 64, "vector": True}, (2, 2, 4, 1)),  # a deeper one has too few memory blocks
        ("ecp5-85k", {"b_words": 16384}, (8, 8, 2, 4)),  # a deeper one takes 256 memory blocks for B
        ("ice40-up5k", {}, (1, 1, 8, 1)),
    ],
)
def test_the_largest_is_chosen(part, fields, sizes):
    design = opened(part, **fields)
    config = design.config
    assert (config.rows, config.cols, config.depth, config.lanes) == sizes
    (line,) = design.choices
    assert line.startswith(f"engine for {part}: {sizes[0]} x {sizes[1]} x {sizes[2]}, {sizes[3]} lane")


@pytest.mark.parametrize(
    ("part", "fields", "message"),
    [
        ("ice40-up5k", {"bus": 32}, "target must have room for an engine with a bus of 32 bits, not ice40-up5k: its "),
        ("ecp5-25k", {"bus": 128, "vector": True}, "not ecp5-25k: .* the smallest takes 84 memory blocks of 56"),
        (
            "ecp5-25k",
            {"b_words": 65536, "a_words": 65536},
            "for an engine, not ecp5-25k: the smallest takes .* of 56; cho",
        ),
        ("ice40-hx8k", {}, "^target must have room for an engine, not ice40-hx8k: without multipliers, "),
        ("ecp5-85k", {"rows": 16, "cols": 16}, "^rows, cols, depth and lanes must fit the 156 multipliers of ecp5-85k"),
        ("ecp5-25k", {"depth": 2}, "but 4 x 4 x 2 with 4 lanes takes 49; without them, the largest engine that fits"),
    ],
)
def test_what_does_not_fit_is_refused(part, fields, message):
    with pytest.raises(InputError, match=message):
        opened(part, **fields)


def test_sizes_that_are_given_are_kept():
    design = opened("ecp5-85k", rows=8, cols=8)
    assert (design.config.rows, design.config.depth, design.config.lanes) == (8, 1, 4)
    assert not design.choices
    assert not opened("xilinx-xc7").choices  # without figures, the sizes are those without a target
    assert not opened("ecp5-85k", a_format="e4m3fn", b_format="e4m3fn", y_format="e4m3fn").choices


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "fields"),
    [
        ("ecp5-85k", {}),
        ("ecp5-85k", {"bus": 64, "vector": True}),
        ("ecp5-85k", {"rows": 8, "cols": 8, "lanes": 4}),
        ("ice40-up5k", {}),
    ],
)
def test_netlists_take_no_more_than_is_counted(part, fields):
    design, target = opened(part, **fields), open_target(part)
    found = cell_figures(synthesized(design.verilog, design.name, target))
    counted = engine_cost(design.config, fields.get("bus"))
    assert found["dsp"] == counted["dsp"]
    for key in ("lut_sites", "ram"):
        assert 0.6 * counted[key] < found[key] <= counted[key]
