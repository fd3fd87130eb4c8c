"""Contents of a large read-only memory as a file next to the Verilog, which its module reads by ``$readmemh``.

In the Verilog itself every word is a line, which tools read a hundred times slower.
"""

from __future__ import annotations

import numpy as np

from systoliq.golden.words import Words

from .hierarchy import Written

__all__ = ["SUFFIX", "hexadecimal", "rom_in_file"]

SUFFIX = ".mem"  # which Vivado recognizes as a ROM
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)


def rom_in_file(name: str, words: Words, width: int, latency: int) -> Written:
    """Module ``name``, a memory of ``words`` of ``width`` bits that are shown ``latency`` (1 or 2) cycles later.

    The file is ``name.mem``, without a folder: simulators look for it in the working directory, synthesis tools also
    next to the Verilog.
    """
    file = name + SUFFIX
    address = f"[{max((len(words) - 1).bit_length(), 1) - 1}:0]"
    bits = f"[{width - 1}:0]"
    read, way_out = "word", ""
    output = f"reg {bits} word"
    if latency == 2:
        read = "read_data"
        way_out = f"  reg {bits} read_data;\n"
        output += f" = {width}'h{0:0{-(-width // 4)}x}"
    text = (
        f"module {name}(clk, address, word);\n"
        f"  input clk;\n  wire clk;\n  input {address} address;\n  wire {address} address;\n"
        f"  output {bits} word;\n  {output};\n"
        f"  reg {bits} memory [0:{len(words) - 1}];\n"
        f'  initial $readmemh("{file}", memory);\n'
        f"{way_out}"
        f"  always @(posedge clk)\n    {read} <= memory[address];\n"
        + ("  always @(posedge clk)\n    word <= read_data;\n" if latency == 2 else "")
        + "endmodule\n"
    )
    return Written(verilog=text, files={file: hexadecimal(words, width)})


def hexadecimal(words: Words, width: int) -> bytes:
    """A line of hexadecimal digits for each of the ``words``, padded to ``width`` bits."""
    digits = -(-width // 4)
    turned = words[:, ::-1]  # the first digit is the highest
    both = np.stack([turned >> 4, turned & 0xF], axis=2).reshape(len(words), -1)
    lines = np.full((len(words), digits + 1), ord("\n"), np.uint8)
    lines[:, :-1] = _DIGITS[both[:, -digits:]]
    return lines.tobytes()
