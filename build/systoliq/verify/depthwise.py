"""Contents of a depthwise product's Verilog: weights and lanes of a stage in which each channel has its own sum.

Read in the same way as `Hardware` reads a dense layer. Each channel of a group has an element, whose weights are a part
of the words of one memory. Of L lanes, lane l serves the channels l, L + l, ... of each group, one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .evaluate import Scope, Value, as_signed
from .expression import UnreadableError
from .lanes import Lanes
from .modules import Module

__all__ = ["Depthwise"]


class Depthwise(Lanes):
    """The module `name` of these, K x N: column n is the weights of channel n alone."""

    def __init__(
        self, modules: Mapping[str, Module], name: str, *, k: int, n: int, b_signed: bool, y_signed: bool
    ) -> None:
        self.k, self.n, self.b_signed, self.y_signed = k, n, b_signed, y_signed
        self.core = Scope(modules, name).child("core")
        instances = self.core.module.instances
        self.lanes = sum(instance.startswith("lane_") for instance in instances)
        self._elements = sum(instance.startswith("array_") for instance in instances)
        if not self.lanes or not self._elements or self._elements % self.lanes or n % self._elements:
            raise UnreadableError(f"{self._elements} elements and {self.lanes} lanes do not make {n} channels")
        self._interval = self._elements // self.lanes
        self._channel = self._channels_of_elements()
        for element, channel in enumerate(self._channel):
            step, lane = divmod(channel, self.lanes)
            if self._element_of(lane, step) != element:
                raise UnreadableError(f"lane {lane} does not read the sums of element {element} at step {step}")
        self.check_outputs()

    @property
    def accumulator_bits(self) -> int:
        """Width of an element's sums."""
        return self.core.port_width("array_0", "sums")

    @property
    def weight_bits(self) -> int:
        """Width of a stored weight."""
        return self.core.port_width("array_0", "b")

    def array(self, a_bits: int) -> dict[str, int]:
        """Its sizes; raises `UnreadableError` if the operands of A have another width."""
        if (found := self.core.port_width("array_0", "a")) != a_bits:
            raise UnreadableError(f"takes A in {found} bits, which is not {a_bits}")
        return {"lanes": self._elements}

    def weights(self) -> list[list[int]]:
        """The stored weights, [K][N]."""
        groups = self.n // self._elements
        address = np.array(range(groups * self.k), dtype=object)
        scope = self.core
        if len(address) > 1 or "address" in self.core.module.instances["sequencer"].ports:  # one word may have none
            scope = self.core.again({self.core.connected("sequencer", "address"): address})
        weights = [[0] * self.n for _ in range(self.k)]
        for element, channel in enumerate(self._channel):
            words = np.broadcast_to(np.asarray(scope.port(f"array_{element}", "b"), object), address.shape)
            for at, word in enumerate(words):
                group, k = divmod(at, self.k)
                value = as_signed(word, self.weight_bits) if self.b_signed else word
                weights[k][group * self._elements + channel] = int(value)
        return weights

    def lane(self, n: int, *, sums: Value, row_sum: int) -> Scope:
        """See `Lanes.lane`; there are no sums of A."""
        group, channel = divmod(n, self._elements)
        step, lane = divmod(channel, self.lanes)
        return self._lane_at(lane, step, group, [sums] * self._elements)

    def _lane_at(self, lane: int, step: int, group: int, sums: Sequence[Value]) -> Scope:
        shown = {self.core.connected(f"array_{element}", "sums"): value for element, value in enumerate(sums)}
        index = group << (self._interval - 1).bit_length() | step
        return self.core.again(shown).child(f"lane_{lane}", {"index": index, "step": step, "tile": group, "rst": 0})

    def _channels_of_elements(self) -> list[int]:
        """The part of a beat that each element takes: each part shows its own number there."""
        bits = self.core.port_width("array_0", "a")
        digits = -(-self._elements.bit_length() // bits)  # of the numbers, from 1 on
        found = [0] * self._elements
        for digit in range(digits):
            marks = [(channel + 1) >> digit * bits & (1 << bits) - 1 for channel in range(self._elements)]
            beat = {"i__payload": sum(mark << channel * bits for channel, mark in enumerate(marks))}
            taken = self.core.again(beat | {"i__valid": 1, "i__ready": 1, "rst": 0})
            for element in range(self._elements):
                found[element] |= int(taken.port(f"array_{element}", "a")) << digit * bits
        if sorted(found) != list(range(1, self._elements + 1)):
            raise UnreadableError("elements do not take a part of a beat each")
        return [number - 1 for number in found]

    def _element_of(self, lane: int, step: int) -> int | None:
        """The element whose sum `lane` reads at `step`; None if it is not one alone."""
        marks = [range(self._elements), [self._elements - 1 - element for element in range(self._elements)]]
        bits = min(self.accumulator_bits, self.sum_bits)
        none, first, last = (
            int(self._lane_at(lane, step, 0, sums).port("requantizer", "acc"))
            for sums in ([0] * self._elements, *marks)
        )
        found, opposite = (first - none) % (1 << bits), (last - none) % (1 << bits)
        return found if found + opposite == self._elements - 1 else None
