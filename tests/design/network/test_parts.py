"""Networks and layers where only the part is given: multiplier cells as the RTL has them, and plans that fit."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache

import numpy as np
import pytest

from systoliq.board.boards import BOARDS
from systoliq.cli.board_design import board_design
from systoliq.design import NetworkOptions
from systoliq.design.network import NetworkDesign
from systoliq.errors import InputError
from systoliq.synth import open_target

from ...hw.network import small_networks as small

SIZES = {"SB_MAC16": 1, "MULT18X18D": 1, "MULT9X9": 1, "MULT18X18": 2}  # in multipliers, as parts count them
TARGETS = ["ice40-up5k", "ecp5-25k", "gowin-gw1nr9"]
NOTHING_ASKED = {"weights": None, "name": None, "cells": None, "no_bias": False}


@cache
def three_layers():
    """With zero points of weights for which rows of A are added up, too."""
    net = small.Builder((24, 1, 1), seed=5)
    net.flatten()
    for outputs in (12, 8, 5):
        net.dense(outputs)
    return net.network()


def on(target, **asked):
    part = open_target(target)
    return NetworkDesign(three_layers(), NetworkOptions(**{"cells": part.cells, "part": part, **asked}))


def multipliers_in(verilog):
    """Those of the top, which comes last, with all that stands within."""
    modules = dict(re.findall(r"^module (\S+?)\(.*?\n(.*?)^endmodule", verilog, re.MULTILINE | re.DOTALL))

    @cache
    def counted(name):
        kinds = Counter(re.findall(r"^  \\?([\w.]+) (?:#\(|\\?\S+ \()", modules[name], re.MULTILINE))
        return sum(n * (SIZES.get(kind, 0) or (counted(kind) if kind in modules else 0)) for kind, n in kinds.items())

    return max(map(counted, modules))


@pytest.mark.sampled(99)
@pytest.mark.parametrize("multipliers", [None, 40])
@pytest.mark.parametrize("target", TARGETS)
def test_plans_count_the_multipliers_of_the_rtl(target, multipliers):
    part = open_target(target)
    made = on(target, multipliers=multipliers and min(multipliers, part.capacity["dsp"]))
    assert made.plan.dsp == multipliers_in(made.verilog)
    assert made.plan.dsp <= part.capacity["dsp"]


@pytest.mark.slow
@pytest.mark.simulator
def test_an_up5k_holds_three_layers_with_requantizers_in_logic_and_in_cells():
    made = on("ice40-up5k")
    assert {stage.parallelism.lane_cells for stage in made.plan.stages} == {"", "portable"}
    images = np.random.default_rng(1).integers(-128, 128, (2, 24, 1, 1), dtype=np.int8)
    assert made.simulate({made.network.inputs[0].name: images}, simulator="icarus").passed


def test_requantizers_are_named_where_cells_are_short():
    with pytest.raises(InputError, match=r"at least 33 for 3 stages, 27 of them for requantizers and row sums, not 4"):
        on("gowin-gw1nr9", multipliers=4)


def test_plain_logic_is_checked_against_the_part():
    with pytest.raises(InputError, match=r"about \d+ LUT sites where there are 5280.*; ask for fewer multipliers"):
        on("ice40-up5k", cells="portable", multipliers=60)
    with pytest.raises(InputError, match=r"about \d+ LUT sites where there are 5280; no plan takes less: "):
        on("ice40-up5k", cells="portable")


@pytest.mark.parametrize("target", [*TARGETS, "ice40-hx8k", "ecp5-85k", "generic"])
def test_the_smallest_that_gives_a_thousand_images_a_second(target):
    made = on(target)
    assert made.plan.multipliers == 3


@pytest.mark.sampled(48)
@pytest.mark.parametrize("source", ["resnet8-fc", "digits-cnn"])
@pytest.mark.parametrize("board", BOARDS)
def test_every_board_takes_a_layer_and_a_network_without_options(board, source):
    made = board_design(source, board, NOTHING_ASKED)
    part = BOARDS[board].target
    assert multipliers_in(made.verilog) <= part.capacity.get("dsp", math.inf)  # GateMate multiplies in its fabric
    if source == "digits-cnn":
        assert made.plan.multipliers == 3
    else:
        assert made.config.cols == (4 if board == "icebreaker" else 10)


def test_a_faster_line_wants_a_quicker_network():
    slow, fast = (board_design("digits-cnn", "ulx3s-85f", NOTHING_ASKED | {"baud": baud}) for baud in (115200, 3000000))
    assert fast.plan.image_cycles < slow.plan.image_cycles
