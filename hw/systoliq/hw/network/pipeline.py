"""Pipeline: the stages of a network, joined by streams."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from amaranth.hdl import Module, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..fifo import Fifo
from ..hierarchy import mark_used, place
from ..result_buffer import y_beat
from ..timeline import Steps, Timeline
from .fork import Fork, fork_timed
from .gearbox import Gearbox
from .skid_stage import skid_stage, skid_timed

__all__ = ["Buffer", "Inlet", "Joint", "Outlet", "Pipeline", "port_names", "stream_letters"]


def port_names(letter: str, count: int) -> list[str]:
    """Return the names of ``count`` streams: ``letter`` if there is one, else ``<letter>_0`` and on."""
    return [letter] if count == 1 else [f"{letter}_{index}" for index in range(count)]


def stream_letters(letter: str, count: int) -> tuple[str, ...]:
    """Return the letters in the names of ``count`` streams: ``letter`` if there is one, else with a number, from 0."""
    return (letter,) if count == 1 else tuple(f"{letter}{index}" for index in range(count))


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Joint:
    """A stage's ``component`` in a pipeline: it gives the stream ``name`` and takes those called ``inputs``.

    ``waiting``: for each of these, how many of its own beats may wait before it; 0 for none.
    """

    name: str
    component: wiring.Component
    inputs: tuple[str, ...]
    waiting: tuple[int, ...] = ()

    def port(self, index: int) -> stream.Interface:
        """The stream that takes the input ``index``."""
        found: stream.Interface = getattr(self.component, port_names("i", len(self.inputs))[index])
        return found


@dataclasses.dataclass(frozen=True, kw_only=True)
class Inlet:
    """The stream ``name`` that enters a pipeline, in beats of ``lanes`` elements of ``shape``.

    ``waiting``: how many beats may wait at the port until stages take them; 0 for none.
    """

    name: str
    shape: Shape
    lanes: int
    waiting: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outlet:
    """The stream ``name`` of a stage that leaves a pipeline.

    ``waiting``: how many beats may wait at the port until the receiver takes them; 0 for none.
    """

    name: str
    waiting: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Buffer:
    """A FIFO or a window buffer: its instance's ``path`` below the pipeline, and ``words`` that name it.

    ``alone``: every path from an input to an output passes through it. It is full, then, where all outputs stop for
    long and no input does; others need not be, as another way may be full before. ``holds``: beats that are
    inside then, None where that is not known.
    """

    path: str
    words: str
    alone: bool
    holds: int | None = None


class Pipeline(wiring.Component):
    """``joints`` from the streams ``inputs`` to those called ``outputs``.

    The output of a joint is distributed to all joints that need it, and converted to their beats.

    The ports are ``i`` and ``o``, or ``i_0`` and on, ``o_0`` and on, if there are several. Each moves in its own time.
    Raises ValueError if a stream has no taker.
    """

    kind = "pipeline"

    def __init__(
        self, joints: Sequence[Joint], *, inputs: Sequence[Inlet], outputs: Sequence[Outlet], cells: str
    ) -> None:
        self.joints = list(joints)
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.cells = cells
        self.input_ports = port_names("i", len(inputs))
        self.output_ports = port_names("o", len(outputs))
        made = {joint.name: joint for joint in self.joints}
        given = {
            port: In(stream.Signature(y_beat(each.shape, each.lanes)))
            for port, each in zip(self.input_ports, inputs, strict=True)
        }
        left = {
            port: Out(stream.Signature(made[each.name].component.o.payload.shape()))
            for port, each in zip(self.output_ports, outputs, strict=True)
        }
        super().__init__({**given, **left})
        untaken = {*made, *(each.name for each in inputs)}
        untaken -= {name for joint in self.joints for name in joint.inputs} | {each.name for each in outputs}
        if untaken:
            raise ValueError(f"every stream must have a taker, but nobody takes {', '.join(sorted(untaken))}")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for joint in self.joints:
            m.submodules[joint.component.kind] = place(joint.component, platform)
        ways: dict[str, list[stream.Interface]] = {}
        owners = port_names("source", len(self.inputs))
        for inlet, port, owner in zip(self.inputs, self.input_ports, owners, strict=True):
            given = self._behind_fifo(m, platform, wiring.flipped(getattr(self, port)), inlet.waiting, port)
            ways[inlet.name] = self._ways(m, platform, inlet.name, given, owner)
        for joint in self.joints:
            ways[joint.name] = self._ways(m, platform, joint.name, joint.component.o, joint.component.kind)
        for joint in self.joints:
            for index, name in enumerate(joint.inputs):
                waiting = joint.waiting[index] if joint.waiting else 0
                label = f"{joint.component.kind}_{index}"
                fifo = self._fifo(joint.port(index).payload.shape(), waiting) if waiting else None
                self._lead(m, platform, ways[name].pop(0), joint.port(index), fifo, label)
        for outlet, port in zip(self.outputs, self.output_ports, strict=True):
            given = self._behind_fifo(m, platform, ways[outlet.name].pop(0), outlet.waiting, port)
            wiring.connect(m, given, wiring.flipped(getattr(self, port)))
        for joint in self.joints:
            self._show(m, joint)
        return m

    def timed(self, images: Sequence[int]) -> dict[str, Steps]:
        """Return when the beats of an image leave at each output, by its port, where neither side waits.

        ``images``: the beats of an image at each input; all begin in cycle 0.
        """
        line = Timeline()
        ways: dict[str, list[Steps]] = {}
        for inlet, beats in zip(self.inputs, images, strict=True):
            given = line.steps(beats, start=0)
            if inlet.waiting:
                given = self._fifo(y_beat(inlet.shape, inlet.lanes), inlet.waiting).timed(line, given)
            ways[inlet.name] = self._ways_timed(line, inlet.name, given)
        for joint in self.joints:
            if joint.inputs:  # constants are always there
                taken = [
                    self._lead_timed(line, ways[name].pop(0), joint, index) if name in ways else None
                    for index, name in enumerate(joint.inputs)
                ]
                left = joint.component.timed(line, *taken)
                ways[joint.name] = self._ways_timed(line, joint.name, left)
        found = {}
        for outlet, port in zip(self.outputs, self.output_ports, strict=True):
            left = ways[outlet.name].pop(0)
            if outlet.waiting:
                left = self._fifo(getattr(self, port).payload.shape(), outlet.waiting).timed(line, left)
            found[port] = left
        line.solve()
        return found

    def tap(self, name: str) -> str:
        """Prefix of the nets of a stage's output stream, for observers: ``_valid``, ``_ready`` and ``_data`` follow."""
        return f"tap_{next(joint.component.kind for joint in self.joints if joint.name == name)}"

    @property
    def buffers(self) -> list[Buffer]:
        """FIFOs and window buffers: at inputs, then of the stages in their order, then at outputs."""
        found = [self._at_port(port, each.waiting) for port, each in zip(self.input_ports, self.inputs, strict=True)]
        for joint in self.joints:
            kind = joint.component.kind
            for index, waiting in enumerate(joint.waiting):
                if waiting:
                    words = f"the FIFO before input {index} of {kind}"
                    holds = self._fifo(joint.port(index).payload.shape(), waiting).holds
                    found.append(Buffer(path=f"fifo_{kind}_{index}", words=words, alone=False, holds=holds))
            if getattr(joint.component, "buffer", None) is not None:
                words = f"the window buffer of {kind}"
                found.append(Buffer(path=f"{kind}.window", words=words, alone=self._alone(joint)))
        found += [self._at_port(port, each.waiting) for port, each in zip(self.output_ports, self.outputs, strict=True)]
        return [each for each in found if each is not None]

    def _at_port(self, port: str, waiting: int) -> Buffer | None:
        """The FIFO at a port; None without one."""
        if not waiting:
            return None
        holds = self._fifo(getattr(self, port).payload.shape(), waiting).holds
        return Buffer(path=f"fifo_{port}", words=f"the FIFO at {port}", alone=False, holds=holds)

    def _fifo(self, payload: object, depth: int) -> Fifo:
        """A new one for ``depth`` beats of ``payload``."""
        fifo = Fifo(payload, depth=depth, cells=self.cells)
        mark_used(fifo)
        return fifo

    def _alone(self, joint: Joint) -> bool:
        """True if every path from an input to an output includes ``joint``."""
        reached = {each.name for each in self.inputs}
        for each in self.joints:
            if each is not joint and reached & set(each.inputs):
                reached.add(each.name)
        return not reached & {each.name for each in self.outputs}

    def _show(self, m: Module, joint: Joint) -> None:
        given, tap = joint.component.o, self.tap(joint.name)
        for what, value in (
            ("valid", given.valid),
            ("ready", given.ready),
            ("data", Value.cast(given.payload.data)),
        ):
            net = Signal(len(value), name=f"{tap}_{what}", attrs={"keep": 1})
            m.d.comb += net.eq(value)

    def _ways(
        self, m: Module, platform: object, name: str, given: stream.Interface, owner: str
    ) -> list[stream.Interface]:
        """The stream ``given`` once for each of its takers; ``owner`` names the fork."""
        takers = self._takers(name)
        if takers == 1:
            return [given]
        given = skid_stage(m, platform, given, name=f"fork_{owner}")
        fork = Fork(given.payload.shape(), ways=takers)
        m.submodules[f"fork_{owner}"] = place(fork, platform)
        wiring.connect(m, given, fork.i)
        return [getattr(fork, f"o_{way}") for way in range(takers)]

    def _takers(self, name: str) -> int:
        """Number of joints and outputs that take the stream ``name``."""
        return sum(joint.inputs.count(name) for joint in self.joints) + sum(each.name == name for each in self.outputs)

    def _ways_timed(self, line: Timeline, name: str, given: Steps) -> list[Steps]:
        """The beats of the stream ``name`` for each of its takers."""
        takers = self._takers(name)
        return [given] if takers == 1 else fork_timed(line, skid_timed(line, given), ways=takers)

    def _behind_fifo(
        self, m: Module, platform: object, given: stream.Interface, waiting: int, label: str
    ) -> stream.Interface:
        """The stream ``given`` as it is, or behind a FIFO if beats may wait."""
        if not waiting:
            return given
        fifo = self._fifo(given.payload.shape(), waiting)
        m.submodules[f"fifo_{label}"] = place(fifo, platform)
        wiring.connect(m, given, fifo.i)
        return fifo.o

    def _lead(
        self,
        m: Module,
        platform: object,
        given: stream.Interface,
        taker: stream.Interface,
        fifo: Fifo | None,
        label: str,
    ) -> None:
        """The stream ``given`` to its ``taker``: by registers, in its width, behind a FIFO where beats may wait, whose
        memory may be far from the taker.
        """
        of = given.payload.data.shape().length
        given = skid_stage(m, platform, given, name=label)
        for gearbox in _gearboxes(of, taker):
            m.submodules[f"gearbox_{int(gearbox.to > gearbox.of)}_{label}"] = place(gearbox, platform)
            wiring.connect(m, given, gearbox.i)
            given = gearbox.o
        if fifo is not None:
            m.submodules[f"fifo_{label}"] = place(fifo, platform)
            wiring.connect(m, given, fifo.i)
            given = skid_stage(m, platform, fifo.o, name=f"fifo_{label}")
        wiring.connect(m, given, taker)

    def _lead_timed(self, line: Timeline, given: Steps, joint: Joint, index: int) -> Steps:
        """The beats of its input ``index`` that ``joint`` takes, from those that are ``given``: see `_lead`."""
        taken = skid_timed(line, given)
        for gearbox in _gearboxes(self._lanes(joint.inputs[index]), joint.port(index)):
            mark_used(gearbox)
            taken = gearbox.timed(line, taken)
        if joint.waiting and joint.waiting[index]:
            fifo = self._fifo(joint.port(index).payload.shape(), joint.waiting[index])
            taken = skid_timed(line, fifo.timed(line, taken))
        return taken

    def _lanes(self, name: str) -> int:
        """Elements in a beat of the stream ``name``."""
        for inlet in self.inputs:
            if inlet.name == name:
                return inlet.lanes
        lanes: int = next(each for each in self.joints if each.name == name).component.o.payload.data.shape().length
        return lanes


def _gearboxes(of: int, taker: stream.Interface) -> list[Gearbox]:
    """From beats of ``of`` elements to beats of ``taker``."""
    shape = taker.payload.data.shape()
    between = math.lcm(of, shape.length)  # so that neither side waits: by the greatest common divisor they would
    sizes = ((of, between), (between, shape.length))
    return [Gearbox(shape.elem_shape, of=before, to=after) for before, after in sizes if before != after]
