"""The vendor cells' forms of the multiply-accumulate against the portable one, in plain Verilog under Icarus."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from amaranth.hdl import Module

from systoliq.golden.formats import IntFormat
from systoliq.hw import ArrayConfig
from systoliq.hw.cells import model_files
from systoliq.hw.mac import Mac, together
from systoliq.hw.skew import Skew
from systoliq.hw.verilog import emit_verilog

pytestmark = [
    pytest.mark.simulator,
    pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed"),
]

# (depth, A, B, accumulator bits): mixed signs, split and whole accumulators, operands too wide for a cell, odd trees;
# accumulators inside the cell, products in pairs with and without an odd one
CONFIGS = [
    (1, "int8", "int8", 32),
    (4, "int8", "int8", 32),
    (3, "uint8", "int8", 24),
    (2, "uint8", "uint8", 20),
    (1, "int16", "uint16", 48),
    (2, "uint16", "uint16", 40),
    (1, "int2", "int2", 4),
    (5, "uint4", "int8", 25),
    (4, "uint5", "int8", 32),
    (1, "int2", "int4", 48),
    (1, "int8", "int8", 16),
    (1, "uint8", "int8", 22),
    (1, "uint8", "uint8", 32),
    (1, "int16", "int16", 32),
    (1, "uint16", "int16", 32),
    (2, "int8", "int8", 32),
    (2, "int8", "uint8", 24),
    (3, "int8", "int8", 32),
    (3, "uint8", "uint8", 32),
    (7, "uint3", "int8", 26),
    (2, "int16", "int16", 40),
    (2, "int9", "int8", 32),
]

TESTBENCH = """\
module tb;
    reg clk = 0, first;
    reg [{a_top}:0] a;
    reg [{b_top}:0] b;
    reg [{span}:0] firsts = 0;
    wire [{sum_top}:0] portable_sum, cells_sum;
    reg [{sum_top}:0] portable_past [0:{span}], cells_past [0:{span}];
    integer i, k, compared = 0, mismatches = 0;
    portable_mac portable (.clk(clk), .a(a), .b(b), .clear(firsts[{portable_clear}]), .sum(portable_sum));
    cells_mac cells (.clk(clk), .a(a), .b(b), .clear(firsts[{cells_clear}]), .sum(cells_sum));
    initial begin
        for (i = 0; i < 4000; i = i + 1) begin
            a = {{{words}{{$urandom}}}};
            b = {{{words}{{$urandom}}}};
            if (i % 7 == 3) begin  // most negative times most negative
                a = 0;
                b = 0;
                for (k = 0; k < {depth}; k = k + 1) begin
                    a[k * {a_bits} + {a_bits} - 1] = 1;
                    b[k * {b_bits} + {b_bits} - 1] = 1;
                end
            end
            if (i % 7 == 5) begin
                a = ~0;
                b = ~0;
            end
            first = i == 0 || ($urandom % 9 == 0 && i % 1000 < 500);
            firsts[0] = first;
            #5;
            portable_past[0] = portable_sum;
            cells_past[0] = cells_sum;
            if (i > {span} + 3) begin
                compared = compared + 1;
                if (portable_past[{portable_late}] !== cells_past[{cells_late}]) mismatches = mismatches + 1;
            end
            clk = 1;
            #5;
            for (k = {span}; k > 0; k = k - 1) begin
                portable_past[k] = portable_past[k - 1];
                cells_past[k] = cells_past[k - 1];
            end
            firsts = {{firsts[{span} - 1:0], 1'b0}};
            clk = 0;
        end
        $display("%0d mismatches of %0d", mismatches, compared);
        $finish;
    end
endmodule
"""


class Skewed(Mac):
    """A `Mac` to which all operands of a cycle come at once, also where its form wants them one after the other, and
    whose sums leave whole.
    """

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.mac = mac = Mac(self.config)
        for name in ("a", "b"):
            operands = getattr(self, name)
            if Mac.skew_of(self.config):
                m.submodules[f"skew_{name}"] = skew = Skew(operands.shape(), kind=f"skew_{name}")
                m.d.comb += skew.word.eq(operands)
                operands = skew.out
            m.d.comb += getattr(mac, name).eq(operands)
        whole = together(m, mac.sum, Mac.parts_of(self.config), name="sum")
        m.d.comb += [mac.clear.eq(self.clear), self.sum.eq(whole)]
        return m


@pytest.mark.sampled(30)
@pytest.mark.parametrize("cells", ["ecp5", "ecp5-alu", "ice40", "gowin", "xilinx", "dsp48e2"])
@pytest.mark.parametrize(("depth", "a", "b", "accumulator_bits"), CONFIGS)
def test_mac_equals_the_portable_form(
    tmp_path: Path, cells: str, depth: int, a: str, b: str, accumulator_bits: int
) -> None:
    portable = ArrayConfig(
        depth=depth, a=IntFormat.parse(a), b=IntFormat.parse(b), accumulator_bits=accumulator_bits, cells="portable"
    )
    vendor = portable.replace(cells=cells)
    late, late_portable = (Mac.latency_of(config) + Mac.spread_of(config) for config in (vendor, portable))
    behind = late - late_portable
    testbench = TESTBENCH.format(
        a_top=depth * portable.a.bits - 1,
        b_top=depth * portable.b.bits - 1,
        a_bits=portable.a.bits,
        b_bits=portable.b.bits,
        sum_top=accumulator_bits - 1,
        depth=depth,
        words=-(-depth * 16 // 32),
        span=max(late, late_portable) + 2,
        portable_clear=Mac.clear_delay_of(portable),
        cells_clear=Mac.clear_delay_of(vendor),
        portable_late=max(behind, 0),
        cells_late=max(-behind, 0),
    )
    (tmp_path / "tb.v").write_text(testbench)
    (tmp_path / "portable.v").write_text(emit_verilog(Skewed(portable), "portable_mac"))
    (tmp_path / "cells.v").write_text(emit_verilog(Skewed(vendor), "cells_mac"))
    sources = [*tmp_path.glob("*.v"), *model_files(cells)]
    subprocess.run(["iverilog", "-g2005", "-s", "tb", "-o", "t", *map(str, sources)], cwd=tmp_path, check=True)
    log = subprocess.run(["vvp", "t"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert log.startswith("0 mismatches of 39"), log
