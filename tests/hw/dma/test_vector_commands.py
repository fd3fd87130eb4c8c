"""Commands of the vector unit: what does not fit is refused by name, and tables are read once."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden.formats import INT8, UINT8, IntFormat
from systoliq.golden.network.sum_tables import SumTables
from systoliq.hw.dma.list_player import Opcode
from systoliq.hw.dma.registers import BASE, VECTOR_REGISTERS
from systoliq.hw.dma.vector_commands import VectorOperation, VectorPlacement, vector_commands

PLACE = {"rows": 1, "row_bytes": 1, "a": 0, "a_stride": 0, "y": 0, "y_stride": 0, "a_table": 0}


def sums(*, entry=0, shift=0, output=INT8):
    return SumTables(a=(entry,) * 256, b=(0,) * 256, shift=shift, output=output)


@pytest.mark.parametrize(
    ("tables", "operand", "message"),
    [
        (sums(entry=1 << 17), INT8, "entries of tables must have at most 18 bits for the vector unit, not 19"),
        (sums(shift=16), INT8, "shift must be at most 15 for the vector unit, not 16"),
        (sums(output=IntFormat.parse("int4")), INT8, "tensors of the vector unit must be int8 or uint8, not int4"),
        (sums(), IntFormat.parse("uint4"), "tensors of the vector unit must be int8 or uint8, not uint4"),
    ],
)
def test_operations_that_the_unit_cannot_compute(tables, operand, message):
    with pytest.raises(ValueError, match=message):
        VectorOperation(tables=tables, operand=operand, pair=True)


@pytest.mark.parametrize(
    ("shift", "pair", "message"),
    [
        (0, False, "pair must be True for the larger of two entries, not False"),
        (1, True, "shift must be 0 for the larger of two entries, not 1"),
    ],
)
def test_the_larger_of_two_entries_needs_two_and_has_no_shift(shift, pair, message):
    with pytest.raises(ValueError, match=message):
        VectorOperation(tables=sums(shift=shift), operand=INT8, pair=pair, largest=True)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("rows", 0, "rows must be from 1 to 65535, not 0"),
        ("rows", 1 << 16, "rows must be from 1 to 65535, not 65536"),
        ("row_bytes", 0, "row_bytes must be from 1 to 16777216, not 0"),
        ("row_bytes", (1 << 24) + 1, "row_bytes must be from 1 to 16777216, not 16777217"),
        *(
            (name, value, f"{name} must be from 0 to 4294967295, not {value}")
            for name in ("a", "b", "y", "a_table", "b_table")
            for value in (-1, 1 << 32, None)
        ),
        *(
            (name, value, f"{name} must be from -2147483648 to 4294967295, not {value}")
            for name in ("a_stride", "b_stride", "y_stride")
            for value in (-(1 << 31) - 1, 1 << 32, None)
        ),
    ],
)
def test_values_that_the_registers_cannot_hold(name, value, message):
    with pytest.raises(ValueError, match=message):
        VectorPlacement(**PLACE | {name: value})


@pytest.mark.parametrize("operand", [INT8, UINT8])
def test_a_table_in_memory_is_in_the_order_of_bits(operand):
    codes = np.arange(operand.min, operand.max + 1)
    operation = VectorOperation.lookup(np.clip(codes, -100, 100), operand, INT8)
    (table,) = operation.memory
    for bits, entry in enumerate(np.frombuffer(table, "<i4")):
        code = int(np.uint8(bits).view(operand.dtype))
        assert entry == max(-100, min(100, code))
        assert operation.apply(np.array([code], operand.dtype)) == entry


def test_tables_are_read_once():
    one, other = (VectorOperation.lookup(np.roll(np.arange(-128, 128), turn), INT8, INT8) for turn in (0, 1))
    place = VectorPlacement(**PLACE)
    start = Opcode.WRITE << 30 | (BASE + VECTOR_REGISTERS[0].offset)
    lists = [vector_commands([(each, place) for each in row]).words for row in ([one], [one, one], [one, other])]
    assert [words.count(start) for words in lists] == [2, 3, 4]


@pytest.mark.parametrize("form", [INT8, UINT8])
def test_the_larger_of_two(form):
    operation = VectorOperation.larger(form)
    a, b = np.meshgrid(*[np.arange(form.min, form.max + 1).astype(form.dtype)] * 2)
    assert np.array_equal(operation.apply(a, b), np.maximum(a, b))
    assert operation.output == form
