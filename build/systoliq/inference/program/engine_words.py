"""Registers by which a host recognizes the engine that a program was compiled for."""

from __future__ import annotations

from systoliq.hw.engine import AxiEngine, EngineConfig

__all__ = ["engine_words"]

_NAMES = ("ID", "ARRAY", "LANES", "BUFFERS")


def engine_words(config: EngineConfig) -> dict[str, int]:
    """Name -> value of the registers with the sizes of an engine.

    No register has the width of the bus, and none says if there is a vector unit.
    """
    engine = AxiEngine(config)
    constants = engine.constants()
    return {
        register.name: sum(constants[register.name, field.name] << field.lsb for field in register.fields)
        for register in engine.map.registers
        if register.name in _NAMES
    }
