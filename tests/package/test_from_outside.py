"""Latency, tready and reset as the sidecar states them, measured at the ports: a probe beside the package's testbench.

The Verilog has no initial values: what reset does not reach is X under Icarus, and the testbench finds it.
"""

from __future__ import annotations

import functools
import re
import subprocess

import pytest

from systoliq.design import LayerDesign, LayerOptions
from systoliq.package import Package, make_package
from systoliq.signoff.power_up import without_initial_values
from systoliq.sim.tools import find

from ..support.layers import little_layer
from .kinds import small

pytestmark = pytest.mark.usefixtures("short_testbenches")
CASES = {
    "layer, one column tile": ("layer", 4),
    "layer, two column tiles": ("layer", 2),
    "array": ("array", 3),
    "engine": ("engine", 2),
}

PROBE = """
module probe;
  integer now = 0, from = -1, taken = 0, broken = 0;
  reg measured = 0;
  always @(posedge {tb}.clk) begin
    now = now + 1;
    if ({tb}.rst) taken = 0;
    else begin
      if ({broken}) begin
        broken = broken + 1;
        if (broken == 1) $display("TREADY broken");
      end
      if (from < 0 && ({from_})) from = now;
      if (from >= 0 && !measured && {to}) begin
        measured = 1;
        $display("LATENCY %0d", now - from);
      end
      if ({a}_tvalid && {a}_tready) taken = taken + 1;
    end
  end
endmodule
"""


@functools.cache
def package(case: str) -> Package:
    kind, cols = CASES[case]
    if kind == "layer":
        return make_package(LayerDesign(little_layer(6, 4), LayerOptions(rows=2, cols=cols, depth=2)))
    return make_package(small(kind, cols=cols))


def probe(case: str) -> str:
    """What to look at: {from_} begins the measurement, {to} ends it, and {broken} breaks the pattern of tready."""
    name = package(case).design.name
    tb = f"{name}_tb"
    a, b, y = f"{tb}.s_axis_a", f"{tb}.s_axis_b", f"{tb}.m_axis_y"
    took_a, took_b = f"({a}_tvalid && {a}_tready)", f"({b}_tvalid && {b}_tready)"
    if case.startswith("layer"):
        beats = package(case).sidecar["packing"]["a"]["beats_per_group"]
        waits = beats - 1 if case == "layer, one column tile" else 0
        looks = {
            "from_": f"{took_a} && taken == {beats} - 1",
            "to": f"{y}_tvalid",
            "broken": f"!{a}_tready && taken % {beats} != {waits}",
        }
    elif case == "array":
        both = f"({a}_tvalid && {b}_tvalid)"
        looks = {
            "from_": f"{took_a} && {a}_tlast",
            "to": f"{tb}.sums_valid[0]",
            "broken": f"{a}_tready !== {b}_tready || {a}_tready && !{both} || {both} && !{a}_tlast && !{a}_tready",
        }
    else:
        looks = {
            "from_": f"{took_a} || {took_b}",
            "to": f"{y}_tvalid",
            "broken": f"taken == 0 && from < 0 && {tb}.step < 2 && ({a}_tready || {b}_tready)",
        }
    return PROBE.format(tb=tb, a=a, **looks)


def bench(case: str) -> str:
    """The text of the testbench."""
    return package(case).files[f"{package(case).design.name}_tb.v"].decode()


def run(case: str, folder, *resets: tuple[str, str], extra: str = "") -> str:
    """What the testbench says, with `resets` replaced in its text."""
    if not find("icarus").found:
        pytest.skip(find("icarus").hint)
    files, name = package(case).files, package(case).design.name
    text = bench(case)
    for old, new in resets:
        assert text.count(old) == 1
        text = text.replace(old, new)
    verilog = without_initial_values(files[f"{name}.v"].decode())
    (folder / "t.v").write_text(verilog + text + extra)
    tops = [word for top in (f"{name}_tb", *(["probe"] if extra else [])) for word in ("-s", top)]
    subprocess.run(["iverilog", "-g2005", *tops, "-o", "t", "t.v"], cwd=folder, check=True)
    return subprocess.run(["vvp", "t"], cwd=folder, check=True, capture_output=True, text=True, timeout=300).stdout


KEPT = ("array",)  # tests/datasheet measures the latency of layers, tests/engine the cycles of engines


@pytest.mark.simulator
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[pytest.mark.slow] * (case not in KEPT)) for case in CASES],
)
def test_latency_tready_and_the_shortest_reset(case, tmp_path):
    sidecar = package(case).sidecar
    cycles = sidecar["reset"]["minimum_cycles"]
    shortest = [("in_reset = 3'd4;", f"in_reset = 3'd{cycles};")]
    if case == "engine":  # its later phases take most of the time; the first has the reset, the latency and tready
        shortest.append(("localparam LAST_PHASE = 3;", "localparam LAST_PHASE = 0;"))
    else:  # each of the phases once
        shortest.append((re.search(r"localparam ROUNDS = \d+;", bench(case))[0], "localparam ROUNDS = 1;"))
    said = run(case, tmp_path, *shortest, extra=probe(case))
    assert re.findall(r"^LATENCY (\d+)$", said, re.MULTILINE) == [str(sidecar["latency"]["cycles"])]
    assert "TREADY broken" not in said
    assert "PASS: " in said, said
    assert {*sidecar["tready"]} == {
        name.removesuffix("_tready")
        for name in (port["name"] for port in sidecar["ports"])
        if re.fullmatch(r"s_axis_\w_tready", name)
    }


@pytest.mark.simulator
@pytest.mark.parametrize("case", CASES)
def test_without_reset_it_does_not_work(case, tmp_path):
    none = [("reg rst = 1'b1;", "reg rst = 1'b0;"), ("in_reset = 3'd4;", "in_reset = 3'd0;")]
    assert "FAIL: " in run(case, tmp_path, *none)
