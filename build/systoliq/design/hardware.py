"""`Hardware`: options for a SOURCE of which the kind of design is not known yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from ..errors import InputError
from .array.options import ArrayOptions
from .engine.options import EngineOptions
from .layer.options import LayerOptions
from .network.options import NetworkOptions
from .options import ONLY_NETWORK, Options

__all__ = ["Hardware"]

_ONLY_ENGINE = ("y_format", "lanes", "a_words", "b_words", "max_columns", "max_rows", "dataflow", "workload", "bus")
_NO_NETWORK = (
    "rows", "cols", "depth", "a_bits", "b_bits", "a_signed", "b_signed", "a_format", "b_format", "accumulator_bits",
    "multiplier_bits", "wrap",
)  # fmt: skip
_NO_ENGINE = {
    "a_bits": "its operands have 8 bits",
    "b_bits": "its operands have 8 bits",
    "a_signed": "each job of integers says whether A is signed",
    "b_signed": "each job of integers says whether B is signed",
    "accumulator_bits": "its sums have 32 bits, and as many as are exact of float8",
    "requantizer": "it rounds as the float32 formula does",
    "multiplier_bits": "its multipliers come with each job",
    "wrap": "its sums wrap as ONNX's int32 does",
}
_Kind = TypeVar("_Kind", bound=Options)


@dataclass(frozen=True, kw_only=True, repr=False)
class Hardware(LayerOptions, ArrayOptions, EngineOptions, NetworkOptions):
    """Options of any kind of design, for `open_source`: the source decides which kind takes them.

    The fields are those of `LayerOptions`, `ArrayOptions`, `EngineOptions` and `NetworkOptions`, which describe them. A
    design raises InputError for a field that its kind does not have.
    """

    def for_layer(self, source: str = "layer") -> LayerOptions:
        """Return the options of a layer; `source` names the layer in messages.

        Raises InputError for a field that is set and that a layer does not have.
        """
        self._refuse_engines(source)
        options = self._of_kind(LayerOptions)
        self._refuse_networks(source, ("throughput", "plan"))
        options.check_budget(source)
        if self.a_signed is not None or self.b_signed is not None:
            raise InputError(
                "signedness must be left to the layer's zero points; it can be chosen for the source array"
            )
        for name in ("a_format", "b_format"):
            if getattr(self, name) is not None:
                raise InputError(f"{name} must be left to the layer; it can be chosen for the source array")
        return options

    def for_array(self) -> ArrayOptions:
        """Return the options of a bare array; raise InputError for a field that is set and that it does not have."""
        self._refuse_engines("array")
        self._refuse_networks("array")
        if self.is_set("requantizer") or self.is_set("multiplier_bits"):
            raise InputError("requantizer and multiplier_bits cannot be used with the source array: it has none")
        return self._of_kind(ArrayOptions)

    def for_engine(self) -> EngineOptions:
        """Return the options of an engine; raise InputError for a field that is set and that it does not have."""
        for name, reason in _NO_ENGINE.items():
            if self.is_set(name):
                raise InputError(f"{name} cannot be used with the source engine: {reason}")
        self._refuse_networks("engine")
        return self._of_kind(EngineOptions)

    def for_network(self) -> NetworkOptions:
        """Return the options of a network; raise InputError for a field that is set and that it does not have."""
        for name in _NO_NETWORK:
            if self.is_set(name):
                raise InputError(f"{name} cannot be used with a network: each stage has its own, by the plan")
        for name in _ONLY_ENGINE:
            if getattr(self, name) is not None:
                raise InputError(f"{name} must be given for the source engine only, not for a network")
        return self._of_kind(NetworkOptions)

    def _refuse_engines(self, source: str) -> None:
        for name in _ONLY_ENGINE:
            if getattr(self, name) is not None:
                raise InputError(f"{name} must be given for the source engine only, not for {source!r}")

    def _refuse_networks(self, source: str, names: tuple[str, ...] = ONLY_NETWORK) -> None:
        for name in names:
            if getattr(self, name) is not None:
                raise InputError(f"{name} must be given for a network, FILE.onnx, only, not for {source!r}")

    def _of_kind(self, kind: type[_Kind]) -> _Kind:
        return kind(**{name: getattr(self, name) for name in kind.__dataclass_fields__})
