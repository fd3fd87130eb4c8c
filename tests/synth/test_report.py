"""The report of a synthesis, without place and route."""

from __future__ import annotations

import json

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
