"""Synthesis as a whole, on small designs: figures, refusals, and the netlist against the layer's golden vectors."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

from systoliq.build.design import LayerDesign
from systoliq.build.options import HardwareOptions
from systoliq.build.package import make_package
from systoliq.build.sources import resnet8_fc_layer
from systoliq.build.synth import DoesNotFitError, netlist_sources, synthesize
from systoliq.hw import ArrayConfig, AxiBareArray, BareArray, Dense

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="the extra synth is not installed"),
]


def bare_array(cells: str, **size: int) -> AxiBareArray:
    return AxiBareArray(BareArray(ArrayConfig(cells=cells, **size)))


def test_report_of_an_ecp5_array() -> None:
    report = synthesize(bare_array("ecp5", rows=2, cols=2), "array", "ecp5-25k", seeds=(1,), macs_per_cycle=4)
    figures = report.as_json()
    assert figures["dsp"] == 4
    assert figures["ram"] == 0
    assert 100 < figures["lut_sites"] < 300
    assert figures["fmax_mhz"] == figures["fmax_mhz_per_seed"][0] > 200
    assert figures["critical_path"]["blocks"]


def test_what_does_not_fit_is_named() -> None:
    with pytest.raises(DoesNotFitError, match="needs 36 DSP blocks where there are 28"):
        synthesize(bare_array("ecp5", rows=6, cols=6), "array", "ecp5-25k", seeds=(1,))


def test_unknown_targets_are_named() -> None:
    with pytest.raises(ValueError, match="target must be one of ecp5-25k"):
        synthesize("", "array", "spartan")


@pytest.mark.simulator
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
@pytest.mark.parametrize(("family", "depth"), [("ecp5", 8), ("ice40", 2)])
def test_netlist_is_bit_exact(tmp_path: Path, family: str, depth: int) -> None:
    options = HardwareOptions(rows=1, cols=2, depth=depth, requantizer="auto", cells=family)
    layer, origin = resnet8_fc_layer()
    dense = Dense(layer, options.requantization(layer), options.array_for_layer(layer))
    design = LayerDesign(name="fc", dense=dense, origin=origin)
    (testbench,) = (text for name, text in make_package(design).files.items() if name.endswith("_tb.v"))
    (tmp_path / "tb.v").write_bytes(testbench)
    for index, text in enumerate(netlist_sources(design.verilog, "fc", family)):
        (tmp_path / f"netlist_{index}.v").write_text(text)
    subprocess.run(["iverilog", "-g2005", "-o", "t", *map(str, tmp_path.glob("*.v"))], cwd=tmp_path, check=True)
    log = subprocess.run(["vvp", "t"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "PASS" in log, log
