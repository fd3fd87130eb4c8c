"""Environment of an engine's near-tie rounder: a module with only the inputs and outputs that a requantizer uses.

Alone, a rounder could get numbers that are no products, and differ in outputs that are not used then.
"""

from __future__ import annotations

from .environment import ports_of

__all__ = ["around_rounder", "is_rounder"]

_KIND = "round_near_tie"
_MANTISSA = 24  # bits of a float32's, and of a multiplier
_SUM = 33  # bits of a float32 as an integer: a sum of 32 bits may round up to 2^31
_VALUE = _SUM + _MANTISSA


def is_rounder(verilog: str, module: str) -> bool:
    """True if `module` is the near-tie rounder of products of an engine's float32 sums and multipliers."""
    if not module.endswith(_KIND):
        return False
    return any(port.name == "value" and port.width == _VALUE for port in ports_of(verilog, module))


def around_rounder(verilog: str, module: str, name: str) -> str:
    """Return the Verilog of a module `name` around `module`, with the same ports.

    The inputs are restricted to possible values: products of a sum and a multiplier. They fit 56 bits, and a product
    with its leading bit at 48 + j, 24 bits more than a mantissa, has zeros up to bit j. The integer part and the carry
    are not observed if the result is beyond all outputs, and the sign only then.
    """
    ports = {port.name: port for port in ports_of(verilog, module)}
    sign, wide = _VALUE - 2, 2 * _MANTISSA
    given = f"value[{sign}]"
    low = [
        f"value[{j}] & ~|(value[{sign - 1}:{wide + j}] ^ {{{sign - wide - j}{{{given}}}}})" for j in range(sign - wide)
    ]
    lines = [
        f"module {name}(",
        ",\n".join(f"  {port.declared}" for port in ports.values()),
        ");",
        f"  wire [{_VALUE - 1}:0] product =",
        f"    {{{given}, {given}, value[{sign - 1}:{sign - wide}], {', '.join(low[::-1])}}};",
        f"  wire {ports['floor'].range}floor_is;",
        "  wire up_is, negative_is;",
        f"  {module} within (.clk(clk), .value(product), .extra(extra), .floor(floor_is), .up(up_is), .beyond(beyond),",
        "    .negative(negative_is));",
        "  assign floor = beyond ? 0 : floor_is;",
        "  assign up = !beyond && up_is;",
        "  assign negative = beyond && negative_is;",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"
