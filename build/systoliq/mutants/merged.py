"""A mutant merged with its original: one design in which every bit that the two drive differently is unknown.

If no unknown bit can be observed at the merged design, the mutant is equivalent: an unknown bit stands for both values,
in every register that it reaches. Leftovers of a change (a token that a reset would have cleared, an unrequested word)
stay unknown until known data replaces them. Two designs side by side would have to be shown to forget it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .environment import ASSIGN, INSTANCE, modules_of, ports_of
from .mutation import Mutant

__all__ = ["UNKNOWN", "merged_line", "merged_modules"]

UNKNOWN = "systoliq_unknown"
_REGISTER = re.compile(r"^    (\w+) <= (.*);$")
_ENABLE = re.compile(r"^(.*\bif \()(.*?)(\).*)$")
_PORT = re.compile(r"^(    \.(\w+)\()(.*)(\),?)$")


def merged_line(text: str, mutant: Mutant) -> str | None:
    """Return `text` with the line of `mutant` merged; None if this kind of line cannot be merged."""
    lines = text.splitlines()
    at = mutant.line - 1
    places = _Places(text, lines, mutant)
    for pattern in (ASSIGN, _REGISTER):
        if (was := pattern.match(mutant.before)) and (now := pattern.match(mutant.after)) and was[1] == now[1]:
            width = places.width(was[1])
            line = mutant.before[: was.start(2)] + _net(width) + ";"
            begin = at if pattern is ASSIGN else places.before("  always")
            return places.put(begin, _nets(width, was[2], now[2]), line)
    if (was := _ENABLE.match(mutant.before)) and (now := _ENABLE.match(mutant.after)):
        return places.put(places.before("  always"), _nets(1, was[2], now[2]), was[1] + _net(1) + was[3])
    if (was := _PORT.match(mutant.before)) and (now := _PORT.match(mutant.after)) and was[2] == now[2]:
        begin = places.before("  ", INSTANCE)
        match = INSTANCE.match(lines[begin])
        port = next((each for each in ports_of(text, match[1]) if each.name == was[2]), None) if match else None
        if port is not None and port.is_input:
            return places.put(begin, _nets(port.width, was[3], now[3]), was[1] + _net(port.width) + was[4])
    return None


def merged_modules(original: str, mutant: str, module: str) -> str:
    """The text `original`, in which `module` is both versions side by side, and their outputs are merged."""
    bodies = modules_of(original)
    names = {side: f"{module}_systoliq_{side}" for side in ("original", "mutant")}
    ports = ports_of(original, module)
    lines = [f"module {module}(", ",\n".join(f"  {port.declared}" for port in ports), ");", _DECLARED]
    for side in names:
        lines += [f"  wire {port.range}{port.name}_{side};" for port in ports if not port.is_input]
        connections = [
            f".{port.name}({port.name})" if port.is_input else f".{port.name}({port.name}_{side})" for port in ports
        ]
        lines.append(f"  {names[side]} {side} ({', '.join(connections)});")
    lines += [
        f"  assign {port.name} = {_merge(port.width, f'{port.name}_original', f'{port.name}_mutant')};"
        for port in ports
        if not port.is_input
    ]
    both = [
        body.replace(f"module {module}(", f"module {names[side]}(", 1)
        for side, body in (("original", bodies[module]), ("mutant", modules_of(mutant)[module]))
    ]
    return original.replace(bodies[module], "\n".join([*lines, "endmodule", *both]))


class _Places:
    """The lines of a text around the line that a mutant changes."""

    def __init__(self, text: str, lines: list[str], mutant: Mutant) -> None:
        self._lines = lines
        self._at = mutant.line - 1
        self._body = modules_of(text)[mutant.module]

    def width(self, net: str) -> int:
        """Bits of a net, register or port of the module."""
        found = re.search(rf"^  (?:(?:input|output) )?(?:wire|reg) (?:\[(\d+):0\] )?{net}\b", self._body, re.M)
        return int(found[1] or 0) + 1 if found else 1

    def before(self, start: str, pattern: re.Pattern[str] | None = None) -> int:
        """The number of the last line, up to the changed one, that begins with `start` and matches `pattern`."""
        return next(
            number
            for number in range(self._at, -1, -1)
            if self._lines[number].startswith(start) and (pattern is None or pattern.match(self._lines[number]))
        )

    def put(self, begin: int, nets: Iterator[str], line: str) -> str:
        """The text with `nets` before the line `begin`, and `line` for the changed one."""
        return "\n".join(
            [*self._lines[:begin], *nets, *self._lines[begin : self._at], line, *self._lines[self._at + 1 :], ""]
        )


_DECLARED = f"  (* keep *) wire {UNKNOWN};"


def _nets(width: int, was: str, now: str) -> Iterator[str]:
    bits = f"[{width - 1}:0] " if width > 1 else ""
    yield _DECLARED
    yield f"  wire {bits}systoliq_was = {was};"
    yield f"  wire {bits}systoliq_now = {now};"


def _net(width: int) -> str:
    return _merge(width, "systoliq_was", "systoliq_now")


def _merge(width: int, was: str, now: str) -> str:
    """`was` where it equals `now`, bit by bit, and else unknown."""
    if width == 1:
        return f"({was} == {now} ? {was} : {UNKNOWN})"
    bits = (f"{was}[{bit}] == {now}[{bit}] ? {was}[{bit}] : {UNKNOWN}" for bit in reversed(range(width)))
    return f"{{{', '.join(bits)}}}"
