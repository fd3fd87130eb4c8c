"""Large memories: the memories of a design that a part's few large blocks hold, marked so that Yosys takes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from systoliq.hw.verilog import Verilog, files_of

from ..modules import instances_in, modules_of
from .family import Family
from .sizes import LargeBlocks, MemoryBlocks

__all__ = ["in_large_blocks"]

_MEMORY = re.compile(r"^ *reg \[(\d+):0\] (\S+) \[(?:0:)?(\d+)(?::0)?\];$", re.MULTILINE)


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
    modules = modules_of(verilog)
    within = {name: instances_in(text) for name, text in modules.items()}
    found = [each for name, text in modules.items() for each in _memories(name, text, sizes, large)]
    once = [each for each in found if _instances(each.module, within) == 1]
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


def _instances(module: str, within: Mapping[str, Counter[str]]) -> int:
    """Instances of a module in a design, whose top has none, by the instances `within` each module."""
    return sum(count[module] * _instances(name, within) for name, count in within.items() if count[module]) or 1
