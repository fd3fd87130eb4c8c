"""Verilog whose registers have no value at power-up, as in an ASIC, where only reset gives values."""

from __future__ import annotations

import re

from systoliq.hw.verilog import Verilog, files_of

__all__ = ["without_initial_values"]

_NAME = r"(?:\\\S+|\w+)"
_MODULE = re.compile(r"^module .*?^endmodule$", re.MULTILINE | re.DOTALL)
_REGISTER = re.compile(rf"^(\s*(?:output )?reg (?:\[\d+:\d+\] )?)({_NAME}) += [^;,\n]*", re.MULTILINE)
_CONTENTS = re.compile(rf"^\s*initial begin\n((?:\s*({_NAME})\s*\[\d+\] = [^;]*;\n)+)\s*end\n", re.MULTILINE)
_IN_FILE = re.compile(rf"^\s*initial \$readmemh\(\"[\w.]+\", ({_NAME})\);", re.MULTILINE)
_INITIAL = re.compile(r"^\s*initial\b.*$", re.MULTILINE)


def without_initial_values(verilog: str) -> Verilog:
    """Return the text with registers and written memories undefined at first; lines keep their numbers.

    Memories that nothing writes keep their contents.

    Raises
    ------
    ValueError
        if the text has an initial value that is not understood, or none at all.
    """
    stripped = 0

    def strip(module: re.Match[str]) -> str:
        nonlocal stripped
        text, registers = _REGISTER.subn(r"\1\2", module[0])
        memories = [found for found in _CONTENTS.finditer(text) if _is_written(found[2], text)]
        for found in reversed(memories):
            text = text[: found.start()] + "\n" * found[0].count("\n") + text[found.end() :]
        stripped += registers + len(memories)
        return text

    text = _MODULE.sub(strip, verilog)
    if not stripped:
        raise ValueError("the Verilog must have registers with initial values")
    for module in _MODULE.findall(text):
        kept = [found[2] for found in _CONTENTS.finditer(module)] + _IN_FILE.findall(module)
        if _REGISTER.search(module) or len(kept) != len(_INITIAL.findall(module)):
            raise ValueError(f"an initial value is not understood in {module.partition('(')[0].strip()}")
        if written := [name for name in kept if _is_written(name, module)]:
            raise ValueError(f"the memory {written[0]} is written, but keeps initial contents")
    return Verilog(text, files_of(verilog))


def _is_written(name: str, module: str) -> bool:
    return re.search(rf"(?<![\w\\$]){re.escape(name)}\s*\[[^;=<]*\](?:\s?\[[^;=<]*\])*\s*<=", module) is not None
