"""The sidecar's description of a DMA engine: the engine's, with memory in the place of streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from systoliq.hw.dma.list_player import ListError
from systoliq.hw.dma.registers import BASE, DMA_REGISTERS

from ..engine.describe import MEANINGS as OF_ENGINE
from ..engine.describe import describe as describe_engine
from ..engine.register_facts import field_facts

if TYPE_CHECKING:
    from ...design.dma_engine.design import DmaEngineDesign

__all__ = ["MEANINGS", "describe"]

_ADDRESS = {
    "id": "always 0",
    "addr": "in bytes, a multiple of the bus",
    "len": "beats less one, at most 15",
    "size": "bytes of a beat, as a power of two: those of the bus",
    "burst": "INCR",
    "cache": "normal memory, not cached",
    "prot": "always 0",
    "valid": "it is offered",
    "ready": "it is taken",
}
_READ = {
    "data": "what is there",
    "resp": "OKAY, or an error",
    "last": "not looked at",
    "id": "not looked at",
    "valid": "it is offered",
    "ready": "always 1",
}
_WRITE = {
    "data": "what goes there",
    "strb": "bytes that are written",
    "last": "the burst's last beat",
    "valid": "it is offered",
    "ready": "it is taken",
}
_ANSWER = {
    "resp": "OKAY, or an error",
    "id": "not looked at",
    "valid": "it is offered",
    "ready": "always 1",
}


def _meanings() -> Iterator[tuple[str, str]]:
    """Of the masters' ports."""
    for name, title in (("a", "A"), ("b", "B"), ("list", "the list")):
        for channel, signals, text in (("ar", _ADDRESS, "address of a read"), ("r", _READ, "a read's data")):
            yield from (
                (f"m_axi_{name}_{channel}{each}", f"AXI4, {text} of {title}: {signals[each]}") for each in signals
            )
    for channel, signals, text in (
        ("aw", _ADDRESS, "address of a write"),
        ("w", _WRITE, "a write's data"),
        ("b", _ANSWER, "a write's answer"),
    ):
        yield from ((f"m_axi_y_{channel}{each}", f"AXI4, {text} of Y: {signals[each]}") for each in signals)


MEANINGS = (
    {
        name: text.replace("see registers.md", "see registers.md and dma_registers.md")
        for name, text in OF_ENGINE.items()
    }
    | dict(_meanings())
    | {"irq": "interrupt, active high, for what the registers INTERRUPT and DMA_INTERRUPT name"}
)


def describe(design: DmaEngineDesign) -> dict[str, Any]:
    """Ready for JSON; see `Design.describe`."""
    facts = describe_engine(design)
    config = design.config
    tile = f"for each tile of {config.cols} columns, for each {config.depth} rows of B, for each column, those rows"
    rows = "row by row, any stride, any address" if config.depth == 1 else ""
    facts["computes"] += "; operands, results and lists of jobs in memory: dma_registers.md and systoliq_dma.h"
    facts["engine"] |= {"bus_bits": design.bus}
    facts["packing"] = {
        "a": {"layout": "row by row, any stride, any address; 1 byte each"},
        "b": {"layout": f"{rows}{'; or ' * bool(rows)}{tile}, a byte each; missing columns and rows may be anything"},
        "y": {"layout": "row by row, any stride, any address; 1 byte each, or 4 where Y is int32"},
    }
    facts["latency"] |= {
        "from": "the cycle in which the first word of A or B is there, of a job of one element",
        "to": "the cycle in which its result leaves the engine; for other jobs see cycle_model",
    }
    facts["cycle_model"]["meaning"] = (
        "cycles of a job from the first word of A or B at the engine to its last result leaving it, both included, "
        "where memory keeps up; the register BUSY_CYCLES counts the same"
    )
    del facts["tready"]
    registers = facts["registers"]
    registers["registers"] = [*registers["registers"], *(field_facts(each, BASE, {}) for each in DMA_REGISTERS)]
    registers["list_errors"] = [{"name": error.name, "code": error.value} for error in ListError]
    return facts
