"""Worked beats: what each bit of the first beat of a stream means, in a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..package.forms.block import Block, Interface
from .trace import Trace

__all__ = ["WorkedBeat", "worked_beats"]

_SHOWN = 8  # elements of a beat


@dataclass(frozen=True, kw_only=True)
class WorkedBeat:
    """The first beat of the stream `name`: its `layout`, `data` in hexadecimal, and rows of element, bits and value.

    `more` is the number of further elements.
    """

    name: str
    layout: str
    data: str
    elements: tuple[tuple[str, str, str, str], ...]
    more: int


def worked_beats(block: Block, trace: Trace | None) -> Iterator[WorkedBeat]:
    """Yield the beat of each stream whose packing the sidecar states; without data if there is no `trace`."""
    streams = {each.name.rpartition("_")[2]: each for each in block.interfaces if each.protocol == "axi4-stream"}
    for letter, stream in streams.items():
        packing = block.sidecar.get("packing", {}).get(letter)
        if packing is not None:
            yield _worked(block, letter, stream, packing, trace)


def _worked(
    block: Block, letter: str, stream: Interface, packing: Mapping[str, Any], trace: Trace | None
) -> WorkedBeat:
    port = stream.signals["TDATA"]
    value = None
    if trace is not None and (taken := trace.taken(stream)):
        value = trace.values[port.name][taken[0]]
    bits, count = packing.get("element_bits"), packing.get("elements_per_beat")
    elements: list[tuple[str, str, str, str]] = []
    if bits is not None and count is not None and value is not None:
        form = block.sidecar.get("formats", {}).get(letter, {})
        for index in range(min(count, _SHOWN)):
            code = value >> (index * bits) & ((1 << bits) - 1)
            span = f"{(index + 1) * bits - 1}:{index * bits}"
            elements.append((str(index), span, f"0x{code:0{-(-bits // 4)}x}", _meaning(code, bits, form)))
    return WorkedBeat(
        name=stream.name,
        layout=packing["layout"],
        data="" if value is None else f"0x{value:0{-(-port.width // 4)}x}",
        elements=tuple(elements),
        more=max(0, (count or 0) - _SHOWN) if elements else 0,
    )


def _meaning(code: int, bits: int, form: Mapping[str, Any]) -> str:
    """The integer that `code` stands for; empty for other formats and for those that a job sets."""
    if "signed" not in form:
        return ""
    return str(code - (1 << bits) if form["signed"] and code >> (bits - 1) else code)
