"""Ends of a dense layer, of integers, with float8, and for int32 sums: one place that knows which is which."""

from __future__ import annotations

from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.golden.unscaled import Unscaled

from .config import ArrayConfig
from .float8_requantizer import Float8Requantizer, Float8RequantizerConfig, exponents_of
from .requantizer import Requantizer, RequantizerConfig
from .unscaled_sum import UnscaledSum, UnscaledSumConfig

__all__ = [
    "LaneRequantizer",
    "LaneRequantizerConfig",
    "LayerRequantization",
    "check_kind",
    "lane_requantizer",
    "requantizer_config",
    "requantizer_constants",
]

LayerRequantization = Requantization | Float8Requantization | Unscaled
LaneRequantizer = Requantizer | Float8Requantizer | UnscaledSum
LaneRequantizerConfig = RequantizerConfig | Float8RequantizerConfig | UnscaledSumConfig


def requantizer_config(
    requantization: LayerRequantization, array: ArrayConfig, sum_bits: int, *, pace: int = 1
) -> LaneRequantizerConfig:
    """The narrowest lane below ``array`` that serves every column; integer sums, bias included, have ``sum_bits``, and
    come at least ``pace`` cycles apart.
    """
    if isinstance(requantization, Float8Requantization):
        return Float8RequantizerConfig.of(requantization, array, sum_bits)
    if array.float8:
        raise TypeError(f"requantization must be a Float8Requantization for operands of {array.a} and {array.b}")
    if isinstance(requantization, Unscaled):
        return UnscaledSumConfig(sum_bits=sum_bits)
    return RequantizerConfig.of(requantization, sum_bits, cells=array.cells, pace=pace)


def lane_requantizer(config: LaneRequantizerConfig) -> LaneRequantizer:
    """The component; the constants of a column go to its ports named in ``constants``."""
    if isinstance(config, UnscaledSumConfig):
        return UnscaledSum(config)
    return Requantizer(config) if isinstance(config, RequantizerConfig) else Float8Requantizer(config)


def requantizer_constants(requantization: LayerRequantization, array: ArrayConfig, column: int) -> dict[str, int]:
    """Return the constants of ``column``, by the name of their port."""
    if isinstance(requantization, Unscaled):
        return {}
    if isinstance(requantization, Float8Requantization):
        exponent = exponents_of(requantization, array)[column]
        return {"multiplier": requantization.multiplier[column], "exponent": exponent}
    return {name: getattr(requantization, name)[column] for name in Requantizer.constants}


def check_kind(layer: MatMulLayer, requantization: LayerRequantization) -> None:
    """A TypeError where ``requantization`` is not of the layer's kind."""
    given = type(requantization).__name__
    if layer.gives_sums != isinstance(requantization, Unscaled):
        must = "must be" if layer.gives_sums else "must not be"
        raise TypeError(f"requantization {must} Unscaled for {layer.y_format} results, not {given}")
    if layer.has_float8 != isinstance(requantization, Float8Requantization):
        must = "must be" if layer.has_float8 else "must not be"
        formats = f"{layer.a_format} x {layer.b_format} -> {layer.y_format}"
        raise TypeError(f"requantization {must} a Float8Requantization for {formats}, not {given}")
