"""Assertions that a mutant never gives a register, an instance or an output of its module another value.

They are in the original, next to a copy of everything that depends on the changed line, up to the next registers. If
they hold in all states that the original reaches, the mutant reaches no others. Data that does not affect control is
left out, so the proof is small.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .environment import ASSIGN, INSTANCE, NET, modules_of, ports_of
from .mutation import Mutant

__all__ = ["asserted"]

_REGISTER = re.compile(r"^ {4,}(\w+) <= (.*);$")
_MEMORY = re.compile(r"^ {4,}(\w+)\[([^]]*)\] <= (.*);$")
_ENABLE = re.compile(r"^    if \((.*)\)(?: begin)?$")
_PORT = re.compile(r"^    \.(\w+)\((.*)\),?$")
_NOW = "_systoliq_now"
_ADDRESS = 32  # bits, at the most


def asserted(text: str, mutant: Mutant) -> str | None:
    """Return `text`, the original, with assertions in the module of `mutant`; None if this kind of line is not
    supported, or nothing depends on it.
    """
    body = modules_of(text)[mutant.module]
    lines = body.splitlines()
    offset = text[: text.index(body)].count("\n") + 1
    module = _Module(text, lines, mutant, mutant.line - offset)
    added = list(module.copies())
    if module.unknown or not module.asserts:
        return None
    return text.replace(body, "\n".join([*lines[:-1], *added, lines[-1]]))


class _Module:
    """The lines of a module, one of which a mutant changes; `asserts` counts the assertions, and `unknown` is set if a
    line is not understood.
    """

    def __init__(self, text: str, lines: list[str], mutant: Mutant, at: int) -> None:
        self._text = text
        self._lines = lines
        self._at = at
        self._after = mutant.after
        self._found = [match for match in map(NET.match, lines) if match]
        self._widths = {match[3]: int(match[2] or 0) + 1 for match in self._found}
        self._changed: set[str] = set()
        self.asserts = 0
        self.unknown = lines[at] != mutant.before

    def copies(self) -> Iterator[str]:
        """Copies, as in the mutant, of nets that depend on the changed line, and assertions about them."""
        narrowed = NET.match(self._after)
        if narrowed:
            yield from self._narrowed(narrowed[3], int(narrowed[2] or 0) + 1)
        else:
            yield from self._of_line(self._at, self._after)
        left = [number for number in range(len(self._lines)) if number != self._at]
        while True:
            touched = [number for number in left if self._depends(self._lines[number])]
            if not touched or self.unknown:
                return
            left = [number for number in left if number not in touched]
            for number in touched:
                yield from self._of_line(number, self._now(self._lines[number]))

    def _narrowed(self, net: str, width: int) -> Iterator[str]:
        """A net that the mutant declares with fewer bits; unknown if one of the removed bits is selected."""
        uses = "\n".join(self._lines)
        self.unknown |= bool(re.search(rf"\b{net}\[{width}[\]:]", uses)) or f"output reg [{width}:0] {net}" in uses
        self._changed.add(net)
        yield f"  wire [{width - 1}:0] {net}{_NOW} = {net}[{width - 1}:0];"

    def _depends(self, line: str) -> bool:
        """True if a line reads a changed net."""
        if NET.match(line):
            return False
        match = ASSIGN.match(line) or _REGISTER.match(line) or _PORT.match(line)
        return any(name in self._changed for name in re.findall(r"\w+", match[2] if match else line))

    def _now(self, line: str) -> str:
        """The line with the mutant's nets for the changed ones, but for the net that it drives."""
        match = ASSIGN.match(line) or _REGISTER.match(line) or _PORT.match(line)
        start = match.start(2) if match else 0
        names = re.compile(r"\b(" + "|".join(map(re.escape, self._changed)) + r")\b")
        return line[:start] + names.sub(rf"\1{_NOW}", line[start:])

    def _of_line(self, number: int, now: str) -> Iterator[str]:
        line = self._lines[number]
        if (was := ASSIGN.match(line)) and (is_now := ASSIGN.match(now)) and was[1] == is_now[1]:
            net = was[1]
            self._changed.add(net)
            yield f"  wire [{self._widths.get(net, 1) - 1}:0] {net}{_NOW} = {is_now[2]};"
            if any(match[3] == net and "output" in match[0] for match in self._found):
                yield from self._same(self._widths[net], net, f"{net}{_NOW}")
        elif (was := _REGISTER.match(line)) and (is_now := _REGISTER.match(now)) and was[1] == is_now[1]:
            yield from self._same(self._widths.get(was[1], 1), was[2], is_now[2])
        elif (was := _MEMORY.match(line)) and (is_now := _MEMORY.match(now)) and was[1] == is_now[1]:
            yield from self._same(_ADDRESS, was[2], is_now[2])
            yield from self._same(self._widths.get(was[1], 1), was[3], is_now[3])
        elif (was := _ENABLE.match(line)) and (is_now := _ENABLE.match(now)):
            yield from self._same(1, was[1], is_now[1])
        elif (was := _PORT.match(line)) and (is_now := _PORT.match(now)) and was[1] == is_now[1]:
            width = self._width_of_input(number, was[1])
            if width:
                yield from self._same(width, was[2], is_now[2])
        else:
            self.unknown = True

    def _width_of_input(self, number: int, port: str) -> int:
        """Bits of an input of the instance that has a line; 0 for an output, which only drives a net."""
        instance = next((m for line in reversed(self._lines[:number]) if (m := INSTANCE.match(line))), None)
        for each in ports_of(self._text, instance[1]) if instance else []:
            if each.name == port:
                return each.width if each.is_input else 0
        self.unknown = True
        return 0

    def _same(self, width: int, was: str, now: str) -> Iterator[str]:
        names = [f"systoliq_{side}_{self.asserts}" for side in ("was", "now")]
        self.asserts += 1
        for name, value in zip(names, (was, now), strict=True):
            yield f"  wire [{width - 1}:0] {name} = {value};"
        yield f"  always @* assert ({names[0]} == {names[1]});"
