"""The testbench of a layer's package finds what goes wrong with resets, a receiver that stops, and sums at steps."""

from __future__ import annotations

import functools
import re
import subprocess

import numpy as np
import pytest

from systoliq.api import Design, LayerDesign, LayerOptions, MatMulLayer, open_source
from systoliq.golden.formats import INT32, UINT8, IntFormat
from systoliq.golden.thresholds import float32_steps
from systoliq.sim.tools import find, missing_text
from systoliq.testbench import testbench_of
from systoliq.testbench.layer.steering import _found
from systoliq.testbench.layer.stimulus import layer_stimulus

needs_icarus = [
    pytest.mark.simulator,
    pytest.mark.skipif(not find("icarus").found, reason=missing_text(find("icarus"))),
]

ROOM = r"(?s)(module \w+_result_buffer\(.*?rst \?) 4'h2 :"

# What is wrong, its place in the Verilog, what stands there instead, and what the testbench says.
FAULTS = {
    "a token that no reset takes": (r"rst \? 2'h0 : (token_3);", r"\1;", "cycles after a reset: expected tready"),
    "results that no reset takes": (r"rst \? 3'h0 : (control_5);", r"\1;", "FAIL: row 0 column 0: expected"),
    "a beat that no reset takes": (r"(?s)(module \w+_sequencer\(.*?)rst \? 3'h0 : (\w+);", r"\1\2;", "FAIL: "),
    "groups that no reset takes": (r"(?s)(_replay_buffer\(.*?)rst \? 1'h0 : (complete_next)", r"\1 \2", "FAIL: "),
    "room for one tile more": (ROOM, r"\1 4'h3 :", "must fall after"),
    "room for one tile less": (ROOM, r"\1 4'h1 :", "must fall after"),
    "room that is given and taken at once, counted": (r"returned \^ reserve", "returned | reserve", "FAIL: "),
    "room that a reset does not take": (
        r"(?s)(returned <= (\w+);.*?assign \2 = )rst \? 1'h0 : ",
        r"\1",
        "must fall after",
    ),
    "a last result that stays where it is": (
        r"(?s)(module \w+_result_buffer\(.*?)fetch \? (\w+ : complete_any;)",
        r"\g<1>1'h1 ? \2",
        "FAIL: nothing moves",
    ),
    "a beat of A that is lost while the last tile waits for room": (
        r"(?s)(module \w+_replay_buffer\(.*?)\w+ \? (complete_any : o__valid;)",
        r"\g<1>1'h1 ? \2",
        "FAIL: row 6",
    ),
    "an error that no reset takes": (r"rst \? 1'h0 : (procmux_3_Y);", r"\1;", "FAIL: error must be 0, not 1"),
    "no error": (r"\.error\(error\),", ".error(),", "FAIL: error must be"),
}


@functools.cache
def design() -> Design:
    """Five tiles of columns, with a drain that is shorter than they are."""
    return open_source("resnet8-fc", LayerOptions(rows=1, cols=2, depth=8))


def printed(made, verilog, folder):
    """What the design's testbench says of `verilog`."""
    (folder / "layer.v").write_text(verilog)
    (folder / "layer_tb.v").write_text(testbench_of(made))
    subprocess.run(["iverilog", "-g2005", "-o", "t", "layer.v", "layer_tb.v"], cwd=folder, check=True)
    return subprocess.run(["vvp", "t"], cwd=folder, capture_output=True, text=True, check=True, timeout=300).stdout


@pytest.mark.sampled(9)
@pytest.mark.parametrize("fault", [pytest.param(fault, marks=needs_icarus) for fault in FAULTS])
def test_faults_are_found(fault, tmp_path):
    place, instead, said = FAULTS[fault]
    verilog, count = re.subn(place, instead, str(design().verilog), count=1)
    assert count == 1
    assert said in printed(design(), verilog, tmp_path)


SHAPES = {
    "one element": {"cols": 1},
    "a drain longer than the tile": {"rows": 3, "cols": 5, "depth": 5},
    "every cell has its lane": {"rows": 2, "cols": 3, "depth": 9},
    "each group twice": {"rows": 2, "cols": 3, "depth": 1},
}


