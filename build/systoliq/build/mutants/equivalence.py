"""Equivalence of a mutant: its module, or one that holds it, against the original, register for register merged.

A module that equals its original for all inputs and all time, from power-up on, makes an equal design. Where it does
not, the difference may still never come up where the module stands: so the one that holds it is asked next, and so on
up to the top. What is not decided in time counts as different.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

__all__ = ["equivalent", "holders"]

_YOSYS = "import sys\nfrom pyosys import libyosys\nlibyosys.run_pass('tee -q script ' + sys.argv[1])\n"
_READ = """\
read_verilog {file}
hierarchy -top {module}
proc
flatten
memory_map
opt_clean
rename {module} {name}
design -stash {name}
"""
# a bit that nobody looks at leaves the same netlist
_PLAIN = """\
read_verilog {name}.v
hierarchy -top {module}
proc
flatten
opt_expr
wreduce
opt_clean -purge
opt_expr
opt_clean -purge
write_verilog -noattr {name}.plain.v
design -reset
"""
_MITER = """\
design -copy-from original -as original original
design -copy-from mutant -as mutant mutant
miter -equiv -flatten original mutant miter
hierarchy -top miter
setundef -undriven -zero
opt_expr
opt_clean
techmap
dffunmap
opt_clean
aigmap
write_aiger -zinit miter.aig
"""
# scorr merges registers that are equal in all reachable states: all of them, where nothing is wrong
_ABC = "read_aiger miter.aig; strash; scleanup; scorr; dc2; write_aiger left.aig; pdr -T {seconds}"


def equivalent(original: str, mutant: str, modules: Sequence[str], folder: Path, *, seconds: int) -> bool | None:
    """Whether `mutant` equals `original` as one of `modules`, asked in turn; None where no answer came in time.

    Both are whole texts of Verilog; `seconds` is the limit for each module, twice that with reading and merging, and no
    other is begun after three times that. Files go to `folder`.
    """
    answer: bool | None = False
    (folder / "original.v").write_text(original)
    (folder / "mutant.v").write_text(mutant)
    if _plainly_same(modules[0], folder, seconds):
        return True
    start = time.monotonic()
    for module in modules:
        if time.monotonic() - start > 3 * seconds:
            return None
        answer = _same(module, folder, seconds)
        if answer:
            return True
    return answer


def holders(verilog: str, module: str) -> list[str]:
    """`module`, the only module that has instances of it, and so on; where there are several, the top comes next."""
    bodies = {match[1]: match[0] for match in re.finditer(r"^module (\w+)\(.*?^endmodule", verilog, re.S | re.M)}
    top = next(iter(bodies))
    chain = [module]
    while chain[-1] != top:
        users = [name for name, text in bodies.items() if re.search(rf"^\s+{chain[-1]} ", text, re.M)]
        chain.append(users[0] if len(users) == 1 else top)
    return chain


def _plainly_same(module: str, folder: Path, seconds: int) -> bool:
    """Whether both become the same netlist of `module`, name for name."""
    script = "".join(_PLAIN.format(module=module, name=name) for name in ("original", "mutant"))
    (folder / "plain.ys").write_text(script)
    _run([sys.executable, "-c", _YOSYS, "plain.ys"], folder, 2 * seconds)
    plain = [folder / f"{name}.plain.v" for name in ("original", "mutant")]
    return all(file.exists() for file in plain) and plain[0].read_text() == plain[1].read_text()


def _same(module: str, folder: Path, seconds: int) -> bool | None:
    script = "".join(_READ.format(file=f"{name}.v", module=module, name=name) for name in ("original", "mutant"))
    (folder / "miter.ys").write_text(script + _MITER)
    for file in ("miter.aig", "left.aig"):
        (folder / file).unlink(missing_ok=True)
    if _run([sys.executable, "-c", _YOSYS, "miter.ys"], folder, 2 * seconds) is None:
        return None
    if not (folder / "miter.aig").exists():
        return None
    said = _run([_abc(), "-c", _ABC.format(seconds=seconds)], folder, 2 * seconds)
    if said is None:
        return None
    if "Property proved" in said or _nothing_left(folder / "left.aig"):
        return True
    return False if re.search(r"Output \d+ .*was asserted in frame", said) else None


def _nothing_left(file: Path) -> bool:
    """Whether the miter, after merging, is the constant 0: then ABC's PDR has nothing to decide, and does not."""
    if not file.exists():
        return False
    head, output = file.read_bytes().split(b"\n")[:2]
    latches, gates = head.split()[3], head.split()[5]
    return latches == gates == b"0" and output == b"0"


def _abc() -> str:
    import pyosys

    return str(Path(pyosys.__file__).parent / "yosys-abc")


def _run(command: Sequence[str], folder: Path, seconds: float) -> str | None:
    """What a program prints, or None where it takes longer."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    return done.stdout
