"""Streams driven at full rate: a Machine and the beats of its inputs  ->  the beats of its output.

Ports belong to stages: PORT__payload (data, and above it `last`), PORT__valid, PORT__ready.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .expression import UnreadableError
from .machine import Machine

__all__ = ["RESET_CYCLES", "run_stage"]

RESET_CYCLES = 1
"""Cycles of a reset: one resets every design (docs/integration.md)."""


def run_stage(
    machine: Machine, inputs: Mapping[str, Sequence[int]], *, count: int, most_cycles: int, output: str = "o"
) -> list[int]:
    """Return the first `count` beats of `output` if every input always has a beat and every output beat is taken.

    `inputs` has the beats of each input stream, by port. Raises UnreadableError if this takes more than `most_cycles`.
    """
    names = machine.inputs
    given = dict.fromkeys(names, 0) | {"rst": 1, f"{output}__ready": 1}
    for _ in range(RESET_CYCLES):
        machine.step(*(given[name] for name in names))
    given["rst"] = 0
    at = dict.fromkeys(inputs, 0)
    payload, valid = (machine.outputs.index(f"{output}__{what}") for what in ("payload", "valid"))
    ready = {port: machine.outputs.index(f"{port}__ready") for port in inputs}
    found: list[int] = []
    for _ in range(most_cycles):
        for port, beats in inputs.items():
            more = at[port] < len(beats)
            given[f"{port}__valid"], given[f"{port}__payload"] = int(more), beats[at[port]] if more else 0
        shown = machine.step(*(given[name] for name in names))
        for port in inputs:
            at[port] += given[f"{port}__valid"] & shown[ready[port]]
        if shown[valid]:
            found.append(shown[payload])
            if len(found) == count:
                return found
    raise UnreadableError(f"gives {len(found)} beats instead of {count} in {most_cycles} cycles")
