"""The memory map in a block's IP-XACT: its registers, and its tables as arrays of register files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .fields import field_text, reset_value
from .ipxact_element import Element, add

__all__ = ["add_memory_map"]

_ACCESS = {"rw": "read-write", "ro": "read-only", "wo": "write-only"}
_BITS = 32


def add_memory_map(root: Element, name: str, address_bits: int, registers: Mapping[str, Any]) -> None:
    """A memory map `name` of one block of registers, that fills an address of `address_bits` bits."""
    memory = add(add(root, "memoryMaps"), "memoryMap")
    add(memory, "name", name)
    block = add(memory, "addressBlock")
    add(block, "name", "registers")
    add(block, "baseAddress", 0)
    add(block, "range", 1 << address_bits)
    add(block, "width", _BITS)
    add(block, "usage", "register")
    for register in registers["registers"]:
        _register(block, register)
    for table in registers["tables"]:
        _table(block, table)
    add(memory, "addressUnitBits", 8)


def _register(parent: Element, register: Mapping[str, Any]) -> None:
    made = add(parent, "register")
    add(made, "name", register["name"])
    add(made, "description", register["doc"])
    add(made, "addressOffset", register["offset"])
    add(made, "size", _BITS)
    add(made, "access", _ACCESS[register["access"]])
    for field in register["fields"]:
        each = add(made, "field")
        add(each, "name", field["name"])
        if says := field_text(field):
            add(each, "description", says)
        add(each, "bitOffset", field["lsb"])
        if (value := reset_value(register, field)) is not None:
            add(add(add(each, "resets"), "reset"), "value", value)
        add(each, "bitWidth", field["bits"])


def _table(parent: Element, table: Mapping[str, Any]) -> None:
    """A register file for each index: its range is the stride, so that its copies lie where the entries do."""
    name, offset = table["name"], table["base"]
    for size, stride in zip(table["sizes"], table["strides"], strict=True):
        parent = add(parent, "registerFile")
        add(parent, "name", name)
        if offset:
            add(parent, "description", table["doc"])
        add(parent, "dim", size)
        add(parent, "addressOffset", offset)
        add(parent, "range", stride)
        name, offset = "ENTRY", 0
    for word in table["words"]:
        _register(parent, word)
