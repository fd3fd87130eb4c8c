"""The port names of a Verilog module, read from its header."""

from __future__ import annotations

import re

__all__ = ["port_names"]

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\(\*(?!\s*\)).*?\*\)|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_NAME = r"(?:\\\S+|[A-Za-z_]\w*)"
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def port_names(text: str, module: str) -> tuple[str, ...]:
    """Port names in the order of the header, in both forms: `module m(a, b);` and `module m(input a, output [7:0] b);`.

    Limit: a header that macros or `ifdef` change is not understood.

    Raises
    ------
    ValueError
        where the text has no such module.
    """
    plain = _COMMENT.sub(" ", text)
    match = re.search(rf"\bmodule\s+\\?{re.escape(module)}(?![\w$])\s*", plain)
    if match is None:
        raise ValueError(f"top must be a module of the sources, not {module!r}")
    rest = plain[match.end() :]
    if rest.startswith("#"):  # parameters
        _, rest = _parenthesized(rest[1:].lstrip())
        rest = rest.lstrip()
    if not rest.startswith("("):
        return ()
    inside, _ = _parenthesized(rest)
    names = []
    for piece in _split(inside):
        declared = re.sub(r"(\s*\[[^\]]*\])+\s*$", "", piece.split("=")[0].rstrip())  # `= default`, `[unpacked]`
        if found := re.search(rf"({_NAME})\s*$", declared):
            names.append(found[1].lstrip("\\"))
    return tuple(names)


def _parenthesized(text: str) -> tuple[str, str]:
    """Split "(inside) rest" at the bracket that closes the first one."""
    depth = 0
    for index, character in enumerate(text):
        depth += _BRACKETS.get(character, 0)
        if depth == 0:
            return text[1:index], text[index + 1 :]
    raise ValueError("a parenthesis of the module header must be closed")


def _split(text: str) -> list[str]:
    """Split at the commas that are in no bracket."""
    pieces, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += _BRACKETS.get(character, 0)
        if character == "," and depth == 0:
            pieces.append(text[start:index])
            start = index + 1
    return [piece for piece in [*pieces, text[start:]] if piece.strip()]
