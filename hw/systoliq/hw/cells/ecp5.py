"""ECP5: the 18 x 18 multiplier with its registers, and an adder whose lookup tables clear an accumulator.

Sources: Lattice TN1267 (sysDSP, now FPGA-TN-02205) for MULT18X18D; Yosys' simulation model for CCU2C, two bits of a
carry chain, each with a lookup table of four inputs; a plain adder uses two of the four.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Signal, Value

__all__ = [
    "WIDTH",
    "adder",
    "clearing_adder",
    "clocking",
    "mult18x18d",
    "registers",
    "rows_adder",
    "signed_mult18x18d",
    "subtractor",
]

WIDTH = 18  # of a multiplier's operand


def registers(*names: str) -> dict[str, str]:
    """Parameters that switch a cell's registers ``REG_<name>`` on, all with the same clock, enable and reset."""
    return {f"p_REG_{name}_{pin}": f"{pin}0" for name in names for pin in ("CLK", "CE", "RST")}


def clocking() -> dict[str, object]:
    """Connections of the clock: the domain's clock, an enable that is always on, and no reset."""
    return {"i_CLK0": ClockSignal(), "i_CE0": 1, "i_RST0": 0}


def signed_mult18x18d(register_names: Sequence[str], pins: Mapping[str, object]) -> Instance:
    """A MULT18X18D with these registers; ``pins`` are its operands, signed unless they say otherwise, and outputs."""
    return Instance(
        "MULT18X18D",
        **registers(*register_names),
        p_GSR="DISABLED",
        p_RESETMODE="SYNC",
        p_SOURCEB_MODE="B_SHIFT",
        **clocking(),
        **{"i_SIGNEDA": 1, "i_SIGNEDB": 1, "i_SOURCEA": 0, "i_SOURCEB": 0, **pins},
    )


def _at_top(port: str, value: Value) -> dict[str, Value | int]:
    """``value`` on the highest of ``port0`` to ``port17``, zeros below it: ten copies of a sign cost wires."""
    pad = WIDTH - len(value)
    return {f"i_{port}{i}": value[i - pad] if i >= pad else 0 for i in range(WIDTH)}


def mult18x18d(a: Value, b: Value, product: Value) -> Instance:
    """``product = a * b`` of three cycles ago: input, pipeline and output registers on, never reset.

    Operands are signed where their shapes are; a product of unsigned ones is unsigned.
    """
    if len(a) > WIDTH or len(b) > WIDTH:
        raise ValueError(f"operands must have at most {WIDTH} bits, not {len(a)} and {len(b)}")
    outputs = {f"o_P{2 * WIDTH - len(product) + i}": product[i] for i in range(len(product))}
    signs = {"i_SIGNEDA": int(a.shape().signed), "i_SIGNEDB": int(b.shape().signed)}
    return signed_mult18x18d(
        ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT"), {**_at_top("A", a), **_at_top("B", b), **signs, **outputs}
    )


# Lookup tables of CCU2C, indexed by DCBA, D tied to 1; where the upper half looks up 0, the lowest four bits (BA) are
# the carry. A half with an upper half of zero never passes its carry-in on.
_ADD_UNLESS = 0xA6AA  # A + (B and not C)
_LESS = 0x99AA  # A - B, with 1 carried in
_BOTH_ROWS = 0x7888  # (A and B) + (C and D)
_LAST_ROW = 0x8788  # (A and B) + (D and not C)
_FEED = 0x000A  # A becomes the carry
_NOTHING = 0x0000  # no carry: begins a chain, for one place where nextpnr's feeding in of a constant costs two


def adder(m: Module, a: Value, b: Value, *, name: str, carry_in: Value | None = None, bits: int | None = None) -> Value:
    """``a + b + carry_in`` of signed numbers, one bit wider than the wider one: a plain sum, but for its chain's start.

    A carry-in costs nothing: the chain starts with it. With ``bits``, the sum is ``bits`` wide, and wraps.
    """
    bits = max(len(a), len(b)) + 1 if bits is None else bits
    return _chain(m, [(_at(a, i), _at(b, i), 0) for i in range(bits)], carry_in, name)


