"""The form for tools that read SystemRDL: the registers of an engine, its tables as arrays of registers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .block import Block
from .fields import field_text, reset_value

__all__ = ["system_rdl"]

_ACCESS = {"rw": "sw = rw; hw = r;", "ro": "sw = r; hw = w;", "wo": "sw = w; hw = r;"}
_CONSTANT = "sw = r; hw = na;"
_ERROR = ("STATUS", "error")
"""The field whose values are the errors."""


def system_rdl(block: Block) -> str:
    """The text of a file with the address map `NAME_registers`, of a block that has registers."""
    registers = block.sidecar["registers"]
    major, minor = registers["version"]
    lines = [
        f"// Registers of {block.name} at its AXI4-Lite port, version {major}.{minor} of the map; written by systoliq.",
        f"addrmap {block.name}_registers {{",
        f'    name = "Registers of {block.name}";',
        f'    desc = "Version {major}.{minor}; registers.md says when writes are taken.";',
        "    default regwidth = 32;",
        "    default accesswidth = 32;",
        "",
        *_errors(registers["errors"]),
    ]
    for register in registers["registers"]:
        lines += ["", *_register(register)]
    for table in registers["tables"]:
        lines += ["", *_table(table)]
    return "\n".join([*lines, "};", ""])


def _errors(errors: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "    enum error_code {"
    yield '        NONE = 8\'d0 { desc = "No error."; };'
    for error in errors:
        yield f"        {error['name']} = 8'd{error['code']} {{ desc = {_text(error['meaning'])}; }};"
    yield "    };"


def _register(register: Mapping[str, Any], indent: str = "    ") -> Iterator[str]:
    yield f"{indent}reg {{"
    yield f"{indent}    desc = {_text(register['doc'])};"
    for field in register["fields"]:
        access = _CONSTANT if "value" in field else _ACCESS[register["access"]]
        desc = f" desc = {_text(says)};" if (says := field_text(field)) else ""
        encode = " encode = error_code;" if (register["name"], field["name"]) == _ERROR else ""
        bits = f"{field['name']}[{field['lsb'] + field['bits'] - 1}:{field['lsb']}]"
        reset = reset_value(register, field)
        yield f"{indent}    field {{ {access}{desc}{encode} }} {bits}{'' if reset is None else f' = {reset:#x}'};"
    yield f"{indent}}} {register['name']} @ {register['offset']:#x};"


def _table(table: Mapping[str, Any]) -> Iterator[str]:
    """Arrays of register files, one within the other where there are two indexes."""
    depth = len(table["sizes"])
    for level in range(depth):
        indent = "    " * (level + 1)
        yield f"{indent}regfile {{"
        if not level:
            yield f"{indent}    desc = {_text(table['doc'])};"
    for word in table["words"]:
        yield from _register(word, "    " * (depth + 1))
    names, bases = [table["name"], *["ENTRY"] * (depth - 1)], [table["base"], *[0] * (depth - 1)]
    closing = enumerate(zip(names, bases, table["sizes"], table["strides"], strict=True))
    for level, (name, base, size, stride) in reversed(list(closing)):
        yield f"{'    ' * (level + 1)}}} {name}[{size}] @ {base:#x} += {stride:#x};"


def _text(words: str) -> str:
    """A string of SystemRDL."""
    escaped = words.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
