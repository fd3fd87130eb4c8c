"""Moves, derived again: the place of every element in the stream, compared with the movement of the network's node.

Stage  ->  Machine, through which marked images go at full rate  ->  Found

Each element is marked by its number in the stream, some bits at a time, and by the complement of these bits. That the
places are the same for all data follows if the module only moves data, which `dataflow` shows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .beats import run_stage
from .expression import UnreadableError
from .machine import Machine, UntranslatableError
from .model import elements_of, picks
from .package import RefusedError
from .stage import Found, Stage

__all__ = ["move"]

_IMAGES = 2  # one after the other, so that every part of the memory is used and begins again
_MOST_CYCLES = 400_000  # of all runs together; a stage that needs more is tested


def move(stage: Stage) -> Found:
    """All elements of a move."""
    node = stage.model.node(stage.claimed["node"], "Move")
    wanted = picks(node)
    elements = elements_of(node["inputs"][0])
    bits = int(node["output"]["format"]["bits"])
    lanes = _lanes(stage, bits)
    if elements % lanes or len(wanted) % lanes:
        raise RefusedError(f"{lanes} lanes do not divide {elements} elements, and {len(wanted)} of the output")
    facts = {
        "verdict": "exact",
        "lanes": lanes,
        "picks_sha256": hashlib.sha256(wanted.astype("<i8").tobytes()).hexdigest(),
    }
    cycles = _IMAGES * 2 * (elements + len(wanted)) // lanes + 1000
    marks = range(0, max(1, (elements - 1).bit_length()), bits)
    if 2 * len(marks) * cycles > _MOST_CYCLES:
        return Found(facts=facts, tried="", tested=True)
    try:
        machine = Machine(stage.modules, stage.module)
    except UntranslatableError as error:
        raise RefusedError(f"{stage.verilog}: module {stage.module} {error}") from error
    found = np.zeros(_IMAGES * len(wanted), np.int64)
    mask = (1 << bits) - 1
    for low in marks:
        true, false = (_shown(machine, elements, len(wanted), bits, lanes, low, flip, cycles) for flip in (0, mask))
        if ((true ^ false) != mask).any():
            raise UnreadableError(f"module {stage.module} gives something else than elements of its input")
        found |= true << low
    reasons = []
    if (wrong := np.flatnonzero(found != np.tile(wanted, _IMAGES))).size:
        at = int(wrong[0])
        reasons.append(
            f"{stage.verilog}: {wrong.size} of {_IMAGES} x {len(wanted)} elements are others than the network's, first "
            f"element {at}: {found[at]} instead of {wanted[at % len(wanted)]}"
        )
    return Found(
        facts=(facts | {"verdict": "differs"}) if reasons else facts,
        tried=f"the places of {len(wanted)} elements in {lanes} lane{'s' if lanes > 1 else ''}",
        reasons=reasons,
    )


def _lanes(stage: Stage, bits: int) -> int:
    """Elements in a beat, by the width of the ports."""
    wires = stage.modules[stage.module].wires
    found = {(wires[port].width - 1) / bits for port in ("i__payload", "o__payload")}
    if len(found) != 1 or (lanes := found.pop()) != int(lanes) or lanes < 1:
        raise UnreadableError(f"the ports of module {stage.module} do not have whole elements of {bits} bits")
    return int(lanes)


def _shown(
    machine: Machine, elements: int, made: int, bits: int, lanes: int, low: int, flip: int, cycles: int
) -> npt.NDArray[np.int64]:
    """Bits `low` and up of the numbers of the elements that images give, exclusive-or `flip`."""
    mask = (1 << bits) - 1
    image = _beats([(element >> low & mask) ^ flip for element in range(elements)], bits, lanes)
    machine.reset_to_power_up()
    beats = run_stage(machine, {"i": image * _IMAGES}, count=_IMAGES * made // lanes, most_cycles=cycles)
    ends = [beat >> bits * lanes for beat in beats]
    if ends != ([0] * (made // lanes - 1) + [1]) * _IMAGES:
        raise UnreadableError("ends images at other beats")
    return np.array([beat >> lane * bits & mask for beat in beats for lane in range(lanes)], np.int64)


def _beats(elements: Sequence[int], bits: int, lanes: int) -> list[int]:
    """The beats of an image, the last one marked."""
    beats = [
        sum(element << lane * bits for lane, element in enumerate(elements[at : at + lanes]))
        for at in range(0, len(elements), lanes)
    ]
    beats[-1] |= 1 << lanes * bits
    return beats
