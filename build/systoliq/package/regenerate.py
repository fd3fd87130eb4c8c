"""A package regenerated from its own description, and compared byte by byte with the existing one.

NAME.json (hardware, constants), NAME_layer.npz or NAME_network.npz  ->  Design  ->  Package  ->  Comparison

The origin of a layer or network (`origin`) and the `versions` of the tools that wrote the package cannot be
regenerated: these fields must be present, and are not compared. Engines and arrays have no origin, and their sidecar
describes them without an archive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from systoliq.sim.packaged import sidecars

from ..design.array import ArrayDesign
from ..design.design import Design
from ..design.from_package import WITHOUT_SOURCE, described_design, differences_from, source_arrays
from ..errors import InputError
from ..files import json_bytes
from ..generator import CERTIFICATE, GENERATOR, versions
from .package import make_package

__all__ = ["Comparison", "compare_regenerated", "described", "read_sidecar"]

_OF_ITS_AUTHOR = ("origin", "versions")
_WRITTEN_BY = re.compile(rb"^// Written by systoliq [\w.+-]+, with Amaranth [\w.+-]+ and [\w.+ -]+\.\n", re.MULTILINE)
_SOURCES = (".v", ".sv", ".vh", ".vlt", ".mem")  # files that a tool would read from DIR/*
_LONGEST = 100  # characters shown of a line
_UNDESCRIBED = (InputError, OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError,
                AssertionError, MemoryError, RecursionError)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Result of comparing a package with the one that `generator` writes of the same layer or network.

    name, kind
        of the package, as NAME.json has them.

    files
        number of equal files, if there are no `reasons`.
    source
        the layer or network that equals the package's; None if none was given.
    left
        the fields of NAME.json that were not compared.
    reasons
        where the package differs; it is accepted if this is empty.
    """

    generator: str
    name: str = ""
    kind: str = ""
    files: int = 0
    source: str | None = None
    left: tuple[str, ...] = ()
    reasons: tuple[str, ...]


def compare_regenerated(directory: Path, source: str | None = None) -> Comparison:
    """Compare the package in `directory` with a new package of the layer or network that it contains, or of the engine
    or array that it describes.

    If `source` is given, it must be the same layer or network. Raises InputError if it cannot be read, or if the
    package has no layer or network.
    """
    used = versions()
    generator = f"{GENERATOR} {used['systoliq']}"
    sidecar = read_sidecar(directory)
    if sidecar is None:
        reason = f"{directory}: must have one NAME.json, that of the package, and has none or more"
        return Comparison(generator=generator, reasons=(reason,))
    reasons = list(_missing(sidecar, used))
    if reasons:
        return Comparison(generator=generator, reasons=tuple(reasons))
    kind, count = sidecar["kind"], 0
    if source is not None and kind in WITHOUT_SOURCE:
        raise InputError(f"{directory}: is a package of the kind {kind}, which has no layer to compare with {source}")
    wanted = source_arrays(source, kind) if source is not None else None
    try:
        if source is not None and wanted is None:
            reasons.append(f"{source} is no {kind}, and the package is of one")
        elif source is not None and wanted is not None:
            reasons += differences_from(source, wanted, directory, sidecar)
        if not reasons:
            files = _files(described_design(directory, sidecar), sidecar)
            count = len(files)
            reasons += _differences(directory, files, generator, f"for {described(kind)}", _age(sidecar, used))
    except _UNDESCRIBED as error:
        said = f"{error.args[0]} is missing" if isinstance(error, KeyError) and error.args else str(error)
        age = _age(sidecar, used)
        reasons.append(f"{sidecar['name']}.json: does not describe what {generator} can write ({said}){age}")
    unknown = ("host",) if source is None and sidecar.get("host") else ()
    return Comparison(
        generator=generator,
        name=sidecar["name"],
        kind=kind,
        files=count,
        source=source,
        left=(*(field for field in _OF_ITS_AUTHOR if field in sidecar), *unknown),
        reasons=tuple(reasons),
    )


