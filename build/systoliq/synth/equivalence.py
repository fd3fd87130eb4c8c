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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError, SynthesisError
from .equivalence_sides import FlatModule, Side, cut
from .families import FAMILIES
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
tee -q -o {side}_check.log check {side}
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
_PROBLEMS = re.compile(r"Found and reported (\d+) problems")
_COUNTS = re.compile(r"Of those cells (\d+) are proven and (\d+) are unproven")
_UNDECIDED = re.compile(r"Unproven \$equiv .*? \\(\S+)_gold(?: \[(\d+)\])?")

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Equivalence:
    """Result of comparing a netlist with its RTL, by bits of registers, inputs of boxes, and outputs.

    By induction: `proven` bits are equal in a cycle if all bits were equal in up to six cycles before. That registers
    agree at first is not proven; those without a reset must begin with the same values. `undecided` bits have
    their names in the Verilog; what else is wrong with the netlist is among them.
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
        rtl, netlist = (Side(work / file, name, family.cells) for file in ("rtl.json", _NETLIST))
        netlist.rename_boxes(rtl)
        wrong = [*rtl.other_boxes(netlist), *netlist.unknown_cells()]
        names = cut(rtl, netlist)
        script = ""
        for side, found in (("rtl", rtl), ("netlist", netlist)):
            (work / f"{side}_cut.json").write_text(json.dumps({"modules": {name: found.module}}))
            script += _SIDE.format(side=side, models=f"+/{family.models or family.name + '/cells_sim.v'}", name=name)
        _run(yosys, script, work, target.minutes)
        for side in ("rtl", "netlist"):
            flat = FlatModule(work / f"{side}_flat.json", side)
            wrong += [*flat.on_other_clocks(names), *(flat.registers_of_its_own() if side == "netlist" else ())]
            flat.write_with_buffers(work / f"{side}_flat.json")
            (problems,) = _PROBLEMS.findall((work / f"{side}_check.log").read_text())
            wrong += [f"a loop of gates, or a net with several drivers ({side})"] * (problems != "0")
        if wrong:
            return Equivalence(proven=0, undecided=tuple(dict.fromkeys(wrong)))
        (work / "question.ys").write_text(_QUESTION)
        _run(yosys, "tee -q -o said.log script question.ys\n", work, target.minutes)
        said = (work / "said.log").read_text()
    *_, last = _COUNTS.finditer(said)
    left = [names.get(cut, cut) + (f"[{bit}]" if bit else "") for cut, bit in _UNDECIDED.findall(said[last.end() :])]
    if len(left) != int(last[2]):
        raise SynthesisError(f"Yosys' report names {len(left)} undecided bits, but counts {last[2]}")
    return Equivalence(proven=int(last[1]), undecided=tuple(left))


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
