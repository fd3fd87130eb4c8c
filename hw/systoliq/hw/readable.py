"""Readability of Yosys' Verilog: plain names, ports declared where they are listed, modules in order of the hierarchy.

Nothing else changes: modules are reordered and signals renamed, and the contents of modules are not interpreted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

__all__ = ["readable"]

_MODULE = re.compile(r"^module (\w+)\(([^)]*)\);\n(.*?)^endmodule\n", re.MULTILINE | re.DOTALL)
_INSTANCE = re.compile(r"^  (\w+) (?:#\(|\w+ \()", re.MULTILINE)
_DIRECTION = re.compile(r"^  (input|output) (?:\[-?\d+:0\] )?(\w+);\n", re.MULTILINE)
_TYPE = re.compile(r"^  ((?:wire|reg) (?:\[-?\d+:0\] )?(\w+)(?: = [^;]+)?);\n", re.MULTILINE)
_ESCAPED = re.compile(r"\\(\S+) ")

_GROUPS = {
    "s_axi_ctrl_": "Registers: AXI4-Lite",
    "s_axis_a_": "A: operands, AXI4-Stream",
    "s_axis_b_": "B: operands, AXI4-Stream",
    "m_axis_y_": "Y: results, AXI4-Stream",
    "sums": "Sums: they cannot be held back",
    "error": "A tlast in the wrong place",
    "irq": "Interrupt",
}
"""Comments for the ports of a top, by the prefix of their names."""


def readable(verilog: str, top: str, ports: Mapping[str, Sequence[str]]) -> str:
    """The modules of ``verilog``, ``top`` first, with the ports of each in the order of ``ports`` if it is known.

    Clock and reset come first; ports of the top are grouped and have comments.
    """
    found = {match[1]: match for match in _MODULE.finditer(_plain_names(verilog))}
    uses = {name: [used for used in _INSTANCE.findall(match[3]) if used in found] for name, match in found.items()}
    return "\n".join(
        _module(name, found[name][2], found[name][3], ports.get(name, ()), commented=name == top)
        for name in _hierarchy(top, uses)
    )


def _hierarchy(top: str, uses: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Module names from the top down: each before the modules that it uses first."""
    seen = set()
    waiting = [top]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            yield name
            waiting += reversed(uses[name])


def _module(name: str, listed: str, body: str, order: Sequence[str], *, commented: bool) -> str:
    rank = {port: place for place, port in enumerate(["clk", "rst", *order])}
    ports = sorted(re.findall(r"\w+", listed), key=lambda port: rank.get(port, len(rank)))
    directions = {match[2]: match[1] for match in _DIRECTION.finditer(body)}
    types = {match[2]: match[1] for match in _TYPE.finditer(body) if match[2] in directions}
    body = _DIRECTION.sub("", body)
    body = _TYPE.sub(lambda match: "" if match[2] in directions else match[0], body)
    lines = []
    group: str | None = None
    for place, port in enumerate(ports):
        begins = next((prefix for prefix in _GROUPS if port.startswith(prefix)), None) if commented else None
        if begins is not None and begins != group:
            lines += ["", f"  // {_GROUPS[begins]}"]
        group = begins
        lines.append(f"  {directions[port]} {types[port]}{',' if place < len(ports) - 1 else ''}")
    return f"module {name}(\n" + "\n".join(lines) + f"\n);\n{body}endmodule\n"


def _plain_names(verilog: str) -> str:
    """The text without escaped names: a name that is one in any module gets the same plain one in all."""
    taken = set(re.findall(r"\w+", _ESCAPED.sub("", verilog)))
    plain: dict[str, str] = {}
    for name in sorted(set(_ESCAPED.findall(verilog))):
        chosen = _plain_name(name)
        while chosen in taken:
            chosen += "_"
        taken.add(chosen)
        plain[name] = chosen
    return _ESCAPED.sub(lambda match: plain[match[1]], verilog)


def _plain_name(name: str) -> str:
    words = re.sub(r"\$auto\$(\w+)\.cc:\d+:\w+", r"\1", name)  # where in Yosys' own source the name was given
    plain = re.sub(r"\W+", "_", words).strip("_")
    if plain[0].isdigit():
        return f"_{plain}"
    return f"{plain}_" if plain == name else plain  # escaped for being a word of the language
