"""The engine's plain Verilog testbench: it passes under both simulators, and fails where the Verilog has a fault."""

from __future__ import annotations

import functools
import re

import pytest
from tests.support import testbenches
from tests.support.testbenches import first_phase, icarus, verilator, wrapped

from systoliq.design import EngineDesign
from systoliq.golden import E4M3FN, E5M2
from systoliq.hw.engine import REGISTERS, EngineConfig
from systoliq.package import make_package

SMALL = {"a_words": 64, "b_words": 64, "max_columns": 16, "max_rows": 16}
CONFIGS = {
    "output-stationary": EngineConfig(rows=2, cols=4, depth=2, lanes=2, **SMALL),
    "weight-stationary": EngineConfig(rows=2, cols=3, lanes=3, **SMALL, dataflow="weight-stationary"),
    "ecp5 cells": EngineConfig(rows=2, cols=2, lanes=1, **SMALL, cells="ecp5"),
    "one tile of columns": EngineConfig(
        rows=2, cols=2, lanes=2, a_words=4, b_words=32, max_columns=2, max_rows=2, dataflow="weight-stationary"
    ),
    "one group of rows": EngineConfig(rows=2, cols=3, lanes=1, a_words=8, b_words=32, max_columns=8, max_rows=2),
    "float8": EngineConfig(rows=2, cols=3, depth=2, lanes=1, **SMALL, a=E4M3FN, b=E5M2, y=E4M3FN),
}


@functools.cache
def files(name: str) -> dict[str, bytes]:
    return make_package(EngineDesign(CONFIGS[name])).files


def put(folder, name: str, verilog: str | None = None):
    """The package of `CONFIGS[name]` in a folder, with another Verilog where one is given."""
    return testbenches.put(folder, files(name), verilog)


@pytest.mark.sampled(7)
@pytest.mark.simulator
@pytest.mark.parametrize("name", CONFIGS)
def test_its_first_phase_passes_under_icarus(name, tmp_path):
    assert re.match(r"PASS: \d+ bytes of Y in \d+ cycles", icarus(first_phase(put(tmp_path / "out", name))))


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("name", CONFIGS)
def test_it_passes_under_icarus(name, tmp_path):
    assert re.match(r"PASS: \d+ bytes of Y in \d+ cycles", icarus(put(tmp_path / "out", name)))


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("name", ["output-stationary", "weight-stationary", "float8"])  # all pass under Icarus
def test_it_passes_under_verilator(name, tmp_path):
    assert verilator(put(tmp_path / "out", name)).startswith("PASS: ")


AT = {register.name: f"21'h{register.offset:x}" for register in REGISTERS}
WRITES = "s_axi_ctrl_awaddr == "

# Faults at the edge: what a port of the right engine gets or gives instead, and what the testbench says of it.
EDGE = {
    "stuck bit of Y": ("m_axis_y_tdata", "y | 64'h4", r"FAIL: job \d byte \d+: expected \d+, got \d+"),
    "tkeep too short": ("m_axis_y_tkeep", "y >> 1", r"byte \d of a beat does not count and must be 0"),
    "tkeep with a hole": ("m_axis_y_tkeep", "y & 8'hfd", "must mark the lowest bytes"),
    "a byte that does not count": (
        "m_axis_y_tdata",
        "m_axis_y_tkeep[7] ? y : y | 64'h80 << 56",
        "byte 7 of a beat does not count and must be 0, got 128",
    ),
    "no tlast": ("m_axis_y_tlast", "1'b0", "FAIL: job 0 byte 0: expected tlast 1, got 0"),
    "no tvalid": ("m_axis_y_tvalid", "1'b0", "FAIL: "),
    "a beat that changes while it waits": ("m_axis_y_tdata", "m_axis_y_tready ? y : ~y", "while it was waiting"),
    "unconnected irq": ("irq", "1'bz", "is neither 0 nor 1"),
    "BUSY_CYCLES": (
        "s_axi_ctrl_rdata",
        f"s_axi_ctrl_araddr == {AT['BUSY_CYCLES']} ? y + 1 : y",
        "00000034",
    ),
    "an error not reported": (
        "s_axi_ctrl_rdata",
        f"s_axi_ctrl_araddr == {AT['STATUS']} ? y & 255 : y",
        "00000018",
    ),
    "a write that is refused": ("s_axi_ctrl_bresp", f"{WRITES}{AT['K']} ? 2'd2 : y", "expected bresp 0, got 2"),
    "zero points": ("s_axi_ctrl_wdata", f"{WRITES}{AT['ZERO_POINTS']} ? ~y : y", "FAIL: job 0 byte 0"),
    "a zero point per row": ("s_axi_ctrl_wdata", f"{WRITES}21'h80000 ? ~y : y", "FAIL: job 2 byte "),
    "the shift of column 1": ("s_axi_ctrl_wdata", f"{WRITES}21'h100018 ? y + 1 : y", "FAIL: job 1 byte "),
    "the bias of column 0": ("s_axi_ctrl_wdata", f"{WRITES}21'h100000 ? y + 1 : y", "FAIL: job 0 byte 0"),
    "no clear": ("s_axi_ctrl_wdata", f"{WRITES}{AT['CONTROL']} ? y & ~32'd2 : y", "FAIL: "),
    "no reset": ("rst", "1'b0", "FAIL: "),
}

