"""Bad input: one line that names the thing, exit status 2, no traceback, nothing left behind."""

from __future__ import annotations

import numpy as np
import pytest

from .refused import assert_refused

# Changes to the arrays of a layer file (None takes a key out), and what the error must say.
LAYERS = {
    "missing key": ({"a_scale": None}, "layer.npz: layer file must have the key 'a_scale'"),
    "extra key": ({"a": np.zeros(3, np.int8)}, "layer.npz: layer file must not have the key 'a'"),
    "wrong type of weights": ({"b": np.zeros((9, 5), np.int64)}, "layer.npz: b must be an array of int8, uint8"),
    "wrong type of a zero point": ({"a_zero_point": np.float32(3)}, "layer.npz: a_zero_point must be an array of int8"),
    "wrong type of the bias": ({"bias": np.zeros(5, np.int64)}, "layer.npz: bias must be int32, not int64"),
    "one-dimensional weights": ({"b": np.zeros(9, np.int8)}, "layer.npz: b must have the shape [K, N]"),
    "no rows": ({"b": np.zeros((0, 5), np.int8)}, "layer.npz: b must have the shape [K, N] with K and N at least 1"),
    "wrong shape of the bias": ({"bias": np.zeros(4, np.int32)}, "layer.npz: bias must have the shape [5]"),
    "wrong shape of a scale": (
        {"b_scale": np.ones(4, np.float32)},
        "layer.npz: b_scale must be a scalar, [5] or [1, 5]",
    ),
    "infinity beside others": (
        {"b_scale": np.float32([1, np.inf, 1, 1, 1])},
        "a_scale * b_scale / y_scale must be finite in float32, not inf (column 1), beside columns where it is",
    ),
    "negative with sums that have no opposite": (
        {"a_scale": np.float32(-1), "bias": np.full(5, -(2**31), np.int32)},
        "a_scale * b_scale / y_scale must not be negative where sums reach -2^31 or wrap",
    ),
}

# Options of `emit SOURCE`, and what the error must say.
OPTIONS = {
    "unknown preset": (
        "resnet50",
        [],
        "digits, digits-cnn, digits-vit, array, engine, a layer file .npz or a model .onnx, not",
    ),
    "preset with letters exchanged": ("resent8-fc", [], "not 'resent8-fc': did you mean resnet8-fc?"),
    "suffix with letters exchanged": ("layer.nzp", [], "not 'layer.nzp': did you mean layer.npz?"),
    "more columns than outputs": ("resnet8-fc", ["--cols", 64], "cols must be at most 10, the layer's N, not 64"),
    "deeper than the sums": ("resnet8-fc", ["--depth", 65], "depth must be at most 64, the layer's K, not 65"),
    "missing file": ("nothing.npz", [], "nothing.npz: there is no such file"),
    "zero rows": ("resnet8-fc", ["--rows", 0], "rows must be a positive integer, not 0"),
    "negative columns": ("array", ["--cols", -3], "cols must be a positive integer, not -3"),
    "zero depth": ("array", ["--depth", 0], "depth must be a positive integer, not 0"),
    "no number": ("array", ["--rows", "many"], "'--rows': 'many' is not a valid integer"),
    "A too wide": ("array", ["--a-bits", 17], "a_bits must be 2 to 16, not 17"),
    "B too narrow": ("array", ["--b-bits", 1], "b_bits must be 2 to 16, not 1"),
    "A wider than the layer's": ("resnet8-fc", ["--a-bits", 9], "a_bits must be at most 8, the layer's own, not 9"),
    "A too narrow for its zero point": ("resnet8-fc", ["--a-bits", 4], "a_zero_point must be in int4, -8 to 7, not 20"),
    "sign of a layer": ("resnet8-fc", ["--a-unsigned"], "a_signed must be left to the layer's zero points"),
    "weights outside their width": (
        "resnet8-fc",
        ["--b-bits", 4],
        "b_bits must be at least 8 for this layer, not 4: weights of column 0 span -86 to 77 (systoliq explore",
    ),
    "accumulator too narrow": (
        "resnet8-fc",
        ["--accumulator-bits", 18],
        "accumulator_bits must be at least 19 to hold",
    ),
    "accumulator narrower than a product": (
        "array",
        ["--accumulator-bits", 15],
        "accumulator_bits must be at least 16",
    ),
    "accumulator wider than ONNX's": ("resnet8-fc", ["--accumulator-bits", 40], "accumulator_bits must be at most 32"),
    "accumulator that wraps otherwise": (
        "resnet8-fc",
        ["--accumulator-bits", 18, "--wrap"],
        "accumulator_bits must be 32 where sums may wrap, as ONNX's int32 does, not 18",
    ),
    "accumulator that is no number": ("array", ["--accumulator-bits", "few"], "must be an integer or auto, not 'few'"),
    "unknown requantizer": ("resnet8-fc", ["--requantizer", "up"], "'up' is not one of 'near-tie'"),
    "multiplier too wide": ("resnet8-fc", ["--multiplier-bits", 25], "multiplier_bits must be 1 to 24, not 25"),
    "multiplier of auto": (
        "resnet8-fc",
        ["--requantizer", "auto", "--multiplier-bits", 8],
        "multiplier_bits cannot be used with requantizer auto",
    ),
    "requantizer of an array": ("array", ["--requantizer", "floor"], "cannot be used with the source array"),
    "bias of an array": ("array", ["--no-bias"], "no_bias cannot be used with the source array"),
    "weights of an array": ("array", ["--weights", "w.npz"], "weights must be given for the source resnet8-fc only"),
    "bias of a network": ("digits-cnn", ["--no-bias"], "no_bias cannot be used with a network"),
    "rows of a network": ("digits-cnn", ["--rows", 2], "rows cannot be used with a network: each stage has its own"),
    "missing weights": ("resnet8-fc", ["--weights", "w.npz"], "w.npz: there is no such file"),
    "name": ("array", ["--name", "1st"], "name must be a Verilog identifier of letters, digits and _, and"),
    "keyword as a name": ("array", ["--name", "small"], "and no keyword, not 'small'"),
    "unknown option": ("array", ["--row", "1"], "--row"),
}


