"""The netlist that Magic extracts from the wires of a layout, as Verilog of cells: its real connections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .flow import LayoutError

__all__ = ["cells_of", "verilog_of"]

_POWER = ("gnd", "vdd")


def cells_of(spice: str) -> dict[str, int]:
    """Return the number of instances of each cell in an extracted netlist, fillers included."""
    found: dict[str, int] = {}
    for _, cell, _ in _instances(_lines(spice)):
        found[cell] = found.get(cell, 0) + 1
    return dict(sorted(found.items()))


def verilog_of(spice: str, top: str, ports: Sequence[Mapping[str, Any]]) -> str:
    """Return an extracted netlist as the Verilog module `top`, with the `ports` of a package's sidecar.

    Power and fillers are left out. The modules of the cells are not in the text.

    Raises
    ------
    LayoutError
        if the netlist lacks one of the ports' bits.
    """
    lines = _lines(spice)
    pins = dict(_subcircuits(lines))
    missing = [bit for port in ports for bit in _bits(port) if bit not in pins.get(top, [])]
    if missing:
        raise LayoutError(f"the netlist extracted from the layout has no port {missing[0]}")
    bits = {bit: bit for port in ports for bit in _bits(port)}
    widths = {port["name"]: f"[{port['width'] - 1}:0] " if port["width"] > 1 else "" for port in ports}
    heads = [f"{port['direction']} wire {widths[port['name']]}{port['name']}" for port in ports]
    body = []
    for name, cell, nets in _instances(lines):
        joined = [
            f".{pin}({bits.get(net) or _escaped(net)})"
            for pin, net in zip(pins[cell], nets, strict=True)
            if pin not in _POWER
        ]
        if joined:
            body.append(f"  {cell} {_escaped(name)}({', '.join(joined)});")
    used = {net for _, _, nets in _instances(lines) for net in nets}
    inner = sorted(used - set(bits) - set(_POWER))
    wires = [f"  wire {_escaped(net)};" for net in inner]
    power = ["  wire gnd = 1'b0;", "  wire vdd = 1'b1;"]
    text = [f"module {top}(", ",\n".join(f"  {head}" for head in heads), ");", *power, *wires, *body, "endmodule", ""]
    return "\n".join(text)


def _lines(spice: str) -> list[str]:
    """The lines of a netlist; a line that begins with + continues the one before."""
    return re.sub(r"\n\+", " ", spice).splitlines()


def _subcircuits(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    for line in lines:
        if line.lower().startswith(".subckt "):
            _, name, *nets = line.split()
            yield name, nets


def _instances(lines: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Name, cell and nets of each instance."""
    for line in lines:
        if line.startswith("X"):
            name, *nets, cell = line.split()
            yield name, cell, nets


def _bits(port: Mapping[str, Any]) -> list[str]:
    name, width = port["name"], port["width"]
    return [name] if width == 1 else [f"{name}[{bit}]" for bit in range(width)]


def _escaped(name: str) -> str:
    """The name as an escaped identifier of Verilog; power keeps its own."""
    return name if name in _POWER else f"\\{name} "
