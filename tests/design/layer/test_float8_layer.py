"""A layer with float8 as a design: model, stimulus, package and simulation, and what of integers it does not have."""

from __future__ import annotations

import json
import subprocess
from fractions import Fraction

import numpy as np
import pytest

from systoliq.api import LayerDesign, LayerOptions, write_package
from systoliq.errors import InputError
from systoliq.golden import E4M3FN, E5M2, E5M2FNUZ, FLOAT8, INT8, UINT8, MatMulLayer
from systoliq.golden.float8_matmul import Sums
from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.wide import Wide
from systoliq.package import make_package
from systoliq.testbench.layer.float8_rows import float8_sums
from systoliq.testbench.layer.float8_ties import float8_ties
from systoliq.testbench.layer.stimulus import layer_stimulus
from systoliq.verify.float8 import FORMATS


def float8_layer(a=E4M3FN, b=E5M2, y=E4M3FN, *, k=5, n=3):
    """A layer whose outputs spread over the codes of `y`."""
    rng = np.random.default_rng(1)
    weights = rng.normal(0, 1, (k, n))
    points = {"a": 9, "b": 3, "y": 5}
    zero_points = {
        f"{name}_zero_point": 0 if form in FLOAT8 else points[name] for name, form in zip("aby", (a, b, y), strict=True)
    }
    size = 40.0 ** (sum(form not in FLOAT8 for form in (a, b)) - 0.5 * (y not in FLOAT8))
    return MatMulLayer(
        name="f8", b=b.encode(weights) if b in FLOAT8 else b.saturate(np.rint(40 * weights)), a_scale=0.5,
        b_scale=(2.0 ** rng.uniform(-3, 3, n)).astype(np.float32), y_scale=np.float32(0.25 * size), **zero_points,
        a_format=a, b_format=b, y_format=y,
    )  # fmt: skip


MIXES = {
    "float8 to integers": (E5M2, E4M3FN, UINT8),
    "integers by float8": (UINT8, E5M2, E5M2),
    "float8 by integers": (E4M3FN, INT8, INT8),
    "integers to float8": (INT8, UINT8, E4M3FN),
}


@pytest.mark.parametrize("form", [E4M3FN, E5M2, E5M2FNUZ], ids=str)
def test_the_stimulus_spreads_and_is_golden_s(form):
    layer = float8_layer(form, form, form)
    design = LayerDesign(layer, LayerOptions(rows=2, cols=2))
    stimulus = layer_stimulus(design)
    decoded = form.decode(stimulus.y)
    assert stimulus.float32_mismatches == 0
    assert np.array_equal(design.model(stimulus.a).view(np.uint8), layer.golden(stimulus.a).view(np.uint8))
    assert len(np.unique(stimulus.y.view(np.uint8))) > 40
    assert decoded.nan.any()
    assert not decoded.nan.all()
    assert {form.max_code, form.max_code | 0x80} <= set(stimulus.y.view(np.uint8).flat)
    assert not design.notes
    assert not design.choices


def exact_sums(layer, rows):
    """Sums of all rows and columns in Python's integers, in units of the least product: (column, magnitude)."""
    decoded = layer.a_format.decode(rows)
    weights = layer.b_format.decode(layer.b) if layer.b_format in FLOAT8 else None
    for row in range(len(rows)):
        for n in range(layer.n):
            factors = zip(*(part.tolist() for part in (decoded.significand[row], decoded.shift[row])), strict=True)
            if weights is None:
                column = [(int(each), 0) for each in layer.centered_b[:, n]]
            else:
                column = list(zip(weights.significand[:, n].tolist(), weights.shift[:, n].tolist(), strict=True))
            yield n, abs(sum(x * y << i + j for (x, i), (y, j) in zip(factors, column, strict=True)))


def test_products_lie_on_either_side_of_ties():
    """So near that they are told from one by bits that are 24 places below the leading one, or more."""
    layer = float8_layer(E4M3FN, E4M3FN, E5M2, k=16, n=2)
    multipliers = Float8Requantization.from_scales(layer.scale, E5M2).multiplier
    sides = dict.fromkeys(((n, side) for n in range(layer.n) for side in (-1, 1)), 0)
    for n, total in exact_sums(layer, float8_sums(layer, 800, np.random.default_rng(1))):
        product = total * multipliers[n % len(multipliers)]
        below = max(product.bit_length() - 3, 1)  # bits below a significand of E5M2
        rest = product % (1 << below) - (1 << below - 1)
        if 0 < abs(rest) << 24 < product:
            sides[n, 1 if rest > 0 else -1] += 1
    assert min(sides.values()) > 3
    assert sum(sides.values()) > 30


