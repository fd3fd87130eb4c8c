"""Designs regenerated from the description in a package.

NAME.json (hardware, constants), NAME_layer.npz or NAME_network.npz  ->  Design
NAME.json (engine, or parameters)                                    ->  Design
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.archive import read_arrays
from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import load_network, network_arrays
from systoliq.golden.requantization import Requantization
from systoliq.golden.unscaled import Unscaled
from systoliq.sim.packaged import packaged_layer, packaged_requantization

from ..onnx.host import STATIC, HostPart
from ..onnx.source import is_model
from ..synth.targets import open_target
from .array import ArrayDesign, ArrayOptions
from .design import Design
from .dma_engine import DmaEngineDesign
from .engine import EngineDesign
from .engine.facts import described_config
from .layer import LayerDesign, LayerOptions
from .network import NetworkDesign, NetworkOptions
from .sources import model_layer, open_layer, open_network

__all__ = ["DESCRIBED", "WITHOUT_SOURCE", "described_design", "differences_from", "source_arrays"]

WITHOUT_SOURCE = (ArrayDesign.kind, EngineDesign.kind, DmaEngineDesign.kind)
"""Kinds of packages that are described by their sidecar alone."""
DESCRIBED = (LayerDesign.kind, NetworkDesign.kind, *WITHOUT_SOURCE)
"""Kinds of packages that can be written again."""


def described_design(directory: Path, sidecar: Mapping[str, Any]) -> Design:
    """The design that the sidecar of the package in `directory` describes; of the layer or network that it has."""
    name, kind = sidecar["name"], sidecar["kind"]
    if kind == ArrayDesign.kind:
        return ArrayDesign(_array_options(sidecar), name=name)
    if kind in WITHOUT_SOURCE:
        config = described_config(sidecar["engine"])
        if kind == EngineDesign.kind:
            return EngineDesign(config, name=name)
        return DmaEngineDesign(config, name=name, bus=sidecar["engine"]["bus_bits"])
    asked, file = dict(sidecar["hardware"]), _file(directory, sidecar)
    if kind == LayerDesign.kind:
        hardware, layer = LayerOptions.of(asked, f"the layer {name!r}"), packaged_layer(file, sidecar)
        constants = _constants(sidecar, layer, hardware)
        return LayerDesign(layer, hardware, name=name, requantization=constants, host=_host(sidecar, layer))
    part = open_target(asked.pop("part")) if "part" in asked else None
    options = NetworkOptions.of({**asked, "part": part, "plan": directory / f"{name}_plan.json"}, "a network")
    return NetworkDesign(load_network(file), options, name=name)


def _array_options(sidecar: Mapping[str, Any]) -> ArrayOptions:
    """The options that give the described array."""
    size, formats = sidecar["parameters"], sidecar["formats"]
    asked: dict[str, Any] = {name: size[name] for name in ("rows", "cols", "depth", "accumulator_bits", "wrap")}
    for name, form in formats.items():
        if "signed" in form:
            asked |= {f"{name}_bits": form["bits"], f"{name}_signed": form["signed"]}
        else:
            asked[f"{name}_format"] = form["name"].removeprefix("float8_")
    return ArrayOptions(**asked, cells=sidecar["cells"])


def differences_from(
    source: str, wanted: Mapping[str, npt.NDArray[Any]], directory: Path, sidecar: Mapping[str, Any]
) -> Iterator[str]:
    """Arrays of the package's layer or network, and parts of the host, that differ from `source`, which is `wanted`."""
    kind, file = sidecar["kind"], _file(directory, sidecar)
    found = read_arrays(file)
    for key in sorted({*wanted, *found}):
        one, other = found.get(key), wanted.get(key)
        if one is None or other is None or _content(one) != _content(other):
            yield f"{file.name}: {key} is not that of {source}: the package is of another {kind}"
    if sidecar.get("host") and _text(sidecar["host"]) != _text(_host_of(source)):
        yield f"{sidecar['name']}.json: host is not that of {source}: what stands around the sums is another"


def _host(sidecar: Mapping[str, Any], layer: MatMulLayer) -> HostPart | None:
    """The host's part that the sidecar describes, which must fit the scales of the layer."""
    if not sidecar.get("host"):
        return None
    host = HostPart.of_facts(sidecar["host"])
    found, known = host.b_scale, layer.b_scale
    if known is not None and (found is None or not np.array_equal(np.broadcast_to(found.ravel(), known.shape), known)):
        raise ValueError("the scales in host.after must be those of b in the layer")
    if (host.before == STATIC) != (layer.a_scale is not None):
        raise ValueError(f"host.before must be {STATIC!r} where the layer has a_scale, and only there")
    return host


def _host_of(source: str) -> dict[str, Any] | None:
    """The sidecar's description of the host's part for a layer of int32 sums from `source`."""
    host = model_layer(source)[2] if is_model(source) else HostPart.of_layer(open_layer(source, None)[0])
    return host.facts if host else None


def _text(facts: Mapping[str, Any] | None) -> str:
    return json.dumps(facts, sort_keys=True)


def _file(directory: Path, sidecar: Mapping[str, Any]) -> Path:
    """The archive with the layer or the network of a package."""
    return directory / f"{sidecar['name']}_{sidecar['kind']}.npz"


def source_arrays(source: str, kind: str) -> dict[str, npt.NDArray[Any]] | None:
    """The layer or the network of `source`, as a package has it; None if it is no network.

    Raises InputError if `source` cannot be read as what it is.
    """
    if kind == LayerDesign.kind:
        return open_layer(source, None)[0].arrays()
    network = open_network(source)
    return None if network is None else network_arrays(network[0])


def _constants(
    sidecar: Mapping[str, Any], layer: MatMulLayer, hardware: LayerOptions
) -> Requantization | Float8Requantization | Unscaled:
    """Constants of the requantizer: integers as the package has them, for they may have been chosen or narrowed."""
    if layer.gives_sums or layer.has_float8:
        return hardware.requantization(layer)
    return packaged_requantization(sidecar, layer)


def _content(array: npt.NDArray[Any]) -> tuple[object, ...]:
    return array.dtype, array.shape, array.tobytes()
