"""Window buffers of a network, evaluated by themselves: an image at full rate  ->  the pixels under each window.

modules, Model, stages of the certificate  ->  WindowOrder

For each stage with the instance `window`: a random image, or two if there is time, goes in, and what comes out must be
the pixels under each window in order, with padding. The buffers only copy data (`dataflow`), so their order is the same
for all images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .beats import run_stage
from .expression import UnreadableError
from .images import beats_of_image
from .machine import Machine, UntranslatableError
from .model import Model, raster
from .modules import Module
from .reference import Integers, UncomputedError, random_image, tensor_format, windows_of

__all__ = ["WindowOrder", "evaluate_windows", "ordered_windows", "padding_of"]

_MOST_WORK = 60_000_000  # statements times cycles, of a stage


@dataclass(kw_only=True)
class WindowOrder:
    """Findings: nodes whose windows are right, others with the reason why they are not evaluated, and faults."""

    right: list[str] = field(default_factory=list)
    unevaluated: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    assumed: set[str] = field(default_factory=set)


def evaluate_windows(modules: Mapping[str, Module], model: Model, stages: Sequence[Mapping[str, Any]]) -> WindowOrder:
    """Evaluate the window buffers of these `stages`."""
    found = WindowOrder()
    for stage in stages:
        placed = modules[stage["module"]].instances.get("window")
        if placed is None:
            continue
        node = model.node(stage["node"], stage["operator"])
        try:
            machine = Machine(modules, placed.kind)
            fault = _evaluated(machine, modules[placed.kind], node, stage)
        except (UncomputedError, UntranslatableError) as error:
            found.unevaluated[node["name"]] = str(error)
            continue
        except UnreadableError as error:
            fault = str(error)
        found.assumed |= machine.assumed
        if fault:
            found.faults.append(f"stage {node['name']} ({stage['operator']}): its window buffer {fault}")
        else:
            found.right.append(node["name"])
    return found


def _evaluated(machine: Machine, module: Module, node: Mapping[str, Any], stage: Mapping[str, Any]) -> str:
    """The faults of a window buffer, empty if there are none."""
    tensor = node["inputs"][0]
    bits = int(tensor["format"]["bits"])
    image = random_image(tensor, 7)
    given, made = ((module.wires[port].width - 1) // bits for port in ("i__payload", "o__payload"))
    ordered = ordered_windows(node, stage, image, padding_of(node), made)
    wanted = beats_of_image(ordered, bits, made)
    sent = beats_of_image(raster(tensor, image), bits, given)
    cycles = 2 * (len(sent) + len(wanted)) + 1000
    if machine.statements * cycles > _MOST_WORK:
        raise UncomputedError(f"{cycles} cycles of {machine.statements} statements are too many")
    images = 2 if machine.statements * cycles * 2 <= _MOST_WORK else 1
    shown = run_stage(machine, {"i": sent * images}, count=len(wanted) * images, most_cycles=cycles * images)
    for at, (beat, expected) in enumerate(zip(shown, wanted * images, strict=True)):
        if beat != expected:
            return f"gives {beat:#x} instead of {expected:#x} as beat {at}"
    return ""


def padding_of(node: Mapping[str, Any]) -> int:
    """The integer that stands outside of the image."""
    tensor = node["inputs"][0]
    return tensor_format(tensor)[0] if node["is"] == "MaxPool" else int(tensor["zero_point"])


def ordered_windows(
    node: Mapping[str, Any], stage: Mapping[str, Any], image: Integers, padding: int, lanes: int
) -> Integers:
    """The elements of `image` under each window, and `padding`, as a window buffer gives them in beats of `lanes`: for
    an array, once for each tile of columns.
    """
    if "window" in node or node["is"] == "LinearResize":
        windows = windows_of(node, image, padding)  # [positions, kernel, channels]
    else:  # the whole image
        tensor = node["inputs"][0]
        windows = raster(tensor, image).reshape(1, -1, tensor["shape"][1])
    positions, kernel, channels = windows.shape
    blocks = _blocks(node, stage, channels, lanes)
    if channels % blocks or channels * kernel // blocks % lanes:
        raise UncomputedError(f"windows of {kernel} x {channels} elements are not whole beats of {lanes}")
    ordered = windows.reshape(positions, kernel, blocks, -1).transpose(0, 2, 1, 3)
    return np.asarray(ordered.reshape(positions, blocks, 1, -1).repeat(_times(node, stage, blocks), axis=2).reshape(-1))


def _blocks(node: Mapping[str, Any], stage: Mapping[str, Any], channels: int, lanes: int) -> int:
    """How many blocks of channels come one after the other, each with all pixels of the window."""
    array = stage.get("array", {})
    if "cols" in array:
        return int(node.get("groups", 1))
    return max(1, channels // lanes)


def _times(node: Mapping[str, Any], stage: Mapping[str, Any], blocks: int) -> int:
    """How often each block of a window comes: for each of the array's tiles of its columns."""
    cols = stage.get("array", {}).get("cols")
    return 1 if cols is None else -(-int(node["output"]["shape"][1]) // (int(cols) * blocks))
