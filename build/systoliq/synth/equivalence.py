"""Formal equivalence of a netlist, which is placed, with the Verilog that Yosys made it from.

Verilog -> Yosys, up to words and memories -> RTL; netlist -> models of its cells; both, cut at registers and boxes ->
Yosys' equiv_simple and equiv_induct

Registers are matched by their names. Multipliers and memories are boxes: cells of both sides with the same name, kind
and parameters. What is proven begins with the step from words to lookup tables, carry chains and registers; what Yosys
does before it, such as finding memories, is in both sides.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, zip_longest
from pathlib import Path
from typing import Any

from ..errors import InputError, SynthesisError
from .families import FAMILIES
from .families.family import Cells
from .flow import synthesized
from .target import Target
from .tools import Command, find_yosys
from .yosys import before_synthesis

__all__ = ["Equivalence", "check_comparable", "compared", "netlist_equivalence"]

_DESIGN, _NETLIST = "design.v", "netlist.json"
_RTL = """\
memory_map
opt -undriven -fine
simplemap t:$*ff*
techmap t:$*mux t:$eq t:$ne t:$not t:$logic_* t:$reduce_* t:$and t:$or t:$xor
opt -full
select {name}
write_json -selected rtl.json
"""
_SIDE = """\
read_json {side}_cut.json
read_verilog -overwrite {models}
hierarchy -top {name}
proc
flatten
simplemap t:$*ff*
setundef -undriven -anyseq
opt_expr
opt_clean
setattr -unset init w:*
rename {name} {side}
select {side}
write_json -selected {side}_flat.json
design -reset
"""
_QUESTION = """\
read_json rtl_flat.json
read_json netlist_flat.json
async2sync
equiv_make rtl netlist both
hierarchy -top both
equiv_simple
equiv_induct -seq 6
equiv_status
"""
_STATE = re.compile(r"\$\w*(ff|latch|sr_)", re.IGNORECASE)
_ON_RISING_EDGE = re.compile(r"\$_(DFF_P_|DFFE_P[NP]_|SDFF_P[NP][01]_|SDFFC?E_P[NP][01][NP]_)")
_RESET_AT_ONCE = re.compile(r"\$_DFFE?_P([NP])[01][NP]?_")
_COUNTS = re.compile(r"Of those cells (\d+) are proven and (\d+) are unproven")
_UNDECIDED = re.compile(r"Unproven \$equiv .*? \\(\S+)_gold(?: \[(\d+)\])?")

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Equivalence:
    """Result of comparing a netlist with its RTL, by bits of registers, inputs of boxes, and outputs.

    By induction: `proven` bits are equal in a cycle if all bits were equal in the six cycles before. That registers
    agree at first is not proven; those without a reset must begin with the same values. `undecided` bits have
    their names in the Verilog.
    """

    proven: int
    undecided: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if no bit is undecided."""
        return self.proven > 0 and not self.undecided


def check_comparable(target: Target) -> None:
    """InputError for a target whose netlists cannot be compared with their Verilog."""
    if not FAMILIES[target.family].words:
        *known, last = sorted(each.title for each in FAMILIES.values() if each.words)
        raise InputError(
            f"target must be a part of {', '.join(known)} or {last} to compare its netlist with the Verilog, "
            f"not {target.name}"
        )


def netlist_equivalence(
    verilog: str, name: str, target: Target, *, progress: Callable[[str], None] | None = None
) -> Equivalence:
    """Synthesize `verilog`, whose top module is `name`, and compare the netlist with it.

    Raises
    ------
    InputError
        for a target whose netlists cannot be compared.
    SynthesisError
        if Yosys fails, or has not answered after `target.minutes`.
    """
    check_comparable(target)
    folder = synthesized(verilog, name, target, progress=progress)
    if progress:
        progress("equivalence")
    return compared(folder, name, target)


