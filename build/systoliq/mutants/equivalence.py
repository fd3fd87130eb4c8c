"""Equivalence of a mutant: the same netlist, or a proof that no user can tell it from its original.

There are two proofs. The first proves assertions in the original, in its environment: the changed line never leads to
another state (see `next_state`). The second merges the design with its mutant (see `merged`). Each bit becomes a pair,
its value and whether it is known (Yosys's xprop), and no bit that the changed line drives differently may be observed.
Both first use any values for data (see `any_data`), sums and products, which are known if their sources are. Such a
proof rests on control alone and is quick. If it fails, the proof is repeated with the real data. If a line cannot be
merged in its place, or merging shows a difference, its module is merged at its outputs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from systoliq.subprocesses import run_child

from .any_data import WRITTEN, with_any_data
from .environment import environment, modules_of
from .merged import UNKNOWN, merged_line, merged_modules
from .mutation import Mutant
from .next_state import asserted
from .rounder import around_rounder, is_rounder

__all__ = ["holders", "never", "none_seen", "same_state"]

_YOSYS = "import sys\nfrom pyosys import libyosys\nlibyosys.run_pass('tee -q script ' + sys.argv[1])\n"
# unused bits leave the same netlist; Yosys makes names from a file's name and a counter
_PLAIN = """\
read_verilog asked.v
hierarchy -top {module}
proc
flatten
opt_expr
wreduce
opt_clean -purge
opt_expr
splitnets -driver
opt_clean -purge
write_verilog -noattr plain.v
"""
_ITEM = re.compile(r"^  \S.*\n(?: {4,}.*\n|  end.*\n)*", re.M)  # items of a module, which Yosys writes in any order
_LOW_PART = re.compile(r"\\(\S+)\[\d+:0\] ")  # of a net whose other bits are not used
_READ = """\
read_verilog -formal asked.v
hierarchy -top {top}
proc
flatten
"""
_SEEN = f"expose w:*{WRITTEN}*\n"
# all inputs are known except the unknown one, which keeps its name as a port; an unknown output is an error
_MERGED = """\
expose -input w:*{unknown}
memory_map
dffunmap
formalff -clk2ff
setundef -init -zero
opt_clean
{seen}setundef -undriven -expose -zero
xprop -split-ports -formal
delete -input i:*{unknown}_x
setundef -undriven -one
delete -input i:*_x
setundef -undriven -zero
delete -output o:*_d
{free}"""
_ASSERTED = """\
chformal -lower
delete -output o:*
{free}opt_clean -purge
memory_map
dffunmap
async2sync
formalff -clk2ff
setundef -init -zero
opt_clean
"""
_WRITE = """\
setundef -undriven -expose -zero
opt_expr
opt_clean -purge
techmap
opt_clean
aigmap
write_aiger -zinit asked.aig
"""
_FREE = "delete t:$mul t:$add %u r:Y_WIDTH>{wider} %i\n"  # subtractions are xprop's own, too
_OF_LAYER, _OF_ENGINE = 9, 16  # largest widths of control; wider registers are data
# scorr merges registers that are equal in all reachable states; without an error, these are all registers
_ABC = "read_aiger asked.aig; strash; scleanup; scorr; dc2; write_aiger left.aig; pdr -T {seconds}"
_SAT = "read_aiger asked.aig; strash; dc2; iprove"
_AROUND = "systoliq_environment"
_READING = 2  # times as many seconds as ABC may have


def same_state(original: str, mutant: Mutant, folder: Path, *, seconds: int, whole: bool = True) -> bool:
    """True if `mutant` is proven to have the same netlist as `original` (the whole Verilog of a design, its top first),
    or always the same state, from power-up on, in an environment that obeys AXI's rules.

    `seconds` limits a proof about the design with its data; a proof with any data gets a quarter of it. Without
    `whole`, only the latter is tried, of the changed module for any inputs, and of a rounder for products only: an
    engine takes seconds. Files are written to `folder`.
    """
    text, top = mutant.applied(original.splitlines()), next(iter(modules_of(original)))
    if any(_plainly_same(original, text, each, folder, seconds) for each in (mutant.module, *[top] * whole)):
        return True
    same = asserted(original, mutant)
    if same is None:
        return False
    if not whole and is_rounder(original, mutant.module):
        same += around_rounder(original, mutant.module, _AROUND)
        return _always(same, _AROUND, folder, "", seconds)
    if not whole and _always(same, mutant.module, folder, "", seconds // 4 + 1):
        return True
    same += environment(original, top, _AROUND)
    wider = _OF_LAYER if whole else _OF_ENGINE
    less = with_any_data(same, wider=wider)
    if _always(less, _AROUND, folder, _FREE.format(wider=wider), seconds // 4 + 1):
        return True
    return whole and _always(same, _AROUND, folder, "", seconds)


def none_seen(original: str, mutant: Mutant, folder: Path, *, seconds: int, whole: bool = True) -> bool:
    """True if it is proven that no bit that `mutant` drives differently can be observed; parameters as in `same_state`.

    Without `whole`, the proof covers the changed module alone, for any inputs, or a rounder for products, in a quarter
    of the time.
    """
    text = mutant.applied(original.splitlines())
    line, module = merged_line(original, mutant), merged_modules(original, text, mutant.module)
    if not whole:
        top, around = mutant.module, ""
        if is_rounder(original, mutant.module):
            top, around = _AROUND, around_rounder(original, mutant.module, _AROUND)
        return _none_seen((line or module) + around, top, folder, "", seconds // 4 + 1)
    around = environment(original, next(iter(modules_of(original))), _AROUND)
    merged = [each + around for each in (line, module) if each is not None]
    less, free = [with_any_data(each, wider=_OF_LAYER) for each in merged], _FREE.format(wider=_OF_LAYER)
    return (
        any(_none_seen(each, _AROUND, folder, free, seconds // 4 + 1) for each in less)
        or (line is not None and _none_seen(line, mutant.module, folder, "", seconds // 4 + 1))
        or any(_none_seen(each, _AROUND, folder, "", seconds) for each in merged)
    )


def never(verilog: str, top: str, folder: Path, *, seconds: int) -> bool:
    """True if it is proven that no input sets an output of `top`, which has no registers, to 1."""
    return "UNSATISFIABLE" in _asked(verilog, top, "", _SAT, folder, seconds)


def holders(verilog: str, module: str) -> list[str]:
    """Return `module`, the only module that instantiates it, and so on; if there are several, the top comes next."""
    bodies = modules_of(verilog)
    top = next(iter(bodies))
    chain = [module]
    while chain[-1] != top:
        users = [name for name, text in bodies.items() if re.search(rf"^\s+{chain[-1]} ", text, re.M)]
        chain.append(users[0] if len(users) == 1 else top)
    return chain


def _plainly_same(original: str, mutant: str, module: str, folder: Path, seconds: int) -> bool:
    """True if both become the same netlist of `module`, name for name, in any order."""
    netlists = []
    for name, text in (("original", original), ("mutant", mutant)):
        place = folder / name
        place.mkdir(exist_ok=True)
        (place / "asked.v").write_text(text)
        (place / "asked.ys").write_text(_PLAIN.format(module=module))
        _run([sys.executable, "-c", _YOSYS, "asked.ys"], place, seconds)
        if not (place / "plain.v").exists():
            return False
        plain = _LOW_PART.sub(r"\\\1 ", (place / "plain.v").read_text())
        netlists.append(sorted(_ITEM.findall(plain)))
    return netlists[0] == netlists[1]


def _none_seen(verilog: str, top: str, folder: Path, free: str, seconds: int) -> bool:
    """True if it is proven that no unknown bit can be observed at the module `top` of the merged `verilog`."""
    seen = _SEEN if WRITTEN in verilog else ""
    return _proven(verilog, top, _MERGED.format(unknown=UNKNOWN, seen=seen, free=free), folder, seconds)


def _always(verilog: str, top: str, folder: Path, free: str, seconds: int) -> bool:
    """True if it is proven that the assertions of `verilog` always hold."""
    return _proven(verilog, top, _ASSERTED.format(free=free), folder, seconds)


def _proven(verilog: str, top: str, question: str, folder: Path, seconds: int) -> bool:
    """True if no output, and no assertion, made by the steps of a `question` can ever be wrong."""
    (folder / "left.aig").unlink(missing_ok=True)
    said = _asked(verilog, top, question, _ABC.format(seconds=seconds), folder, 3 * seconds)
    return "Property proved" in said or _nothing_left(folder / "left.aig")


def _asked(verilog: str, top: str, question: str, commands: str, folder: Path, seconds: int) -> str:
    """Return ABC's output for `commands` on Yosys' netlist of a `question`; "" if it does not end in time."""
    (folder / "asked.v").write_text(verilog)
    (folder / "asked.ys").write_text(_READ.format(top=top) + question + _WRITE)
    (folder / "asked.aig").unlink(missing_ok=True)
    _run([sys.executable, "-c", _YOSYS, "asked.ys"], folder, _READING * seconds)
    made = (folder / "asked.aig").exists()
    return _run([_abc(), "-c", commands], folder, seconds) if made else ""


def _nothing_left(file: Path) -> bool:
    """True if only constants 0 are left: then ABC's PDR has nothing to decide, and gives no answer."""
    if not file.exists():
        return False
    head, *rest = file.read_bytes().split(b"\n")
    latches, outputs, gates = head.split()[3:6]
    return latches == gates == b"0" and set(rest[: int(outputs)]) == {b"0"}


def _abc() -> str:
    import pyosys

    return str(Path(pyosys.__file__).parent / "yosys-abc")


def _run(command: Sequence[str], folder: Path, seconds: float) -> str:
    """The output of a program; empty after a timeout."""
    try:
        return run_child(command, cwd=folder, timeout=seconds).stdout
    except subprocess.TimeoutExpired:
        return ""
