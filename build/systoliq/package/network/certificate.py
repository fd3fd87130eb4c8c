"""certificate.json of a network: the claims about each stage, and the connections of its inputs.

`systoliq.verify` checks it without this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...design.network.design import NetworkDesign
from ...errors import InputError
from ...generator import CERTIFICATE, GENERATOR
from ..layer.certificate import FORMAT, sealed
from .stages import claims_of, whole_verdict

__all__ = ["certify_network"]

_STATEMENT = (
    "Each stage with its module and those whose results it takes. Where the verdict is exact: in stages with columns, "
    "for each column and every accumulator in its range, inputs of the format a cannot leave that range, and the "
    "Verilog's output equals rint(clip(f32(accumulator) * scale, min - zero_point, max - zero_point)) + zero_point in "
    "float32; an addition gives rint(fma(a, ra, fma(b, rb, c))), saturated, and a multiplication "
    "rint(f(f((a - za) * (b - zb) * scale) + zy)), saturated, for all pairs of operands; a table, a constant and the "
    "inputs of a concatenation have the entries in NAME_stages.npz; a maximum compares all pairs. Stages with the "
    "verdict tested, window buffers, the order of elements and flow control are tested, not certified. Check with: "
    "systoliq verify DIR"
)


def certify_network(design: NetworkDesign, files: Mapping[str, bytes]) -> dict[str, Any]:
    """certificate.json for `design`; `files` are all other files of its package."""
    if CERTIFICATE in files:
        raise InputError(f"name must not be {design.name!r}: {CERTIFICATE} is a file of the package")
    stages = claims_of(design)
    by_stream = {joint.name: joint.component.kind for joint in design.assembly.pipeline.joints}
    outputs = {letter: f"{design.name}_{by_stream[name]}" for letter, name in design.assembly.outputs.items()}
    content: dict[str, Any] = {
        "generator": GENERATOR,
        "kind": "certificate",
        "format": FORMAT,
        "name": design.name,
        "statement": _STATEMENT,
        "verdict": whole_verdict(stages),
        **({"output": outputs["y"]} if len(outputs) == 1 else {"outputs": outputs}),
        "stages": stages,
    }
    return sealed(content, files)