def compared(folder: Path, name: str, target: Target) -> Equivalence:
    """Compare the netlist in the `folder` of `synthesized` with the Verilog beside it, whose top module is `name`."""
    family, yosys = FAMILIES[target.family], find_yosys()
    with tempfile.TemporaryDirectory(prefix="systoliq-") as place:
        work = Path(place)
        for file in folder.iterdir():
            if file.name in (_DESIGN, _NETLIST) or file.suffix == ".mem":
                (work / file.name).write_bytes(file.read_bytes())
        words = f"{target.synth} -top {name} -run begin:{family.words}"
        begin = [f"read_verilog {_DESIGN}", f"hierarchy -top {name}", *before_synthesis(target), words]
        _run(yosys, "\n".join([*begin, _RTL.format(name=name)]), work, target.minutes)
        rtl, netlist = (_Side(work / file, name, family.cells) for file in ("rtl.json", _NETLIST))
        netlist.rename_boxes(rtl)
        names = _cut(rtl, netlist)
        script = ""
        for side, found in (("rtl", rtl), ("netlist", netlist)):
            (work / f"{side}_cut.json").write_text(json.dumps({"modules": {name: found.module}}))
            script += _SIDE.format(side=side, models=f"+/{family.models or family.name + '/cells_sim.v'}", name=name)
        _run(yosys, script, work, target.minutes)
        clocks = [
            names.get(each, each)
            for side in ("rtl", "netlist")
            for each in _not_on_rising_edge(json.loads((work / f"{side}_flat.json").read_text())["modules"][side])
        ]
        if clocks:
            return Equivalence(proven=0, undecided=tuple(dict.fromkeys(clocks)))
        (work / "question.ys").write_text(_QUESTION)
        _run(yosys, "tee -q -o said.log script question.ys\n", work, target.minutes)
        said = (work / "said.log").read_text()
    *_, last = _COUNTS.finditer(said)
    left = [names.get(cut, cut) + (f"[{bit}]" if bit else "") for cut, bit in _UNDECIDED.findall(said[last.end() :])]
    return Equivalence(proven=int(last[1]), undecided=(*left, *rtl.other_boxes(netlist)))


def _run(yosys: Command, script: str, work: Path, minutes: float) -> None:
    (work / "compare.ys").write_text(script)
    try:
        done = yosys.run("compare.ys", cwd=work, timeout=60 * minutes)
    except subprocess.TimeoutExpired as error:
        raise SynthesisError(
            f"the netlist could not be compared with its Verilog within {minutes:g} minutes: "
            "allow more with --minutes, or leave out --equivalence"
        ) from error
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        raise SynthesisError(
            f"Yosys failed to compare a netlist with its Verilog: {lines[-1] if lines else 'it ended'}"
        )


def _not_on_rising_edge(module: Json) -> Iterator[str]:
    """Names of registers that do not only change at the rising edge of `clk`: Yosys' solver has all on one clock."""
    clock = module["ports"].get("clk", {}).get("bits")
    names = {bit: key for key, net in module["netnames"].items() if not net["hide_name"] for bit in net["bits"]}
    for key, cell in module["cells"].items():
        if _STATE.match(cell["type"]):
            pins, at_once = cell["connections"], _RESET_AT_ONCE.fullmatch(cell["type"])
            never_reset = at_once and pins["R"] == ["0" if at_once[1] == "P" else "1"]
            if not (_ON_RISING_EDGE.fullmatch(cell["type"]) or never_reset) or pins["C"] != clock:
                yield names.get(pins["Q"][0], key)


