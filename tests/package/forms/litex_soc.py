"""A SoC of LiteX without a processor, around a block: FOLDER MODULE OUT STANDARD WIDTH. Run by test_litex.py."""

from __future__ import annotations

import importlib
import sys

from litex.build.generic_platform import Pins
from litex.build.lattice import LatticeECP5Platform
from litex.soc.integration.builder import Builder
from litex.soc.integration.soc_core import SoCMini
from migen.genlib.io import CRG


def main(folder: str, module: str, out: str, standard: str, width: str) -> None:
    sys.path.insert(0, folder)
    block = importlib.import_module(module).Block
    platform = LatticeECP5Platform("LFE5U-25F-6BG256C", [("sys_clk", 0, Pins("A4"))], toolchain="trellis")
    soc = SoCMini(platform, int(1e8), bus_standard=standard, bus_data_width=int(width))
    soc.crg = CRG(platform.request("sys_clk"))
    soc.add_ram("sram", 0x1000_0000, 4096)
    soc.block = block(platform)
    registers = {"origin": 0x8000_0000} if hasattr(soc.block, "s_axi_ctrl") else {}
    soc.block.add_to(soc, "block", **registers)
    Builder(soc, output_dir=out, compile_software=False, compile_gateware=False).build(run=False, build_name="top")


if __name__ == "__main__":
    main(*sys.argv[1:])
