"""One description of the registers: a change of it shows in the documentation, the C header and the driver."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from systoliq.golden import INT8
from systoliq.hw.engine import ERRORS, REGISTERS
from systoliq.hw.engine.host import Job, Map, column_constants, describe, sequence
from systoliq.package.engine.register_map import c_header, markdown

from ...engine.engines import SMALL

ROOT = Path(__file__).resolve().parents[3]


def job():
    return Job(
        a=np.ones((2, 3), np.uint8),
        b=np.ones((3, 2), np.int8),
        a_zero_point=np.array([1, 2], np.uint8),
        b_zero_point=np.zeros(2, np.int8),
        bias=np.zeros(2, np.int32),
        scale=np.full(2, 0.5, np.float32),
        y_zero_point=3,
        y_format=INT8,
    )


def moved(name, offset, **shifts):
    """The description with one register somewhere else, and its fields in other places."""
    registers = []
    for register in REGISTERS:
        if register.name == name:
            fields = tuple(
                dataclasses.replace(field, lsb=shifts.get(field.name, field.lsb)) for field in register.fields
            )
            register = dataclasses.replace(register, offset=offset, fields=fields)
        registers.append(register)
    return Map(registers=registers)


def step(name, registers):
    return next(each for each in sequence(job(), SMALL, registers) if each.name == name and each.action == "write")


def test_a_change_shows_everywhere():
    changed = moved("FORMAT", 0x70, a_unsigned=17)
    for text, before, after in [
        (markdown, "| 0x2C | **FORMAT** |", "| 0x70 | **FORMAT** |"),
        (markdown, "| 0 | a_unsigned |", "| 17 | a_unsigned |"),
        (c_header, "#define SYSTOLIQ_ENGINE_FORMAT 0x2Cu", "#define SYSTOLIQ_ENGINE_FORMAT 0x70u"),
        (c_header, "FORMAT_A_UNSIGNED_MASK 0x00000001u", "FORMAT_A_UNSIGNED_MASK 0x00020000u"),
    ]:
        assert before in text(Map())
        assert before not in text(changed)
        assert after in text(changed)
    assert (step("FORMAT", Map()).address, step("FORMAT", Map()).value & 1) == (0x2C, 1)
    assert (step("FORMAT", changed).address, step("FORMAT", changed).value & 0x20001) == (0x70, 0x20000)


def test_a_changed_table_shows_everywhere():
    table = dataclasses.replace(Map().column_table, base=0x180000)
    changed = Map(column_table=table)
    assert "0x180000" in markdown(changed)
    assert "COLUMN_TABLE 0x180000u" in c_header(changed)
    assert "0x180000" in describe(sequence(job(), SMALL, changed))


def test_a_new_error_shows_in_docs_and_header():
    errors = {**ERRORS, "TOO_COLD": (11, "Warm the engine.")}
    assert "| 11 | TOO_COLD | Warm the engine. |" in markdown(Map(errors=errors))
    assert "#define SYSTOLIQ_ENGINE_ERROR_TOO_COLD 11u" in c_header(Map(errors=errors))


def test_files_are_up_to_date():
    """`systoliq registers docs` writes both."""
    assert (ROOT / "docs" / "registers.md").read_text() == markdown()
    assert (ROOT / "docs" / "systoliq_engine.h").read_text() == c_header()


def test_no_two_registers_share_bits():
    offsets = [register.offset for register in REGISTERS]
    assert len(set(offsets)) == len(offsets)
    for register in REGISTERS:
        bits = sum(field.mask for field in register.fields)
        assert bits.bit_count() == sum(field.bits for field in register.fields) if hasattr(bits, "bit_count") else True
        assert bits < 1 << 32


@pytest.mark.parametrize("scale", [2.0**-32, 2.0**-32 * 1.0000001, 2.0**-31, 1e-9, 0.75, 1.0, 255.9, 256.0, 1e30, 0.0])
def test_constants_are_those_of_the_scale(scale):
    (multiplier,), (shift,) = column_constants(np.float32([scale]))
    assert 14 <= shift <= 63
    if np.float32(scale) <= 2.0**-32:
        assert multiplier == 0
    else:
        assert multiplier >> 23 == 1
        assert int(multiplier) * 2.0 ** -int(shift) == min(float(np.float32(scale)), 256.0)
