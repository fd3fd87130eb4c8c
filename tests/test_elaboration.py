"""Parts of Amaranth that the tests replace: the same text and the same keys, from parts as they were and as they are.

The record of emitted hardware was made with the parts as they were, so that its test compares all blocks.
"""

from __future__ import annotations

import pytest
from amaranth.hdl import ClockSignal, Module, ResetSignal, Signal
from amaranth.hdl._ast import SignalDict, Statement, Value

from systoliq.hw.hierarchy import Emission

from .emitted.exemplars import EXEMPLARS
from .support import elaboration


def text() -> str:
    return Emission("top").rtlil(EXEMPLARS["engine of one element"](), "top")


def test_the_text_is_the_same(monkeypatch):
    replaced = text()
    for (owner, name), original in elaboration.ORIGINALS.items():
        monkeypatch.setattr(owner, name, original)
    assert text() == replaced


def test_keys_of_signals_are_those_of_their_kind():
    signals = [Signal(name="a"), Signal(name="a"), ClockSignal(), ResetSignal(), ClockSignal("other")]
    known = SignalDict(zip(signals, range(5), strict=True))
    assert [known[each] for each in [*signals[:2], ClockSignal(), ResetSignal(), ClockSignal("other")]] == [*range(5)]
    assert all(found is each for found, each in zip(known, signals, strict=True))
    with pytest.raises(TypeError, match="is not an Amaranth signal"):
        known[signals[0] + 1] = 5


def test_values_are_values_and_statements_are_statements():
    m, a = Module(), Signal(8)
    m.d.comb += a.eq(1)
    (statement,) = m._statements["comb"]
    assert [isinstance(each, Value) for each in (a, a[1:], a + 1, statement, 1)] == [True, True, True, False, False]
    assert [isinstance(each, Statement) for each in (statement, a)] == [True, False]
