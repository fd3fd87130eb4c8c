"""Wrapper of a block: a Verilog module around an emitted one, with other widths of streams or another reset."""

from __future__ import annotations

from collections.abc import Iterator

from .forms.block import Block, Port

__all__ = ["wrapper_verilog"]

_PADDED = ("TDATA", "TUSER")
_RESETN = "aresetn"


def wrapper_verilog(block: Block, name: str, *, power_of_two: bool = False, active_low: bool = False) -> str:
    """Return the module `name` around `block`, with the same ports, apart from the options.

    Parameters
    ----------
    power_of_two
        ``tdata`` and ``tuser`` of AXI4-Streams are as wide as the next power of two of bytes; the elements stay in the
        lowest bits. Bits above them are ignored in a slave and 0 in a master.
    active_low
        the reset is ``aresetn``, synchronous and active low.
    """
    padded = {
        signals[signal].name: _power_of_two(signals[signal].width)
        for interface in block.interfaces
        if interface.protocol == "axi4-stream"
        for signals in [interface.signals]
        for signal in _PADDED
        if power_of_two and signal in signals
    }
    ports, inner, body = [], [], []
    for port in block.ports:
        low = active_low and port.name == block.reset
        outer = _RESETN if low else port.name
        width = padded.get(port.name, port.width)
        ports.append(f"  {port.direction}{_range(width)} {outer}")
        inner.append(f"    .{port.name}({'!' if low else ''}{_inside(port, outer, width)})")
        if width > port.width and port.direction == "output":
            body += list(_extended(port, width))
    lines = [
        f"// {block.name} of systoliq, wrapped by `systoliq wrap`: {_changes(power_of_two, active_low)}.",
        f"module {name} (", ",\n".join(ports), ");", *body,
        f"  {block.name} u_block (", ",\n".join(inner), "  );", "endmodule",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _power_of_two(bits: int) -> int:
    """Return the least power of two of bytes that holds `bits`, in bits."""
    return max(8, 1 << (bits - 1).bit_length())


def _range(width: int) -> str:
    return f" [{width - 1}:0]" if width > 1 else ""


def _inside(port: Port, outer: str, width: int) -> str:
    """Return the expression that the port of the block is connected to."""
    if width == port.width:
        return outer
    return f"{outer}[{port.width - 1}:0]" if port.direction == "input" else f"block_{port.name}"


def _extended(port: Port, width: int) -> Iterator[str]:
    yield f"  wire{_range(port.width)} block_{port.name};"
    yield f"  assign {port.name} = {{{width - port.width}'d0, block_{port.name}}};"


def _changes(power_of_two: bool, active_low: bool) -> str:
    words = ["streams as wide as a power of two of bytes"] * power_of_two + ["an active-low reset"] * active_low
    return " and ".join(words) or "no change"
