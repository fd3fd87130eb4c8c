"""Verification of a package: every claim of its certificate, derived again from the Verilog and compared.

    certificate.json, NAME_layer.npz, NAME.v  ->  Hardware (weights, constants)  ->  ColumnProof...  ->  Report
    certificate.json, NAME_stages.npz, NAME.v  ->  each stage of a network, and their order  ->  Report

Nothing here comes from the code that made the package: a separate reader parses the Verilog, and the float32 formula
and the integer forms are evaluated in exact arithmetic.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .boundary import Ground, of_layer
from .compare import unlike
from .float8_layer import Float8Derivation
from .integer_layer import IntegerLayer
from .network import verify_network
from .one_layer import one_layer
from .package import CERTIFICATE, RefusedError, arrays_digest, check_files, limited, read_arrays, read_certificate
from .report import Report, StageReport, noted
from .room import room_for_wide_arrays

__all__ = ["derivation", "layer_digest", "verify_package"]

Progress = Callable[[str], None]
_HEADER = {"generator": "systoliq", "kind": "certificate", "format": 1}
_WORDS = ("statement", "versions")  # which no file of the package can show to be others


def verify_package(directory: str | Path, progress: Progress | None = None) -> Report:
    """Check the package in `directory`. `progress` receives each column. The report is true if it `passed`.

    Raises NotAPackageError if `directory` is not a package.
    """
    if not isinstance(directory, str | Path):
        raise TypeError(f"directory must be a str or a Path, not {directory!r}")
    directory = Path(directory)
    reasons: list[str] = []
    claimed: dict[str, Any] = {}
    layers: list[dict[str, Any]] = []
    stages: list[StageReport] = []
    boundary: list[Ground] = []
    points, complete, formula, digest = 0, 0, "", ""
    heard = progress or (lambda _: None)
    with noted(reasons), room_for_wide_arrays():
        claimed = read_certificate(directory)
        reasons += check_files(directory, claimed)
        name = _name(claimed)
        reasons += unlike({key: claimed.get(key) for key in _HEADER}, _HEADER)
        reasons += [f"{CERTIFICATE}: has no {key}" for key in _WORDS if not claimed.get(key)]
        kind = "network" if "stages" in claimed else "layer"
        digest = layer_digest(directory, name, kind)
        if "stages" in claimed:
            found = verify_network(directory, claimed, name, heard)
            layers, points, complete = found.layers, found.points, found.complete
            formula = IntegerLayer.formula
            stages, boundary = found.stages, found.boundary
            reasons += found.reasons
        else:
            package = derivation(directory, claimed, name)
            layers = [package.derive(heard)]
            reasons += package.reasons
            reasons += limited(unlike(claimed, layers[0]))
            reasons += limited(iter(package.inexact))
            reasons += [] if reasons else package.try_all(heard)
            points, complete, formula = package.points, package.complete, package.formula
            boundary = of_layer(complete=complete, columns=len(layers[0]["columns"]))
    columns = [column for layer in layers for column in layer["columns"]]
    ends = [end for column in columns for end in column["accumulators"]] or [0]
    return Report(
        name=str(claimed.get("name")),
        columns=len(columns),
        steps=sum(column["steps"] for column in columns),
        points=points,
        complete=complete,
        accumulators=(min(ends), max(ends)),
        rounding=" and ".join(dict.fromkeys(layer["requantizer"]["rounding"] for layer in layers)),
        multiplier_bits=max((layer["requantizer"]["multiplier_bits"] for layer in layers), default=0),
        formula=formula,
        layer_sha256=digest,
        reasons=tuple(dict.fromkeys(reasons)),
        stages=tuple(stages),
        boundary=tuple(boundary),
    )


def layer_digest(directory: Path, name: str, kind: str) -> str:
    """The digest of the arrays in NAME_layer.npz or NAME_network.npz, by the `kind` of the package; `arrays_digest`."""
    return arrays_digest(read_arrays(directory / f"{name}_{kind}.npz"))


def _name(claimed: dict[str, Any]) -> str:
    name = claimed["name"]
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise RefusedError(f"{CERTIFICATE}: name must be a Verilog identifier, not {name!r}")
    return str(name)


def derivation(directory: Path, claimed: dict[str, Any], name: str) -> IntegerLayer | Float8Derivation:
    """The function that derives the claims of a layer: integers only or with float8, as the certificate says."""
    if any(form.startswith("float8") for form in claimed["formats"].values()):
        return Float8Derivation(directory, claimed, name)
    return one_layer(directory, claimed, name)
