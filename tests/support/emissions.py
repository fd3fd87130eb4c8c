"""Blocks kept for a process: a block that was emitted before is not elaborated again, in whatever design it stands.

A kept block is found by its name and its `configuration`, as in an `Emission`. While pytest's `MonkeyPatch` has an
attribute or an item replaced, blocks are kept apart, until it replaces another one or puts them back: then the blocks
of the code as it is are there again. Variables of the environment, the working directory and packages that hardware
does not import (`ABOVE`) change no block.

Amaranth looks for combinational loops in each block that it converts, which takes a fifth of an emission. Tests of the
hardware and of the record of emitted hardware look for them (see `look_for_loops`), and the others leave that out.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from amaranth.hdl import Instance, Shape, ShapeCastable, Value
from amaranth.hdl._nir import Netlist
from amaranth.lib import wiring

from systoliq.hw.hierarchy import Emission, Written, configuration, mark_used

__all__ = ["begin", "forget", "keep", "look_for_loops"]

SIZE = 100_000_000  # characters of RTLIL in all
_PACKAGES = ("board", "explore", "inference", "sim", "synth", "verify")
ABOVE = ("onnxruntime", *(f"systoliq.{each}" for each in _PACKAGES))
"""Packages that hardware may not import: see test_structure.py."""


@dataclasses.dataclass(eq=False)
class Kept:
    """What a module was made from and gave, and the modules that it places, in the order of their first places."""

    name: str
    made_from: dict[str, object]
    shapes: list[str]
    ports: list[str]
    text: str = ""
    placed: dict[str, Kept] = dataclasses.field(default_factory=dict)
    written: Written | None = None
    without_loops: bool = True  # it was looked at for them, and so were those below

    def below(self) -> Iterator[Kept]:
        """All modules that this one needs."""
        for each in self.placed.values():
            yield each
            yield from each.below()


@dataclasses.dataclass
class State:
    """Of one emission: its modules, and those that are being converted, the innermost last."""

    modules: dict[str, Kept] = dataclasses.field(default_factory=dict)
    open: list[Kept] = dataclasses.field(default_factory=list)


class Store:
    """Modules by name and class of their component; the oldest names go where there is too much text."""

    def __init__(self) -> None:
        self.modules: OrderedDict[tuple[str, type], list[Kept]] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self.modules)

    def add(self, kind: type, new: Kept) -> None:
        """Keep a module."""
        self.modules.setdefault((new.name, kind), []).append(new)
        self.size += len(new.text)
        while self.size > SIZE:
            _, oldest = self.modules.popitem(last=False)
            self.size -= sum(len(each.text) for each in oldest)

    def clear(self) -> None:
        """Keep none."""
        self.modules.clear()
        self.size = 0


loops_matter = True
kept = Store()
without_patches = kept  # blocks of the code as it is
replaced_by: dict[int, int] = {}  # by patch, by `id`: how much of its replacements is in place
states: WeakKeyDictionary[Emission, State] = WeakKeyDictionary()
convert = Emission._convert
instance = Emission.instance
check_comb_cycles = Netlist.check_comb_cycles


def forget() -> None:
    """Forget all blocks."""
    global kept
    without_patches.clear()
    kept = without_patches if not replaced_by else Store()


def keep() -> None:
    """Let each `Emission` keep the blocks that it converts."""
    Emission._convert = convert_once  # type: ignore[method-assign]
    Emission.instance = recorded_instance  # type: ignore[method-assign]
    Netlist.check_comb_cycles = check_where_loops_matter
    for name in ("setattr", "delattr", "setitem", "delitem", "undo"):
        setattr(pytest.MonkeyPatch, name, forgetting(getattr(pytest.MonkeyPatch, name)))


def begin() -> None:
    """Let only patches of tests count; pytest's own stay for the whole session."""
    replaced_by.clear()
    forget()


