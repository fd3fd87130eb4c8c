"""A package made once more, from what it says of itself, and compared byte by byte with what is there.

NAME.json (hardware, constants), NAME_layer.npz or NAME_network.npz  ->  Design  ->  Package  ->  Comparison

Nothing says again where the layer or network came from (`origin`), and by which `versions` the package was written:
these words must be there, and are left alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from systoliq.sim.packaged import sidecars

from ..design.design import Design
from ..design.from_package import described_design, differences_from
from ..errors import InputError
from ..files import json_bytes
from ..generator import CERTIFICATE, GENERATOR, versions
from .package import make_package

__all__ = ["Comparison", "compare_regenerated", "read_sidecar"]

_OF_ITS_AUTHOR = ("origin", "versions")
_TEXTS, _OBJECTS = ("name", "kind", "origin"), ("hardware", "versions")  # fields that are read before comparing
_WRITTEN_BY = re.compile(rb"^// Written by systoliq [\w.+-]+, with Amaranth [\w.+-]+ and [\w.+ -]+\.\n", re.MULTILINE)
_SOURCES = (".v", ".sv", ".vh", ".vlt", ".mem")  # what a tool that is given DIR/* would take in
_LONGEST = 100  # characters of a line that is shown
_UNDESCRIBED = (InputError, OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError,
                AssertionError, MemoryError, RecursionError)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What comparing a package with one that `generator` writes of the same layer or network has found.

    name, kind
        of the package, as NAME.json has them.

    files
        how many files are equal, where there are no `reasons`.
    source
        the layer or network beside which that of the package was held, and equal; None where none was given.
    left
        the fields of NAME.json that were not compared.
    reasons
        where the package differs; it is accepted where there are none.
    """

    generator: str
    name: str = ""
    kind: str = ""
    files: int = 0
    source: str | None = None
    left: tuple[str, ...] = ()
    reasons: tuple[str, ...]


def compare_regenerated(directory: Path, source: str | None = None) -> Comparison:
    """Compare the package in `directory` with one that is made now, of the layer or network that it has.

    That must be the one of `source`, where it is given.
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
    try:
        if source is not None:
            reasons += differences_from(source, directory, sidecar)
        if not reasons:
            files = _files(described_design(directory, sidecar), sidecar)
            count = len(files)
            reasons += _differences(directory, files, generator, f"for this {kind} and hardware", _age(sidecar, used))
    except _UNDESCRIBED as error:
        reasons.append(f"{sidecar['name']}.json: does not describe what {generator} can write ({error})")
    unknown = ("host",) if source is None and sidecar.get("host") else ()
    return Comparison(
        generator=generator,
        name=sidecar["name"],
        kind=kind,
        files=count,
        source=source,
        left=(*_OF_ITS_AUTHOR, *unknown),
        reasons=tuple(reasons),
    )


def _missing(sidecar: Mapping[str, Any], used: Mapping[str, str]) -> Iterator[str]:
    """Fields of the sidecar that are missing or of another kind, without which nothing can be written again."""
    file = f"{sidecar.get('name') or 'NAME'}.json"
    for field in (*_TEXTS, *_OBJECTS):
        value = sidecar.get(field)
        if not (_is_text(value) if field in _TEXTS else isinstance(value, dict)):
            wanted = "a string that is not empty" if field in _TEXTS else "an object"
            found = f"not {json.dumps(value)[:_LONGEST]}" if field in sidecar else "and is missing"
            yield f"{file}: {field} must be {wanted}, {found}: without it the package cannot be written again"
    said = sidecar.get("versions")
    if isinstance(said, dict) and not (said.keys() == used.keys() and all(_is_text(each) for each in said.values())):
        yield f"{file}: versions must give the version of each of {', '.join(used)}"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def read_sidecar(directory: Path) -> dict[str, Any] | None:
    """The sidecar of the only package in `directory`; None where there is none."""
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
    """What a certificate says, but for digests: those of files that are compared, and its own."""
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
