"""LUT sites of a netlist, cell by cell, as place and route will count them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from .families import FAMILIES
from .families.gatemate import multiplier_sites

__all__ = ["sites_of_cells"]

_Cell = dict[str, Any]

_FED = ("DFF", "CC_DFF")  # registers of Gowin and GateMate
_CARRIES = {"ALU": ("CIN", "COUT"), "CC_ADDF": ("CI", "CO")}  # their adders, with the pins of the carry
_LOGIC = {*FAMILIES["gatemate"].cells.tables, "CC_MULT"}
# LUT sites of a cell by itself.
_SITES = {kind: size for family in FAMILIES.values() for kind, size in family.cells.tables.items()}


def sites_of_cells(module: dict[str, Any]) -> dict[str, int]:
    """Number of LUT sites of each cell in a module of Yosys' JSON, by the cell's name; without cells that take none.

    Besides lookup tables, these are: on ECP5, both halves of a CCU2C, memory in LUTs, and two sites for each carry
    between a chain and the fabric. On iCE40, whose sites are logic cells, they are registers not fed by a lookup table
    of their own, carries without a lookup table of the same inputs, and carries that come from the fabric. nextpnr then
    adds two for constants, and on iCE40 one for each carry to the fabric. On Gowin, whose registers are fed only
    through their lookup table or carry, they are registers that no lookup table or carry feeds exclusively, and the
    sites by which carries enter and leave chains; nextpnr takes up to a tenth more. On GateMate they are the same, and
    multipliers of fabric.
    """
    cells: dict[str, _Cell] = module["cells"]
    readers: defaultdict[Any, list[tuple[str, str]]] = defaultdict(list)  # type and pin of who reads a bit
    for cell in cells.values():
        for pin, bits in cell["connections"].items():
            if cell.get("port_directions", {}).get(pin) != "output":
                for bit in bits:
                    readers[bit].append((cell["type"], pin))
    for port in module["ports"].values():
        if port["direction"] != "input":
            for bit in port["bits"]:
                readers[bit].append(("", ""))
    carried = {_bit(cell, pin) for cell in cells.values() for pin in ("COUT", "CO")}
    looked_up = {_bit(cell, "O") for cell in cells.values() if cell["type"] == "SB_LUT4"}
    added = {_bits(cell, "I1", "I2", "I3") for cell in cells.values() if cell["type"] == "SB_LUT4"}
    held: dict[Any, str] = {}  # a bit that logic makes, and the register next to that logic
    for name, cell in cells.items():
        if cell["type"].startswith(_FED):
            held.setdefault(_bit(cell, "D"), name)
    made = {_bit(cell, pin) for cell in cells.values() for pin in ("F", "SUM")}
    made |= {
        bit
        for cell in cells.values()
        if cell["type"] in _LOGIC
        for pin in ("O", "Y", "S", "P")
        for bit in _all(cell, pin)
    }
    beside = {name for bit, name in held.items() if bit in made}

    def sites(name: str, cell: _Cell) -> int:
        kind = cell["type"]
        count = _SITES.get(kind, 0)
        if kind == "CCU2C":
            enters = _bit(cell, "CIN") not in carried | {"x"}
            leaves = any(reader != ("CCU2C", "CIN") for reader in readers[_bit(cell, "COUT")])
            count += 2 * enters + 2 * (leaves and _bit(cell, "COUT") != "x")
        elif kind.startswith("SB_DFF"):
            count += _bit(cell, "D") not in looked_up or len(readers[_bit(cell, "D")]) > 1
        elif kind == "SB_CARRY":
            count += _bits(cell, "I0", "I1", "CI") not in added
            count += _bit(cell, "CI") not in carried | {"0", "1", "x"}
        elif kind.startswith("DFF"):
            count += name not in beside
        elif kind.startswith("CC_DFF"):
            count += name not in beside or len(readers[_bit(cell, "D")]) > 1
        elif kind == "CC_MULT":
            count += multiplier_sites(*(int(cell["parameters"][name], 2) for name in ("A_WIDTH", "B_WIDTH")))
        elif kind in _CARRIES:
            into, out = _CARRIES[kind]
            count += _bit(cell, into) not in carried
            count += any(reader != (kind, into) for reader in readers[_bit(cell, out)])
        return count

    return {name: count for name, cell in cells.items() if (count := sites(name, cell))}


def _bit(cell: _Cell, pin: str) -> Any:
    """The net at a pin of one bit; "x" if it is open."""
    return next(iter(cell["connections"].get(pin, ())), "x")


def _all(cell: _Cell, pin: str) -> list[Any]:
    """The nets at a pin."""
    return list(cell["connections"].get(pin, ()))


def _bits(cell: _Cell, *pins: str) -> tuple[Any, ...]:
    return tuple(_bit(cell, pin) for pin in pins)
