"""Images through a whole network, evaluated cycle by cycle: what every stage gives, compared with the Reference.

modules, Model, stages' modules  ->  Images; random images, at full rate, after each other, from power-up; others with
stalls; and an image after a reset from an arbitrary state

The control of the network does not depend on data (`dataflow`), so the order in which elements meet is the same for all
images. An order that is wrong gives other results for random images, but for chance. `tagged_images` shows the order
between stages and under windows for all data; these images also show the sums, and the order within stages.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .beats import RESET_CYCLES
from .machine import Machine, UntranslatableError
from .model import Model, raster
from .modules import Module
from .reference import Reference, UncomputedError, random_image

__all__ = ["IMAGES", "RESETS", "Images", "UnevaluatedError", "beats_of_image", "evaluate_images"]

IMAGES = 3  # random ones, one after the other
_MOST_IMAGES = 300  # the first one again and again, until all is full
RESETS = 2  # from the inverted state of power-up, and from a random one
_MOST_WORK = 25_000_000  # statements times cycles, of one run
_PATIENCE = 4  # cycles in which nothing comes, in times of those that an image took by the plan


@dataclass(kw_only=True)
class Images:
    """Findings: `cycles` evaluated, `reasons` of differences; `assumed` modules were taken to be memories."""

    cycles: int = 0
    reasons: list[str] = field(default_factory=list)
    assumed: set[str] = field(default_factory=set)


class UnevaluatedError(Exception):
    """The network is not evaluated, for the stated reason."""


@dataclass(frozen=True)
class _Stream:
    """A stage's output; the observed values from `at` on are its payload, valid and ready."""

    label: str
    at: int
    expected: list[list[int]]  # beats of each image


