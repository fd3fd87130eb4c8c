"""Concatenations, read from the Verilog: the order of the inputs' beats, and the table of each input.

The counter of beats is stepped through a whole pixel from its reset; registers between are treated as wires.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .elements import beats_of, lanes_of, results_of
from .evaluate import Scope
from .expression import UnreadableError
from .modules import Module

__all__ = ["Parts"]

_STATE = ("at", "at_last", "turn")  # registers: all 0 before the first beat


class Parts:
    """The module `name` of these, a concatenation with `inputs` inputs."""

    def __init__(self, modules: Mapping[str, Module], name: str, *, inputs: int) -> None:
        self._name = name
        self._scope = Scope(modules, name)
        self._ports = ["i"] if inputs == 1 else [f"i_{index}" for index in range(inputs)]
        wires = self._scope.module.wires
        given = [port for port in wires if port.startswith("i") and port.endswith("__payload") and port in self._inputs]
        if sorted(given) != sorted(f"{port}__payload" for port in self._ports):
            raise UnreadableError(f"module {name} has the inputs {', '.join(sorted(given))}, not {inputs}")
        self._state = [net for net in _STATE if net in wires]
        self.lanes = lanes_of(self._scope, f"{self._ports[0]}__payload")
        if self._scope.connected("fifo", "o__payload") != "o__payload":
            raise UnreadableError(f"module {name} does not give what its FIFO holds")

    @property
    def _inputs(self) -> frozenset[str]:
        return frozenset(self._scope.module.inputs)

    def turns(self, count: int) -> list[int]:
        """Whose beat each of the first `count` is; after them all must begin again."""
        ready = {"rst": 0, "room_any": 1} | {f"{port}__valid": 1 for port in self._ports}
        state = dict.fromkeys(self._state, 0)
        found = []
        for _ in range(count):
            scope = self._scope.again(ready | state)
            taken = [index for index, port in enumerate(self._ports) if scope.value(f"{port}__ready")]
            if len(taken) != 1 or taken[0] != state.get("turn", 0):
                raise UnreadableError(f"module {self._name} takes beats of {taken} in the turn of {state}")
            found += taken
            state = {net: int(scope.next(net, 0, scope.module.wires[net].width)) for net in state}
        if any(state.values()):
            raise UnreadableError(f"module {self._name} does not begin again after {count} beats")
        return found

    def respond(self, index: int, codes: Sequence[int]) -> list[list[int]]:
        """The results of each lane for bytes of the input `index` in turn; `last` must be the last input's."""
        bits = self.lanes * 8
        beats = beats_of(codes, self.lanes)
        turn = {"turn": index} if "turn" in self._state else {}
        others = {f"{port}__payload": (1 << bits) - 1 for port in self._ports}
        words = []
        for last in (0, 1):
            given = others | turn | {f"{self._ports[index]}__payload": last << bits | beats}
            found = self._scope.again(given).port("fifo", "i__payload")
            words.append([int(word) for word in np.broadcast_to(np.asarray(found, object), (len(codes),))])
        ends = (1 << bits) if index == len(self._ports) - 1 else 0
        if any(word >> bits for word in words[0]) or words[1] != [word | ends for word in words[0]]:
            raise UnreadableError(f"module {self._name} ends images where its last input does not")
        return results_of(words[0], self.lanes)
