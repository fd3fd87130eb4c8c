"""PLL settings: the open tools' own calculators find nothing faster that is not above the frequency."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from systoliq.board.boards import BOARDS, open_board
from systoliq.board.ecp5 import PLL as ECP5_PLL
from systoliq.board.gatemate import PLL as GATEMATE_PLL
from systoliq.board.ice40 import _FILTERS
from systoliq.board.ice40 import PLL as ICE40_PLL

BESIDE = Path(sys.executable).parent


def said(name, *arguments):
    tool = BESIDE / name
    if not tool.exists() and shutil.which(name) is None:
        pytest.skip(f"{name} is not installed: pip install 'systoliq[board]'")
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("mhz", [16.5, 23.7, 48.0, 31.3])
def test_ice40_is_as_icepll_says(mhz):
    text = said("yowasp-icepll", "-i", 12, "-o", mhz)
    achieved = float(re.search(r"([\d.]+) MHz \(achieved\)", text)[1])
    right = {name: int(re.search(rf"{name}: +(\d+)", text)[1]) for name in ("DIVR", "DIVF", "DIVQ", "FILTER_RANGE")}
    found = ICE40_PLL.at_most(12e6, achieved * 1e6 + 1)
    assert found.mhz == pytest.approx(achieved, abs=1e-3)
    into, back, out = found.dividers
    assert 12 / (into + 1) * (back + 1) / 2**out == pytest.approx(achieved, abs=1e-3)
    detector = 12 / (into + 1)
    if into == right["DIVR"]:
        assert next(value for below, value in _FILTERS if detector < below) == right["FILTER_RANGE"]
    assert ICE40_PLL.at_most(12e6, achieved * 1e6 - 1000).hz < achieved * 1e6 - 1000


@pytest.mark.parametrize(("oscillator", "mhz"), [(25, 107), (48, 133), (25, 200)])
def test_ecp5_is_not_slower_than_ecppll(oscillator, mhz):
    text = said("yowasp-ecppll", "-i", oscillator, "-o", mhz)
    into, back, out = (int(re.search(rf"{name} divisor: (\d+)", text)[1]) for name in ("Refclk", "Feedback", "clkout0"))
    theirs = oscillator / into * back
    found = ECP5_PLL.at_most(oscillator * 1e6, mhz * 1e6)
    assert found.mhz <= mhz
    if theirs <= mhz and oscillator / into >= 10:  # they let the detector run slower than the data sheet does
        assert found.mhz >= theirs - 1e-6
    assert found.mhz == oscillator / found.dividers[0] * found.dividers[1] / found.dividers[2]
    assert 400 <= found.mhz * found.dividers[2] <= 800
    assert 400 <= theirs * out <= 800, "the VCO's range is the one that they keep to"


@pytest.mark.parametrize(("board", "device"), [("tang-nano-9k", "GW1NR-9 C6/I5"), ("tang-nano-20k", "GW2A-18 C8/I7")])
@pytest.mark.parametrize("mhz", [54, 81, 107])
def test_gowin_is_not_slower_than_gowin_pll(board, device, mhz):
    text = said("gowin_pll", "-i", 27, "-o", mhz, "-d", device)
    into, back, out = (
        int(re.search(rf"{name}[^\d-]*(\d+)", text)[1]) for name in ("IDIV_SEL", "FBDIV_SEL", "ODIV_SEL")
    )
    theirs = 27 / (into + 1) * (back + 1)
    found = BOARDS[board].pll.at_most(27e6, mhz * 1e6)
    assert found.mhz <= mhz
    if theirs <= mhz:
        assert found.mhz >= theirs - 1e-6
    assert any(each.dividers == (into, back, out) for each in BOARDS[board].pll.settings(27e6)), "theirs is one of ours"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name, board in BOARDS.items() if any(board.pll.settings(board.hz))])
def test_any_frequency_gets_a_setting_not_above_it(name):
    board, rng = BOARDS[name], random.Random(name)
    every = [each.hz for each in board.pll.settings(board.hz)]
    for hz in [rng.uniform(min(every), max(every)) for _ in range(8)]:
        found = board.pll.at_most(board.hz, hz)
        assert found.hz == max(each for each in every if each <= hz)
    assert board.pll.at_most(board.hz, min(every) * 0.99) is None


def test_gatemate_has_whole_quarters_of_a_megahertz_by_dividers_of_economy_mode():
    """Cologne Chip UG1001: the oscillator is at 1000 to 2000 MHz, a clock is it divided by 4 and an even number."""
    for setting in GATEMATE_PLL.settings(10e6):
        times, divided = setting.dividers
        assert setting.mhz == 10 * times / divided
        assert setting.mhz * 4 == int(setting.mhz * 4)
        assert any(1000 < 4 * setting.mhz * even <= 2000 for even in range(2, 512, 2))
    assert GATEMATE_PLL.at_most(10e6, 49.9e6).mhz <= 49.9
    assert GATEMATE_PLL.at_most(10e6, 50e6).mhz == 50.0


def test_the_oscillator_of_the_nexus_board_is_too_slow_for_the_pll():
    assert open_board("crosslink-nx-evn").pll.at_most(12e6, 200e6) is None
