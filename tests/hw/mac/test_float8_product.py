"""Products of float8 codes: every code with codes of all kinds, against their exact values and IEEE 754's rules."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, INT8, UINT8, Float8Format, IntFormat
from systoliq.hw.mac.float8_product import Float8Product

from ..bench import trace

KINDS = (0x00, 0x01, 0x7B, 0x7C, 0x7D, 0x7F, 0x80, 0x83, 0xFC, 0xFF)
NUMBER, PLUS, MINUS, NAN = range(4)


def expected(a, b, x, y):
    """(Product in units, flags) of the codes x and y, one after the other in plain Python."""
    found = []
    for form, code in ((a, x), (b, y)):
        if not isinstance(form, Float8Format):
            found.append((code, False, 0))
            continue
        decoded = form.decode(np.uint8([code]))
        units = int(decoded.significand[0]) << int(decoded.shift[0])
        found.append((units, bool(decoded.nan[0]), int(decoded.infinity[0])))
    (p, p_nan, p_infinity), (q, q_nan, q_infinity) = found
    if p_nan or q_nan:
        return 0, NAN
    if p_infinity or q_infinity:
        sign = (p_infinity or p) * (q_infinity or q)
        return 0, NAN if sign == 0 else PLUS if sign > 0 else MINUS
    return p * q, NUMBER


@pytest.mark.parametrize(("a", "b"), [(E4M3FN, E4M3FNUZ), (E5M2, E5M2), (E5M2FNUZ, E5M2FNUZ), (E5M2, E4M3FN)])
def test_every_code_with_codes_of_all_kinds(a, b):
    check(a, b, [(x, y) for x in range(256) for y in KINDS])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", [E4M3FN, E5M2, E5M2FNUZ], ids=str)
@pytest.mark.parametrize("integer", [UINT8, INT8, IntFormat(9, signed=True)], ids=str)
def test_every_integer_with_codes_of_all_kinds(form, integer):
    pairs = [(x, y) for x in range(integer.min, integer.max + 1) for y in KINDS]
    check(integer, form, pairs)
    check(form, integer, [(y, x) for x, y in pairs[::7]])


def check(a, b, pairs):
    dut = Float8Product(a, b)
    shown = trace(dut, [{"a": x, "b": y} for x, y in pairs] + [{}] * dut.latency)[dut.latency :]
    for (x, y), line in zip(pairs, shown, strict=True):
        product, flags = expected(a, b, x, y)
        assert line["product"] == product, (x, y)
        assert line["flags"] == (flags if len(dut.flags) == 2 else flags == NAN), (x, y)
