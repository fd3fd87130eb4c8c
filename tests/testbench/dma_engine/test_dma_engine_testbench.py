"""The plain Verilog testbench of a DMA engine: it passes in both simulators, and finds faults."""

from __future__ import annotations

import functools
import re

import pytest
from tests.support.testbenches import first_phase, icarus, put, verilator, wrapped

from systoliq.design import DmaEngineDesign, EngineOptions
from systoliq.errors import InputError
from systoliq.package import make_package

SMALL = {"a_words": 64, "b_words": 64, "max_columns": 16, "max_rows": 16}
CONFIGS = {
    "32 bits": EngineOptions(rows=2, cols=2, lanes=2, bus=32, **SMALL),
    "64 bits, two deep, one lane": EngineOptions(rows=2, cols=4, depth=2, lanes=1, bus=64, **SMALL),
    "128 bits, odd sizes": EngineOptions(rows=3, cols=5, lanes=1, bus=128, **SMALL),
    "128 bits, one row": EngineOptions(rows=1, cols=4, lanes=2, bus=128, **SMALL),
    "128 bits, four deep": EngineOptions(rows=4, cols=4, depth=4, bus=128, **SMALL),
    "vector unit": EngineOptions(rows=2, cols=2, lanes=2, bus=32, vector=True, **SMALL),
    "vector unit with rows": EngineOptions(rows=2, cols=4, depth=2, bus=64, vector=True, row_length=64, **SMALL),
    "float8, ecp5 cells": EngineOptions(
        rows=2, cols=2, lanes=2, bus=32, cells="ecp5", a_words=64, b_words=64, max_columns=16, a_format="e4m3fn",
        b_format="e5m2", y_format="e4m3fn",
    ),
}  # fmt: skip


@functools.cache
def files(name: str) -> dict[str, bytes]:
    return dict(make_package(DmaEngineDesign(CONFIGS[name])).files)


@pytest.mark.slow
@pytest.mark.simulator
def test_it_passes_under_icarus(tmp_path):
    assert re.match(r"PASS: \d+ bytes of memory in \d+ cycles", icarus(put(tmp_path / "out", files("32 bits"))))


@pytest.mark.simulator
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "32 bits" else pytest.mark.slow) for name in CONFIGS]
)
def test_its_first_phase_passes_under_icarus(name, tmp_path):
    output = icarus(first_phase(put(tmp_path / "out", files(name))))
    assert re.match(r"PASS: \d+ bytes of memory in \d+ cycles", output)


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("name", CONFIGS)
def test_it_passes_under_verilator(name, tmp_path):
    assert verilator(put(tmp_path / "out", files(name))).startswith("PASS: ")


# What a port of the right engine gets or gives instead, and what the testbench says of it.
EDGE = {
    "a burst that changes": (
        "m_axi_a_araddr",
        "m_axi_a_arready ? y : y ^ 32'h20",
        "FAIL: m_axi_a: a burst changed|FAIL: step",
    ),
    "a stuck bit of results": ("m_axi_y_wdata", "y | 32'h4", "FAIL: step 9: bytes from "),
    "a byte too much": ("m_axi_y_wstrb", "y | 4'h1", "FAIL: step 9: bytes from "),
    "an address": ("m_axi_y_awaddr", "y ^ 32'h10", "FAIL: "),
    "half a beat": ("m_axi_a_arsize", "3'd1", "FAIL: m_axi_a: a burst of "),
    "a burst that wraps": ("m_axi_b_arburst", "2'd2", "FAIL: m_axi_b: a burst of "),
    "a burst across 4 KiB": ("m_axi_a_araddr", "y | 32'hffc", "FAIL: m_axi_a: a burst of "),
    "an address within a beat": ("m_axi_list_araddr", "y | 32'h1", "FAIL: m_axi_list: a burst of "),
    "wlast": ("m_axi_y_wlast", "1'b1", "FAIL: m_axi_y: beat 0 of a burst of "),
    "errors of A not heard": ("m_axi_a_rresp", "2'd0", "FAIL: "),
    "errors of Y not heard": ("m_axi_y_bresp", "2'd0", "FAIL: "),
    "errors of the list not heard": ("m_axi_list_rresp", "2'd0", "FAIL: "),
    "no interrupt": ("irq", "1'b0", "FAIL: no end of step 4"),
    "unconnected valid": ("m_axi_y_awvalid", "1'bz", "neither 0 nor 1"),
    "no reset": ("rst", "1'b0", "FAIL: "),
}


