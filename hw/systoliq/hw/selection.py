"""Selection: a multiplexer of many words in stages, a register behind each, so that its wires stay short."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Signal, Value

from .delay import delay

__all__ = ["select", "select_cycles"]

_BITS = 2  # of the index for each stage: four words into one


def select_cycles(count: int) -> int:
    """Cycles that `select` takes of so many words."""
    return max(-(-(count - 1).bit_length() // _BITS), 1)


def select(m: Module, words: Sequence[Value], index: Value) -> Signal:
    """``words[index]`` of `select_cycles` ago; words of one shape."""
    for stage in range(select_cycles(len(words))):
        among = delay(m, index, stage, name=f"index_{stage}")[stage * _BITS : (stage + 1) * _BITS]
        chosen = []
        for first in range(0, len(words), 1 << _BITS):
            group = words[first : first + (1 << _BITS)]
            word = Signal(group[0].shape(), name=f"chosen_{stage}_{first >> _BITS}", reset_less=True)
            m.d.sync += word.eq(Cat(group).word_select(among, len(word)) if len(group) > 1 else group[0])
            chosen.append(word)
        words = chosen
    return chosen[0]
