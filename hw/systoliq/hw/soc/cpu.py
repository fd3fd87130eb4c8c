"""The processor: picorv32 with its AXI4-Lite master, whose Verilog is its authors' own."""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..engine.axi_lite import axi_lite
from ..hierarchy import Written

__all__ = ["Cpu"]

_PARAMETERS = {
    "BARREL_SHIFTER": 1,
    "ENABLE_COUNTERS64": 0,
    "ENABLE_FAST_MUL": 1,
    "ENABLE_DIV": 1,
}
"""RV32IM; its stack pointer is set by the firmware."""
_UNUSED = {"pcpi_wr": "1'b0", "pcpi_rd": "32'b0", "pcpi_wait": "1'b0", "pcpi_ready": "1'b0", "irq": "32'b0"}
_OPEN = ("pcpi_valid", "pcpi_insn", "pcpi_rs1", "pcpi_rs2", "eoi", "trace_valid", "trace_data")


class Cpu(wiring.Component):
    """picorv32_axi: it begins at address 0 after ``resetn``, and ``trap`` says that it has given up.

    One access at a time; its address stays until the answer. It has no use for answers' errors. There is no model in
    Amaranth: only the emitted Verilog can be simulated, with picorv32.v.
    """

    kind = "cpu"

    def __init__(self) -> None:
        bus = axi_lite("m", 32, master=True)
        super().__init__(bus | {"resetn": In(1), "trap": Out(1)})

    def written(self, name: str) -> Written:
        """The Verilog of this block as module ``name``: an instance of picorv32_axi."""
        heads, pins = [], ["    .clk(clk)", "    .resetn(resetn)", "    .trap(trap)"]
        for port, member in self.signature.members.items():
            direction = "input" if member.flow == In else "output"
            width = member.shape if isinstance(member.shape, int) else 1
            bits = f"[{width - 1}:0] " if width > 1 else ""
            heads += [f"  {direction} {bits}{port};", f"  wire {bits}{port};"]
            if port.startswith("m_") and not port.endswith("resp"):
                pins.append(f"    .mem_axi_{port.removeprefix('m_')}({port})")
        pins += [f"    .{pin}({value})" for pin, value in _UNUSED.items()] + [f"    .{pin}()" for pin in _OPEN]
        parameters = ",\n".join(f"    .{key}({value})" for key, value in _PARAMETERS.items())
        lines = [
            f"module {name}({', '.join(['clk', *self.signature.members])});",
            "  input clk;",
            "  wire clk;",
            *heads,
            f"  picorv32_axi #(\n{parameters}\n  ) processor (",
            ",\n".join(pins),
            "  );",
            "endmodule",
            "",
        ]
        return Written(verilog="\n".join(lines), files={})

    def elaborate(self, platform: object) -> Module:
        raise NotImplementedError("the processor has no model in Amaranth: simulate the emitted Verilog")