def clearing_adder(
    m: Module, term: Value, held: Value, clear: Value, *, name: str, carry_in: Value | None, carry_out: bool
) -> Value:
    """``term + (0 if clear else held) + carry_in``, as wide as ``held`` and one bit more with ``carry_out``.

    Costs one lookup table a bit: the choice is made inside the carry chain, where Yosys would put one before it.
    """
    places: list[tuple[object, object, object]] = [(_at(term, i), held[i], clear) for i in range(len(held))]
    return _chain(m, places + [(0, 0, 0)] * carry_out, carry_in, name)


def subtractor(m: Module, a: Value, b: Value, *, name: str, bits: int) -> Value:
    """``a - b`` of signed numbers in ``bits`` bits, modulo their range: as a sum costs."""
    places = [(_LESS, (_at(a, i), _at(b, i), 0, 1)) for i in range(bits)]
    return _carry_chain(m, places, Const(1, 1), name)


def rows_adder(m: Module, a: Value, b: Value, *, name: str, negative: bool = False, bits: int | None = None) -> Value:
    """``a * (b[0] + 2 * b[1])`` for signed ``a`` and two bits ``b``, two bits wider than ``a``; with ``negative``, the
    second bit counts -2. With ``bits``, the sum is ``bits`` wide, and wraps.

    Two rows of a multiplication for one lookup table a bit: both are masked inside the carry chain.
    """
    init = _LAST_ROW if negative else _BOTH_ROWS
    begin = 1 if bits is None else 1 - bits % 2  # the lowest bit is in the chain where that has a place to spare
    bits = len(a) + 2 if bits is None else bits
    places = [(init, (_at(a, i), b[0], _at(a, i - 1) if i else 0, b[1])) for i in range(begin, bits)]
    upper = _carry_chain(m, places, b[1] if negative else None, name)  # less a: its complement and 1
    return Cat(a[0] & b[0], upper) if begin else upper


def _at(value: Value, i: int) -> Value:
    """Bit i of a sign-extended value."""
    return value[min(i, len(value) - 1)]


def _chain(m: Module, places: list[tuple[object, object, object]], carry_in: Value | None, name: str) -> Value:
    """The sum over ``places`` (A, B, whether B is left out)."""
    return _carry_chain(m, [(_ADD_UNLESS, (*place, 1)) for place in places], carry_in, name)


def _carry_chain(
    m: Module, places: Sequence[tuple[int, tuple[object, ...]]], carry_in: Value | None, name: str
) -> Value:
    """The sum over ``places``: lookup tables and their inputs A, B, C, D."""
    start: tuple[int, tuple[object, ...]] = (_NOTHING, (0, 0, 0, 1))
    if carry_in is not None:
        start = (_FEED, (carry_in, 0, 0, 1))
    halves = [start, *places]
    halves += [(_NOTHING, (0, 0, 0, 1))] * (len(halves) % 2)
    total = Signal(len(halves), name=f"{name}_total")
    carry: Value | int = 0
    for i in range(0, len(halves), 2):
        pins: dict[str, object] = {}
        for half, (init, (a, b, c, d)) in enumerate(halves[i : i + 2]):
            pins |= {
                f"p_INIT{half}": Const(init, 16),
                f"p_INJECT1_{half}": "NO",
                f"i_A{half}": a,
                f"i_B{half}": b,
                f"i_C{half}": c,
                f"i_D{half}": d,
                f"o_S{half}": total[i + half],
            }
        following = Signal(name=f"{name}_carry_{i + 2}")
        m.submodules[f"{name}_bits_{i}"] = Instance("CCU2C", **pins, i_CIN=carry, o_COUT=following)
        carry = following
    return total[1 : 1 + len(places)]
