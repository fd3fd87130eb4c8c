"""Area by block: the LUT sites of a flattened netlist, each given to the block whose register or signal it drives."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from ..synth.sites import sites_of_cells

__all__ = ["luts_by_block"]

_REST = "other"
_FURTHEST = 12  # LUTs that are followed towards a register


def luts_by_block(netlist: Path, top: str) -> dict[str, int]:
    """LUT sites before placement of each kind of block (`lane_0` and `lane_1` are both `lane`), the largest first.

    Synthesis dissolves the blocks, but signals keep their path: a LUT whose output has a name belongs to the block of
    that name, and a LUT without a name to the block of the first LUT that it feeds.
    """
    module = json.loads(netlist.read_text())["modules"][top]
    owner = _owners(module)
    readers: defaultdict[Any, list[dict[str, Any]]] = defaultdict(list)
    for cell in module["cells"].values():
        for port, bits in cell["connections"].items():
            if cell["port_directions"].get(port) == "input":
                for bit in bits:
                    readers[bit].append(cell)
    found: Counter[str] = Counter()
    for name, sites in sites_of_cells(module).items():
        found[_block(module["cells"][name], owner, readers)] += sites
    return dict(found.most_common())


def _owners(module: dict[str, Any]) -> dict[Any, str]:
    """Block of each bit that has a name; the deepest path wins, since outer names belong to connecting wires."""
    depth: dict[Any, int] = {}
    owner: dict[Any, str] = {}
    for name, net in module["netnames"].items():
        path = name.split(".")[:-1]
        if name.startswith("$") or not path:
            continue
        for bit in net["bits"]:
            if len(path) > depth.get(bit, 0):
                depth[bit], owner[bit] = len(path), _kind(path)
    return owner


def _kind(path: list[str]) -> str:
    """The block below the wrapper and the layer that holds them all."""
    inner = path[1:] if len(path) > 1 and path[0] in ("dense", "core") else path
    return re.sub(r"_?\d+$", "", inner[0].lstrip("\\")) or _REST


def _block(cell: dict[str, Any], owner: dict[Any, str], readers: dict[Any, list[dict[str, Any]]]) -> str:
    for _ in range(_FURTHEST):
        outputs = [bit for port, bits in cell["connections"].items() if _drives(cell, port) for bit in bits]
        for bit in outputs:
            if bit in owner:
                return owner[bit]
        following = [reader for bit in outputs for reader in readers.get(bit, [])]
        if not following:
            return _REST
        cell = following[0]
    return _REST


def _drives(cell: dict[str, Any], port: str) -> bool:
    return bool(cell["port_directions"].get(port) == "output")
