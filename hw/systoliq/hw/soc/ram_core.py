"""The cells of a system's memory: bytes that are written by themselves, and contents from a file."""

from __future__ import annotations

from amaranth.hdl import Module, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..hierarchy import Written
from ..rom_file import SUFFIX

__all__ = ["RamCore"]


class RamCore(wiring.Component):
    """``depth`` words of ``width`` bits, a write and a read in each cycle; ``read_data`` comes a cycle after ``read``.

    ``write`` has a bit for each byte. A word must not be read in the cycle in which it is written. In Verilog, the
    initial contents are in the file ``contents``.mem, in the simulator's working directory or, for synthesis, next to
    the Verilog: firmware changes without the system. In Amaranth's simulator it holds ``init``.
    """

    def __init__(self, width: int, depth: int, *, contents: str, init: tuple[int, ...] = ()) -> None:
        self.width, self.depth, self.contents, self.init = width, depth, contents, init
        self.kind = "ram_core"
        address = range(depth)
        super().__init__(
            {"read": In(1), "read_address": In(address), "read_data": Out(width)}
            | {"write": In(width // 8), "write_address": In(address), "write_data": In(width)}
        )

    def written(self, name: str) -> Written:
        """The Verilog of this block as module ``name``."""
        address, word = f"[{(self.depth - 1).bit_length() - 1}:0] ", f"[{self.width - 1}:0] "
        ports = {
            "clk": "", "read": "", "read_address": address, "read_data": word, "write": f"[{self.width // 8 - 1}:0] ",
            "write_address": address, "write_data": word,
        }  # fmt: skip
        lines = [f"module {name}({', '.join(ports)});"]
        for port, bits in ports.items():
            output = port == "read_data"
            lines += [
                f"  {'output' if output else 'input'} {bits}{port};",
                f"  {'reg' if output else 'wire'} {bits}{port};",
            ]
        lines += [
            f"  (* no_rw_check *)\n  reg {word}memory [0:{self.depth - 1}];",
            f'  initial $readmemh("{self.contents}{SUFFIX}", memory);',
            "  always @(posedge clk) begin",
            "    if (read) read_data <= memory[read_address];",
        ]
        for lane in range(self.width // 8):
            bits = f"[{8 * lane + 7}:{8 * lane}]"
            lines.append(f"    if (write[{lane}]) memory[write_address]{bits} <= write_data{bits};")
        return Written(verilog="\n".join([*lines, "  end", "endmodule", ""]), files={})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        memory = Memory(shape=unsigned(self.width), depth=self.depth, init=self.init)
        m.submodules.memory = memory
        write = memory.write_port(granularity=8)
        read = memory.read_port()
        m.d.comb += [
            write.en.eq(self.write),
            write.addr.eq(self.write_address),
            write.data.eq(self.write_data),
            read.en.eq(self.read),
            read.addr.eq(self.read_address),
            self.read_data.eq(read.data),
        ]
        return m
