"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from systoliq.sim.tools import find, missing_text

ROOT = Path(__file__).resolve().parent.parent
NEEDED = {"verilator": ("verilator", "c++", "libpython"), "icarus": ("icarus", "libpython")}


@pytest.fixture(scope="session")
def shared() -> Path:
    """The project's shared material, beside the repository: real weights, specifications."""
    path = ROOT.parent / "shared"
    if not (path / "data").is_dir():
        pytest.skip(f"{path} is not there: it is kept beside the repository, not in it")
    return path


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.simulator) for name in NEEDED])
def simulator(request: pytest.FixtureRequest) -> str:
    """Each simulator in turn; `make test` refuses to start where one is missing, so a skip is a choice."""
    for name in NEEDED[request.param]:
        if not (tool := find(name)).found:
            pytest.skip(missing_text(tool))
    return request.param
