"""The LiteX form: in a SoC of LiteX the block elaborates, and Verilator and Icarus take what comes out."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from systoliq.package.forms.block import Block
from systoliq.package.forms.litex import litex_module
from systoliq.sim.tools import find, missing_text

from .written import RESERVED, written

LITEX = pytest.mark.skipif(importlib.util.find_spec("litex") is None, reason="pip install litex")

SOC = Path(__file__).parent / "litex_soc.py"


def built(name: str, folder: Path, out: Path, *, standard: str = "wishbone", width: int = 32) -> Path:
    """The folder with the Verilog of a SoC around the block, `top.v`; in a process of its own, as LiteX warns."""
    command = [sys.executable, "-W", "ignore", SOC, folder, f"{name}_litex", out, standard, width]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return out / "gateware"


@pytest.mark.sampled(99)
@LITEX
@pytest.mark.parametrize(
    ("kind", "standard", "width"),
    [
        ("engine", "wishbone", 32),
        ("dma_engine", "axi", 64),
        pytest.param("dma_engine", "wishbone", 32, marks=pytest.mark.slow),
        pytest.param("engine", "axi", 64, marks=pytest.mark.slow),
        ("layer", "axi-lite", 32),
    ],
)
def test_a_soc_with_the_block(tmp_path: Path, kind: str, standard: str, width: int) -> None:
    name, folder = written(kind, tmp_path)
    gateware = built(name, folder, tmp_path / "soc", standard=standard, width=width)
    assert f"{name} {name}" in (gateware / "top.v").read_text()
    if not (verilator := find("verilator")).found:
        pytest.skip(missing_text(verilator))
    # LiteX' own text has warnings of every kind; a pin that is missing or not there is an error of the form's.
    pins = ["-Werror-PINMISSING", "-Werror-PINNOTFOUND", "-Werror-IMPLICIT"]
    command = [verilator.path, "--lint-only", "-Wno-fatal", "-Wno-lint", "-Wno-style", *pins, "--top-module", "top"]
    done = subprocess.run(
        [*map(str, command), "top.v", str(folder / f"{name}.v")],
        cwd=gateware, env=verilator.environment, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


@LITEX
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
def test_models_of_cells_come_with_simulation(tmp_path: Path) -> None:
    name, folder = written("layer", tmp_path, "ecp5")
    gateware = built(name, folder, tmp_path / "soc")
    sources = [folder / f"{name}{end}" for end in (".v", "_models.v")]
    command = ["iverilog", "-g2005-sv", "-t", "null", "-s", "top", gateware / "top.v", *sources]
    subprocess.run([*map(str, command)], check=True)


def test_a_stream_with_tuser_is_left_out_of_dma(tmp_path: Path) -> None:
    name, folder = written("layer", tmp_path)
    sidecar = json.loads((folder / f"{name}.json").read_text())
    user = {"name": "s_axis_a_tuser", "direction": "input", "width": 16, "meaning": "zero points"}
    text = litex_module(Block({**sidecar, "ports": [*sidecar["ports"], user]}))
    assert "self.s_axis_a = axi.AXIStreamInterface(data_width=32, user_width=16)" in text
    assert "i_s_axis_a_tuser=self.s_axis_a.user," in text
    assert "def add_to(self, soc, name, dma=('m_axis_y',)):" in text


@pytest.mark.parametrize("name", RESERVED)
def test_names_mean_nothing_to_python(tmp_path: Path, name: str) -> None:
    name, folder = written("array", tmp_path, name=name)
    compile((folder / f"{name}_litex.py").read_text(), name, "exec")
