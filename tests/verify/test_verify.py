"""`systoliq verify` accepts what `emit` wrote, and refuses it after any change, saying which."""

from __future__ import annotations

import ast
import json
import random
import re
import shutil
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import systoliq.verify as package
from systoliq.design import LayerDesign, LayerOptions
from systoliq.golden import MatMulLayer
from systoliq.golden.formats import INT8
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.golden.rescale import requantize_float32
from systoliq.hw.rom import Rom
from systoliq.hw.verilog import emit_verilog
from systoliq.package import make_package
from systoliq.verify import float32, verify_package
from systoliq.verify.evaluate import Scope
from systoliq.verify.expression import UnreadableError
from systoliq.verify.room import room_for_wide_arrays
from systoliq.verify.syntax import read_verilog

from .sealing import change, seal

pytestmark = pytest.mark.usefixtures("short_testbenches")
AUTO = ["--requantizer", "auto", "--accumulator-bits", "auto"]  # a requantizer that is evaluated four times as fast

VARIANTS = {
    "resnet8-fc": ["resnet8-fc"],
    "smallest": ["resnet8-fc", *AUTO],
    "nearest": ["resnet8-fc", "--requantizer", "nearest"],
    "row sums": ["layer.npz", "--rows", "2", "--cols", "3", "--depth", "2"],
    "row sums, one lane": ["layer.npz"],
    "row sums, from lane to lane": ["layer.npz", "--cols", "4", "--depth", "5"],
    "row sums, from lane to lane, one tile": ["layer.npz", "--cols", "5", "--depth", "9"],
    "narrow activations": ["layer.npz", "--a-bits", "5", "--depth", "4"],
    "one sum": ["layer.npz", "--accumulator-bits", "auto"],
    "one element": ["layer.npz"],
    "ecp5": ["few.npz", "--cells", "ecp5"],
    "ice40": ["few.npz", "--cells", "ice40"],
    "gowin": ["few.npz", "--cells", "gowin"],
    "products in lookup tables": ["resnet8-fc", "--cells", "ecp5-lut"],
    "weights in cells": ["resnet8-fc", "--cells", "ecp5", "--rows", "2", "--cols", "2", "--depth", "2"],
    "weights in block RAM": ["resnet8-fc", "--rows", "2", "--cols", "2", "--depth", "2"],
    "cells of two columns": ["resnet8-fc", "--cells", "ecp5-pair", "--cols", "4", "--depth", "2", *AUTO],
    "cells of two columns, row sums and one column": ["layer.npz", "--cells", "ecp5-pair", "--cols", "1", *AUTO],
    "cells of two columns, row sums and four": ["layer.npz", "--cells", "dsp48e2-pair", "--cols", "4", *AUTO],
    "odd scales": ["layer.npz", "--cols", "5", "--requantizer", "auto"],
    "scales without an end": ["layer.npz", "--cols", "5"],
    "powers of two": ["layer.npz", "--cells", "ice40"],
}


@pytest.fixture(scope="module")
def emitted():
    """Directories of what was emitted, by variant and options."""
    return {}


