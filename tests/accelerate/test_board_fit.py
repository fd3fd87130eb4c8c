"""`systoliq board fit`: which boards a network fits, and how fast it is there, by the plans of `systoliq build`."""

from __future__ import annotations

import re
from math import prod
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.accelerate.board_fit import board_fit, boards_by_size
from systoliq.board.boards import BOARDS
from systoliq.cli.main import cli
from systoliq.design import NetworkDesign, NetworkOptions, open_source

from ..cli.refused import assert_refused
from ..quantize.float_models import CNN, POOL, float_model, images


def call(*words):
    return CliRunner().invoke(cli, ["board", "fit", *map(str, words)])


def rows_of(result):
    """The words of each board's row."""
    rows = [line.split("  ") for line in result.stdout.splitlines()]
    return {row[0]: [word.strip() for word in row[1:] if word.strip()] for row in rows if row[0] in BOARDS}


def test_each_board_has_the_plan_that_build_selects(tmp_path):
    result = call("digits-cnn")
    assert result.exit_code == 0, (result.output, result.exception)
    rows = rows_of(result)
    assert list(rows) == [board.name for board in boards_by_size()]
    build = ["build", "digits-cnn", "--board", "icebreaker", "--until", "plan", "--out", str(tmp_path)]
    shown = CliRunner().invoke(cli, build).stdout
    images_a_second = re.search(r"about (\d+) MHz, (\d+) images a second", shown)
    assert rows["icebreaker"][0] == "yes"
    assert f"{int(images_a_second[2]):,}" in rows["icebreaker"]
    assert f"{images_a_second[1]} MHz" in rows["icebreaker"]
    assert rows["tang-nano-9k"][0] == "?"
    assert "smallest board  icebreaker; systoliq has no prices" in result.stdout
    for note in ("the clock is assumed", "estimates only multiplier cells for this part"):
        assert note in result.stderr


def test_memory_of_a_network():
    """Constants hold at least the weights; streams transfer the elements of inputs and outputs, a byte each."""
    design = open_source("digits-cnn")
    found = design.image_cost
    network = design.network
    weights = sum(node.layer.b.size for node in network.nodes if getattr(node, "layer", None) is not None)
    assert weights <= found.constants < 3 * weights
    assert [found.inputs, found.outputs] == [prod(ends[0].shape) for ends in (network.inputs, network.outputs)]
    assert found.buffers > 0


def test_boards_that_are_too_small_and_those_that_may_be():
    """A board without room says what is short; one within the error of the estimates is no clear yes."""
    design = open_source("digits-cnn")

    def make(**options):
        asked = {"multipliers": 64} | options
        return NetworkDesign(design.network, NetworkOptions(cells="ice40", part=BOARDS["icebreaker"].target, **asked))

    small = board_fit(BOARDS["icebreaker"], make, fastest=True)
    assert small.fits is False
    assert "LUT sites where there are 5280" in small.reason or "multiplier cells where there are 8" in small.reason
    assert small.speed is small.fastest is None
    fits = board_fit(BOARDS["icebreaker"], lambda: make(multipliers=8))
    assert fits.fits
    assert not fits.is_tight
    assert fits.speed.images == pytest.approx(fits.speed.mhz * 1e6 / fits.speed.image_cycles)


@pytest.mark.parametrize(("board", "blocks"), [("crosslink-nx-evn", 73), ("ulx3s-85f", 90)])
def test_large_memory_blocks_hold_the_two_largest_memories(board, blocks):
    stages = [{"lut_sites": 10, "ram": 60, "large": [8, 4]}, {"lut_sites": 10, "ram": 30, "large": [9]}]
    found = board_fit(BOARDS[board], lambda: SimpleNamespace(stages=stages, speed=None))
    assert found.needed == {"lut_sites": 20, "ram": blocks}
    assert not found.is_tight


@pytest.mark.slow
def test_a_float_model(tmp_path):
    path = float_model(tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", x=images())
    result = call(path, "--data", tmp_path / "x.npz")
    assert result.exit_code == 0, (result.output, result.exception)
    assert "random" not in result.stderr
    assert f"systoliq build {path} --board" in result.stdout
    assert "--out INT8.onnx; systoliq explore INT8.onnx --data X.npz --bits 8,6,4" in " ".join(result.stdout.split())
    assert "calibrated with random numbers" in call(path).stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["m.onnx", "x.npz"]


def test_sources_without_an_answer(tmp_path):
    bad = float_model(
        tmp_path / "m.onnx",
        CNN.replace(POOL, "p = AveragePool<kernel_shape = [6, 6], pads = [3, 3, 2, 2]>"),
    )
    assert_refused(call("engine"), "SOURCE must be a network, not engine")
    build = "systoliq build digits --board NAME --out DIR --until synthesize"
    assert_refused(call("digits"), f"SOURCE must be a network, not the layer digits: {build}")
    assert_refused(call("digits-cnn", "--data", tmp_path / "x.npz"), "data cannot be used with digits-cnn")
    assert_refused(call(bad), "m.onnx cannot be one network in hardware")
    assert_refused(call(tmp_path / "no.onnx"), "no.onnx")
