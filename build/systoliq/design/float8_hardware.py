"""Hardware of layers with float8, and of arrays of it: what may be asked for; the rest follows from exactness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from systoliq.golden.float8 import Float8Format
from systoliq.golden.float8_matmul import sum_bits
from systoliq.golden.layer import MatMulLayer

from ..errors import InputError

if TYPE_CHECKING:
    from .hardware import Hardware

__all__ = ["float8_array", "parse_format", "refuse_integer_options"]

_LONGEST = 2048  # K that the sums of an array have room for, where nothing else was said

_ONE_REQUANTIZER = ("requantizer", "multiplier_bits")
_UNASKED: dict[str, tuple[Any, ...]] = {
    "a_bits": (None, 8),
    "b_bits": (None, 8),
    "accumulator_bits": (None, "auto"),
    "requantizer": ("near-tie",),
    "multiplier_bits": (None,),
    "wrap": (False,),
}
_REASONS = {
    "a_bits": "operands are those of the layer",
    "b_bits": "operands are those of the layer",
    "accumulator_bits": "accumulators hold every sum exactly",
    "requantizer": "there is one, which is exact",
    "multiplier_bits": "mantissas are taken whole",
    "wrap": "accumulators hold every sum exactly",
}


def refuse_integer_options(hardware: Hardware, layer: MatMulLayer) -> None:
    """An InputError that names the field of `hardware` that was set and has no meaning for a `layer` with float8.

    If the layer multiplies integers and only its result is float8, the array is an integer array.
    """
    for name, allowed in _UNASKED.items():
        value = getattr(hardware, name)
        if value not in allowed and (name in _ONE_REQUANTIZER or not layer.multiplies_integers):
            raise InputError(f"{name} cannot be used with a float8 layer: {_REASONS[name]}")


def parse_format(name: str, text: str) -> Float8Format:
    """The float8 format that the field `name` of a `Hardware` says."""
    try:
        return Float8Format.parse(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def float8_array(hardware: Hardware) -> dict[str, Any]:
    """Formats and accumulator width of the bare array of float8 that `hardware` asks for."""
    for name in ("a_bits", "b_bits", "a_signed", "b_signed"):
        if getattr(hardware, name) is not None:
            raise InputError(f"{name} cannot be used with a_format or b_format, which imply it")
    for name in ("a_format", "b_format"):
        if getattr(hardware, name) is None:
            raise InputError(f"{name} must be given too: operands are both float8 or both integers")
    a, b = (parse_format(name, getattr(hardware, name)) for name in ("a_format", "b_format"))
    bits = hardware.accumulator_bits
    return {"a": a, "b": b, "accumulator_bits": sum_bits(a, b, _LONGEST) if bits in (None, "auto") else bits}
