"""Stages that work element by element, read from the Verilog: additions, tables, maxima and constants.

Each lane of a beat is evaluated for every possible case, with registers treated as wires.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .evaluate import Scope, Value
from .expression import UnreadableError
from .modules import Module

__all__ = ["Constants", "Elementwise", "Maximum", "beats_of", "lanes_of", "results_of"]

_BITS = 8  # of an element
_STRIDE = 25_717  # cases between neighbouring lanes: odd, and far from multiples of 256, so that all operands differ


class Elementwise:
    """The module `name` of these: a beat of results for each beat of its `inputs` streams, lane for lane."""

    def __init__(self, modules: Mapping[str, Module], name: str, *, inputs: int) -> None:
        self._modules, self._name = modules, _core(Scope(modules, name))
        self._ports = ["i__payload"] if inputs == 1 else [f"i_{index}__payload" for index in range(inputs)]
        scope = Scope(modules, self._name)
        self.lanes = lanes_of(scope, self._ports[0])
        if scope.connected("fifo", "o__payload") != "o__payload":
            raise UnreadableError(f"module {name} does not give what its FIFO holds")

    def respond(self, cases: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the results of each lane for `cases`: the bytes of each input, equally many per input."""
        count = len(cases[0])
        given = {port: beats_of(column, self.lanes) for port, column in zip(self._ports, cases, strict=True)}
        found = Scope(self._modules, self._name, given).port("fifo", "i__payload")
        beats = [int(beat) for beat in np.broadcast_to(np.asarray(found, object), (count,))]
        if any(beat >> self.lanes * _BITS for beat in beats):
            raise UnreadableError(f"module {self._name} ends images where its input does not")
        return results_of(beats, self.lanes)


class Maximum:
    """The module `core` of the module `name` of these: the maximum of a number of beats, lane by lane."""

    def __init__(self, modules: Mapping[str, Module], name: str) -> None:
        self._core = Scope(modules, name).child("core")
        self.lanes = lanes_of(self._core, "i__payload")

    def respond(self, given: Sequence[int], held: Sequence[int], *, first: bool) -> list[list[int]]:
        """Contents of each lane after `held`, with `given` as the first beat of a window, or as a later one."""
        count = len(given)
        beats = {"i__payload": beats_of(given, self.lanes), "comes": 1, "first": int(first), "rst": 0}
        holds = beats_of(held, self.lanes)
        nets = [f"greatest_{lane}" for lane in range(self.lanes)]
        kept = {net: holds >> lane * _BITS & 0xFF for lane, net in enumerate(nets)}
        scope = self._core.again(beats | kept)
        results = []
        for lane, net in enumerate(nets):
            found = [int(y) for y in np.broadcast_to(np.asarray(scope.next(net, 0, _BITS), object), (count,))]
            back = lane * _STRIDE % count
            results.append(found[count - back :] + found[: count - back])
        shown = scope.value("o__payload", 0, self.lanes * _BITS)
        if not np.array_equal(shown, holds):
            raise UnreadableError("the lanes' maxima are not the output in order")
        return results


class Constants:
    """The module `name` of these: elements in a memory, over and over."""

    def __init__(self, modules: Mapping[str, Module], name: str) -> None:
        self._scope = Scope(modules, name)
        self.lanes = (self._scope.module.wires["o__payload"].width - 1) // _BITS

    def elements(self, count: int) -> list[int]:
        """The first `count` elements, as bytes."""
        address = np.array(range(count // self.lanes), dtype=object)
        found = self._scope.child("rom", {"address": address}).value("word")
        net = self._scope.connected("rom", "word")
        beats = self._scope.again({net: found, "at_last": 0}).port("fifo", "i__payload")
        words = [int(word) for word in np.broadcast_to(np.asarray(beats, object), address.shape)]
        return [word >> lane * _BITS & 0xFF for word in words for lane in range(self.lanes)]


def _core(scope: Scope) -> str:
    """The module that works on pairs: the one of `scope`, or its core if a replay repeats one input."""
    instances, name = scope.module.instances, scope.module.name
    if "core" not in instances:
        return name
    for index in range(2):
        way = (scope.connected("core", f"i_{index}__payload"),)
        if way[0] == scope.connected("replay", "o__payload"):
            way = (scope.connected("replay", "i__payload"),)
        if way != (f"i_{index}__payload",):
            raise UnreadableError(f"module {name} does not give its input {index} to its core")
    if scope.connected("core", "o__payload") != "o__payload":
        raise UnreadableError(f"module {name} does not give what its core gives")
    return instances["core"].kind


def lanes_of(scope: Scope, port: str) -> int:
    """Number of elements in a beat, excluding the bit that ends an image."""
    return (scope.module.wires[port].width - 1) // _BITS


def results_of(beats: Sequence[int], lanes: int) -> list[list[int]]:
    """The bytes of each lane, by case, from the beats of `beats_of`'s cases."""
    results = []
    for lane in range(lanes):
        shifted = [beat >> lane * _BITS & 0xFF for beat in beats]
        back = lane * _STRIDE % len(beats)
        results.append(shifted[len(beats) - back :] + shifted[: len(beats) - back])
    return results


def beats_of(column: Sequence[int], lanes: int) -> Value:
    """Return a beat for each case of `column`; its lane l has the case l strides later."""
    cases = np.array(column, dtype=object)
    beats: Value = sum(np.roll(cases, -lane * _STRIDE) << lane * _BITS for lane in range(lanes))
    return beats
