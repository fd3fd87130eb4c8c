"""float8 on the command line: layer files, codes and real numbers as input, arrays by format, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from systoliq.golden import E4M3FN, E5M2, qlinear_matmul

from .refused import assert_refused

ZERO = np.zeros((), E4M3FN.dtype)
ONE = np.array(0x38, np.uint8).view(E4M3FN.dtype)
SMALL = np.float32(1e-30)
ENGINE = ["--a-format", "e4m3fn", "--b-format", "e5m2", "--y-format", "e4m3fn"]


@pytest.fixture
def float8_arrays():
    """A layer 4 -> 3: e4m3fn x e5m2 -> e4m3fn."""
    rng = np.random.default_rng(2)
    return {
        "b": E5M2.encode(rng.normal(0, 1, (4, 3))).view(E5M2.dtype),
        "a_scale": np.float32(0.5),
        "a_zero_point": ZERO,
        "b_scale": np.float32([0.5, 1, 3]),
        "b_zero_point": np.zeros((), E5M2.dtype),
        "y_scale": np.float32(0.25),
        "y_zero_point": ZERO,
    }


REFUSED = {
    "zero point": (
        {"a_zero_point": ONE},
        "a_zero_point must be 0, as it is float8_e4m3fn",
    ),
    "bias": ({"bias": np.zeros(3, np.int32)}, "bias must be None for float8"),
    "underflow": ({"a_scale": SMALL, "b_scale": SMALL}, "a_scale * b_scale / y_scale must not underflow to 0"),
    "negative": ({"a_scale": np.float32(-1)}, "a_scale must be positive and finite, not -1.0"),
    "zero scale": ({"y_scale": np.float32(0)}, "y_scale must be positive and finite, not 0.0"),
    "NaN scale": ({"b_scale": np.float32("nan")}, "b_scale must be positive and finite, not nan"),
    "unknown format": ({"a_zero_point": np.zeros((), [("float8_e3m4", "u1")])}, "a_zero_point must be an array of"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_layers_that_cannot_be(call, save, tmp_path, float8_arrays, case):
    changes, text = REFUSED[case]
    layer = save("layer.npz", **{**float8_arrays, **changes})
    assert_refused(call("emit", layer, "--out", tmp_path / "out"), text)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("source", "options", "text"),
    [
        ("layer", ["--wrap"], "wrap cannot be used with a float8 layer"),
        ("layer", ["--requantizer", "floor"], "requantizer cannot be used with a float8 layer"),
        ("layer", ["--a-format", "e5m2"], "a_format must be left to the layer"),
        ("array", ["--a-format", "e5m2", "--b-format", "e9m9"], "b_format: format name must be one of float8_e4m3fn"),
        ("array", ["--a-format", "e5m2"], "b_format must be given too"),
        ("array", ["--a-format", "e5m2", "--b-format", "e5m2", "--a-bits", 8], "a_bits cannot be used with"),
        ("array", ["--a-format", "e5m2", "--b-format", "e5m2", "--y-format", "e5m2"], "y_format must be given for the"),
        ("engine", ["--a-format", "e5m2"], "b_format must be given too: a, b and y of an engine are all float8"),
        ("engine", ["--a-format", "e5m2", "--b-format", "e5m2"], "y_format must be given too"),
        ("engine", [*ENGINE, "--y-format", "int8"], "y_format: format name must be one of float8_e4m3fn"),
        ("engine", [*ENGINE, "--max-rows", 4], "max_rows cannot be used with an engine of float8"),
        ("engine", [*ENGINE, "--dataflow", "weight-stationary"], "dataflow must be output-stationary for float8"),
        ("engine", [*ENGINE, "--a-bits", 8], "a_bits cannot be used with the source engine: its operands have 8 bits"),
    ],
)
def test_options_that_cannot_be(call, save, tmp_path, float8_arrays, source, options, text):
    source = save("layer.npz", **float8_arrays) if source == "layer" else source
    assert_refused(call("emit", source, "--out", tmp_path / "out", *options), text)


def test_exploration_is_for_integers(call, save, tmp_path, float8_arrays):
    layer = save("layer.npz", **float8_arrays)
    assert_refused(call("explore", layer, "--out", tmp_path / "x"), "SOURCE must be a layer of integers")


def test_files_of_ml_dtypes_are_refused_with_advice(call, save, tmp_path, float8_arrays):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for form in ("float8_e5m2", "float8_e4m3fn"):
        float8_arrays["b"] = np.zeros((4, 3), getattr(ml_dtypes, form))
        layer = save("layer.npz", **float8_arrays)
        assert_refused(call("emit", layer, "--out", tmp_path / "out"), "view(systoliq.golden.E4M3FN.dtype)")


@pytest.mark.simulator
def test_real_numbers_through_the_hardware(call, save, tmp_path, float8_arrays):
    layer = save("layer.npz", **float8_arrays)
    x = save("x.npz", a=np.random.default_rng(1).normal(0, 2, (9, 4)).astype(np.float32))
    args = ("--simulator", "icarus", "--output", tmp_path / "y.npz")
    assert_refused(call("simulate", layer, "--input", x, *args), "a must have the type float8_e4m3fn or uint8")
    result = call("simulate", layer, "--input", x, "--quantize", *args)
    assert result.exit_code == 0, (result.output, result.exception)
    with np.load(tmp_path / "y.npz") as found:
        assert found["y"].dtype.names == ("float8_e4m3fn",)
        assert found["y"].shape == (9, 3)


@pytest.mark.slow
@pytest.mark.simulator
def test_integers_with_float8_through_the_hardware(call, save, tmp_path, float8_arrays):
    arrays = {**float8_arrays, "a_zero_point": np.uint8(7), "y_zero_point": np.int8(-3)}
    layer = save("layer.npz", **arrays)
    args = ("--simulator", "icarus", "--output", tmp_path / "y.npz")
    codes = save("codes.npz", a=np.zeros((2, 4), E4M3FN.dtype))
    assert_refused(call("simulate", layer, "--input", codes, *args), "a must have the type uint8")
    a = np.random.default_rng(1).integers(0, 256, (9, 4)).astype(np.uint8)
    result = call("simulate", layer, "--input", save("a.npz", a=a), *args)
    assert result.exit_code == 0, (result.output, result.exception)
    expected = qlinear_matmul(a, *arrays_in_order(arrays))
    np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["y"], expected, strict=True)


def arrays_in_order(arrays):
    names = ("a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point")
    return [arrays[name] for name in names]


@pytest.mark.slow
@pytest.mark.simulator
def test_an_engine_by_format(call, save, tmp_path, float8_arrays):
    a = np.random.default_rng(1).integers(0, 256, (2, 3, 4), np.uint8).view(E4M3FN.dtype)
    operation = float8_arrays | {"a": a, "b_scale": np.float32([0.5, -1, np.inf])}
    files = ("--input", save("operation.npz", **operation), "--output", tmp_path / "y.npz", "--simulator", "icarus")
    size = ("--rows", 2, "--cols", 2, *files)
    result = call("simulate", "engine", *ENGINE, *size, "--stalls", 0.2, "--report", tmp_path / "r.json")
    assert result.exit_code == 0, (result.output, result.exception)
    with np.load(tmp_path / "y.npz") as found:
        np.testing.assert_array_equal(found["y"].view(np.uint8), qlinear_matmul(**operation).view(np.uint8))
        assert found["y"].dtype.names == ("float8_e4m3fn",)
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["outputs"], report["mismatches"], report["macs"]) == (18, 0, 72)
    assert report["engine"]["formats"]["b"]["name"] == "float8_e5m2"
    assert_refused(call("simulate", "engine", *size), "a must be int8 or uint8, not float8_e4m3fn")
    wrong = ("--a-format", "e5m2", "--b-format", "e5m2", "--y-format", "e5m2")
    assert_refused(call("simulate", "engine", *wrong, *size), "a must be float8_e5m2 on this engine, not float8_e4m3fn")
    sums = ("--input", save("sums.npz", a=np.ones((1, 2), np.int8), b=np.ones((2, 1), np.int8)))
    assert_refused(call("simulate", "engine", *ENGINE, *sums), "matmul_integer must run on an engine of integers")


def test_registers_of_float8(call, tmp_path):
    assert call("registers", tmp_path, "--operands", "float8").exit_code == 0
    assert "SYSTOLIQ_ENGINE_COLUMN_TABLE_EXPONENT 0x4u" in (tmp_path / "systoliq_engine.h").read_text()
    text = (tmp_path / "registers.md").read_text()
    assert "| **FORMATS** |" in text
    assert "ROW_TABLE" not in text + (tmp_path / "systoliq_engine.h").read_text()


@pytest.mark.simulator
def test_an_array_by_format(call, save, tmp_path):
    codes = np.random.default_rng(1).integers(0, 120, (3, 3)).astype(np.uint8)
    operands = save("ab.npz", a=codes, b=codes)
    result = call(
        "simulate", "array", "--a-format", "e4m3fn", "--b-format", "e5m2", "--rows", 2, "--cols", 2,
        "--input", operands, "--simulator", "icarus", "--output", tmp_path / "y.npz",
    )  # fmt: skip
    assert result.exit_code == 0, (result.output, result.exception)
    with np.load(tmp_path / "y.npz") as found:
        assert found["y"].shape == (3, 3, 8)
