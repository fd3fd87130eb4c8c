"""Tokens: the words of a Verilog file in order, each with its line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .expression import UnreadableError

__all__ = ["Tokens"]

_LONGEST_NAME = 1000


class Tokens:
    """The `tokens` of the text `lines`."""

    def __init__(self, tokens: Sequence[str], lines: Sequence[int]) -> None:
        self._tokens = tokens
        self._lines = lines
        self._at = 0

    @property
    def at_end(self) -> bool:
        """True if no token is left."""
        return self._at >= len(self._tokens)

    @property
    def line(self) -> int:
        """The line of the token that was taken last."""
        return self._lines[max(self._at - 1, 0)]

    def peek(self) -> str:
        """The next one, which stays."""
        if self.at_end:
            raise UnreadableError("the file ends in the middle of a module")
        return self._tokens[self._at]

    def next(self) -> str:
        """The next one."""
        token = self.peek()
        self._at += 1
        return token

    def accept(self, token: str) -> bool:
        """Take the next one if it is `token`."""
        found = self.peek() == token
        self._at += found
        return found

    def expect(self, *tokens: str) -> None:
        """Take these."""
        for token in tokens:
            if (found := self.next()) != token:
                raise self.error(f"{token!r} was expected near {self._near()}, not {found!r}")

    def separator(self, end: str) -> bool:
        """Take a comma, after which something must come, or `end`; whether it was `end`."""
        if self.accept(end):
            return True
        self.expect(",")
        if self.peek() == end:
            raise self.error(f"a list continues after its last comma near {self._near()}")
        return False

    def name(self) -> str:
        """Take an identifier."""
        token = self.next()
        if not re.match(r"[A-Za-z_]", token) or len(token) > _LONGEST_NAME:
            raise self.error(f"a name was expected near {self._near()}, not {token[:60]!r}")
        return token

    def number(self) -> int:
        """Take a plain number."""
        token = self.next()
        if not token.isdecimal() or len(token) > len("4294967296"):
            raise self.error(f"a number was expected near {self._near()}, not {token[:60]!r}")
        return int(token)

    def error(self, text: str) -> UnreadableError:
        """An error with the line of the token that was taken last."""
        return UnreadableError(f"line {self.line}: {text}")

    def _near(self) -> str:
        return repr(" ".join(self._tokens[max(self._at - 6, 0) : self._at + 3])[:200])
