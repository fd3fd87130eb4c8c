"""Skew: lane i of a word comes i cycles late."""

from __future__ import annotations

import random

import pytest

from systoliq.golden import IntFormat
from systoliq.hw.mac import operand_layout
from systoliq.hw.skew import Skew

from .bench import corner, trace


@pytest.mark.parametrize("lanes", [1, 2, 5, 8])
@pytest.mark.parametrize("operand", [IntFormat(8, signed=True), IntFormat(3, signed=False)], ids=str)
def test_lane_i_comes_i_cycles_late(lanes, operand):
    rng = random.Random(lanes)
    words = [[corner(rng, operand.min, operand.max) for _ in range(lanes)] for _ in range(40)]
    shown = trace(Skew(operand_layout(operand, lanes), kind="skew"), [{"word": word} for word in words])
    for cycle, line in enumerate(shown):
        assert list(line["out"]) == [words[cycle - i][i] if cycle >= i else 0 for i in range(lanes)]
