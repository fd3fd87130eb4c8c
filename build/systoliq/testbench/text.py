"""Text of testbenches: templates, literals, and many short statements on a line."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["calls", "fill", "literal"]


def fill(template: str, **parts: str | int) -> str:
    """`template` with each <<name>> replaced; a name without a part, or a part without its name, is a KeyError."""
    wanted = set(re.findall(r"<<(\w+)>>", template))
    if wanted != set(parts):
        raise KeyError(f"parts must be {sorted(wanted)}, not {sorted(parts)}")
    return re.sub(r"<<(\w+)>>", lambda match: str(parts[match[1]]), template)


def literal(value: int, bits: int) -> str:
    """`value` modulo 2^bits as a sized hexadecimal literal."""
    return f"{bits}'h{value & ((1 << bits) - 1):x}"


def calls(statements: Iterable[str]) -> str:
    """Short statements, many on a line, indented as the body of `initial begin`."""
    lines: list[str] = []
    for statement in statements:
        if lines and len(lines[-1]) + 1 + len(statement) <= 116:
            lines[-1] += f" {statement}"
        else:
            lines.append(f"    {statement}")
    return "\n".join(lines)