@pytest.fixture
def emit(call, save, arrays, tmp_path, tmp_path_factory, emitted):
    """Emit a variant, once, and give a directory with a copy."""

    def emit(variant: str, *more: str) -> Path:
        if (variant, more) not in emitted:
            emitted[variant, more] = emit_first(tmp_path_factory.mktemp("emitted") / "out", variant, *more)
        return shutil.copytree(emitted[variant, more], tmp_path / "out")

    def emit_first(directory: Path, variant: str, *more: str) -> Path:
        if variant == "narrow activations":
            arrays["a_zero_point"] = np.uint8(9)
        if variant == "one sum":  # the least number of 13 bits, and no other
            arrays.update(b=arrays["b"] * 0, b_zero_point=np.zeros(5, np.int8), bias=np.full(5, -4096, np.int32))
        if variant == "odd scales":
            arrays.update(b_scale=np.float32([-0.01, 0.02, np.nan, 0.0, -0.003]), y_scale=np.float32(-0.5))
        if variant == "scales without an end":
            arrays.update(b_scale=np.float32([-0.01, 0.02, np.nan, 0.0, -0.003]), y_scale=np.float32(-0.0))
        if variant == "powers of two":
            arrays.update(a_scale=np.float32(2**-6), b_scale=np.float32([2**-9, 2**-8, 2**-8, 2**-7, 2**-6]))
        if variant == "one element":
            arrays.update(
                {name: arrays[name][:1] for name in ("b_scale", "b_zero_point", "bias")}, b=arrays["b"][:1, :1]
            )
        save("layer.npz", **arrays)
        few = {name: arrays[name][:2] for name in ("b_scale", "b_zero_point", "bias")}
        save("few.npz", **arrays | few | {"b": arrays["b"][:3, :2]})
        source, *options = VARIANTS[variant]
        result = call("emit", tmp_path / source if source.endswith(".npz") else source, "--out", directory,
                      *options, *more)  # fmt: skip
        assert result.exit_code == 0, result.output
        return directory

    return emit


def file_of(directory: Path, suffix: str) -> Path:
    name = json.loads((directory / "certificate.json").read_text())["name"]
    return directory / f"{name}{suffix}"


PAIRS = [variant for variant in VARIANTS if variant.startswith("cells of two columns")]


@pytest.mark.sampled(99)
@pytest.mark.parametrize("variant", PAIRS)
def test_accepts_cells_of_two_columns(variant, emit):
    report = verify_package(emit(variant))
    assert report.passed, report.reasons


@pytest.mark.sampled(99)
@pytest.mark.parametrize("variant", [each for each in VARIANTS if each not in PAIRS])
def test_accepts_what_emit_wrote(variant, emit, call):
    result = call("verify", emit(variant))
    assert result.exit_code == 0, result.output
    assert re.search(r"verified: \w+ equals the float32 formula in \d+ columns?, \d+ steps?", result.output)


ROM = r"_weights_0_rom\(.*?memory\[3\] = \d+'h(\w+);"
TAMPERINGS = {
    "weight ROM": (".v", ROM, "the weight memory has b[3, 0] - zero point"),
    "bias table": (".v", r"_lane_0\(.*?\[4\] = \d+'h(\w+);", "column 4 has the bias"),
    "multiplier": (".v", r"multiplier\S* <?= \d+'h(\w+);", ".multiplier is "),
    "shift": (".v", r"shift\S* <?= \d+'h(\w+);", ".shift is "),
    "zero point": (".v", r"\.zero_point\(\d+'h(\w+)\)", "has the zero point of Y"),
}


