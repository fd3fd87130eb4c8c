"""Registers without reset that load a constant: none is left in a netlist, but for a board's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from systoliq.design import LayerOptions
from systoliq.design.sources import open_source
from systoliq.synth import open_target
from systoliq.synth.flow import synthesized
from systoliq.synth.yosys import is_register, top_of

pytest.importorskip("pyosys", reason="the extra synth is not installed: pip install 'systoliq[synth]'")

DELAYED = """\
module {name}(input clk, input d, output q);
  reg constant = 1'h0;
  reg kept = 1'h0;
  assign q = kept;
  always @(posedge clk) begin
    constant <= 1'h1;
    kept <= constant & d;
  end
endmodule
"""


def registers(folder: Path) -> list[dict[str, Any]]:
    """The registers of a netlist, each with its pins."""
    return [cell["connections"] for cell in top_of(folder)["cells"].values() if is_register(cell["type"])]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["ecp5-25k", "ice40-up5k", "gowin-gw1nr9", "nexus-40k"])
def test_a_register_of_a_constant_is_that_constant(target: str) -> None:
    assert len(registers(synthesized(DELAYED.format(name="delayed"), "delayed", open_target(target)))) == 1


def test_a_board_keeps_the_initial_values_that_its_reset_comes_from() -> None:
    assert len(registers(synthesized(DELAYED.format(name="top"), "top", open_target("ecp5-25k")))) == 2


@pytest.mark.slow
def test_a_lane_keeps_no_register_of_a_bit_that_all_multipliers_share(small: tuple[Path, Path]) -> None:
    """The layer's scales are equal, so each bit of its multipliers is a constant that lanes delay."""
    design = open_source(small[0], LayerOptions(cols=2))
    folder = synthesized(design.verilog, design.name, open_target("ecp5-25k"))
    loaded = [pins.get("DI", pins.get("M")) for pins in registers(folder) if pins.get("LSR", ["0"]) == ["0"]]
    assert loaded
    assert ["1"] not in loaded
