"""Study of a network's precision: accuracy and cost at one width for all, at one for each layer, and mixed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from systoliq.golden.network import Network
from systoliq.golden.network.tensor import BYTE

from ...errors import InputError, need
from ..network_data import NetworkData
from .costs import Costs
from .evaluations import Evaluations
from .narrowing import Widths, activations_of, narrowed, products_of

__all__ = ["COLUMNS", "LEAST_BITS", "Searched", "Study", "parse_bits"]

LEAST_BITS = 2
_USUAL = (8, 6, 4, 3)

COLUMNS = {
    "scope": "what is narrower: all, weights, activations, one layer's weights, one tensor, or mixed",
    "name": "the layer or tensor, where it is one",
    "bits": "its width; None where widths are mixed",
    "accuracy": "share of inputs whose greatest output is the right one",
    "agreement": "share of inputs whose greatest output is that of the unchanged network",
    "lut_sites": "estimated LUT sites of all stages, by the planner's model",
    "ram": "estimated memory blocks of all stages",
    "dsp": "multiplier cells of all stages",
    "weight_bits": "bits of all weights",
    "front": "of the mixed ones: no other is as accurate for less",
    "weights": "bits of each layer's weights",
    "activations": "bits of each changed tensor",
}


def parse_bits(text: str) -> tuple[int, ...]:
    """`8,6,4,3`, the widest first; a single width brings the usual ones, 8, 6, 4 and 3, with it."""
    try:
        asked = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"bits must be widths like 4 or 8,6,4,3, not {text!r}") from error
    for bits in asked:
        if not LEAST_BITS <= bits <= BYTE:
            raise InputError(f"bits must be within {LEAST_BITS} to {BYTE}, not {bits}")
    return tuple(sorted({*asked, *(_USUAL if len(asked) == 1 else ()), BYTE}, reverse=True))


@dataclass(frozen=True, kw_only=True)
class Searched:
    """Result of a search for mixed widths: `tried` of `asked` candidates, the rest known already, or out of time."""

    asked: int
    tried: int
    out_of_time: bool


@dataclass(kw_only=True, eq=False)
class Study:
    """Rows of `COLUMNS` for `network` on `data`, with the costs of each; `chosen` is the row that meets the request."""

    network: Network
    data: NetworkData
    costs: Costs
    bits: tuple[int, ...]
    origin: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    evaluations: Evaluations | None = None
    searched: Searched | None = None
    chosen: dict[str, Any] | None = None

    @functools.cached_property
    def layers(self) -> list[str]:
        """Names of the nodes with weights."""
        return [node.name for node in products_of(self.network)]

    @functools.cached_property
    def groups(self) -> list[tuple[str, ...]]:
        """Tensors that can be narrowed; tensors that must have the same width form a group."""
        return activations_of(self.network)

    @functools.cached_property
    def _own_classes(self) -> Any:
        return self._classes(self.network)

    def network_at(self, widths: Widths) -> Network:
        """The network at other widths."""
        return narrowed(self.network, widths)

    def network_of(self, row: Mapping[str, Any]) -> Network:
        """The network of one of `rows`."""
        return self.network_at(Widths(weights=row["weights"], activations=row["activations"]))

    def all_at(self, bits: int, *, weights: bool = True, activations: bool = True) -> Widths:
        """One width for all."""
        tensors = [name for group in self.groups for name in group]
        return Widths(
            weights=dict.fromkeys(self.layers, bits) if weights else {},
            activations=dict.fromkeys(tensors, bits) if activations else {},
        )

    def uniform(self, advance: Callable[[], None] = lambda: None) -> list[dict[str, Any]]:
        """A row for each width: all, weights alone, activations alone."""
        wanted = [
            (scope, bits, "", self.all_at(bits, weights=weights, activations=activations))
            for bits in self.bits
            for scope, weights, activations in _SCOPES
            if bits < BYTE or scope == "all"
        ]
        return self._added(wanted, advance)

    def each(self, advance: Callable[[], None] = lambda: None) -> list[dict[str, Any]]:
        """A row for each layer's weights, and each activation, at each width, all others as they came."""
        wanted = []
        for bits in self._narrow:
            wanted += [("layer", bits, layer, Widths(weights={layer: bits})) for layer in self.layers]
            groups = [(group[0], Widths(activations=dict.fromkeys(group, bits))) for group in self.groups]
            wanted += [("tensor", bits, name, widths) for name, widths in groups]
        return self._added(wanted, advance)

    def _added(
        self, wanted: Sequence[tuple[str, int, str, Widths]], advance: Callable[[], None]
    ) -> list[dict[str, Any]]:
        """A row for each scope, bits, name and widths, in their order."""
        evaluations = self.evaluations or Evaluations(self)
        evaluations.prepare([widths for *_, widths in wanted], advance)
        self.evaluations = evaluations
        for scope, bits, name, widths in wanted:
            self.add(scope, widths, bits=bits, name=name)
        return self.rows

    @property
    def counts(self) -> dict[str, int]:
        """Number of rows that `uniform` and `each` make."""
        narrow = len(self._narrow)
        return {"uniform": 1 + len(_SCOPES) * narrow, "each": narrow * (len(self.layers) + len(self.groups))}

    @property
    def _narrow(self) -> list[int]:
        return [bits for bits in self.bits if bits < BYTE]

    def add(self, scope: str, widths: Widths, *, bits: int | None = None, name: str = "") -> dict[str, Any]:
        """A row at `widths`, which is added to the others."""
        row = {"scope": scope, "name": name, "bits": bits, **self.figures(widths), "front": False}
        self.rows.append(row)
        return row

    def figures(self, widths: Widths) -> dict[str, Any]:
        """Accuracy and costs at `widths`, from `evaluations` where there are any."""
        return self.measured(widths) if self.evaluations is None else self.evaluations.figures(widths)

    def alone(self) -> Study:
        """Return a copy without rows and evaluations."""
        return replace(self, rows=[], evaluations=None)

    def measured(self, widths: Widths) -> dict[str, Any]:
        """Accuracy and costs at `widths`, evaluated now."""
        net = self.network_at(widths)
        classes = self._classes(net)
        return {
            "accuracy": float(np.mean(classes == self.data.classes)),
            "agreement": float(np.mean(classes == self._own_classes)),
            **self.costs.of(net),
            "weights": {node.name: node.layer.b_format.bits for node in products_of(net)},
            "activations": dict(widths.activations),
        }

    def _classes(self, net: Network) -> Any:
        y = net.golden(self.data.for_network(net, self.network))[net.outputs[0].name]
        return y.reshape(len(y), -1).argmax(axis=1)

    def row(self, scope: str, bits: int, name: str = "") -> dict[str, Any] | None:
        """The row of that scope, width and name, if there is one."""
        keys = ("scope", "bits", "name")
        return next((row for row in self.rows if tuple(row[key] for key in keys) == (scope, bits, name)), None)

    @property
    def passed(self) -> bool:
        """True: golden measures widths, and nothing is compared."""
        return True

    @property
    def table(self) -> Any:
        """The rows as a polars DataFrame; widths of layers and tensors as text."""
        return frame(self.rows)


_SCOPES = (("all", True, True), ("weights", True, False), ("activations", False, True))


def frame(rows: Iterable[dict[str, Any]]) -> Any:
    """Rows of `COLUMNS` as a polars DataFrame."""
    polars = need("polars", "polars", "explore", extra="explore")
    types = {
        name: polars.String if name in ("scope", "name", "weights", "activations")
        else polars.Boolean if name == "front"
        else polars.Float64 if name in ("accuracy", "agreement")
        else polars.Int64
        for name in COLUMNS
    }  # fmt: skip
    return polars.DataFrame([plain(row) for row in rows], schema=types, orient="row")


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose widths are text: `conv1=4 conv2=8`."""
    return row | {key: widths_text(row[key]) for key in ("weights", "activations")}


def widths_text(widths: dict[str, int], names: Sequence[str] = ()) -> str:
    """`conv1=4 conv2=8`."""
    return " ".join(f"{name}={bits}" for name, bits in widths.items() if not names or name in names)
