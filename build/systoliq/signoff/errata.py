"""Faults in the hardware that released versions wrote, and the rows of these and of a package's parameters."""

from __future__ import annotations

from dataclasses import dataclass

from .files import PackageFiles
from .row import FAILED, NOT_RUN, PASSED, Row

__all__ = ["ERRATA", "Erratum", "errata_row", "parameters_row"]


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """A fault of hardware.

    version
        the last released version that writes it; the versions before may, too.
    kind
        of the packages concerned, as NAME.json has it.
    text
        which packages, and what happens.
    """

    version: str
    kind: str
    text: str


ERRATA = (
    Erratum(
        version="0.3.0",
        kind="engine",
        text="float8, cells ice40, one row and as many lanes as columns: wrong results where K is short",
    ),
    Erratum(
        version="0.3.0",
        kind="network",
        text="a product or sum with a constant number as the first operand, or a constant joined behind other "
        "channels: tlast may come within an image",
    ),
    Erratum(
        version="0.3.0",
        kind="network",
        text="a Clip with a bound of NaN: integers differ from onnxruntime's",
    ),
    Erratum(
        version="0.2.0",
        kind="engine",
        text="ecp5 masters with more than 8 rows, and output-stationary ecp5-alu cells with a depth of 1 or 2: wrong "
        "results",
    ),
)
"""Faults that were found in a released version, newest first. No fault of the present version is known."""


def errata_row(files: PackageFiles, *, regenerated: bool | None) -> Row:
    """The row of a package; `regenerated` is true if it is what the present version writes, None if that is unknown."""
    version, kind = str(files.sidecar.get("versions", {}).get("systoliq", "")), str(files.sidecar["kind"])
    notes = (
        []
        if regenerated
        else [f"up to {each.version}: {each.text}" for each in ERRATA if each.kind == kind.removeprefix("dma_")]
    )
    result = FAILED if notes else PASSED
    if regenerated:
        detail = "the package is what the present version writes, in which none is known"
    elif notes and regenerated is None:
        result = NOT_RUN
        detail = f"a package of the kind {kind} is not compared with what the present version writes"
    elif notes:
        detail = f"not what the present version writes: see which of the {len(notes)} faults {version} has"
    else:
        detail = f"none is known in a package of the kind {kind} by any version"
    return Row(
        item="REVIEW_SW_ERRATA",
        question="no known fault of the generator concerns the package",
        result=result,
        detail=detail,
        notes=notes,
    )


def parameters_row(files: PackageFiles, tested: Row) -> Row:
    """The row of the package's parameters; `tested` is the one of its testbench, which simulates exactly these."""
    found = files.sidecar.get("parameters") or files.sidecar.get("engine") or {}
    values = [f"{key} {value}" for key, value in found.items() if isinstance(value, int | str)]
    return Row(
        item="SIM_PARAMETER_SETS",
        question="the set of parameters is one that is simulated",
        result=tested.result,
        detail=f"by the package's own testbench: {', '.join(values)}",
        command=tested.command,
    )
