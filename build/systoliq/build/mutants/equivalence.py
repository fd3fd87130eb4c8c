"""Equivalence of a mutant: what holds its change against the original, register for register merged.

A module that equals its original for all inputs and all time, from power-up on, makes an equal design. First it is
asked of the module with all that it instantiates cut out: what comes from there is anything, what goes there must be
equal. Then of the module with them; then of the modules that hold it, with the others cut out; and at last of the whole
design in its environment, with what holds data cut out. A difference may always be one that never comes up.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .environment import environment, modules_of

__all__ = ["equivalent", "holders"]

_YOSYS = "import sys\nfrom pyosys import libyosys\nlibyosys.run_pass('tee -q script ' + sys.argv[1])\n"
_READ = """\
read_verilog {file}
{keep}hierarchy -top {module}
proc
flatten
{evert}memory_map
setundef -init -zero
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
_AROUND = "systoliq_environment"
_WHOLE = 2  # of the modules around a change are asked whole, too
_READING = 60  # seconds
_DATA = re.compile(r"_(array|lane_\d+|weights_\d+|\w*ram_\d+x\d+)$")  # modules that no stream's pace depends on


def equivalent(original: str, mutant: str, modules: Sequence[str], folder: Path, *, seconds: int) -> bool:
    """Whether `mutant` is proven to equal `original`, as one of `modules` or as a design.

    Both are whole texts of Verilog; `modules` are the changed one and those that hold it, the top last. `seconds` is
    the limit of the last question, a quarter of it that of each other. Files go to `folder`.
    """
    _write(original, mutant, folder)
    if _plainly_same(modules[0], folder, seconds):
        return True
    every, short = set(modules_of(original)), seconds // 4 + 1
    for number, module in enumerate(modules):
        path = set(modules[: number + 1])
        if _same(module, every - path, folder, short) or (number < _WHOLE and _same(module, set(), folder, short)):
            return True
    around = environment(original, modules[-1], _AROUND)
    _write(original + around, mutant + around, folder)
    return _same(_AROUND, {name for name in every - set(modules) if _DATA.search(name)}, folder, seconds)


def holders(verilog: str, module: str) -> list[str]:
    """`module`, the only module that has instances of it, and so on; where there are several, the top comes next."""
    bodies = modules_of(verilog)
    top = next(iter(bodies))
    chain = [module]
    while chain[-1] != top:
        users = [name for name, text in bodies.items() if re.search(rf"^\s+{chain[-1]} ", text, re.M)]
        chain.append(users[0] if len(users) == 1 else top)
    return chain


def _write(original: str, mutant: str, folder: Path) -> None:
    (folder / "original.v").write_text(original)
    (folder / "mutant.v").write_text(mutant)


def _plainly_same(module: str, folder: Path, seconds: int) -> bool:
    """Whether both become the same netlist of `module`, name for name."""
    script = "".join(_PLAIN.format(module=module, name=name) for name in ("original", "mutant"))
    (folder / "plain.ys").write_text(script)
    _run([sys.executable, "-c", _YOSYS, "plain.ys"], folder, 2 * seconds)
    plain = [folder / f"{name}.plain.v" for name in ("original", "mutant")]
    return all(file.exists() for file in plain) and plain[0].read_text() == plain[1].read_text()


def _same(module: str, cut: set[str], folder: Path, seconds: int) -> bool:
    """Whether both are proven the same `module`, with all instances of the modules `cut` cut out."""
    keep = f"setattr -mod -set keep_hierarchy 1 {' '.join(sorted(cut))}\n" if cut else ""
    evert = f"expose -evert {module}\n" if cut else ""
    read = "".join(
        _READ.format(file=f"{name}.v", module=module, name=name, keep=keep, evert=evert)
        for name in ("original", "mutant")
    )
    (folder / "miter.ys").write_text(read + _MITER)
    for file in ("miter.aig", "left.aig"):
        (folder / file).unlink(missing_ok=True)
    _run([sys.executable, "-c", _YOSYS, "miter.ys"], folder, _READING)
    if not (folder / "miter.aig").exists():
        return False
    said = _run([_abc(), "-c", _ABC.format(seconds=seconds)], folder, 3 * seconds)
    return "Property proved" in said or _nothing_left(folder / "left.aig")


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


def _run(command: Sequence[str], folder: Path, seconds: float) -> str:
    """What a program prints, or nothing where it takes longer."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout
