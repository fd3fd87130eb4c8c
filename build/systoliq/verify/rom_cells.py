"""Memories of vendor cells, for an evaluation cycle by cycle: those that are only read, and which modules are RAM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cells import CELLS
from .expression import Constant, Expression, UnreadableError
from .modules import Instance, Module
from .syntax import CLOCK

__all__ = ["RAM_INPUTS", "RomPort", "is_ram_of_cells", "rom_ports"]

RAM_INPUTS = frozenset({CLOCK, "write", "write_address", "write_data", "read", "read_address", "show"})

_KIND = "DP16KD"
_ADDRESS_BITS = 14
_EMPTY = dict.fromkeys(CELLS[_KIND].contents, "0")  # what a cell holds where the Verilog says nothing (FPGA-TN-02204)
_FIRST = {"1": 0, "2": 1, "4": 2, "9": 3, "18": 4}  # bit of the address that counts words, by their width


@dataclass(frozen=True, kw_only=True)
class RomPort:
    """A port of a memory: its `words`, the bits of its `address`, the lowest first, the `outputs` that show the bits of
    a word, by their place, and whether a register follows that of the read.
    """

    name: str
    words: Sequence[int]
    address: Sequence[Expression]
    outputs: dict[int, str]
    registered: bool


def rom_ports(instance: Instance) -> list[RomPort]:
    """Return the ports of a cell that only reads, those whose outputs are connected; empty for other cells.

    All pins but clocks and addresses must be constant, and all parameters known.
    """
    if instance.kind != _KIND:
        return []
    first = _FIRST.get(instance.parameters.get("DATA_WIDTH_B", ""), 0)
    places = np.arange(1 << _ADDRESS_BITS - first, dtype=object) << first

    def pin(name: str) -> Any:
        if name.startswith("AD"):
            return places >> int(name[3:]) & 1
        tied = instance.ports.get(name)
        return tied.value if isinstance(tied, Constant) and tied.value is not None else places

    try:
        values = CELLS[_KIND].values(_KIND, _EMPTY | instance.parameters, pin)
    except UnreadableError:
        return []
    found = []
    for letter in "AB":
        outputs = {bit: f"DO{letter}{bit}" for bit in range(18) if f"DO{letter}{bit}" in instance.ports}
        address = [instance.ports.get(f"AD{letter}{bit}") for bit in range(first, _ADDRESS_BITS)]
        if not outputs:
            continue
        if None in address:
            return []
        words = sum(values[output] << bit for bit, output in outputs.items())
        registered = instance.parameters.get(f"REGMODE_{letter}") == "OUTREG"
        found.append(
            RomPort(
                name=letter, words=[int(word) for word in words], outputs=outputs, registered=registered,
                address=[each for each in address if each is not None],
            )
        )  # fmt: skip
    return found


def is_ram_of_cells(module: Module) -> bool:
    """True if a module has the ports of a block RAM and no memory of its own: vendor cells are in its place."""
    return module.inputs == RAM_INPUTS and module.outputs == {"read_data"} and not module.memories
