"""The register map: nothing overlaps, everything has its words, and tables stand where one bit selects them."""

from __future__ import annotations

import itertools

import pytest

from systoliq.hw.engine import ADDRESS_BITS, COLUMN_TABLE, ERRORS, REGISTERS, ROW_TABLE

EVERY = [*REGISTERS, *COLUMN_TABLE.words, *ROW_TABLE.words]


def test_registers_stand_at_successive_words():
    assert [register.offset for register in REGISTERS] == list(range(0, 4 * len(REGISTERS), 4))


@pytest.mark.parametrize("register", EVERY, ids=lambda register: register.name)
def test_fields_do_not_overlap_and_fit(register):
    assert register.access in ("rw", "ro", "wo")
    assert register.doc
    masks = [field.mask for field in register.fields]
    assert all(0 < mask < 1 << 32 for mask in masks)
    assert all(one & other == 0 for one, other in itertools.combinations(masks, 2))
    for field in register.fields:
        assert register.field(field.name) is field
        assert field.mask == sum(1 << bit for bit in range(field.lsb, field.lsb + field.bits))


def test_identification_fills_its_words():
    """No bits are left that a host would have to leave out before it knows the version."""
    for name in ("ID", "VERSION"):
        (register,) = (each for each in REGISTERS if each.name == name)
        assert sum(field.mask for field in register.fields) == (1 << 32) - 1


def test_names_are_unique():
    for names in ([register.name for register in REGISTERS], *([f.name for f in r.fields] for r in EVERY)):
        assert len(names) == len(set(names))


def test_tables_do_not_overlap_with_each_other_or_with_registers():
    assert 4 * len(REGISTERS) <= ROW_TABLE.base
    assert ROW_TABLE.base + ROW_TABLE.stride * 65536 <= COLUMN_TABLE.base
    assert COLUMN_TABLE.base + COLUMN_TABLE.stride * 65536 <= 1 << ADDRESS_BITS
    for table in (COLUMN_TABLE, ROW_TABLE):
        assert table.base & (table.base - 1) == 0
        assert [word.offset for word in table.words] == list(range(0, table.stride, 4))


def test_errors_have_codes_of_their_own_that_fit_the_field():
    codes = [code for code, _ in ERRORS.values()]
    status = next(register for register in REGISTERS if register.name == "STATUS")
    assert sorted(codes) == list(range(1, len(codes) + 1))
    assert max(codes) < 1 << status.field("error").bits
