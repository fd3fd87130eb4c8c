"""certificate.json says what docs/exactness.md promises, and the choices of `auto` are the smallest."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from systoliq.design import LayerOptions, open_source
from systoliq.design.choose import choose_requantization, reachable, sum_bits
from systoliq.design.sources import resnet8_fc_layer
from systoliq.errors import InputError
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Rounding
from systoliq.golden.rescale import requantize_float32
from systoliq.golden.thresholds import count_differences


@pytest.fixture
def emitted(call, tmp_path):
    assert call("emit", "resnet8-fc", "--out", tmp_path / "out", "--requantizer", "auto").exit_code == 0
    return tmp_path / "out", json.loads((tmp_path / "out" / "certificate.json").read_text())


def test_columns_hold_what_a_reader_needs(emitted):
    _, certificate = emitted
    layer, _ = resnet8_fc_layer()
    low, high = layer.accumulator_range()
    assert certificate["verdict"] == "exact"
    assert len(certificate["columns"]) == layer.n
    for n, column in enumerate(certificate["columns"]):
        assert float.fromhex(column["scale"]) == layer.scale[n]
        assert column["accumulators"] == [low[n], high[n]]
        acc = np.arange(low[n], high[n] + 1)
        y = requantize_float32(acc, layer.scale[n], layer.y_zero_point, layer.y_format)
        assert np.array_equal(
            np.clip((acc * column["multiplier"] + column["offset"]) >> column["shift"], -128, 127), y
        )  # by its own constants, on every reachable accumulator
        changes = np.flatnonzero(np.diff(y)) + 1
        line = " ".join([f"{low[n]}:{y[0]}", *(f"{acc[i]}:{y[i]}" for i in changes), str(high[n])])
        assert column["steps"] == len(changes)
        assert column["digest"] == hashlib.sha256(line.encode()).hexdigest()


def test_every_other_file_is_listed_with_its_digest(emitted):
    directory, certificate = emitted
    assert {path.name for path in directory.iterdir()} == {*certificate["files"], "certificate.json"}
    for name, digest in certificate["files"].items():
        assert hashlib.sha256((directory / name).read_bytes()).hexdigest() == digest


def test_the_accumulator_is_proven_wide_enough(call, tmp_path):
    for bits in ("32", "auto"):
        assert call("emit", "resnet8-fc", "--out", tmp_path / "out", "--accumulator-bits", bits).exit_code == 0
        facts = json.loads((tmp_path / "out" / "certificate.json").read_text())["accumulator"]
        assert -(2 ** (facts["needed_bits"] - 1)) <= facts["least"] <= facts["most"] < 2 ** (facts["needed_bits"] - 1)
        assert facts["needed_bits"] <= facts["sum_bits"]
        assert not facts["wraps"]


def test_auto_saves_bits_and_reports_it(call, tmp_path):
    result = call("emit", "resnet8-fc", "--out", tmp_path / "out", "--requantizer", "auto")
    assert "requantizer: floor, multipliers of 13 bits, 11 saved" in result.output


def random_layer(seed: int, k: int, n: int) -> MatMulLayer:
    rng = np.random.default_rng(seed)
    return MatMulLayer(
        b=rng.integers(-128, 128, (k, n)).astype(np.int8), a_scale=0.05, a_zero_point=np.uint8(rng.integers(256)),
        b_scale=rng.uniform(0.0005, 0.01, n).astype(np.float32), b_zero_point=np.int8(0), y_scale=0.09,
        y_zero_point=np.int8(rng.integers(-128, 128)), bias=rng.integers(-9999, 9999, n).astype(np.int32),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_choices_are_exact_and_auto_is_the_smallest(seed):
    layer = random_layer(seed, k=[4, 16, 64][seed % 3], n=3)
    auto = choose_requantization(layer, "auto")
    assert not count_differences(auto.requantization, layer.scale, *reachable(layer)).any()
    assert auto.saved_bits >= 0
    for rounding in Rounding:
        try:
            choice = choose_requantization(layer, rounding.value)
        except InputError:
            if rounding is Rounding.NEAR_TIE:
                raise
            continue
        assert not count_differences(choice.requantization, layer.scale, *reachable(layer)).any()
        assert choice.requantization.multiplier_bits >= auto.requantization.multiplier_bits


def test_a_column_that_wraps_widens_its_own_range_alone(call, arrays, save, tmp_path):
    """Its neighbours keep their small exact constants; certificate, `verify` and the choice agree on every range."""
    arrays["bias"] = np.array([2**31 - 1, 0, 0, 0, 0], np.int32)
    layer = MatMulLayer.load(save("layer.npz", **arrays))
    sums, wrapped = layer.accumulator_range(), reachable(layer)
    for bound, own, least_or_most in zip(wrapped, sums, (-(2**31), 2**31 - 1), strict=True):
        assert bound.tolist() == [least_or_most, *own[1:].tolist()]
    result = call("emit", tmp_path / "layer.npz", "--out", tmp_path / "out", "--wrap", "--requantizer", "auto")
    assert result.exit_code == 0, result.output
    columns = json.loads((tmp_path / "out" / "certificate.json").read_text())["columns"]
    assert [column["accumulators"] for column in columns] == np.transpose(wrapped).tolist()
    verified = call("verify", tmp_path / "out")
    assert verified.exit_code == 0, verified.output


def test_a_form_that_cannot_be_exact_is_refused_with_the_reason(call, tmp_path):
    result = call("emit", "digits", "--out", tmp_path / "out", "--requantizer", "floor")
    assert result.exit_code == 2
    assert "requantizer must be near-tie or auto for this layer, not floor: it cannot be exact for" in result.output


def test_accumulator_bits_auto_is_tight():
    layer = random_layer(5, 64, 4)
    low, high = layer.accumulator_range()
    bits = sum_bits(layer)
    assert -(2 ** (bits - 1)) <= low.min()
    assert high.max() < 2 ** (bits - 1)
    assert low.min() < -(2 ** (bits - 2)) or high.max() >= 2 ** (bits - 2)
    design = open_source("resnet8-fc", LayerOptions(accumulator_bits="auto"))
    assert design.dense.config.accumulator_bits == sum_bits(design.layer)
    _ = design.verilog


def test_a_layer_named_certificate_is_refused(call, tmp_path):
    result = call("emit", "resnet8-fc", "--out", tmp_path / "out", "--name", "certificate")
    assert result.exit_code == 2
    assert "name must not be 'certificate'" in result.output
