"""Registers of a float8 engine that differ from an integer engine's, and the register map of a configuration."""

from __future__ import annotations

import dataclasses

from systoliq.golden.float8 import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, Float8Format

from .config import EngineConfig
from .registers import COLUMN_TABLE, ERRORS, REGISTERS, Field, Register, RegisterMap, Table, whole

__all__ = ["FLOAT8_MAP", "FORMAT_NUMBERS", "map_of"]

FORMAT_NUMBERS: dict[Float8Format, int] = {E4M3FN: 17, E4M3FNUZ: 18, E5M2: 19, E5M2FNUZ: 20}
"""ONNX's names of the formats: TensorProto.DataType."""

_NUMBERS = ", ".join(f"{number} {form.name}" for form, number in FORMAT_NUMBERS.items())


def _others() -> dict[str, Register]:
    """Registers that replace a register of `REGISTERS`, by name."""
    buffers, rows = (register for register in REGISTERS if register.name in ("BUFFERS", "M"))
    return {
        "ID": Register(
            name="ID",
            offset=0x00,
            access="ro",
            doc="Identification: 0x5346, 'SF': a float8 engine.",
            fields=whole("id", "0x5346"),
        ),
        "BUFFERS": dataclasses.replace(
            buffers, fields=tuple(field for field in buffers.fields if field.name != "max_rows_log2")
        ),
        "M": dataclasses.replace(rows, fields=rows.fields[:1]),
        "FORMAT": Register(
            name="FORMATS",
            offset=0x2C,
            access="ro",
            doc=f"Formats of all jobs, as numbers of ONNX data types: {_NUMBERS}.",
            fields=tuple(
                Field(name=name, lsb=8 * i, bits=8, doc=f"Format of {name.upper()}.") for i, name in enumerate("aby")
            ),
        ),
        "ZERO_POINTS": Register(
            name="EXPONENT_OFFSET",
            offset=0x30,
            access="ro",
            doc="Offset of the exponents in the column table.",
            fields=whole("offset", "", signed=True),
        ),
    }


FLOAT8_MAP = RegisterMap(
    identification=0x5346,
    version=(2, 0),
    registers=tuple(_others().get(register.name, register) for register in REGISTERS),
    column_table=Table(
        name=COLUMN_TABLE.name,
        base=COLUMN_TABLE.base,
        stride=8,
        doc=COLUMN_TABLE.doc,
        words=(
            Register(
                name="MULTIPLIER",
                offset=0x0,
                access="wo",
                doc="Mantissa of the scale: 2^23 to 2^24 - 1.",
                fields=whole("multiplier", "", 24),
            ),
            Register(
                name="EXPONENT",
                offset=0x4,
                access="wo",
                doc="scale = multiplier * 2^(exponent - EXPONENT_OFFSET), any positive and finite float32. Writing it "
                "commits the entry.",
                fields=whole("exponent", "", 9, signed=True),
            ),
        ),
    ),
    row_table=None,
    errors={name: error for name, error in ERRORS.items() if name != "TOO_MANY_ROWS"},
)


def map_of(config: EngineConfig) -> RegisterMap:
    """The map of an engine of ``config``."""
    return FLOAT8_MAP if config.float8 else RegisterMap()
