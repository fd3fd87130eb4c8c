"""The sidecar's description of a DMA engine: the engine's, with memory in the place of streams."""

from __future__ import annotations

from typing import Any

from systoliq.hw.dma.list_player import ListError
from systoliq.hw.dma.registers import BASE, dma_registers

from ...design.dma_engine.design import DmaEngineDesign
from ..engine.describe import describe_engine
from ..engine.register_facts import field_facts

__all__ = ["describe_dma_engine"]


def describe_dma_engine(design: DmaEngineDesign) -> dict[str, Any]:
    """Return the description for `describe`."""
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
    of_masters = dma_registers(vector=config.vector, rows=bool(config.row_length))
    registers["registers"] = [*registers["registers"], *(field_facts(each, BASE, {}) for each in of_masters)]
    registers["list_errors"] = [{"name": error.name, "code": error.value} for error in ListError]
    return facts
