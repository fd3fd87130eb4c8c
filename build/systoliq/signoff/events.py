"""Monitor of stream events: a SystemVerilog module with one `cover` per event, bound to the top of a package.

Ports of the sidecar  --streams-->  Stream...  --monitor-->  SystemVerilog
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["LONG_WAIT", "Stream", "monitor", "streams"]

LONG_WAIT = 16
"""Cycles of a long wait."""

_EVENTS = {
    "waits": "{valid} && !{ready}",
    "waits_long": f"{{name}}_waiting == {LONG_WAIT}",
    "is_empty": "!{valid} && {ready}",
    "back_to_back": "{name}_moved && {valid} && {ready}",
    "moves_after_wait": "{name}_waiting != 0 && {valid} && {ready}",
    "reset_while_it_moves": "begins && {valid} && {ready}",
    "reset_while_it_waits": "begins && {valid} && !{ready}",
    "reset_while_empty": "begins && !{valid}",
}
"""Events of a stream, as conditions at a rising clock edge; `begins` is the first cycle of a reset."""


@dataclass(frozen=True)
class Stream:
    """A pair of handshake ports: a beat moves in a cycle in which both are 1."""

    name: str
    valid: str
    ready: str


def streams(ports: Sequence[Mapping[str, Any]]) -> list[Stream]:
    """The streams among the `ports` of a sidecar, in their order."""
    names = {str(port["name"]) for port in ports}
    found = []
    for name in (str(port["name"]) for port in ports):
        base = name.removesuffix("valid")
        if name != base and f"{base}ready" in names:
            found.append(Stream(base.removesuffix("_t").removesuffix("_"), name, f"{base}ready"))
    return found


def monitor(top: str, clock: str, reset: str, found: Sequence[Stream]) -> str:
    """The text of a monitor that is bound to module `top`."""
    ports = [clock, reset, *(port for stream in found for port in (stream.valid, stream.ready))]
    lines = [f"module systoliq_signoff_events({', '.join(f'input {port}' for port in ports)});"]
    lines += ["  reg held = 1'b1;  // the reset, a cycle ago", f"  wire begins = {reset} && !held;"]
    update, covers = [f"    held <= {reset};"], []
    for stream in found:
        names = {"name": stream.name, "valid": stream.valid, "ready": stream.ready}
        moves, waiting = f"{stream.valid} && {stream.ready}", f"{stream.name}_waiting"
        lines += [f"  reg {stream.name}_moved = 1'b0;", f"  reg [7:0] {waiting} = 8'd0;"]
        update += [
            f"    {stream.name}_moved <= {moves} && !{reset};",
            f"    if ({reset} || !({stream.valid} && !{stream.ready})) {waiting} <= 8'd0;",
            f"    else if ({waiting} != 8'd255) {waiting} <= {waiting} + 8'd1;",
        ]
        for event, condition in _EVENTS.items():
            guard = "" if "begins" in condition else f"!{reset} && "
            term = guard + condition.format(**names)
            covers.append(f"  {stream.name}_{event}: cover property (@(posedge {clock}) {term});")
    lines += [f"  always @(posedge {clock}) begin", *update, "  end", *covers, "endmodule"]
    connections = ", ".join(f".{port}({port})" for port in ports)
    lines.append(f"bind {top} systoliq_signoff_events systoliq_signoff_events ({connections});")
    return "\n".join(lines) + "\n"
