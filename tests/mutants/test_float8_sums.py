"""Mutants of a float8 requantizer, told apart by sums that are reached, and by no others."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from systoliq.design import LayerDesign
from systoliq.golden import E4M3FN, E5M2, MatMulLayer
from systoliq.mutants.float8_sums import is_in_requantizer, same_results
from systoliq.package import make_package
from systoliq.prove.tools import proof_tools
from systoliq.sim.tools import missing_text

pyosys = next(tool for tool in proof_tools() if tool.name == "pyosys")
pytestmark = pytest.mark.skipif(not pyosys.found, reason="" if pyosys.found else missing_text(pyosys))


@functools.cache
def files() -> dict[str, bytes]:
    """Of a layer whose results are E5M2's greatest long before its sums have their last digit."""
    weights = E4M3FN.encode(np.array([[3.0, -0.4], [0.02, 5.0]]))
    layer = MatMulLayer(
        name="layer", b=weights, a_scale=1.0, b_scale=np.array([0.7, 3.1], np.float32), y_scale=np.float32(1e-3),
        a_zero_point=0, b_zero_point=0, y_zero_point=0, a_format=E5M2, b_format=E4M3FN, y_format=E5M2,
    )  # fmt: skip
    return make_package(LayerDesign(layer)).files


# What is there, what a mutant has, and whether all sums have the same results. A product whose last digit is not 0 has
# the greatest one, so what is there only then does not matter; nor does it where a tie is, as no product is one.
CHANGES = {
    "the third digit": ("digit_2_1 <= digits[50:34]", "digit_2_1 <= digits[49:33]", False),
    "a rest below the last digit": ("rest_3_1 | before_3_1", "rest_3_1 & before_3_1", True),
    "the last digit as it would be": ("digit_4_1 <= digits[84:68]", "digit_4_1 <= digits[83:67]", True),
    "bits below the mantissa": ("= | moved_1_1[15:0]", "= | moved_1_1[16:1]", True),
    "the sign": ("negative <= negative_15", "negative <= negative_14 ^ negative_15", False),
    "flags": ("    .flags(flags)", "    .flags(2'h0)", False),
}


def test_what_is_in_a_requantizer():
    assert is_in_requantizer(["layer_digit_product", "layer_float8_requantizer", "layer_lane_0", "layer"])
    assert not is_in_requantizer(["layer_float8_product", "layer"])


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_results_of_all_sums_are_compared(change, tmp_path):
    old, new, same = CHANGES[change]
    package, proofs = tmp_path / "package", tmp_path / "proofs"
    package.mkdir()
    proofs.mkdir()
    for name, text in files().items():
        (package / name).write_bytes(text)
    verilog = files()["layer.v"].decode()
    at = verilog.index(old, verilog.index("module layer_float8_requantizer("))
    mutant = verilog[:at] + new + verilog[at + len(old) :]
    assert same_results(package, [mutant], proofs, seconds=60) == same
