"""The masters' registers as documentation and as a C header, from the same description as the hardware."""

from __future__ import annotations

from systoliq.hw.dma.list_player import ListError, Opcode
from systoliq.hw.dma.registers import BASE, DMA_REGISTERS

from ..engine.register_map import field_macros, register_rows

__all__ = ["dma_c_header", "dma_markdown"]

_PREFIX = "SYSTOLIQ_DMA"


def dma_markdown() -> str:
    """Tables in Markdown."""
    lines = [
        "# Registers of the masters",
        "",
        "Of a DMA engine; made by `systoliq registers`, do not edit.",
        "All have 32 bits; bits not named read as 0. Accesses to other addresses answer SLVERR.",
        "",
        *register_rows(DMA_REGISTERS, BASE),
        "",
        "## Errors (DMA_STATUS.list_error)",
        "",
        "| code | name |",
        "|---|---|",
        *(f"| {error.value} | {error.name} |" for error in ListError),
    ]
    return "\n".join([*lines, ""])


def dma_c_header() -> str:
    """Addresses, masks and shifts, commands of a list and its errors."""
    guard = f"{_PREFIX}_H"
    lines = [
        "/* Registers of the masters of a systoliq engine; made by `systoliq registers`, do not edit. */",
        f"#ifndef {guard}",
        f"#define {guard}",
    ]
    for register in DMA_REGISTERS:
        name = f"{_PREFIX}_{register.name.removeprefix('DMA_')}"
        lines += ["", f"/* {register.doc} */", f"#define {name} 0x{BASE + register.offset:06X}u"]
        lines += field_macros(name, register.fields)
    lines += ["", "/* Bits 31:30 of a command. */"]
    lines += [f"#define {_PREFIX}_COMMAND_{opcode.name} {opcode.value}u" for opcode in Opcode]
    lines += ["", "/* Values of STATUS.list_error. */"]
    lines += [f"#define {_PREFIX}_ERROR_{error.name} {error.value}u" for error in ListError]
    return "\n".join([*lines, "", f"#endif /* {guard} */", ""])
