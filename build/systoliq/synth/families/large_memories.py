"""Large memories: the memories of a design that a part's few large blocks hold, marked so that Yosys takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from systoliq.hw.verilog import Verilog, files_of

from .family import Family
from .sizes import LargeBlocks, MemoryBlocks

__all__ = ["in_large_blocks"]

_MODULE = re.compile(r"^module (\S+)\b.*?^endmodule", re.MULTILINE | re.DOTALL)
_MEMORY = re.compile(r"^ *reg \[(\d+):0\] (\S+) \[(?:0:)?(\d+)(?::0)?\];$", re.MULTILINE)
_INSTANCE = re.compile(r"^ *(\w+) \w+ *\($", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class _Memory:
    module: str
    line: str
    blocks: int


def in_large_blocks(verilog: str, family: Family) -> str:
    """Return `verilog` with the attribute ``ram_style = "huge"`` at the memories that save most blocks, if the parts of
    `family` have large ones.

    Memories count that a large block holds and that take as many ordinary blocks as `LargeBlocks.least`. Modules with
    more than one instance are left as they are.
    """
    if family.sizes is None or family.sizes.memories is None or family.sizes.large is None:
        return verilog
    sizes, large, files = family.sizes.memories, family.sizes.large, files_of(verilog)
    modules = {found[1]: found[0] for found in _MODULE.finditer(verilog)}
    found = [each for name, text in modules.items() for each in _memories(name, text, sizes, large)]
    once = [each for each in found if _instances(each.module, modules) == 1]
    chosen = sorted(once, key=lambda each: (-each.blocks, each.module))[: large.count]
    for each in chosen:
        text = modules[each.module]
        marked = text.replace(each.line, f'  (* ram_style = "huge" *)\n{each.line}', 1)
        verilog = verilog.replace(text, marked, 1)
        modules[each.module] = marked
    return Verilog(verilog, files) if files else verilog


def _memories(module: str, text: str, sizes: MemoryBlocks, large: LargeBlocks) -> Iterator[_Memory]:
    for match in _MEMORY.finditer(text):
        bits, words = int(match[1]) + 1, int(match[3]) + 1
        blocks = sizes.of(words, bits, constant=True)
        if large.holds(words, bits, blocks):
            yield _Memory(module=module, line=match[0], blocks=blocks)


def _instances(module: str, modules: dict[str, str]) -> int:
    """Instances of a module in a design, whose top has none within it."""
    within = [(name, text) for name, text in modules.items() for kind in _INSTANCE.findall(text) if kind == module]
    return sum(_instances(name, modules) for name, _ in within) or 1
