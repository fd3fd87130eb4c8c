"""Yosys: Verilog to the cells of a target, with their count."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from systoliq.hw.verilog import files_of

from ..errors import SynthesisError
from .families import FAMILIES
from .families.generic import ABC_SCRIPT
from .repeated import repeated_modules
from .sites import sites_of_cells
from .standard_cells import CELLS, Library, check_memory, mapping
from .target import Target
from .tools import Command

__all__ = [
    "DSPS",
    "RAMS",
    "before_synthesis",
    "cell_figures",
    "is_register",
    "mapped_apart",
    "memory_bits",
    "netlist_to_place",
    "run_blocks",
    "run_yosys",
    "synthesis_commands",
    "top_of",
]

DSPS = {kind: size for family in FAMILIES.values() for kind, size in family.cells.multipliers.items()}
"""Multipliers that each kind of cell counts as."""
RAMS = {kind: size for family in FAMILIES.values() for kind, size in family.cells.memories.items()}
"""Memory blocks that each kind of cell counts as."""
_CARRIES = {kind: bits for family in FAMILIES.values() for kind, bits in family.cells.carries.items()}
_BOARD = "top/w:* top.*/w:* %u"  # in Yosys' selections: wires of a board's own modules
_REGISTERS = tuple(begin for family in FAMILIES.values() for begin in family.cells.registers)


def run_yosys(
    yosys: Command, verilog: str, name: str, target: Target, folder: Path, *, library: Library | None, mhz: float
) -> None:
    """Write `netlist.json`, `netlist.v` and `cells.json` into `folder`; with a `library`, in its cells for the clock
    `mhz`, and `timing.v` for timing analysis.
    """
    _bring(verilog, folder)
    if library is not None:
        check_memory(name, *memory_bits(yosys, name, folder))
    commands = before_synthesis(target)
    before = [f"hierarchy -top {name}", *commands] if commands else []
    script = ["read_verilog design.v", *before, *_synthesis(verilog, name, target), *target.after]
    options = ""
    if library is not None:
        # Registers are counted before they bear the library's names.
        script += [_stat("registers.json"), *mapping(library, mhz, folder)]
        options = f" -liberty {CELLS}"
    script += [_stat("cells.json", options), "write_json netlist.json"]
    # What Yosys leaves undefined, say C of an SB_MAC16 that adds nothing, is 0 on the part: unused pins are tied low.
    script += ["setundef -zero", "write_verilog -noattr netlist.v"]
    if library is not None:
        script += ["splitnets -ports", "clean", "write_verilog -noattr -noexpr -nohex -nodec timing.v"]
    _run(yosys, script, name, folder)
    if not (folder / "netlist.v").exists():
        raise SynthesisError(f"Yosys failed on {name}: it wrote no netlist")
    if mend := FAMILIES[target.family].mend:
        netlist = json.loads((folder / "netlist.json").read_text())
        mend(netlist)
        (folder / "netlist.json").write_text(json.dumps(netlist))


def before_synthesis(target: Target) -> list[str]:
    """Return Yosys' commands before the synthesis itself: the target's own and, except for standard cells, commands
    that remove the registers' initial values, which no design needs.

    A register that loads a constant, as a lane's with a bit that all multipliers share, would differ from the constant
    in its first cycle. Yosys would keep it, and merge all such registers of the chip into one that many blocks read.
    Modules of a board's top keep theirs: the reset at power-up comes from them.
    """
    removed = [] if target.family == "generic" else ["proc", f"setattr -unset init w:* {_BOARD} %d"]
    return [*removed, *target.before]


def run_blocks(
    yosys: Command, verilog: str, name: str, target: Target, folder: Path, *, library: Library, mhz: float
) -> dict[str, dict[str, float]]:
    """The modules of a design, each mapped separately, by decreasing area: its number of `instances`, and the `area` of
    one, including the modules within.
    """
    _bring(verilog, folder)
    apart = target.synth.replace(" -flatten", "")
    script = ["read_verilog design.v", *synthesis_commands(target, apart, name), *mapping(library, mhz, folder)]
    _run(yosys, [*script, _stat("modules.json", f" -liberty {CELLS}")], name, folder)
    found = json.loads((folder / "modules.json").read_text())["modules"]
    modules = {key.lstrip("\\"): module for key, module in found.items()}
    counts = _instances(name, found)
    areas = {module: modules[module].get("area", 0.0) for module in counts if counts[module]}
    ordered = sorted(areas, key=lambda module: (-areas[module], module))
    return {module: {"instances": counts[module], "area": areas[module]} for module in ordered}


def memory_bits(yosys: Command, name: str, folder: Path) -> tuple[int, int]:
    """Bits of a design's memories that can be written, and of those that cannot."""
    read = ["read_verilog design.v", f"hierarchy -top {name}", "proc", _stat("modules.json")]
    _run(yosys, [*read, "select t:$memwr* m:*", "write_json -selected memories.json"], name, folder)
    counts = _instances(name, json.loads((folder / "modules.json").read_text())["modules"])
    bits = {True: 0, False: 0}
    for key, module in json.loads((folder / "memories.json").read_text())["modules"].items():
        written = {cell["parameters"]["MEMID"].lstrip("\\") for cell in module["cells"].values()}
        for memory, size in module.get("memories", {}).items():
            bits[memory in written] += counts[key.lstrip("\\")] * size["width"] * size["size"]
    return bits[True], bits[False]