@pytest.mark.sampled(3)
@pytest.mark.parametrize("y", [E4M3FN, E5M2], ids=str)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_sums_next_to_ties_are_the_nearest_there_are(k, y):
    """On both sides of each tie that a column reaches, by the formats of `systoliq verify`."""
    layer = float8_layer(E4M3FN, E5M2, y, k=k, n=1)
    a, b, results = (FORMATS[str(form)] for form in (E4M3FN, E5M2, y))
    numbers = np.array([number for code in range(256) if (number := a.units(code)) is not None])
    sums = np.zeros(1, np.int64)
    for code in layer.b[:, 0].view(np.uint8).tolist():
        sums = np.unique(np.add.outer(sums, numbers * b.units(code)))
    found = {total for _, total in exact_sums(layer, float8_ties(layer, 4000, np.random.default_rng(1)))}
    half = Fraction(2) ** results.unit / 2 / Fraction(float(layer.scale[0])) / Fraction(2) ** (a.unit + b.unit)
    reached = [float(tie * half) for tie in results.ties if tie * half < int(sums[-1])]
    assert len(reached) > 20
    for at in np.searchsorted(sums, reached):
        assert {int(sums[at]), abs(int(sums[at - 1]))} <= found


@pytest.mark.parametrize("y", [E4M3FN, E5M2, INT8], ids=str)
def test_results_tell_sums_that_are_off_by_two(y):
    """Sums that are too great or too small, of either sign, in several results each."""
    layer = float8_layer(E4M3FN, E4M3FN, y, k=40, n=2)
    requantization = Float8Requantization.from_scales(layer.scale, y, layer.y_zero_point)
    rows = float8_sums(layer, 400, np.random.default_rng(1))
    decoded = E4M3FN.decode(rows)
    sums = (decoded.significand << decoded.shift).astype(object) @ layer.b_units.astype(object)
    none = np.zeros(sums.shape, np.int8)

    def results(sums):
        return requantization.apply(Sums(Wide.of_integers(sums, 2 * E4M3FN.unit), none != 0, none)).view(np.uint8)

    for off in (2, -2):
        changed = results(sums + off) != results(sums)
        for side in (sums > 0, sums < 0):
            assert len(np.unique(results(sums)[changed & side])) > 4


@pytest.mark.parametrize(("a", "b"), [(E4M3FN, E5M2), (E5M2FNUZ, E4M3FN), (E5M2, INT8)])
def test_sums_have_every_bit_alone(a, b):
    """All numbers are alone in a row, and sums of a column just above nearly each power of two, by less than 2^-10."""
    layer = float8_layer(a, b, E5M2, k=16, n=2)
    rows = float8_sums(layer, 1000, np.random.default_rng(1))
    alone = rows.view(np.uint8)[np.count_nonzero(rows.view(np.uint8), axis=1) == 1]
    assert set(alone.max(axis=1).tolist()) >= {code | sign for code in range(1, a.max_code + 1) for sign in (0, 0x80)}
    powers = set()
    for n, total in exact_sums(layer, rows):
        power = total.bit_length() - 1
        if total and (total - (1 << power)) << 10 < 1 << power:
            powers.add((power, n))
    reached = max(power for power, _ in powers)
    wanted = {(power, n) for power in range(16, reached - 1) for n in range(layer.n)}
    assert len(powers & wanted) > 0.9 * len(wanted)


