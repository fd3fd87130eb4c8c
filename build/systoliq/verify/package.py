"""The files of a package, read for verification: certificate, layer file and Verilog; nothing is trusted yet."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .entries import unreadable_entry
from .float32 import combined_scale
from .memories import SUFFIX

__all__ = [
    "ARRAYS_BYTES", "CERTIFICATE", "Layer", "NotAPackageError", "RefusedError", "arrays_digest", "check_files",
    "layer_of", "limited", "read_arrays", "read_certificate",
]  # fmt: skip

CERTIFICATE = "certificate.json"
ARRAYS_BYTES = 1 << 28  # of all arrays of an archive, inflated
_MOST_REASONS = 12  # of one kind; more are only counted
_SOURCES = (".v", ".sv", ".vlt", ".vh", SUFFIX)  # what a tool that is given DIR/* would take in


class NotAPackageError(ValueError):
    """There is nothing to verify."""


class RefusedError(Exception):
    """An error after which nothing more can be checked."""


@dataclass(frozen=True, kw_only=True)
class Layer:
    """The layer file: weights [K][N], their zero points, and the other sources of the column constants."""

    b: list[list[int]]
    b_zero_point: list[int]
    bias: list[int]
    a_zero_point: int
    y_zero_point: int
    scales: list[float]  # f32(f32(a_scale * b_scale) / y_scale), for each column
    signed: dict[str, bool]  # of a, b and y, by the types of the zero points


def read_certificate(directory: Path) -> dict[str, Any]:
    """The certificate of the package in `directory`."""
    if not directory.is_dir():
        raise NotAPackageError(f"DIR must be a directory that systoliq emit wrote, not {str(directory)!r}")
    if reason := unreadable_entry(directory):
        raise RefusedError(reason)
    file = directory / CERTIFICATE
    if not file.is_file():
        if reason := _why_none(directory):
            raise NotAPackageError(
                f"{directory}: has no {CERTIFICATE}: packages of {reason}; their testbench and systoliq simulate "
                "compare with golden"
            )
        raise NotAPackageError(f"{directory}: has no {CERTIFICATE}; systoliq emit writes one for a layer or a network")
    try:
        content = json.loads(file.read_bytes())
    except ValueError as error:
        raise RefusedError(f"{CERTIFICATE}: is not JSON ({error})") from error
    if not isinstance(content, dict):
        raise RefusedError(f"{CERTIFICATE}: is no JSON object")
    return content


def _why_none(directory: Path) -> str | None:
    """The kind of the layer of a sidecar in `directory`, if packages of such layers have no certificate."""
    for file in directory.glob("*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            sidecar = json.loads(file.read_bytes())
            formats = sidecar["formats"]
            if sidecar["kind"] == "layer" and formats["y"]["name"] == "int32":
                return "layers of int32 sums carry none, as nothing is rounded"
    return None


def check_files(directory: Path, certificate: dict[str, Any]) -> Iterator[str]:
    """Faults of the files as such: bytes that differ from the certified ones, missing files, added Verilog."""
    text = (directory / CERTIFICATE).read_bytes()
    rest = {key: value for key, value in certificate.items() if key != "sha256"}
    own = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    if certificate.get("sha256") != hashlib.sha256(own.encode()).hexdigest():
        yield f"{CERTIFICATE}: its contents do not have its own sha256"
    elif text != (json.dumps(certificate, indent=2) + "\n").encode():
        yield f"{CERTIFICATE}: the bytes are not as systoliq emit writes them"
    listed = certificate.get("files")
    if not isinstance(listed, dict) or not listed:
        raise RefusedError(f"{CERTIFICATE}: lists no files")
    known = _known_files(str(certificate.get("name")), "stages" in certificate)
    for name in _needed_files(str(certificate.get("name")), "stages" in certificate):
        if name not in listed:
            yield f"{name}: is not listed in {CERTIFICATE}"
    for name, digest in listed.items():
        file = directory / name
        if not known.fullmatch(name):
            yield f"{name}: is no file that systoliq emit writes for {certificate.get('name')!r}"
        elif Path(name).name != name or not file.is_file():
            yield f"{name}: is missing"
        elif hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            yield f"{name}: sha256 is not the one in {CERTIFICATE}"
    for file in sorted(directory.iterdir()):
        if (
            file.name not in listed
            and file.name != CERTIFICATE
            and (file.suffix in _SOURCES or known.fullmatch(file.name))
        ):
            yield f"{file.name}: is not listed in {CERTIFICATE}"


def _needed_files(name: str, is_network: bool) -> list[str]:
    """Files that every package has, of any kind."""
    more = ("_network.npz", "_stages.npz", "_plan.json") if is_network else ("_layer.npz",)
    return [f"{name}{suffix}" for suffix in (".v", "_tb.v", ".json", "_vectors.npz", *more)]


def _known_files(name: str, is_network: bool) -> re.Pattern[str]:
    """The names that files of a package may have."""
    more = r"_(network|stages)\.npz|_plan\.json" if is_network else r"_layer\.npz"
    report = r"|report\.html" if is_network else ""
    of_both = rf"\.v|_tb\.v|_models\.v|\.vlt|\.json|_vectors\.npz|_\w+{re.escape(SUFFIX)}"
    forms = r"\.core|\.sdc|\.xdc|_vivado\.tcl|\.xml|_litex\.py|_constants\.(h|py)"  # none of them is read here
    return re.compile(rf"{re.escape(name)}({of_both}|{forms}|{more})|Makefile{report}", re.ASCII)


def read_arrays(file: Path) -> dict[str, Any]:
    """The arrays of an .npz archive of the package."""
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > ARRAYS_BYTES:
            raise RefusedError(f"{file.name}: must have at most {ARRAYS_BYTES} bytes in all arrays, not {size}")
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as arrays:
            return {key: arrays[key] for key in arrays.files}
    except RefusedError:
        raise
    except Exception as error:
        raise RefusedError(f"{file.name}: cannot be read ({error})") from error


def arrays_digest(arrays: dict[str, Any]) -> str:
    """SHA-256 over arrays: for each, by name, a line NAME TYPE SHAPE and its elements, little-endian, rows first."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        fixed = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        shape = "x".join(map(str, array.shape))
        digest.update(f"{name} {_type_name(array.dtype)} {shape}\n".encode() + fixed.tobytes())
    return digest.hexdigest()


