"""Clocks, resets and latches, read from the Verilog's text by the reader of `verify`."""

from __future__ import annotations

from ..verify.expression import UnreadableError
from ..verify.memories import MemoryFiles
from ..verify.rules import check_rules
from ..verify.syntax import CLOCK, read_verilog
from .files import PackageFiles
from .row import FAILED, PASSED, Row

__all__ = ["structure_row"]

_QUESTION = "one clock, one synchronous reset, no latch, one driver for each bit"


def structure_row(files: PackageFiles) -> Row:
    """The row about clock and reset.

    The reader accepts registers only in `always @(posedge clk)`, so a text that it reads has no latch, no second clock
    and no asynchronous set or reset. Models of vendor cells are not read.
    """
    try:
        modules = read_verilog(files.verilog.read_text(), MemoryFiles(files.directory))
        check_rules(modules, files.name)
    except UnreadableError as error:
        return Row(item="CDC_COMPLETE", question=_QUESTION, result=FAILED, detail=str(error))
    wires = [wire for module in modules.values() for wire in module.wires.values() if wire.register]
    bits = sum(wire.width for wire in wires if not wire.words)
    written = sum(bool(wire.words) for wire in wires)
    reset = files.sidecar.get("clocking", {}).get("reset", "rst")
    if reset not in modules[files.name].inputs:
        detail = f"{reset}, the reset that {files.sidecar['name']}.json names, is not an input of {files.name}"
        return Row(item="CDC_COMPLETE", question=_QUESTION, result=FAILED, detail=detail)
    cells = {each.kind for module in modules.values() for each in module.instances.values()} - set(modules)
    notes = [f"vendor cells, whose insides are not read: {', '.join(sorted(cells))}"] if cells else []
    detail = (
        f"{len(modules)} modules with {bits} bits of registers and {written} memories, "
        f"all on the rising edge of {CLOCK}; reset {reset} is synchronous"
    )
    return Row(item="CDC_COMPLETE", question=_QUESTION, result=PASSED, detail=detail, notes=notes)
