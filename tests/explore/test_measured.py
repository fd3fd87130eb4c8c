"""The real synthesizer, on a small design."""

from __future__ import annotations

import pytest

from systoliq.errors import InputError
from systoliq.explore.grid.subjects.layer import LayerPoint
from systoliq.explore.measured import MeasuredSynthesizer


@pytest.mark.slow
def test_area_and_frequency_of_a_small_design(subject):
    pytest.importorskip("pyosys")
    point = LayerPoint(rows=1, cols=2, depth=1, a_bits=4, b_bits=4, requantizer_bits=6, target="ice40-hx8k")
    design = subject.design(point)
    synthesizer = MeasuredSynthesizer()
    area = synthesizer.area(design, point.target)
    assert area["lut_sites"] > 0
    assert area["ff"] > 0
    assert {"array", "lane", "result_buffer"} <= set(area["blocks"])
    assert sum(area["blocks"].values()) == area["lut_sites"]  # every site is in one block
    placed = synthesizer.frequency(design, point.target, 1)
    assert 0 <= placed["lut_sites"] - area["lut_sites"] <= 10
    assert placed["fmax_mhz_per_seed"] == [placed["fmax_mhz"]]
    assert 20 < placed["fmax_mhz"] < 500
    assert "pyosys" in synthesizer.identity()


@pytest.mark.slow
def test_a_frequency_that_leaves_cells_out_is_none(subject):
    pytest.importorskip("pyosys")
    point = LayerPoint(
        rows=1, cols=2, depth=2, a_bits=4, b_bits=4, requantizer_bits=6, target="ecp5-25k", cells="ecp5-alu"
    )
    with pytest.raises(InputError, match="cells must be timed by nextpnr to be compared by MHz, which ALU54B is not"):
        MeasuredSynthesizer().frequency(subject.design(point), point.target, 1)
