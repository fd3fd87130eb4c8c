"""One Verilog module per kind of block.

Amaranth writes a module for each instance of a component. ``place()`` lets a parent place many components of one kind
while `Emission` writes that kind once: under an `Emission` platform a placed component becomes an instance of its
kind's module, and under any other platform (the Amaranth simulator) it is elaborated in place as usual.
"""

from __future__ import annotations

import contextlib
import gc
import re
from collections.abc import Iterator

from amaranth.back import rtlil
from amaranth.hdl import ClockSignal, Elaboratable, Instance, ResetInserter, ResetSignal, Value
from amaranth.lib import wiring

__all__ = ["Emission", "mark_used", "place"]


def place(component: wiring.Component, platform: object, *, clear: Value | None = None) -> Elaboratable:
    """The submodule that stands for ``component`` under ``platform``.

    ``component.kind`` names the Verilog module: components with equal ``kind`` must be interchangeable. ``clear``
    resets the component, which the reset of its parent does not do by itself.
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
    ports of each module in the order in which its component names them.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.ports: dict[str, list[str]] = {}
        self._modules: dict[str, str] = {}

    def instance(self, component: wiring.Component, *, clear: Value | None = None) -> Instance:
        """An instance of the module of ``component``'s kind, which is written the first time that it is asked for."""
        name = f"{self.prefix}_{component.kind}"
        if name not in self._modules:
            self._modules[name] = self._convert(component, name)
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
