"""Sums of a network's arrays, steered to where a narrow adder fails: images through each stage by itself.

modules, Model, stages of the certificate  ->  SteeredSums

Windows of an image are filled so that the sum of one column is the greatest or the least there is, just passes a power
of two, or consists of partial sums at their ends. All results of the stage must equal what the Reference computes.
Random images leave the upper bits of most sums unused; these do not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .beats import run_stage
from .expression import UnreadableError
from .float32 import Format
from .images import beats_of_image
from .machine import Machine, UntranslatableError
from .model import Model, elements_of, picks, raster
from .modules import Module
from .reference import Integers, Reference, UncomputedError, random_image, tensor_format

__all__ = ["SteeredSums", "evaluate_sums"]

_MOST_WORK = 2_000_000  # statements times cycles, of a stage
_MOST_WORK_OF_ONE = 25_000_000  # statements times cycles of a single image
_MOST_IMAGES = 1000
_MARGIN = 1000  # cycles until the first result
_RUNS = (1, 2, 4)  # neighbouring products that are at the same end
_POWERS = 4  # powers of two below the greatest sum


@dataclass(kw_only=True)
class SteeredSums:
    """Findings: how many steered sums each node passed, of how many; other nodes with the reason; and faults."""

    right: dict[str, tuple[int, int]] = field(default_factory=dict)
    unevaluated: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    assumed: set[str] = field(default_factory=set)


def evaluate_sums(
    modules: Mapping[str, Module], model: Model, stages: Sequence[Mapping[str, Any]], *, image_cycles: int
) -> SteeredSums:
    """Evaluate the convolutions and dense layers among these `stages`; an image takes at most `image_cycles`."""
    found = SteeredSums()
    placed = {str(stage["node"]) for stage in stages}
    for stage in stages:
        if stage["operator"] not in ("Convolution", "Dense"):
            continue
        node = model.node(stage["node"], stage["operator"])
        try:
            machine = Machine(modules, stage["module"])
            passed, fault = _evaluated(machine, modules[stage["module"]], model, node, placed, image_cycles)
        except (UncomputedError, UntranslatableError) as error:
            found.unevaluated[node["name"]] = str(error)
            continue
        except UnreadableError as error:
            passed, fault = (0, 0), str(error)
        found.assumed |= machine.assumed
        if fault:
            found.faults.append(f"stage {node['name']} ({stage['operator']}): {fault}")
        else:
            found.right[node["name"]] = passed
    return found


def _evaluated(
    machine: Machine, module: Module, model: Model, node: Mapping[str, Any], placed: set[str], image_cycles: int
) -> tuple[tuple[int, int], str]:
    """How many steered sums were evaluated of how many, and the fault, empty if there is none."""
    work = machine.statements * image_cycles  # of an image
    if work > _MOST_WORK_OF_ONE:
        raise UncomputedError(f"an image of {image_cycles} cycles needs more than {_MOST_WORK_OF_ONE} statements")
    most = min(_MOST_IMAGES, max(1, _MOST_WORK // work))
    reference = Reference(model, _no_entries)
    x, y = node["inputs"][0], node["output"]
    images, counts = _images(reference, node, _steered(reference, node), most)
    sent, expected = [], []
    for image, made in zip(images, reference.products(node, images), strict=True):
        sent += beats_of_image(_streamed(image, node, model, placed), *_beat(module, "i", x))
        expected += beats_of_image(raster(y, made), *_beat(module, "o", y))
    cycles = 2 * len(images) * image_cycles + _MARGIN
    shown = run_stage(machine, {"i": sent}, count=len(expected), most_cycles=cycles)
    fault = next(
        (
            f"beat {at} of images that steer its sums is {beat:#x} instead of {right:#x}"
            for at, (beat, right) in enumerate(zip(shown, expected, strict=True))
            if beat != right
        ),
        "",
    )
    return counts, fault


def _streamed(image: Integers, node: Mapping[str, Any], model: Model, placed: set[str]) -> Integers:
    """The elements of an `image` of the input of `node` in the order of its stream. A move before it that is not a
    stage, such as Flatten, is in the order of the weights instead.
    """
    (tensor,) = node["inputs"]
    elements = raster(tensor, image)
    producers = {each["output"]["name"]: each for each in model.nodes.values()}
    while (move := producers.get(tensor["name"])) is not None and move["is"] == "Move" and move["name"] not in placed:
        chosen = picks(move)
        (tensor,) = move["inputs"]
        if sorted(chosen) != list(range(elements_of(tensor))):
            raise UncomputedError(f"the move {move['name']} before it leaves elements out")
        before = np.empty_like(elements)
        before[chosen] = elements
        elements = before
    return elements


def _no_entries(node: str, index: int) -> Any:
    raise UncomputedError(f"{node} has no table {index}")


def _beat(module: Module, port: str, tensor: Mapping[str, Any]) -> tuple[int, int]:
    """Bits of an element, and elements of a beat."""
    bits = int(tensor["format"]["bits"])
    return bits, (module.wires[f"{port}__payload"].width - 1) // bits


def _steered(reference: Reference, node: Mapping[str, Any]) -> list[Iterator[Integers]]:
    """For each group of channels, operands [k] that steer the sums of its columns: one of each column, then another."""
    b, b_zero_points, biases = reference.weights(node)
    tensor = node["inputs"][0]
    form, zero_point = tensor_format(tensor), int(tensor["zero_point"])
    size = b.shape[1] // int(node.get("groups", 1))
    found = []
    for first in range(0, b.shape[1], size):
        columns = [_column(np.ones_like(b[:, first]), 0, form, zero_point, first)]  # sums of A, for zero points of B
        for n in range(first, first + size):
            columns.append(_column(b[:, n] - b_zero_points[n], int(biases[n]), form, zero_point, n))
            if b_zero_points[n]:  # which the array does not subtract
                columns.append(_column(b[:, n], 0, form, zero_point, n))
        found.append(_in_turn(columns))
    return found


def _in_turn(rows: Sequence[Iterator[Integers]]) -> Iterator[Integers]:
    """The first of each, then the second of each."""
    return (each for several in itertools.zip_longest(*rows) for each in several if each is not None)


def _column(w: Integers, bias: int, form: Format, zero_point: int, seed: int) -> Iterator[Integers]:
    """Operands [k] that steer the sum of a column with the weights `w` [k]."""
    rng = np.random.default_rng(seed)
    low, high = form
    most = np.where(w > 0, high, np.where(w < 0, low, zero_point))
    least = np.where(w > 0, low, np.where(w < 0, high, zero_point))
    parts = (np.where(rng.integers(0, 2, -(-len(w) // run)).repeat(run)[: len(w)], most, least) for run in _RUNS)
    beyond = [
        _beyond_powers(w, constant, ends, sign, zero_point, rng)
        for constant in dict.fromkeys((zero_point * int(w.sum()), bias))  # beside the terms, in sums of a w and of all
        for ends, sign in ((most, 1), (least, -1))
    ]
    yield most
    yield least
    yield from _in_turn([*beyond, parts])


def _beyond_powers(
    w: Integers, constant: int, ends: Integers, sign: int, zero_point: int, rng: np.random.Generator
) -> Iterator[Integers]:
    """Operands whose sum, with `constant`, just needs each number of bits, the most first."""
    terms = sign * (ends - zero_point) * w
    greatest = (sign * constant + int(terms.sum())).bit_length() - 1
    for bits in range(greatest, max(0, greatest - _POWERS), -1):
        yield from _just_beyond((1 << bits) + (sign < 0) - sign * constant, terms, ends, zero_point, rng)


def _just_beyond(
    target: int, terms: Integers, ends: Integers, zero_point: int, rng: np.random.Generator
) -> Iterator[Integers]:
    """Operands of which some are at their `ends`, and one on its way, so that the terms add up to `target` or hardly
    more; none if they cannot.
    """
    if not 0 < target <= terms.sum():
        return
    order = rng.permutation(len(terms))
    at = int(np.searchsorted(np.cumsum(terms[order]), target))
    last = order[at]
    row = np.full(len(terms), zero_point)
    row[order[:at]] = ends[order[:at]]
    distance = int(ends[last]) - zero_point
    step = int(terms[last]) // abs(distance)
    missing = target - int(terms[order[:at]].sum())
    row[last] = zero_point + -(-missing // step) * (1 if distance > 0 else -1)
    yield row


def _images(
    reference: Reference, node: Mapping[str, Any], wanted: Sequence[Iterator[Integers]], most: int
) -> tuple[list[Integers], tuple[int, int]]:
    """At most `most` images whose windows hold the `wanted` operands of each group; and how many they hold, of all."""
    tensor = node["inputs"][0]
    shape = [1, *(int(size) for size in tensor["shape"][1:])]
    places = reference.rows(node, np.arange(np.prod(shape)).reshape(shape), -1)  # elements, -1 for padding
    inside = (places >= 0).sum(axis=(0, 2))
    whole = np.flatnonzero(inside == inside.max())  # positions with the least padding
    images: list[Integers] = []
    held, following = 0, [next(rows, None) for rows in wanted]
    while len(images) < most and any(row is not None for row in following):
        image = random_image(tensor, len(images))
        free = np.ones(image.size, bool)
        for position in whole:
            for group, rows in enumerate(wanted):
                row, place = following[group], places[group, position]
                pixels = place >= 0
                if row is not None and free[place[pixels]].all():
                    image.reshape(-1)[place[pixels]] = row[pixels]
                    free[place[pixels]] = False
                    held, following[group] = held + 1, next(rows, None)
        images.append(image)
    left = sum(row is not None for row in following) + sum(1 for rows in wanted for _ in rows)
    return images, (held, held + left)