def _type_name(dtype: np.dtype[Any]) -> str:
    """The name of a type, such as int8; for float8, the format's name."""
    return dtype.names[0] if dtype.names else dtype.name


def layer_of(arrays: dict[str, Any], source: str) -> Layer:
    """The layer in the `arrays` of a layer file, which `source` names."""
    try:
        b = arrays["b"]
        n = b.shape[1]
        zero_point = np.broadcast_to(arrays["b_zero_point"], n).tolist()
        scales = {key: np.broadcast_to(arrays[f"{key}_scale"], n).tolist() for key in "aby"}
        return Layer(
            b=b.tolist(),
            b_zero_point=zero_point,
            bias=arrays["bias"].tolist() if "bias" in arrays else [0] * n,
            a_zero_point=int(arrays["a_zero_point"]),
            y_zero_point=int(arrays["y_zero_point"]),
            scales=[combined_scale(a, w, y) for a, w, y in zip(scales["a"], scales["b"], scales["y"], strict=True)],
            signed={key: arrays[f"{key}_zero_point"].dtype.kind == "i" for key in "aby"},
        )
    except Exception as error:
        raise RefusedError(f"{source}: cannot be read as a layer ({error})") from error


def limited(reasons: Iterator[str], what: str = "") -> list[str]:
    """Return the first of many reasons, and the number of the others."""
    found = list(reasons)
    more = len(found) - _MOST_REASONS
    return found if more <= 0 else [*found[:_MOST_REASONS], f"and {more} more{' of these ' + what if what else ''}"]
