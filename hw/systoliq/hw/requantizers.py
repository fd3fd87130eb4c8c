"""The two requantizers of a dense layer, for integers and for float8: one place that knows which is which."""

from __future__ import annotations

from systoliq.golden.float8_requantization import Float8Requantization
from systoliq.golden.requantization import Requantization

from .config import ArrayConfig
from .float8_requantizer import Float8Requantizer, Float8RequantizerConfig, exponents_of
from .requantizer import Requantizer, RequantizerConfig

__all__ = [
    "LaneRequantizer",
    "LaneRequantizerConfig",
    "lane_requantizer",
    "requantizer_config",
    "requantizer_constants",
]

LaneRequantizer = Requantizer | Float8Requantizer
LaneRequantizerConfig = RequantizerConfig | Float8RequantizerConfig


def requantizer_config(
    requantization: Requantization | Float8Requantization, array: ArrayConfig, sum_bits: int
) -> LaneRequantizerConfig:
    """The narrowest lane below ``array`` that serves every column; integer sums, bias included, have ``sum_bits``."""
    if isinstance(requantization, Float8Requantization):
        return Float8RequantizerConfig.of(requantization, array)
    if array.float8:
        raise TypeError(f"requantization must be a Float8Requantization for operands of {array.a} and {array.b}")
    return RequantizerConfig.of(requantization, sum_bits, cells=array.cells)


def lane_requantizer(config: LaneRequantizerConfig) -> LaneRequantizer:
    """The component; the constants of a column go to its ports named in ``constants``."""
    return Requantizer(config) if isinstance(config, RequantizerConfig) else Float8Requantizer(config)


def requantizer_constants(
    requantization: Requantization | Float8Requantization, array: ArrayConfig, column: int | None
) -> dict[str, int]:
    """The constants of ``column``, by the name of their port; None is a column that a ragged tile lacks."""
    if isinstance(requantization, Float8Requantization):
        if column is None:
            return {}
        exponent = exponents_of(requantization, array)[column]
        return {"multiplier": requantization.multiplier[column], "exponent": exponent}
    if column is None:
        return {"shift": min(requantization.shift)}
    return {name: getattr(requantization, name)[column] for name in Requantizer.constants}