@pytest.mark.parametrize(("changes", "text"), LAYERS.values(), ids=LAYERS)
def test_layer_file(changes, text, call, arrays, save, tmp_path):
    arrays = {key: value for key, value in (arrays | changes).items() if value is not None}
    path = save("layer.npz", **arrays)
    assert_refused(call("emit", path, "--out", tmp_path / "out"), text)
    assert [item.name for item in tmp_path.iterdir()] == ["layer.npz"]


@pytest.mark.parametrize(("source", "options", "text"), OPTIONS.values(), ids=OPTIONS)
def test_options(source, options, text, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(call("emit", source, "--out", tmp_path / "out", *options), text)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_archive(call, tmp_path):
    path = tmp_path / "layer.npz"
    path.write_text("no archive\n")
    assert_refused(call("emit", path, "--out", tmp_path / "out"), "layer.npz: must be a readable .npz archive")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"bias": np.zeros(10, np.int32)}, "w.npz: must have the key 'b' (or 'weights')"),
        ({"b": np.zeros((10, 64), np.int8)}, "w.npz: b must have the shape [64, 10], not [10, 64]"),
        ({"b": np.zeros((64, 10), np.int32)}, "w.npz: b must be an array of int8, uint8"),
        ({"b": np.zeros((64, 10), np.int8), "weights": np.zeros(1)}, "w.npz: must have 'b' under one name"),
        ({"b": np.zeros((64, 10), np.int8), "bias": np.zeros(10)}, "w.npz: bias must be int32"),
    ],
)
def test_weights(content, text, call, save, tmp_path):
    path = save("w.npz", **content)
    assert_refused(call("emit", "resnet8-fc", "--weights", path, "--out", tmp_path / "out"), text)
    assert not (tmp_path / "out").exists()


INT8, UINT8 = np.int8, np.uint8


@pytest.mark.parametrize(
    ("source", "content", "text"),
    [
        ("resnet8-fc", {"b": np.zeros(3)}, "in.npz: must have the key 'a' (or 'y', of the layer before); it has b"),
        (
            "resnet8-fc",
            {"a": np.zeros((2, 63), INT8)},
            "in.npz: a must have the shape [M, 64] with M at least 1, not [2, 63]",
        ),
        ("resnet8-fc", {"a": np.zeros((2, 64), UINT8)}, "in.npz: a must have the type int8, not uint8"),
        ("resnet8-fc", {"a": np.zeros(64, INT8)}, "in.npz: a must have the shape [M, 64] with M at least 1, not [64]"),
        ("resnet8-fc", {"a": np.zeros((2, 64), np.int64)}, "in.npz: a must have the type int8, not int64"),
        (
            "resnet8-fc",
            {"a": np.zeros((2, 64))},
            "in.npz: a must have the type int8, not float64: --quantize takes real numbers",
        ),
        ("resnet8-fc", {"y": np.zeros((2, 32), INT8)}, "in.npz: a must have the shape [M, 64] with M at least 1, not"),
        ("resnet8-fc", {"a": np.zeros((0, 64), INT8)}, "in.npz: a must have the shape [M, 64] with M at least 1"),
        ("array", {"a": np.zeros((2, 3), INT8)}, "in.npz: must have the key 'b'; it has a"),
        ("array", {"a": np.zeros((2, 3), INT8), "b": np.zeros((4, 2), INT8)}, "in.npz: b must have K = 3 rows for a"),
        (
            "array",
            {"a": np.zeros((2, 3)), "b": np.zeros((3, 2), INT8)},
            "in.npz: a must have the type int8, not float64",
        ),
        (
            "array",
            {"a": np.zeros(3, INT8), "b": np.zeros((3, 2), INT8)},
            "in.npz: a must be a matrix with at least one",
        ),
    ],
)
def test_input_of_simulate(source, content, text, call, save, tmp_path):
    path = save("in.npz", **content)
    assert_refused(call("simulate", source, "--input", path, "--output", tmp_path / "y.npz"), text)
    assert not (tmp_path / "y.npz").exists()


