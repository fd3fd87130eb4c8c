"""The lowest bits of a product, in ECP5's lookup tables and carry chains: a triangle of rows, two in each chain."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Value

from .cells.ecp5 import adder, rows_adder
from .delay import delay

__all__ = ["low_product", "low_product_latency"]


def low_product_latency(bits: int) -> int:
    """Cycles from the operands to the lowest ``bits`` of their product."""
    pairs = -(-bits // 2)
    return 1 + (pairs - 1).bit_length()


def low_product(m: Module, a: Value, b: Value, bits: int, *, name: str) -> Value:
    """``a * b`` modulo ``2**bits`` of `low_product_latency` cycles ago, unsigned; of operands of either sign."""
    a, b = _resized(a, bits), _resized(b, bits)
    terms = [  # each two bits up from the one before it, and two bits narrower
        delay(m, _rows(m, a[: bits - i], b[i : i + 2], name=f"{name}_rows_{i}"), 1, name=f"{name}_{i}")
        for i in range(0, bits, 2)
    ]
    level = 0
    while len(terms) > 1:
        level += 1
        merged = [_merged(m, terms[i : i + 2], name=f"{name}_{level}_{i // 2}") for i in range(0, len(terms), 2)]
        terms = [delay(m, term, 1, name=f"{name}_{level}_{i}") for i, term in enumerate(merged)]
    return terms[0]


def _resized(value: Value, bits: int) -> Value:
    sign = value[-1] if value.shape().signed else 0
    return Cat(value, *[sign] * (bits - len(value)))[:bits]


def _rows(m: Module, a: Value, b: Value, *, name: str) -> Value:
    """``a * b`` for at most two bits ``b``, as wide as ``a``."""
    if len(a) > 2:
        return rows_adder(m, a, b, name=name, bits=len(a))
    if len(a) == 1:
        return a & b
    return Cat(a[0] & b[0], (a[1] & b[0]) ^ (a[0] & b[1]))


def _merged(m: Module, terms: list[Value], *, name: str) -> Value:
    """The sum of two terms, or one alone, as wide as the wider one, whose lowest bits stay as they are."""
    if len(terms) == 1:
        return terms[0]
    x, y = terms
    low, x = x[: len(x) - len(y)], x[len(x) - len(y) :]
    if len(y) > 2:
        return Cat(low, adder(m, x, y, name=name, bits=len(y)))
    if len(y) == 1:
        return Cat(low, x ^ y)
    return Cat(low, x[0] ^ y[0], x[1] ^ y[1] ^ (x[0] & y[0]))
