"""Numbers of the sidecar, each with a unique name: the contents of the headers for Python and C."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .block import Block

__all__ = ["Number", "numbers"]

Number = bool | int | float

# Not of the block's ports and numbers: who wrote it and when, the plan of a network's stages, registers, test vectors.
_LEFT_OUT = (
    "format", "hardware", "ports", "origin", "host", "files", "versions", "notes", "vectors", "plan", "registers",
)  # fmt: skip


def numbers(block: Block) -> Iterator[tuple[str, Number | list[Number]]]:
    """Names in capitals, and a number or a flat list of numbers each, in the order of the sidecar.

    A port's width is PORT_WIDTH; all else is named after its place, such as LATENCY_CYCLES. Values that are not finite
    numbers are left out.
    """
    for port in block.ports:
        yield f"{port.name}_width".upper(), port.width
    rest = {key: value for key, value in block.sidecar.items() if key not in _LEFT_OUT}
    yield from _within("", rest)


def _within(path: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Number | list[Number]]]:
    for key, value in values.items():
        name = f"{path}{key}".upper()
        if isinstance(value, Mapping):
            yield from _within(f"{name}_", value)
        elif isinstance(value, Number) or (
            isinstance(value, list) and value and all(isinstance(each, Number) for each in value)
        ):
            yield name, value
