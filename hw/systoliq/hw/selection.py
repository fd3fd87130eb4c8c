"""Selection: a multiplexer of many words in stages, a register behind each, so that its wires stay short."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from amaranth.hdl import Cat, Module, Signal, Value

from .delay import delay

__all__ = ["INDEX_BITS", "REACH", "select", "select_cycles", "sweep", "sweep_cycles"]

INDEX_BITS = 2
"""Bits of the index for each stage: four words into one."""
REACH = 32
"""Words that one register of the index reaches in `sweep`."""


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


def sweep_cycles(count: int, late: int = 0) -> int:
    """Cycles that `sweep` takes for ``count`` words."""
    groups = -(-count // REACH)
    return select_cycles(count) if groups == 1 else late + groups - 1 + select_cycles(REACH) + select_cycles(groups)


def sweep(m: Module, words: Sequence[Value], index: Value, *, late: int = 0) -> Signal:
    """``words[index]`` of `sweep_cycles` ago, for an index that counts up through all words and begins again.

    A word must be there from the cycle in which the index reaches it, and stay until ``late`` cycles after the index
    reaches the last word. This leaves time to pass the index from group to group of `REACH` words, one cycle each,
    starting with the last group, ``late`` cycles late. A single register that drives all words would have long wires.
    """
    groups = [words[first : first + REACH] for first in range(0, len(words), REACH)]
    if len(groups) == 1:
        return select(m, words, index)
    bits, most = REACH.bit_length() - 1, late + len(groups) - 1
    chosen = []
    for number, group in enumerate(groups):
        reached = delay(m, index, most - number, name=f"index_{number}")[:bits]
        word = select(m, group, reached, prefix=f"group_{number}_")
        wait = number + select_cycles(REACH) - select_cycles(len(group))
        chosen.append(delay(m, word, wait, name=f"group_{number}"))
    return select(m, chosen, delay(m, index, most + select_cycles(REACH), name="index")[bits:], prefix="groups_")
