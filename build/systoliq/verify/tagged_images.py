"""Images of tagged elements through a whole network: where each element goes, for all data.

modules, Flow, Model, stages of the certificate  ->  Places

Every element of an image has a tag of its own, and so has every result of a stage. The images go through at full rate.
On every stream between two stages, behind every window buffer and behind every move, the right elements must come in
order, with constants in places of padding, and `last` on the last beat of an image alone. As nothing else depends on
data (`dataflow`), this is the order of all images. It stays so for ever once all that does not depend on data, and the
places of all tags, are as they were when an earlier image began.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .beats import RESET_CYCLES
from .dataflow import Flow
from .images import UnevaluatedError
from .machine import UntranslatableError
from .model import Model, elements_of, numbered, picks
from .modules import Module
from .reference import Integers, UncomputedError
from .streams import INPUT
from .tagged import TaggedMachine
from .tagged_beats import PADDING, PHASES, Beats, TaggedStream
from .window_order import ordered_windows, padding_of

__all__ = ["Places", "evaluate_places"]

_STILL, _STILL_WAITING = 4, 24  # times the cycles without any beat that one stream may have none while others move
_MOST_WORK = 2_000_000_000  # statements times cycles
_MOST_SEARCHED = 25_000_000  # the same, for the state to repeat
_LATENCY = 4  # images, by the plan's cycles of one, in which the first two have left
_LEAST_IMAGES = 2  # that must leave: one, and its joint with the next


@dataclass(kw_only=True)
class Places:
    """Findings: `cycles` evaluated, `images` that left every stage, `windows` and `moves` compared, and faults.

    `is_stalled`: images have also gone through with stalls. `unread`: what is not compared, with a reason. `assumed`
    modules were taken to be memories. `period`: images after which the state repeats; if it was not seen to, this is
    None, and `unrepeated` names parts of the state.
    """

    cycles: int = 0
    images: int = 0
    is_stalled: bool = False
    windows: int = 0
    moves: int = 0
    period: int | None = None
    reasons: list[str] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    assumed: set[str] = field(default_factory=set)
    unrepeated: list[str] = field(default_factory=list)


def evaluate_places(
    modules: Mapping[str, Module],
    name: str,
    flow: Flow,
    model: Model,
    stages: Sequence[Mapping[str, Any]],
    *,
    image_cycles: int,
) -> Places:
    """Send tagged images through the network `name` with these `stages`; the plan says `image_cycles`.

    Raises UnevaluatedError if it is too large, or something in it is not evaluated.
    """
    found = Places()
    network = _Network(modules, name, model, stages, found)
    try:
        machine = network.machine(flow)
    except UntranslatableError as error:
        raise UnevaluatedError(str(error)) from error
    found.assumed = machine.assumed
    least = machine.statements * image_cycles * _LATENCY
    if least > _MOST_WORK:
        raise UnevaluatedError(
            f"an image takes {image_cycles} cycles of {machine.statements} statements, which is too much"
        )
    patience, searched = _LATENCY * image_cycles + 1000, _MOST_SEARCHED // machine.statements
    _Run(machine, network, found).go(patience=patience, searched=searched)
    if not found.reasons and 2 * least <= _MOST_SEARCHED:
        machine.reset_to_power_up()
        _Run(machine, network, found, stalls=random.Random(0)).go(patience=patience, searched=0)
        machine.reset_to_power_up()
        _Run(machine, network, found, waits=image_cycles + 100).go(patience=patience, searched=0)
        found.is_stalled = True
    return found


class _Network:
    """The streams of a network, and the tags on them."""

    def __init__(
        self,
        modules: Mapping[str, Module],
        name: str,
        model: Model,
        stages: Sequence[Mapping[str, Any]],
        found: Places,
    ) -> None:
        self._modules, self._name, self._found = modules, name, found
        pipeline = modules[f"{name}_pipeline"]
        self._placed = {each.kind: f"pipeline.{each.name}." for each in pipeline.instances.values()}
        numbers = [""] if len(model.sources) == 1 else [str(at) for at in range(len(model.sources))]
        self._sources = {f"{INPUT}{at}": tensor for at, tensor in zip(numbers, model.sources, strict=True)}
        self._tensors = dict(self._sources)
        for stage in stages:
            if stage["operator"] != "Constant":
                self._tensors[stage["module"]] = model.node(stage["node"], stage["operator"])["output"]
        most = max(elements_of(tensor) * _bits(tensor) for tensor in self._tensors.values())
        self.tag_bits = (PHASES * most + 2).bit_length()
        self.sent = [self._sent(port) for port in self._sources]
        self.streams = [each for stage in stages for each in self._of(model, stage)]

    def machine(self, flow: Flow) -> TaggedMachine:
        """The evaluator: it shows payload, valid and ready of each stream."""
        fresh = {(each.path, f"{each.port}__payload"): each.data_input for each in self.streams if each.data_input}
        observed = [
            (each.path, f"{each.port}__{what}") for each in self.streams for what in ("payload", "valid", "ready")
        ]
        return TaggedMachine(self._modules, self._name, flow, tag_bits=self.tag_bits, fresh=fresh, observed=observed)

    def _sent(self, port: str) -> TaggedStream:
        """An input of the network."""
        tensor = self._sources[port]
        number = port.removeprefix(INPUT)
        lanes = _lanes(self._modules[f"{self._name}_pipeline"], f"i_{number}" if number else "i", tensor)
        stream = self._stream("", "", port, tensor, lanes, np.arange(elements_of(tensor)), 0)
        stream.data_input, stream.last_input = f"{port}_tdata", f"{port}_tlast"
        return stream

    def _of(self, model: Model, stage: Mapping[str, Any]) -> Iterator[TaggedStream]:
        """The streams of a stage: what it takes, its windows, and what it gives."""
        if stage["operator"] == "Constant":
            return
        node = model.node(stage["node"], stage["operator"])
        label, path = f"stage {stage['node']} ({stage['operator']})", self._placed[stage["module"]]
        module = self._modules[stage["module"]]
        ports = sorted(port.removesuffix("__payload") for port in module.inputs if port.endswith("__payload"))
        for port, giver in zip(ports, stage["takes"], strict=True):
            if giver in self._tensors:
                tensor = self._tensors[giver]
                yield self._at(f"{label}: its input", path, module, port, tensor, np.arange(elements_of(tensor)))
        if "window" in module.instances:
            yield from self._windows(node, stage, label, path)
        tensor = self._tensors[stage["module"]]
        given = np.arange(elements_of(tensor))
        if node["is"] == "Move":
            self._found.moves += 1
            of = self._tensors[stage["takes"][0]]
            yield self._at(f"{label}: its output", path, module, "o", of, picks(node))
        stream = self._at(f"{label}: its output", path, module, "o", tensor, given)
        stream.data_input = f"fresh_{stage['module']}"
        yield stream

    def _windows(
        self, node: Mapping[str, Any], stage: Mapping[str, Any], label: str, path: str
    ) -> Iterator[TaggedStream]:
        """The output of a window buffer."""
        tensor, taken = node["inputs"][0], self._tensors.get(stage["takes"][0])
        module = self._modules[self._modules[stage["module"]].instances["window"].kind]
        try:
            if taken is None or taken["name"] != tensor["name"]:
                raise UncomputedError("what it takes is moved before")
            image = numbered(tensor)
            ordered = ordered_windows(node, stage, image, PADDING, _lanes(module, "o", tensor))
        except UncomputedError as error:
            self._found.unread[f"windows of {node['name']}"] = str(error)
            return
        self._found.windows += 1
        yield self._at(f"{label}: its window buffer", f"{path}window.", module, "o", tensor, ordered, padding_of(node))

    def _at(
        self,
        label: str,
        path: str,
        module: Module,
        port: str,
        tensor: Mapping[str, Any],
        elements: Integers,
        padding: int = 0,
    ) -> TaggedStream:
        return self._stream(label, path, port, tensor, _lanes(module, port, tensor), elements, padding)

    def _stream(
        self, label: str, path: str, port: str, tensor: Mapping[str, Any], lanes: int, elements: Integers, padding: int
    ) -> TaggedStream:
        """The stream of `elements` of a tensor, by their places in its own stream."""
        if len(elements) % lanes:
            raise UnevaluatedError(f"{label} has {len(elements)} elements in beats of {lanes}")
        bits = _bits(tensor)
        constant = padding & (1 << bits) - 1
        beats = Beats(elements.tolist(), elements_of(tensor), bits, lanes, constant, self.tag_bits)
        return TaggedStream(label=label, path=path, port=port, beats=beats)


class _Run:
    """Tagged images from a reset on, at full rate, and searched for a state that repeats.

    With `stalls`, it is random whether beats come and are taken; with `waits`, none is taken until nothing has moved
    for that number of cycles.
    """

    def __init__(
        self,
        machine: TaggedMachine,
        network: _Network,
        found: Places,
        stalls: random.Random | None = None,
        waits: int = 0,
    ) -> None:
        self._stalls, self._blocked = stalls, waits
        self._when = "with stalls: " if stalls is not None else "after a receiver that waited: " if waits else ""
        for stream in (*network.sent, *network.streams):
            stream.rewind()
        self._held = [False] * len(network.sent)  # whether a beat has come that was not taken
        self._machine, self._network, self._found = machine, network, found
        self._ready = [machine.outputs.index(f"{stream.port}_tready") for stream in network.sent]
        self._quiet, self._least = 0, _LEAST_IMAGES
        self._seen: list[tuple[Any, ...]] = []  # states in which images begin

    def go(self, *, patience: int, searched: int) -> None:
        """Send images until all streams have had some, and until the state repeats or `searched` cycles are over."""
        machine, streams, sent, found = self._machine, self._network.streams, self._network.sent, self._found
        given = dict.fromkeys(machine.inputs, 0)
        given |= {port: 1 for port in machine.inputs if port.endswith("_tready")} | {"rst": 1}
        for _ in range(RESET_CYCLES):
            machine.step(*given.values())
        given["rst"] = 0
        given |= {f"{stream.port}_tvalid": 1 for stream in sent}
        for stream in (*sent, *streams):
            given |= stream.given()
        most = patience * (_STILL_WAITING if self._blocked else _STILL)
        while not found.reasons and self._quiet <= patience and max([each.still for each in streams]) <= most:
            if not self._when:
                if not sent[0].place and sent[0].images == len(self._seen):
                    self._begins(sent[0].images)
                found.images = min([each.images for each in streams])
            if (found.period is not None or found.cycles >= searched) and all(
                each.images >= self._least for each in streams
            ):
                break
            self._cycle(given)
        found.reasons += [
            f"{self._when}{each.label} has {each.done} beats, and no more in {patience} cycles"
            for each in streams
            if self._quiet > patience or each.still > most
        ]
        if found.period is None and not self._when:
            found.unrepeated = self._unrepeated()

    def _begins(self, image: int) -> None:
        """Note the state in which an image begins."""
        state = self._state(image)
        if self._found.period is None and state in self._seen:
            self._found.period = image - self._seen.index(state)
        self._seen.append(state)

    def _unrepeated(self) -> list[str]:
        """The parts of the state that are as never before."""
        if len(self._seen) <= PHASES:
            return []
        columns = zip(*(state[-len(self._machine.state_names) :] for state in self._seen), strict=True)
        named = zip(self._machine.state_names, columns, strict=True)
        return [name for name, (*before, last) in named if last not in before]

    def _state(self, image: int) -> tuple[Any, ...]:
        """All that the evaluation depends on from here on."""
        streams = [*self._network.sent, *self._network.streams]
        return (image % PHASES, *(each.done - image * len(each.beats) for each in streams), *self._machine.snapshot())

    def _cycle(self, given: dict[str, int]) -> None:
        if self._stalls is not None:
            self._stall(given, self._stalls)
        elif self._when:
            self._block(given)
        shown = self._machine.step(*given.values())
        self._found.cycles += 1
        self._quiet += 1
        for place, stream in enumerate(self._network.sent):
            comes, ready = given[f"{stream.port}_tvalid"], shown[self._ready[place]]
            self._held[place] = bool(comes and not ready)
            if comes and ready:
                self._quiet = 0
                stream.advance()
                given |= stream.given()
        at = len(self._machine.outputs)
        for stream in self._network.streams:
            if shown[at + 1] and shown[at + 2]:
                self._quiet = 0
                if (shown[at] ^ stream.beat) >> stream.unread_bits:
                    self._differs(stream, shown[at])
                stream.advance()
                given |= stream.given()
            else:
                stream.still += 1
            at += 3

    def _stall(self, given: dict[str, int], stalls: random.Random) -> None:
        """Decide whether beats come and are taken; a beat that was offered stays."""
        for stream, is_held in zip(self._network.sent, self._held, strict=True):
            given[f"{stream.port}_tvalid"] = 1 if is_held else stalls.randrange(2)
        for port in given:
            if port.endswith("_tready"):
                given[port] = stalls.randrange(2)

    def _block(self, given: dict[str, int]) -> None:
        """Take nothing until nothing has moved for long enough."""
        if self._blocked and self._quiet > self._blocked:
            self._blocked = self._quiet = 0
            self._least += max(each.images for each in self._network.sent)
        given |= {port: int(not self._blocked) for port in given if port.endswith("_tready")}

    def _differs(self, stream: TaggedStream, payload: int) -> None:
        is_last = (payload ^ stream.beat) >> stream.beats.data_bits
        what = "another last" if is_last else "other elements than the network's"
        where = f"beat {stream.place} of image {stream.images}"
        self._found.reasons.append(f"{self._when}{stream.label} has {what} in {where}")


def _bits(tensor: Mapping[str, Any]) -> int:
    return int(tensor["format"]["bits"])


def _lanes(module: Module, port: str, tensor: Mapping[str, Any]) -> int:
    """Elements of `tensor` in a beat of a stream `port`, which has `last` beside them."""
    return (module.wires[f"{port}__payload"].width - 1) // _bits(tensor)
