"""The example notebook runs from top to bottom."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

NOTEBOOK = Path(__file__).parents[2] / "examples" / "explore.ipynb"


def test_the_notebook_runs(tmp_path):
    """Its code cells one after the other, in a process of their own: no kernel is needed for that."""
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    body = "\n\n".join("".join(cell["source"]) for cell in cells)
    script = tmp_path / "notebook.py"
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    script.write_text(f"if __name__ == '__main__':\n{indented}\n    print(exploration.points.height)\n")
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", str(script)],
        env={**os.environ, "SYSTOLIQ_CACHE": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["288"]
