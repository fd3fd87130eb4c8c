"""Values of a design's ports in each cycle of a simulation, from its trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import SynthesisError

__all__ = ["PortTrace", "read_trace"]


@dataclass(frozen=True, kw_only=True)
class PortTrace:
    """Bits of each port just before each rising edge of the clock, from the highest on; "x" where one is not known."""

    values: Mapping[str, Sequence[str]]

    def cycles(self, *, of_results: bool) -> list[int]:
        """Return the cycles that take a beat of operands, or of results."""
        begin = "m_axis_" if of_results else "s_axis_"
        streams = [name.removesuffix("tvalid") for name in self.values if name.endswith("_tvalid")]
        pairs = [
            (self.values[f"{stream}tvalid"], self.values[f"{stream}tready"])
            for stream in streams
            if stream.startswith(begin)
        ]
        count = len(next(iter(self.values.values())))
        return [at for at in range(count) if any(valid[at] == ready[at] == "1" for valid, ready in pairs)]

    def known(self, port: str, cycle: int) -> str:
        """Return "1" for each bit of an output that has a meaning: of a stream's data, while a beat is offered."""
        value = self.values[port][cycle]
        stream, _, signal = port.rpartition("_")
        valid = self.values.get(f"{stream}_tvalid")
        if valid is not None and signal not in ("tvalid", "tready") and valid[cycle] != "1":
            return "0" * len(value)
        return "".join("1" if bit in "01" else "0" for bit in value)


def read_trace(path: Path, ports: Mapping[str, int]) -> PortTrace:
    """Return the values of `ports`, by name with their widths, of the top module in the VCD file `path`."""
    with path.open(encoding="utf-8", errors="replace") as file:
        codes = _codes(file, ports)
        if missing := [name for name in ("clk", *ports) if name not in codes]:
            raise SynthesisError(f"the trace of the simulation has no port {missing[0]}")
        names: dict[str, list[str]] = {}
        for name, code in codes.items():
            names.setdefault(code, []).append(name)
        values: dict[str, list[str]] = {name: [] for name in ports}
        now = {name: "x" * width for name, width in ports.items()} | {"clk": "x"}
        for changes in _steps(file, names):
            if changes.get("clk") == "1" and now["clk"] == "0":
                for name, column in values.items():
                    column.append(now[name])
            now |= {name: _extended(value, ports.get(name, 1)) for name, value in changes.items()}
    return PortTrace(values=values)


def _codes(file: Iterator[str], ports: Mapping[str, int]) -> dict[str, str]:
    """The code of each port's first variable, which is the top module's."""
    codes: dict[str, str] = {}
    for line in file:
        words = line.split()
        if words[:1] == ["$var"] and (words[4] in ports or words[4] == "clk"):
            codes.setdefault(words[4], words[3])
        if words[:1] == ["$enddefinitions"]:
            break
    return codes


def _steps(file: Iterator[str], names: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Changes of the named variables at each time."""
    changes: dict[str, str] = {}
    for line in file:
        first = line[0]
        if first == "#":
            if changes:
                yield changes
                changes = {}
            continue
        value, code = line[1:].split() if first in "bB" else (first, line[1:].rstrip("\n"))
        for name in names.get(code, ()):
            changes[name] = value.lower()
    if changes:
        yield changes


def _extended(value: str, width: int) -> str:
    """The value with all its bits: a VCD file leaves out leading ones that the first one says."""
    return value.rjust(width, value[0] if value[0] in "xz" else "0")