class _Side:
    """One of the two modules, in Yosys' JSON, with its `boxes` by name and the `names` of each bit."""

    def __init__(self, file: Path, name: str, cells: Cells) -> None:
        self.module: Json = json.loads(file.read_text())["modules"][name]
        self._is_register = re.compile("|".join([r"\$_?\w*ff", *cells.registers]), re.IGNORECASE).match
        boxes = {*cells.multipliers, *cells.memories, *cells.boxes}
        self.boxes: dict[str, Json] = {key: cell for key, cell in self.module["cells"].items() if cell["type"] in boxes}
        self.names: dict[int | str, set[str]] = defaultdict(set)
        for key, net in self.module["netnames"].items():
            for index, bit in enumerate(net["bits"], net.get("offset", 0)):
                self.names[bit].add(f"{key}[{index}]" if len(net["bits"]) > 1 else key)

    def registers(self) -> Iterator[int]:
        """The bits that registers hold."""
        for cell in self.module["cells"].values():
            if self._is_register(cell["type"]):
                yield from (bit for bit in cell["connections"]["Q"] if isinstance(bit, int))

    def rename_boxes(self, other: _Side) -> None:
        """Give boxes that Yosys has named the names of the other side's boxes, by the names at their pins."""
        left = {key: other._pins(key) for key in other.boxes if key not in self.boxes}
        for key in [key for key in self.boxes if key not in other.boxes]:
            pins = self._pins(key)
            name = max(left, key=lambda each: len(pins & left[each]), default=key)
            if pins & left.get(name, set()):
                del left[name]
                for cells in (self.boxes, self.module["cells"]):
                    cells[name] = cells.pop(key)

    def _pins(self, key: str) -> set[tuple[str, str, int, str]]:
        """Each name at each pin of a box, with the kind of box."""
        cell = self.boxes[key]
        return {
            (cell["type"], pin, index, name)
            for pin, bits in cell["connections"].items()
            for index, bit in enumerate(bits)
            if isinstance(bit, int)
            for name in self.names[bit]
        }

    def other_boxes(self, other: _Side) -> Iterator[str]:
        """Names of boxes of the other side that are not in this one, or of another kind, or with other parameters or
        more pins in use.
        """
        for key, cell in other.boxes.items():
            mine = self.boxes.get(key)
            if mine is None or any(mine[field] != cell[field] for field in ("type", "parameters")):
                yield key
                continue
            pins = (pin for pin, bits in cell["connections"].items() if {*bits} != {"x"})
            yield from (f"{key}.{pin}" for pin in pins if pin not in mine["connections"])

    def hide_names(self) -> None:
        """Leave only the ports their names, and take the boxes out."""
        module, ports = self.module, self.module["ports"]
        module["netnames"] = {
            key if key in ports else f"$hidden${key}": net | {"hide_name": int(key not in ports)}
            for key, net in module["netnames"].items()
        }
        module["cells"] = {
            f"$hidden${key}": _without_open_outputs(cell) | {"hide_name": 1}
            for key, cell in module["cells"].items()
            if key not in self.boxes
        }

    def name_bit(self, name: str, bit: int | str) -> None:
        """Give a bit a name that both sides have."""
        self.module["netnames"][name] = {"hide_name": 0, "bits": [bit], "attributes": {}}

    def add_port(self, name: str, direction: str, bit: int | str) -> None:
        """Make a bit a port."""
        self.module["ports"][name] = {"direction": direction, "bits": [bit]}
        self.name_bit(name, bit)


def _without_open_outputs(cell: Json) -> Json:
    """The cell without the outputs that `Family.mend` has cut off."""
    ways = cell.get("port_directions", {})
    left = {pin: bits for pin, bits in cell["connections"].items() if bits != ["x"] or ways.get(pin) != "output"}
    return cell | {"connections": left}


def _cut(rtl: _Side, netlist: _Side) -> dict[str, str]:
    """Give matching registers of both sides one name, and each pin of matching boxes a port. Return the Verilog's names
    by these.
    """
    by_name = {each: bit for bit in rtl.registers() for each in rtl.names[bit]}
    pairs = {(by_name[each], bit) for bit in netlist.registers() for each in netlist.names[bit] & by_name.keys()}
    names = {}
    for side in (rtl, netlist):
        side.hide_names()
    for number, (one, other) in enumerate(sorted(pairs)):
        names[f"r{number}"] = min(rtl.names[one])
        rtl.name_bit(f"r{number}", one)
        netlist.name_bit(f"r{number}", other)
    free = count(1 << 30)  # bits that nothing else has
    for number, (key, box) in enumerate(sorted(rtl.boxes.items())):
        other = netlist.boxes.get(key, {"connections": {}})["connections"]
        for pin, bits in box["connections"].items():
            is_output = box["port_directions"][pin] == "output"
            if not is_output and key not in netlist.boxes:
                continue  # Yosys has left the box out: what it drives must not count, whatever it is
            for index, (bit, other_bit) in enumerate(zip_longest(bits, other.get(pin, []), fillvalue="x")):
                if not is_output and bit == "x":
                    continue  # the Verilog gives it no value
                port = f"box{number}_{pin}_{index}"
                names[port] = f"{key}.{pin}[{index}]"
                for side, each in ((rtl, bit), (netlist, other_bit)):
                    open_pin = each == "x" or (is_output and isinstance(each, str))
                    side.add_port(port, "input" if is_output else "output", next(free) if open_pin else each)
    return names