def small(**fields):
    generator = np.random.default_rng(5)
    return MatMulLayer(
        **{
            "name": "small",
            "b": generator.integers(-127, 128, (9, 5)).astype(np.int8),
            "b_scale": np.float32(0.02),
            "b_zero_point": np.int8(0),
            "a_scale": np.float32(0.1),
            "a_zero_point": np.uint8(128),
            "y_scale": np.float32(0.5),
            "y_zero_point": np.int8(-3),
            **fields,
        }
    )


@pytest.mark.slow  # tests/package/test_emit.py runs the testbench of a layer
@pytest.mark.simulator
@pytest.mark.parametrize("shape", [pytest.param(shape, marks=needs_icarus) for shape in SHAPES])
def test_beats_held_are_exact(shape, tmp_path):
    """The testbench counts them, and compares with what `Dense` says: see "room for one tile more", and less."""
    made = LayerDesign(small(), LayerOptions(**SHAPES[shape]))
    assert printed(made, made.verilog, tmp_path).startswith("PASS: ")


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("cols", [pytest.param(8, marks=needs_icarus)])
def test_stops_come_one_after_the_other(cols, tmp_path):
    """So few groups are sent that a stop in the middle of them is earlier than one at their beginning."""
    made = LayerDesign(small(b=np.arange(20).reshape(1, 20).astype(np.int8)), LayerOptions(cols=cols))
    assert list(layer_stimulus(made).held) == [1, 2, 4, 37]
    assert printed(made, made.verilog, tmp_path).startswith("PASS: ")


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("fault", [pytest.param(bool(fault), marks=needs_icarus) for fault in (1, 0)])
def test_padding_must_be_zeros(fault, tmp_path):
    """Outputs of 7 bits, in bytes."""
    made = LayerDesign(small(y_format=IntFormat(7, True)), LayerOptions(rows=1, cols=2, depth=3), name="layer")
    verilog = str(made.verilog)
    assert verilog.count("m_axis_y_tdata = { 1'h0, ") == 1
    wrong = verilog.replace("m_axis_y_tdata = { 1'h0, ", "m_axis_y_tdata = { 1'h1, ")
    said = printed(made, wrong if fault else verilog, tmp_path)
    assert ("tdata must be filled up with zeros, not 1" in said) if fault else said.startswith("PASS: ")


@pytest.mark.parametrize("rounding", ["near-tie", "auto"])
def test_steered_rows_meet_the_steps(rounding):
    """Each column: both ends of its steps, and others, from both sides."""
    made = open_source("resnet8-fc", LayerOptions(cols=10, depth=8, requantizer=rounding))
    layer = made.layer
    steps = float32_steps(layer.scale, layer.y_zero_point, layer.y_format, *layer.accumulator_range())
    sums = layer.accumulate(layer_stimulus(made).a)
    for n in range(layer.n):
        starts = np.array([acc for acc, _ in steps.column(n)[1:]])
        met = np.intersect1d(starts, sums[:, n])
        both = [step for step in met if step - 1 in sums[:, n]]
        assert {starts[0], starts[-1]} <= set(both)
        assert len(both) >= 20


def test_sums_that_no_row_has_are_not_looked_for():
    """Nor is anything drawn for them: products of even weights make no odd sum, those of zeros none but 0."""
    layer = small()
    for weights, goal in (([2, 4], 3), ([-6, 9], 4), ([0, 0], 1), ([], -1)):
        assert _found(layer, np.array(weights, np.int64), goal, None) is None


def test_sums_between_those_of_a_row_are_given_up():
    """A single operand at an end, and a sum wanted between two that it gives: nothing is left to be changed."""
    fields = {"b": np.full((1, 1), 3, np.int8), "y_format": IntFormat(4, True)}
    made = LayerDesign(small(**fields, a_format=IntFormat(2, False), a_zero_point=0, y_scale=np.float32(0.004)))
    assert layer_stimulus(made).a.max() == 3


def test_steered_rows_need_integers_and_sums_in_int32():
    """A layer without them has the batches that there were before."""
    made = LayerDesign(
        small(a_zero_point=None, a_scale=None, a_format=UINT8, y_format=INT32, y_scale=None, y_zero_point=None)
    )
    assert len(layer_stimulus(made).batches) == 3
