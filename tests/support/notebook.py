"""Notebooks of the examples as programs."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["EXAMPLES", "code_of"]

EXAMPLES = Path(__file__).parents[2] / "examples"


def code_of(name: str) -> str:
    """The code cells of a notebook one after the other: no kernel is needed to run them."""
    cells = json.loads((EXAMPLES / name).read_text())["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
