"""The form for C and C++: macros, so that unused numbers take no memory."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from .block import Block
from .numbers import Number, numbers

__all__ = ["c_constants"]

_INT, _LONG_LONG, _UNSIGNED_LONG_LONG = 1 << 31, 1 << 63, 1 << 64


def c_constants(block: Block) -> str:
    """The text of the header; macros begin with the block's name in capitals."""
    prefix, guard = block.name.upper(), f"{block.name.upper()}_CONSTANTS_H"
    lines = [
        f"/* Numbers of {block.name}.json, by the same names; written by systoliq.",
        " * A list is an initializer of NAME_COUNT numbers. Integers beyond 64 bits are left out. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        *(
            f'#define {prefix}_{name} "{value}"'
            for name, value in (("TOP", block.name), ("KIND", block.kind), ("CELLS", block.cells))
        ),
    ]
    for name, value in numbers(block):
        lines += _macros(f"{prefix}_{name}", value)
    return "\n".join([*lines, "", f"#endif /* {guard} */", ""])


def _macros(name: str, value: Number | list[Number]) -> Iterator[str]:
    values = value if isinstance(value, list) else [value]
    if any(isinstance(each, int) and not -_LONG_LONG <= each < _UNSIGNED_LONG_LONG for each in values):
        return
    if not isinstance(value, list):
        yield f"#define {name} {_literal(value)}"
        return
    yield f"#define {name}_COUNT {len(value)}"
    text = f"#define {name} {{ {', '.join(map(_literal, value))} }}"
    *rows, last = textwrap.wrap(text, 116, subsequent_indent="    ", break_long_words=False)
    yield from (f"{row} \\" for row in rows)
    yield last


def _literal(value: Number) -> str:
    """A constant expression of C, in parentheses where it has a sign."""
    if isinstance(value, float):
        text = repr(value)
    elif value == -_LONG_LONG:
        text = f"{value + 1}LL - 1"
    else:
        size = abs(int(value))
        text = f"{int(value)}{'ULL' if size >= _LONG_LONG else 'LL' if size >= _INT else ''}"
    return f"({text})" if text.startswith("-") else text
