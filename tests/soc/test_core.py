"""The system's FuseSoC core: it names files that are there, and what the Makefile has."""

from __future__ import annotations

import pytest
import yaml

from systoliq.hw.soc import SocConfig
from systoliq.soc.core import soc_core
from systoliq.soc.design import MEMORY, NAME, SocDesign

CORE = yaml.safe_load(soc_core(NAME, MEMORY, [f"{NAME}.v", "picorv32.v"], "ulx3s.lpf"))


def test_targets_are_of_filesets_that_there_are():
    assert set(CORE["targets"]) == {"default", "sim", "sim_verilator", "ulx3s"}
    used = {name for target in CORE["targets"].values() for name in target["filesets"]}
    assert used == set(CORE["filesets"])


def test_its_files_are_written():
    pytest.importorskip("pythondata_cpu_picorv32", reason="pip install 'systoliq[soc]'")
    pytest.importorskip("sklearn", reason="pip install 'systoliq[demo]'")
    files = SocDesign(config=SocConfig()).files(compiled=False)
    assert yaml.safe_load(files[f"{NAME}.core"]) == CORE
    listed = {next(iter(file)) for fileset in CORE["filesets"].values() for file in fileset["files"]}
    assert listed - files.keys() == {MEMORY}  # the program, which is compiled
