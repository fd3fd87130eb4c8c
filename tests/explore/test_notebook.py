"""The example notebook runs from top to bottom."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ..support.notebook import code_of


@pytest.mark.slow  # half of an exploration; examples/explore.py, too
def test_the_notebook_runs(tmp_path):
    """Its code cells one after the other, in a process of their own: no kernel is needed for that."""
    script = tmp_path / "notebook.py"
    indented = "\n".join(f"    {line}" for line in code_of("explore.ipynb").splitlines())
    script.write_text(f"if __name__ == '__main__':\n{indented}\n    print(exploration.points.height)\n")
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", str(script)],
        env={**os.environ, "SYSTOLIQ_CACHE": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["288"]
