"""`systoliq verify` of packages with float8: it accepts what `emit` wrote, and refuses other weights, scales, logic."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from fractions import Fraction

import numpy as np
import pytest

from systoliq.api import LayerDesign, LayerOptions, MatMulLayer, write_package
from systoliq.golden import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, INT8, UINT8, IntFormat, combined_scale
from systoliq.verify import verify_package
from systoliq.verify.float8 import FORMATS

from ..golden import float8_oracle as oracle
from .sealing import change, seal

SCALES = {"a_scale": np.float32(0.25), "b_scale": np.float32([0.5, 1, 3, 0.1, 0.0007]), "y_scale": np.float32(0.25)}
VARIANTS = {
    "e4m3fn": (E4M3FN, E4M3FN, E4M3FN, {}),
    "e5m2, several columns": (E5M2, E5M2, E5M2, {"cols": 2, "rows": 2, "depth": 3}),
    "fnuz": (E4M3FNUZ, E5M2FNUZ, E4M3FNUZ, {"cols": 3}),
    "mixed": (E4M3FN, E5M2, E5M2FNUZ, {"depth": 2}),
    "ecp5": (E5M2, E4M3FN, E4M3FN, {"cols": 2, "cells": "ecp5"}),
    "to integers": (E5M2, E4M3FN, UINT8, {"cols": 2, "depth": 2}),
    "integer A": (UINT8, E5M2, INT8, {"cols": 5, "rows": 2, "depth": 2}),
    "integer A, narrow": (IntFormat(4, signed=True), E4M3FN, E5M2, {"cols": 2}),
    "integer B": (E5M2, INT8, E4M3FN, {"cols": 2, "rows": 2}),
    "integer B, ecp5": (E4M3FNUZ, UINT8, INT8, {"cols": 2, "cells": "ecp5"}),
    "integers to float8": (INT8, UINT8, E5M2, {"cols": 2, "depth": 2}),
    "integers to float8, row sums": (UINT8, INT8, E4M3FN, {"cols": 5}),
}
POINTS = {"a": 3, "b": [0, 3, 90, 100, 7], "y": 2}  # of integers


def layer_of(a, b, y, *, odd=False):
    """A layer 9 -> 5; with `odd` an infinity (where there is one) and a NaN among the weights."""
    w = np.random.default_rng(4).normal(0, 1, (9, 5))
    points = {
        f"{letter}_zero_point": np.array(POINTS[letter]).astype(form.dtype) if isinstance(form, IntFormat) else 0
        for letter, form in zip("aby", (a, b, y), strict=True)
    }
    if isinstance(b, IntFormat):
        w = b.saturate(np.rint(40 * w))
        w[0], w[1] = b.min, b.max  # no room for zero points
    else:
        w = b.encode(w)
        if odd:
            w[3, 2], w[1, 1] = b.nan_code if b.infinity_code is None else b.infinity_code, b.nan_code
    return MatMulLayer(name="f8", b=w, **SCALES, **points, a_format=a, b_format=b, y_format=y)


def emitted(directory, variant, *, odd=False):
    *formats, hardware = VARIANTS[variant]
    write_package(LayerDesign(layer_of(*formats, odd=odd), LayerOptions(**hardware)), directory)
    return directory


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return emitted(tmp_path_factory.mktemp("f8") / "out", "e4m3fn")


@pytest.fixture
def copy(original, tmp_path):
    return shutil.copytree(original, tmp_path / "out")


@pytest.mark.sampled(16)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("odd", [False, True], ids=["numbers", "NaN and infinity"])
def test_accepts_what_emit_wrote(variant, odd, tmp_path):
    report = verify_package(emitted(tmp_path / "out", variant, odd=odd))
    assert report.passed, report.reasons
    assert (report.columns, report.rounding, report.multiplier_bits) == (5, "nearest-even", 24)
    assert report.steps > 300
    assert report.points > 1.7 * report.steps  # of two next to each other, one is on both sides


@pytest.mark.slow
def test_the_command_says_what_was_verified(call, original):
    result = call("verify", original)
    assert result.exit_code == 0, result.output
    assert re.search(r"verified: f8 equals exact sums, rounded once, in 5 columns, \d+ steps", result.output)


def test_the_certificate_by_exact_integers(tmp_path):
    """Steps by bisection with the rounding of the tests' own oracle, and their digest as docs/exactness.md defines."""
    directory = emitted(tmp_path / "out", "mixed")
    certificate = json.loads((directory / "certificate.json").read_text())
    scale, unit = combined_scale(*SCALES.values()), certificate["accumulator"]["unit"]
    w = np.load(directory / "f8_layer.npz")["b"].view(np.uint8)
    output = oracle.Output("float8_e5m2fnuz")
    for n, column in enumerate(certificate["columns"]):
        sizes = sum(abs(Fraction(oracle.values("float8_e5m2")[code])) for code in w[:, n])
        most = sizes * 448 / Fraction(2) ** unit
        assert [-most, most] == column["accumulators"]

        def code(at, n=n):
            return output.round(oracle.times(at, -unit, scale[n].item()))

        text, at = [], -int(most)
        while at <= most:
            text.append(f"{at}:{code(at)}")
            low, high = at, int(most) + 1  # the last sum known to have this code; one that has not
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if code(middle) == code(at) else (low, middle)
            at = high
        assert column["steps"] == len(text) - 1
        assert column["digest"] == hashlib.sha256(" ".join([*text, str(int(most))]).encode()).hexdigest()


