"""The report of a synthesis, without place and route."""

from __future__ import annotations

import json

import pytest

from systoliq.cli.synth import show_report
from systoliq.synth import SynthReport


def test_a_network_without_products(capsys):
    """Such as one Softmax: no figure is for each multiply-accumulate."""
    report = SynthReport(
        name="rows", target="ecp5-85k", cells="ecp5", macs_per_cycle=0, lut_sites=777, ff=551, dsp=0, ram=3,
        carries=200, seeds=(1,), fmax_mhz_per_seed=(162.8,), target_mhz=100.0,
    )  # fmt: skip
    figures = json.loads(json.dumps(report.as_json()))
    assert [figures[f"{name}_per_mac"] for name in ("lut_sites", "ff", "gates")] == [None] * 3
    assert figures["mmacs_per_second"] == 0
    show_report(report, 1000.0)
    assert "per MAC" not in capsys.readouterr().out.replace("MACs per cycle", "")


@pytest.mark.parametrize(
    ("clocks", "text"),
    [((99.5,), "one seed; the clocks of three seeds differed by up to"), ((90.0, 99.5), "median of 90, 99.5")],
)
def test_the_report_says_what_its_clock_stands_for(capsys, clocks, text):
    report = SynthReport(
        name="fc", target="ecp5-25k", cells="ecp5", macs_per_cycle=8, lut_sites=17, ff=1, dsp=1, ram=1, carries=1,
        seeds=tuple(range(1, len(clocks) + 1)), fmax_mhz_per_seed=clocks, target_mhz=100.0,
    )  # fmt: skip
    show_report(report, None)
    assert text in capsys.readouterr().out
