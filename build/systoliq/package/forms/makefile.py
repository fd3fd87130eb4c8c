"""The form for make: the testbench under Icarus and Verilator, and lint, without anything of systoliq's."""

from __future__ import annotations

from .block import Block

__all__ = ["makefile"]

_TEXT = """\
# Simulation and lint of {name}, in this folder (memories are read from it): make icarus, verilator, lint or clean.
# The testbench must print PASS; where it prints FAIL, make fails as well. Written by systoliq.

IVERILOG ?= iverilog
VVP ?= vvp
VERILATOR ?= verilator
OUT ?= obj_dir

RTL := {rtl}
TESTBENCH := {testbench}.v

.PHONY: icarus verilator lint clean

icarus: $(OUT)/{testbench}.vvp
	$(VVP) -N $< +stop

verilator: $(OUT)/{testbench}
	./$< +stop

lint:
	$(VERILATOR) --lint-only -Wall --top-module {name} {waivers} $(RTL)

$(OUT)/{testbench}.vvp: $(RTL) $(TESTBENCH)
	mkdir -p $(OUT)
	$(IVERILOG) -g2005 -s {testbench} -o $@ $(RTL) $(TESTBENCH)

$(OUT)/{testbench}: {waivers} $(RTL) $(TESTBENCH)
	$(VERILATOR) --binary --timing --top-module {testbench} --Mdir $(OUT) -o {testbench} $^

clean:
	rm -rf $(OUT)
"""


def makefile(block: Block) -> str:
    """The text; models of vendor cells come before what instantiates them."""
    return _TEXT.format(
        name=block.name,
        rtl=" ".join([*block.models, block.rtl]),
        testbench=block.testbench,
        waivers=block.waivers,
    )
