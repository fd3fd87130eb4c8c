"""Designs of plans: a network's with the plan as it would be read from a file, a layer's with its one stage."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network

from ...design import Design, LayerDesign, LayerOptions, NetworkOptions
from ...design.network import NetworkDesign
from ...synth.targets import TARGETS

__all__ = ["design_of_json"]


def design_of_json(subject: Network | MatMulLayer, plan: list[dict[str, Any]], target: str) -> Design:
    """The design of `plan`, as `Plan.as_json` gives it, which can be written at once."""
    part = TARGETS[target]
    if isinstance(subject, MatMulLayer):
        (stage,) = plan
        cells = stage["cells"] or part.cells
        return LayerDesign(subject, LayerOptions(cols=stage["cols"], depth=stage["depth"], cells=cells, part=part))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        path.write_text(json.dumps(plan))
        return NetworkDesign(subject, NetworkOptions(cells=part.cells, part=part, plan=path))
