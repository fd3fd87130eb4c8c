"""Contents of a depthwise product's Verilog: weights and lanes of a stage in which each channel has its own sum.

Read in the same way as `Hardware` reads a dense layer. Lane l serves channel l of each group of channels, and has its
own element, whose weights are part l of the words of one memory.
"""

from __future__ import annotations

from collections.abc import Mapping

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
        if not self.lanes or n % self.lanes or any(f"array_{lane}" not in instances for lane in range(self.lanes)):
            raise UnreadableError(f"{self.lanes} lanes do not make {n} channels")
        self._check_elements()
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
        return {"lanes": self.lanes}

    def weights(self) -> list[list[int]]:
        """The stored weights, [K][N]."""
        groups = self.n // self.lanes
        address = np.array(range(groups * self.k), dtype=object)
        scope = self.core
        if len(address) > 1 or "address" in self.core.module.instances["sequencer"].ports:  # one word may have none
            scope = self.core.again({self.core.connected("sequencer", "address"): address})
        weights = [[0] * self.n for _ in range(self.k)]
        for lane in range(self.lanes):
            words = np.broadcast_to(np.asarray(scope.port(f"array_{lane}", "b"), object), address.shape)
            for at, word in enumerate(words):
                group, k = divmod(at, self.k)
                value = as_signed(word, self.weight_bits) if self.b_signed else word
                weights[k][group * self.lanes + lane] = int(value)
        return weights

    def lane(self, n: int, *, sums: Value, row_sum: int) -> Scope:
        """See `Lanes.lane`; there are no sums of A."""
        group, lane = divmod(n, self.lanes)
        core = self.core.again({self.core.connected(f"array_{lane}", "sums"): sums})
        return core.child(f"lane_{lane}", {"index": group, "tile": group, "rst": 0})

    def _check_elements(self) -> None:
        """Element l must take part l of a beat, and lane l its sums."""
        bits = self.core.port_width("array_0", "a")
        marks = [(lane + 1) % (1 << bits) for lane in range(self.lanes)]
        beat = {"i__payload": sum(mark << lane * bits for lane, mark in enumerate(marks))}
        taken = self.core.again(beat | {"i__valid": 1, "i__ready": 1, "rst": 0})
        for lane, mark in enumerate(marks):
            if taken.port(f"array_{lane}", "a") != mark:
                raise UnreadableError(f"element {lane} does not take part {lane} of a beat")
            net = self.core.connected(f"array_{lane}", "sums")
            if any(self.core.again({net: sums}).port(f"lane_{lane}", "sums") != sums for sums in (0, 1)):
                raise UnreadableError(f"lane {lane} does not read the sums of element {lane}")
