"""A faster Amaranth, which converts blocks to the same text: half of the suite's time in Python is spent there.

What is replaced only checks the types of Amaranth's own values, bit by bit, or is slow by the way that it is written.
`test_elaboration.py` compares the texts.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable
from typing import Any

from amaranth._unused import MustUse
from amaranth.back import rtlil
from amaranth.hdl import _ast, _nir

__all__ = ["ORIGINALS", "REPLACED", "speed_up"]


class _Plain(ABCMeta):
    """Classes without virtual subclasses: `isinstance` need not run Python to find out."""

    __instancecheck__ = type.__instancecheck__


class _Value(tuple):
    """New methods of `Value`."""

    def __new__(cls, nets: Any = ()) -> Any:
        """As before, without a look at the type of each net."""
        return tuple.__new__(cls, (nets,) if isinstance(nets, _nir.Net) else nets)


def _from_cell(cls: type[int], cell: int, bit: int) -> int:
    """As before, without a look at the bounds."""
    return int.__new__(cls, cell << 16 | bit)


def _resolve_net(netlist: _nir.Netlist, net: Any) -> Any:
    """As before, with a comparison in the place of a property."""
    while net < 0:
        net = netlist.connections[net]
    return net


def _resolve_value(netlist: _nir.Netlist, value: Any) -> Any:
    """As before, and the same value where nothing in it is late."""
    if min(value, default=0) >= 0:
        return value
    return tuple.__new__(_nir.Value, [_resolve_net(netlist, net) for net in value])


def _sigspec(emitter: Any, *parts: Any) -> str:
    """As before; nets are compared as the numbers that they are: 0 and 1 are constants."""
    nets: list[int] = []
    for part in parts:
        if isinstance(part, _nir.Net):
            nets.append(part)
        else:
            nets += part
    known, chunks, begin, size = emitter.nets, [], 0, len(nets)
    while begin < size:
        end = begin
        if 0 <= nets[begin] <= 1:
            while end < size and 0 <= nets[end] <= 1:
                end += 1
            bits = "".join("1" if net else "0" for net in reversed(nets[begin:end]))
            chunks.append(f"{end - begin}'{bits}")
        else:
            wire, first = known[nets[begin]]
            bit = first
            while end < size and not 0 <= nets[end] <= 1 and known[nets[end]] == (wire, bit):
                end += 1
                bit += 1
            place = f"{first}" if bit == first + 1 else f"{bit - 1}:{first}"
            chunks.append(f"{wire.name} [{place}]")
        begin = end
    return chunks[0] if len(chunks) == 1 else "{ " + " ".join(reversed(chunks)) + " }"


class _Key(tuple):
    """A key of signals, `SignalKey`, that is hashed and compared without running Python."""

    signal: Any


def _key(collection: Any, signal: Any) -> _Key:
    """As before."""
    if isinstance(signal, _ast.Signal):
        key = _Key((0, signal.duid))
    elif isinstance(signal, _ast.ClockSignal | _ast.ResetSignal):
        key = _Key((1 if isinstance(signal, _ast.ClockSignal) else 2, signal.domain))
    else:
        raise TypeError(f"Object {signal!r} is not an Amaranth signal")
    key.signal = signal
    return key


REPLACED: dict[tuple[Any, str], Any] = {
    (_nir.Value, "__new__"): _Value.__new__,
    (_nir.Net, "from_cell"): classmethod(_from_cell),
    (_nir.Netlist, "resolve_net"): _resolve_net,
    (_nir.Netlist, "resolve_value"): _resolve_value,
    (rtlil.ModuleEmitter, "sigspec"): _sigspec,
    (_ast.SignalDict, "_map_key"): _key,
    (_ast.SignalSet, "_map_key"): _key,
}
"""New attributes of Amaranth's classes."""

ORIGINALS = {(owner, name): owner.__dict__[name] for owner, name in REPLACED}
"""What they replace."""


def speed_up() -> None:
    """Replace parts of Amaranth in this process."""
    for (owner, name), value in REPLACED.items():
        setattr(owner, name, value)
    for each in _classes([_ast.Value, _ast.Statement]):
        each.__class__ = _Plain
    # A command that ends in an error leaves hardware that nobody elaborated, of which Amaranth warns at any time later.
    MustUse._MustUse__silence = True
    del MustUse.__del__


def _classes(first: Iterable[type]) -> set[type]:
    """Return `first` and their subclasses, as far as their metaclass is `ABCMeta`."""
    found: set[type] = set()
    for each in first:
        if type(each) is ABCMeta:
            found.add(each)
        found |= _classes(each.__subclasses__())
    return found