QUICK = ("a stuck bit of results",)


@pytest.mark.simulator
@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=[] if fault in QUICK else pytest.mark.slow) for fault in EDGE]
)
def test_it_finds_a_fault_at_the_edge(fault, tmp_path):
    port, value, said = EDGE[fault]
    output = icarus(put(tmp_path / "out", files("32 bits"), wrapped(files("32 bits"), port, value)))
    assert output.startswith("FAIL: ")
    assert re.search(said, output), output
    assert "PASS" not in output


def with_fault(package, module, pattern, wrong):
    """The package's Verilog with `wrong` in the one place of a module that `pattern` matches."""
    verilog = package["engine.v"].decode()
    found = re.search(rf"^module {module}\(.*?^endmodule$", verilog, re.MULTILINE | re.DOTALL)
    assert found is not None
    changed, count = re.subn(pattern, wrong, found[0])
    assert count == 1
    return verilog.replace(found[0], changed)


VECTOR = {
    "a sum": ("vector_lane", "$signed(a_entry_1) + $signed(b_entry_1)", "$signed(a_entry_1) - $signed(b_entry_1)"),
    "the larger": ("vector_lane", "greater_1 ? b_kept_1 : a_kept_1", "greater_1 ? a_kept_1 : b_kept_1"),
    "a product": ("vector_product", "$signed(kept_9) - $signed(threshold_1)", "$signed(kept_9) + $signed(threshold_1)"),
    "a softmax": ("softmax_rows_64", "added[25] ? added[25:2] : added[24:1]", "added[24:1]"),
    "a normalization": ("normalized_rows_64", "factor_of_sum[13] ? total : 14'h0000", "total"),
}
"""A module of the vector unit, a part of its text, and what stands there instead."""


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("fault", VECTOR)
def test_it_finds_a_fault_of_the_vector_unit(fault, tmp_path):
    of, right, wrong = VECTOR[fault]
    package = files("vector unit with rows")
    changed = with_fault(package, f"engine_{of}", re.escape(right), wrong)
    output = icarus(first_phase(put(tmp_path / "out", package, changed)))
    assert re.match(r"FAIL: step \d+: bytes from ", output), output


@pytest.mark.slow
@pytest.mark.simulator
def test_it_finds_a_burst_that_a_reset_takes_back(tmp_path):
    """What the masters once did: they were reset a cycle after the engine, and a burst that came in between went."""
    late = with_fault(files("32 bits"), "engine", r"assign clear = (\w+) \| rst;", r"assign clear = \1;")
    output = icarus(put(tmp_path / "out", files("32 bits"), late))
    assert re.match(r"FAIL: m_axi_list: a burst changed while it was waiting", output), output


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"bus": 48}, "bus"),
        ({"bus": 12}, "bus must be 32, 64 or 128 bits, not 12"),
        ({"bus": 32, "dataflow": "weight-stationary"}, "dataflow must be output-stationary"),
        ({"bus": 32, "depth": 3}, "depth must divide"),
        ({"bus": 32, "cols": 3, "lanes": 3}, "lanes must be a power of two"),
    ],
)
def test_what_it_cannot_be_is_refused(asked, said):
    with pytest.raises((InputError, ValueError), match=said):
        DmaEngineDesign(EngineOptions(**asked))
