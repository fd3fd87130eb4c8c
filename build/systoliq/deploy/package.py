"""Package of a deployed network: the design that a directory of `emit` or `build` describes."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import cast

import numpy as np

from systoliq.golden.archive import npz_bytes
from systoliq.golden.network import Network, Source, network_arrays

from ..design.from_package import described_design
from ..design.network import NetworkDesign
from ..design.network.ends import check_one_stream
from ..errors import InputError
from ..files import json_bytes
from ..generator import GENERATOR
from ..package.regenerate import read_sidecar

__all__ = ["check_same", "description_files", "open_package"]

_KIND = NetworkDesign.kind
_UNREADABLE = (OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


def package_folder(directory: Path) -> Path:
    """Return the directory of the package in `directory`, which may also be one of `systoliq build`."""
    inner = directory / "package"
    return inner if inner.is_dir() and not list(directory.glob("*.v")) else directory


def open_package(directory: Path) -> NetworkDesign:
    """Return the design of the network's package in `directory`; InputError if there is no such package."""
    folder = package_folder(directory)
    if not folder.is_dir():
        raise InputError(f"package must be a directory of systoliq emit or build; {directory} is none")
    sidecar = read_sidecar(folder)
    if sidecar is None:
        raise InputError(f"package must be a directory of systoliq emit or build; {directory} has no NAME.json")
    if sidecar.get("kind") != _KIND:
        raise InputError(f"package must be of a network, not of the {sidecar.get('kind')} {sidecar.get('name')!r}")
    try:
        design = cast(NetworkDesign, described_design(folder, sidecar))  # its kind says so
    except _UNREADABLE as error:
        raise InputError(f"package in {folder} cannot be read ({error})") from error
    check_one_stream(design.network)
    return design


def description_files(design: NetworkDesign) -> dict[str, bytes]:
    """Return the files from which `open_package` makes `design` again, by name."""
    sidecar = {
        "generator": GENERATOR, "name": design.name, "top": design.name, "kind": design.kind,
        "hardware": design.hardware.facts,
    }  # fmt: skip
    return {
        f"{design.name}.json": json_bytes(sidecar),
        f"{design.name}_plan.json": json_bytes(design.plan.as_json()),
        f"{design.name}_network.npz": npz_bytes(network_arrays(design.network)),
    }


def check_same(found: Network, wanted: Network, what: str) -> None:
    """Raise InputError, naming `what` has `found`, if two networks are not the same integer operators with the same
    constants; names of the network and of the graph's inputs may differ.
    """
    one, other = (network_arrays(_plain(each)) for each in (found, wanted))
    for key in sorted({*one, *other}):
        if key not in one or key not in other or not np.array_equal(one[key], other[key]):
            start, end = wanted.inputs[0].name, wanted.outputs[0].name
            raise InputError(
                f"{what} must be of the network from {start!r} to {end!r} of this model, and is of another: build it "
                "from the network.onnx that systoliq partition writes of the model"
            )


def _plain(network: Network) -> Network:
    """`network` without its name and without the host's steps before it."""
    sources = tuple(Source(name=t.name, shape=t.shape, movements=(), tensor=t) for t in network.inputs)
    return dataclasses.replace(network, name="", sources=sources)
