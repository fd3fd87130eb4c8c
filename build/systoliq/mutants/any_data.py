"""Data whose values a proof can ignore: memories and wide registers.

They can have any value, and are wholly unknown if one of their source bits is. A proof with these additional unknown
bits also holds for the design, which has fewer of them. Data that is written to a memory must be known, so it counts as
observable.
"""

from __future__ import annotations

import re

from .environment import modules_of

__all__ = ["WRITTEN", "with_any_data"]

WRITTEN = "systoliq_written"
"""Prefix of nets that count as observable: the data, address and enable of writes to a memory."""

_MEMORY = re.compile(r"^  reg \[(\d+):0\] memory \[(\d+):0\];\n", re.M)
_CONTENTS = re.compile(r"^  initial begin\n(?:    memory\[\d+\] = .*;\n)+  end\n", re.M)
_WRITE = re.compile(r"^  always @\(posedge clk\) begin\n    if \((.*)\)\n      memory\[(.*)\] <= (.*);\n  end\n", re.M)
_READ = re.compile(r"(?<=<= )memory\[(\w+)\](?=;$)", re.M)
_REGISTER = re.compile(r"^  (output )?reg \[(\d+):0\] (\w+)(?: = [^;,\n]*)?([;,]?)$", re.M)


def with_any_data(verilog: str, *, wider: int) -> str:
    """`verilog` with free data: all words of memories, and registers of more than `wider` bits, have any value at any
    time.
    """
    for body in modules_of(verilog).values():
        verilog = verilog.replace(body, _of_registers(_of_memory(body), wider))
    return verilog


def _of_memory(body: str) -> str:
    """A module without its memory; unchanged if the memory is used in another way than in `systoliq.hw`."""
    memory = _MEMORY.search(body)
    if memory is None:
        return body
    width, address = int(memory[1]) + 1, int(memory[2]).bit_length()
    reads = _READ.findall(body)
    nets = [_any(width, address, f"memory_{place}") for place in range(len(reads))]
    words = (
        _word(width, f"memory_{place}", f"^({read} & systoliq_bits_memory_{place})") for place, read in enumerate(reads)
    )
    changed = _READ.sub(lambda _: next(words), _CONTENTS.sub("", body.replace(memory[0], "".join(nets))))
    changed = _WRITE.sub(
        lambda write: (
            f"  (* keep *) wire {WRITTEN} = {write[1]};\n"
            f"  (* keep *) wire [{address - 1}:0] {WRITTEN}_where = {write[1]} ? {write[2]} : 0;\n"
            f"  (* keep *) wire [{width - 1}:0] {WRITTEN}_what = {write[1]} ? {write[3]} : 0;\n"
        ),
        changed,
    )
    return body if re.search(r"\bmemory\b", changed) else changed


def _of_registers(body: str, wider: int) -> str:
    """A module in which each wide register is reduced to one bit: whether it is unknown."""
    for found in _REGISTER.finditer(body):
        output, name, width = found[1] or "", found[3], int(found[2]) + 1
        written = re.compile(rf"^  always @\(posedge clk\)\n    {name} <= (.*);\n", re.M)
        value = written.search(body)
        if width <= wider or value is None or len(re.findall(rf"^ +{name}\b.* <=", body, re.M)) > 1:
            continue
        lines = (
            _any(width, width, name),
            f"  reg systoliq_spoilt_{name} = 1'h0;\n",
            f"  always @(posedge clk)\n    systoliq_spoilt_{name} <= ^(({value[1]}) & systoliq_bits_{name});\n",
            f"  assign {name} = {_word(width, name, f'systoliq_spoilt_{name}')};\n",
        )
        body = body.replace(value[0], "".join(lines))
        body = body.replace(found[0], f"  {output}wire [{width - 1}:0] {name}{found[4]}")
    return body


def _any(width: int, asked: int, name: str) -> str:
    """Nets of any value: a word, and as many bits as `asked`; one of these shows whether the word is unknown."""
    return (
        f"  (* keep *) wire [{width - 1}:0] systoliq_word_{name};\n"
        f"  (* keep *) wire [{asked - 1}:0] systoliq_bits_{name};\n"
    )


def _word(width: int, name: str, unknown: str) -> str:
    """Return a word of any value; all its bits are unknown if the bit `unknown` is."""
    return f"systoliq_word_{name} ^ {{{width}{{{unknown}}}}}"
