"""Mutants of Verilog as systoliq emits it: each changes one place in one line."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["KINDS", "Mutant", "draw", "mutants_of"]

KINDS = ("operator", "constant", "bit select", "condition", "reset", "enable", "width", "connection")

_MODULE = re.compile(r"^module (\w+)")
_DECLARED = re.compile(r"^\s*(?:input|output)?\s*(?:wire|reg)\s+(?:\[(\d+):0\]\s+)?(\w+)")
_INSTANCE = re.compile(r"^\s*(\w+) (?:#\(.*\) )?\w+ \($")
_INPUT = re.compile(r"^\s*input wire (?:\[\d+:0\] )?(\w+),?$")
_ENTRY = re.compile(r"^\s*\w+\[\d+\] = \d+'h[0-9a-f]+;")  # of a memory's contents
_WRITTEN = re.compile(r"^\s*memory\[.*\] <= ")
_PORT = re.compile(r"^\s*\.(\w+)\((.*)\),?$")
_WIDTH = re.compile(r"^\s*(?:output )?(?:wire|reg) \[(\d+):0\] \w+( = .*)?;$")  # of a net or register, no port
_CONSTANT = re.compile(r"\b(\d+)'h([0-9a-f]+)")
_SELECT = re.compile(r"(\w+)\[(\d+)(?::(\d+))?\]")
_OPERATORS = (
    (re.compile(r" & "), (" | ", " ^ ")),
    (re.compile(r" \| "), (" & ", " ^ ")),
    (re.compile(r" \^ "), (" & ", " | ")),
    (re.compile(r" \+ "), (" - ",)),
    (re.compile(r" - "), (" + ",)),
    (re.compile(r" \* "), (" + ",)),
    (re.compile(r" == "), (" != ",)),
    (re.compile(r" != "), (" == ",)),
    (re.compile(r" < "), (" <= ", " > ")),
    (re.compile(r" >= "), (" > ", " < ")),
    (re.compile(r" >> "), (" << ",)),
    (re.compile(r" << "), (" >> ",)),
    (re.compile(r"(?<=[=(?:{,] )~ "), ("",)),
    (re.compile(r"(?<== )\| "), ("& ", "^ ")),
    (re.compile(r"(?<== )& "), ("| ",)),
    (re.compile(r"\$signed"), ("$unsigned",)),
)
_RESET = re.compile(r"= rst \? (\S+) : ")
_CONDITION = re.compile(r"= (\w+(?:\[\d+\])?) \? ")
_ENABLE = re.compile(r"\bif \((\w+)\)")


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One line of the Verilog, counted from 1, as it was and as it is; `block` is the kind of module that it is in."""

    line: int
    kind: str
    block: str
    module: str
    before: str
    after: str

    def applied(self, lines: list[str]) -> str:
        """The whole text of `lines`, with this one changed."""
        return "\n".join([*lines[: self.line - 1], self.after, *lines[self.line :]]) + "\n"


@dataclass(frozen=True)
class _Place:
    """A line, and facts about its module."""

    text: str
    widths: dict[str, int]
    inputs: set[str]  # of the instance that it is in


def mutants_of(lines: list[str]) -> dict[str, list[Mutant]]:
    """All mutants by their line, the contents of each memory as one. Ports stay as they are, and so do the values that
    registers, and memories that are written, have at power-up.
    """
    groups: dict[str, list[Mutant]] = {}
    inputs = _inputs(lines)
    top = module = instance = ""
    widths: dict[str, int] = {}
    written: set[str] = set()
    for number, text in enumerate(lines, 1):
        if match := _MODULE.match(text):
            module, widths = match[1], {}
            top = top or module
        elif declared := _DECLARED.match(text):
            widths[declared[2]] = int(declared[1] or 0) + 1
        elif match := _INSTANCE.match(text):
            instance = match[1]
        if not module or text.startswith(("//", "module", "endmodule")) or "(*" in text:
            continue
        entry = _ENTRY.match(text)
        if _WRITTEN.match(text):
            written.add(_memory_of(module))
        place = _Place(text, widths, inputs.get(instance, set()))
        kinds: dict[str, str] = {}  # of each new text: two changes may come to the same
        for kind, after in _changes(place, bool(entry)):
            kinds.setdefault(after, kind)
        kinds.pop(text, None)
        found = [
            Mutant(line=number, kind=kind, block=block_of(top, module), module=module, before=text, after=after)
            for after, kind in kinds.items()
        ]
        if found:
            groups.setdefault(_memory_of(module) if entry else str(number), []).extend(found)
    return {name: found for name, found in groups.items() if name not in written}


