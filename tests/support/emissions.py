"""Emissions kept for a process: a design that was emitted before is not elaborated again.

What is kept is found by the name and by `configuration`, by which an `Emission` tells blocks apart. Tests that replace
parts of systoliq by pytest's `monkeypatch` find nothing and leave nothing.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from amaranth.lib import wiring

from systoliq.hw.hierarchy import Emission, Written, configuration, mark_used

__all__ = ["forget", "keep"]

COUNT = 100
SIZE = 3_000_000  # characters of RTLIL; larger ones are few, and not repeated


class Kept(NamedTuple):
    """What an emission of a top was made from, and gave."""

    name: str
    made_from: dict[str, object]
    text: str
    ports: dict[str, list[str]]
    written: list[Written]


kept: deque[Kept] = deque(maxlen=COUNT)


def forget() -> None:
    """Forget all emissions."""
    kept.clear()


def keep() -> None:
    """Let `Emission.rtlil` keep what it gives."""
    convert = Emission.rtlil

    def rtlil(self: Emission, top: wiring.Component, name: str) -> str:
        made_from: Any = type(top), configuration(top)
        for each in kept:
            if each.name == name and each.made_from == made_from:
                mark_used(top)
                self.ports.update(each.ports)
                self.written += each.written
                return each.text
        text = convert(self, top, name)
        if len(text) < SIZE:
            kept.append(Kept(name, made_from, text, dict(self.ports), list(self.written)))
        return text

    Emission.rtlil = rtlil  # type: ignore[method-assign]
