"""A package that one Python writes is the same to `systoliq verify` under another.

SYSTOLIQ_OTHER_PYTHON names the other interpreter; otherwise the test looks for one on PATH. It makes a virtual
environment there and installs systoliq's base dependencies, so it needs pip's index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MINOR = range(10, 16)
HERE = sys.version_info[:2]


def version_of(python: str) -> tuple[int, ...] | None:
    """Major and minor version of an interpreter that has `venv`; None if it does not run."""
    code = "import ensurepip, sys, venv; print(*sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else None


@pytest.fixture(scope="module")
def other(tmp_path_factory) -> Path:
    """Python of another version, in a virtual environment with systoliq."""
    named = os.environ.get("SYSTOLIQ_OTHER_PYTHON")
    found = [named] if named else [path for minor in MINOR if (path := shutil.which(f"python3.{minor}"))]
    python = next((path for path in found if version_of(path) not in (None, HERE)), None)
    if python is None:
        pytest.skip(f"no Python but {HERE[0]}.{HERE[1]} was found: name one in SYSTOLIQ_OTHER_PYTHON")
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([python, "-m", "venv", folder], check=True)
    install = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", ROOT]
    subprocess.run(install, check=True, stderr=subprocess.DEVNULL)
    return folder / "bin/python"


def systoliq(python: Path | str, *arguments: object) -> str:
    parts = os.pathsep.join(str(ROOT / part) for part in ("golden", "hw", "sim", "build"))
    command = [str(part) for part in (python, "-m", "systoliq", *arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": parts})
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("written_here", [True, False], ids=["checked by the other", "written by the other"])
def test_a_package_verifies_under_another_python(other, written_here, tmp_path):
    one, two = (sys.executable, other) if written_here else (other, sys.executable)
    systoliq(one, "emit", "resnet8-fc", "--out", tmp_path / "layer")
    network = tmp_path / "network.npz"
    assert "compared: " in systoliq(two, "verify", tmp_path / "layer")
    network_file(network)
    systoliq(one, "emit", network, "--out", tmp_path / "network", "--multipliers", 8)
    assert "compared: " in systoliq(two, "verify", tmp_path / "network")


def network_file(path: Path) -> None:
    """A small network as a file that needs no onnx."""
    from systoliq.golden.archive import npz_bytes
    from systoliq.golden.network import network_arrays

    from ..hw.network import small_networks as small

    net = small.Builder((1, 2, 2))
    net.convolution(2)
    net.flatten()
    net.dense(2)
    path.write_bytes(npz_bytes(network_arrays(net.network())))
