"""The register map of an engine in its sidecar: addresses, fields, tables with their sizes, errors, ready for JSON."""

from __future__ import annotations

from typing import Any

from systoliq.hw.engine import lane_slots
from systoliq.hw.engine.registers import Register, RegisterMap, Table

from ...design.engine.design import EngineDesign

__all__ = ["field_facts", "register_facts"]


def register_facts(design: EngineDesign) -> dict[str, Any]:
    """The registers at s_axi_ctrl for software; a field that never changes has a `value`.

    A table's entry is at base + sum(index[i] * strides[i]), with index[i] below sizes[i]: there is a gap where lanes
    are no power of two.
    """
    registers: RegisterMap = design.engine.map
    constants: dict[tuple[str, str], int] = design.engine.constants()
    return {
        "version": list(registers.version),
        "registers": [field_facts(register, 0, constants) for register in registers.registers],
        "tables": [
            {
                "name": table.name,
                "base": table.base,
                **_extent(design, registers, table),
                "doc": table.doc,
                "words": [field_facts(word, 0, {}) for word in table.words],
            }
            for table in reversed(registers.tables)
        ],
        "errors": [
            {"name": name, "code": code, "meaning": meaning} for name, (code, meaning) in registers.errors.items()
        ],
    }


def field_facts(register: Register, base: int, constants: dict[tuple[str, str], int]) -> dict[str, Any]:
    """A register of a map that begins at `base`, with its fields; `constants` are values that never change."""
    return {
        "name": register.name,
        "offset": base + register.offset,
        "access": register.access,
        "doc": register.doc,
        "fields": [
            {
                "name": field.name,
                "lsb": field.lsb,
                "bits": field.bits,
                "signed": field.signed,
                **({"value": constants[key]} if (key := (register.name, field.name)) in constants else {}),
                "doc": field.doc,
            }
            for field in register.fields
        ],
    }


def _extent(design: EngineDesign, registers: RegisterMap, table: Table) -> dict[str, list[int]]:
    """Entries of a table, and the bytes from one to the next: in one dimension, or in two with a gap."""
    config = design.config
    if table is registers.row_table:
        return {"sizes": [config.max_rows], "strides": [table.stride]}
    slots = lane_slots(config)
    if slots == config.lanes:
        return {"sizes": [config.table_words * slots], "strides": [table.stride]}
    return {"sizes": [config.table_words, config.lanes], "strides": [slots * table.stride, table.stride]}