def test_formats_are_those_of_ml_dtypes():
    for name, form in FORMATS.items():
        values = oracle.values(name)
        units = [form.units(code) for code in range(256)]
        assert [unit is not None for unit in units] == np.isfinite(values).tolist()
        assert all(unit is None or unit * 2.0**form.unit == value for unit, value in zip(units, values, strict=True))


TAMPERINGS = {
    "weight": (r"_weights_0\(.*?memory\[3\] = \d+'h(\w+);", None, "the weight memory has the code"),
    "multiplier": (r"proc_rom_\d+\[0\] = 24'h(\w+);", None, "column 0 has the scale"),
    "exponent": (r"proc_rom_\d+\[0\] = 7'h(\w+);", None, "column 0 has the scale"),
    "greatest code": (r"_float8_rounding\(.*?\? (8'h7e)", "8'h7d", "not exact: column 0 gives"),
    "NaN": (r"_float8_rounding\(.*?(8'h7f)", "8'h7e", "with flags 1"),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_refuses_a_forged_verilog(what, copy):
    pattern, new, reason = TAMPERINGS[what]
    change(copy / "f8.v", pattern, new)
    seal(copy)
    reasons = verify_package(copy).reasons
    assert any(reason in text for text in reasons), reasons


BESIDE_INTEGERS = {  # the last constants are of a sixth column, which only fills the tile
    "zero point of A": ("integer A", r"_centring\(.*?- 2'h(3)", None, "of A does not enter as -3"),
    "zero point of A that is left out": ("integer A", r"(i__payload\[7:0\] - 2'h3)", "i__payload[7:0]", "not enter as"),
    "zero point of Y": ("integer A", r"\.zero_point\((8'h02)\)", "8'h03", "not exact: column 0 gives"),
    "least integer": ("integer A", r"\$signed\(moved\) < .*?(10'h380)", "10'h381", "instead of -128 for the sum"),
    "integer weight": ("integer B", r"_weights_0\(.*?memory\[3\] = \d+'h(\w+);", None, "- zero point = "),
    "what is added": ("integers to float8", r"bias_entry = \w+\(19'h00000, 114'h(\w+)\w{5},", None, "column 4 adds "),
    "scale": ("integers to float8", r"multiplier_entry = \w+\(24'h\w+, \d+'h(\w+)\w{6},", None, "has the scale"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", BESIDE_INTEGERS)
def test_refuses_a_forged_verilog_with_integers(what, tmp_path):
    variant, pattern, new, reason = BESIDE_INTEGERS[what]
    directory = emitted(tmp_path / "out", variant)
    change(directory / "f8.v", pattern, new)
    seal(directory)
    reasons = verify_package(directory).reasons
    assert any(reason in text for text in reasons), reasons


def test_refuses_a_requantizer_that_forgets_a_bit(tmp_path, monkeypatch):
    """Bits below the two highest digits, which only ties need: found at a step of some column."""
    from systoliq.hw import float8_requantizer

    choose = float8_requantizer.Float8Requantizer._choose

    def forgetful(self, m):
        window, _, exponent = choose(self, m)
        return window, window[0] & ~window[0], exponent

    monkeypatch.setattr(float8_requantizer.Float8Requantizer, "_choose", forgetful)
    reasons = verify_package(emitted(tmp_path / "out", "e5m2, several columns")).reasons
    assert any("not exact: column" in text for text in reasons), reasons


def test_refuses_infinite_weights_that_meet_idle_zeros(tmp_path):
    directory = emitted(tmp_path / "out", "e5m2, several columns", odd=True)
    change(directory / "f8.v", r"= (taken) \?", "1'h1")
    seal(directory)
    assert any("meet the zeros of a cycle without" in text for text in verify_package(directory).reasons)


CLAIMS = {
    "digest": lambda content: content["columns"][2].update(digest="0" * 64),
    "reach": lambda content: content["columns"][2].update(accumulators=[-1, content["columns"][2]["accumulators"][1]]),
    "accumulator": lambda content: content["accumulator"].update(bits=99),
    "formats": lambda content: content["formats"].update(y="float8_e5m2"),
    "NaN": lambda content: content["special"].update(nan=0),
    "zero points": lambda content: content["zero_points"].update(a=1),
}


@pytest.mark.parametrize("what", CLAIMS)
def test_refuses_other_claims(what, copy):
    path = copy / "certificate.json"
    content = json.loads(path.read_text())
    CLAIMS[what](content)
    path.write_text(json.dumps(content, indent=2) + "\n")
    seal(copy)
    (reason,) = verify_package(copy).reasons
    assert re.search(
        r"^certificate.json: .*(, but the Verilog and the layer give |, which f8_layer.npz is not)", reason
    )
