"""Vendor cells: the multiply-accumulate hardware of FPGA families, wired up by name.

Each function here returns an instance; the logic around it is in `multiplier` and `mac`. ``models`` holds a Verilog
simulation model of our own for each cell, in the modes that we use, because the vendors' may not be passed on.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "CELLS",
    "LUT_CELLS",
    "OPERAND_BITS",
    "PACKED_BITS",
    "PAIR_CELLS",
    "PLAIN_CELLS",
    "SETS",
    "CellSet",
    "family",
    "is_ecp5",
    "model_files",
    "models",
    "models_verilog",
]


@dataclass(frozen=True, kw_only=True)
class CellSet:
    """The properties of a set of cells that the generator needs.

    Parameters
    ----------
    models
        files of the simulation models that a design of these cells needs.
    limb_bits
        unsigned bits that fit a signed operand of the multiplier; 0 if synthesis splits wide products.
    small_bits
        bits of an operand of the smaller multiplier, which the part counts as one; a larger one counts as two. 0
        without.
    products
        products of a multiplier of the part in a cycle, at most; 0 if the number of multipliers is unknown.
    """

    models: tuple[str, ...] = ()
    limb_bits: int = 0
    small_bits: int = 0
    products: int = 0


PLAIN_CELLS, LUT_CELLS, PAIR_CELLS = "portable", "ecp5-lut", "ecp5-pair"
"""The sets of plain logic, and of ECP5's lookup tables and pairs."""

_ECP5 = ("mult18x18d.v", "ccu2c.v", "dp16kd.v", "lut4.v", "pfumx.v", "l6mux21.v")
SETS: Mapping[str, CellSet] = {
    PLAIN_CELLS: CellSet(),
    "ecp5": CellSet(models=_ECP5, limb_bits=17, products=1),
    "ecp5-alu": CellSet(models=(*_ECP5, "alu54b.v"), limb_bits=17),
    PAIR_CELLS: CellSet(models=_ECP5, limb_bits=17, products=2),
    LUT_CELLS: CellSet(models=_ECP5, limb_bits=17),
    "ice40": CellSet(models=("sb_mac16.v",), limb_bits=15, products=2),
    "gowin": CellSet(models=("mult9x9.v", "mult18x18.v", "alu.v"), limb_bits=17, small_bits=9, products=1),
    "nexus": CellSet(models=("multaddsub9x9wide.v",), limb_bits=17, small_bits=9, products=1),
    "xilinx": CellSet(),
    "dsp48e2": CellSet(models=("dsp48e2.v",)),
    "dsp48e2-pair": CellSet(models=("dsp48e2.v",)),
}
"""The sets of cells by name. ``portable`` is plain logic, and ``xilinx`` is plain logic in the shape of a DSP48, for
Vivado to pack, and for Yosys on the 7 series; ``dsp48e2`` wires UltraScale's up by name, and ``dsp48e2-pair`` makes two
products in each, for neighbouring columns. ``ecp5-alu`` adds in the cells that ``ecp5`` multiplies with: less logic, no
timing to be had (`ecp5_alu`). ``ecp5-pair`` makes two products in each of ECP5's, for neighbouring columns.
``ecp5-lut`` multiplies in lookup tables and carry chains, where ECP5's multipliers are all taken. ``nexus`` makes four
products and adds them up in each of Nexus' cells.
"""
CELLS = tuple(SETS)
"""Names of the sets of cells."""

OPERAND_BITS = {"dsp48e2-pair": 8}
"""The widest operands of sets of cells that do not take all."""

PACKED_BITS = {"ecp5-pair": (18, 8)}
"""For sets of cells in which a factor holds two numbers ``b``: the factor's bits, and the largest number of bits by
which the two products may overlap (`systoliq.hw.mac.ecp5_overlap`).
"""


def is_ecp5(cells: str) -> bool:
    """True if the set of ``cells`` is for ECP5, and uses its block RAM."""
    return cells.startswith("ecp5")


def family(cells: str) -> str:
    """The FPGA family of the set of ``cells``, which no other has; empty for plain logic, which suits all."""
    if cells in ("portable", "xilinx"):
        return ""
    return cells.split("-", maxsplit=1)[0]


def model_files(cells: str) -> list[Path]:
    """The simulation models that a design made of ``cells`` needs in addition to its own Verilog."""
    if cells not in CELLS:
        raise ValueError(f"cells must be one of {', '.join(CELLS)}, not {cells!r}")
    return [Path(__file__).parent / "models" / name for name in SETS[cells].models]


@functools.cache
def models() -> Mapping[str, str]:
    """The simulation models of all cells, those that only netlists hold too: Verilog texts by the cell's name."""
    files = sorted((Path(__file__).parent / "models").glob("*.v"))
    return {path.stem.upper(): path.read_text(encoding="ascii") for path in files}


def models_verilog(*cells: str) -> str:
    """All models that a simulation of a design made of these sets of ``cells`` needs, each once, as one text; empty
    where it needs none.

    Synthesis tools, which define SYNTHESIS, see nothing in it; two copies of it in one simulation do no harm.
    """
    texts = []
    for path in dict.fromkeys(path for each in cells for path in model_files(each)):
        guard = f"SYSTOLIQ_{path.stem.upper()}"
        body = path.read_text(encoding="ascii").rstrip()
        texts.append(f"`ifndef {guard}\n`define {guard}\n{body}\n`endif\n")
    return "`ifndef SYNTHESIS\n" + "\n".join(texts) + "`endif\n" if texts else ""
