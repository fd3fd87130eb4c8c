"""The output `error` of a network: evaluated for a `tlast` in every beat of an image.

modules, beats of an image by input  ->  faults
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .evaluate import Scope
from .machine import Machine
from .modules import Module
from .streams import numbered_names

__all__ = ["misplaced_faults"]

_LATER = 4  # cycles for which `error` must stay


def misplaced_faults(modules: Mapping[str, Module], name: str, beats: Sequence[int]) -> Iterator[str]:
    """Yield faults of `error` in the network `name`, whose inputs have these `beats` an image.

    Raises UnreadableError if its connections cannot be followed.
    """
    top = Scope(modules, name)
    several = len(beats) > 1
    labels = numbered_names("last_check", len(beats))
    errors = [top.connected(label, "error") for label in labels]
    for value in range(1 << len(errors)):
        given = {net: value >> index & 1 for index, net in enumerate(errors)}
        if top.again(given).value("error") != int(value != 0):
            yield f"module {name}: error must be 1 if {' or '.join(labels)} says so, and only then"
            return
    for index, (label, count) in enumerate(zip(labels, beats, strict=True)):
        stream = f"s_axis_a{index if several else ''}"
        for case in range(8):
            valid, ready, last = case & 1, case >> 1 & 1, case >> 2
            given = {f"{stream}_tvalid": valid, f"{stream}_tready": ready, f"{stream}_tlast": last}
            seen = top.again(given)
            if (seen.port(label, "taken"), seen.port(label, "last")) != (valid & ready, last):
                yield f"module {name}: {label} does not look at the beats of {stream}"
                break
        if fault := _fault(Machine(modules, modules[name].instances[label].kind), count):
            yield f"module {modules[name].instances[label].kind}: {fault}"


def _fault(machine: Machine, beats: int) -> str:
    """Why `error` of a check of `beats` an image is wrong; empty if it is right."""

    def step(*, taken: int = 0, last: int = 0, rst: int = 0) -> int:
        given = {"taken": taken, "last": last, "rst": rst}
        return machine.step(*(given[port] for port in machine.inputs))[0]

    step(rst=1)
    start = machine.state
    for beat in range(beats):
        is_end = beat == beats - 1
        step(last=1)  # which is not taken
        before = machine.state
        step(taken=1, last=1)
        if [step(), *(step() for _ in range(_LATER))] != [0, *[int(not is_end)] * _LATER]:
            return f"a tlast in beat {beat} of {beats} {'sets error' if is_end else 'must set error, which then stays'}"
        step(rst=1)
        if machine.state != start:
            return f"a reset after a tlast in beat {beat} of {beats} must give the state after every reset"
        machine.state = before
        if step(taken=1, last=int(is_end)) or step():
            return f"sets error in beat {beat} of {beats}, with every tlast in its place"
    step()
    return "" if machine.state == start else f"does not begin again after {beats} beats"
