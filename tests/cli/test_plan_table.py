"""The plan of a network as emit, simulate and synth show it; `--target` of emit and simulate."""

from __future__ import annotations

import json

import numpy as np
import pytest

from .refused import assert_refused


def lines_of(result):
    assert result.exit_code == 0, result.output
    return [line.split() for line in result.stdout.splitlines()]


def test_emit_shows_the_plan_before_it_builds(call, tmp_path):
    lines = lines_of(
        call("emit", "digits-cnn", "--target", "ice40-up5k", "--multipliers", 8, "--out", tmp_path / "out")
    )
    (at,) = (index for index, line in enumerate(lines) if line[:1] == ["stage"])
    assert lines[at + 1][:8] == ["conv1", "Convolution", "4", "x", "1", "ice40", "576", "67%"]
    assert [line[0] for line in lines[at : at + 7]] == ["stage", "conv1", "conv2", "fc", "all", "ice40-up5k", "plan:"]
    assert lines[at + 5][1:] == ["8", "5280", "30"]
    assert lines[at + 6][1:5] == ["864", "cycles", "an", "image,"]
    assert lines[at + 7][0] == "latency:"
    assert lines[at + 8][:2] == ["expected", "clock,"]
    assert lines[at + 9][0] == str(tmp_path / "out" / "digits_cnn.v")
    plan = json.loads((tmp_path / "out" / "digits_cnn_plan.json").read_text())
    sums = [sum(stage[key] for stage in plan) for key in ("multipliers", "dsp", "lut_sites", "ram")]
    assert lines[at + 4][1:] == ["864", *map(str, sums)]
    report = (tmp_path / "out" / "report.html").read_text()
    assert f"<dt>LUT sites, about</dt><dd>{plan[0]['lut_sites']}</dd>" in report


@pytest.mark.slow
def test_no_estimates_without_a_family(call, tmp_path):
    lines = lines_of(call("emit", "digits-cnn", "--out", tmp_path / "out", "--multipliers", 60))
    assert lines[0][-4:] == ["slowest", "multipliers", "multiplier", "cells"]
    assert lines[1][0] == "conv1"
    assert "lut_sites" not in json.loads((tmp_path / "out" / "digits_cnn_plan.json").read_text())[0]


def test_what_does_not_fit_is_one_line(call, tmp_path):
    out = tmp_path / "out"
    result = call("emit", "digits-cnn", "--target", "ice40-up5k", "--multipliers", 20, "--out", out)
    assert_refused(
        result,
        "the plan does not fit Lattice iCE40 UP5K, SG48: it needs 10 multiplier cells where there are 8; ask for fewer "
        "multipliers, or take a larger part",
    )
    assert not out.exists()


def test_target_sets_the_cells_of_a_layer(call, tmp_path):
    for target, cells in (("ecp5-85k", "ecp5"), ("ice40-hx8k", "portable")):
        out = tmp_path / target
        assert call("emit", "resnet8-fc", "--target", target, "--out", out).exit_code == 0
        assert json.loads((out / "resnet8_fc.json").read_text())["cells"] == cells
    refused = call("emit", "array", "--target", "ecp5-85k", "--cells", "ice40", "--out", tmp_path / "array")
    assert_refused(refused, "cells must be one of portable, ecp5, ecp5-alu")


def test_target_and_netlist_are_of_one_family(call, tmp_path):
    np.savez(tmp_path / "a.npz", a=np.zeros((1, 64), np.int8))
    given = ["resnet8-fc", "--input", tmp_path / "a.npz", "--netlist", "ice40"]
    text = "netlist must be of the family of ecp5-45k, ecp5, not 'ice40'"
    assert_refused(call("simulate", *given, "--target", "ecp5-45k"), text)


@pytest.mark.slow
@pytest.mark.simulator
def test_simulate_shows_the_plan(call, tmp_path):
    np.savez(tmp_path / "x.npz", image=np.zeros((1, 1, 8, 8), np.float32))
    given = ["digits-cnn", "--input", tmp_path / "x.npz", "--simulator", "icarus", "--target", "ecp5-25k"]
    lines = lines_of(call("simulate", *given))
    assert ["ecp5-25k", "28", "24288", "24288", "56"] in lines
    assert ["mismatches", "0"] in lines
