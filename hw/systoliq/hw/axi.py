"""AXI4-Stream ports around a dense layer or a bare array: the top of the emitted Verilog.

Elements stand side by side in ``tdata``, the first in the lowest bits, without gaps; the word is filled up with zeros
to whole bytes. One clock ``clk``, synchronous active-high reset ``rst``.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

from amaranth.hdl import Module, Shape, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .bare_array import BareArray
from .dense import Dense
from .hierarchy import place
from .last_check import LastCheck
from .network.pipeline import Pipeline, port_names, stream_letters

__all__ = ["AxiBareArray", "AxiDense", "AxiPipeline", "accept", "axi_bits", "axi_stream", "offer"]


def axi_bits(bits: int) -> int:
    """``bits`` rounded up to whole bytes."""
    return -(-bits // 8) * 8


def axi_stream(name: str, bits: int, flow: type[In] | type[Out], *, user_bits: int = 0) -> dict[str, object]:
    """Members of an AXI4-Stream of ``bits`` data bits: ``In`` for a slave, ``Out`` for a master; tuser where asked."""
    back = Out if flow is In else In
    return {
        f"{name}_tdata": flow(axi_bits(bits)),
        **({f"{name}_tuser": flow(axi_bits(user_bits))} if user_bits else {}),
        f"{name}_tvalid": flow(1),
        f"{name}_tready": back(1),
        f"{name}_tlast": flow(1),
    }


def accept(m: Module, edge: wiring.Component, name: str, inner: stream.Interface) -> None:
    """Connect the slave ``name`` of ``edge`` to ``inner``, a stream of ``data`` and ``last``."""
    m.d.comb += [
        Value.cast(inner.payload.data).eq(getattr(edge, f"{name}_tdata")),
        inner.payload.last.eq(getattr(edge, f"{name}_tlast")),
        inner.valid.eq(getattr(edge, f"{name}_tvalid")),
        getattr(edge, f"{name}_tready").eq(inner.ready),
    ]


def offer(m: Module, edge: wiring.Component, name: str, inner: stream.Interface) -> None:
    """Connect ``inner``, a stream of ``data`` and ``last``, to the master ``name`` of ``edge``."""
    m.d.comb += [
        getattr(edge, f"{name}_tdata").eq(Value.cast(inner.payload.data)),
        getattr(edge, f"{name}_tlast").eq(inner.payload.last),
        getattr(edge, f"{name}_tvalid").eq(inner.valid),
        inner.ready.eq(getattr(edge, f"{name}_tready")),
    ]


class AxiDense(wiring.Component):
    """`Dense` with ``s_axis_a_*`` for the rows of A and ``m_axis_y_*`` for the rows of Y.

    Zero points that come with A are ``s_axis_a_tuser``, side by side as the rows of a beat are.

    ``error`` is 1, until reset, after a ``s_axis_a_tlast`` with a beat that does not end a group of rows.
    """

    kind = "axi_dense"

    def __init__(self, dense: Dense) -> None:
        self.dense = dense
        a = axi_stream("s_axis_a", _bits(dense.a), In, user_bits=dense.zero_point_bits)
        super().__init__(a | axi_stream("m_axis_y", _bits(dense.y), Out) | {"error": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        dense = self.dense
        m.submodules.dense = place(dense, platform)
        accept(m, self, "s_axis_a", dense.a)
        if dense.zero_point_bits:
            m.d.comb += Value.cast(dense.a.payload.zero_points).eq(self.s_axis_a_tuser)
        offer(m, self, "m_axis_y", dense.y)
        check = LastCheck(dense.schedule.beats)
        m.submodules.last_check = place(check, platform)
        m.d.comb += [
            check.taken.eq(self.s_axis_a_tvalid & self.s_axis_a_tready),
            check.last.eq(self.s_axis_a_tlast),
            self.error.eq(check.error),
        ]
        return m


class AxiBareArray(wiring.Component):
    """`BareArray` with ``s_axis_a_*`` and ``s_axis_b_*``; the sums leave as ``sums`` and ``sums_valid``.

    ``s_axis_b_tlast`` does not exist: the stream of A says where a tile ends.
    """

    kind = "axi_array"

    def __init__(self, array: BareArray) -> None:
        self.array = array
        b = axi_stream("s_axis_b", Shape.cast(array.b.payload.shape()).width, In)
        del b["s_axis_b_tlast"]
        sums = Shape.cast(array.sums.shape()).width
        super().__init__(
            axi_stream("s_axis_a", _bits(array.a), In) | b | {"sums": Out(sums), "sums_valid": Out(array.config.cols)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        array = self.array
        m.submodules.array = place(array, platform)
        accept(m, self, "s_axis_a", array.a)
        m.d.comb += [
            Value.cast(array.b.payload).eq(self.s_axis_b_tdata),
            array.b.valid.eq(self.s_axis_b_tvalid),
            self.s_axis_b_tready.eq(array.b.ready),
            self.sums.eq(Value.cast(array.sums)),
            self.sums_valid.eq(array.valid),
        ]
        return m


def _bits(port: stream.Interface) -> int:
    return int(Shape.cast(port.payload.data.shape()).width)


class AxiPipeline(wiring.Component):
    """`Pipeline` with ``s_axis_a_*`` for images and ``m_axis_y_*`` for results.

    Several inputs are ``s_axis_a0_*`` and on, several outputs ``m_axis_y0_*`` and on: ``inputs`` and ``outputs`` are
    the letters with their numbers.

    ``error`` is 1, until reset, after a tlast of an input with a beat that does not end an image; those of each input
    have ``image_beats``.
    """

    kind = "axi_pipeline"

    def __init__(self, pipeline: Pipeline, *, image_beats: Sequence[int]) -> None:
        self.pipeline = pipeline
        self.image_beats = tuple(image_beats)
        self.inputs = stream_letters("a", len(pipeline.inputs))
        self.outputs = stream_letters("y", len(pipeline.outputs))
        ports: dict[str, object] = {}
        for letter, port in zip(self.inputs, pipeline.input_ports, strict=True):
            ports |= axi_stream(f"s_axis_{letter}", _bits(getattr(pipeline, port)), In)
        for letter, port in zip(self.outputs, pipeline.output_ports, strict=True):
            ports |= axi_stream(f"m_axis_{letter}", _bits(getattr(pipeline, port)), Out)
        super().__init__(ports | {"error": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        pipeline = self.pipeline
        m.submodules.pipeline = place(pipeline, platform)
        for letter, port in zip(self.inputs, pipeline.input_ports, strict=True):
            accept(m, self, f"s_axis_{letter}", getattr(pipeline, port))
        for letter, port in zip(self.outputs, pipeline.output_ports, strict=True):
            offer(m, self, f"m_axis_{letter}", getattr(pipeline, port))
        if len(self.inputs) == 1:
            checks = [LastCheck(*self.image_beats)]
        else:
            checks = [LastCheck(beats, kind=f"last_check_of_{beats}") for beats in self.image_beats]
        labels = port_names("last_check", len(checks))
        for letter, check, label in zip(self.inputs, checks, labels, strict=True):
            m.submodules[label] = place(check, platform)
            valid, ready, last = (getattr(self, f"s_axis_{letter}_{each}") for each in ("tvalid", "tready", "tlast"))
            m.d.comb += [check.taken.eq(valid & ready), check.last.eq(last)]
        m.d.comb += self.error.eq(functools.reduce(operator.or_, (check.error for check in checks)))
        return m
