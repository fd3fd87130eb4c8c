"""The scripts of the pictures run, and draw what is checked in; those of traces assert what they draw."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from systoliq.sim.tools import find, missing_text

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
TRACED = ("space_time", "drain")


def test_each_picture_has_its_script():
    scripts = {path.stem for path in PICTURES.glob("*.py")} - {"drawing"}
    assert scripts == {path.stem for path in PICTURES.glob("*.svg")}


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize("name", sorted(path.stem for path in PICTURES.glob("*.svg")))
def test_the_picture_is_drawn_again(name, tmp_path):
    pytest.importorskip("matplotlib")
    if name in TRACED and not (tool := find("icarus")).found:
        pytest.skip(missing_text(tool))
    subprocess.run([sys.executable, str(PICTURES / f"{name}.py"), str(tmp_path)], check=True, timeout=120)
    drawn, kept = ((folder / f"{name}.svg").read_text() for folder in (tmp_path, PICTURES))
    # The words and their order; lines differ in the last digit between versions of matplotlib.
    assert texts(drawn) == texts(kept), f"draw it again: python docs/pictures/{name}.py"


def texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)
