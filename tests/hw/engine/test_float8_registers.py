"""The register map of float8: as that of integers but for what it says, with constants for every scale."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from systoliq.golden import FLOAT8
from systoliq.golden.float8_requantization import EXPONENTS, Float8Requantization
from systoliq.hw.engine import REGISTERS, AxiEngine, EngineConfig
from systoliq.hw.engine.float8_lane import Float8EngineLane
from systoliq.hw.engine.float8_registers import FLOAT8_MAP, FORMAT_NUMBERS, map_of
from systoliq.hw.engine.registers import RegisterMap

onnx = pytest.importorskip("onnx", reason="onnx numbers the types")
SCALES = np.float32([1e-45, 2.0**-149 * 3, 2.0**-126, 0.3, 1, 3e38, np.finfo(np.float32).max])


def test_it_has_the_place_of_the_integer_register():
    assert [register.offset for register in FLOAT8_MAP.registers] == [register.offset for register in REGISTERS]
    same = [new.name for new, old in zip(FLOAT8_MAP.registers, REGISTERS, strict=True) if new is old]
    changed = {"ID", "BUFFERS", "M", "FORMATS", "EXPONENT_OFFSET"}
    assert {register.name for register in FLOAT8_MAP.registers} - set(same) == changed
    table = FLOAT8_MAP.column_table
    assert [word.offset for word in table.words] == list(range(0, table.stride, 4))
    assert FLOAT8_MAP.tables == (table,)
    assert FLOAT8_MAP.identification != RegisterMap().identification  # a driver for the other one stops there


def test_each_engine_has_its_own():
    assert map_of(EngineConfig()) == RegisterMap()
    assert map_of(EngineConfig(a=FLOAT8[0], b=FLOAT8[1], y=FLOAT8[2])) is FLOAT8_MAP


def test_formats_have_onnx_s_numbers():
    for form, number in FORMAT_NUMBERS.items():
        assert onnx.TensorProto.DataType.Name(number) == form.name.replace("_", "").upper()


@pytest.mark.parametrize("formats", [*itertools.product(FLOAT8, repeat=3)], ids=lambda each: "-".join(map(str, each)))
def test_the_exponent_has_room_for_every_scale(formats):
    """And is that of the scale and the register together."""
    config = EngineConfig(**dict(zip("aby", formats, strict=True)), rows=1, cols=1, lanes=1)
    (field,) = FLOAT8_MAP.column_table.words[1].fields
    assert len(Float8EngineLane(config).requantizer.exponent) == field.bits
    offset = AxiEngine(config).constants()["EXPONENT_OFFSET", "offset"]
    offset -= (offset >> 31) << 32
    for exponent in (min(EXPONENTS), max(EXPONENTS)):
        assert -(1 << field.bits - 1) <= exponent + offset < 1 << field.bits - 1


def test_scales_have_those_exponents():
    exponents = Float8Requantization.from_scales(SCALES, FLOAT8[0]).exponent
    assert (min(exponents), max(exponents)) == (min(EXPONENTS), max(EXPONENTS))
    assert all(exponent in EXPONENTS for exponent in exponents)
