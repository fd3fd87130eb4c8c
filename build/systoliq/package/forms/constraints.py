"""Timing constraints of a block by itself: for tools that read SDC, and for Vivado."""

from __future__ import annotations

import textwrap

from .block import Block, Port

__all__ = ["PERIOD_NS", "sdc", "xdc"]

PERIOD_NS = 10.0
"""The default clock period."""

EDGE_SHARE = 0.2
"""Share of the period for logic outside of the block, before an input and after an output."""


def sdc(block: Block) -> str:
    """For synthesis and timing analysis; the period is a variable that may be set before this is read."""
    period = _period(block)
    setting = [
        f"# In nanoseconds; to change it, `set {period} 5.0` before reading this file.",
        f"if {{![info exists {period}]}} {{ set {period} {PERIOD_NS} }}",
    ]
    return _text(block, "for synthesis and timing analysis", setting)


def xdc(block: Block) -> str:
    """For Vivado, whose constraint files have no `if`: the period is changed in the file."""
    setting = ["# In nanoseconds; change it here.", f"set {_period(block)} {PERIOD_NS}"]
    return _text(block, "for Vivado's synthesis out of context", setting)


def _period(block: Block) -> str:
    return f"{block.name}_period"


def _text(block: Block, purpose: str, setting: list[str]) -> str:
    inputs = [port for port in block.ports if port.direction == "input" and port.name != block.clock]
    outputs = [port for port in block.ports if port.direction == "output"]
    about = (
        f"Timing constraints of {block.name} by itself, {purpose}. Do not use it in a larger design, which "
        f"defines the clock. One clock, {block.clock}; the reset {block.reset} is synchronous and timed as any input. "
        f"{round(100 * EDGE_SHARE)} % of the period is reserved for outside logic at inputs and outputs."
    )
    share = f"[expr {{{EDGE_SHARE} * ${_period(block)}}}]"
    lines = [
        *(f"# {line}" for line in textwrap.wrap(about, 114)),
        *setting,
        f"create_clock -name {block.clock} -period ${_period(block)} [get_ports {block.clock}]",
        f"set_input_delay -clock {block.clock} {share} {_ports(inputs)}",
        f"set_output_delay -clock {block.clock} {share} {_ports(outputs)}",
    ]
    return "\n".join([*lines, ""])


def _ports(ports: list[Port]) -> str:
    """All bits of `ports`; the braces keep brackets from Tcl."""
    return f"[get_ports {{{' '.join(port.name if port.width == 1 else f'{port.name}[*]' for port in ports)}}}]"