def evaluate_images(
    modules: Mapping[str, Module],
    name: str,
    model: Model,
    stages: Sequence[Mapping[str, Any]],
    arrays: Mapping[str, Any],
    *,
    image_cycles: int,
) -> Images:
    """Evaluate images of the network `name` with these `stages` of its certificate; the plan says `image_cycles`.

    Raises UnevaluatedError if it is too large, or something in it is not evaluated.
    """
    if len(model.sources) != 1 or len(model.outputs) != 1:
        raise UnevaluatedError("it has several inputs or outputs")
    placed = {each.kind: each.name for each in modules[f"{name}_pipeline"].instances.values()}
    observed = [
        (f"pipeline.{placed[stage['module']]}.", f"o__{what}")
        for stage in stages
        for what in ("payload", "valid", "ready")
    ]
    try:
        machine = Machine(modules, name, observed=observed)
        filled = Machine(modules, name, observed=observed, unknown=1)
    except UntranslatableError as error:
        raise UnevaluatedError(str(error)) from error
    if machine.statements * image_cycles * (IMAGES + 2) > _MOST_WORK:
        raise UnevaluatedError(
            f"an image takes {image_cycles} cycles of {machine.statements} statements, which is too much"
        )
    bench = _Bench(name, modules, model, stages, arrays)
    found = Images(assumed=machine.assumed)
    patience = _PATIENCE * image_cycles + 1000
    most_cycles = _MOST_WORK // machine.statements
    _Run(bench, machine, found, patience).some(IMAGES)
    for fill in (_inverted, _drawn(random.Random(0))):
        if not found.reasons:
            filled.reset_to_power_up(fill)
            _Run(bench, filled, found, patience, "after a reset from an arbitrary state: ").some(1)
    if not found.reasons:
        machine.reset_to_power_up()
        _Run(
            bench, machine, found, patience, "from power-up, with stalls: ", stalls=random.Random(RESETS), resets=0
        ).some(IMAGES)
    if not found.reasons:
        machine.reset_to_power_up()
        _Run(bench, machine, found, patience, "after a receiver that waited: ").blocked(most_cycles // 4)
    return found


def _inverted(bits: int, initial: int) -> int:
    """Return a value of a register that has no bit of the value at power-up: no register without a reset escapes."""
    return ~initial & (1 << bits) - 1


def _drawn(rng: random.Random) -> Callable[[int, int], int]:
    return lambda bits, initial: rng.getrandbits(bits)


class _Bench:
    """The beats of random images, and what each stage gives for them."""

    def __init__(
        self,
        name: str,
        modules: Mapping[str, Module],
        model: Model,
        stages: Sequence[Mapping[str, Any]],
        arrays: Mapping[str, Any],
    ) -> None:
        (self._source,) = model.sources
        self.width = modules[f"{name}_pipeline"].wires["i__payload"].width - 1
        bits = int(self._source["format"]["bits"])
        lanes = self.width // bits
        prefix = f"{name}_"
        of_nodes = {stage["node"]: str(stage["module"]).removeprefix(prefix) for stage in stages}
        reference = Reference(model, lambda node, index: arrays[f"{of_nodes[node]}/entries_{index}"])
        try:
            images = [random_image(self._source, seed) for seed in range(IMAGES)]
            known = [reference.tensors({self._source["name"]: image}) for image in images]
        except UncomputedError as error:
            raise UnevaluatedError(str(error)) from error
        self.inputs = [beats_of_image(raster(self._source, image), bits, lanes) for image in images]
        self.streams = []
        for index, stage in enumerate(stages):
            if stage["operator"] == "Constant":
                continue
            output = model.node(stage["node"], stage["operator"])["output"]
            bits = int(output["format"]["bits"])
            lanes = (modules[stage["module"]].wires["o__payload"].width - 1) // bits
            expected = [beats_of_image(raster(output, each[output["name"]]), bits, lanes) for each in known]
            label = f"stage {stage['node']} ({stage['operator']})"
            self.streams.append(_Stream(label, 3 * index, expected))


class _Run:
    """A run of a `machine` from `resets` cycles of a reset on, or from power-up if there is none.

    Sends images, and notes the first difference of each stage in `found`.

    It ends if for `patience` cycles no stage has taken or given anything. `stalls` decides at random whether a beat
    comes, and whether one is taken; without it both always happen.
    """

    def __init__(
        self,
        bench: _Bench,
        machine: Machine,
        found: Images,
        patience: int,
        when: str = "",
        stalls: random.Random | None = None,
        resets: int = RESET_CYCLES,
    ) -> None:
        self._stalls = stalls
        self._bench, self._machine, self._found, self._patience, self._when = bench, machine, found, patience, when
        self._given = dict.fromkeys(machine.inputs, 0) | {"m_axis_y_tready": 1, "rst": 1}
        self._ready, self._error = (machine.outputs.index(port) for port in ("s_axis_a_tready", "error"))
        self._done = [0] * len(bench.streams)  # beats of each stage
        self._sent = self._quiet = 0
        self._held = False  # whether a beat has come that was not taken
        for _ in range(resets):
            machine.step(*self._given.values())
        self._given["rst"] = 0

    def some(self, images: int) -> None:
        """Send the first `images`."""
        while not self._found.reasons and not self._finished(images) and self._cycle(images):
            pass

    def blocked(self, most_cycles: int) -> None:
        """Take nothing until nothing more comes, or for `most_cycles`; then take all that was sent."""
        self._given["m_axis_y_tready"] = 0
        for _ in range(most_cycles):
            if self._quiet > self._patience // 4 or self._found.reasons or not self._cycle(_MOST_IMAGES):
                break
        self._given["m_axis_y_tready"] = 1
        self.some(-(-self._sent // len(self._bench.inputs[0])))

    def _finished(self, images: int) -> bool:
        return all(
            done >= images * len(stream.expected[0])
            for done, stream in zip(self._done, self._bench.streams, strict=True)
        )

    def _cycle(self, images: int) -> bool:
        """One cycle, in which a beat of the `images` comes if there is one left; whether it may go on."""
        bench, given = self._bench, self._given
        image, place = divmod(self._sent, len(bench.inputs[0]))
        comes = image < images
        if self._stalls is not None:
            given["m_axis_y_tready"] = self._stalls.randrange(2)
            comes = comes and (self._held or bool(self._stalls.randrange(2)))
        beat = bench.inputs[image if image < IMAGES else 0][place] if comes else 0
        given["s_axis_a_tvalid"] = int(comes)
        given["s_axis_a_tdata"], given["s_axis_a_tlast"] = beat & (1 << bench.width) - 1, beat >> bench.width
        shown = self._machine.step(*given.values())
        self._found.cycles += 1
        self._quiet += 1
        self._held = comes and not shown[self._ready]
        if comes and shown[self._ready]:
            self._sent, self._quiet = self._sent + 1, 0
        if shown[self._error]:
            self._found.reasons.append(f"{self._when}error is set")
        for index, stream in enumerate(bench.streams):
            payload, valid, ready = shown[len(self._machine.outputs) + stream.at :][:3]
            if valid and ready:
                self._quiet = 0
                self._compare(index, stream, payload)
        if self._quiet < self._patience:
            return True
        self._found.reasons += [
            f"{stream.label}: {self._when}gives {done} beats, and no more in {self._patience} cycles"
            for done, stream in zip(self._done, bench.streams, strict=True)
        ]
        return False

    def _compare(self, index: int, stream: _Stream, payload: int) -> None:
        image, place = divmod(self._done[index], len(stream.expected[0]))
        wanted = stream.expected[image if image < IMAGES else 0][place]
        if payload != wanted:
            self._found.reasons.append(
                f"{stream.label}: {self._when}beat {place} of image {image} is {payload:#x} instead of {wanted:#x}"
            )
        self._done[index] += 1


def beats_of_image(elements: Any, bits: int, lanes: int) -> list[int]:
    """The beats of an image; the last has the bit above the data."""
    mask = (1 << bits) - 1
    codes = [int(element) & mask for element in elements]
    beats = [
        sum(code << lane * bits for lane, code in enumerate(codes[at : at + lanes]))
        for at in range(0, len(codes), lanes)
    ]
    beats[-1] |= 1 << lanes * bits
    return beats