CELL_TAMPERINGS = {
    "a pin moved": (
        "weights in cells",
        r"_multiplier_18x18\(.*?\.P3\(cell_product\[(\d)\]\)",
        "4",
        "cell_product is driven twice",
    ),
    "pins swapped": ("weights in cells", r"_multiplier_18x18\(.*?\.A3\(a\[(\d)\]\)", "2", "is not the form 'near-tie'"),
    "a mode of ECP5": (
        "weights in cells",
        r'_multiplier_18x18\(.*?SOURCEB_MODE\("(\w+)"',
        "C_SHIFT",
        "SOURCEB_MODE = C_SHIFT, a mode",
    ),
    "a sign flag": (
        "weights in cells",
        r"_multiplier_18x18\(.*?\.SIGNEDA\(1'h(1)",
        "0",
        "has SIGNEDA tied to something else than 1",
    ),
    "a weight": (
        "weights in cells",
        r"_weights_0_rom\(.*?\.INITVAL_03\(320'h\w+(\w)\w{30}\)",
        None,
        "the weight memory has b[",
    ),
    "a weight memory that is written to": (
        "weights in cells",
        r"_weights_0_rom\(.*?\.WEA\(1'h(0)\)",
        "1",
        "has WEA tied to something else than 0",
    ),
    "a carry chain": (
        "products in lookup tables",
        r"\) product_4_0_sum_bits_2\d \(.*?\.CIN\((\w+)\)",
        "1'h1",
        "is not the form 'near-tie'",
    ),
    "a mode of a carry chain": (
        "products in lookup tables",
        r"_wide_multiplier\(.*?INJECT1_0\(\"(NO)\"",
        "YES",
        "INJECT1_0 = YES, a mode",
    ),
    "a mode of iCE40": (
        "ice40",
        r"_multiplier_16x16\(.*?TOPOUTPUT_SELECT\(2'h(3)",
        "0",
        "TOPOUTPUT_SELECT = 0, a mode",
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", CELL_TAMPERINGS)
def test_refuses_vendor_cells_that_compute_something_else(what, emit, call):
    variant, pattern, new, reason = CELL_TAMPERINGS[what]
    directory = emit(variant)
    change(file_of(directory, ".v"), pattern, new)
    seal(directory)
    result = call("verify", directory)
    assert result.exit_code == 1
    assert reason in result.output, result.output


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "sealed", [pytest.param(True, id="and all digests"), pytest.param(False, id="one byte", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("what", TAMPERINGS)
def test_refuses_other_constants_in_the_verilog(what, sealed, emit, call):
    directory = emit("smallest")
    suffix, pattern, reason = TAMPERINGS[what]
    change(file_of(directory, suffix), pattern)
    if sealed:
        seal(directory)
    result = call("verify", directory)
    assert result.exit_code == 1
    assert reason in result.output
    assert ("resnet8_fc.v: sha256 is not the one" in result.output) != sealed


def test_refuses_another_byte_anywhere_in_the_verilog(emit, call):
    directory = emit("smallest")
    change(file_of(directory, ".v"), r"module \w+_pe_top\(.*?(capture_next = 1'h0)")
    result = call("verify", directory)
    assert result.exit_code == 1
    assert "refused: resnet8_fc.v: sha256 is not the one in certificate.json" in result.output


@pytest.mark.sampled(8)
@pytest.mark.parametrize("field", ["multiplier", "shift", "offset", "bias", "steps", "least", "needed_bits", "k"])
def test_refuses_other_numbers_in_the_certificate(field, emit, call):
    directory = emit("smallest")
    change(directory / "certificate.json", rf'"{field}": (-?\d+)')
    result = call("verify", directory)
    assert result.exit_code == 1
    assert "certificate.json: its contents do not have its own sha256" in result.output
    assert re.search(rf"certificate.json: \S*{field} is \S+, but the Verilog and the layer give", result.output)


def test_refuses_every_changed_byte_of_the_certificate(emit):
    directory = emit("one element")
    path = directory / "certificate.json"
    text = path.read_bytes()
    for at in np.random.default_rng(0).choice(len(text), 12, replace=False):
        path.write_bytes(text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :])
        assert not package.verify_package(directory).passed, (at, text[at : at + 1])


def test_refuses_other_files_that_changed_vanished_or_came(emit, call):
    directory = emit("smallest")
    file_of(directory, "_tb.v").unlink()
    change(file_of(directory, ".json"), r'"multiplier": \[\s*(\d+)')
    (directory / "more.v").write_text("module more; endmodule\n")
    result = call("verify", directory)
    assert result.exit_code == 1
    assert "refused: resnet8_fc_tb.v: is missing" in result.output
    assert "refused: resnet8_fc.json: sha256 is not the one in certificate.json" in result.output
    assert "refused: more.v: is not listed in certificate.json" in result.output


def test_a_requantizer_that_is_not_exact_is_refused_with_where(emit, call):
    directory = emit("resnet8-fc", "--requantizer", "nearest", "--multiplier-bits", "8")
    result = call("verify", directory)
    assert result.exit_code == 1
    assert re.search(r"not exact: column 0 differs from the float32 formula on \d+ accumulators", result.output)
    assert "but the Verilog" not in result.output  # the certificate says so itself


def test_what_is_no_package_is_bad_input(call, tmp_path):
    assert call("verify", tmp_path / "none").exit_code == 2
    result = call("verify", tmp_path)
    assert result.exit_code == 2
    assert "has no certificate.json" in result.output


def test_columns_are_turned_as_the_layer_says(emit, call):
    """The certificate lists them; a layer file with another sign is refused."""
    directory = emit("odd scales")
    certificate = json.loads((directory / "certificate.json").read_text())
    assert certificate["noncanonical"] == [1, 2, 3]
    path = file_of(directory, "_layer.npz")
    arrays = dict(np.load(path))
    arrays["b_scale"] = np.float32([-0.01, -0.02, np.nan, 0.0, -0.003])
    np.savez(path, **arrays)
    seal(directory)
    result = call("verify", directory)
    assert result.exit_code == 1
    assert "the weight memory has b[0, 1] - zero point" in result.output
    assert "noncanonical" in result.output


@pytest.mark.slow
def test_a_turned_column_that_wraps_is_refused(emit, arrays, call):
    """Its sums have no opposites in int32; `emit` makes no such package, so a layer file is changed here."""
    arrays["bias"] = np.array([2**31 - 1, 0, 0, 0, 0], np.int32)
    directory = emit("row sums", "--wrap")
    path = file_of(directory, "_layer.npz")
    layer = dict(np.load(path))
    layer["b_scale"][0] *= -1
    np.savez(path, **layer)
    seal(directory)
    result = call("verify", directory)
    assert result.exit_code == 1
    assert "column 0 has a noncanonical scale, and its sums have no opposites in int32" in result.output


def test_the_verifier_shares_nothing_with_the_generator():
    for path in Path(package.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.level < 2, path
                assert not (node.module or "").startswith(("systoliq", "amaranth")), path


def test_the_second_float32_is_float32():
    rng = np.random.default_rng(1)
    scales = (2.0 ** rng.uniform(-60, 12, 3000)).astype(np.float32)
    accs = np.concatenate([rng.integers(-(2**31), 2**31, 1500), rng.integers(-5000, 5000, 1500)])
    wanted = requantize_float32(accs, scales, -9, INT8)
    found = [
        float32.float32_output(int(acc), Fraction(float(s)), -9, (-128, 127))
        for acc, s in zip(accs, scales, strict=True)
    ]
    assert found == wanted.tolist()
    a, b, y = ((2.0 ** rng.uniform(-60, 20, 500)).astype(np.float32) for _ in range(3))
    for one, other, third, expected in zip(a, b, y, a * b / y, strict=True):
        assert float32.combined_scale(float(one), float(other), float(third)) == expected


def test_the_second_scales_are_ieee_754_s():
    """Signs, zeros, subnormals, overflow, infinities and NaN, as numpy has them: the same bits, but for NaN's."""
    some = [0.0, 1.0, 1e-45, 1e-30, 0.3, 3e38, np.inf]
    values = np.float32([sign * value for value in some for sign in (1, -1)] + [np.nan])
    a, b, y = np.meshgrid(values, values, values)
    with np.errstate(all="ignore"):
        expected = a * b / y
    found = np.float32([float32.combined_scale(*map(float, each)) for each in zip(a.flat, b.flat, y.flat, strict=True)])
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected.ravel()))
    numbers = ~np.isnan(found)
    np.testing.assert_array_equal(found[numbers].view(np.uint32), expected.ravel()[numbers].view(np.uint32))


@pytest.mark.parametrize("rounding", Rounding, ids=lambda rounding: rounding.value)
def test_the_second_integer_form_is_the_integer_form(rounding):
    rng = np.random.default_rng(2)
    scales = (2.0 ** rng.uniform(-34, 9, 400)).astype(np.float32)
    constants = Requantization.from_scales(scales, 5, INT8, rounding=rounding)
    accs = rng.integers(-(2**31), 2**31, (20, 400)) >> rng.integers(0, 30, (20, 400))
    wanted = constants.apply(accs)
    for n in range(400):
        column = (rounding.value, constants.multiplier[n], constants.shift[n], constants.offset[n], 5, (-128, 127))
        assert [float32.integer_output(int(acc), *column) for acc in accs[:, n]] == wanted[:, n].tolist()


def test_verilog_expressions_have_verilog_widths_and_signs():
    text = """
    module t(input wire [7:0] a, output wire [8:0] y);
      wire [8:0] sum; wire [15:0] product; wire [7:0] shifted; wire less; wire odd; wire [3:0] part;
      assign sum = a + 8'hff;
      assign product = $signed(a) * $signed(4'hf);
      assign shifted = $signed(a) >>> 2'h2;
      assign less = $signed(a) < $signed(8'h01);
      assign { part[1:0], odd } = a[6:4];
      assign part[3:2] = { a[0], ~a[7] };
      assign y = less ? { 1'h1, shifted } : sum;
    endmodule
    """
    scope = Scope(read_verilog(text), "t", {"a": 0xD6})
    expected = {"sum": 0x1D5, "product": 42, "shifted": 0xF5, "less": 1, "odd": 1, "part": 0b0010, "y": 0x1F5}
    assert {name: scope.value(name) for name in expected} == expected
    many = Scope(read_verilog(text), "t", {"a": np.array([0xD6, 3], object)})
    assert many.value("y").tolist() == [0x1F5, 0x102]


def test_words_that_no_address_selects_may_be_missing_in_a_cell():
    """Seven columns of 64 words share a cell, which is also read behind them."""
    rng = random.Random(576)
    words = [rng.getrandbits(224) for _ in range(576)]
    text = emit_verilog(Rom(words, 224, cells="ecp5", kind="rom"), "rom")
    assert (
        len(set(re.findall(r"\.INITVAL_(..)\(", text.partition(") strip_0_common")[0].rpartition("DP16KD #(")[2])))
        == 60
    )
    assert Scope(read_verilog(text), "rom", {"address": np.arange(576)}).value("word").tolist() == words


@pytest.mark.parametrize(
    "text",
    [
        "module t(a;",
        "module t(a); input a; endmodule",
        "module t(); assign x = ; endmodule",
        "module t(); initial y; endmodule",
    ],
)
def test_what_is_not_read_is_refused(text):
    with pytest.raises(UnreadableError):
        read_verilog(text)


@pytest.mark.slow
def test_an_array_of_many_columns(tmp_path):
    """Its weights pass from column to column, so that the last one's are nested as deep as it has columns."""
    rng = np.random.default_rng(2)
    layer = MatMulLayer(
        name="wide",
        b=rng.integers(-128, 128, (1, 130)).astype(np.int8),
        a_scale=np.float32(0.02),
        a_zero_point=np.int8(3),
        b_scale=np.float32(0.01),
        b_zero_point=np.int8(0),
        y_scale=np.float32(0.5),
        y_zero_point=np.int8(-5),
    )
    make_package(LayerDesign(layer, LayerOptions(cols=130, cells="ecp5-lut"))).write(tmp_path / "wide")
    assert verify_package(tmp_path / "wide").reasons == ()


def test_room_for_wide_arrays_ends():
    """Deep nesting and long numbers, but not any; afterwards Python's limits are as before."""

    def deep(calls: int) -> int:
        return deep(calls - 1) + 1 if calls else 0

    before = sys.getrecursionlimit(), sys.get_int_max_str_digits()
    with room_for_wide_arrays():
        assert deep(4000) == 4000
        assert len(str(10**50_000)) == 50_001
        with pytest.raises(RecursionError):
            deep(10_000)
        with pytest.raises(ValueError, match="digits"):
            str(10**200_000)
    assert before == (sys.getrecursionlimit(), sys.get_int_max_str_digits())
    with pytest.raises(RecursionError):
        deep(4000)