def _instances(name: str, found: Mapping[str, Any]) -> Counter[str]:
    """Number of instances of each module in the design `name`, from Yosys' statistics of the modules."""
    modules = {key.lstrip("\\"): module for key, module in found.items()}
    within = {
        above: {kind.lstrip("\\"): n for kind, n in module["num_cells_by_type"].items() if kind.lstrip("\\") in modules}
        for above, module in modules.items()
    }
    counts = Counter({name: 1})
    for above in reversed([*TopologicalSorter(within).static_order()]):  # parents come before their children
        for kind, number in within[above].items():
            counts[kind] += number * counts[above]
    return counts


def _bring(verilog: str, folder: Path) -> None:
    (folder / "design.v").write_text(verilog)
    for file, content in files_of(verilog).items():
        (folder / file).write_bytes(content)


def _stat(file: str, options: str = "") -> str:
    return f"tee -q -o {file} stat -json{options}"


def _run(yosys: Command, script: list[str], name: str, folder: Path) -> None:
    (folder / "synth.ys").write_text("\n".join(script) + "\n")
    done = yosys.run("synth.ys", cwd=folder)
    (folder / "yosys.log").write_text(done.stdout + done.stderr)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        raise SynthesisError(f"Yosys failed on {name}: {lines[-1] if lines else done.stderr.strip()[-500:]}")


def mapped_apart(verilog: str, name: str, target: Target) -> list[str]:
    """The modules that are mapped once for all places where they stand; of targets for gates alone."""
    return repeated_modules(verilog, name) if target.family == "generic" else []


def synthesis_commands(target: Target, command: str, name: str) -> list[str]:
    """Return Yosys' `command` for the design `name`. For gates, `ABC_SCRIPT` follows; with the target's ``wire``, the
    command comes in parts: `synth_lattice` takes no other delay of a wire than 300 ps, where it commands `abc9`.
    """
    whole = f"{command} -top {name}"
    if target.family == "generic":
        return [whole, f"abc -script {ABC_SCRIPT.format('')}", "opt -fast"]
    if not target.wire:
        return [whole]
    latches = ["check -latchonly -assert", "techmap -map +/lattice/latches_map.v"]
    return [f"{whole} -run begin:map_luts", *latches, f"abc9 -W {target.wire}", "clean", f"{whole} -run map_cells:edif"]


