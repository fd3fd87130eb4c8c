"""Products in ECP5's lookup tables and carry chains: rows two by two, then a tree of sums, a register behind each."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Value

from .cells.ecp5 import adder, rows_adder
from .delay import delay

__all__ = ["lut_product", "lut_product_latency"]


def lut_product_latency(b_bits: int) -> int:
    """Cycles from the operands to their product; the factor ``b`` has ``bits`` bits."""
    pairs = -(-b_bits // 2)
    return 1 + (pairs - 1).bit_length()


def lut_product(m: Module, a: Value, b: Value, *, name: str) -> Value:
    """``a * b`` of `lut_product_latency` cycles ago; ``a`` signed, ``b`` of either sign. As wide as both together."""
    signed = b.shape().signed
    terms: list[Value] = []
    for i in range(0, len(b), 2):
        pair = b[i : i + 2]
        last = i + 2 >= len(b)
        if len(pair) < 2:  # a row alone: the second, so that it may be negative
            pair = Cat(Const(0, 1), pair) if signed else Cat(pair, Const(0, 1))
        alone = len(b) - i == 1 and signed
        sums = rows_adder(m, a, pair, name=f"{name}_rows_{i}", negative=last and signed)
        term = delay(m, sums, 1, name=f"{name}_{i}").as_signed()
        terms.append(term[1:].as_signed() if alone else term)
    spread = 2  # bits from one term to the next
    level = 0
    while len(terms) > 1:
        level += 1
        merged: list[Value] = []
        for i in range(0, len(terms), 2):
            label = f"{name}_{level}_{i // 2}"
            if i + 1 == len(terms):
                merged.append(delay(m, terms[i], 1, name=label).as_signed())
                continue
            low, high = terms[i], terms[i + 1]
            upper = adder(m, low[spread:].as_signed(), high, name=f"{label}_sum")
            merged.append(delay(m, Cat(low[:spread], upper), 1, name=label).as_signed())
        terms, spread = merged, 2 * spread
    return terms[0][: len(a) + len(b)].as_signed()
