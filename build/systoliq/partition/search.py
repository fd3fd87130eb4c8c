"""Search for the largest part of a model that is a network in hardware."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..design.network.reasons import reasons_against, refused_stages
from ..errors import InputError, need
from ..onnx import Model, read_network
from ..onnx.catalogue import CATALOGUE
from ..onnx.graph import Graph
from ..onnx.library import library
from ..onnx.network import Fate, Reading
from ..onnx.network.network import with_batch
from ..onnx.node import label
from ..onnx.quantization import dynamic, unquantized
from . import models
from .regions import Region, Regions

if TYPE_CHECKING:
    from onnx import ModelProto

    from systoliq.golden.network import Network

__all__ = ["Cause", "Partition", "partition_of"]

_TRIES = 200  # parts that are read before the search gives up

Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A node that no part may have, and the reason.

    `multiply_accumulates` is how many more the largest part would have if hardware took this node: at most, because
    behind it other nodes may be refused.
    """

    node: str
    reason: str
    multiply_accumulates: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Partition:
    """The model in the file `path`, `whole`, in three models: `before` and `after` are None if they have no node.

    `network` is a network in hardware from the integer tensor `start` to the integer tensor `end`. `boundary` are the
    tensors that `before` computes, `start` first. `multiply_accumulates` counts the network, `all` counts
    the whole model. `causes` are the nodes in the way, those that would win the most first.
    """

    path: Path
    whole: ModelProto
    start: str
    end: str
    boundary: tuple[str, ...]
    before: ModelProto | None
    network: ModelProto
    after: ModelProto | None
    nodes: int
    all_nodes: int
    multiply_accumulates: int
    all_multiply_accumulates: int
    causes: tuple[Cause, ...]

    def read_network(self) -> Network:
        """Return `network` as a network of integer operators."""
        with tempfile.TemporaryDirectory(prefix="systoliq-") as folder:
            file = Path(folder) / "network.onnx"
            file.write_bytes(self.network.SerializeToString())
            try:
                return read_network(file)
            except InputError as error:
                raise InputError(str(error).replace(str(file), f"{self.path}: its network")) from error


def partition_of(path: str | Path, progress: Progress | None = None) -> Partition:
    """Return the partition of the ONNX model in the file `path` whose network has the most multiply-accumulates.

    Raises InputError with the reasons if no part with a matrix product is a network.
    """
    path = Path(path)
    given = with_batch(Model.open(path).proto)
    model = type(given).FromString(given.SerializeToString())  # data outside of the file are loaded into it
    graph = Graph(model, path.parent)
    if (reason := unquantized(graph) or dynamic(graph)) is not None:
        raise InputError(f"{path}: {reason}")
    with library(f"{path}: the data outside of the file must be readable"):
        need("onnx", "onnx", "reading ONNX models", extra="onnx").load_external_data_for_model(model, str(path.parent))
    search = _Search(path, model, graph, progress)
    region = search.run()
    return Partition(
        path=path,
        whole=model,
        start=region.start,
        end=region.end,
        boundary=tuple(models.boundary(search.regions, region)),
        before=models.before(model, search.regions, region),
        network=models.network(model, search.regions, region),
        after=models.after(model, search.regions, region),
        nodes=len(region.nodes),
        all_nodes=int((~search.regions.constant).sum()),
        multiply_accumulates=region.multiply_accumulates,
        all_multiply_accumulates=int(search.regions.work.sum()),
        causes=search.causes(region),
    )


class _Search:
    """Read the largest region, note what is in its way, and take the next, until one is a network."""

    def __init__(self, path: Path, model: ModelProto, graph: Graph, progress: Progress | None) -> None:
        self.path, self.model, self.progress = path, model, progress
        self.regions = Regions(graph)
        self.blocked: dict[int, str] = {}  # the reason, by the node's place
        for place, node in enumerate(self.regions.nodes):
            taken = CATALOGUE.of(node).network
            if not self.regions.constant[place] and not callable(taken):
                reason = taken or f"the operator {node.op_type} is not supported between integers"
                self.blocked[place] = f"{label(node)}: {reason}"
        self.rejected: dict[tuple[str, str], str] = {}

    def run(self) -> Region:
        for count in range(_TRIES):
            region = self.regions.best(self.blocked, self.rejected)
            if region is None:
                raise InputError(f"{self.path}: no part with a matrix product can be a network{self._reasons()}")
            if self.progress is not None:
                self.progress(f"part {count + 1}, {len(region.nodes)} nodes")
            if self._is_network(region):
                return region
        raise InputError(f"{self.path}: none of the {_TRIES} largest parts can be a network{self._reasons()}")

    def causes(self, region: Region) -> tuple[Cause, ...]:
        """Reasons against a larger part than `region`, the most promising first."""
        found = []
        for place, reason in self.blocked.items():
            larger = self.regions.best(self.blocked.keys() - {place}, self.rejected)
            more = 0 if larger is None else larger.multiply_accumulates - region.multiply_accumulates
            found.append(Cause(node=label(self.regions.nodes[place]), reason=reason, multiply_accumulates=more))
        return tuple(sorted(found, key=lambda cause: -cause.multiply_accumulates))

    def _reasons(self) -> str:
        listed = list(dict.fromkeys([*self.blocked.values(), *self.rejected.values()]))[:5]
        if not listed:  # such as where a dimension has no number
            listed = list(Model.open(self.path).reading.problems[:1])
        return f": {'; '.join(listed)}" if listed else ""

    def _is_network(self, region: Region) -> bool:
        """True if `region` is a network that hardware takes; else notes the nodes in its way, or rejects it."""
        with tempfile.TemporaryDirectory(prefix="systoliq-") as folder:
            file = Path(folder) / "network.onnx"
            part = models.network(self.model, self.regions, region)
            file.write_bytes(part.SerializeToString())
            reading = Model.open(file).reading
        if reading.network is None:
            if not self._block(_refused(part, reading)):
                self.rejected[region.start, region.end] = "; ".join(reading.problems)
            return False
        reasons = reasons_against(reading.network)
        if reasons and not self._block(refused_stages(reading.network)):
            self.rejected[region.start, region.end] = reasons[0]
        return not reasons

    def _block(self, reasons: Mapping[str, str]) -> bool:
        """Block the nodes that make the tensors of `reasons`; return whether any was not blocked before."""
        before = len(self.blocked)
        for name, reason in reasons.items():
            if (place := self.regions.place(name)) is not None:
                self.blocked[place] = reason
        return len(self.blocked) > before


def _refused(part: ModelProto, reading: Reading) -> dict[str, str]:
    """The reason against each node of `part` that is refused for itself, by its first output."""
    return {
        next(filter(None, node.output)): f"{label(node)}: {verdict.text}"
        for node, verdict in zip(part.graph.node, reading.verdicts, strict=True)
        if verdict.fate is Fate.REFUSED and not verdict.derived
    }
