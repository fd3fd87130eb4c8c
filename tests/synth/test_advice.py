"""The verdict on the clock: met, or missed, by how much, in which stage, and what to turn."""

from __future__ import annotations

import dataclasses
import re

import pytest

from systoliq.design.design import Design
from systoliq.synth.advice import clock_verdict
from systoliq.synth.report import CriticalPath, SynthReport

REPORT = SynthReport(
    name="fc", target="ecp5-85k", cells="ecp5", macs_per_cycle=32, lut_sites=1, ff=1, dsp=1, ram=1, carries=0,
    seeds=(1, 2, 3), fmax_mhz_per_seed=(190.0, 204.5, 196.2), target_mhz=200.0,
)  # fmt: skip


def report_with(start: str, end: str, **changes: object) -> SynthReport:
    path = CriticalPath(start=start, end=end, blocks=(), nanoseconds=5.0, routing_nanoseconds=4.0, levels=2)
    return dataclasses.replace(REPORT, critical_path=path, **changes)


def test_the_median_decides():
    assert clock_verdict(dataclasses.replace(REPORT, target_mhz=196.2)) == "met"
    assert clock_verdict(dataclasses.replace(REPORT, target_mhz=196.3)) == "missed by 0.1 MHz"
    assert REPORT.as_json()["clock_met"] is False
    assert dataclasses.replace(REPORT, fmax_mhz_per_seed=()).met is None


@pytest.mark.parametrize(
    ("start", "end", "stage"),
    [
        ("dense.replay_buffer.full", "dense.replay_buffer.ram.read_data", "the sequencer; .*--cols"),
        ("dense.weights_10.rom.cell_0", "dense.array.column_10.pe_0.mac.product", "the weight memory; .*--depth"),
        ("dense.lane_0.step", "dense.lane_0.chosen_0", "the drain; .*--rows"),
        ("dense.lane_0.requantizer.low", "dense.lane_0.requantizer.y", "the requantizer; .*--requantizer auto"),
        ("core.array.column_1.pe_top.mac.held", "core.array.column_1.pe_top.mac.sum", "the array; .*--cells"),
        ("start", "pipeline.s3_add.fifo.valid", "the network's part s3_add; .*--multipliers"),
        ("start", "end", "the design; "),
    ],
)
def test_the_stage_is_named_with_options_to_change(start, end, stage):
    assert re.match(rf"missed by 3.8 MHz in {stage}", clock_verdict(report_with(start, end)))


@pytest.mark.parametrize(
    ("target", "grade"), [("ecp5-85k", True), ("ecp5-85k-7", True), ("ecp5-85k-8", False), ("ice40-up5k", False)]
)
def test_a_faster_grade_is_named_where_there_is_one(target, grade):
    assert ("faster grade" in clock_verdict(report_with("a", "b", target=target))) is grade


@pytest.mark.parametrize(("asked", "status"), [([], 0), (["--mhz", "150"], 0), (["--mhz", "200"], 1)])
def test_a_clock_that_was_asked_for_and_missed_is_exit_status_1(asked, status, call, monkeypatch):
    mhz = float(asked[-1]) if asked else 200.0
    report = dataclasses.replace(REPORT, target_mhz=mhz)
    monkeypatch.setattr(Design, "synthesize", lambda *_, **__: report)
    result = call("synth", "resnet8-fc", "--target", "ecp5-85k", *asked)
    assert result.exit_code == status, result.output
    assert ("missed by 3.8 MHz" in result.output) is (mhz == 200.0)