def described(kind: str) -> str:
    """The description that a package of this kind is regenerated from, in words."""
    return f"this {kind.replace('dma_engine', 'DMA engine')}" + ("" if kind in WITHOUT_SOURCE else " and hardware")


def _missing(sidecar: Mapping[str, Any], used: Mapping[str, str]) -> Iterator[str]:
    """Fields of the sidecar that are missing or of another kind, without which nothing can be written again."""
    file, kind = f"{sidecar.get('name') or 'NAME'}.json", sidecar.get("kind")
    alone = kind in WITHOUT_SOURCE
    texts = ("name", "kind") if alone else ("name", "kind", "origin")
    objects = ("parameters" if kind == ArrayDesign.kind else "engine" if alone else "hardware", "versions")
    for field in (*texts, *objects):
        value = sidecar.get(field)
        if not (_is_text(value) if field in texts else isinstance(value, dict)):
            wanted = "a string that is not empty" if field in texts else "an object"
            found = f"not {json.dumps(value)[:_LONGEST]}" if field in sidecar else "and is missing"
            yield f"{file}: {field} must be {wanted}, {found}: without it the package cannot be written again"
    said = sidecar.get("versions")
    if isinstance(said, dict) and not (said.keys() == used.keys() and all(_is_text(each) for each in said.values())):
        yield f"{file}: versions must give the version of each of {', '.join(used)}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def read_sidecar(directory: Path) -> dict[str, Any] | None:
    """The sidecar of the only package in `directory`; None if there is none or more than one."""
    found = sidecars(directory)
    return found[0] if len(found) == 1 else None


def _files(design: Design, sidecar: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of the package of `design`, with what only the author of `sidecar` can say."""
    package = make_package(design)
    described = {key: sidecar[key] if key in _OF_ITS_AUTHOR else value for key, value in package.sidecar.items()}
    files = {**package.files, f"{design.name}.json": json_bytes(described)}
    if CERTIFICATE in files:
        files[CERTIFICATE] = json_bytes({**package.certificate, "versions": sidecar["versions"]})
    return files


def _age(sidecar: Mapping[str, Any], used: Mapping[str, str]) -> str:
    """A hint where the package was written by other versions."""
    said = sidecar["versions"]
    other = [f"{name} {said[name]}" for name in ("systoliq", "amaranth", "yosys") if said[name] != used[name]]
    return f"; it was written with {', '.join(other)}: compare with these" if other else ""


def _differences(directory: Path, files: Mapping[str, bytes], generator: str, purpose: str, age: str) -> Iterator[str]:
    for path in sorted(directory.iterdir()):
        if path.suffix in _SOURCES and path.name not in files:
            yield f"{path.name}: {generator} writes no such file {purpose}"
    for name, wanted in files.items():
        path = directory / name
        if not path.is_file():
            yield f"{name}: is missing, and {generator} writes it {purpose}"
            continue
        found = path.read_bytes()
        if name == CERTIFICATE:
            found, wanted = _claims(found), _claims(wanted)
        elif name.endswith(".v"):
            found, wanted = (_WRITTEN_BY.sub(b"", text, count=1) for text in (found, wanted))
        if found != wanted:
            yield f"{name}: {_difference(found, wanted, generator, purpose)}{age}"


def _claims(content: bytes) -> bytes:
    """The claims of a certificate without digests: the digests of compared files, and its own."""
    claims = {key: value for key, value in json.loads(content).items() if key != "sha256"}
    return json_bytes({**claims, "files": list(claims["files"])})


def _difference(found: bytes, wanted: bytes, generator: str, purpose: str) -> str:
    """The first line that is another, as it is and as it should be."""
    try:
        one, other = (text.decode("ascii").split("\n") for text in (found, wanted))
    except UnicodeDecodeError:
        return f"is not the file that {generator} writes {purpose}"
    at = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    shown = [repr(lines[at].strip()[:_LONGEST]) if at < len(lines) else "nothing" for lines in (one, other)]
    return f"line {at + 1} is {shown[0]}, and {generator} writes {shown[1]} {purpose}"
