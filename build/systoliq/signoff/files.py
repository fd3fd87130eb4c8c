"""The files of a package that sign-off reads."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..package.regenerate import read_sidecar

__all__ = ["PackageFiles", "package_files"]


@dataclass(frozen=True, kw_only=True)
class PackageFiles:
    """The package in `directory`: `models` are simulation models of vendor cells, `waivers` are for Verilator."""

    directory: Path
    sidecar: Mapping[str, Any]
    verilog: Path
    models: tuple[Path, ...]
    testbench: Path
    waivers: Path | None

    @property
    def name(self) -> str:
        """The name of the top module."""
        return str(self.sidecar["top"])

    @property
    def bench(self) -> str:
        """The name of the testbench's module."""
        return self.testbench.stem

    def copied(self, folder: Path, verilog: str) -> list[Path]:
        """Write `verilog`, the models and the testbench to `folder`, with the memories; return the sources."""
        self.copy_memories(folder)
        design = folder / self.verilog.name
        design.write_text(verilog)
        return [design, *(Path(shutil.copy(each, folder)) for each in (*self.models, self.testbench))]

    def copy_memories(self, folder: Path) -> None:
        """Copy the files that the Verilog reads to `folder`."""
        for memory in self.directory.glob("*.mem"):
            shutil.copy(memory, folder)


def package_files(directory: Path) -> PackageFiles:
    """The files of the package in `directory`.

    Raises
    ------
    InputError
        if `directory` is not a package, or one without a testbench.
    """
    if not directory.is_dir():
        raise InputError(f"DIR must be a directory that systoliq emit wrote, not {str(directory)!r}")
    sidecar = read_sidecar(directory)
    if sidecar is None:
        raise InputError(f"{directory}: must hold one package of systoliq emit: NAME.json with NAME.v")
    name = sidecar.get("name")
    verilog, testbench = directory / f"{name}.v", directory / f"{name}_tb.v"
    for file in (verilog, testbench):
        if not file.is_file():
            raise InputError(f"{directory}: {file.name} is missing; write the package again with systoliq emit")
    models, waivers = directory / f"{name}_models.v", directory / f"{name}.vlt"
    return PackageFiles(
        directory=directory,
        sidecar=sidecar,
        verilog=verilog,
        models=(models,) if models.is_file() else (),
        testbench=testbench,
        waivers=waivers if waivers.is_file() else None,
    )
