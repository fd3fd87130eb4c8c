"""A package made once more, from what it says of itself, and compared byte by byte with what is there.

NAME.json (hardware, constants), NAME_layer.npz or NAME_network.npz  ->  Design  ->  Package  ->  Comparison

What only its author can say is left alone: where the layer or network came from (`origin`, `host`), and the versions
of the tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from systoliq.sim.packaged import sidecars

from ..design.described import described_design, differences_from
from ..design.design import Design
from ..errors import InputError
from ..files import json_bytes
from ..generator import CERTIFICATE, GENERATOR, versions
from .package import make_package

__all__ = ["Comparison", "compare_again", "read_sidecar"]

_OF_ITS_AUTHOR = ("origin", "host", "versions")
_NOT_COMPARED = ("files", "versions", "sha256")  # of a certificate: digests of files, which are compared themselves
_WRITTEN_BY = re.compile(rb"^// Written by systoliq [\w.+-]+, with Amaranth [\w.+-]+ and [\w.+ -]+\.\n", re.MULTILINE)
_SOURCES = (".v", ".sv", ".vh", ".vlt", ".mem")  # what a tool that is given DIR/* would take in
_LONGEST = 100  # characters of a line that is shown
_UNDESCRIBED = (InputError, OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError,
                AssertionError, MemoryError, RecursionError)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How many files `generator` wrote once more for a layer or a network, the `kind`, and where those of the package
    are others: nowhere, without `reasons`. No files: the package does not say what it is made of.
    """

    generator: str
    kind: str
    files: int
    reasons: tuple[str, ...]


def compare_again(directory: Path, source: str | None = None) -> Comparison:
    """The package in `directory` beside one that is made now, of the layer or network that it has.

    That must be the one of `source`, where it is given.
    """
    used = versions()
    generator = f"{GENERATOR} {used['systoliq']}"
    sidecar = read_sidecar(directory)
    if sidecar is None:
        reason = f"{directory}: must have one NAME.json, that of the package, and has none or more"
        return Comparison(generator=generator, kind="", files=0, reasons=(reason,))
    if "hardware" not in sidecar:
        return Comparison(generator=generator, kind="", files=0, reasons=())
    kind = str(sidecar.get("kind"))
    reasons: list[str] = []
    count = 0
    try:
        if source is not None:
            reasons += differences_from(source, directory, sidecar)
        if not reasons:
            files = _files(described_design(directory, sidecar), sidecar)
            count = len(files)
            reasons += _differences(directory, files, generator, f"for this {kind} and hardware", _age(sidecar, used))
    except _UNDESCRIBED as error:
        reasons.append(f"{sidecar.get('name')}.json: does not describe what {generator} can write ({error})")
    return Comparison(generator=generator, kind=kind, files=count, reasons=tuple(reasons))


def read_sidecar(directory: Path) -> dict[str, Any] | None:
    """The sidecar of the only package in `directory`; None where there is none."""
    found = sidecars(directory)
    return found[0] if len(found) == 1 else None


def _files(design: Design, sidecar: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of the package of `design`, with what only the author of `sidecar` can say."""
    package = make_package(design)
    own = {key: sidecar[key] for key in _OF_ITS_AUTHOR if key in sidecar}
    described = {key: own.get(key, value) for key, value in package.sidecar.items()}
    if "host" in own and "host" not in described:
        described = {key: described.get(key, sidecar[key]) for key in sidecar if key in described or key == "host"}
    return {**package.files, f"{design.name}.json": json_bytes(described)}


def _age(sidecar: Mapping[str, Any], used: Mapping[str, str]) -> str:
    """A hint where the package was written by other versions."""
    said = sidecar.get("versions", {})
    other = [f"{name} {said.get(name)}" for name in ("systoliq", "amaranth", "yosys") if said.get(name) != used[name]]
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
    """What a certificate says of a package, whoever wrote it."""
    return json_bytes({key: value for key, value in json.loads(content).items() if key not in _NOT_COMPARED})


def _difference(found: bytes, wanted: bytes, generator: str, purpose: str) -> str:
    """The first line that is another, as it is and as it should be."""
    try:
        one, other = (text.decode("ascii").split("\n") for text in (found, wanted))
    except UnicodeDecodeError:
        return f"is not the file that {generator} writes {purpose}"
    at = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    shown = [repr(lines[at].strip()[:_LONGEST]) if at < len(lines) else "nothing" for lines in (one, other)]
    return f"line {at + 1} is {shown[0]}, and {generator} writes {shown[1]} {purpose}"