def _synthesis(verilog: str, name: str, target: Target) -> list[str]:
    """Yosys' commands for the synthesis itself."""
    commands = synthesis_commands(target, target.synth, name)
    kept = mapped_apart(verilog, name, target)
    if not kept:
        return [*commands, "autoname"]  # some targets' commands leave lookup tables without names of their own
    mark = "setattr -mod {} " + " ".join(kept)
    apart = [mark.format("-set keep_hierarchy 1"), *commands, mark.format("-unset keep_hierarchy")]
    return [*apart, "flatten", "opt -fast", "opt_clean -purge"]


def cell_figures(folder: Path) -> dict[str, float]:
    """Figures of a synthesized design before place and route; of LUT sites see `sites_of_cells`."""
    design = json.loads((folder / "cells.json").read_text())["design"]
    cells: Counter[str] = Counter(design["num_cells_by_type"])
    top = top_of(folder)
    figures: dict[str, float] = {
        "lut_sites": sum(sites_of_cells(top).values()),
        "ff": sum(count for kind, count in cells.items() if is_register(kind)),
        "dsp": sum(cells[kind] * size for kind, size in DSPS.items()),
        "ram": sum(cells[kind] * size for kind, size in RAMS.items()),
        "carries": sum(cells[kind] * bits for kind, bits in _CARRIES.items()),
        "cells": sum(cells.values()),
    }
    if (counted := folder / "registers.json").exists():
        before = json.loads(counted.read_text())["design"]["num_cells_by_type"]
        figures["ff"] = sum(count for kind, count in before.items() if is_register(kind))
    figures["pins"] = sum(len(port["bits"]) for port in top["ports"].values())
    if "area" in design:
        figures["area"] = design["area"]
    return figures


def top_of(folder: Path) -> dict[str, Any]:
    """The top module of the netlist in `folder`, in Yosys' JSON."""
    return _top(json.loads((folder / "netlist.json").read_text()))


def _top(netlist: dict[str, Any]) -> dict[str, Any]:
    """The top module of a netlist; the others in it are the target's cells."""
    modules: dict[str, dict[str, Any]] = netlist["modules"]
    return next(module for module in modules.values() if "top" in module["attributes"])


def netlist_to_place(
    folder: Path, *, without_ports: bool, sites: Mapping[str, str], clock_pad: bool = False, clock: bool = True
) -> bytes:
    """`netlist.json` for nextpnr, with cells kept to `sites`, by their names.

    ``without_ports`` removes all ports but the ``clock``: the ports of a part of a design need no pins of the package.
    ``clock_pad``: with the input buffer that Gowin's parts want between a pin and the clock.
    """
    content = (folder / "netlist.json").read_bytes()
    if not without_ports and not sites:
        return content
    netlist = json.loads(content)
    top = _top(netlist)
    if without_ports:
        top["ports"] = {name: port for name, port in top["ports"].items() if name == "clk" and clock}
    if clock_pad:
        _pad_clock(top)
    for name, site in sites.items():
        top["cells"][name]["attributes"]["BEL"] = site
    return json.dumps(netlist).encode()


def _pad_clock(top: dict[str, Any]) -> None:
    """Put an IBUF between the port of the clock, where there is one, and the net behind it."""
    if (port := top["ports"].get("clk")) is None:
        return
    pad = 1 + max(bit for net in top["netnames"].values() for bit in net["bits"] if isinstance(bit, int))
    top["cells"]["clk$ibuf"] = {
        "type": "IBUF",
        "parameters": {},
        "attributes": {},
        "port_directions": {"I": "input", "O": "output"},
        "connections": {"I": [pad], "O": port["bits"]},
    }
    top["netnames"]["clk$pad"] = {"bits": [pad], "attributes": {}}
    port["bits"] = [pad]


def is_register(kind: str) -> bool:
    """True if a cell of this kind holds a bit."""
    return kind.startswith(_REGISTERS)
