"""Environment of a design: a module around it that permits and observes only what AXI's rules allow."""

from __future__ import annotations

import re

__all__ = ["ASSIGN", "INSTANCE", "NET", "Port", "environment", "modules_of", "ports_of"]

ASSIGN = re.compile(r"^  assign (\w+) = (.*);$")
NET = re.compile(r"^  (?:(?:input|output) )?(wire|reg) (?:\[(\d+):0\] )?(\w+)\b")
INSTANCE = re.compile(r"^  (\w+) (?:#\(.*\) )?\w+ \($")  # its first line

_PORT = re.compile(r"^\s*(input|output) (?:wire|reg) (?:\[(\d+):0\] )?(\w+)", re.M)
_HEADER = re.compile(r"^module {name}\((.*?)^\);", re.S | re.M)


class Port:
    """A port of a module: its name, width in bits, and whether it is an input."""

    def __init__(self, direction: str, high: str | None, name: str) -> None:
        self.name = name
        self.width = int(high or 0) + 1
        self.is_input = direction == "input"

    @property
    def declared(self) -> str:
        """The port as in a module's header, a net."""
        return f"{'input' if self.is_input else 'output'} wire {self.range}{self.name}"

    @property
    def range(self) -> str:
        """Before a name, such as "[7:0] "."""
        return f"[{self.width - 1}:0] " if self.width > 1 else ""


def modules_of(verilog: str) -> dict[str, str]:
    """The text of each module by its name, in their order: the top is the first."""
    return {match[1]: match[0] for match in re.finditer(r"^module (\w+)\(.*?^endmodule", verilog, re.S | re.M)}


def ports_of(verilog: str, module: str) -> list[Port]:
    """The ports of `module`, in their order."""
    header = re.search(_HEADER.pattern.format(name=module), verilog, _HEADER.flags)
    if header is None:
        raise ValueError(f"the Verilog must hold a module {module}")
    return [Port(*found) for found in _PORT.findall(header[1])]


def environment(verilog: str, top: str, name: str) -> str:
    """Return the Verilog of a module `name` around `top`, with the same ports.

    Its inputs hold an offer until it is taken, except in a reset; its outputs are observed while they are valid.
    """
    ports = ports_of(verilog, top)
    lines = [f"module {name}(", ",\n".join(f"  {port.declared}" for port in ports), ");"]
    seen: dict[str, str] = {port.name: port.name for port in ports}
    for valid in ports:
        if not valid.name.endswith("valid"):
            continue
        prefix = valid.name.removesuffix("valid")
        payload = [
            port
            for port in ports
            if port.is_input == valid.is_input and port.name.startswith(prefix) and port is not valid
        ]
        if valid.is_input:
            lines += _held(prefix, [valid, *payload])
            seen |= {port.name: f"{port.name}_is" for port in (valid, *payload)}
        elif f"{prefix}ready" in seen:
            for port in payload:
                lines += [
                    f"  wire {port.range}{port.name}_is;",
                    f"  assign {port.name} = {valid.name} ? {port.name}_is : {port.width}'h0;",
                ]
                seen[port.name] = f"{port.name}_is"
        else:  # one bit for each of several words side by side, as of a bare array's sums
            for port in ports:
                if port.name == prefix.removesuffix("_"):
                    each = port.width // valid.width
                    lines.append(f"  wire {port.range}{port.name}_is;")
                    lines += [
                        f"  assign {port.name}[{each * i + each - 1}:{each * i}] = "
                        f"{valid.name}[{i}] ? {port.name}_is[{each * i + each - 1}:{each * i}] : {each}'h0;"
                        for i in range(valid.width)
                    ]
                    seen[port.name] = f"{port.name}_is"
    lines += [f"  {top} within (", ",\n".join(f"    .{port}({net})" for port, net in seen.items()), "  );", "endmodule"]
    return "\n".join(lines) + "\n"


def _held(prefix: str, offered: list[Port]) -> list[str]:
    """Nets `<port>_is` that follow the ports `offered`, but stay while an offer is not taken."""
    valid = offered[0]
    lines = [f"  reg {prefix}waits = 1'b0;"]
    for port in offered:
        lines += [
            f"  reg {port.range}{port.name}_was = 0;",
            f"  wire {port.range}{port.name}_is = {prefix}waits ? {port.name}_was : {port.name};",
            f"  always @(posedge clk) {port.name}_was <= {port.name}_is;",
        ]
    return [*lines, f"  always @(posedge clk) {prefix}waits <= !rst && {valid.name}_is && !{prefix}ready;"]