def _memory_of(module: str) -> str:
    """The name of the group of all lines of its contents."""
    return f"memory of {module}"


def _inputs(lines: list[str]) -> dict[str, set[str]]:
    """The inputs of each module."""
    inputs: dict[str, set[str]] = {}
    module = ""
    for text in lines:
        if match := _MODULE.match(text):
            module = match[1]
        elif match := _INPUT.match(text):
            inputs.setdefault(module, set()).add(match[1])
    return inputs


def block_of(top: str, module: str) -> str:
    """The kind of block that a module is: without the name of the top, and without its number or size."""
    if module == top:
        return "top"
    return re.sub(r"_\d+(x\d+)?(?=_|$)", "", module.removeprefix(f"{top}_"))


def draw(lines: list[str], seed: int) -> Iterator[Mutant]:
    """Return mutants in random order, each once: draws a line first, then one of its changes."""
    generator = random.Random(seed)
    groups = {name: list(found) for name, found in mutants_of(lines).items()}
    while groups:
        name = generator.choice(list(groups))
        found = groups[name]
        yield found.pop(generator.randrange(len(found)))
        if not found:
            del groups[name]


def _changes(place: _Place, entry: bool) -> Iterator[tuple[str, str]]:
    """Kind and new text of each change of a line."""
    text = place.text
    if match := _WIDTH.match(text):
        if int(match[1]) and not match[2]:
            yield "width", text.replace(f"[{match[1]}:0]", f"[{int(match[1]) - 1}:0]", 1)
        return
    if _DECLARED.match(text):
        return
    if entry:
        yield from _constants(text, text.index(" = "))
        return
    if port := _PORT.match(text):
        yield from _connections(place, port)
        return
    if match := _ENABLE.search(text):
        for instead in (f"!{match[1]}", "1'h1"):
            yield "enable", _put(text, match, f"if ({instead})")
        return
    if start := re.search(r" <?= ", text):
        yield from _assignment(place, start.start())


def _assignment(place: _Place, start: int) -> Iterator[tuple[str, str]]:
    """Changes to the right of `start`, the assignment."""
    text = place.text
    if match := _RESET.search(text):
        yield "reset", _put(text, match, "= ")
        yield "reset", _put(text, match, f"= !rst ? {match[1]} : ")
    elif match := _CONDITION.search(text):
        for instead in (f"!{match[1]}", "1'h0", "1'h1"):
            yield "condition", _put(text, match, f"= {instead} ? ")
    for pattern, others in _OPERATORS:
        for found in pattern.finditer(text, start + 1):
            for instead in others:
                yield "operator", _put(text, found, instead)
    yield from _constants(text, start)
    yield from _selects(place, start)


def _constants(text: str, start: int) -> Iterator[tuple[str, str]]:
    """Constants with one bit turned."""
    for found in _CONSTANT.finditer(text, start):
        width, value = int(found[1]), int(found[2], 16)
        for bit in range(width):
            yield "constant", _put(text, found, f"{width}'h{value ^ 1 << bit:0{len(found[2])}x}")


def _selects(place: _Place, start: int) -> Iterator[tuple[str, str]]:
    """Bit selects moved by one, within the width of the net."""
    for found in _SELECT.finditer(place.text, start):
        high, low = int(found[2]), int(found[3] or found[2])
        width = place.widths.get(found[1], 0)
        for by in (1, -1):
            if low + by >= 0 and high + by < width:
                bits = f"{high + by}:{low + by}" if found[3] else f"{high + by}"
                yield "bit select", _put(place.text, found, f"{found[1]}[{bits}]")


def _connections(place: _Place, port: re.Match[str]) -> Iterator[tuple[str, str]]:
    """Inputs of instances held at 0, or at 1 where they are one bit wide; bits and constants in them changed."""
    name, net = port[1], port[2]
    text, start = place.text, place.text.index("(")
    tail = text[text.rindex(")") :]
    if name != "clk" and re.fullmatch(r"\w+", net) and net in place.widths and name in place.inputs:
        width = place.widths[net]
        for value in (0, (1 << width) - 1):
            yield "connection", f"{text[: start + 1]}{width}'h{value:x}{tail}"
    yield from _constants(text, start)
    yield from _selects(place, start)


def _put(text: str, match: re.Match[str], instead: str) -> str:
    return text[: match.start()] + instead + text[match.end() :]
