"""Adder trees: the sum of many terms, a register after each level of additions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from amaranth.hdl import Module, Signal, Value, signed

__all__ = ["adder_tree", "adder_tree_latency"]


def adder_tree_latency(terms: int) -> int:
    """Cycles from ``terms`` terms to their sum."""
    return (terms - 1).bit_length()


def adder_tree(
    m: Module,
    terms: Sequence[Value],
    term_bits: int,
    *,
    most_bits: int | None = None,
    add: Callable[[Value, Value, str], Value] | None = None,
    name: str = "sum",
) -> Value:
    """The sum of signed ``terms`` of ``term_bits`` bits, `adder_tree_latency` cycles later; one term is its own sum.

    A level is one bit wider than the one before it, up to ``most_bits``, beyond which sums wrap. ``add(a, b, name)``
    replaces the plain addition of two terms; signals that it creates are named after ``name``. ``name`` begins the
    names of the registers.
    """
    level = 0
    while len(terms) > 1:
        level += 1
        bits = term_bits + level if most_bits is None else min(term_bits + level, most_bits)
        totals = []
        for i in range(0, len(terms), 2):
            total = Signal(signed(bits), name=f"{name}_{level}_{i // 2}", reset_less=True)
            if i + 1 == len(terms):
                m.d.sync += total.eq(terms[i])
            elif add is None:
                m.d.sync += total.eq(terms[i] + terms[i + 1])
            else:
                m.d.sync += total.eq(add(terms[i], terms[i + 1], f"add_{level}_{i // 2}"))
            totals.append(total)
        terms = totals
    return terms[0]
