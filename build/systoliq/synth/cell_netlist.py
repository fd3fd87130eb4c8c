"""A netlist of standard cells by numbers of its nets: loads, slopes and delays before layout, and its Verilog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any

from .liberty import LibraryCell, LibraryFigures, Pin

__all__ = ["CORE", "CellNetlist", "Instance", "Timing"]

CORE = "systoliq_core"
"""The module of a netlist's Verilog; its net N is called nN, and it has a port of one bit for each bit of a port."""

_EDGES = ("rise", "fall")


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A cell of a netlist: the net at each pin that is connected, None at a constant 0."""

    kind: str
    cell: LibraryCell
    nets: Mapping[str, int | str]

    def outputs(self) -> Iterator[tuple[str, Pin, int]]:
        """Return name, pin and net of each connected output."""
        for name, net in self.nets.items():
            if (pin := self.cell.pins[name]).output and isinstance(net, int):
                yield name, pin, net

    def inputs(self) -> Iterator[tuple[str, Pin, int]]:
        """Return name, pin and net of each input that no constant drives."""
        for name, net in self.nets.items():
            if not (pin := self.cell.pins[name]).output and isinstance(net, int):
                yield name, pin, net


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Slope (ns) of each net by edge, delay (ns) of each net's driver by edge, and the `longest` time to a net."""

    slopes: Mapping[int, Mapping[str, float]]
    delays: Mapping[int, Mapping[str, float]]
    longest: float


@dataclass(frozen=True, kw_only=True)
class CellNetlist:
    """The cells and the ports of a netlist: bits of a port from the lowest on, constants as text."""

    library: LibraryFigures
    instances: Sequence[Instance]
    inputs: Mapping[str, Sequence[int | str]]
    outputs: Mapping[str, Sequence[int | str]]

    @staticmethod
    def of(top: Mapping[str, Any], library: LibraryFigures) -> CellNetlist:
        """Return the netlist in Yosys' JSON of the module `top`."""
        instances = [
            Instance(
                kind=cell["type"],
                cell=library.cells[cell["type"]],
                nets={pin: bits[0] for pin, bits in cell["connections"].items() if bits},
            )
            for cell in top["cells"].values()
        ]
        ports = {
            direction: {name: port["bits"] for name, port in top["ports"].items() if port["direction"] == direction}
            for direction in ("input", "output")
        }
        return CellNetlist(library=library, instances=instances, inputs=ports["input"], outputs=ports["output"])

    @property
    def clock(self) -> int:
        """The net of the clock."""
        (net,) = self.inputs["clk"]
        return int(net)

    @cached_property
    def loads(self) -> dict[int, float]:
        """Capacitance (pF) of the pins at each net: of inputs, since there are no wires before layout."""
        found: dict[int, float] = {}
        for instance in self.instances:
            for _, pin, net in instance.inputs():
                found[net] = found.get(net, 0.0) + pin.capacitance
        return found

    @cached_property
    def timing(self) -> Timing:
        """Slopes and delays: the slowest slope at each input, the mean over the inputs of a gate's delays.

        Ports and the clock have the library's shortest slope.
        """
        drivers = {net: (instance, pin) for instance in self.instances for _, pin, net in instance.outputs()}
        before = {
            net: [] if instance.cell.register else [each for _, _, each in instance.inputs()]
            for net, (instance, _) in drivers.items()
        }
        still = dict.fromkeys(_EDGES, self.library.slope)
        slopes: dict[int, dict[str, float]] = {}
        delays: dict[int, dict[str, float]] = {}
        arrival: dict[int, float] = {}
        for net in TopologicalSorter(before).static_order():
            if net not in drivers:
                slopes[net], arrival[net] = still, 0.0
                continue
            instance, pin = drivers[net]
            load = self.loads.get(net, 0.0)
            of_nets = {name: each for name, _, each in instance.inputs()}
            slope, delay = dict.fromkeys(_EDGES, 0.0), {edge: list[float]() for edge in _EDGES}
            for arc in pin.arcs:
                if arc.related not in of_nets:
                    continue
                source = slopes.get(of_nets[arc.related], still)
                for edge in _EDGES:
                    for cause in arc.causes(edge):
                        if edge in arc.slope:
                            slope[edge] = max(slope[edge], arc.slope[edge].at(source[cause], load))
                        if edge in arc.delay:
                            delay[edge].append(arc.delay[edge].at(source[cause], load))
            slopes[net] = slope
            delays[net] = {edge: max(sum(each) / len(each), 0.0) if each else 0.0 for edge, each in delay.items()}
            arrival[net] = max(delays[net].values()) + max((arrival[each] for each in before[net]), default=0.0)
        return Timing(slopes=slopes, delays=delays, longest=max(arrival.values(), default=0.0))

    def verilog(self, picoseconds: float = 1000.0) -> str:
        """Return Verilog of `CORE`; each cell is a module `delayed_KIND` with the delays of its outputs, in ps."""
        ports = [f"input p_{name}_{at}" for name, bits in self.inputs.items() for at in range(len(bits))]
        ports += [f"output p_{name}_{at}" for name, bits in self.outputs.items() for at in range(len(bits))]
        nets = {net for instance in self.instances for net in instance.nets.values() if isinstance(net, int)}
        nets |= {bit for bits in self.inputs.values() for bit in bits if isinstance(bit, int)}
        lines = [f"module {CORE}(", ",\n".join(ports), ");"]
        lines += [f"wire n{net};" for net in sorted(nets)]
        lines += [
            f"assign n{bit} = p_{name}_{at};" for name, bits in self.inputs.items() for at, bit in enumerate(bits)
        ]
        lines += [
            f"assign p_{name}_{at} = {_value(bit)};"
            for name, bits in self.outputs.items()
            for at, bit in enumerate(bits)
        ]
        for number, instance in enumerate(self.instances):
            times = ", ".join(
                f".{edge}_{name}({round(picoseconds * self.timing.delays[net][edge])})"
                for name, _, net in instance.outputs()
                for edge in _EDGES
            )
            pins = ", ".join(f".{name}({_value(net)})" for name, net in instance.nets.items())
            lines.append(f"delayed_{instance.kind} #({times}) c{number}({pins});")
        return "\n".join([*lines, "endmodule\n"])


def _value(net: int | str) -> str:
    return f"n{net}" if isinstance(net, int) else f"1'b{int(net == '1')}"
