"""Opening of subjects: SOURCE of the command line, or objects of a program's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network
from systoliq.hw.engine import EngineConfig

from ....design.engine.workloads import Product
from ....design.sources import open_network
from ....errors import InputError
from .engine import EngineSubject
from .layer_data import layer_subject, open_layer_subject
from .network import NetworkSubject
from .subject import Subject
from .workload import Workload, open_workload

__all__ = ["open_subject"]

_IN_PYTHON = "given in Python"


def open_subject(
    source: object,
    *,
    data: Path | None = None,
    weights: Path | None = None,
    workload: str | Path | Sequence[Product] | None = None,
) -> Subject:
    """The subject for `source`; see `exploration.explore` for its possible values."""
    given = getattr(source, "explored", source)  # a design says what of it can be explored
    if isinstance(given, Subject):
        return given
    if weights is not None and given != "resnet8-fc":
        raise InputError(f"weights must be given for the source resnet8-fc only, not for {given!r}")
    if given == "engine" or isinstance(given, EngineConfig):
        if data is not None:
            raise InputError("data cannot be used with the engine: its products come from --workload")
        config = given if isinstance(given, EngineConfig) else None
        return EngineSubject(workload=_workload(workload), config=config)
    if workload is not None:
        raise InputError(f"workload must be given for the source engine only, not for {given!r}")
    if isinstance(given, MatMulLayer):
        return layer_subject(given, origin=_IN_PYTHON, data=data)
    network = (
        (given, _IN_PYTHON) if isinstance(given, Network) else open_network(given) if isinstance(given, str) else None
    )
    if network is not None:
        if data is not None:
            raise InputError("data cannot be used with a network here: --bits takes them")
        return NetworkSubject(source=given if isinstance(given, str) else "", network=network[0], origin=network[1])
    if not isinstance(given, str):
        raise TypeError(f"source must be a SOURCE of the command line, a layer, a network or an engine, not {given!r}")
    return open_layer_subject(given, data=data, weights=weights)


def _workload(given: str | Path | Sequence[Product] | None) -> Workload:
    if given is None:
        raise InputError("workload must be given for the engine: FILE.csv, MODEL.onnx, or the name of a network")
    if isinstance(given, str | Path):
        return open_workload(str(given))
    return Workload(name=_IN_PYTHON, products=tuple(given))
