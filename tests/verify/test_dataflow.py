"""Data independence: which bits depend on data, by the text of small modules."""

from __future__ import annotations

import pytest

from systoliq.verify.bits import Bits
from systoliq.verify.dataflow import DataFlow
from systoliq.verify.syntax import read_verilog

from .dataflow_cases import CASES, MODULE


def flow(body):
    modules = read_verilog(MODULE.replace("{body}", body))
    return DataFlow(modules, "net").of("t", {"i__payload": Bits(0xFF)})


@pytest.mark.parametrize("what", CASES)
def test_bits_are_clean_moved_or_computed(what):
    body, data, computed = CASES[what]
    found = flow(f"{body} assign o__valid = s;")
    assert found.outputs["o__payload"] == Bits(data, computed)
    assert found.faults == frozenset(
        f"module t: {text} depends on data" for text in ["last in o__payload"] * (data >> 8)
    )


CONTROL = {
    "valid": ("assign o__valid = d == 8'h42;", "o__valid"),
    "valid later": ("always @(posedge clk) v <= s & d[0]; assign o__valid = v;", "o__valid"),
    "valid by a condition": ("always @(posedge clk) if (d[0]) v <= s; assign o__valid = v;", "o__valid"),
    "write enable": (
        "assign o__valid = s; always @(posedge clk) if (d[0]) memory[n] <= d;", "the write enable of memory"),
    "write address": (
        "assign o__valid = s; always @(posedge clk) if (s) memory[d[2:0]] <= d;", "the write address of memory"),
    "read address": (
        "assign o__valid = s; always @(posedge clk) begin if (s) memory[n] <= d; word <= memory[d[2:0]]; end",
        "the read address of memory"),
}  # fmt: skip


@pytest.mark.parametrize("what", CONTROL)
def test_control_that_depends_on_data_is_a_fault(what):
    body, named = CONTROL[what]
    found = flow(f"assign o__payload = i__payload; {body}")
    assert f"module t: {named} depends on data" in found.faults


def test_modules_in_which_data_decides_are_named():
    assert flow("assign o__payload = d[0] ? 9'h001 : 9'h002; assign o__valid = s;").decisions == {"t"}
    assert flow("assign o__payload = s ? i__payload : 9'h002; assign o__valid = s;").decisions == frozenset()
