"""Order and flow of a network: what is known of the way in which elements meet, as part of the boundary.

certificate, modules, Model  ->  Ground..., and reasons to refuse
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .boundary import DERIVED, EVALUATED, TESTED, Ground, counted
from .composition import Composition, compose
from .dataflow import Flow, data_flow
from .images import IMAGES, RESETS, Images, UnevaluatedError, evaluate_images
from .misplaced import misplaced_faults
from .model import Model, elements_of
from .modules import Module
from .package import RefusedError, limited
from .products import Products, find_products
from .steered_sums import evaluate_sums
from .streams import numbered_names
from .tagged_images import Places, evaluate_places
from .window_order import evaluate_windows

__all__ = ["Order"]

_WINDOWS = "windows, padding, strides and dilations"
_PLACES = "order of elements on every stream between stages, through gearboxes, forks, FIFOs and joins"
_SUMS = "widths of the adders of arrays: sums at their ends and beyond powers of two, partial sums at their ends"
_ORDER = "sums of the arrays, groups, order of results, addresses of weights in time and repeated pixels at full rate"
_FOR_EVER = "order of elements for ever at full rate"
_STALLS = "order and results for every schedule of valid and ready, and depths of FIFOs that suffice for each"
_ONE_RESET = "every instance with a reset has rst itself as its reset"
_JOINED = "each stream between stages joins one block to one other, its valid, ready and payload as they are"
_ERROR = "error is 1 from two cycles after a tlast that does not end an image until a reset, and 0 otherwise"
_RESET = "reset from every state and in every phase, and power-up without a reset in every phase"
_SCHEDULES = "a random schedule of valid and ready, and with a receiver that waits until all is full"
_MOST_BEATS = 100_000  # of an image, in each of which a tlast is tried
_MOST_NAMES = 4  # of parts of the state in a line
_KIND = re.compile(r"^s\d+_\w+?_(depthwise_)?(?=requantizer|round_near_tie|maximum|lane|tables?$)|_\d+_of_\w+$")
"""Parts of a module's name that do not belong to its kind."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """Data of a network: its `claimed` certificate, `modules`, `model` and `arrays` of NAME_stages.npz."""

    directory: Path
    name: str
    claimed: Mapping[str, Any]
    modules: Mapping[str, Module]
    model: Model
    arrays: Mapping[str, Any]
    progress: Callable[[str], None]

    def grounds(self, reasons: list[str]) -> Iterator[Ground]:
        """Yield what each result rests on; add reasons to refuse to `reasons`. If there is none, evaluate images."""
        moves = [part["module"] for part in self.claimed["stages"] if part["operator"] == "Move"]
        flow = data_flow(self.modules, self.name, moves)
        yield from self._independence(flow, reasons)
        composition = compose(self.modules, self.name)
        reasons += limited(f"{self.name}.v: {fault}" for fault in composition.faults)
        yield from self._errors(reasons)
        if not reasons:
            yield from self._places(flow, reasons)
        if not reasons:
            yield from self._sums(reasons)
        if not reasons:
            yield from self._images(reasons)
        yield from _composed(composition)

    def _independence(self, flow: Flow, reasons: list[str]) -> Iterator[Ground]:
        """Check that no control signal depends on data, and that modules that must move data only copy it."""
        if flow.faults:
            reasons += limited(f"{self.name}.v: {fault}" for fault in sorted(flow.faults))
            return
        kinds = sorted({_KIND.sub("", each.removeprefix(f"{self.name}_")) for each in flow.decisions})
        yield Ground(
            result="every valid, ready, last, address and write enable of streams and memories depends on no data",
            basis=DERIVED,
            detail=f"data decides only in {', '.join(kinds)}, which give data" if kinds else "data decides nothing",
        )
        yield Ground(
            result="window buffers, FIFOs, forks, gearboxes, moves and all before an array only copy data",
            basis=DERIVED,
        )
        yield from self._products(find_products(self.modules, flow), reasons)

    def _products(self, found: Products, reasons: list[str]) -> Iterator[Ground]:
        """Check the products in arrays, and yield the results."""
        reasons += [f"{self.name}.v: module {each} does not give the products of its operands" for each in found.wrong]
        if not (found.multipliers or found.unread):
            return
        evaluated = bool(found.multipliers) and not found.unread
        yield Ground(result="products of the arrays for all operands", basis=EVALUATED if evaluated else TESTED)
        detail = f"data goes through other logic in {', '.join(found.logic)}" if found.logic else ""
        yield Ground(
            result="arrays multiply, add and copy data, and do nothing else with it",
            basis=TESTED if found.logic or found.unread else DERIVED,
            detail=detail,
        )

    def _places(self, flow: Flow, reasons: list[str]) -> Iterator[Ground]:
        """Evaluate images of tagged elements, or else only random images in window buffers, and yield the results."""
        self.progress("tagged images")
        try:
            found = evaluate_places(
                self.modules, self.name, flow, self.model, self.claimed["stages"], image_cycles=self._image_cycles
            )
        except UnevaluatedError as error:
            yield from self._windows(reasons)
            for result in (_PLACES, _FOR_EVER):
                yield Ground(result=result, basis=TESTED, detail=f"not evaluated: {error}")
            return
        reasons += limited(f"{self.name}.v: {reason}" for reason in found.reasons)
        yield from _followed(found)

    @cached_property
    def _image_cycles(self) -> int:
        """The cycles of an image by the plan, which bound the evaluation; nothing else rests on them."""
        plan = self.directory / f"{self.name}_plan.json"
        try:
            return max(1, *(int(stage["image_cycles"]) for stage in json.loads(plan.read_bytes())))
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise RefusedError(f"{plan.name}: cannot be read ({type(error).__name__}: {error})") from error

    def _errors(self, reasons: list[str]) -> Iterator[Ground]:
        """Evaluate the output `error`."""
        pipeline = self.modules[f"{self.name}_pipeline"]
        beats = []
        for source, port in zip(self.model.sources, numbered_names("i", len(self.model.sources)), strict=True):
            lanes = (pipeline.wires[f"{port}__payload"].width - 1) // int(source["format"]["bits"])
            beats.append(-(-elements_of(source) // lanes))
        if max(beats) > _MOST_BEATS:
            yield Ground(result=_ERROR, basis=TESTED, detail=f"not evaluated: an image has {max(beats)} beats")
            return
        found = limited(f"{self.name}.v: {fault}" for fault in misplaced_faults(self.modules, self.name, beats))
        reasons += found
        if not found:
            yield Ground(result=_ERROR, basis=EVALUATED, detail=f"in every beat of an image: {sum(beats)}")

    def _sums(self, reasons: list[str]) -> Iterator[Ground]:
        """Evaluate steered sums of each array by itself."""
        self.progress("sums")
        stages = self.claimed["stages"]
        found = evaluate_sums(self.modules, self.model, stages, image_cycles=self._image_cycles)
        reasons += limited(f"{self.name}.v: {fault}" for fault in found.faults)
        if found.right:
            passed, of = (sum(counts) for counts in zip(*found.right.values(), strict=True))
            detail = f"{passed} of {of} steered sums in {', '.join(found.right)}" + _taken(found.assumed)
            yield Ground(result=_SUMS, basis=EVALUATED, detail=detail)
        for reason in dict.fromkeys(found.unevaluated.values()):
            nodes = ", ".join(node for node, why in found.unevaluated.items() if why == reason)
            yield Ground(result=f"{_SUMS}, in {nodes}", basis=TESTED, detail=f"not evaluated: {reason}")

    def _images(self, reasons: list[str]) -> Iterator[Ground]:
        """Evaluate random images, and yield the results."""
        self.progress("images")
        try:
            found = evaluate_images(
                self.modules,
                self.name,
                self.model,
                self.claimed["stages"],
                self.arrays,
                image_cycles=self._image_cycles,
            )
        except UnevaluatedError as error:
            yield Ground(result=_ORDER, basis=TESTED, detail=f"not evaluated: {error}")
            return
        reasons += limited(f"{self.name}.v: {reason}" for reason in found.reasons)
        yield from _shown(found)

    def _windows(self, reasons: list[str]) -> Iterator[Ground]:
        """Evaluate each window buffer by itself."""
        self.progress("window buffers")
        found = evaluate_windows(self.modules, self.model, self.claimed["stages"])
        reasons += limited(f"{self.name}.v: {fault}" for fault in found.faults)
        if found.right:
            count = len(found.right) + len(found.unevaluated)
            of = f"{len(found.right)} of {counted(count, 'window buffer')}"
            detail = "a random image through each" + _taken(found.assumed)
            result = f"{_WINDOWS} of {of} at full rate"
            yield Ground(result=result, basis=EVALUATED, detail=detail)
        for node, reason in found.unevaluated.items():
            yield Ground(result=f"windows of {node}", basis=TESTED, detail=f"not evaluated: {reason}")


def _composed(found: Composition) -> Iterator[Ground]:
    """The results of the composition, and those that it leaves open."""
    if not found.faults:
        yield Ground(result=_ONE_RESET, basis=DERIVED, detail=counted(found.instances, "instance"))
    yield Ground(result=_JOINED, basis=DERIVED)
    blocks = ", ".join(counted(count, block) for block, count in sorted(found.proven.items()))
    proven = f"systoliq prove proves, at small sizes, the kinds of {blocks}" if blocks else "no block has a proof"
    others = f"; without a proof: {counted(found.others, 'other instance')} with streams" if found.others else ""
    yield Ground(result=_STALLS, basis=TESTED, detail=proven + others)
    yield Ground(result=_RESET, basis=TESTED, detail=proven + others)


def _taken(assumed: set[str]) -> str:
    """The modules that were taken to be memories."""
    return f"; {', '.join(sorted(assumed))} taken to be memories" if assumed else ""


def _followed(found: Places) -> Iterator[Ground]:
    """The results of tagged images."""
    also = [f"{_WINDOWS} of {counted(found.windows, 'window buffer')}"] if found.windows else []
    also += [counted(found.moves, "move")] if found.moves else []
    detail = f"every element tagged, {counted(found.images, 'image')}, {found.cycles} cycles{_taken(found.assumed)}"
    result = "; ".join([_PLACES, *also])
    yield Ground(result=f"{result}: for all data at full rate", basis=EVALUATED, detail=detail)
    for what, reason in found.unread.items():
        yield Ground(result=what, basis=TESTED, detail=f"not evaluated: {reason}")
    if found.period is not None:
        often = f"control and the places of data repeat after {counted(found.period, 'image')}"
        yield Ground(result=_FOR_EVER, basis=EVALUATED, detail=often)
    else:
        detail = f"the state was not seen to repeat in {found.cycles} cycles"
        names = list(dict.fromkeys(found.unrepeated))
        if names:
            detail += f": {', '.join(names[:_MOST_NAMES])}{' and more' * (len(names) > _MOST_NAMES)}"
        yield Ground(result=_FOR_EVER, basis=TESTED, detail=detail)
    if found.is_stalled:
        yield Ground(result=f"order of elements for all data with {_SCHEDULES}", basis=EVALUATED)


def _shown(found: Images) -> Iterator[Ground]:
    """The results of random images."""
    detail = f"all results of all stages for {IMAGES} random images, {found.cycles} cycles{_taken(found.assumed)}"
    yield Ground(result=_ORDER, basis=EVALUATED, detail=detail)
    yield Ground(result=f"reset from {RESETS} arbitrary states, then an image", basis=EVALUATED)
    yield Ground(result="power-up without a reset, then images with stalls", basis=EVALUATED)
    yield Ground(result=f"all results with {_SCHEDULES}", basis=EVALUATED, detail=f"{IMAGES} random images")
