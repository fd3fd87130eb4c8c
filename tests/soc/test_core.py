"""The system's FuseSoC core: it names files that are there, and what the Makefile has."""

from __future__ import annotations

import pytest
import yaml

from systoliq.board.boards import open_board
from systoliq.hw.soc import SocConfig
from systoliq.soc.core import soc_core
from systoliq.soc.design import MEMORY, NAME, SocDesign

BOARDS = {"ulx3s-85f": "ulx3s", "orangecrab": "orangecrab"}


def core(board):
    return yaml.safe_load(soc_core(NAME, MEMORY, [f"{NAME}.v", "picorv32.v"], open_board(board)))


@pytest.mark.parametrize("board", BOARDS)
def test_targets_are_of_filesets_that_there_are(board):
    found = core(board)
    assert set(found["targets"]) == {"default", "sim", "sim_verilator", BOARDS[board]}
    used = {name for target in found["targets"].values() for name in target["filesets"]}
    assert used == set(found["filesets"])
    options = found["targets"][BOARDS[board]]["flow_options"]["nextpnr_options"]
    assert options == [*open_board(board).place]


@pytest.mark.parametrize("board", BOARDS)
def test_its_files_are_written(board):
    pytest.importorskip("pythondata_cpu_picorv32", reason="pip install 'systoliq[soc]'")
    pytest.importorskip("sklearn", reason="pip install 'systoliq[demo]'")
    files = SocDesign(config=SocConfig(), board=board).files(compiled=False)
    assert yaml.safe_load(files[f"{NAME}.core"]) == core(board)
    listed = {next(iter(file)) for fileset in core(board)["filesets"].values() for file in fileset["files"]}
    assert listed - files.keys() == {MEMORY}  # the program, which is compiled