# Faults inside: module, pattern, replacement.
INSIDE = {
    "ties that are not to even": ("round_near_tie", r"(whole\w*)\[1\] : \1\[0\]", r"\1[0] : \1[0]"),
    "places that float32 has": ("round_near_tie", r"(lost\[\d+\] = )\| ", r"\1& "),
    "a constant in the drain": ("drain_control", r"columns_left - (\d+)'h\w+", r"columns_left - \1'h1"),
    "zero points of rows for all and the other way round": (
        "drain_control",
        r"per_row \? (\S+) : (\S+);",
        r"per_row ? \2 : \1;",
    ),
}

# Modules whose registers come without their reset.
UNRESET = (
    "axi_lite", "status", "a_loader", "b_loader", "a_buffer", "b_buffer", "tiler", "output_stationary",
    "drain_control", "result_buffer", "y_packer", "counters",
    "core", "intake",
)  # fmt: skip

# Faults of control: module ("" is the top), pattern, replacement.
CONTROL = {
    "irq where there are two reasons": ("", r"assign irq = (\w+) \| ", r"assign irq = \1 ^ "),
    "a setting that a running job follows": ("", r"= load \? (zero_points_y) : (job\S+);", r"= load ? \2 : \1;"),
    "busy cycles": ("counters", r"cycles \+ ", "cycles - "),
    "stalls of Y": ("counters", r"(output_stalls?_?\w*) <= \w+", r"\1 <= 1'h0"),
    "tlast of A, early or late": ("a_loader", r"assign (early|late) = .*;", r"assign \1 = 1'h0;"),
    "tlast of B, early or late": ("b_loader", r"assign (early|late) = .*;", r"assign \1 = 1'h0;"),
}


@pytest.mark.sampled(4)
@pytest.mark.simulator
@pytest.mark.parametrize("fault", EDGE)
def test_it_finds_a_fault_at_the_edge(fault, tmp_path):
    port, value, said = EDGE[fault]
    output = icarus(put(tmp_path / "out", "output-stationary", wrapped(files("output-stationary"), port, value)))
    assert output.startswith("FAIL: ")
    assert re.search(said, output), output
    assert "PASS" not in output


def changed(module: str, pattern: str, replacement: str, name: str = "output-stationary") -> str:
    """The engine's Verilog with all that `pattern` finds in a module replaced."""
    verilog = files(name)["engine.v"].decode()
    found = re.search(rf"^module {f'engine_{module}'.rstrip('_')}\(.*?^endmodule$", verilog, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no module {module}"
    text, count = re.subn(pattern, replacement, found[0])
    assert count, f"{pattern} is not in module {module}"
    return verilog.replace(found[0], text)


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("fault", INSIDE)
def test_it_finds_a_fault_inside(fault, tmp_path):
    output = icarus(put(tmp_path / "out", "output-stationary", changed(*INSIDE[fault])))
    assert re.match(r"FAIL: .*: expected", output), output


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("module", UNRESET)
def test_it_finds_registers_without_reset(module, tmp_path):
    output = icarus(put(tmp_path / "out", "output-stationary", changed(module, r"rst \? \S+ : ", "")))
    assert output.startswith("FAIL: "), output


@pytest.mark.sampled(9)
@pytest.mark.simulator
@pytest.mark.parametrize("fault", CONTROL)
def test_it_finds_a_fault_of_control(fault, tmp_path):
    output = icarus(put(tmp_path / "out", "output-stationary", changed(*CONTROL[fault])))
    assert output.startswith("FAIL: "), output


@pytest.mark.slow
@pytest.mark.simulator
def test_it_finds_a_beat_that_a_clear_leaves_over(tmp_path):
    # Of the three lanes' last results a job leaves some for a beat of its own, while it is cleared.
    name = "weight-stationary"
    cleared = r"(assign (\w+) = \w+ \? over : rest;\n *assign \w+ = )abort( \? 1'h0 : \2;)"
    output = icarus(put(tmp_path / "out", name, changed("y_packer", cleared, r"\g<1>1'h0\3", name)))
    assert re.search("FAIL: job .*: a beat came after the last one", output), output
