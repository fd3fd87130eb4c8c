"""The form for Python: a module of constants, which imports nothing."""

from __future__ import annotations

import textwrap

from .block import Block
from .numbers import numbers

__all__ = ["python_constants"]


def python_constants(block: Block) -> str:
    """The text of the module."""
    lines = [
        f'"""Numbers of {block.name}.json, by the same names; written by systoliq."""',
        "",
        *(f'{name} = "{value}"' for name, value in (("TOP", block.name), ("KIND", block.kind), ("CELLS", block.cells))),
    ]
    for name, value in numbers(block):
        text = f"{name} = {value!r}"
        lines += textwrap.wrap(text, 116, subsequent_indent="    ") if isinstance(value, list) else [text]
    return "\n".join([*lines, ""])
