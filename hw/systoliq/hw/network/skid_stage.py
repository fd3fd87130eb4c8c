"""A stream behind registers in both directions, where its taker may be anywhere on the chip."""

from __future__ import annotations

from amaranth.hdl import Module, Value
from amaranth.lib import stream

from ..hierarchy import place
from ..skid_buffer import SkidBuffer, skid_timed

__all__ = ["skid_stage", "skid_timed"]


def skid_stage(m: Module, platform: object, given: stream.Interface, *, name: str) -> stream.Interface:
    """The stream ``given`` behind a `SkidBuffer`, which becomes the submodule ``skid_<name>``."""
    bits = Value.cast(given.payload)
    skid = SkidBuffer(len(bits), kind=f"skid_buffer_{len(bits)}")
    m.submodules[f"skid_{name}"] = place(skid, platform)
    m.d.comb += [skid.i.valid.eq(given.valid), skid.i.payload.eq(bits), given.ready.eq(skid.i.ready)]
    behind = stream.Signature(given.payload.shape()).create(path=(f"behind_{name}",))
    m.d.comb += [
        behind.valid.eq(skid.o.valid),
        Value.cast(behind.payload).eq(skid.o.payload),
        skid.o.ready.eq(behind.ready),
    ]
    return behind