def forgetting(method: Callable[..., Any]) -> Callable[..., Any]:
    """The same method of `MonkeyPatch`; other blocks are kept if it replaces something or puts it back."""

    @functools.wraps(method)
    def wrapped(patch: pytest.MonkeyPatch, *arguments: Any, **options: Any) -> Any:
        global kept
        before = replaced(patch)
        try:
            return method(patch, *arguments, **options)
        finally:
            if (now := replaced(patch)) != before:
                replaced_by[id(patch)] = now
                if not now:
                    del replaced_by[id(patch)]
                kept = Store() if replaced_by else without_patches

    return wrapped


def replaced(patch: pytest.MonkeyPatch) -> int:
    """Number of attributes and items that ``patch`` will put back, without those of `ABOVE` and of the environment."""
    attributes = sum(not module_of(target).startswith(ABOVE) for target, _, _ in patch._setattr)
    return attributes + sum(each is not os.environ for each, _, _ in patch._setitem)


def module_of(target: object) -> str:
    """The name of a module, or of that in which a class or a function is."""
    return str(getattr(target, "__name__" if isinstance(target, ModuleType) else "__module__", ""))


def look_for_loops(matter: bool) -> None:
    """Choose whether blocks that are emitted from now on are looked at for combinational loops."""
    global loops_matter
    loops_matter = matter


def check_where_loops_matter(netlist: Netlist) -> None:
    """Amaranth's check, or nothing."""
    if loops_matter:
        check_comb_cycles(netlist)


def convert_once(emission: Emission, component: wiring.Component, name: str) -> str:
    """RTLIL of ``component`` as module ``name``: what was kept of an equal one, or converted and kept."""
    state = states.setdefault(emission, State())
    made_from = emission._made_from.get(name) or configuration(component)
    described = shapes(component)
    for found in kept.modules.get((name, type(component)), ()):
        looked_at = found.without_loops or not loops_matter
        if looked_at and (found.made_from, found.shapes) == (made_from, described) and agrees(emission, found):
            mark_used(component)
            return adopt(emission, state, found)
    new = Kept(name, made_from, described, [], without_loops=loops_matter)
    state.open.append(new)
    new.text = convert(emission, component, name)
    state.open.pop()
    new.ports = emission.ports[name]
    state.modules[name] = new
    kept.add(type(component), new)
    return new.text


def recorded_instance(emission: Emission, component: wiring.Component, *, clear: Value | None = None) -> Instance:
    """An instance as `Emission.instance` gives it, noted in the module that places it."""
    name = f"{emission.prefix}_{component.kind}"
    made = instance(emission, component, clear=clear)
    state = states.setdefault(emission, State())
    if name not in state.modules:  # a module that its component writes itself
        text, ports = emission._modules[name], emission.ports[name]
        state.modules[name] = Kept(name, emission._made_from[name], [], ports, text, written=emission.written[-1])
    if state.open:
        state.open[-1].placed[name] = state.modules[name]
    return made


def shapes(component: wiring.Component) -> list[str]:
    """The signature of ``component`` and all shapes among its attributes, and those of its parts.

    In full, for `configuration` does without them where a block ``moves_bits``, and layouts are equal in Amaranth
    where elements of their elements are signed in one of them only. The names of wires follow from them all the same.
    """
    found = [repr(component.signature)]
    for part in vars(component).values():
        for each in part if isinstance(part, list) else [part]:
            if isinstance(each, wiring.Component):
                found += shapes(each)
            elif isinstance(each, Shape | ShapeCastable):
                found.append(repr(each))
    return found


def agrees(emission: Emission, found: Kept) -> bool:
    """Whether no module of another block has a name of one that ``found`` needs: `Emission` refuses that by itself."""
    known = emission._made_from
    return all(each.name not in known or known[each.name] == each.made_from for each in found.below())


def adopt(emission: Emission, state: State, found: Kept) -> str:
    """Give ``emission`` what ``found`` and the modules below left in an emission before, in the same order."""
    state.modules[found.name] = found
    emission.ports[found.name] = found.ports
    for each in found.placed.values():
        emission._made_from.setdefault(each.name, each.made_from)
        if each.name not in emission._modules:
            if each.written is not None:
                emission.written.append(each.written)
            emission._modules[each.name] = adopt(emission, state, each)
    return found.text
