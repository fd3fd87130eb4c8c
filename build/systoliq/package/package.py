"""The package: Verilog, testbench, golden vectors, sidecar of a design, and forms for the flows of others, as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..design.design import Design
from ..errors import InputError, expect, path_of
from ..files import json_bytes
from ..generator import CERTIFICATE
from ..testbench.testbench_of import testbench_of
from .certify import certify
from .contents import contents_of
from .file import File
from .forms import described_forms, write_forms
from .header import header
from .output import write_output
from .sidecar import sidecar
from .waivers import verilator_waivers

__all__ = ["Package", "make_package", "write_package"]

_TESTBENCH = "self-checking testbench: iverilog -g2005 -o t DIR/*.v && vvp t"
_TESTBENCH_IN_PLACE = "self-checking testbench, to be run in this folder: iverilog -g2005 -o t *.v && vvp t"


@dataclass(frozen=True, kw_only=True, eq=False)
class Package:
    """Files of one design, not yet written: contents by name, and what sidecar and certificate say (a layer's)."""

    design: Design
    files: Mapping[str, bytes]
    sidecar: Mapping[str, Any]
    certificate: Mapping[str, Any]

    @property
    def notes(self) -> list[str]:
        """Warnings for the user, one per line: the design's notes, and whether its requantizer is inexact."""
        wrong = self.sidecar.get("vectors", {}).get("float32_mismatches", 0)
        inexact = f"this requantizer differs from the float32 formula on {wrong} golden vectors"
        return [*self.design.notes, *([inexact] if wrong else [])]

    def write(self, directory: Path, *, replace: bool = False) -> Path:
        """Write all files as `directory`, whole or not at all (see `write_output`), and return `directory`."""
        write_output(directory, self.files, replace=replace)
        return directory


def make_package(design: Design) -> Package:
    """The package of `design`."""
    name, models, memories = design.name, _models(design), _memories(design)
    described: dict[str, File] = {
        f"{name}.v": (f"Verilog-2005, top module {name}", (header(design, list(models)) + design.verilog).encode()),
        f"{name}.vlt": (
            "lint waivers for Verilator, each with its reason",
            verilator_waivers(name, list(models)).encode(),
        ),
        f"{name}_tb.v": (_TESTBENCH_IN_PLACE if memories else _TESTBENCH, testbench_of(design).encode()),
        **memories,
        **contents_of(design),
        **models,
    }
    content = sidecar(design, {file: text for file, (text, _) in described.items()})
    forms = described_forms(content)
    names = [*described, *forms, f"{name}.json", CERTIFICATE]
    if twice := sorted({file for file in names if names.count(file) > 1}):
        raise InputError(f"name must not be {name!r}: {twice[0]} would be two files of the package")
    content["files"] |= forms
    if design.certified:
        content["files"][CERTIFICATE] = "what is claimed about exactness: systoliq verify DIR checks it"
    files = {file: data for file, (_, data) in described.items()} | dict(write_forms(content))
    files[f"{name}.json"] = json_bytes(content)
    claims = certify(design, files)
    if claims:
        files[CERTIFICATE] = json_bytes(claims)
    return Package(design=design, files=files, sidecar=content, certificate=claims)


def write_package(design: Design, directory: Path | str, *, replace: bool = False) -> Path:
    """Write the package of `design` to `directory`, completely or not at all, and return the directory as a Path.

    The directory must be new, be empty or contain a package of the same kind and name, which is overwritten. If
    `replace` is true, a systoliq package of another kind or name in it is overwritten too.
    """
    expect("design", design, Design)
    directory = path_of("directory", directory)
    return make_package(design).write(directory, replace=replace)


def _memories(design: Design) -> dict[str, File]:
    """The files with the contents of large memories, which the Verilog reads."""
    title = f"contents of a memory, which {design.name}.v reads from the working directory of a simulator"
    return {file: (title, content) for file, content in design.verilog.files.items()}


def _models(design: Design) -> dict[str, File]:
    """The file with the models of vendor cells, where the design has any."""
    if not design.models:
        return {}
    head = (
        f"// Simulation models of the vendor cells in {design.name}.v, for simulators only: leave this file out of\n"
        "// synthesis, whose tools know the cells. (They see nothing in it where they define SYNTHESIS.)\n"
        "// They are part of systoliq: Apache License 2.0.\n"
    )
    title = f"simulation models of the {design.cells} cells; for simulators only, leave it out of synthesis"
    return {f"{design.name}_models.v": (title, (head + design.models).encode())}
