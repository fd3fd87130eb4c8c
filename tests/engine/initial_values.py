"""Verilog without the initial values of its registers: what an ASIC has, where only reset gives values."""

from __future__ import annotations

import re

from systoliq.hw.verilog import Verilog, files_of

__all__ = ["without_initial_values"]

_NAME = r"(?:\\\S+|\w+)"
_MODULE = re.compile(r"^module .*?^endmodule$", re.MULTILINE | re.DOTALL)
_REGISTER = re.compile(rf"^(\s*(?:output )?reg (?:\[\d+:\d+\] )?)({_NAME}) += [^;,\n]*", re.MULTILINE)
_CONTENTS = re.compile(rf"^\s*initial begin\n((?:\s*({_NAME})\s*\[\d+\] = [^;]*;\n)+)\s*end\n", re.MULTILINE)
_IN_FILE = re.compile(rf"^\s*initial \$readmemh\(\"[\w.]+\", ({_NAME})\);", re.MULTILINE)


def without_initial_values(verilog: str) -> str:
    """The text with registers and written memories undefined at first; memories that nothing writes keep theirs."""
    stripped = 0

    def strip(module: re.Match[str]) -> str:
        nonlocal stripped
        text, registers = _REGISTER.subn(r"\1\2", module[0])
        memories = [found for found in _CONTENTS.finditer(text) if _is_written(found[2], text)]
        for found in reversed(memories):
            text = text[: found.start()] + text[found.end() :]
        stripped += registers + len(memories)
        return text

    text = _MODULE.sub(strip, verilog)
    assert stripped, "nothing was stripped"
    assert not _REGISTER.search(text)
    for module in _MODULE.findall(text):
        for line in re.findall(r"^\s*initial\b.*$", module, re.MULTILINE):
            assert "initial begin" in line or _IN_FILE.match(line), f"not understood: {line}"
        kept = [found[2] for found in _CONTENTS.finditer(module)] + _IN_FILE.findall(module)
        assert len(kept) == len(re.findall(r"^\s*initial\b", module, re.MULTILINE))
        assert not any(_is_written(name, module) for name in kept)
    return Verilog(text, files_of(verilog))


def _is_written(name: str, module: str) -> bool:
    return re.search(rf"(?<![\w\\$]){re.escape(name)}\s*\[[^;=<]*\](?:\s?\[[^;=<]*\])*\s*<=", module) is not None
