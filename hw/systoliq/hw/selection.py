"""Selection: a multiplexer of many words in stages, a register behind each, so that its wires stay short."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from amaranth.hdl import Cat, Module, Signal, Value

from .delay import delay

__all__ = ["INDEX_BITS", "select", "select_cycles"]

INDEX_BITS = 2
"""Bits of the index for each stage: four words into one."""


def select_cycles(count: int, bits: int = INDEX_BITS) -> int:
    """Cycles that `select` takes for ``count`` words."""
    return max(-(-(count - 1).bit_length() // bits), 1)


def _plain(m: Module, words: Sequence[Value], index: Value, *, name: str) -> Value:
    return Cat(words).word_select(index, len(words[0]))


def select(
    m: Module,
    words: Sequence[Value],
    index: Value,
    *,
    prefix: str = "",
    bits: int = INDEX_BITS,
    choose: Callable[..., Value] = _plain,
) -> Signal:
    """``words[index]`` of `select_cycles` ago; words of one shape. ``choose`` makes a stage's multiplexer of up to
    ``2**bits`` words; names of signals begin with ``prefix``.
    """
    for stage in range(select_cycles(len(words), bits)):
        among = delay(m, index, stage, name=f"{prefix}index_{stage}")[stage * bits : (stage + 1) * bits]
        chosen = []
        for first in range(0, len(words), 1 << bits):
            group = words[first : first + (1 << bits)]
            word = Signal(group[0].shape(), name=f"{prefix}chosen_{stage}_{first >> bits}", reset_less=True)
            m.d.sync += word.eq(choose(m, group, among, name=word.name) if len(group) > 1 else group[0])
            chosen.append(word)
        words = chosen
    return chosen[0]
