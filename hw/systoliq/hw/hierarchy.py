"""Hierarchy: one Verilog module per kind of block.

Amaranth writes a module for each instance of a component. ``place()`` lets a parent place many components of one kind
while `Emission` writes that kind once: under an `Emission` platform a placed component becomes an instance of its
kind's module, and under any other platform (the Amaranth simulator) it is elaborated in place as usual.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from amaranth.back import rtlil
from amaranth.hdl import ClockSignal, Elaboratable, Instance, ResetInserter, ResetSignal, Value, ValueCastable
from amaranth.lib import wiring

__all__ = ["Emission", "Written", "configuration", "mark_used", "place"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Written:
    """A module that a component writes itself: its ``verilog``, in Yosys' form, and the ``files`` that it reads.

    It has a clock ``clk``, no reset, and the component's ports.
    """

    verilog: str
    files: Mapping[str, bytes]


def place(component: wiring.Component, platform: object, *, clear: Value | None = None) -> Elaboratable:
    """The submodule that represents ``component`` on ``platform``.

    ``component.kind`` names the Verilog module: components with equal ``kind`` must have equal signatures and be made
    with equal parameters, which `Emission` checks (see `configuration`). Where ``component.namespace`` is true, kinds
    within the component are its own: their modules' names begin with the component's name. ``clear`` resets the
    component, which the reset of its parent does not do by itself.
    """
    if isinstance(platform, Emission):
        return platform.instance(component, clear=clear)
    return component if clear is None else ResetInserter(clear)(component)


def mark_used(component: object) -> None:
    """Keep Amaranth from taking ``component`` and its parts for forgotten.

    Only the first of a kind is elaborated, and none where a component is made for its latency or cycle model alone.
    """
    component._MustUse__used = True  # type: ignore[attr-defined]
    for part in vars(component).values():
        for each in part if isinstance(part, list) else [part]:
            if isinstance(each, Elaboratable) and isinstance(each, wiring.Component):
                mark_used(each)


def configuration(component: wiring.Component) -> dict[str, object]:
    """All that ``component`` is made from: its class, its signature and its attributes, but for signals.

    Two components with equal configurations are the same hardware. Attributes that are plain data are compared by
    content, others by identity; cached results are ignored. Where the class says ``moves_bits``, its ports' widths
    count and not their shapes.
    """
    signature: object = component.signature
    if getattr(component, "moves_bits", False):
        signature = [
            (path, member.flow, len(Value.cast(value)))
            for path, member, value in component.signature.flatten(component)
        ]
    found: dict[str, object] = {"its class": type(component), "its signature": signature}
    for name, value in vars(component).items():
        kept = isinstance(getattr(type(component), name, None), functools.cached_property)
        if not kept and not name.startswith(("_MustUse__", "_Component__")) and name not in component.signature.members:
            found[name] = _content(value)
    return found


def _content(value: Any) -> object:
    """``value`` in a form that ``==`` compares by content."""
    if isinstance(value, Value | ValueCastable | wiring.PureInterface) and not isinstance(value, wiring.Component):
        return None
    if isinstance(value, wiring.Component):
        return configuration(value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, list | tuple):
        return [_content(each) for each in value]
    if isinstance(value, dict):
        return {key: _content(each) for key, each in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: _content(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return type(value), fields
    return value


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Amaranth makes a tuple for every few wires: to look through them all for cycles again and again takes a third of
    the time of a large array's emission, and finds none.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Emission:
    """A platform that collects the RTLIL of every kind of block below a top, each once.

    ``prefix`` is put before each kind's name, so that two emitted designs can live in one project. ``ports`` are the
    ports of each module in the order in which its component names them. ``written`` are the modules that components
    write themselves: those with a method ``written(name)`` that gives one, and not None.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.ports: dict[str, list[str]] = {}
        self.written: list[Written] = []
        self._modules: dict[str, str] = {}
        self._made_from: dict[str, dict[str, object]] = {}

    def instance(self, component: wiring.Component, *, clear: Value | None = None) -> Instance:
        """An instance of the module of ``component``'s kind, which is written the first time that it is asked for."""
        name = f"{self.prefix}_{component.kind}"
        made_from = configuration(component)
        first = self._made_from.setdefault(name, made_from)
        if name not in self._modules:
            outside = self.prefix
            if getattr(component, "namespace", False):
                self.prefix = name
            self._modules[name] = self._black_box(component, name) or self._convert(component, name)
            self.prefix = outside
        for what in first.keys() | made_from.keys():
            if first.get(what) != made_from.get(what):
                raise RuntimeError(
                    f"kind must be another one for other hardware: two blocks are called {component.kind!r}, "
                    f"and {what} is {first.get(what)!r} in one and {made_from.get(what)!r} in the other"
                )
        mark_used(component)
        text = self._modules[name]
        reset = ResetSignal() if clear is None else clear
        clocking = {"clk": ClockSignal(), "rst": reset}
        used = [("i", port, signal) for port, signal in clocking.items() if f" \\{port}\n" in text]
        ports = [
            ("i" if member.flow == wiring.In else "o", _port(path), Value.cast(value))
            for path, member, value in component.signature.flatten(component)
        ]
        return Instance(name, *used, *ports)

    def rtlil(self, top: wiring.Component, name: str) -> str:
        """RTLIL of ``top`` (as module ``name``) and of each kind that it places, once.

        The top always has the ports ``clk`` and ``rst``.
        """
        with _no_collection():
            text = self._convert(top, name)
        return "\n".join([text, *self._modules.values()])

    def _black_box(self, component: wiring.Component, name: str) -> str:
        """RTLIL of the ports of a module that ``component`` writes itself; nothing where it does not."""
        write = getattr(component, "written", None)
        written = write(name) if write else None
        if written is None:
            return ""
        self.written.append(written)
        lines = ["attribute \\blackbox 1", f"module \\{name}", "  wire input 1 \\clk"]
        for path, member, value in component.signature.flatten(component):
            direction = "input" if member.flow == wiring.In else "output"
            lines.append(f"  wire width {len(Value.cast(value))} {direction} {len(lines) - 1} \\{_port(path)}")
        self.ports[name] = [_port(path) for path, _, _ in component.signature.flatten(component)]
        return "\n".join([*lines, "end\n"])

    def _convert(self, component: wiring.Component, name: str) -> str:
        self.ports[name] = [_port(path) for path, _, _ in component.signature.flatten(component)]
        text = rtlil.convert(component, name, self, emit_src=False)
        text = text.replace("attribute \\top 1\n", "")
        # Submodules that were not placed are called name.path: make them plain Verilog names.
        text = re.sub(rf"\\{name}\.([\w.]+)", lambda match: f"\\{name}_{match[1].replace('.', '_')}", text)
        if len(re.findall(r"\\rst\b", text)) == 1:  # declared and never used: a block without reset
            text = re.sub(r"\n[^\n]*\\rst\n", "\n", text)
        return text


def _port(path: tuple[str | int, ...]) -> str:
    return "__".join(map(str, path))