def test_the_package_holds_formats_constants_and_a_certificate(tmp_path):
    package = make_package(LayerDesign(float8_layer()))
    ends = (".v", ".vlt", "_tb.v", "_layer.npz", "_vectors.npz", ".json")
    assert {*(f"f8{end}" for end in ends), "certificate.json"} <= set(package.files)
    sidecar = json.loads(package.files["f8.json"])
    assert sidecar["formats"]["a"]["name"] == "float8_e4m3fn"
    assert sidecar["formats"]["b"]["infinity_code"] == 0x7C
    assert sidecar["parameters"]["accumulator_bits"] >= sidecar["parameters"]["sum_bits"]
    scale = np.ldexp(np.float64(sidecar["quantization"]["multiplier"]), sidecar["quantization"]["exponent"])
    assert np.array_equal(scale, np.float64(sidecar["quantization"]["scale"]))
    package.write(tmp_path / "out")
    again = MatMulLayer.load(tmp_path / "out" / "f8_layer.npz", name="f8")
    assert LayerDesign(again).verilog == LayerDesign(float8_layer()).verilog


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mix", MIXES)
def test_packages_of_mixes_say_what_they_compute(mix, tmp_path):
    layer = float8_layer(*MIXES[mix])
    design = LayerDesign(layer)
    files = make_package(design).files
    sidecar = json.loads(files["f8.json"])
    assert [sidecar["formats"][name]["name"] for name in "aby"] == [form.name for form in MIXES[mix]]
    zero_points = [sidecar["quantization"][name]["zero_point"] for name in "aby"]
    assert zero_points == [layer.a_zero_point, [0 if layer.b_format in FLOAT8 else 3] * 3, layer.y_zero_point]
    assert ("+ y_zero_point" in sidecar["computes"]) == (layer.y_format not in FLOAT8)
    assert ("(a - a_zero_point)" in sidecar["computes"]) == (layer.a_format not in FLOAT8)
    assert ("modulo 2^32" in sidecar["computes"]) == layer.multiplies_integers
    stimulus = layer_stimulus(design)
    assert stimulus.float32_mismatches == 0
    assert len(np.unique(stimulus.y.view(np.uint8))) > 8
    (tmp_path / "f8_layer.npz").write_bytes(files["f8_layer.npz"])
    again = MatMulLayer.load(tmp_path / "f8_layer.npz", name="f8")
    assert LayerDesign(again).verilog == design.verilog


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("mix", [(E4M3FN, E5M2, E4M3FN), *MIXES.values()], ids=lambda mix: "-".join(map(str, mix)))
def test_the_plain_testbench_passes(mix, tmp_path):
    write_package(LayerDesign(float8_layer(*mix), LayerOptions(rows=2, cols=2, depth=2)), tmp_path)
    subprocess.run(["iverilog", "-g2005", "-o", "t", "f8.v", "f8_tb.v"], cwd=tmp_path, check=True, timeout=300)
    ran = subprocess.run(["vvp", "t"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=300)
    assert "PASS" in ran.stdout


@pytest.mark.slow  # tests/cli/test_float8.py simulates one
@pytest.mark.simulator
def test_simulation_compares_with_golden():
    design = LayerDesign(float8_layer(), LayerOptions(cols=2, cells="ecp5"))
    run = design.simulate(layer_stimulus(design).a, simulator="icarus", stalls=0.2)
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
    with pytest.raises(InputError, match=f"{name} cannot be used with a float8 layer: "):
        LayerDesign(float8_layer(), LayerOptions(**{name: value}))


def test_an_array_of_integers_keeps_its_options():
    """Where float8 is the result alone."""
    layer = float8_layer(INT8, INT8, E5M2)
    design = LayerDesign(layer, LayerOptions(b_bits=10, accumulator_bits=24, wrap=False))
    assert (design.config.b.bits, design.config.a) == (10, INT8)
    with pytest.raises(ValueError, match="accumulator_bits must be at least 1"):
        LayerDesign(layer, LayerOptions(accumulator_bits=12))
    for name, value in (("requantizer", "auto"), ("multiplier_bits", 8)):
        with pytest.raises(InputError, match=f"{name} cannot be used with a float8 layer: "):
            LayerDesign(layer, LayerOptions(**{name: value}))


def test_differences_too_wide_for_cells_are_refused():
    layer = float8_layer(UINT8, E5M2, E5M2).replace(a_format=None, a_zero_point=np.uint16(3))
    with pytest.raises(ValueError, match="a must have at most 15 bits where its zero point meets float8, not 16"):
        LayerDesign(layer)


def test_size_and_width_follow_what_is_asked():
    config = LayerDesign(float8_layer(n=20), LayerOptions(accumulator_bits="auto", rows=2)).config
    assert (config.rows, config.cols, config.float8) == (2, 10, (E4M3FN, E5M2))
