"""The engine's register map as documentation and as a C header, from the same description as hardware and driver."""

from __future__ import annotations

from collections.abc import Iterable

from systoliq.hw.engine.registers import Field, Register, RegisterMap, Table

__all__ = ["c_header", "field_macros", "markdown", "register_rows"]

ACCESS = {"rw": "read, write", "ro": "read", "wo": "write"}
PREFIX = "SYSTOLIQ_ENGINE"


def markdown(registers: RegisterMap | None = None) -> str:
    """The map, by default that of integers, as tables in Markdown."""
    registers = registers or RegisterMap()
    lines = [
        "# Registers of the engine",
        "",
        f"Version {registers.version[0]}.{registers.version[1]}; made by `systoliq registers`, do not edit.",
        "",
        "All registers have 32 bits; bits not named read as 0. Writes of less than four bytes and accesses to",
        "addresses that are not below (those beyond the last entry of a table among them) answer SLVERR. While",
        "STATUS.queued is 1, writes to settings (but INTERRUPT) are ignored, with the answer OKAY.",
        "",
        *register_rows(registers.registers),
    ]
    for table in reversed(registers.tables):
        lines += [
            "",
            f"## {table.name} (0x{table.base:06X}, {table.stride} bytes an entry, write only)",
            "",
            table.doc,
            "",
            "| offset | word | bits | |",
            "|---|---|---|---|",
        ]
        for word in table.words:
            (field,) = word.fields
            lines.append(f"| 0x{word.offset:X} | {word.name} | {_bits(field)} | {_signed(field)}{word.doc} |")
    lines += ["", "## Errors (STATUS.error)", "", "| code | name | |", "|---|---|---|"]
    lines += [f"| {code} | {name} | {meaning} |" for name, (code, meaning) in registers.errors.items()]
    return "\n".join([*lines, ""])


def register_rows(registers: Iterable[Register], base: int = 0) -> list[str]:
    """A table of `registers`, the first of which is at address `base`."""
    lines = ["| address | register | access | bits | field | |", "|---|---|---|---|---|---|"]
    for register in registers:
        address = f"0x{base + register.offset:02X}"
        lines.append(f"| {address} | **{register.name}** | {ACCESS[register.access]} | | | {register.doc} |")
        lines += [_row(field) for field in register.fields]
    return lines


def c_header(registers: RegisterMap | None = None) -> str:
    """The map as a header for C and C++: offsets, masks, shifts, tables and error codes."""
    registers = registers or RegisterMap()
    guard = f"{PREFIX}_H"
    lines = [
        "/* Registers of the systoliq engine; made by `systoliq registers`, do not edit. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        f"#define {PREFIX}_MAP_MAJOR {registers.version[0]}u",
        f"#define {PREFIX}_MAP_MINOR {registers.version[1]}u",
    ]
    for register in registers.registers:
        name = f"{PREFIX}_{register.name}"
        lines += ["", f"/* {register.doc} ({ACCESS[register.access]}) */", f"#define {name} 0x{register.offset:02X}u"]
        lines += field_macros(name, register.fields)
    for table in reversed(registers.tables):
        lines += ["", f"/* {table.doc} */", *_table_macros(table)]
    lines += ["", "/* Values of STATUS.error. */"]
    for name, (code, meaning) in registers.errors.items():
        lines.append(f"#define {PREFIX}_ERROR_{name} {code}u /* {meaning} */")
    return "\n".join([*lines, "", f"#endif /* {guard} */", ""])


def _row(field: Field) -> str:
    return f"| | | | {_bits(field)} | {field.name} | {_signed(field)}{field.doc} |"


def _bits(field: Field) -> str:
    return str(field.lsb) if field.bits == 1 else f"{field.lsb + field.bits - 1}:{field.lsb}"


def _signed(field: Field) -> str:
    return "Signed. " if field.signed else ""


def field_macros(name: str, fields: Iterable[Field]) -> list[str]:
    """Macros of the fields of a register."""
    lines = []
    for field in fields:
        macro = f"{name}_{field.name.upper()}"
        lines += [f"#define {macro}_SHIFT {field.lsb}", f"#define {macro}_MASK 0x{field.mask:08X}u"]
    return lines


def _table_macros(table: Table) -> list[str]:
    name = f"{PREFIX}_{table.name}"
    words = [f"#define {name}_{word.name} 0x{word.offset:X}u" for word in table.words]
    return [f"#define {name} 0x{table.base:06X}u", f"#define {name}_STRIDE {table.stride}u", *words]
