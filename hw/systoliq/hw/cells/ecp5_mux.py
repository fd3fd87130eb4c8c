"""ECP5: wide multiplexers, out of lookup tables of two words and the slices' own multiplexers behind them.

Synthesis makes a multiplexer of four words from four lookup tables per bit, as for any function of six inputs. The
slice needs two, because each lookup table has its own inputs. Sources: Lattice ECP5 data sheet (slices), Yosys'
simulation models of PFUMX and L6MUX21.
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Instance, Module, Signal, Value

__all__ = ["ECP5_MUX_BITS", "ecp5_mux"]

ECP5_MUX_BITS = 3
"""Bits of the widest multiplexer's index: eight words, in four lookup tables a bit."""

_CHOOSE = 0xCACA  # B if C else A


def ecp5_mux(m: Module, words: Sequence[Value], index: Value, *, name: str) -> Value:
    """``words[index]``, one of up to eight words of one width; undefined if ``index`` is out of range."""
    whole = max(1 << (len(words) - 1).bit_length(), 2)  # a slice's multiplexers choose among lookup tables, all of them
    words = list(words) + [words[-1]] * (whole - len(words))
    return Cat(_bit(m, [word[i] for word in words], index, f"{name}_{i}") for i in range(len(words[0])))


def _bit(m: Module, bits: Sequence[Value], index: Value, name: str) -> Value:
    level = []
    for i in range(0, len(bits), 2):
        out = Signal(name=f"{name}_pair_{i}")
        pins = {"i_A": bits[i], "i_B": bits[i + 1], "i_C": index[0], "i_D": 0, "o_Z": out}
        m.submodules[f"{name}_lut_{i}"] = Instance("LUT4", p_INIT=Const(_CHOOSE, 16), **pins)
        level.append(out)
    for cell, zero, one, choice, place in (("PFUMX", "BLUT", "ALUT", "C0", 1), ("L6MUX21", "D0", "D1", "SD", 2)):
        following = []
        for i in range(0, len(level), 2):
            pair = level[i : i + 2]
            if len(pair) == 2:
                out = Signal(name=f"{name}_{cell.lower()}_{i}")
                pins = {f"i_{zero}": pair[0], f"i_{one}": pair[1], f"i_{choice}": index[place], "o_Z": out}
                m.submodules[f"{name}_{cell.lower()}_{i}_cell"] = Instance(cell, **pins)
                pair = [out]
            following += pair
        level = following
    return level[0]
