"""A float8 layer as a design: model, stimulus, package and simulation, and what of integers it does not have."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

from systoliq.api import Design, Hardware
from systoliq.build.errors import InputError
from systoliq.build.package import make_package
from systoliq.golden import E4M3FN, E5M2, E5M2FNUZ, MatMulLayer


def float8_layer(a=E4M3FN, b=E5M2, y=E4M3FN, *, k=5, n=3):
    """A layer whose outputs spread over the codes of `y`."""
    rng = np.random.default_rng(1)
    return MatMulLayer(
        name="f8", b=b.encode(rng.normal(0, 1, (k, n))), a_scale=0.5, a_zero_point=0,
        b_scale=(2.0 ** rng.uniform(-3, 3, n)).astype(np.float32), b_zero_point=0, y_scale=0.25, y_zero_point=0,
        a_format=a, b_format=b, y_format=y,
    )  # fmt: skip


@pytest.mark.parametrize("form", [E4M3FN, E5M2, E5M2FNUZ], ids=str)
def test_the_stimulus_spreads_and_is_golden_s(form):
    layer = float8_layer(form, form, form)
    design = Design(layer, Hardware(rows=2, cols=2))
    stimulus = design.stimulus
    decoded = form.decode(stimulus.y)
    assert stimulus.float32_mismatches == 0
    assert np.array_equal(design.model(stimulus.a).view(np.uint8), layer.golden(stimulus.a).view(np.uint8))
    assert len(np.unique(stimulus.y.view(np.uint8))) > 40
    assert decoded.nan.any()
    assert not decoded.nan.all()
    assert {form.max_code, form.max_code | 0x80} <= set(stimulus.y.view(np.uint8).flat)
    assert not design.notes
    assert not design.choices


def test_the_package_holds_formats_constants_and_a_certificate(tmp_path):
    package = make_package(Design(float8_layer()))
    ends = (".v", ".vlt", "_tb.v", "_layer.npz", "_vectors.npz", ".json")
    assert set(package.files) == {*(f"f8{end}" for end in ends), "certificate.json"}
    sidecar = json.loads(package.files["f8.json"])
    assert sidecar["formats"]["a"]["name"] == "float8_e4m3fn"
    assert sidecar["formats"]["b"]["infinity_code"] == 0x7C
    assert sidecar["parameters"]["accumulator_bits"] >= sidecar["parameters"]["sum_bits"]
    scale = np.ldexp(np.float64(sidecar["quantization"]["multiplier"]), sidecar["quantization"]["exponent"])
    assert np.array_equal(scale, np.float64(sidecar["quantization"]["scale"]))
    package.write(tmp_path / "out")
    again = MatMulLayer.load(tmp_path / "out" / "f8_layer.npz", name="f8")
    assert Design(again).verilog == Design(float8_layer()).verilog


@pytest.mark.simulator
def test_the_plain_testbench_passes(tmp_path):
    Design(float8_layer(), Hardware(rows=2, cols=2, depth=2)).write(tmp_path)
    subprocess.run(["iverilog", "-g2005", "-o", "t", "f8.v", "f8_tb.v"], cwd=tmp_path, check=True, timeout=300)
    ran = subprocess.run(["vvp", "t"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=300)
    assert "PASS" in ran.stdout


@pytest.mark.simulator
def test_simulation_compares_with_golden():
    design = Design(float8_layer(), Hardware(cols=2, cells="ecp5"))
    run = design.simulate(design.stimulus.a, simulator="icarus", stalls=0.2)
    run.check()
    assert run.report["float32_mismatches"] == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a_bits", 4),
        ("b_bits", 4),
        ("accumulator_bits", 24),
        ("requantizer", "nearest"),
        ("requantizer", "auto"),
        ("multiplier_bits", 8),
        ("wrap", True),
    ],
)
def test_what_integers_alone_have_is_refused(name, value):
    with pytest.raises(InputError, match=f"{name} must be left out for a float8 layer, not {value}: "):
        Design(float8_layer(), Hardware(**{name: value}))


def test_size_and_width_follow_what_is_asked():
    config = Design(float8_layer(n=20), Hardware(accumulator_bits="auto", rows=2)).config
    assert (config.rows, config.cols, config.float8) == (2, 10, (E4M3FN, E5M2))
