"""Checks of answers: plans in RTL equal golden; faults are found; inputs of the user's, and those that do not fit."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.errors import InputError
from systoliq.explore.question.ask import ask
from systoliq.explore.question.check import check_design, given_inputs, random_inputs

from ..explore_fakes import small_layer
from .tiny_networks import tiny


@pytest.mark.simulator
@pytest.mark.parametrize(
    "subject", [pytest.param(tiny(), marks=pytest.mark.slow), small_layer()], ids=["network", "layer"]
)
def test_the_answer_is_goldens_in_rtl(subject):
    answer = ask(subject, target="ecp5-25k", require="throughput=1e6")
    given = random_inputs(subject, 5)
    checked = check_design(answer.design(), subject, answer.chosen.image_cycles, given=given, simulator="icarus")
    assert checked.passed
    assert (checked.mismatches, checked.given, checked.faults) == (0, 5, ())
    assert checked.image_cycles == checked.planned_cycles == answer.chosen.image_cycles
    assert checked.line.startswith(f"cosimulated (icarus): {checked.outputs:,} integers of {checked.images} images, 5 ")


@pytest.mark.slow
@pytest.mark.simulator
def test_another_plan_or_other_weights_do_not_pass():
    layer = small_layer()
    answer = ask(layer, target="ecp5-25k", require="throughput=1e6")
    design = answer.design()
    late = check_design(design, layer, answer.chosen.image_cycles + 1, simulator="icarus")
    assert not late.passed
    assert late.mismatches == 0
    assert f"{late.image_cycles:g} cycles an image, of {answer.chosen.image_cycles + 1} planned" in late.line
    design.dense.layer = layer.replace(bias=layer.bias + 400)  # of which golden's answers are made
    wrong = check_design(design, layer, answer.chosen.image_cycles, simulator="icarus")
    assert not wrong.passed
    assert wrong.mismatches > 0
    assert "differ from golden" in wrong.line
    assert not dataclasses.replace(late, mismatches=1).passed


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"b": np.zeros((3, 12))}, "must have the key 'inputs' (or 'a'); it has b"),
        ({"inputs": np.zeros((3, 11), np.int8)}, "inputs must have the shape [M, 12], not [3, 11]"),
        ({"a": np.zeros((0, 12), np.int8)}, "a must have the shape [M, 12], not [0, 12]"),
        ({"a": np.full((2, 12), 300)}, "a: "),
        ({"a": np.full((2, 12), np.nan)}, "a: a must hold numbers, not nan"),
    ],
)
def test_inputs_of_a_layer_that_do_not_fit(tmp_path, arrays, message):
    path = tmp_path / "x.npz"
    np.savez(path, **arrays)
    with pytest.raises(InputError) as caught:
        given_inputs(path, small_layer())
    assert f"{path}: {message}" in str(caught.value)


def test_inputs_need_no_labels(tmp_path):
    path = tmp_path / "x.npz"
    net, layer = tiny(), small_layer()
    np.savez(path, inputs=np.full((2, 18), 0.1), a=np.full((3, 12), 0.1))
    assert given_inputs(path, net)["x"].shape == (2, 2, 3, 3)
    np.savez(path, a=np.full((3, 12), 0.1))
    assert (given_inputs(path, layer)["a"] == layer.quantize(np.full((3, 12), 0.1))).all()


@pytest.mark.slow
@pytest.mark.simulator
def test_the_command_cosimulates_given_inputs(tmp_path):
    layer = small_layer()
    np.savez(tmp_path / "small.npz", **layer.arrays())
    np.savez(tmp_path / "x.npz", a=random_inputs(layer, 40)["a"])
    arguments = [str(tmp_path / "small.npz"), "--smallest", "--require", "throughput=1e6", "--target", "ecp5-25k"]
    arguments += ["--data", str(tmp_path / "x.npz"), "--simulator", "icarus", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(cli, ["explore", *arguments])
    assert result.exit_code == 0, result.output
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("cosimulated (icarus): ")]
    assert "32 of them given: all are golden's; " in line
    content = json.loads((tmp_path / "out" / "answer.json").read_text())
    assert line in content["answer"]
    assert content["cosimulation"]["passed"]
