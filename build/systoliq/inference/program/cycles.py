"""Cycles of a program by the cycle model of lists."""

from __future__ import annotations

from systoliq.hw.dma.list_cycles import ListCycles, list_cycles
from systoliq.hw.engine import AxiEngine
from systoliq.hw.hierarchy import mark_used

from .program import Program

__all__ = ["run_cycles"]


def run_cycles(program: Program) -> tuple[ListCycles, ...]:
    """Cycles of the list of each of the program's `runs`, from its start to its interrupt: see `list_cycles`."""
    engine = AxiEngine(program.config.of_streams)
    mark_used(engine)  # for its cycle model alone
    memory, base = program.memory, program.base
    lists = [memory[run.address - base :][: run.size] for run in program.runs]
    return tuple(list_cycles(data, program.config, program.bus_bytes, engine=engine) for data in lists)
