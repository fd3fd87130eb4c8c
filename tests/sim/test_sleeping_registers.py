"""The Verilog that Icarus runs: registers that wait for a change of what they load, and behave the same."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from systoliq.hw.verilog import Verilog
from systoliq.sim.cosimulation import simulate
from systoliq.sim.cosimulation.network import cosimulate_network, network_verilog
from systoliq.sim.icarus import with_sleeping_registers

from ..hw.network import small_networks as small
from ..hw.network import stage_bench as bench

ASSIGNED = re.compile(r"^\s+(\S+ <= .+;)$", re.MULTILINE)


@pytest.fixture(scope="module")
def design():
    net = small.NETWORKS["joined"](1)
    assembly = small.assembled(net, small.drawn_parallelism(net, 1))
    return net, assembly, network_verilog(assembly)


def images(net, count):
    rng = random.Random(1)
    return {x.name: bench.integers(x, count, rng) for x in net.inputs}


@pytest.mark.slow
def test_every_register_is_assigned_in_its_module_as_before(design):
    _, _, text = design
    found = with_sleeping_registers(text)
    before, after = (re.split(r"^module ", each, flags=re.MULTILINE) for each in (text, found))
    assert len(before) == len(after)
    for each, sleeping in zip(before, after, strict=True):
        assert sorted(ASSIGNED.findall(each)) == sorted(ASSIGNED.findall(sleeping))
    awake = len(re.findall(r"always @\(posedge clk\)", found))
    assert awake * 10 < text.count("always @(posedge clk)")
    assert with_sleeping_registers(found) == found


MODULE = """module m(clk);
  reg [7:0] memory [15:0];
  reg [7:0] table [15:0];
  always @(posedge clk) begin
    if (write)
      memory[at] <= data;
  end
{registers}endmodule
"""
REGISTERS = {
    "{ a[0], b[7:1], 8'hff, c[d] }": "a or b or c or d",
    "$signed(a) + 4'sd3": "a",
    "table[at]": "at",
    "memory[at]": None,  # its word may change
    "table[3]": None,
    "1'h0": None,
    r"\escaped ": None,
}


@pytest.mark.parametrize("value", REGISTERS)
@pytest.mark.parametrize("form", ["  always @(posedge clk)\n{}", "  always @(posedge clk) begin\n{}  end\n"])
def test_a_register_waits_for_all_that_it_reads(value, form):
    awake = MODULE.format(registers=form.format(f"    to <= {value};\n"))
    asleep = f"  always begin\n    @(posedge clk);\n    to <= {value};\n    @({REGISTERS[value]});\n  end\n"
    expected = awake if REGISTERS[value] is None else MODULE.format(registers=asleep)
    assert with_sleeping_registers(awake) == expected


def test_the_files_of_memories_stay():
    files = {"weights.hex": b"1f"}
    assert dict(with_sleeping_registers(Verilog("module m;\nendmodule\n", files)).files) == files


@pytest.mark.slow
@pytest.mark.simulator
def test_every_signal_has_the_same_value_at_all_times(design, tmp_path, monkeypatch):
    net, assembly, text = design

    def traced(name):
        waves = tmp_path / f"{name}.vcd"
        run = cosimulate_network(
            assembly, images(net, 1), simulator="icarus", stalls=(0.3, 0.3), verilog=text, waves=waves
        )
        assert run.passed
        return values(waves)

    sleeping = traced("sleeping")
    monkeypatch.setattr(simulate, "with_sleeping_registers", lambda verilog: verilog)
    awake = traced("awake")
    assert len(awake) > 1000
    assert sleeping == awake


def values(trace: Path) -> list[tuple[str, dict[str, str]]]:
    """The signals that have another value at a time of a trace than before, with that value."""
    _, _, body = trace.read_text().partition("$enddefinitions $end\n#")
    times, state = [], {}
    for time, *changes in (each.splitlines() for each in body.split("\n#")):
        settled = dict(
            reversed(each.split(" ")) if each[0] in "br" else (each[1:], each[0])
            for each in changes if each[0] != "$"
        )  # fmt: skip
        times.append((time, {name: value for name, value in settled.items() if state.get(name) != value}))
        state |= settled
    return times


@pytest.mark.simulator
def test_a_wrong_register_is_still_found(design):
    """The text of a fault reaches the simulator."""
    net, assembly, text = design
    broken = re.sub(r"(conv\S*_lane_0[\s\S]*?always @\(posedge clk\)\n    \S+ <= )([^;]+);", r"\1~(\2);", text, count=1)
    assert broken != text
    assert not cosimulate_network(assembly, images(net, 1), simulator="icarus", verilog=broken).passed
