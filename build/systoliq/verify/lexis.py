"""Words of the Verilog that systoliq emits: text  ->  tokens with their lines.

Anything that another tool could interpret differently raises `UnreadableError`: preprocessor directives, escapes,
comments that tools obey, attributes that change a meaning, characters outside printable ASCII.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from .expression import UnreadableError
from .tokens import Tokens

__all__ = ["MOST_BYTES", "tokens_of"]

MOST_BYTES = 1 << 28
"""The largest file that is read: ResNet8's is 3 MB, the largest known 30."""

_WORD = re.compile(
    r"(?P<space>[ \n]+)|(?P<comment>//[ -~]*)|(?P<attribute>\(\*[^)\n]*\*\))"
    r'|(?P<token>"[^"\\\n]*"|\d+\'s?[bdh][0-9a-fx?]+|\$?[A-Za-z_][A-Za-z0-9_]*|\d+'
    r"|<=|>=|===|!==|==|!=|>>>|<<<|>>|<<|&&|\|\||~\^|\^~|~&|~\||\+:|[()\[\]{}.,;:?=<>+\-*&|^~!#@])"
)
_ATTRIBUTES = frozenset((
    "full_case = 32'd1", "parallel_case", "no_rw_check = 32'd1", "keep = 32'd1", 'ram_style = "distributed"',
    'ram_style = "block"', 'rom_style = "logic"',
))  # fmt: skip
_COMMENTS = frozenset((
    "A: operands, AXI4-Stream", "B: operands, AXI4-Stream", "Y: results, AXI4-Stream", "A tlast in the wrong place",
    "Sums: they cannot be held back", "Registers: AXI4-Lite", "Interrupt",
))  # fmt: skip
"""Directives within modules; before the first module there are others, which tools must ignore."""
_OBEYED = re.compile(r"//\W*(synopsys|synthesis|pragma|verilator|xilinx|altera|quartus|ambit|cadence|vcs|lint)", re.I)
_CALLS = ("$signed", "$unsigned", "$readmemh")
_NAMES = {"`": "a directive of the preprocessor", "\\": "an escape", "\t": "a tab", "\r": "a carriage return"}


def tokens_of(text: str) -> Tokens:
    """The words of a file; whitespace, comments and attributes are dropped, after a look at each."""
    ends = [match.start() for match in re.finditer("\n", text)]
    words: list[str] = []
    lines: list[int] = []
    at = 0
    inside = False  # a module has begun
    while at < len(text):
        match = _WORD.match(text, at)
        line = bisect_left(ends, at) + 1
        if match is None:
            raise UnreadableError(f"line {line}: {_stranger(text, at)} does not occur in what systoliq emits")
        at = match.end()
        word = match[0]
        if match.lastgroup == "token":
            if word[0] == "$" and word not in _CALLS:
                raise UnreadableError(f"line {line}: {word} does not occur in what systoliq emits")
            inside = inside or word == "module"
            words.append(word)
            lines.append(line)
        elif match.lastgroup == "comment":
            if (inside and word.removeprefix("// ") not in _COMMENTS) or _OBEYED.match(word):
                raise UnreadableError(f"line {line}: the comment {word[:60]!r} does not occur in what systoliq emits")
        elif match.lastgroup == "attribute" and word[2:-2].strip() not in _ATTRIBUTES:
            raise UnreadableError(
                f"line {line}: attributes must be of {', '.join(sorted(_ATTRIBUTES))}, not {word[:60]!r}"
            )
    return Tokens(words, lines)


def _stranger(text: str, at: int) -> str:
    """Description of the text at a place without a token."""
    found = text[at : at + 2]
    if found in ("/*", "(*"):
        return {"/*": "a comment in /* */", "(*": "an attribute of this form"}[found]
    return _NAMES.get(found[0], f"{text[at : at + 10]!r}")
