"""The notebook of the digits: from training to the simulated board."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from ..support.notebook import code_of


@pytest.mark.slow
@pytest.mark.simulator
def test_the_notebook_runs(tmp_path):
    pytest.importorskip("sklearn", reason="needs: pip install 'systoliq[demo]'")
    (tmp_path / "notebook.py").write_text(code_of("digits.ipynb"))
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", "notebook.py"],
        cwd=tmp_path, env={**os.environ, "SYSTOLIQ_CACHE": str(tmp_path / "cache")}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    accuracy = re.search(r"float network on 450 images: ([\d.]+)%", done.stdout)
    assert float(accuracy[1]) > 90
    found, right = (line.split(":")[1].split() for line in done.stdout.splitlines()[-2:])
    assert len(right) == 20
    assert sum(one == other for one, other in zip(found, right, strict=True)) >= 17
