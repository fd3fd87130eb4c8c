"""The row of a netlist: is it equal to the Verilog?"""

from __future__ import annotations

from collections.abc import Callable

from systoliq.hw.verilog import Verilog

from ..errors import SynthesisError
from ..synth.equivalence import netlist_equivalence
from ..synth.target import Target
from .files import PackageFiles
from .row import FAILED, NOT_RUN, PASSED, Row

__all__ = ["netlist_row"]


def netlist_row(files: PackageFiles, target: Target | None, detail: Callable[[str], None]) -> Row:
    """The row of the netlist for `target`; not run without one, or if it is not compared in time."""
    question, result = "the netlist is equal to the Verilog", NOT_RUN
    notes: tuple[str, ...] = ()
    command = f"systoliq signoff {files.directory} --target {'ecp5-85k' if target is None else target.name}"
    if target is None:
        said = "a netlist is for a part, which --target names"
    else:
        memories = {file.name: file.read_bytes() for file in files.directory.glob("*.mem")}
        verilog = Verilog(files.verilog.read_text(), memories)
        try:
            found = netlist_equivalence(verilog, files.name, target, progress=detail)
        except SynthesisError as error:
            said = str(error)
        else:
            result, notes = PASSED if found.holds else FAILED, found.undecided
            of = "bits of registers, outputs and inputs of multipliers and memories"
            said = f"{target.name}: {found.proven} {of} are proven"
            said += f", {len(notes)} are undecided" if notes else ""
    return Row(item="NETLIST_EQUIVALENCE", question=question, result=result, detail=said, command=command, notes=notes)
