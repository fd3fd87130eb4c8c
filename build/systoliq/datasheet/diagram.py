"""Timing diagram of a trace: the cycles in which something happens, drawn by WaveDrom."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import need
from ..package.forms.block import Port
from .trace import Trace, offers

__all__ = ["shown_cycles", "timing_diagram", "wave_json"]

_DIGITS = 8  # hexadecimal digits of data that are shown, the lowest ones
_NARROW = 4  # digits that fit the width of a cycle
_BEFORE, _AFTER = 1, 3  # cycles around an event


def timing_diagram(trace: Trace, start: int) -> str:
    """Return the SVG of reset, the first operands and the first results; latency counts from the cycle `start`."""
    wavedrom = need("wavedrom", "wavedrom", "timing diagrams", extra="datasheet")
    drawing: str = wavedrom.render(json.dumps(wave_json(trace, start))).tostring()
    return drawing


def shown_cycles(trace: Trace, start: int) -> list[int]:
    """Return the cycles to draw, in order: those around the end of reset, the first beat of each stream, `start` and
    the first result.
    """
    events = [trace.released - 1, start, trace.first_result]
    events += [taken[0] for stream in trace.streams if (taken := trace.taken(stream))]
    near = {cycle for event in events for cycle in range(event - _BEFORE, event + _AFTER + 1)}
    return sorted(cycle for cycle in near if trace.released - 1 <= cycle < trace.cycles)


def wave_json(trace: Trace, start: int) -> dict[str, Any]:
    """Return the diagram as WaveJSON. The row `cycle` counts from the first beat of operands."""
    columns = _with_gaps(shown_cycles(trace, start))
    labels = [str(cycle - trace.first_operand) for cycle in columns if cycle is not None and cycle >= trace.released]
    of_streams = {port.name for stream in trace.streams for port in stream.signals.values()}
    others = [port for port in trace.ports if port.name not in of_streams]
    signals: list[Any] = [
        {"name": "cycle", "wave": "".join(_cell(trace, cycle) for cycle in columns), "data": labels},
        {"name": "clk", "wave": "".join("|" if cycle is None else "p" for cycle in columns)},
        *(_signal(trace, port, None, columns) for port in others if port.name == trace.reset),
    ]
    for stream in trace.streams:
        valid = stream.signals["TVALID"]
        ports = [port for port in trace.ports if port.name in {each.name for each in stream.signals.values()}]
        signals += [{}, *(_signal(trace, port, valid if port != valid else None, columns) for port in ports)]
    rest = [port for port in others if port.name != trace.reset]
    signals += [{}, *(_signal(trace, port, _valid_of(port, rest), columns) for port in rest)] if rest else []
    _mark(signals, trace, columns, start)
    wide = any(len(each) > _NARROW for signal in signals for each in signal.get("data", ()))
    return {
        "signal": signals,
        "edge": [f"a~>b {trace.first_result - start} cycles"],
        "config": {"hscale": 2 if wide else 1},
    }


def _mark(signals: list[Any], trace: Trace, columns: Sequence[int | None], start: int) -> None:
    """Mark where latency begins, node a, and where it ends, node b."""
    begin = next(each for each in trace.senders if start in trace.taken(each))
    ends = offers(trace.ports, trace.streams)
    for letter, names, at in (("a", [begin.signals["TVALID"].name], start), ("b", ends, trace.first_result)):
        signal = next(each for each in signals if each.get("name") in names and trace.values[each["name"]][at])
        signal["node"] = "".join(letter if cycle == at else "." for cycle in columns)


def _cell(trace: Trace, cycle: int | None) -> str:
    """A cell of the row of cycle numbers: unknown before reset ends."""
    if cycle is None:
        return "|"
    return "=" if cycle >= trace.released else "x"


def _with_gaps(cycles: Sequence[int]) -> list[int | None]:
    """Return the cycles, with None where some are left out."""
    found: list[int | None] = []
    for cycle in cycles:
        if found and found[-1] is not None and cycle != found[-1] + 1:
            found.append(None)
        found.append(cycle)
    return found


def _valid_of(port: Port, ports: Sequence[Port]) -> Port | None:
    """The port that says when `port` has a value: X_valid for X."""
    return next((each for each in ports if each.name == f"{port.name}_valid"), None)


def _signal(trace: Trace, port: Port, valid: Port | None, columns: Sequence[int | None]) -> dict[str, Any]:
    """A row of the diagram. Data, and a `tlast`, are unknown while `valid` is 0; under reset, all but reset itself."""
    handshake = port.name.endswith("_tready")
    wave, data = "", []
    for text in _values(trace, port, None if handshake else valid, columns):
        if text == "|":
            wave += "|"
        elif text is None or port.width == 1:
            wave += text or "x"
        else:
            wave += "="
            data.append(text)
    return {"name": port.name, "wave": _merged(wave) if port.width == 1 else wave, "data": data}


def _values(trace: Trace, port: Port, valid: Port | None, columns: Sequence[int | None]) -> Iterator[str | None]:
    for cycle in columns:
        if cycle is None:
            yield "|"
            continue
        value = trace.values[port.name][cycle]
        idle = valid is not None and not trace.values[valid.name][cycle]
        if value is None or idle or (cycle < trace.released and port.name != trace.reset):
            yield None
        elif port.width == 1:
            yield str(value)
        else:
            digits = f"{value:0{-(-port.width // 4)}x}"
            yield digits if len(digits) <= _DIGITS else f"..{digits[-_DIGITS + 2 :]}"


def _merged(wave: str) -> str:
    """Return `wave` with a dot for each value that stays, which WaveDrom draws without an edge."""
    found, last = "", ""
    for each in wave:
        found += "." if each == last else each
        last = each if each != "|" else last
    return found
