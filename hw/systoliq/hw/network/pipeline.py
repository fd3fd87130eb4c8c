"""Pipeline: the stages of a network, joined by streams."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from amaranth.hdl import Module, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..hierarchy import mark_used, place
from ..result_buffer import y_beat
from .fifo import Fifo
from .fork import Fork
from .gearbox import Gearbox
from .skid_stage import skid_stage

__all__ = ["Buffer", "Joint", "Pipeline"]


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
        found: stream.Interface = getattr(self.component, "i" if len(self.inputs) == 1 else f"i_{index}")
        return found


@dataclasses.dataclass(frozen=True, kw_only=True)
class Buffer:
    """A FIFO or a window buffer: its instance's ``path`` below the pipeline, and its size in ``words``.

    ``alone``: every path from the source to the output passes through it. It is full, then, where the output stops for
    long and the source does not; others need not be, as another way may be full before. ``holds``: beats that are
    inside then, None where that is not known.
    """

    path: str
    words: str
    alone: bool
    holds: int | None = None


class Pipeline(wiring.Component):
    """``joints`` from the stream ``source`` to that called ``output``.

    The output of a joint is distributed to all joints that need it, and converted to their beats.

    ``i`` has beats of ``lanes`` elements of ``shape``. Every other
    stream must have a taker.
    """

    kind = "pipeline"

    def __init__(
        self, joints: Sequence[Joint], *, source: str, shape: Shape, lanes: int, output: str, cells: str
    ) -> None:
        self.joints = list(joints)
        self.source = source
        self.output = output
        self.cells = cells
        self.lanes = lanes
        self.shape = shape
        made = {joint.name: joint for joint in self.joints}
        last = made[output].component.o.payload.shape()
        super().__init__({"i": In(stream.Signature(y_beat(shape, lanes))), "o": Out(stream.Signature(last))})
        untaken = set(made) | {source}
        untaken -= {name for joint in self.joints for name in joint.inputs} | {output}
        if untaken:
            raise ValueError(f"every stream must have a taker, but nobody takes {', '.join(sorted(untaken))}")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for joint in self.joints:
            m.submodules[joint.component.kind] = place(joint.component, platform)
        ways: dict[str, list[stream.Interface]] = {self.source: self._ways(m, platform, self.source, self.i, flip=True)}
        for joint in self.joints:
            ways[joint.name] = self._ways(m, platform, joint.name, joint.component.o, flip=False)
        for joint in self.joints:
            for index, name in enumerate(joint.inputs):
                waiting = joint.waiting[index] if joint.waiting else 0
                label = f"{joint.component.kind}_{index}"
                fifo = self._fifo(joint, index) if waiting else None
                self._lead(m, platform, ways[name].pop(0), joint.port(index), fifo, label)
        wiring.connect(m, ways[self.output].pop(0), wiring.flipped(self.o))
        for joint in self.joints:
            self._show(m, joint)
        return m

    def tap(self, name: str) -> str:
        """Prefix of the nets of a stage's output stream, for observers: ``_valid``, ``_ready`` and ``_data`` follow."""
        return f"tap_{next(joint.component.kind for joint in self.joints if joint.name == name)}"

    @property
    def buffers(self) -> list[Buffer]:
        """FIFOs and window buffers, in the order of the stages."""
        found = []
        for joint in self.joints:
            kind = joint.component.kind
            for index, waiting in enumerate(joint.waiting):
                if waiting:
                    words = f"the FIFO before input {index} of {kind}"
                    found.append(
                        Buffer(
                            path=f"fifo_{kind}_{index}", words=words, alone=False, holds=self._fifo(joint, index).holds
                        )
                    )
            if getattr(joint.component, "buffer", None) is not None:
                words = f"the window buffer of {kind}"
                found.append(Buffer(path=f"{kind}.window", words=words, alone=self._alone(joint)))
        return found

    def _fifo(self, joint: Joint, index: int) -> Fifo:
        """A new one for the beats that may wait before the input ``index``."""
        fifo = Fifo(joint.port(index).payload.shape(), depth=joint.waiting[index], cells=self.cells)
        mark_used(fifo)
        return fifo

    def _alone(self, joint: Joint) -> bool:
        """True if every path from ``source`` to ``output`` includes ``joint``."""
        reached = {self.source}
        for each in self.joints:
            if each is not joint and reached & set(each.inputs):
                reached.add(each.name)
        return self.output not in reached

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
        self, m: Module, platform: object, name: str, given: stream.Interface, *, flip: bool
    ) -> list[stream.Interface]:
        """The stream ``given`` once for each of its takers."""
        takers = sum(joint.inputs.count(name) for joint in self.joints) + (name == self.output)
        source = wiring.flipped(given) if flip else given
        if takers == 1:
            return [source]
        fork = Fork(given.payload.shape(), ways=takers)
        owner = next((joint.component.kind for joint in self.joints if joint.name == name), "source")
        m.submodules[f"fork_{owner}"] = place(fork, platform)
        wiring.connect(m, source, fork.i)
        return [getattr(fork, f"o_{way}") for way in range(takers)]

    def _lead(
        self,
        m: Module,
        platform: object,
        given: stream.Interface,
        taker: stream.Interface,
        fifo: Fifo | None,
        label: str,
    ) -> None:
        """The stream ``given`` to its ``taker``: by registers, in its width, behind a FIFO where beats may wait."""
        given = skid_stage(m, platform, given, name=label)
        shape = taker.payload.data.shape()
        of, to = given.payload.data.shape().length, shape.length
        between = math.lcm(of, to)  # so that neither side waits: by the greatest common divisor they would
        for before, after in ((of, between), (between, to)):
            if before == after:
                continue
            gearbox = Gearbox(shape.elem_shape, of=before, to=after)
            m.submodules[f"gearbox_{int(after > before)}_{label}"] = place(gearbox, platform)
            wiring.connect(m, given, gearbox.i)
            given = gearbox.o
        if fifo is not None:
            m.submodules[f"fifo_{label}"] = place(fifo, platform)
            wiring.connect(m, given, fifo.i)
            given = fifo.o
        wiring.connect(m, given, taker)
