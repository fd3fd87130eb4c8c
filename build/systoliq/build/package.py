"""The package: Verilog, testbench, golden vectors, lint waivers and sidecar of a design, as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from systoliq.hw.cells import models_verilog

from .array_testbench import array_testbench
from .certificate import CERTIFICATE, certificate, certificate_bytes
from .design import ArrayDesign, Design, LayerDesign
from .engine_package import engine_parts
from .errors import InputError
from .layer_testbench import layer_testbench
from .output import write_output
from .package_parts import TESTBENCH, Parts, npz_bytes
from .sidecar import sidecar
from .stimulus import array_stimulus, layer_stimulus
from .waivers import verilator_waivers

__all__ = ["Package", "make_package", "npz_bytes"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Package:
    """Files of one design, not yet written: contents by name, and what sidecar and certificate say (a layer's)."""

    design: Design
    files: Mapping[str, bytes]
    sidecar: Mapping[str, Any]
    certificate: Mapping[str, Any]

    def write(self, directory: Path) -> None:
        """Write all files as `directory`, whole or not at all; see `write_output`."""
        write_output(directory, self.files)


def make_package(design: Design, *, extra: Mapping[str, tuple[str, bytes]] | None = None) -> Package:
    """The package of `design`; `extra` adds files, each name with a description for the sidecar and its content."""
    name = design.name
    if isinstance(design, LayerDesign):
        parts = _layer_parts(design)
    else:
        parts = _array_parts(design) if isinstance(design, ArrayDesign) else engine_parts(design)
    described: dict[str, tuple[str, bytes]] = {
        f"{name}.v": (f"Verilog-2005, top module {name}", design.verilog.encode()),
        f"{name}.vlt": ("lint waivers for Verilator, each with its reason", _waivers(design).encode()),
        **parts.files,
        **_models(design),
        **(extra or {}),
    }
    descriptions = {file: text for file, (text, _) in described.items()}
    if isinstance(design, LayerDesign):
        descriptions[CERTIFICATE] = "what is claimed about exactness: systoliq verify DIR checks it"
    content = sidecar(design, descriptions, parts.facts)
    files = {file: data for file, (_, data) in described.items()}
    files[f"{name}.json"] = (json.dumps(content, indent=2) + "\n").encode()
    claims: dict[str, Any] = {}
    if isinstance(design, LayerDesign):
        if CERTIFICATE in files:
            raise InputError(f"name must not be {name!r}: {CERTIFICATE} is a file of the package")
        claims = certificate(design, files)
        files[CERTIFICATE] = certificate_bytes(claims)
    return Package(design=design, files=files, sidecar=content, certificate=claims)


def _waivers(design: Design) -> str:
    waivers = verilator_waivers(f"{design.name}.v")
    return waivers + "".join(f'// Models of vendor cells\nlint_off -file "*{name}"\n' for name in _models(design))


def _models(design: Design) -> dict[str, tuple[str, bytes]]:
    """The file with the models of vendor cells, where the design has any."""
    models = models_verilog(design.config.cells)
    head = (
        f"// Simulation models of the vendor cells in {design.name}.v, for simulators only: leave this file out of\n"
        "// synthesis, whose tools know the cells. (They see nothing in it where they define SYNTHESIS.)\n"
    )
    title = f"simulation models of the {design.config.cells} cells; for simulators only, leave it out of synthesis"
    return {f"{design.name}_models.v": (title, (head + models).encode())} if models else {}


def _layer_parts(design: LayerDesign) -> Parts:
    name, stimulus = design.name, layer_stimulus(design)
    vectors = {"a": stimulus.a, "y": stimulus.y}
    if stimulus.float32_mismatches:
        vectors["y_hardware"] = stimulus.expected
    return Parts(
        files={
            f"{name}_tb.v": (TESTBENCH, layer_testbench(design, stimulus).encode()),
            f"{name}_vectors.npz": ("golden vectors: a and y = the float32 formula", npz_bytes(vectors)),
            f"{name}_layer.npz": ("the layer, a SOURCE of systoliq", npz_bytes(design.layer.arrays())),
        },
        facts={
            "vectors": {
                "rows": len(stimulus.a),
                "batches": list(stimulus.batches),
                "expected": "the float32 formula"
                if not stimulus.float32_mismatches
                else "the requantizer's own integer form, which is not exact",
                "float32_mismatches": stimulus.float32_mismatches,
            }
        },
    )


def _array_parts(design: ArrayDesign) -> Parts:
    name, stimulus = design.name, array_stimulus(design)
    vectors = {"inner": np.array(stimulus.inner), "a": stimulus.a, "b": stimulus.b, "sums": stimulus.sums}
    return Parts(
        files={
            f"{name}_tb.v": (TESTBENCH, array_testbench(design, stimulus).encode()),
            f"{name}_vectors.npz": (
                "golden vectors: tile t is a[:, k], b[k] for the next inner[t] indices k, and gives sums[t]",
                npz_bytes(vectors),
            ),
        },
        facts={"vectors": {"tiles": len(stimulus.inner), "inner": list(stimulus.inner)}},
    )
