"""What finished points depend on: every file that evaluating them loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from systoliq import failed, markup, subprocesses
from systoliq.explore.code_key import code_files, code_key
from systoliq.explore.grid.evaluate import STAGES
from systoliq.explore.grid.keys import stage_key
from systoliq.explore.grid.settings import Settings
from systoliq.explore.grid.subjects.layer import LayerPoint
from systoliq.explore.synthesizer import NoSynthesizer

EVALUATION = "systoliq.explore.grid.evaluate"
LOADED = f"""
import sys
import {EVALUATION}
print(*(module.__file__ for name, module in sys.modules.items() if name.startswith("systoliq.") and module.__file__))
"""


def key(stage: str) -> str:
    code_key.cache_clear()
    point = LayerPoint(rows=1, cols=1, depth=1, a_bits=8, b_bits=8)
    return stage_key(stage, "subject", point, Settings(synthesizer=NoSynthesizer()))


def test_all_that_evaluation_loads_counts():
    run = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = {Path(path) for path in run.stdout.split()}
    assert len(loaded) > 50
    loaded -= {Path(each.__file__) for each in (failed, markup, subprocesses)}  # ends of programs, and reports
    assert loaded <= set(code_files(EVALUATION))


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    ("edited", "counts"),
    [
        ("design/choose.py", True),
        ("design/layer/design.py", True),
        ("golden/rescale.py", True),
        ("cells/models/dsp48e2.v", True),
        ("sim/dense_bench.py", True),
        ("cli/emit.py", False),
        ("prove/runner.py", False),
    ],
)
def test_an_edit_makes_other_points(edited, counts, stage, monkeypatch):
    before = key(stage)
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"\n" * path.as_posix().endswith(edited))
    assert (key(stage) != before) == counts
    monkeypatch.undo()
    assert key(stage) == before