@pytest.mark.parametrize(
    ("source", "options", "text"),
    [
        ("resnet8-fc", ["--quantize"], "a must hold real numbers where quantize is given, not int8"),
        ("array", ["--quantize"], "quantize cannot be used with the source array: it has no scales"),
        ("engine", ["--quantize"], "quantize cannot be used with the source engine: it takes operands as they are"),
        ("array", ["--compare", "onnxruntime"], "compare cannot be used with the source array: only a layer"),
        ("resnet8-fc", ["--compare", "matlab"], "'matlab' is not"),
    ],
)
def test_input_and_judge_of_simulate(source, options, text, call, save):
    path = save("in.npz", a=np.zeros((2, 64), INT8), b=np.zeros((64, 2), INT8))
    assert_refused(call("simulate", source, "--input", path, *options), text)


def test_numbers_that_are_none(call, save):
    path = save("in.npz", a=np.full((2, 64), np.nan, np.float32))
    text = "in.npz: a must hold numbers, not nan (at [0, 0])"
    assert_refused(call("simulate", "resnet8-fc", "--input", path, "--quantize"), text)


def test_a_broken_array(call, tmp_path):
    path = tmp_path / "a.npy"
    path.write_bytes(b"no array")
    assert_refused(call("simulate", "resnet8-fc", "--input", path), "a.npy: must be a readable .npy file")


def test_layers_takes_the_file_alone(call):
    text = "FILE.onnx must be the file alone, model.onnx, not 'model.onnx#node'"
    assert_refused(call("layers", "model.onnx#node"), text)


def test_a_directory_with_another_package(call, tmp_path):
    """It is replaced only where that is asked for; the same package always."""
    out = tmp_path / "out"
    assert call("emit", "array", "--out", out, "--rows", 1, "--cols", 1).exit_code == 0
    assert call("emit", "array", "--out", out, "--rows", 1, "--cols", 2).exit_code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    text = f"{out}: must be new, empty or hold the array 'other', not the array 'array': give another directory, or"
    other = ["emit", "array", "--out", out, "--rows", 1, "--cols", 1, "--name", "other"]
    assert_refused(call(*other), text)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert call(*other, "--replace").exit_code == 0
    assert (out / "other.v").is_file()
    assert not (out / "array.v").exists()


@pytest.mark.parametrize("mhz", ["nan", "inf", "0"])
def test_a_frequency_that_is_none(mhz, call):
    text = f"must be a positive number, not '{mhz}'"
    assert_refused(call("synth", "array", "--target", "ecp5-25k", "--mhz", mhz), text)


def test_input_outside_its_width(call, save):
    path = save("in.npz", a=np.full((1, 3), 9, INT8), b=np.zeros((3, 2), INT8))
    assert_refused(call("simulate", "array", "--input", path, "--a-bits", 4), "a[0, 0] must be in int4, -8 to 7, not 9")


def test_sums_that_pass_the_accumulator(call, save):
    path = save("in.npz", a=np.zeros((1, 5), INT8), b=np.zeros((5, 1), INT8))
    text = "K must be at most 3, beyond which sums of int8 x int8 can pass 17 bits, not 5"
    assert_refused(call("simulate", "array", "--input", path, "--accumulator-bits", 17), text)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--stalls", 1], "stalls must be at least 0 and below 1, not 1.0"),
        (["--stalls", "nan"], "stalls must be at least 0 and below 1, not nan"),
        (["--waves", "run.vvv"], "waves must end in .vcd or .fst, not 'run.vvv'"),
        (["--waves", "run.fst", "--simulator", "verilator"], "waves must end in .vcd under verilator, not 'run.fst'"),
        (["--output", "nowhere/y.npz"], "output: the directory"),
        (["--report", "."], "report must be a file, but . is a directory"),
        (["--simulator", "modelsim"], "'modelsim' is not one of 'auto', 'verilator', 'icarus'"),
    ],
)
def test_options_of_simulate(options, text, call, save, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = save("in.npz", a=np.zeros((2, 64), INT8))
    assert_refused(call("simulate", "resnet8-fc", "--input", path, *options), text)


def test_debug_shows_where_it_came_from(call, tmp_path):
    result = call("emit", "resnet50", "--out", tmp_path / "out", "--debug")
    assert isinstance(result.exception, ValueError)


def test_ctrl_c_ends_quietly(call, tmp_path, monkeypatch):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("systoliq.design.open_source", interrupt)
    result = call("emit", "array", "--out", tmp_path / "out")
    assert result.exit_code == 130
    assert result.stderr.strip() == ""


def test_without_scikit_learn_the_error_says_what_to_install(call, tmp_path, monkeypatch):
    from systoliq.design import digits

    digits.train_digits.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "sklearn.datasets", None)
    result = call("emit", "digits", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "error: scikit-learn is not installed; it is needed for the source digits" in result.stderr
    assert "pip install 'systoliq[demo]'" in result.stderr


def test_an_engine_is_explored_with_a_workload(call, tmp_path):
    result = call("explore", "engine", "--out", tmp_path / "out")
    assert_refused(result, "workload must be given for the engine: FILE.csv, MODEL.onnx, or the name of a network")
